"""Models of states beside models of rows: ``verify`` passes what is right, and what a state tells is right."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

import ritz

WAYS = ("stream", "merge", "kept", "directions", "sketch")


def made(kind, X, k, way, size=9):
    """A model that was never shown all rows at once."""
    parts = [X[i : i + size] for i in range(0, len(X), size)]
    mergeable = way if way in ("directions", "sketch") else way == "kept" or None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way in ("merge", "kept"):
            models = [kind(min(k, len(part)), mergeable=mergeable) for part in parts]
            models = [one.partial_fit(part) for one, part in zip(models, parts, strict=True)]
            model = models[0].merge(*models[1:])
        else:
            model = kind(k, mergeable=mergeable)
            for part in parts:
                model.partial_fit(part)
        len(model.certificate_.values)
    return model


@pytest.fixture
def far():
    """Directions whose variances lie far apart: what a state leaves beside the first holds few digits, or none."""
    rng = np.random.default_rng(0)
    return lambda ratio: rng.standard_normal((27, 3)) * [1.0, ratio, ratio] + 5


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ratio", [1e-2, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("kind", [ritz.PCA, ritz.SVD])
def test_what_a_state_leaves_may_hold_fewer_digits_than_a_fit(far, kind, ratio, way):
    X = far(ratio)
    model = made(kind, X, 1, way)
    checked = model.verify(X)
    assert checked, checked


@pytest.mark.parametrize("way", ["stream", "directions"])
def test_a_changed_noise_is_found_all_the_same(far, way):
    X = far(1e-2)
    model = made(ritz.PCA, X, 1, way)
    assert model.verify(X)
    model.noise_variance_ = model.noise_variance_ * (1 + 1e-3)
    assert not model.verify(X)
    model = made(ritz.PCA, far(1e-9), 1, way)
    model.noise_variance_ = 1e-3
    assert not model.verify(far(1e-9))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [1e-155, 1e-150, 1e-100, 1e100, 1e140])
def test_units_depend_on_how_rows_were_cut(scale, way):
    X = np.random.default_rng(1).standard_normal((27, 4)) * np.repeat([1, 2.0**-40, 2.0**30], 9)[:, None] * scale
    model = made(ritz.PCA, X, 2, way)
    checked = model.verify(X)
    assert checked, checked


@pytest.mark.parametrize("way", WAYS)
def test_means_that_cancel(way):
    X = np.vstack([np.eye(6), -np.eye(6)] * 3)[np.random.default_rng(2).permutation(36)] * 0.1
    model = made(ritz.PCA, X, 2, way)
    assert model.verify(X)


def exact_spread(X, V):
    """Σ((x − μ)·v)²/n of stored numbers, in fractions: with the vectors as they are stored."""
    rows = [[Fraction(float(x)) for x in row] for row in X]
    n, d = len(rows), len(rows[0])
    mean = [sum(row[j] for row in rows) / n for j in range(d)]
    vectors = [[Fraction(float(x)) for x in v] for v in V]
    along = [sum(sum((row[j] - mean[j]) * v[j] for j in range(d)) ** 2 for row in rows) / n for v in vectors]
    total = sum((row[j] - mean[j]) ** 2 for row in rows for j in range(d)) / n
    return np.array([float(each) for each in along]), np.array([float(each / total) for each in along])


@pytest.mark.parametrize("way", ["merge", "directions", "sketch"])
@pytest.mark.parametrize("mean", [0, 1e4, 1e8, 1e12, 1e15])
def test_variances_of_an_svd_do_not_drown_in_its_mean(mean, way):
    """θ/n − (μ·v)² is a difference of numbers 1e24 times as large; the state holds the scatter about the mean."""
    X = np.random.default_rng(3).standard_normal((36, 4)) * [3, 2, 1, 0.5] + mean
    model = made(ritz.SVD, X, 2, way)
    variance, ratio = exact_spread(X, model.components_)
    np.testing.assert_allclose(model.explained_variance_, variance, rtol=1e-6)
    np.testing.assert_allclose(model.explained_variance_ratio_, ratio, rtol=1e-6)
    assert model.verify(X)


# numbers near the end of the range


@pytest.mark.parametrize("kind", [ritz.PCA, ritz.SVD])
@pytest.mark.parametrize("way", ["directions", "sketch"])
def test_variances_beyond_the_range_are_refused_as_a_fit_refuses_them(kind, way):
    X = 1e160 * np.random.default_rng(4).standard_normal((27, 4))
    with pytest.raises(ritz.InputError, match="variances must stay within the range"):
        kind(2).fit(X)
    with pytest.raises(ritz.InputError, match="variances must stay within the range"):
        made(kind, X, 2, way)


@pytest.mark.parametrize("mergeable", [None, "directions", "sketch"])
def test_small_differences_of_huge_rows(mergeable):
    """Squares of the rows leave the range, those of their differences do not."""
    Y = np.rint(2.0**6 * np.random.default_rng(5).standard_normal((30, 3)) * [4, 2, 1])
    X = (Y + 2.0**50) * 2.0**465
    model = ritz.PCA(2, mergeable=mergeable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        model = model.fit(X) if mergeable is None else model.partial_fit(X)
        exact = ritz.PCA(2).fit(Y)
        np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_ * 2.0**930, rtol=1e-12)
        np.testing.assert_allclose(model.singular_values_, exact.singular_values_ * 2.0**465, rtol=1e-12)
        assert model.verify(X)


@pytest.mark.parametrize("way", ["directions", "sketch"])
@pytest.mark.parametrize("spread", [0.0, 2.0**-30])
def test_a_huge_mean_about_zero_has_finite_residuals(spread, way):
    """Rows that hardly differ are held in units of their differences; about zero their mean is one more row."""
    X = (1 + spread * np.random.default_rng(6).integers(-9, 9, (27, 3))) * 2.0**460
    model = made(ritz.SVD, X, 2, way)
    c = model.certificate_
    assert np.all(np.isfinite(c.residuals))
    assert np.all(c.lower <= c.values)
    assert model.singular_values_[0] == pytest.approx(np.linalg.norm(X / 2.0**460) * 2.0**460, rel=1e-12)
    assert model.verify(X)
