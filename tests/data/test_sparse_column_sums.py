"""Sums and sums of squares of the columns of CSR rows, by steps that lie in many bands or in a part of one.

Truth is exact: ``math.fsum`` of rounded terms, and whole numbers.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.passes.sparse import sums as sparse_sums
from ritz.data.passes.sparse.sums import filled_rows, sums

#: Many low bands, bands of more entries than a step, one row, long rows, hardly any entries.
SHAPES = [(12_557, 6, 0.18), (40_000, 25, 0.3), (64, 900, 0.9), (1, 500, 1.0), (3_000, 700, 0.4), (100_000, 9, 2e-3)]


def entries(shape, seed, whole=False):
    n, d, density = shape
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=density, format="csr", rng=rng)
    X.data = rng.integers(-9, 10, X.nnz).astype(float) if whole else rng.standard_normal(X.nnz) + 1.0
    return X


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_columns_are_those_of_exact_arithmetic(shape, weighted, seed):
    X = entries(shape, seed)
    w = np.random.default_rng(seed + 1).random(X.shape[0]) if weighted else None
    m, q = sums(X, w)
    columns, each = X.tocsc(), np.ones(X.shape[0]) if w is None else w
    for j in range(0, X.shape[1], max(1, X.shape[1] // 7)):
        rows, x = columns.indices[columns.indptr[j] : columns.indptr[j + 1]], columns[:, [j]].tocsc().data
        terms = (each[rows] * x).tolist()
        size = math.fsum(np.abs(terms))
        assert abs(m[j] - math.fsum(terms)) <= 2.0**-53 * 70 * size
        squares = math.fsum((each[rows] * x * x).tolist())
        assert abs(q[j] - squares) <= 2.0**-53 * 70 * squares


@pytest.mark.parametrize("step", [3, 50, 1_000])
def test_sums_of_whole_numbers_do_not_depend_on_steps(step, seed, monkeypatch):
    X = entries((2_000, 30, 0.2), seed, whole=True)
    X = sp.vstack([X, sp.csr_array((500, 30)), X[:7]], format="csr")  # rows without entries, and a short band
    monkeypatch.setattr(sparse_sums, "SUMMED", step)
    m, q = sums(X)
    assert np.array_equal(m, X.toarray().sum(axis=0))
    assert np.array_equal(q, np.square(X.toarray()).sum(axis=0))


def test_a_column_that_is_crowded_in_one_band_is_summed_pairwise(seed):
    """In bands of few entries a column, chains would be long: 0.1 is added 60,000 times."""
    n = 60_000
    X = sp.csr_array((np.full(n, 0.1), (np.arange(n), np.zeros(n, int))), shape=(n, 40_000))
    m, _ = sums(X)
    assert abs(m[0] - math.fsum([0.1] * n)) <= 2.0**-53 * 30 * 0.1 * n


def test_rows_without_entries_are_left_out(seed):
    X = entries((5_000, 12, 0.01), seed)
    w = np.random.default_rng(seed).random(5_000)
    rows, weights = filled_rows(X, w)
    there = np.flatnonzero(np.diff(X.indptr))
    assert rows.shape == (len(there), 12)
    assert np.array_equal(rows.toarray(), X.toarray()[there])
    assert np.array_equal(weights, w[there])
    nothing, _ = filled_rows(sp.csr_array((9, 4)), None)
    assert nothing.shape == (0, 4)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_table_of_mostly_empty_rows_fits_as_a_dense_one(weighted, seed):
    X = entries((20_000, 15, 0.01), seed)
    w = np.random.default_rng(seed).integers(0, 4, 20_000).astype(float) if weighted else None
    sparse, dense = (ritz.PCA(4, solver="moments").fit(rows, sample_weight=w) for rows in (X, X.toarray()))
    top = dense.explained_variance_[0]
    assert np.max(np.abs(sparse.explained_variance_ - dense.explained_variance_)) <= 1e-13 * top
