"""What is measured of the rounding of a formed kernel matrix, beside the truth in extended precision."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.kernels import RBF
from ritz.operators.kernel import KernelMatrix


def rows(name, n, d=6):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    return {
        "Gaussian": X,
        "far from 0": X + 1e4,
        "copies": np.repeat(X[: n // 10], 10, axis=0),
        "of many sizes": X * 10.0 ** rng.integers(-3, 3, (n, 1)),
        "nearly one": X[:1] + 1e-9 * X,
    }[name]


@pytest.mark.parametrize("n", [40, 150, 400])
@pytest.mark.parametrize("name", ["Gaussian", "far from 0", "copies", "of many sizes", "nearly one"])
def test_the_rounding_of_entries_is_bounded(name, n):
    X, gamma = rows(name, n), 0.125  # γ is a power of two, as k means it
    wide = X.astype(np.longdouble)
    truth = np.exp(-gamma * np.square(wide[:, None] - wide).sum(axis=2))
    kernel = RBF(gamma)
    M = KernelMatrix(kernel, kernel.prepare(X))
    off = np.linalg.norm((M.to_dense() - truth).astype(float), 2)
    assert off <= M.measured() / 2  # half of it is left for what 40 rows would not show
    assert M.measured() <= 1e-6 * n
