"""Which column made a row an outlier: parts that sum to the statistic, and the right column in front."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import ritz
from ritz import insight

OF = {"t2": insight.t2, "spe": insight.spe, "combined": insight.combined}


def in_the_plane(seed=3):
    """A gross error of 25 standard deviations along a component that is kept."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(500, 6)) * [30, 20, 1, 1, 1, 1]
    Y[0], Y[0, 2] = 0, 25
    return Y


def off_the_plane(seed=3):
    """A gross error of 40 standard deviations along a direction that is left out."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(500, 6)) * [30, 20, 10, 1, 1, 1]
    Y[0, 4] = 40
    return Y


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("scale", [False, True])
def test_the_parts_sum_to_the_statistic(seed, of, scale):
    X = np.random.default_rng(seed).standard_normal((60, 7)) @ np.diag([9, 7, 5, 1, 1, 1, 1])
    model = ritz.PCA(3, scale=scale).fit(X)
    parts = insight.blame(model, X, of)
    assert parts.shape == X.shape
    assert np.all(parts >= 0)
    assert np.allclose(parts.sum(axis=1), OF[of](model, X), rtol=1e-9)


@pytest.mark.parametrize("of", OF)
def test_reconstruction_is_what_the_statistic_would_lose(seed, of):
    """By brute force: the column is given the value that makes the statistic least."""
    X = np.random.default_rng(seed).standard_normal((40, 5)) @ np.diag([6, 4, 2, 1, 1])
    model = ritz.PCA(2).fit(X)
    parts = insight.blame(model, X[:3], of, method="reconstruction")
    for i in range(3):
        for j in range(5):

            def statistic(value, i=i, j=j):
                row = X[i].copy()
                row[j] = value
                return OF[of](model, [row])[0]

            least = minimize_scalar(statistic, bracket=(-30, 30), options={"xtol": 1e-10}).fun
            assert parts[i, j] == pytest.approx(statistic(X[i, j]) - least, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("method", ["sum", "reconstruction"])
def test_it_points_at_the_right_column(method):
    Y = in_the_plane()
    model = ritz.PCA(3).fit(Y)
    assert insight.blame(model, Y[:1], "t2", method=method)[0].argmax() == 2
    assert insight.blame(model, Y[:1], "combined", method=method)[0].argmax() == 2
    Y = off_the_plane()
    model = ritz.PCA(3).fit(Y)
    assert insight.blame(model, Y[:1], "spe", method=method)[0].argmax() == 4
    assert insight.blame(model, Y[:1], "combined", method=method)[0].argmax() == 4


def test_single_errors_in_every_column_are_found(seed):
    rng = np.random.default_rng(seed)
    mix = rng.standard_normal((3, 8))
    X = rng.standard_normal((400, 3)) @ mix + 0.3 * rng.standard_normal((400, 8))
    model = ritz.PCA(3).fit(X)
    rows = X[:8].copy()
    rows[np.arange(8), np.arange(8)] += 15
    found = insight.blame(model, rows, "combined", method="reconstruction").argmax(axis=1)
    assert np.array_equal(found, np.arange(8))


def test_levels_of_a_correspondence_analysis(seed):
    N = np.random.default_rng(seed).integers(5, 30, (12, 6)).astype(float)
    model = ritz.CA(2).fit(N)
    parts = insight.blame(model, N, "spe")
    assert np.allclose(parts.sum(axis=1), insight.spe(model, N))


def test_refusals():
    X = np.random.default_rng(0).standard_normal((20, 4))
    model = ritz.PCA(2).fit(X)
    with pytest.raises(ritz.ParameterError, match="of must be"):
        insight.blame(model, X, "leverage")
    with pytest.raises(ritz.ParameterError, match="method must be"):
        insight.blame(model, X, method="guess")
    with pytest.raises(ritz.ParameterError, match="feature space"):
        insight.blame(ritz.KernelPCA(2, kernel="rbf").fit(X), X)
    with pytest.raises(ritz.MemoryLimitError, match="outliers only"):
        insight.blame(ritz.PCA(2, memory=1_000_000).fit(X), np.zeros((50_000, 4)))
