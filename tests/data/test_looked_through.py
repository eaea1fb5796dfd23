"""Sums and sums of squares of the columns of dense rows, piece by piece: as exact as sums of short pieces are."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.data.passes.blocks import Block
from ritz.data.passes.gram import DensePass


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
