"""Few columns: a row taken off all rows, sums of rows stored by columns, and blocks that are taller than others."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.data.passes.blocks import FEW_COLUMNS, MemoryBlocks, subtract_row
from ritz.data.passes.gram import column_sums, in_short_pieces, taller
from ritz.data.passes.rounding import PIECE, better, in_pieces


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 2, 7, FEW_COLUMNS, FEW_COLUMNS + 1])
@pytest.mark.parametrize("n", [0, 1, 100, 1031, 4096])
def test_every_entry_is_the_same_difference(n, d, dtype, seed):
    rng = np.random.default_rng(seed)
    x, row = (1e6 * rng.standard_normal((n, d))).astype(dtype), rng.standard_normal(d).astype(dtype)
    truth = x - row
    for source in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        out = np.empty((n, d), dtype)
        subtract_row(source, row, out)
        np.testing.assert_array_equal(out, truth)
    subtract_row(x, row, x)
    np.testing.assert_array_equal(x, truth)


def test_a_narrower_result_is_rounded_once():
    rng = np.random.default_rng(0)
    x, row, out = rng.standard_normal((3000, 3)), rng.standard_normal(3), np.empty((3000, 3), np.float32)
    subtract_row(x, row, out)
    np.testing.assert_array_equal(out, (x - row).astype(np.float32))


@pytest.mark.parametrize("d", [1, 3, 20, 47, 60])
@pytest.mark.parametrize("n", [64, 200, 4096, 5000])
def test_sums_of_rows_stored_by_columns_are_those_of_rows(n, d, seed):
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((n, d)) + 3, rng.random(n)
    exact = x.astype(np.longdouble)
    padded = np.empty((n + 16, d), order="F")[:n]
    padded[...] = x
    for z in (x, np.asfortranarray(x), padded):
        np.testing.assert_allclose(better(z), np.asarray(exact.T @ exact, float), rtol=1e-14)
        np.testing.assert_allclose(column_sums(z, None), np.asarray(exact.sum(axis=0), float), rtol=1e-14)
        np.testing.assert_allclose(column_sums(z, w), np.asarray(w @ exact, float), rtol=1e-13)


def test_pieces_of_columns_are_views():
    z = np.asfortranarray(np.arange(4.0 * PIECE).reshape(-1, 2))
    pieces = in_pieces(z, PIECE)
    assert np.shares_memory(pieces, z)
    np.testing.assert_array_equal(pieces.reshape(-1, 2), z)


def test_blocks_of_few_columns_are_taller_and_short_tables_and_wide_ones_as_before():
    tall = MemoryBlocks(np.zeros((200_000, 2)))
    assert in_short_pieces(tall, np.float64)
    assert taller(tall, 8, short=True).rows == 4096
    for shape in ((5_000, 2), (200_000, FEW_COLUMNS + 1)):
        blocks = MemoryBlocks(np.zeros(shape))
        assert taller(blocks, 8, short=True) is blocks


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("d", [2, 20])
def test_tall_tables_keep_their_digits_beside_a_large_mean(d, order, seed):
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.standard_normal((70_001, d)) * np.linspace(1, 3, d) + 1e6, order=order)
    model = ritz.PCA(2).fit(X)
    Z = (X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)).astype(np.float64)
    values, vectors = np.linalg.eigh(Z.T @ Z / (len(Z) - 1))
    np.testing.assert_allclose(model.explained_variance_, values[::-1][:2], rtol=1e-11)
    scores = model.transform(X)
    np.testing.assert_allclose(scores, Z @ model.components_.T, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(model.components_.T * vectors[:, ::-1][:, :2], axis=0)), 1.0, rtol=1e-9)
