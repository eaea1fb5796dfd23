"""``XᵀX`` of sparse rows of few columns by one product of all bands of entries.

Truth is integer arithmetic, or exact rational arithmetic on the stored numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.passes import gram as passes
from ritz.data.passes.blocks import Block
from ritz.data.passes.gram import SparsePass
from ritz.data.passes.sparse import bands as sparse_bands
from ritz.data.passes.sparse.bands import CHAIN, banded_gram, banded_moments


def table(n, d, density, seed=0, order="random"):
    """Whole numbers, so that every sum is exact; ``order``: "together" puts all entries of a column in rows that follow
    one another."""
    rng = np.random.default_rng(seed)
    entries = int(n * d * density)
    places = np.unique(rng.integers(0, n * d, entries))
    rows, columns = (places // d, places % d) if order == "random" else (places % n, places // n)
    if order == "together":
        each = max(1, n // d)
        rows = np.minimum(columns * each + rows % each, n - 1)
    values = rng.integers(1, 10, len(places)).astype(np.float64)
    X = sp.csr_array((values, (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    return X


def whole(S):
    return np.triu(S) + np.triu(S, 1).T


SHAPES = [
    (40_000, 6, 0.05), (100_000, 16, 0.006), (3_000, 90, 0.05), (250_000, 9, 0.0006), (500, 3, 0.9), (7, 400, 0.3),
    (2_000, 500, 0.002),
]  # fmt: skip


@pytest.mark.parametrize("order", ["random", "together"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("n", "d", "density"), SHAPES)
def test_whole_numbers_are_exact(n, d, density, index, order):
    X = table(n, d, density, order=order)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    w = np.random.default_rng(1).integers(0, 4, n).astype(np.float64)
    for weights in (None, w):
        S, _ = banded_gram(X, weights)
        each = sp.diags_array(np.ones(n) if weights is None else weights)
        np.testing.assert_array_equal(whole(S), (X.T @ each @ X).toarray())
        m, q, again, _ = banded_moments(X, weights)
        np.testing.assert_array_equal(again, S)
        np.testing.assert_array_equal(m, (each @ X).sum(axis=0))
        np.testing.assert_array_equal(q, (each @ X.multiply(X)).sum(axis=0))


def longest(X, monkeypatch):
    """Entries of the longest column among those of all bands."""
    seen = []
    product = sparse_bands._product

    def spied(x, columns, parts, size):
        seen.append(int(np.diff(columns[0]).max()))
        return product(x, columns, parts, size)

    monkeypatch.setattr(sparse_bands, "_product", spied)
    assert banded_gram(X, None) is not None
    return seen[0]


@pytest.mark.parametrize("order", ["random", "together"])
@pytest.mark.parametrize(("n", "d", "density"), SHAPES)
def test_no_chain_is_longer_than_is_allowed_for(n, d, density, order, monkeypatch):
    assert longest(table(n, d, density, order=order), monkeypatch) <= CHAIN


@pytest.mark.parametrize("value", [0.7, 0.1, 1 / 3])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_equal_numbers_keep_their_digits(value, share):
    """Two columns have all their entries in common: chains are as long as they can be."""
    n = 200_000
    held = np.flatnonzero(np.random.default_rng(1).random(n) < share)
    X = sp.csr_array((np.full(2 * len(held), value), (np.tile(held, 2), np.repeat([0, 3], len(held)))), shape=(n, 5))
    S, added = banded_gram(X, None)
    true = Fraction(value) ** 2 * len(held)
    for i, j in ((0, 0), (0, 3), (3, 3)):
        assert abs(Fraction(float(S[i, j])) - true) <= (60 + added / 2) * Fraction(2) ** -53 * true
    m, q, *_ = banded_moments(X, None)
    for j in (0, 3):
        assert abs(Fraction(float(m[j])) - Fraction(value) * len(held)) <= 20 * Fraction(2) ** -53 * m[j]
        assert abs(Fraction(float(q[j])) - true) <= 20 * Fraction(2) ** -53 * true


@pytest.mark.parametrize(("entries", "added"), [(200, 1), (1_000, 1 + 6), (16 * 192, 1 + 16), (30_000, 1 + 16 + 10)])
def test_sums_that_follow_one_another_are_counted(entries, added):
    """The bound on rounding grows with this count: parts are added sixteen at a time, level by level."""
    X = sp.csr_array((np.ones(entries), (np.arange(entries), np.zeros(entries, int))), shape=(entries, 3))
    S, count = banded_gram(X, None)
    assert count == added
    assert S[0, 0] == entries


def test_a_pass_allows_for_every_sum_of_its_blocks():
    X = sp.csr_array((np.full(30_000, 0.7), (np.arange(30_000), np.zeros(30_000, int))), shape=(30_000, 3))
    sums = SparsePass(np.zeros(3), 1.0, None, np.dtype(np.float64), True)
    for _ in range(2):
        sums.feed(Block(X, 0))
    assert sums.length == 2 * banded_gram(X, None)[1] / 2


def test_other_tables_are_left_to_other_ways(monkeypatch):
    assert banded_gram(sp.csr_array((50, 4)), None) is None  # nothing stored
    assert banded_gram(table(3_000, 700, 0.01), None) is None  # more numbers of a square than entries
    assert banded_gram(table(20_000, 60, 0.2), None) is None  # crowded rows
    wide = sp.random_array((10_000, 30), density=0.02, format="csr", rng=np.random.default_rng(0))
    assert banded_gram(wide, None) is not None
    wide.indptr = wide.indptr.astype(np.int64)  # of another width than the places
    wide.indices = wide.indices.astype(np.int32)
    assert banded_gram(wide, None) is None
    monkeypatch.setattr(sparse_bands, "tools", None)
    assert banded_gram(table(3_000, 20, 0.05), None) is None


@pytest.mark.parametrize("order", ["random", "together"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [ritz.PCA, ritz.SVD])
def test_fits_are_those_of_dense_rows(method, weighted, order):
    X = table(30_000, 12, 0.03, order=order).astype(np.float64)
    X.data *= np.random.default_rng(2).standard_normal(X.nnz)
    options = {"sample_weight": np.random.default_rng(3).uniform(0.5, 2, 30_000)} if weighted else {}
    sparse, dense = method(3).fit(X, **options), method(3).fit(X.toarray(), **options)
    np.testing.assert_allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(np.abs(sparse.components_ @ dense.components_.T), np.eye(3), atol=1e-9)
    assert sparse.verify(X, **options)


def test_many_rows_with_few_entries_are_one_block(monkeypatch):
    """200,000 rows would be four blocks by their number: each would take as many calls as all together."""
    calls = []
    monkeypatch.setattr(passes, "banded_moments", lambda x, w: calls.append(x.shape) or banded_moments(x, w))
    X = table(200_000, 8, 0.01) * 0.7  # no whole numbers, which have a way of their own
    ritz.SVD(2).fit(X)
    assert calls == [(np.count_nonzero(np.diff(X.indptr)), 8)]
