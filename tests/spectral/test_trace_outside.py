"""The trace outside of settled Ritz vectors: no eigenvalue that a chain has missed is above the ceiling."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.spectral.certificate.completeness import by_settled, by_trace

SPECTRA = {
    "fast": 0.8 ** np.arange(80),
    "slow": 1 / np.arange(1.0, 81),
    "flat": np.ones(80) + 1e-3 * np.arange(80),
    "two levels": np.r_[np.full(5, 10.0), np.full(75, 0.01)],
}


def ritz_values(values, start, m):
    """Ritz values and residual norms of the Krylov space of a start, by a basis made orthonormal anew in every step."""
    basis = [start / np.linalg.norm(start)]
    for _ in range(m):
        w = values * basis[-1]
        for _ in range(3):
            w = w - np.array(basis).T @ (np.array(basis) @ w)
        if np.linalg.norm(w) < 1e-12:
            break
        basis.append(w / np.linalg.norm(w))
    Q = np.array(basis[:m]).T
    theta, Y = np.linalg.eigh(Q.T @ (values[:, None] * Q))
    V = Q @ Y[:, ::-1]
    return theta[::-1], np.linalg.norm(values[:, None] * V - V * theta[::-1], axis=0)


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("hidden", [(), (0,), (2,), (0, 1)], ids=str)
def test_no_eigenvalue_that_was_missed_is_above_the_ceiling(spectrum, hidden, seed):
    values = np.sort(SPECTRA[spectrum])[::-1]
    rng = np.random.default_rng(seed)
    for m in (5, 12, 30):
        start = rng.standard_normal(80)
        start[list(hidden)] = 0.0  # eigenvectors that no product shows
        theta, sizes = ritz_values(values, start, m)
        for k in range(1, min(4, len(theta) - 1)):
            found = by_settled(theta, sizes, k, float(values.sum()), 1e-13)
            assert found.ceiling >= values[k] - 1e-10


def test_settled_vectors_lower_the_ceiling_below_that_of_the_trace_alone(seed):
    values = SPECTRA["fast"]
    theta, sizes = ritz_values(values, np.random.default_rng(seed).standard_normal(80), 24)
    alone, outside = by_trace(theta, 3, float(values.sum()), 0.0), by_settled(theta, sizes, 3, float(values.sum()), 0.0)
    assert outside.ceiling < alone.ceiling
    assert outside.ceiling < values[2]
    assert by_settled(theta, sizes, 3, None, 0.0).kind == "none"
    assert by_settled(theta[:3], sizes[:3], 3, 9.0, 0.0).kind == "none"


def test_a_dense_table_whose_values_decay_is_proved_without_its_gram_matrix(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 800)) * (0.9 ** np.arange(1, 801) + 1e-3)
    svd = ritz.SVD(3).fit(X)
    assert svd.plan_.solver == "lanczos"
    assert bool(svd.certificate_.labelled.all())
    assert svd.certificate_.completeness == "the trace leaves no room for a larger eigenvalue"
    sigma = np.linalg.svd(X, compute_uv=False)
    assert svd.certificate_.ceiling >= sigma[3] ** 2
    np.testing.assert_allclose(svd.singular_values_, sigma[:3], rtol=1e-9)
