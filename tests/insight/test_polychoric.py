"""Polychoric correlations: closed forms, the likelihood by mpmath, standard errors by simulation, empty cells."""

from __future__ import annotations

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest

import ritz
from ritz import insight
from ritz.insight.ordinal.bivariate import Cells, normal_both
from ritz.insight.ordinal.pair import correlate


def exact(h: float, k: float, rho: float) -> mpmath.mpf:
    """Φ₂ by integration of its derivative in ρ."""
    with mpmath.workdps(25):
        h, k, rho = map(mpmath.mpf, (h, k, rho))
        density = lambda t: mpmath.exp(-(h * h - 2 * t * h * k + k * k) / (2 * (1 - t * t))) / mpmath.sqrt(1 - t * t)  # noqa: E731
        return mpmath.ncdf(h) * mpmath.ncdf(k) + mpmath.quad(density, [0, rho / 2, rho]) / (2 * mpmath.pi)


@pytest.mark.parametrize(
    ("h", "k", "rho"),
    [(0.3, -1.2, 0.5), (-2, -2.5, 0.9), (0, 0.7, -0.8), (0, 0, 0.3), (1.5, 0, 0.2), (0, -0.5, 0.6), (2, 2.1, 0.99)],
)
def test_probabilities_of_both(h, k, rho):
    assert float(normal_both(h, k, rho)) == pytest.approx(float(exact(h, k, rho)), abs=1e-15)


def test_slopes_are_those_of_the_probabilities(seed):
    rng = np.random.default_rng(seed)
    a, b, rho, e = np.sort(rng.normal(size=2)), np.sort(rng.normal(size=3)), 0.4, 1e-6
    cells = Cells(a, b)
    assert np.allclose(
        (cells.probabilities(rho + e) - cells.probabilities(rho - e)) / (2 * e), cells.slopes(rho), atol=1e-8
    )
    for side, slopes in enumerate(cells.by_thresholds(rho)):
        for t in range(len(slopes)):
            moved = [[a.copy(), b.copy()] for _ in range(2)]
            moved[0][side][t] += e
            moved[1][side][t] -= e
            high, low = (Cells(*one).probabilities(rho) for one in moved)
            assert np.allclose((high - low) / (2 * e), slopes[t], atol=1e-8)


@pytest.mark.parametrize("share", [0.26, 0.4, 0.1, 0.49])
def test_tables_of_medians_in_closed_form(share):
    table = np.array([[share, 0.5 - share], [0.5 - share, share]]) * 1000
    assert correlate(table, 0.5).rho == pytest.approx(np.sin(2 * np.pi * (share - 0.25)), abs=1e-11)


def test_the_maximum_of_the_likelihood_by_mpmath():
    N = np.array([[30, 12, 3], [10, 25, 9], [2, 11, 28.0]])
    found = correlate(N, 0.5)
    from scipy.special import ndtri

    cut = [ndtri(np.cumsum(N.sum(axis=1 - axis))[:-1] / N.sum()) for axis in (0, 1)]

    def likelihood(rho):
        ends = [[-9.0, *one, 9.0] for one in cut]
        corner = [[exact(h, k, rho) for k in ends[1]] for h in ends[0]]
        cell = lambda i, j: corner[i + 1][j + 1] - corner[i][j + 1] - corner[i + 1][j] + corner[i][j]  # noqa: E731
        return sum(N[i, j] * mpmath.log(cell(i, j)) for i in range(3) for j in range(3))

    here = likelihood(found.rho)
    assert all(likelihood(found.rho + step) < here for step in (-1e-4, 1e-4))
    assert abs(found.slope) < 1e-10


def test_standard_errors_are_those_of_repeated_samples(seed):
    rng = np.random.default_rng(seed)
    P = Cells(np.array([-0.5, 0.8]), np.array([0.2])).probabilities(0.6)
    found = [
        correlate(rng.multinomial(500, P.ravel() / P.sum()).reshape(P.shape).astype(float), 0.5) for _ in range(250)
    ]
    rho, error = np.array([one.rho for one in found]), np.array([one.error for one in found])
    assert rho.mean() == pytest.approx(0.6, abs=4 * rho.std() / np.sqrt(250))
    assert 0.85 < error.mean() / rho.std() < 1.15
    covered = np.mean(np.abs(rho - 0.6) < 1.96 * error)
    assert 0.9 <= covered <= 0.985


def answers(seed: int, n: int = 1500) -> np.ndarray:
    R = np.array([[1, 0.7, 0.5, 0.3], [0.7, 1, 0.6, 0.4], [0.5, 0.6, 1, 0.2], [0.3, 0.4, 0.2, 1]])
    return np.digitize(np.random.default_rng(seed).multivariate_normal(np.zeros(4), R, n), [-0.8, 0.1, 1.0])


def test_a_table_of_answers(seed):
    X = answers(seed)
    found = insight.polychoric(X)
    truth = np.array([0.7, 0.5, 0.3, 0.6, 0.4, 0.2])
    upper = np.triu_indices(4, 1)
    assert np.all(np.abs(found.correlations[upper] - truth) < 4 * found.standard_errors[upper])
    assert np.all(np.abs(found.correlations[upper]) > np.abs(np.corrcoef(X.T)[upper]) - 1e-3)
    assert np.allclose(found.thresholds["0"], [-0.8, 0.1, 1.0], atol=0.15)
    assert found.repair is None
    factors = ritz.FactorAnalysis.from_covariance(found.correlations, n=1500, n_components=1)
    assert factors.components_.shape == (1, 4)
    assert ritz.PCA.from_covariance(found.correlations, n=1500).explained_variance_.sum() == pytest.approx(4)


def test_frames_gaps_and_weights(seed):
    X = answers(seed, 300)
    kinds = pd.CategoricalDtype(["never", "rarely", "often", "always"], ordered=True)
    frame = pd.DataFrame({name: pd.Categorical.from_codes(X[:, j], dtype=kinds) for j, name in enumerate("abcd")})
    plain = insight.polychoric(X)
    named = insight.polychoric(frame)
    assert list(named.correlations.columns) == list("abcd")
    assert np.allclose(named.correlations, plain.correlations)
    assert named.levels["a"] == list(kinds.categories)
    assert list(named.to_frame().columns) == ["a", "b", "correlation", "error", "n"]
    assert np.allclose(
        insight.polychoric(pl.DataFrame(X, schema=list("abcd"))).to_frame()["correlation"],
        named.to_frame()["correlation"],
    )
    gaps = X.astype(float)
    gaps[:50, 0] = np.nan
    fewer = insight.polychoric(gaps)
    assert fewer.pairs[0, 1] == 250
    assert fewer.correlations[0, 1] == pytest.approx(insight.polychoric(X[50:, :2]).correlations[0, 1])
    twice = insight.polychoric(X, sample_weight=np.full(300, 2.0))
    assert np.allclose(twice.correlations, plain.correlations)
    assert np.allclose(twice.standard_errors * np.sqrt(2), plain.standard_errors)


def test_empty_cells_are_filled_aloud():
    X = np.repeat([[0, 0], [0, 1], [1, 1]], [30, 10, 60], axis=0)
    with pytest.warns(ritz.AccuracyWarning, match=r"0\.5 was put into each"):
        found = insight.polychoric(X)
    assert found.filled == [("0", "1")]
    assert found.correlations[0, 1] == pytest.approx(correlate(np.array([[30, 10], [0.5, 60]]), 0).rho)
    with pytest.warns(ritz.AccuracyWarning, match="maximum at ±1"):
        assert insight.polychoric(X, empty=0, repair=False).correlations[0, 1] == pytest.approx(0.9999)
    three = np.array([[40, 9, 0], [8, 30, 7], [0, 6, 50.0]])  # empty cells of a larger table need no filling
    assert correlate(three, 0.5).filled == 0


def test_a_matrix_of_pairs_that_is_none_is_repaired_aloud():
    rng = np.random.default_rng(3)
    X = np.full((600, 3), np.nan)
    for rows, (i, j), sign in ((slice(0, 200), (0, 1), 1), (slice(200, 400), (1, 2), 1), (slice(400, 600), (0, 2), -1)):
        z = rng.standard_normal(200)
        X[rows, i] = z + 0.3 * rng.standard_normal(200) > 0
        X[rows, j] = sign * z + 0.3 * rng.standard_normal(200) > 0
    with pytest.warns(ritz.AccuracyWarning, match="negative eigenvalue.*nearest correlation matrix"):
        found = insight.polychoric(X)
    assert np.linalg.eigvalsh(found.correlations)[0] > 0
    assert found.repair.lowest < 0
    assert np.linalg.eigvalsh(insight.polychoric(X, repair=False).correlations)[0] < 0


def test_what_is_refused():
    with pytest.raises(ritz.InputError, match="as measurements have"):
        insight.polychoric(np.random.default_rng(0).standard_normal((50, 2)))
    with pytest.raises(ritz.InputError, match="text in column 'a'"):
        insight.polychoric(pd.DataFrame({"a": ["x", "y"] * 5, "b": [0, 1] * 5}))
    with pytest.raises(ritz.InputError, match="order is not told"):
        insight.polychoric(pd.DataFrame({"a": pd.Categorical(["x", "y"] * 5), "b": [0, 1] * 5}))
    with pytest.raises(ritz.InputError, match="one level"):
        insight.polychoric(np.c_[np.zeros(9), np.arange(9) % 2])
    with pytest.raises(ritz.InputError, match="two columns"):
        insight.polychoric(np.arange(9)[:, None] % 2)
