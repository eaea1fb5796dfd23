"""Means in two parts: the sum and what rounding takes from it, and the columns of sparse rows that can need it."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import ritz
from ritz._core.linalg import split_sum
from ritz.data.passes.center import full_columns, mean_parts, taken_off
from ritz.project.linear import LinearMap
from ritz.project.residual import Frame

NUMBERS = st.floats(-1e200, 1e200, allow_nan=False, allow_subnormal=False)


@given(NUMBERS, NUMBERS)
def test_the_two_parts_of_a_sum_are_the_sum(a, b):
    high, low = (float(part) for part in split_sum(a, b))
    assert Fraction(high) + Fraction(low) == Fraction(a) + Fraction(b)
    assert high == a + b


def test_a_mean_without_a_rest_has_one_part():
    column = SimpleNamespace(shift=np.array([1.0, 8.0]), offset=np.array([0.5, -2.0]))
    high, low = mean_parts(column)
    assert high.tolist() == [1.5, 6.0]
    assert low is None


def test_full_columns_are_those_with_every_entry_stored():
    X = np.array([[1.0, 0.0, 5.0, 0.0], [2.0, 3.0, 6.0, 0.0], [4.0, 0.0, 7.0, 0.0]])
    mean = np.array([1.0, 1.0, 0.0, 1.0])  # a column about zero has nothing to take off
    assert full_columns(sp.csr_array(X), mean).tolist() == [True, False, False, False]
    assert full_columns(sp.csr_array(X[:, [1, 3]]), mean[:2]) is None
    assert full_columns(sp.csr_array(np.zeros((0, 3))), np.ones(3)) is None


def test_sparse_and_dense_rows_agree_far_from_zero():
    """Rows on a grid of 2⁻²⁰, moved by 2²⁷: nothing is rounded, so every result has to stay."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((40, 3)) * 2**20) / 2**20
    wide = np.zeros((40, 30))
    wide[:, :3], wide[::9, 7] = X, 1.0
    V = np.linalg.qr(rng.standard_normal((30, 2)))[0].T
    mean, low = split_sum(wide.mean(axis=0), np.full(30, 1e-18))
    moved = wide.copy()
    moved[:, :3] += 2.0**27
    high = mean.copy()
    high[:3] += 2.0**27
    rest = low + (mean[:] - (high - np.where(np.arange(30) < 3, 2.0**27, 0.0)))
    near = taken_off(wide, mean, low)
    truth, left = near @ V.T, near - near @ V.T @ V
    for rows in (moved, sp.csr_array(moved)):
        np.testing.assert_allclose(LinearMap(V, high, None, None, low=rest).forward(rows), truth, atol=1e-13)
        found = Frame(V, np.eye(2), high, None, rest).distances(rows)
        np.testing.assert_allclose(found[:, 1], np.square(left).sum(axis=1), rtol=1e-11)


def test_sparse_rows_near_the_plane_keep_their_distance_from_it():
    """‖z‖² − ‖y‖² is rounding for a row 1e8 along an axis; the row itself is not."""
    V = np.eye(5)[:1]
    X = np.zeros((3, 5))
    X[:, 0], X[:, 3] = [1e8, 1.0, -1e8], [1e-3, 2.0, 0.0]
    found = Frame(V, np.eye(1)).distances(sp.csr_array(X))
    np.testing.assert_allclose(found[:, 1], [1e-6, 4.0, 0.0], rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_parts_of_numbers_whose_sum_is_out_of_range_warn_of_nothing():
    high, low = split_sum(np.full(50, 1.5e308), 1e290)
    np.testing.assert_array_equal(high + low, np.full(50, 1.5e308))
    X = 1.5e308 * (1 + 1e-3 * np.sin(np.arange(200.0)).reshape(50, 4))
    ratios = ritz.PCA(2, scale=True).fit(X).explained_variance_ratio_
    np.testing.assert_allclose(ratios, ritz.PCA(2, scale=True).fit(X / 2.0**1000).explained_variance_ratio_, rtol=1e-12)
