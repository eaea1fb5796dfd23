"""Sparse rows laid out by columns: the same products, sums as short, and a copy only where there is room for it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.data.passes.blocks import MemoryBlocks
from ritz.operators import Sparse, laid, loose
from ritz.operators.affine import Affine
from ritz.spectral import plan as planner
from ritz.spectral.plan import Shape, choose


@pytest.fixture
def low(monkeypatch):
    """Pieces of 30 rows, whatever the table."""
    monkeypatch.setattr(laid, "LONG", 0)
    monkeypatch.setattr(laid, "LONGER", 0)
    monkeypatch.setattr(laid, "MANY", 1)
    monkeypatch.setattr(laid, "LEAST", 0)
    monkeypatch.setattr(laid, "FILLED", 0.1)
    monkeypatch.setattr(laid, "LOW", 30 * laid.WIDE)
    monkeypatch.setattr(laid, "SHARE", 0.0)
    monkeypatch.setattr(loose, "ONE_LANE", 0)


def table(rng):
    """Rows and columns with one entry, with none, and with all."""
    x = sp.random_array((500, 300), density=0.05, format="lil", rng=rng)
    x[3, :] = rng.standard_normal(300)
    x[:, 7] = rng.standard_normal((500, 1))
    x[11, :] = 0
    x[:, 13] = 0
    return sp.csr_array(x)


FRAMES = [
    {},
    {
        "shift": np.linspace(0, 1, 300),
        "offset": np.linspace(0, 2, 500),
        "row_scale": np.linspace(1, 3, 500),
        "col_scale": np.linspace(1, 2, 300),
    },
]


def dense(x, options):
    Z = x.toarray()
    if not options:
        return Z
    Z = (Z - options["shift"] - options["offset"][:, None]) * options["row_scale"][:, None]
    return Z * options["col_scale"]


@pytest.mark.parametrize("options", FRAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lanes", [1, 3])
def test_products_of_pieces_are_those_of_dense_rows(monkeypatch, low, dtype, lanes, options):
    monkeypatch.setattr(loose, "lane_count", lambda: lanes)
    rng = np.random.default_rng(1)
    x, V = table(rng), rng.standard_normal((300, 6))
    frame, Z = Affine(MemoryBlocks(x), precision=dtype, **options).loosened(room=1e9), dense(x, options)
    size = np.linalg.norm(Z) ** 2
    for _ in range(2):  # the second time the copy is there
        assert np.max(np.abs(frame.normal(V) - Z.T @ (Z @ V))) <= (1e-13 if dtype is np.float64 else 1e-5) * size
    assert len(frame.held) == 17
    none = Affine(MemoryBlocks(x), precision=dtype, **options).loosened(room=laid.laid_bytes(500, 300, x.nnz, 4) - 1)
    none.normal(V)
    assert not any(isinstance(piece, laid.Piece) for piece in none.held.values())


@pytest.mark.parametrize("options", FRAMES)
@pytest.mark.parametrize("columns", [1, 16, 37])
def test_products_of_turned_blocks_are_those_of_dense_rows(low, columns, options):
    rng = np.random.default_rng(2)
    x, V = table(rng), rng.standard_normal((300, columns))
    frame, Z = Affine(MemoryBlocks(x), **options), dense(x, options)
    assert laid.turned_blocks(frame, V) is not None
    keep = np.empty((500, columns))
    size = np.linalg.norm(Z) ** 2
    assert np.max(np.abs(frame.normal(V, keep=keep) - Z.T @ (Z @ V))) <= 1e-14 * size
    assert len(frame.noise) == 1
    if not options:
        assert np.max(np.abs(keep - Z @ V)) <= 1e-14 * size
    assert np.max(np.abs(frame.matmat(V) - Z @ V)) <= 1e-14 * size


@pytest.mark.parametrize("each", [1, 2])
def test_equal_numbers_are_not_rounded_alike_in_long_chains(low, monkeypatch, each):
    """Sums over blocks are short too, where each block has few of the entries of a column."""
    n = 40_000
    monkeypatch.setattr(laid, "LOW", (n // 400) * laid.WIDE)
    rows = np.arange(0, n, 100 // each)
    x = sp.csr_array((np.full(len(rows), 0.7), (rows, np.zeros(len(rows), int))), shape=(n, 8))
    V = np.eye(8)[:, :1]
    total = float(Sparse(x).normal(V)[0, 0])
    assert abs(total - len(rows) * 0.7**2) <= 20 * 2.0**-53 * total


def test_the_copy_is_counted_and_made_only_where_there_is_room():
    shape = Shape(1_000_000, 200_000, stored=80_000_000)
    free = choose(shape, 100)
    assert free.course is not None
    assert free.course.copied == laid.laid_bytes(1_000_000, 200_000, 8e7, 4) > 6e8
    without = choose(shape, 100, memory=free.bytes - 1)
    assert without.solver == "lanczos"
    assert without.course is not None
    assert not without.course.copied
    assert free.bytes == pytest.approx(without.bytes + planner.c.KEPT * free.course.copied)
    asked = choose(shape, 100, solver="lanczos")
    assert asked.course is not None
    assert asked.course.copied
    little = choose(Shape(100_000, 5_000, stored=1_000_000), 100, solver="lanczos")
    assert little.course is None or not little.course.copied


def test_tables_with_few_entries_a_column_are_left_as_they_are():
    assert laid.piece_rows(1_000_000, 1_000_000, 3e6) == 0
    assert laid.piece_rows(1, 200_000, 300) == 0
    assert laid.piece_rows(1_000_000, 200_000, 8e7) == 65_536
    assert laid.piece_rows(1_000_000, 200_000, 8e7, turned=True) == 16_384
    assert laid.piece_rows(100_000, 60_000, 1e7) == 20_000


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_groups_of_columns_under_scales_are_those_of_one_product(monkeypatch, request, dtype, turned):
    """Nothing is taken off the rows: many vectors are multiplied by groups, which are copied once."""
    if turned:
        request.getfixturevalue("low")
    monkeypatch.setattr("ritz.data.passes.sparse.sums.CACHED_BYTES", 0)
    rng = np.random.default_rng(0)
    x, V, offset = table(rng), rng.standard_normal((300, 40)), np.linspace(0, 2, 500)
    row, column = np.linspace(1, 3, 500), np.linspace(1, 2, 300)
    frame = Affine(MemoryBlocks(x), precision=dtype, offset=offset, row_scale=row, col_scale=column)
    true = (x.toarray() - offset[:, None]) * row[:, None] * column @ V
    close = 1e-12 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(frame.matmat(V), true, atol=close * np.abs(true).max())
