"""The second table of a fitted model: its columns by name, and as many rows as the first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz


@pytest.fixture
def tables(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((60, 4)), columns=list("abcd"))
    Y = pd.DataFrame(
        X.to_numpy()[:, :3] @ rng.standard_normal((3, 3)) + rng.standard_normal((60, 3)), columns=list("pqr")
    )
    return X, Y


@pytest.mark.parametrize("model", [ritz.PLS(2), ritz.CCA(2), ritz.PCR(2)], ids=lambda one: type(one).__name__)
def test_columns_of_another_order_are_those_of_the_fit(tables, model):
    X, Y = tables
    model.fit(X, Y)
    turned = Y[["r", "p", "q"]]
    np.testing.assert_array_equal(model.transform_y(turned), model.transform_y(Y))
    np.testing.assert_array_equal(model.transform(X, turned)[1], model.transform(X, Y)[1])
    assert model.score(X, turned) == model.score(X, Y)
    np.testing.assert_array_equal(model.transform_y(Y.to_numpy()), model.transform_y(Y))  # without names, by place


def test_names_that_are_numbered_are_names_too(tables):
    X, Y = tables
    Y.columns = ["y0", "y1", "y2"]
    model = ritz.PLS(2).fit(X, Y)
    turned = Y[["y2", "y0", "y1"]]
    np.testing.assert_array_equal(model.transform_y(turned), model.transform_y(Y))
    backward = ritz.PLS(2).fit(X, turned)
    np.testing.assert_array_equal(backward.transform_y(Y), backward.transform_y(turned))


def test_columns_of_other_names_are_refused(tables):
    X, Y = tables
    model = ritz.PLS(2).fit(X, Y)
    with pytest.raises(ritz.InputError, match="has the columns p, q, r; received p, q, other"):
        model.transform_y(Y.rename(columns={"r": "other"}))
    unnamed = ritz.PLS(2).fit(X, Y.to_numpy())
    np.testing.assert_array_equal(unnamed.transform_y(Y), unnamed.transform_y(Y.to_numpy()))
    one = ritz.PLS(1).fit(X, Y["p"])
    np.testing.assert_array_equal(one.transform_y(Y["p"].rename("z")), one.transform_y(Y["p"]))


def test_both_tables_have_the_same_rows(tables):
    X, Y = tables
    with pytest.raises(ritz.InputError, match="60 of the first and 40 of the second"):
        ritz.CCA(2).fit(X, Y).transform(X, Y[:40])
