"""Rows far from zero: scores are right to the rounding of the spread, not of the mean.

Truth is exact: rows are numbers of float64, so means and scores are rationals. Or the rows lie on a grid of 2⁻²⁰ and
are moved by 2²⁷, which rounds nothing, so that every centred result has to stay what it was.
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz import insight

FAR = 2.0**27


def grid(n=90, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) * 3 + 0.4 * rng.standard_normal((n, d))
    return np.round(X * 2**20) / 2**20


def exact_scores(model, X):
    """(x − μ)/σ V with the exact mean of the rows, and the scale and the axes that the model holds."""
    n, d = X.shape
    mean = [sum(map(Fraction, X[:, j].tolist())) / n for j in range(d)]
    scale = np.ones(d) if model.scale_ is None else np.asarray(model.scale_)
    Z = np.array([[float(Fraction(x) - mean[j]) for j, x in enumerate(row)] for row in X.tolist()]) / scale
    return Z @ np.asarray(model.components_, np.float64).T


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("far", [1e8, 1e12])
def test_scores_of_rows_far_from_zero(far, scale):
    X = grid(seed=1) + far + 0.123
    model = ritz.PCA(3, scale=scale)
    T = model.fit_transform(X)
    size = np.abs(T).max()
    np.testing.assert_allclose(T, exact_scores(model, X), atol=1e-14 * size * 5)
    np.testing.assert_array_equal(model.transform(X), T)
    assert np.abs(T.mean(axis=0)).max() < 1e-14 * size
    # the public mean is the rounded one
    assert np.all(model.mean_ == [float(sum(map(Fraction, X[:, j].tolist())) / len(X)) for j in range(5)])


def sparse(scale):
    return ritz.SparsePCA(2, method="truncated-power", n_nonzero=3, scale=scale)


def moved(make, near, far, bound=1e-11):
    """``make`` of rows near zero and far away, in units of the former's size."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Heywood")
        a, b = np.asarray(make(near), np.float64), np.asarray(make(far), np.float64)
    size = np.nanmax(np.abs(a))
    assert np.nanmax(np.abs(a - b)) <= bound * size, np.nanmax(np.abs(a - b)) / size


WAYS = {
    "dense": lambda model, X: model.fit(X).transform(X),
    "sparse": lambda model, X: model.fit(X).transform(sp.csr_array(X)),
    "weights": lambda model, X: model.fit(X, sample_weight=np.arange(len(X)) % 3 + 1).transform(X),
    "partial_fit": lambda model, X: model.partial_fit(X[:20]).partial_fit(X[20:]).transform(X),
    "merge": lambda model, X: ritz.merge(*(ritz.PCA(**model.get_params()).fit(X[i::2]) for i in (0, 1))).transform(X),
    "iterator": lambda model, X: model.fit(iter([X[:30], X[30:]]))._map().forward(X),
    "whitened": lambda model, X: model.set_params(whiten=True).fit(X).transform(X),
    "krylov": lambda model, X: model.set_params(solver="krylov", tol=1e-12).fit(X).transform(X),
    "likelihood": lambda model, X: model.fit(X).score_samples(X),
    "likelihood of sparse rows": lambda model, X: model.fit(X).score_samples(sp.csr_array(X)),
    "rebuilt": lambda model, X: model.fit(X).reconstruction_error(X),
    "distances": lambda model, X: np.c_[insight.t2(model.fit(X), X), insight.spe(model, X)],
    "blame": lambda model, X: insight.blame(model.fit(X), X, "spe"),
    "cos2": lambda model, X: insight.cos2(model.fit(X), X),
    "sparse components": lambda model, X: (
        ritz.SparsePCA(2, method="truncated-power", n_nonzero=3, scale=model.scale).fit(X).transform(X)
    ),
    "factors": lambda model, X: ritz.FactorAnalysis(1, scale=model.scale).fit(X).score_samples(X),
    "spherical": lambda model, X: ritz.RobustPCA(2, method="spherical", scale=model.scale).fit(X).transform(X),
    "robpca": lambda model, X: ritz.RobustPCA(2, method="robpca", scale=model.scale).fit(X).transform(X),
}


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_changes_when_all_rows_are_moved(way, scale):
    X = grid()
    bound = {"factors": 1e-7, "sparse components": 1e-8, "krylov": 1e-9}.get(way, 1e-11)
    moved(lambda rows: WAYS[way](ritz.PCA(2, scale=scale), rows), X, X + FAR, bound)


def test_float32_rows_far_from_zero():
    X = np.round(grid() * 4).astype(np.float32) / 4  # a quarter is what float32 tells near 2²¹
    for scale in (False, True):
        near, far = (ritz.PCA(2, scale=scale).fit(rows) for rows in (X, X + np.float32(2**21)))
        np.testing.assert_allclose(far.transform(X + np.float32(2**21)), near.transform(X), atol=2e-5)
        assert far.transform(X + np.float32(2**21)).dtype == np.float32
        assert np.abs(far.transform(X + np.float32(2**21)).mean(axis=0, dtype=float)).max() < 1e-6


@pytest.mark.parametrize("missing", ["mean", "regularized"])
def test_rows_with_gaps_far_from_zero(missing):
    X = grid()
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan

    def scores(rows):
        return ritz.PCA(2, missing=missing, tol=1e-10).fit(rows).transform(rows)

    moved(scores, X, X + FAR, 3e-8)  # a filled entry is stored like any other, to 2⁻²⁶ here
    T = scores(X + FAR)
    assert np.abs(T.mean(axis=0)).max() < 1e-13 * np.abs(T).max()


def test_rows_come_back_as_they_were():
    X = grid() + FAR
    model = ritz.PCA().fit(X)
    assert np.abs(model.inverse_transform(model.transform(X)) - X).max() <= 2.0**-26


def test_variances_of_a_decomposition_about_zero():
    """σ²/n − (μᵀv)² was 0 where the scores vary by 2.4."""
    X = grid()
    for weights in (None, np.arange(len(X)) % 3 + 1.0):
        model = ritz.SVD(3).fit(X + FAR, sample_weight=weights)
        w = np.ones(len(X)) if weights is None else weights
        Z = X - np.average(X, axis=0, weights=w)
        truth = np.average(np.square(Z @ model.components_.T), axis=0, weights=w)
        np.testing.assert_allclose(model.explained_variance_, truth, rtol=1e-12)
        plain = ritz.SVD(3).fit(X, sample_weight=weights)
        assert plain.certificate_.passes < model.certificate_.passes  # rows near zero are not read again
        assert model.explained_variance_.min() > 0


def test_a_merge_keeps_both_parts_of_the_mean():
    X = grid(seed=5) + 1e12 + 0.3
    parts = [ritz.PCA(2).fit(X[i::3]) for i in range(3)]
    model = ritz.merge(*parts)
    assert np.abs(model.transform(X) - exact_scores(model, X)).max() < 1e-13
    rest = model.subtract(parts[2])
    Y = np.vstack([X[0::3], X[1::3]])
    assert np.abs(rest.transform(Y) - exact_scores(rest, Y)).max() < 1e-12
