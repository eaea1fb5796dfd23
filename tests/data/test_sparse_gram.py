"""``XᵀX`` of sparse rows into a dense matrix: every way to form a tile, and chains of equal numbers.

Truth is integer arithmetic, or exact rational arithmetic on the stored numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.sparse import gram as sparse_gram
from ritz.data.passes.sparse import products as sparse_products
from ritz.operators import Centered, Scaled, Sparse, Weighted, tiles


def table(n, d, density, seed=0, zipf=0.0):
    """Whole numbers, so that every sum is exact; ``zipf``: how much more often the first columns occur."""
    rng = np.random.default_rng(seed)
    share = density * d * (np.arange(d) + 1.0) ** -zipf / np.sum((np.arange(d) + 1.0) ** -zipf)
    rows = np.where(rng.random((n, d)) < share, rng.integers(-9, 10, (n, d)), 0)
    dense = rows.astype(np.float64)  # 81 n at most: exact, and multiplied much faster than integers
    return sp.csr_matrix(dense), dense


def formed(X, **options):
    S = np.zeros((X.shape[1], X.shape[1]))
    sparse_gram.add_gram(S, X, **options)
    sparse_gram.mirror(S)
    return S


@pytest.fixture(params=["private", "public", "compiled"])
def calls(request, monkeypatch):
    """SciPy's own loops, what it promises to keep, or compiled ones."""
    if request.param == "compiled":
        request.getfixturevalue("loops")
    else:
        monkeypatch.setattr(sparse_products, "_loops", {})
    if request.param == "public":
        monkeypatch.setattr(sparse_gram, "tools", None)


@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "density", "zipf"),
    [
        (300, 40, 0.1, 0.0),  # one tile
        (700, 1200, 0.02, 0.0),  # three tiles, the last one narrow
        (3000, 90, 0.2, 0.8),  # crowded columns
        (3000, 700, 0.02, 1.1),  # long columns of two kinds
        (1200, 3, 0.9, 0.0),  # nothing but long columns
        (5, 600, 0.3, 0.0),
        (40, 7, 0.0, 0.0),
    ],
)
def test_whole_numbers_are_exact(calls, n, d, density, zipf, lanes):
    X, rows = table(n, d, density, zipf=zipf)
    assert np.array_equal(formed(X, lanes=lanes), rows.T @ rows)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("n", "d", "density", "zipf"), [(700, 2300, 0.02, 0.0), (3000, 700, 0.02, 1.1)])
def test_compiled_loops_give_every_bit_of_those_of_scipy(loops, monkeypatch, n, d, density, zipf, index):
    X = table(n, d, density, zipf=zipf)[0]
    X.data = np.random.default_rng(3).standard_normal(X.nnz) * 10.0 ** np.random.default_rng(4).uniform(-9, 9, X.nnz)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    fast = formed(X)
    assert sparse_products._loops
    assert all(sparse_products._loops[loop].signatures for loop in ("upper", *["across"] * (d > 1024)))
    monkeypatch.setattr(sparse_products, "_loops", {})
    np.testing.assert_array_equal(fast, formed(X))


def test_rows_that_are_not_sorted_are_not_given_to_loops_that_count_on_it(loops):
    X, rows = table(300, 90, 0.1)
    turned = sp.csr_matrix((X.data.copy(), X.indices.copy(), X.indptr), shape=X.shape)
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        turned.indices[a:b], turned.data[a:b] = X.indices[a:b][::-1], X.data[a:b][::-1]
    assert np.array_equal(formed(turned), rows.T @ rows)


def test_a_loop_that_fails_leaves_tiles_to_scipy(loops, monkeypatch):
    def broken(*_):
        raise RuntimeError("no compiler")

    monkeypatch.setattr(sparse_products, "_loops", {"upper": broken, "across": broken})
    X, rows = table(700, 2300, 0.02)
    assert np.array_equal(formed(X), rows.T @ rows)
    assert sparse_products._loops == {}


def test_long_columns_with_few_entries_are_cut_by_pieces_of_the_rows():
    X, rows = table(40_000, 30, 0.02)
    assert np.bincount(X.indices).min() > 2 * sparse_gram.CHAIN
    assert np.array_equal(formed(X), rows.T @ rows)


@pytest.mark.parametrize("value", [0.7, 0.1, 1 / 3])
@pytest.mark.parametrize("share", [0.02, 1.0])
def test_equal_numbers_keep_their_digits(value, share):
    """Every pair of columns has all its entries in common: chains are as long as they can be."""
    n = 200_000 if share < 1 else 20_000
    held = np.flatnonzero(np.random.default_rng(1).random(n) < share)
    X = sp.csr_matrix((np.full(2 * len(held), value), (np.tile(held, 2), np.repeat([0, 3], len(held)))), shape=(n, 5))
    true = Fraction(value) ** 2 * len(held)
    S = formed(X)
    for i, j in ((0, 0), (0, 3), (3, 0)):
        assert abs(Fraction(float(S[i, j])) - true) <= 60 * Fraction(2) ** -53 * true


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_the_gram_matrix_of_a_frame(weighted, transposed):
    """Wider than the tables that a moment state is kept of: XᵀX and XXᵀ, centred, scaled and weighted."""
    X, rows = table(400, 2300, 0.02, zipf=0.5)
    mean, scale = rows.mean(axis=0), np.linspace(1, 3, 2300)
    w = np.linspace(0.5, 2, 400)
    A = Scaled(Centered(Sparse(X), mean), scale)
    Z = (rows - mean) / scale
    if weighted:
        A, Z = Weighted(A, w), Z * np.sqrt(w)[:, None]
    A, Z = (A.T, Z.T) if transposed else (A, Z)
    want = Z.T @ Z
    np.testing.assert_allclose(A.gram(), want, rtol=0, atol=1e-12 * np.abs(want).max())


@pytest.mark.parametrize("framed", ["centred", "weighted", "all"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("n", "way"), [(5_000, "bands"), (40_000, "chains")])
def test_the_gram_matrix_of_a_frame_with_few_entries(n, way, transposed, framed, monkeypatch):
    """One block, multiplied by bands of entries where these are few parts, else in short chains."""
    ways = []
    bands, chains = tiles.banded_gram, tiles.add_gram
    monkeypatch.setattr(tiles, "banded_gram", lambda *given: ways.append("bands") or bands(*given))
    monkeypatch.setattr(tiles, "add_gram", lambda *given, **named: ways.append("chains") or chains(*given, **named))
    X, rows = table(n, 9, 0.1)
    A, Z = Sparse(X.T.tocsr() if transposed else X), rows.T if transposed else rows
    if framed != "weighted":
        mean, scale = Z.mean(axis=0), np.linspace(1, 3, Z.shape[1])
        A, Z = Scaled(Centered(A, mean), scale), (Z - mean) / scale
    if framed != "centred":
        w = np.linspace(0.5, 2, len(Z))
        A, Z = Weighted(A, w), Z * np.sqrt(w)[:, None]
    A, Z = (A.T, Z.T) if transposed else (A, Z)
    want = Z.T @ Z
    np.testing.assert_allclose(A.gram(), want, rtol=0, atol=1e-13 * np.abs(want).max())
    assert ways[0] == "bands"
    assert ways[-1] == way


def test_blocks_for_gram_matrices_keep_chains_short():
    X, _ = table(9000, 40, 0.05)
    assert MemoryBlocks(X).sparse
    rows = sparse_gram.tall_rows(X)
    assert sparse_gram.ROWS <= rows < 9000
    assert np.bincount(X[:rows].indices).mean() <= sparse_gram.CHAIN
    assert sparse_gram.tall_rows(sp.csr_matrix((10, 3))) == 10


def test_a_state_of_uneven_columns_is_that_of_dense_rows():
    X, rows = table(2500, 300, 0.05, zipf=0.9)
    sparse, dense = ritz.PCA(3).fit(X), ritz.PCA(3).fit(rows.astype(np.float64))
    np.testing.assert_allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-12)
    assert sparse.verify(X)


@pytest.mark.parametrize(
    ("n", "columns", "sums"),
    [
        (200, 3, 1),  # every chain is short: one product
        (2000, 3, 1),  # crowded columns, one group of rows
        (5000, 3, 3),  # 2,048 rows a group
    ],
)
def test_sums_that_follow_one_another_are_counted(n, columns, sums):
    """The bound on rounding grows with this count: one that says less would make it too small."""
    S = np.zeros((columns, columns))
    assert sparse_gram.add_gram(S, sp.csr_matrix(np.ones((n, columns)))) == sums
    assert np.array_equal(S, np.full((columns, columns), float(n)))


@pytest.mark.parametrize(("n", "sums"), [(40_000, 1), (160_000, 3), (300_000, 5)])  # 133, 533 and 1,000 entries each
def test_pieces_of_rows_add_up_their_counts(n, sums):
    """Long columns with few entries in a row: rows are cut into pieces in which chains are short, each is a sum."""
    d = 300
    rows = sp.csr_matrix((np.ones(n), np.arange(n) % d, np.arange(n + 1)), shape=(n, d))
    S = np.zeros((d, d))
    assert sparse_gram.add_gram(S, rows) == sums
    assert np.array_equal(S, np.diag(np.bincount(np.arange(n) % d).astype(float)))


def test_pieces_of_a_few_long_columns_add_up_their_counts():
    """Twenty columns of 1,000 entries each beside short ones: only these are cut, into pieces of 200."""
    n, places = 40_000, np.arange(20_000)
    columns = np.empty(n, int)
    columns[::2], columns[1::2] = places % 20, 20 + places % 280
    rows = sp.csr_matrix((np.ones(n), columns, np.arange(n + 1)), shape=(n, 300))
    S = np.zeros((300, 300))
    assert sparse_gram.add_gram(S, rows) == 5
    assert np.array_equal(S, np.diag(np.bincount(columns).astype(float)))


def test_crowded_rows_are_multiplied_as_dense_ones(monkeypatch):
    """Every tile that dense products add to is whole on the diagonal, and the others are mirrored."""
    X, rows = table(600, 1100, 0.3)
    monkeypatch.setattr(sparse_gram, "_add_tiles", None)
    assert np.array_equal(formed(X), rows.T @ rows)
