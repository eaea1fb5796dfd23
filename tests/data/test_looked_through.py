"""Sums and sums of squares of the columns of dense rows, piece by piece: as exact as sums of short pieces are."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.data.passes.balance import balanced
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.gram import DensePass
from ritz.data.passes.keys import rows_key
from ritz.data.passes.statistics import Statistics


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (63, 5), (64, 700), (129, 3_000), (1_500, 40), (700, 1_100)])
@pytest.mark.parametrize("unit", [1.0, 4.0])
@pytest.mark.parametrize("moved", [False, True])
def test_sums_of_columns_are_those_of_extended_precision(seed, dtype, n, d, unit, moved):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) + 0.25).astype(dtype)
    shift = np.full(d, 0.5) if moved else np.zeros(d)
    taken = DensePass(shift, unit, None, np.dtype(np.float64), products=False, rows=n)
    half = n // 2
    taken.feed(Block(X[:half], 0))
    taken.feed(Block(X[half:], half))
    Z = (X.astype(np.longdouble) - shift) / unit
    m, q, u = Z.sum(axis=0), (Z * Z).sum(axis=0), 2.0**-53
    assert np.all(np.abs(taken.m + taken.m_low - m) <= 64 * u * np.abs(Z).sum(axis=0))
    assert np.all(np.abs(taken.q + taken.q_low - q) <= 64 * u * q)


def test_a_table_that_is_read_is_left_as_it_is(seed):
    X = np.random.default_rng(seed).standard_normal((300, 70))
    before = X.copy()
    DensePass(np.zeros(70), 1.0, None, np.dtype(np.float64), products=False, rows=300).feed(Block(X, 0))
    assert np.array_equal(X, before)


def test_numbers_that_are_not_finite_show_in_the_sums(seed):
    X = np.random.default_rng(seed).standard_normal((200, 30)).astype(np.float32)
    X[150, 7] = np.nan
    taken = DensePass(np.zeros(30), 1.0, None, np.dtype(np.float64), products=False, rows=200)
    taken.feed(Block(X, 0))
    assert np.flatnonzero(np.isnan(taken.q)).tolist() == [7]


def test_columns_are_balanced_where_the_square_of_every_mean_is_a_small_share(seed):
    rows = np.random.default_rng(seed).standard_normal((250, 400)).astype(np.float32)
    assert balanced(rows, 0.5)
    rows[:, 17] += 0.9  # 0.81 of 1.81
    assert balanced(rows, 0.7)
    assert not balanced(rows, 0.2)
    rows[3, 5] = np.nan
    assert not balanced(rows, 0.7)


@pytest.mark.parametrize("far", [False, True])
def test_a_shift_is_that_of_the_same_numbers_in_float64(seed, far):
    """Rows in float32 are not widened for what tells whether anything is to be taken off."""
    X = (np.random.default_rng(seed).standard_normal((500, 300)) + 5.0 * far).astype(np.float32)
    narrow, wide = (Statistics(MemoryBlocks(Y), about_zero=True) for Y in (X, X.astype(np.float64)))
    assert bool(np.any(narrow.shift)) == far
    assert np.array_equal(narrow.shift, wide.shift)


@pytest.mark.parametrize("shape", [(1, 1), (500, 500), (3, 70_000), (40_000, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
def test_keys_are_those_of_the_same_numbers_in_float64(seed, shape, order, dtype):
    X = np.asarray(100 * np.random.default_rng(seed).standard_normal(shape), dtype, order=order)
    assert rows_key(MemoryBlocks(X)) == rows_key(MemoryBlocks(X.astype(np.float64)))
