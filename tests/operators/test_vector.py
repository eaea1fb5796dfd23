"""Products of dense rows with one vector, ``ZᵀZ v``: those of Z as it is formed by NumPy."""

from __future__ import annotations

from itertools import product as every

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.sparse import products as sparse_products
from ritz.operators import Centered, Dense, Gram, Scaled, Weighted, vector
from ritz.operators.affine import Affine
from ritz.operators.vector import vector_normal


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


def test_a_long_copy_lies_row_by_row_and_no_table_is_copied_for_that(monkeypatch, seed):
    """Only such rows are multiplied both ways before the next."""
    monkeypatch.setattr(vector, "LONG", 1_000)
    monkeypatch.setattr(vector, "DENSE_PIECE", 500)
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((70, 30)))
    v = rng.standard_normal(30)
    turned = vector.held_rows(Dense(X), np.float32)
    assert turned.flags.c_contiguous
    assert vector.held_rows(Dense(np.asfortranarray(X, np.float32)), np.float32).flags.f_contiguous
    found = Dense(X).at(np.float32).vector_normal()(v.astype(np.float32))
    assert np.allclose(found, X.T @ (X @ v), rtol=0, atol=1e-4 * np.sum(X**2))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_sparse_rows_in_a_frame(monkeypatch, kind, compiled, seed):
    """Whatever is taken off and multiplied, in both precisions of one frame, with compiled loops and without."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((80, 30), density=0.2, format="csr", rng=rng)
    X = X.copy() if kind is np.float64 else sp.csr_array((10 * X).astype(kind))
    if compiled:
        pytest.importorskip("numba")
        sparse_products._load()
    monkeypatch.setattr(sparse_products, "_loops", sparse_products._loops if compiled else {})
    parts = rng.random(30), rng.random(80), rng.random(80) + 0.5, rng.random(30) + 0.5
    for chosen in every([False, True], repeat=4):
        shift, offset, rows, columns = (part if taken else None for part, taken in zip(parts, chosen, strict=True))
        frame = Affine(MemoryBlocks(X), shift=shift, offset=offset, row_scale=rows, col_scale=columns)
        Z = X.toarray().astype(float) - (0 if shift is None else shift) - (0 if offset is None else offset[:, None])
        Z = Z * (1 if rows is None else rows[:, None]) * (1 if columns is None else columns)
        for precision, near in ((np.float64, 1e-13), (np.float32, 1e-5), (np.float64, 1e-13)):
            v = rng.standard_normal(30).astype(precision)
            found = vector_normal(frame.at(precision))(v)
            assert found.dtype == precision
            np.testing.assert_allclose(found, Z.T @ (Z @ v), rtol=0, atol=near * np.sum(Z**2))


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
