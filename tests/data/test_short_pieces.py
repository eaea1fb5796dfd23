"""Sums of a pass that begin with the first product, triangles that are mirrored once, and the shift of a sample."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.data.passes import rounding
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.gram import DensePass
from ritz.data.passes.rounding import SHORT_NOISE, SINGLE, TRIANGLES, better, mirrored, upper
from ritz.data.passes.statistics import Statistics


@pytest.mark.parametrize("d", [3, SINGLE - 1, SINGLE, TRIANGLES - 1, TRIANGLES, 70])
@pytest.mark.parametrize("n", [0, 1, 63, 150, 200, 256, 257, 1024, 3000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kernels", [True, False])
def test_products_in_short_pieces(n, d, dtype, order, kernels, monkeypatch):
    monkeypatch.setattr(rounding, "has_small_kernels", lambda: kernels)
    z = np.asarray(np.random.default_rng(0).standard_normal((n, d)).astype(dtype), order=order)
    exact = z.astype(np.longdouble).T @ z.astype(np.longdouble)
    G = better(z)
    assert np.array_equal(G, G.T)
    assert np.max(np.abs(G - exact), initial=0.0) <= 1e-13 * max(n, 1)
    if n and dtype == np.float64:
        half = upper(z)
        assert not np.any(np.tril(half, -1))
        assert np.max(np.abs(mirrored(half) - exact)) <= 1e-13 * n


@pytest.mark.parametrize("d", [4, 17, 18, 30, 47, 60, 200])
@pytest.mark.parametrize("kernels", [True, False])
def test_rounding_of_short_pieces_is_within_its_allowance(seed, d, kernels, monkeypatch):
    monkeypatch.setattr(rounding, "has_small_kernels", lambda: kernels)
    rng = np.random.default_rng(seed)
    for z in (
        np.tile(rng.standard_normal(d), (2048, 1)), rng.choice([0.1, 0.7], (2048, d)), rng.standard_normal((2048, d)),
        *(np.full((2048, d), value) for value in rng.random(12)), rng.standard_normal((3, d))[rng.integers(0, 3, 2048)],
    ):  # fmt: skip
        exact = z.astype(np.longdouble).T @ z.astype(np.longdouble)
        error = np.linalg.norm((better(z) - exact).astype(float), 2)
        assert error <= 0.6 * SHORT_NOISE * 2.0**-53 * np.linalg.norm(exact.astype(float), 2)


@pytest.mark.parametrize("d", [5, 60])
@pytest.mark.parametrize("cuts", [(0,), (0, 1000), (0, 10, 2000, 2500)])
def test_parts_of_a_table_add_up(d, cuts):
    X = np.random.default_rng(1).standard_normal((3000, d)) + 5
    shift = np.full(d, 5.0)

    def passed(first: int, last: int) -> DensePass:
        sums = DensePass(shift, 1.0, None, np.dtype(np.float64), True, short=True)
        assert sums.nbytes >= 16 * d * d  # what is to come counts
        for i in range(first, last, 700):
            sums.feed(Block(X[i : min(i + 700, last)], i))
        return sums

    first, *others = (passed(a, b) for a, b in zip(cuts, (*cuts[1:], 3000), strict=True))
    for other in others:
        first.merge(other)
    again = DensePass(shift, 1.0, None, np.dtype(np.float64), True, short=True)
    again.restore(first.state())
    Z = X - shift
    for sums in (first, again):
        assert np.allclose(sums.finish(), Z.T @ Z, rtol=0, atol=1e-10)
        assert np.allclose(sums.m + sums.m_low, Z.sum(axis=0), rtol=0, atol=1e-10)


def test_no_rows_have_no_products():
    sums = DensePass(np.zeros(60), 1.0, None, np.dtype(np.float64), True, short=True)
    assert np.array_equal(sums.finish(), np.zeros((60, 60)))


@pytest.mark.parametrize("value", [0.1, 1e8 / 3, -7.3e-5, 1e300])
@pytest.mark.parametrize("n", [2, 255, 1000, 5000])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_of_one_number_does_not_vary_and_takes_one_pass(value, n, weighted):
    X = np.column_stack([np.full(n, value), np.random.default_rng(2).standard_normal(n)])
    w = np.random.default_rng(3).uniform(0.5, 2, n) if weighted else None
    stats = Statistics(MemoryBlocks(X), w, given=1.0)
    assert stats.shift[0] == value
    assert not np.any(stats.moments.scatter[0])
    assert stats.passes == 1


@pytest.mark.parametrize(("n", "d"), [(7_000, 150), (4000, 400)])
def test_few_blocks_of_float32_rows_are_summed_in_float64(n, d):
    X = (np.random.default_rng(4).standard_normal((n, d)) / np.sqrt(1 + np.arange(d)) + 3).astype(np.float32)
    found = Statistics(MemoryBlocks(X)).moments  # as where all components are wanted
    Z = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    exact = np.vecdot(Z.T[:, None], Z.T[None, ::7]).astype(np.float64)
    off = np.max(np.abs(found.scatter[:, ::7] - exact)) / np.trace(found.scatter)
    assert off <= 1e-15  # products in float32 are off by 1e-9
    assert found.roundoff == 2.0**-53
