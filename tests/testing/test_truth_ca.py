"""``true_inertia`` against closed forms and rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.testing import true_inertia
from ritz.testing.truth_ca import true_residuals


def test_two_by_two_tables_have_a_closed_form():
    rng = np.random.default_rng(0)
    for a, b, c, d in rng.integers(1, 10**6, (20, 4)).tolist():
        phi = (a * d - b * c) ** 2, (a + b) * (c + d) * (a + c) * (b + d)
        truth = true_inertia(np.array([[a, b], [c, d]]))
        assert abs(float(truth.total) * phi[1] / max(phi[0], 1) - 1) < 1e-14 or phi[0] == 0
        assert float(truth.eigenvalues[1]) < 1e-50


def test_block_diagonal_tables_have_inertias_of_one():
    N = np.zeros((5, 6))
    N[:2, :3], N[2:, 3:] = 3, 2
    truth = true_inertia(N)
    assert abs(float(truth.eigenvalues[0]) - 1) < 1e-30
    assert truth.values[1] < 1e-50


def test_the_total_is_chi_square_over_n():
    rng = np.random.default_rng(1)
    N, w = rng.integers(0, 9, (7, 4)).astype(float), rng.random(7)
    T = N * w[:, None]
    expected = np.outer(T.sum(axis=1), T.sum(axis=0)) / T.sum()
    chi2 = np.sum((T - expected) ** 2 / expected) / T.sum()
    assert float(true_inertia(N, weights=w).total) == pytest.approx(chi2, rel=1e-13)
    assert float(true_inertia(N.T * w).total) == pytest.approx(chi2, rel=1e-13)
    assert float(true_inertia(N * 2.0**-900, weights=w * 2.0**600).total) == pytest.approx(chi2, rel=1e-13)


def test_vectors_are_those_of_the_residuals():
    rng = np.random.default_rng(2)
    for shape in ((9, 5), (4, 8)):
        N = np.outer(rng.integers(1, 9, shape[0]), rng.integers(1, 9, shape[1])) * 10**8 + rng.integers(0, 3, shape)
        N[1] = 0
        truth, A = true_inertia(N, vectors=True), true_residuals(N)
        V = truth.vectors[:, :2]
        R = A.T @ (A @ V) - V * truth.values[:2]
        assert np.abs(R).max() < 1e-15 * truth.values[0]
