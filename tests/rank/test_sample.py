"""Which rows are looked at, and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.sampled import chosen_rows, take_dense, take_rows
from ritz.rank.sample import LinearSample, rows_for, rows_words


def test_few_rows_are_all_taken_and_many_are_spread():
    np.testing.assert_array_equal(chosen_rows(7, None, 10, 0), np.arange(7))
    rows = chosen_rows(1_000_000, None, 1_000, 0)
    assert len(rows) == 1_000
    np.testing.assert_array_equal(rows // 1_000, np.arange(1_000))  # one of every stratum
    assert len(np.unique(rows % 1_000)) > 500  # not always the same place in it
    np.testing.assert_array_equal(rows, chosen_rows(1_000_000, None, 1_000, 0))
    assert np.any(rows != chosen_rows(1_000_000, None, 1_000, 1))


def test_an_integer_weight_is_so_many_copies():
    np.testing.assert_array_equal(chosen_rows(4, np.array([2.0, 0.0, 1.0, 3.0]), 10, 0), [0, 0, 2, 3, 3, 3])


def test_heavy_rows_come_as_often_as_they_weigh():
    weights = np.array([0.5, 300.5, 0.0, 99.0])
    rows = chosen_rows(4, weights, 100, 0)
    share = np.bincount(rows, minlength=4) / len(rows)
    np.testing.assert_allclose(share, weights / weights.sum(), atol=0.011)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, MemoryBlocks, lambda X: MemoryBlocks(sp.csr_array(X), 3)])
def test_rows_are_taken_from_anywhere(make):
    X = np.random.default_rng(0).standard_normal((20, 5)) * (np.arange(5) != 2)
    rows = np.array([0, 3, 3, 17])
    taken = take_rows(make(X), rows)
    np.testing.assert_array_equal(taken if isinstance(taken, np.ndarray) else taken.toarray(), X[rows])
    np.testing.assert_array_equal(take_dense(make(X), rows), X[rows])


def test_columns_without_an_entry_are_left_out_of_sparse_samples():
    X = sp.csr_array(np.diag([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(take_dense(X, np.array([1, 3]), used=True), [[2.0, 0.0], [0.0, 4.0]])


def test_wide_tables_are_judged_by_fewer_rows():
    assert rows_for(1_000_000, 200, 20_000) == 20_000
    assert rows_for(150, 100_000, 20_000) == 150
    assert 200 <= rows_for(50_000, 20_000, 20_000) < 1_100
    assert rows_for(50_000, 10, 500) == 500
    assert rows_words(41, 41) == "all 41 rows"
    assert rows_words(20_000, 1_000_000) == "looked at 20,000 of 1,000,000 rows"


@pytest.mark.parametrize(("center", "scale"), [(True, True), (True, False), (False, False)])
@pytest.mark.parametrize("shape", [(30, 6), (6, 30)])
def test_the_spectrum_of_a_sample_is_that_of_its_rows(shape, center, scale):
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(1, 3, shape[1]) + 5.0
    X[:, 1] = 7.0
    sample = LinearSample(X, 99, center=center, scale=scale)
    A = X - X.mean(axis=0) if center else X
    if scale:
        A = np.delete(A, 1, axis=1) / np.delete(X, 1, axis=1).std(axis=0, ddof=1)
    s = np.linalg.svd(A, compute_uv=False) ** 2
    values = sample.values()
    np.testing.assert_allclose(values, s[: len(values)] / s.sum(), atol=1e-12)
    assert not sample.whole
    drawn = sample.null(np.random.default_rng(0))
    assert abs(drawn.sum() - 1.0) < 1e-5  # the columns keep their squares
    assert drawn[0] < values[0] + 0.5
