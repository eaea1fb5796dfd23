"""Products of dense rows with one vector, ``ZᵀZ v``: those of Z as it is formed by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.operators import Centered, Dense, Gram, Scaled, Weighted


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


@pytest.mark.parametrize("turned", [False, True])
def test_dense_rows_are_kept_in_float32_where_there_is_room(turned, seed):
    """Products are those of the frame, whose rows are shifted and rounded in every pass; without room nothing is."""
    X = np.random.default_rng(seed).standard_normal((60, 45)) + 7.0
    A = Centered(Dense(X), X.mean(axis=0))
    A = A.T if turned else A
    narrow = Gram(A).at(np.float32)
    kept = narrow.loose(4.0 * X.size)
    V = np.random.default_rng(seed + 1).standard_normal((narrow.shape[0], 8)).astype(np.float32)
    assert kept.root.affine is not narrow.root.affine
    assert kept.root.affine.blocks.dtype == np.float32
    np.testing.assert_allclose(kept.matmat(V), narrow.matmat(V), rtol=2e-5, atol=2e-4)
    assert kept.trace() == narrow.trace()
    assert narrow.loose(4.0 * X.size - 1).root.affine is narrow.root.affine
    assert Gram(A).loose(1e9).root.affine is Gram(A).root.affine  # nothing is gained in float64


def test_half_of_a_dense_product_is_kept_on_its_way(seed):
    X = np.random.default_rng(seed).standard_normal((70, 40))
    A = Centered(Dense(X), X.mean(axis=0)).T
    V = np.random.default_rng(seed + 1).standard_normal((70, 3))
    half, whole = A.halves(V)
    np.testing.assert_allclose(half, A.matmat(V), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(whole, A.normal(V), rtol=1e-13, atol=1e-13)
