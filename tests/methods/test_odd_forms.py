"""Odd but legal tables: the same numbers in another form give the same answer, and what loses digits says so."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import ritz

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 9, (12, 4)) + np.array([0.0, 1.0, 0.0, 0.0])
NAMED = pd.DataFrame(COUNTS, columns=list("abcd"))
FORMS = {
    "read-only": np.broadcast_to(COUNTS, COUNTS.shape),
    "Fortran": np.asfortranarray(COUNTS),
    "backwards": COUNTS[::-1, ::-1].copy()[::-1, ::-1],
    "every second": np.repeat(np.repeat(COUNTS, 2, axis=0), 2, axis=1)[::2, ::2],
    "objects": COUNTS.astype(object),
    "decimals": np.vectorize(Decimal, otypes=[object])(COUNTS.astype(int)),
    "float16": COUNTS.astype(np.float16),
    "bytes": COUNTS.astype(np.uint8),
    "long double": COUNTS.astype(np.longdouble),
    "other byte order": COUNTS.astype(">i4"),
    "frame of objects": NAMED.astype(object),
    "nullable": NAMED.astype("Int64"),
    "sparse columns": NAMED.astype(pd.SparseDtype(float, 0)),
    "Arrow columns": NAMED.astype("int64[pyarrow]"),
    "polars": pl.DataFrame(COUNTS, schema=list("abcd")),
    "CSC": sp.csc_array(COUNTS),
    "DOK": sp.dok_array(COUNTS),
    "lists": COUNTS.tolist(),
}
MODELS = {
    "PCA": lambda: ritz.PCA(2, scale=True),
    "SVD": lambda: ritz.SVD(2),
    "CA": lambda: ritz.CA(2),
    "KernelPCA": lambda: ritz.KernelPCA(2, kernel="rbf"),
    "FAMD": lambda: ritz.FAMD(2),
    "CCA": lambda: ritz.CCA(1),
}
Y = np.column_stack([np.arange(12.0) % 5, RNG.standard_normal(12)])


def fitted(name, X):
    model = MODELS[name]()
    return model.fit(X, Y) if name == "CCA" else model.fit(X)


@pytest.mark.filterwarnings("ignore:integer column:ritz._core.errors.IntegersAsNumbers")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_numbers_in_another_form(name, form):
    if name == "FAMD" and form in ("CSC", "DOK"):
        with pytest.raises(ritz.InputError, match=r"goes to ritz\.CA as it is"):
            fitted(name, FORMS[form])
        return
    model, expected = fitted(name, FORMS[form]), fitted(name, COUNTS)
    np.testing.assert_allclose(model.transform(FORMS[form]), expected.transform(COUNTS), rtol=2e-4, atol=2e-5)


LONG = COUNTS.astype(np.uint64) + np.uint64(2**63)


@pytest.mark.filterwarnings("ignore:the rows are integers with means beyond:ritz.DigitsLost")
def test_what_long_integers_differ_by_is_not_lost_between_two_tables():
    for which in (ritz.CCA, ritz.PLS, ritz.PCR):
        model, expected = which(1).fit(LONG, Y), which(1).fit(COUNTS, Y)
        np.testing.assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-10)
        np.testing.assert_allclose(model.predict(LONG), expected.predict(COUNTS), rtol=1e-8)
        assert model.verify(LONG, Y)


LOSING = {
    "second table": lambda rows: ritz.PLS(1).fit(COUNTS, rows),
    "RobustPCA": lambda rows: ritz.RobustPCA(1).fit(rows),
    "FAMD": lambda rows: ritz.FAMD(1).fit(rows),
    "FAMD of a frame": lambda rows: ritz.FAMD(1).fit(pd.DataFrame(rows, columns=list("abcd"))),
    "Autoencoder": lambda rows: ritz.Autoencoder(1).fit(rows),
}


@pytest.mark.parametrize("what", LOSING)
def test_integers_that_lose_digits_are_warned_about(what):
    rows = COUNTS.astype(np.int64) * [2**40, 1, 1, 1] + [2**60, 0, 0, 0]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        LOSING[what](rows)
    assert any(one.category is ritz.DigitsLost and "holds integers beyond 2^53" in str(one.message) for one in said)


@pytest.mark.parametrize("which", [ritz.FAMD, ritz.MCA, ritz.PCA, ritz.CA])
def test_names_of_several_kinds_are_refused_with_what_to_do(which):
    mixed = pd.DataFrame(COUNTS, columns=["a", 1, "c", 2])
    rows = mixed.astype(int).astype(str) if which is ritz.MCA else mixed
    with pytest.raises(ritz.InputError, match=r"(?s)all input features have string names.*\nhint: name every column"):
        which(1).fit(rows)


def test_a_set_is_no_table():
    with pytest.raises(ritz.InputError, match=r"(?s)received set\nhint: pass rows and columns of numbers"):
        ritz.PCA(1).fit({1, 2})


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_of_numpy_is_an_array_for_mixed_tables():
    expected = ritz.FAMD(1).fit(COUNTS)
    np.testing.assert_allclose(ritz.FAMD(1).fit(np.matrix(COUNTS)).eigenvalues_, expected.eigenvalues_)


@pytest.mark.parametrize("name", ["PCA", "CA"])
def test_a_collection_without_rows_is_refused(name):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ritz.InputError, match=r"(?s)rows.*received.*\nhint: "):
        MODELS[name]().fit(da.from_array(COUNTS[:0], chunks=5))
