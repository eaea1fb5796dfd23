"""Products of dense rows with one vector, ``ZᵀZ v``: those of Z as it is formed by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.operators import Centered, Dense, Scaled, Weighted


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_rows_in_a_frame(dtype, order, seed):
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.standard_normal((70, 30)) * 50 + 20, dtype=dtype, order=order)
    weights, scale, mean = rng.integers(0, 4, 70).astype(float), rng.random(30) + 0.5, X.mean(axis=0, dtype=float)
    v = rng.standard_normal(30)
    for A, Z in (
        (Dense(X), X.astype(float)),
        (Centered(Dense(X), mean), X - mean),
        (Scaled(Centered(Dense(X), mean), scale), (X - mean) / scale),
        (
            Weighted(Scaled(Centered(Dense(X), mean), scale), weights),
            np.sqrt(weights)[:, None] * ((X - mean) / scale),
        ),
    ):
        product = A.vector_normal()
        assert product is not None
        found = product(v.astype(A.dtype))
        assert np.allclose(found, Z.T @ (Z @ v), rtol=0, atol=(1e-4 if A.dtype == np.float32 else 1e-12) * np.sum(Z**2))
