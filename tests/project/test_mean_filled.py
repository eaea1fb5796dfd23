"""Gaps that hold means are filled where they lie: the same numbers and refusals as by the general way."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz._core.errors import InputError


def gappy(dtype=np.float64, n=500, d=6):
    rng = np.random.default_rng(2)
    X = (rng.standard_normal((n, d)) + 1e3 * np.arange(d)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 1.0
    return X


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaps_hold_the_means_of_their_columns(dtype, order):
    X = np.asarray(gappy(dtype), order=order)
    kept = X.copy()
    model = ritz.PCA(2, missing="mean").fit(X)
    truth = np.where(np.isnan(X), np.nanmean(X.astype(np.longdouble), axis=0), X)
    filled = model.impute(X)
    assert filled.dtype == dtype
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_allclose(filled, truth.astype(np.float64), rtol=4 * np.finfo(dtype).eps, atol=1e-13)
    np.testing.assert_allclose(
        model.transform(X), model.transform(filled), rtol=0, atol=1e-12 if dtype == np.float64 else 1e-3
    )
    np.testing.assert_array_equal(X, kept)


def test_the_general_way_fills_the_same_numbers():
    X = gappy()
    filler = ritz.PCA(2, missing="mean").fit(X)._record.filler
    assert filler.k == 0
    quick = filler.fill(X, 0)
    z, gone = filler.standard(X)
    general = np.where(gone, (np.zeros_like(z) * filler.scale + filler.offset) + filler.shift, X)
    np.testing.assert_array_equal(quick, general)


def test_complete_rows_are_given_back_and_what_cannot_be_placed_is_refused():
    X = gappy()
    model = ritz.PCA(2, missing="mean").fit(X)
    filler, whole = model._record.filler, np.nan_to_num(X)
    assert filler.fill(whole, 0) is whole
    bare, far = X.copy(), X.copy()
    bare[7] = np.nan
    with pytest.raises(InputError, match="row 7"):
        model.transform(bare)
    far[9, :2] = np.nan, np.inf
    with pytest.raises(InputError, match="row 9"):
        model.transform(far)
    huge = X.copy()
    huge[3, :3] = np.nan, 1.5e308, 1.5e308  # whose sum is no float
    np.testing.assert_array_equal(filler.fill(huge, 0)[3, 1:], np.where(np.isnan(X), model.mean_, huge)[3, 1:])
