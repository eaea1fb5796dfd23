"""Deviations of profiles: the stated bound holds entry by entry, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.deviations import DeviationBlocks, deviations, in_deviations, row_parts
from ritz.data.passes.profiles import margins

U = Fraction(1, 2**53)


def tables():
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 50, 7), rng.integers(1, 50, 5)
    near = np.outer(a, b) * 1e9 + rng.integers(0, 3, (7, 5))
    yield "near independence", near
    yield "independent floats", np.outer(rng.random(7), rng.random(5))
    yield "totals beyond 2^53", near * 2.0**20 + rng.integers(0, 5, (7, 5))
    yield "one huge cell", np.where(np.eye(7, 5) > 0, 1.0, 3.0) + 1e15 * np.eye(7, 5, 2) * (np.arange(7)[:, None] == 0)
    yield "many sizes", 10.0 ** rng.uniform(-30, 30, (7, 5))
    yield "subnormal", rng.integers(0, 9, (7, 5)) * 5e-324
    yield "large", rng.integers(0, 9, (7, 5)) * 1e305
    yield "counts", rng.integers(0, 4, (7, 5)).astype(float)


@pytest.mark.parametrize(("name", "N"), list(tables()))
def test_the_bound_of_every_entry(name, N):
    columns = N.sum(axis=0)
    c = columns / columns.sum() if np.isfinite(columns.sum()) else np.full(5, 0.2)
    D = deviations(N, c)
    for i, row in enumerate(N):
        total = sum(map(Fraction, row.tolist()))
        for j, count in enumerate(row.tolist()):
            share = Fraction(count) / total if total else Fraction(float(c[j]))
            true = share - Fraction(float(c[j]))
            allowed = 4 * U * abs(true) + 8 * U * U * (share + Fraction(float(c[j]))) + Fraction(1, 2**1000)
            assert abs(Fraction(float(D[i, j])) - true) <= allowed, (name, i, j)


def test_row_totals_in_two_parts():
    rng = np.random.default_rng(1)
    N = 10.0 ** rng.uniform(-8, 8, (6, 101))
    high, low = row_parts(N)
    for i, row in enumerate(N):
        exact = sum(map(Fraction, row.tolist()))
        assert abs(Fraction(float(high[i])) + Fraction(float(low[i])) - exact) <= 64 * U * U * exact


def test_blocks_give_the_same_deviations():
    rng = np.random.default_rng(2)
    N = rng.integers(0, 9, (500, 4)).astype(float)
    N[17] = 0
    c = N.sum(axis=0) / N.sum()
    D = deviations(N, c)
    assert np.all(D[17] == 0)
    blocks = DeviationBlocks(MemoryBlocks(N, rows=128), c)
    assert np.array_equal(np.concatenate([block.values for block in blocks.each()]), D)
    assert np.array_equal(deviations(sp.csr_array(N), c), D)
    assert not in_deviations(sp.random(5000, 900, 0.01, format="csr", random_state=0))


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_integers_with_known_totals_give_the_same_deviations_by_fewer_operations(dtype):
    rng = np.random.default_rng(3)
    N = rng.integers(1, 200, (700, 60)).astype(dtype)
    totals, columns = margins(N)
    assert np.array_equal(totals, N.sum(axis=1, dtype=float))
    assert np.array_equal(columns, N.sum(axis=0, dtype=float))
    c = columns / columns.sum()
    assert np.array_equal(deviations(N, c, totals), deviations(N.astype(float), c))
    N[5] = 0  # a row without a profile goes the other way
    assert np.array_equal(deviations(N, c, margins(N)[0]), deviations(N.astype(float), c))
    large = N.astype(np.int64) * 2**21  # totals beyond 26 bits
    assert np.array_equal(deviations(large, c, margins(large)[0]), deviations(large.astype(float), c))


def test_margins_of_weighted_rows_are_in_the_unit_of_the_largest_weight():
    N = np.arange(12.0).reshape(4, 3)
    w = np.array([1e200, 2e200, 0.0, 3e200])
    totals, columns = margins(N, w)
    np.testing.assert_array_equal(totals, N.sum(axis=1))
    np.testing.assert_allclose(columns / columns.sum(), (w / 6e200) @ N / ((w / 6e200) @ N).sum(), rtol=1e-15)
