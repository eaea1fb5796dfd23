"""Sparse blocks of small integers are multiplied as dense float32 blocks: exactly, or not at all."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.data.passes import blocks as blocks_module
from ritz.data.passes import gram
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.gram import CROWDED, INTEGER_ROWS, SparsePass


def fed(X, weights=None, unit=1.0):
    sums = SparsePass(np.zeros(X.shape[1]), unit, weights, np.dtype(np.float64), True)
    sums.feed(Block(X, 0))
    return sums


def counts(n, d, density, top, seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, top + 1, (n, d)) * (rng.random((n, d)) < density)
    return dense.astype(float)


@pytest.mark.parametrize("n", [1, INTEGER_ROWS - 1, INTEGER_ROWS, 3 * INTEGER_ROWS + 5])
@pytest.mark.parametrize("top", [1, 7, 100])
def test_sums_of_integers_are_exact(n, top, monkeypatch):
    X = counts(n, 12, 0.4, top)
    seen = []
    monkeypatch.setattr(gram, "_integer_gram", lambda x, do=gram._integer_gram: seen.append(1) or do(x))
    found = fed(sp.csr_array(X))
    exact = X.astype(np.int64)
    assert np.array_equal(found.S, exact.T @ exact)
    assert np.array_equal(found.m, exact.sum(axis=0))
    assert np.array_equal(found.q, (exact**2).sum(axis=0))
    assert found.inexact == 0
    assert found.blocks == 1
    assert bool(seen) == (top**2 * min(n, INTEGER_ROWS) <= 2**24)


def test_integers_that_float32_would_round_are_left_to_sparse_products():
    X = counts(INTEGER_ROWS, 6, 0.9, 4_001)
    exact = X.astype(np.int64)
    assert np.any((exact.T @ exact) > 2**24)
    assert np.array_equal(fed(sp.csr_array(X)).S, exact.T @ exact)


def test_fractions_weights_units_and_thin_blocks_go_another_way(monkeypatch):
    def never(x):
        raise AssertionError("not for these numbers")

    monkeypatch.setattr(gram, "_integer_gram", never)
    X = counts(50, 12, 0.4, 3)
    w = np.random.default_rng(1).random(50)
    np.testing.assert_allclose(fed(sp.csr_array(X), weights=w).S, X.T @ (w[:, None] * X), rtol=1e-12)
    np.testing.assert_allclose(fed(sp.csr_array(X / 3)).S, X.T @ X / 9, rtol=1e-12)
    np.testing.assert_allclose(fed(sp.csr_array(X), unit=4.0).S, X.T @ X / 16, rtol=1e-12)
    thin = sp.random_array((400, 60), density=CROWDED / 3, rng=0, format="csr")
    thin.data[:] = 1.0
    assert np.array_equal(fed(thin).S, (thin.T @ thin).toarray())


def test_nan_still_shows_in_the_sums():
    X = sp.csr_array(counts(20, 5, 0.5, 2))
    X.data[3] = np.nan
    assert np.isnan(fed(X).S).any()


@pytest.mark.parametrize("n", [1, 255, 1_000, 40_000, 70_001])
def test_lanes_have_as_many_blocks(n):
    blocks = MemoryBlocks(sp.random_array((n, 300), density=0.07, rng=0, format="csr"))
    assert blocks.sparse
    lanes = [-(-(b - a) // blocks.rows) for a, b in blocks._lanes()]
    assert max(lanes) - min(lanes) <= (0 if n >= 40_000 else 1)
    assert sum(b - a for a, b in blocks._lanes()) == n


@pytest.mark.parametrize("lanes", [1, 2, 3, 16])
@pytest.mark.parametrize("rows", [1, 3, 100, 128, 200])
@pytest.mark.parametrize("n", [1, 2, 20, 127, 129, 300, 1_000])
def test_no_lane_is_empty_and_every_row_is_in_one(n, rows, lanes, monkeypatch):
    monkeypatch.setattr(blocks_module, "lane_count", lambda: lanes)
    edges = MemoryBlocks(np.ones((n, 2)), rows)._lanes()
    assert [row for a, b in edges for row in range(a, b)] == list(range(n))
    assert all(a < b for a, b in edges)
