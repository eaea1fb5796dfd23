"""Rules for the number of components on tables whose columns, or what is observed of them, hardly vary."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

import ritz
from ritz.rank.sample import LinearSample, constant_columns

RULES = ("kfold", "gcv", "bcv", "stability", "map", "permutation", "parallel")


def table(kind, n=16, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.3 * rng.standard_normal((n, d))
    if kind == "constant":
        X[:, 2] = 5.0
    if kind == "zero":
        X[:, 2] = 0.0
    if kind == "one entry":  # what a fold leaves of it is often constant
        X[:, [1, 2]], X[3, 2], X[4, 1] = 0.0, 1.0, 2.0
    if kind == "rounding":
        X[:, 2] = 1e8 + np.spacing(1e8) * (np.arange(n) % 2)
    return X


KINDS = ("constant", "zero", "one entry", "rounding")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_answers(kind, rule):
    X = table(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.RitzWarning)
        for scale in (True, False):
            model = ritz.PCA(rule, scale=scale).fit(X)
            assert 0 <= model.n_components_ <= 5
            assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("missing", ["em", "regularized"])
@pytest.mark.parametrize("scale", [True, False])
def test_a_constant_column_with_gaps_is_no_column(kind, missing, scale):
    """Its gaps hold its constant, and everything else is as if it were not there."""
    X = table(kind)
    X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    value = np.nanmax(X[:, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.RitzWarning)
        model = ritz.PCA(2, scale=scale, missing=missing, tol=1e-10).fit(X)
        alone = ritz.PCA(2, scale=scale, missing=missing, tol=1e-10).fit(np.delete(X, 2, axis=1))
    assert np.all(model.impute(X)[:, 2] == value)
    if missing == "em":  # regularisation counts columns
        np.testing.assert_allclose(model.explained_variance_, alone.explained_variance_, rtol=1e-6)
    assert np.abs(model.components_[:, 2]).max() < 1e-14


def test_the_digits_of_scikit_learn():
    X = load_digits().data[::10]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.RitzWarning)
        kfold = ritz.PCA("kfold", scale=True).fit(X)
        assert 3 <= kfold.n_components_ <= 20


def test_samples_of_rows_far_from_zero_are_those_near_it():
    X = np.round(table("plain") * 2**20) / 2**20
    near, far = (LinearSample(rows, 16, center=True, scale=True) for rows in (X, X + 2.0**27))
    np.testing.assert_allclose(near.values(), far.values(), rtol=1e-11)
    np.testing.assert_allclose(near.table(), far.table(), atol=1e-12)
    assert constant_columns(table("rounding")).tolist() == [False, False, True, False, False]


def test_scales_without_centring_are_those_of_the_fit():
    """scale=True divides by the deviation about the mean, whether or not the mean is taken off."""
    X = table("plain") + 3
    held = LinearSample(X, 16, center=False, scale=True)
    np.testing.assert_allclose(held.table(), X / X.std(axis=0, ddof=1), rtol=1e-12)
    model = ritz.PCA(center=False, scale=True).fit(X)
    values = np.square(model.singular_values_)
    np.testing.assert_allclose(held.values(), values / values.sum(), rtol=1e-9)
