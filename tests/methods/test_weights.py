"""Weights are frequencies: an integer weight is that many copies, zero is absence, the divisor is Σw − 1."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz import PCA, SVD
from ritz.testing import largest_sine

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power")
SHAPES = {"tall": (40, 6), "square": (12, 12), "wide": (9, 30)}


def problem(shape, *, zeros=True):
    n, d = SHAPES[shape]
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) * np.geomspace(5, 1, d) + 3
    w = rng.integers(0 if zeros else 1, 4, n)
    w[:2] = 2
    return X, w


def same(a, b, *, rtol=1e-9):
    for name in (
        "explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_",
        "total_variance_", "mean_", "scale_",
    ):  # fmt: skip
        x, y = getattr(a, name, None), getattr(b, name, None)
        if x is not None:
            np.testing.assert_allclose(x, y, rtol=rtol, err_msg=name)
    assert a.n_components_ == b.n_components_
    assert largest_sine(a.components_.T.astype(float), b.components_.T.astype(float)) < 1e-7


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_integer_weights_are_copies(shape, solver, form):
    X, w = problem(shape)
    for scale in (False, True):
        weighted = PCA(3, scale=scale, solver=solver, tol=1e-12).fit(form(X), sample_weight=w)
        copies = PCA(3, scale=scale, solver=solver, tol=1e-12).fit(form(np.repeat(X, w, axis=0)))
        same(weighted, copies)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_integer_weights_are_copies_without_a_mean(solver, form):
    X, w = problem("tall")
    many = form(np.repeat(X, w, axis=0))
    same(
        PCA(3, center=False, solver=solver, tol=1e-12).fit(form(X), sample_weight=w),
        PCA(3, center=False, solver=solver, tol=1e-12).fit(many),
    )
    a = SVD(3, solver=solver, tol=1e-12).fit(form(X), sample_weight=w)
    b = SVD(3, solver=solver, tol=1e-12).fit(many)
    same(a, b)
    np.testing.assert_allclose(a.total_, b.total_, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::ritz.NoComponents")
@pytest.mark.parametrize("asked", [0.8, 0.99, "kaiser", "broken-stick", "bic", "mle", "elbow", "gavish-donoho"])
def test_rules_see_copies(asked):
    X, w = problem("tall")
    weighted = PCA(asked).fit(X, sample_weight=w)
    assert weighted.n_components_ == PCA(asked).fit(np.repeat(X, w, axis=0)).n_components_


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize("filling", [0.0, 1e30, np.nan, np.inf])
def test_weight_zero_is_absence_whatever_the_row_holds(solver, filling):
    X, _ = problem("tall")
    w = np.ones(40)
    w[[3, 17, 39]] = 0
    absent = X[w > 0]
    X[w == 0] = filling
    same(PCA(3, solver=solver, tol=1e-12).fit(X, sample_weight=w), PCA(3, solver=solver, tol=1e-12).fit(absent))
    model = PCA().partial_fit(X, sample_weight=w)
    same(model, PCA().fit(absent))
    assert model.n_samples_ == 37


def test_weight_zero_leaves_fewer_components_to_keep():
    X, _ = problem("wide")
    w = np.array([1, 0, 1, 0, 1, 0, 1, 1, 1])
    assert PCA().fit(X, sample_weight=w).n_components_ == 6
    with pytest.raises(ritz.ParameterError, match=r"n_components=7 must be between 0 and .*=6"):
        PCA(7).fit(X, sample_weight=w)


@pytest.mark.parametrize("factor", [0.03, 0.3, 1.7, 1e6])
def test_fractional_weights_divide_by_their_sum_minus_1(factor):
    X, _ = problem("tall")
    w = np.random.default_rng(1).uniform(0.5, 1.5, 40) * factor
    mean = w @ X / w.sum()
    C = (X - mean).T @ ((X - mean) * w[:, None]) / (w.sum() - 1)
    assert w.sum() > 1
    model = PCA().fit(X, sample_weight=w)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-12)
    np.testing.assert_allclose(model.explained_variance_, np.linalg.eigvalsh(C)[::-1], rtol=1e-9)
    scaled = PCA(scale=True).fit(X, sample_weight=w)
    np.testing.assert_allclose(scaled.scale_, np.sqrt(np.diag(C)), rtol=1e-12)
    np.testing.assert_allclose(scaled.total_variance_, 6, rtol=1e-12)
    np.testing.assert_allclose(scaled.transform(X), (X - mean) / scaled.scale_ @ scaled.components_.T, atol=1e-9)


def test_scaling_all_weights_changes_variances_but_no_direction_and_no_share():
    X, w = problem("tall", zeros=False)
    a, b = PCA(3).fit(X, sample_weight=w), PCA(3).fit(X, sample_weight=10 * w)
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-12)
    np.testing.assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=1e-12)
    s = w.sum()
    np.testing.assert_allclose(b.explained_variance_, a.explained_variance_ * 10 * (s - 1) / (10 * s - 1), rtol=1e-12)


def test_weights_reach_every_way_of_fitting():
    X, w = problem("tall")
    whole = PCA(3).fit(X, sample_weight=w)
    halves = PCA(3).partial_fit(X[:20], sample_weight=w[:20]).partial_fit(X[20:], sample_weight=w[20:])
    merged = PCA(3).fit(X[:20], sample_weight=w[:20]).merge(PCA(3).fit(X[20:], sample_weight=w[20:]))
    same(whole, halves)
    same(whole, merged)
    np.testing.assert_array_equal(PCA(3).fit_transform(X, sample_weight=w), whole.transform(X))
    for weights in (w.tolist(), w.astype(np.float32), w.astype(np.uint8)):
        same(whole, PCA(3).fit(X, sample_weight=weights))


def test_the_certificate_of_a_weighted_fit_can_be_verified():
    X, w = problem("tall")
    for solver in SOLVERS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = PCA(3, solver=solver).fit(X, sample_weight=w)
        assert model.certificate_.verify(X, sample_weight=w).ok, solver
