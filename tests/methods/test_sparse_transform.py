"""Sparse rows are multiplied as they lie: by columns, in any order, with entries that come twice."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.errors import InputError, NonFiniteError

MODELS = [ritz.SVD(3), ritz.PCA(3), ritz.PCA(3, scale=True, whiten=True), ritz.PCA(40), ritz.PCA(3, center=False)]


def table(dtype=np.float64, full=False):
    rng = np.random.default_rng(3)
    S = sp.random(300, 60, 0.1, format="lil", random_state=rng, dtype=dtype)
    if full:
        S[:, 7] = 1e9 + rng.standard_normal(300)
    return S.tocsr()


def reversed_rows(S):
    """The same rows with the entries of each from the last to the first."""
    data, indices = S.data.copy(), S.indices.copy()
    for a, b in zip(S.indptr[:-1], S.indptr[1:], strict=True):
        data[a:b], indices[a:b] = data[a:b][::-1], indices[a:b][::-1]
    return sp.csr_array((data, indices, S.indptr.copy()), shape=S.shape)


def twice(S):
    """The same rows with every entry in two halves."""
    half, shape = S.tocoo(), S.shape
    rows, columns = (np.concatenate([part, part]) for part in (half.row, half.col))
    data = np.concatenate([half.data * 0.25, half.data * 0.75])
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
    return sp.csr_array((data[order], columns[order], indptr), shape=shape)


@pytest.mark.parametrize("full", [False, True], ids=["gaps", "a full column far from zero"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_coordinates_do_not_depend_on_how_entries_are_stored(model, dtype, full):
    S = table(dtype, full)
    fitted = ritz.__dict__[type(model).__name__](**model.get_params()).fit(S.astype(np.float64))
    truth = fitted.transform(S)
    size = float(np.abs(truth).max())
    forms = {
        "csc": S.tocsc(),
        "csc array": sp.csc_array(S),
        "any order": reversed_rows(S),
        "twice": twice(S),
        "twice by columns": sp.csc_array(twice(S)) if not full else S.tocsc(),
    }
    for name, form in forms.items():
        before = form.data.copy(), form.indices.copy(), form.indptr.copy()
        scores = fitted.transform(form)
        assert scores.dtype == truth.dtype, name
        # Halves of entries of 1e9 are rounded before they are added.
        room = (300 if full and name.startswith("twice") else 1) * (1e-5 if dtype == np.float32 else 1e-12)
        np.testing.assert_allclose(scores, truth, rtol=0, atol=room * size, err_msg=name)
        for old, new in zip(before, (form.data, form.indices, form.indptr), strict=True):
            np.testing.assert_array_equal(old, new)


def test_integers_and_booleans_that_come_twice_are_added_as_they_are():
    S = table()
    model = ritz.SVD(3).fit(S)
    pair = sp.csr_array((np.array([True, True]), np.array([4, 4]), np.array([0, 2])), shape=(1, 60))
    once = sp.csr_array((np.array([1.0]), np.array([4]), np.array([0, 1])), shape=(1, 60))
    np.testing.assert_allclose(model.transform(pair), model.transform(once))


@pytest.mark.parametrize("make", [sp.csc_array, reversed_rows], ids=["csc", "any order"])
@pytest.mark.parametrize("model", MODELS[:3], ids=str)
def test_what_is_wrong_is_found_in_any_form(make, model):
    S = table()
    fitted = ritz.__dict__[type(model).__name__](**model.get_params()).fit(S)
    for bad in (np.nan, np.inf):
        spoiled = S.copy()
        spoiled.data[40] = bad
        row = int(np.searchsorted(spoiled.indptr, 40, side="right") - 1)
        with pytest.raises(NonFiniteError, match=rf"row {row} column {spoiled.indices[40]}"):
            fitted.transform(make(spoiled))
    with pytest.raises(InputError, match="60 features"):
        fitted.transform(make(S[:, :50]))
    damaged = make(S)
    damaged.indices[0] = 10_000
    with pytest.raises(InputError, match="index arrays"):
        fitted.transform(damaged)
