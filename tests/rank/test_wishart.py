"""Bartlett's decomposition against the law it stands for, and against noise that was really drawn."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.rank import wishart
from ritz.rank.wishart import bartlett, noise_spectra, white_spectra


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("m", "d"), [(30, 4), (6, 6), (5, 9)])
def test_the_factors_have_the_moments_of_a_wishart_matrix(m, d):
    T = bartlett(m, d, 20_000, rng())
    assert T.shape[1:] == (min(m, d), d)
    W = np.einsum("bri,brj->bij", T, T)
    # E W = m·I, Var W_ij = m (i ≠ j), Var W_ii = 2m, each measured to about 1 %
    np.testing.assert_allclose(W.mean(axis=0), m * np.eye(d), atol=5 * np.sqrt(2 * m / 20_000))
    variance = W.var(axis=0)
    off = ~np.eye(d, dtype=bool)
    np.testing.assert_allclose(variance[off], m, rtol=0.12)
    np.testing.assert_allclose(np.diag(variance), 2 * m, rtol=0.12)


@pytest.mark.parametrize(("n", "d"), [(41, 10), (12, 30)])
def test_the_spectra_are_those_of_independent_gaussian_columns(n, d):
    spread = np.linspace(0.5, 2.0, d)
    drawn = noise_spectra(n - 1, spread / spread.sum(), 2_000, rng(), 1)
    real = []
    for seed in range(2_000):
        X = rng(seed).standard_normal((n, d))
        A = X - X.mean(axis=0)
        A *= np.sqrt(spread / spread.sum()) / np.sqrt((A**2).sum(axis=0))
        real.append(np.linalg.svd(A, compute_uv=False)[: min(n - 1, d)] ** 2)
    real = np.array(real)
    error = np.sqrt((drawn.var(axis=0) + real.var(axis=0)) / 2_000)
    assert np.all(np.abs(drawn.mean(axis=0) - real.mean(axis=0)) < 4.5 * error + 1e-12)


def test_every_draw_keeps_the_variances_and_so_the_total():
    spread = rng(3).random(7)
    drawn = noise_spectra(50, spread / spread.sum(), 100, rng(), 1)
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(np.diff(drawn, axis=1) <= 0)


def test_decathlon_means_and_quantiles():  # algorithms: mean 1.869 1.568 1.352 1.170, 95 % 2.139 1.741
    drawn = 10 * noise_spectra(40, np.full(10, 0.1), 20_000, rng(), 1)
    np.testing.assert_allclose(drawn.mean(axis=0)[:4], [1.869, 1.568, 1.352, 1.170], atol=0.004)
    np.testing.assert_allclose(np.quantile(drawn, 0.95, axis=0)[:2], [2.139, 1.741], atol=0.012)


def test_harman_against_nfactors(golden):
    drawn = 24 * noise_spectra(144, np.full(24, 1 / 24), 4_000, rng(), 1)
    expected = golden["harman74"]["parallel_5_percent"]
    np.testing.assert_allclose(np.quantile(drawn, 0.05, axis=0), expected, atol=0.03)


def test_leading_eigenvalues_of_large_draws_are_those_of_the_whole(monkeypatch):
    shares = rng(1).random(60)
    shares /= shares.sum()
    whole = noise_spectra(200, shares, 5, rng(), 3)
    monkeypatch.setattr(wishart, "CLOSE", 1e-9)
    drawn = bartlett(200, 60, 1, rng(5))[0]
    expected = np.linalg.eigvalsh(drawn @ drawn.T)[::-1][:3]
    np.testing.assert_allclose(wishart._leading(drawn, 3), expected, rtol=1e-9)
    monkeypatch.setattr(wishart, "DENSE", 10)
    few = noise_spectra(200, shares, 5, rng(), 3)
    assert few.shape == (5, 3)
    assert whole.shape == (5, 60)
    np.testing.assert_allclose(few.mean(axis=0), whole.mean(axis=0)[:3], rtol=0.1)  # other draws, the same law


def test_white_spectra_are_not_scaled():
    drawn = white_spectra(500.0, 3, 4_000, rng(), 1)
    assert abs(drawn.sum(axis=1).mean() / 1500.0 - 1) < 0.01  # E tr W = m·d


def test_columns_without_variance_add_nothing():
    with_zero = noise_spectra(30, np.array([0.5, 0.0, 0.5]), 50, rng(), 1)
    without = noise_spectra(30, np.array([0.5, 0.5]), 50, rng(), 1)
    np.testing.assert_array_equal(with_zero, without)
    assert noise_spectra(30, np.zeros(3), 5, rng(), 1).shape == (5, 1)


def test_a_draw_costs_the_same_for_any_number_of_rows():
    assert noise_spectra(1e9, np.full(5, 0.2), 3, rng(), 1).shape == (3, 5)
    np.testing.assert_allclose(noise_spectra(1e9, np.full(5, 0.2), 3, rng(), 1), 0.2, rtol=1e-3)
