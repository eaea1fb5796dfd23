"""Products of sparse entries with rows of numbers: compiled loops give the bits of SciPy's, and come when they pay."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.engines.request import room_for
from ritz.data.passes.sparse import products as sparse_products
from ritz.data.passes.sparse import sums as sparse_sums
from ritz.data.passes.sparse.sums import APART, column_counts, plain_times

PRODUCTS = {"csr_matvecs": (300, 200), "csc_matvecs": (200, 300)}


def entries(kind, index):
    """300×200 by rows; rows without an entry, with one, with all, and numbers that a sum loses."""
    rng = np.random.default_rng(0)
    x = sp.random_array((300, 200), density=0.1, format="lil", rng=rng, dtype=np.float64)
    x[3, :] = rng.standard_normal(200) * 10.0 ** rng.uniform(-20, 20, 200)
    x[:, 7] = rng.standard_normal((300, 1))
    x[11, :] = x[299, :] = 0
    x = sp.csr_array(x).astype(kind)
    return x.indptr.astype(index), x.indices.astype(index), x.data


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("l", [8, 16])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_every_bit_is_that_of_scipy(loops, kind, index, l, product):
    rng = np.random.default_rng(1)
    (n, d), (indptr, indices, data) = PRODUCTS[product], entries(kind, index)
    W, Y = (rng.standard_normal(rows * l).astype(kind) for rows in (d, n))
    W[:l] *= 1e-30
    expected = Y.copy()
    getattr(sparse_products.tools, product)(n, d, l, indptr, indices, data, W, expected)
    getattr(sparse_products, product)(n, d, l, indptr, indices, data, W, Y)
    assert sparse_products._loops
    assert sparse_products._loops[("gather" if product == "csr_matvecs" else "scatter", l)].signatures
    np.testing.assert_array_equal(Y, expected)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_both_products_of_one_vector_at_once_have_the_bits_of_scipy(loops, kind, index):
    sparse_products._load()
    indptr, indices, data = entries(kind, index)
    v = np.random.default_rng(1).standard_normal(200).astype(kind)
    across, expected, y = np.full(300, -kind(0.7), kind), np.zeros(200, kind), np.full(200, np.nan, kind)
    sparse_products.tools.csr_matvec(300, 200, indptr, indices, data, v, across)
    sparse_products.tools.csc_matvec(200, 300, indptr, indices, data, across, expected)
    b = np.full(300, np.nan, kind)
    assert sparse_products.normal(indptr, indices, data)(v, kind(0.7), b, y)
    np.testing.assert_array_equal(b, across)
    np.testing.assert_array_equal(y, expected)


def test_both_products_at_once_load_a_compiler_once_that_has_paid(monkeypatch):
    monkeypatch.setattr(sparse_products, "_loops", None)
    monkeypatch.setattr(sparse_products, "_made", 0.0)
    monkeypatch.setattr(sparse_products, "_room", math.inf)  # whatever a fit before had
    monkeypatch.setattr(sparse_products, "FEW", 1)
    arrays = entries(np.float64, np.int32)
    assert sparse_products.normal(*arrays) is None
    assert sparse_products._loops is None
    assert sparse_products._made == sparse_products.CHAIN * len(arrays[2])
    monkeypatch.setattr(sparse_products, "_made", sparse_products.ENOUGH)
    assert sparse_products.normal(*arrays) is not None
    assert sparse_products._loops


@pytest.mark.parametrize("product", PRODUCTS)
def test_some_rows_of_entries_begin_where_they_begin(loops, product):
    indptr, indices, data = entries(np.float64, np.int32)
    (n, d), some = PRODUCTS[product], indptr[50:121]
    n, d = (70, d) if product == "csr_matvecs" else (n, 70)
    W = np.random.default_rng(2).standard_normal(16 * d)
    Y, expected = np.zeros(16 * n), np.zeros(16 * n)
    getattr(sparse_products.tools, product)(n, d, 16, some, indices, data, W, expected)
    getattr(sparse_products, product)(n, d, 16, some, indices, data, W, Y)
    np.testing.assert_array_equal(Y, expected)


@pytest.mark.parametrize("l", [1, 5, 8, 16, 17])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_other_widths_and_numbers_are_left_to_scipy(loops, kind, l):
    indptr, indices, data = entries(np.float64, np.int32)
    data, W = np.round(1e-18 * data).astype(kind), np.arange(200 * l).astype(kind)
    Y, expected = np.zeros(300 * l, kind), np.zeros(300 * l, kind)
    sparse_products.tools.csr_matvecs(300, 200, l, indptr, indices, data, W, expected)
    sparse_products.csr_matvecs(300, 200, l, indptr, indices, data, W, Y)
    np.testing.assert_array_equal(Y, expected)


def test_loops_that_cannot_be_had_are_asked_for_once(loops, monkeypatch):
    asked = []

    def missing(name):
        asked.append(name)
        raise ImportError(name)

    monkeypatch.setattr(sparse_products, "module_of", missing)
    indptr, indices, data = entries(np.float64, np.int32)
    for _ in range(3):
        Y = np.zeros(300 * 8)
        sparse_products.csr_matvecs(300, 200, 8, indptr, indices, data, np.ones(200 * 8), Y)
        assert Y.any()
    assert len(asked) == 1


def test_a_limit_of_memory_without_room_for_a_compiler_loads_none(loops, monkeypatch):
    indptr, indices, data = entries(np.float64, np.int32)
    for memory, loads in (("100MB", False), ("2GB", True)):
        assert room_for(ritz.SVD(memory=memory)) == sparse_products._room
        sparse_products.csr_matvecs(300, 200, 8, indptr, indices, data, np.ones(200 * 8), np.zeros(300 * 8))
        assert bool(sparse_products._loops) == loads


def test_a_loop_that_is_not_compiled_leaves_the_work_to_scipy(loops, monkeypatch):
    def broken(*_):
        raise RuntimeError("no compiler")

    monkeypatch.setattr(sparse_products, "_loops", {("gather", 8): broken})
    indptr, indices, data = entries(np.float64, np.int32)
    Y, expected = np.zeros(300 * 8), np.zeros(300 * 8)
    for out in (sparse_products.csr_matvecs, sparse_products.tools.csr_matvecs):
        out(300, 200, 8, indptr, indices, data, np.ones(200 * 8), Y if out is sparse_products.csr_matvecs else expected)
    np.testing.assert_array_equal(Y, expected)
    assert sparse_products._loops == {}


def test_a_fit_gives_the_same_bits_with_and_without(loops, monkeypatch):
    X = sp.random_array((4000, 3000), density=0.01, format="csr", rng=np.random.default_rng(3))
    fast = ritz.SVD(100, solver="lanczos").fit(X)
    assert any(loop.signatures for loop in sparse_products._loops.values())
    monkeypatch.setattr(sparse_products, "_loops", {})
    plain = ritz.SVD(100, solver="lanczos").fit(X)
    np.testing.assert_array_equal(fast.components_, plain.components_)
    np.testing.assert_array_equal(fast.singular_values_, plain.singular_values_)


@pytest.mark.parametrize("method", ["SVD", "PCA"])
@pytest.mark.parametrize("n", [900, 40_000])
def test_single_vectors_give_the_same_bits_with_and_without(loops, monkeypatch, n, method):
    X = sp.random_array((n, 350), density=0.02, format="csr", rng=np.random.default_rng(4))
    sparse_products._load()
    fast = getattr(ritz, method)(3, solver="lanczos").fit(X)
    assert sparse_products._loops["normal"].signatures
    monkeypatch.setattr(sparse_products, "_loops", {})
    plain = getattr(ritz, method)(3, solver="lanczos").fit(X)
    np.testing.assert_array_equal(fast.components_, plain.components_)
    np.testing.assert_array_equal(fast.singular_values_, plain.singular_values_)


def test_a_small_fit_loads_no_compiler():
    program = (
        "import sys, scipy.sparse as sp, ritz\n"
        "ritz.SVD(3).fit(sp.random_array((500, 400), density=0.1, format='csr'))\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("mixed", [False, True])
def test_entries_of_columns_are_counted(index, mixed, monkeypatch):
    X = sp.random_array((200, 31), density=0.2, format="csr", rng=np.random.default_rng(4), dtype=np.float32)
    X.indptr, X.indices = X.indptr.astype(np.int64 if mixed else index), X.indices.astype(index)
    full = X.toarray() != 0
    for first, last in ((0, None), (0, 200), (17, 60), (199, 200), (5, 5)):
        np.testing.assert_array_equal(column_counts(X, first, last), full[first:last].sum(axis=0))
    empty = sp.csr_array((4, 3))
    np.testing.assert_array_equal(column_counts(empty), [0, 0, 0])


@pytest.mark.parametrize("l", range(2, APART + 2))
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_few_columns_have_the_same_bits_one_after_the_other(kind, l, monkeypatch):
    """Entries and columns of X are whole numbers and powers of two: every sum is exact, whatever its order."""
    rng = np.random.default_rng(l)
    X = sp.random_array((40, 300), density=0.4, format="csr", rng=rng)
    X.data = rng.integers(-8, 9, X.nnz).astype(kind)
    W = np.asfortranarray(2.0 ** rng.integers(-3, 4, (300, l))).astype(kind)
    exact = [[math.fsum(x * w) for w in W.T.astype(np.float64)] for x in X.toarray().astype(np.float64)]
    apart = plain_times(X, W)
    np.testing.assert_array_equal(apart, exact)
    W = rng.standard_normal((300, l)).astype(kind)
    apart = plain_times(X, W)
    monkeypatch.setattr(sparse_sums, "APART", 1)
    np.testing.assert_array_equal(apart, plain_times(X, W))
    assert apart.flags.c_contiguous
