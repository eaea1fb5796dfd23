"""The second table in the forms that data come in: the same numbers give the same answer, what is none is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_linnerud

import ritz

X, Y = load_linnerud(return_X_y=True)
SAME = {
    "numbered columns": pd.DataFrame(Y),
    "nullable": pd.DataFrame(Y).astype("Int64"),
    "objects": pd.DataFrame(Y).astype(object),
    "sparse columns": pd.DataFrame(Y).astype(pd.SparseDtype(float, 0)),
    "polars": pl.DataFrame(Y),
    "arrow": pa.table({"a": Y[:, 0], "b": Y[:, 1], "c": Y[:, 2]}),
    "sparse": sparse.csr_array(Y),
    "Fortran": np.asfortranarray(Y),
    "other byte order": Y.astype(">f8"),
    "backwards": Y[::-1].copy()[::-1],
    "lists": Y.tolist(),
}


@pytest.mark.parametrize("form", SAME)
def test_the_same_numbers_give_the_same_answer(form):
    expected = ritz.CCA(2).fit(X, Y)
    model = ritz.CCA(2).fit(X, SAME[form])
    np.testing.assert_allclose(model.canonical_correlations_, expected.canonical_correlations_, rtol=1e-12)
    np.testing.assert_allclose(model.transform_y(SAME[form]), expected.transform_y(Y), rtol=1e-10, atol=1e-12)


def test_columns_of_a_frame_are_named_by_numbers_too():
    both = pd.DataFrame(np.hstack([X, Y]))
    model = ritz.CCA(2, target=[3, 4, 5]).fit(both)
    np.testing.assert_allclose(model.canonical_correlations_, ritz.CCA(2).fit(X, Y).canonical_correlations_)
    np.testing.assert_allclose(model.transform(both), model.transform(both[[0, 1, 2]]))


def with_gap():
    frame = pd.DataFrame(Y).astype("Int64")
    frame.iloc[2, 1] = pd.NA
    return frame


DAYS = np.arange(20).astype("datetime64[D]")
REFUSED = {
    "a gap": (with_gap(), "second table: .* received nan in column '1', row 2"),
    "categories": (pd.DataFrame(Y).astype("category"), "second table takes numbers, also in column '0'"),
    "days": (DAYS, r"second table takes numbers.* received .*datetime64\[D\]"),
    "spans of time": (DAYS - DAYS[0], r"second table takes numbers.* received .*timedelta64\[D\]"),
    "days as objects": (np.array([*DAYS], dtype=object), "second table takes numbers"),
    "a column of days": (pd.Series(DAYS, name="when"), "second table takes numbers, also in column 'when'"),
    "rows of several lengths": ([[1.0, 2.0], [3.0]] * 10, "rows of one length; received 2 entries in row 0 but 1"),
    "one name twice": (pd.DataFrame(Y, columns=list("aab")), "different names in a frame; received 'a'"),
    "no rows": (Y[:0], r"has rows and columns; received shape \(0, 3\)"),
    "a text": ("abc", r"has rows and columns; received shape \(\)"),
    "complex": (Y + 0j, "Complex data not supported"),
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_holds_no_numbers_is_refused_by_name(form):
    given, words = REFUSED[form]
    with pytest.raises(ritz.InputError, match=f"(?s){words}.*\nhint: "):
        ritz.CCA(1).fit(X, given)
