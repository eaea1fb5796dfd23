"""prince on the data sets of its documentation: the same numbers where prince is right, and where it is not.

prince's eigenvalues have the divisor n, as Ritz's in this family. Signs of axes are arbitrary in both.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ritz

HELD = json.loads((Path(__file__).parent.parent / "golden" / "correspondence" / "prince.json").read_text())


def frame(held: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(held["values"], held["rows"], held["cols"])


def apart(mine: Any, theirs: dict[str, Any]) -> float:
    """Largest difference of coordinates, axis by axis, up to sign; NaN is a difference."""
    a, b = np.asarray(mine, float), np.asarray(theirs["values"], float)
    turn = np.sign(np.sum(a * b, axis=0))
    return float(np.max(np.abs(a * turn - b)))


@pytest.mark.parametrize("name", ["punctuation_CA", "elections_CA"])
def test_ca(name: str) -> None:
    held = HELD[name]
    model = ritz.CA(len(held["eig"])).fit(frame(held["data"]))
    np.testing.assert_allclose(model.eigenvalues_, held["eig"], rtol=1e-9)
    np.testing.assert_allclose(model.total_inertia_, held["total"], rtol=1e-9)
    assert apart(model.row_coordinates_, held["row"]) < 1e-9
    assert apart(model.column_coordinates_, held["col"]) < 1e-9


@pytest.mark.parametrize("name", ["burgundy_MCA", "poison_MCA"])
def test_mca(name: str) -> None:
    held = HELD[name]
    model = ritz.MCA(len(held["eig"])).fit(frame(held["data"]))
    np.testing.assert_allclose(model.eigenvalues_, held["eig"], rtol=1e-9)
    np.testing.assert_allclose(model.total_inertia_, held["total"], rtol=1e-9)
    assert apart(model.row_coordinates_, held["row"]) < 1e-8
    # prince orders and names categories in its own way: variable__category
    theirs = frame(held["col"])
    theirs.index = [label.replace("__", "=") for label in theirs.index]
    mine = model.column_coordinates_
    assert sorted(mine.index) == sorted(theirs.index)
    assert apart(mine.loc[theirs.index], {"values": theirs.to_numpy()}) < 1e-8


def test_famd() -> None:
    held = HELD["poison_FAMD"]
    data = frame(held["data"]).astype({"Age": float, "Time": float})
    model = ritz.FAMD(4).fit(data)
    np.testing.assert_allclose(model.eigenvalues_, held["eig"], rtol=1e-9)
    np.testing.assert_allclose(model.total_inertia_, held["total"], rtol=1e-9)
    assert apart(model.row_coordinates_, held["row"]) < 1e-8


def test_famd_of_one_row_alone() -> None:
    """prince takes the shares of categories from the rows given: a row has one place alone, another in a crowd."""
    data = frame(HELD["poison_FAMD"]["data"]).astype({"Age": float, "Time": float})
    model = ritz.FAMD(3).fit(data)
    whole = model.transform(data)
    for i in (0, 17, 54):
        np.testing.assert_allclose(model.transform(data.iloc[i : i + 1])[0], whole[i], atol=1e-12)


def test_mfa() -> None:
    held = HELD["league_MFA"]
    data = frame(held["data"]).astype(float)
    seasons = sorted({name.split("|")[0] for name in data.columns})
    groups = {season: [name for name in data.columns if name.startswith(season)] for season in seasons}
    model = ritz.MFA(3, groups=groups).fit(data)
    np.testing.assert_allclose(model.eigenvalues_, held["eig"], rtol=1e-9)
    assert apart(model.row_coordinates_, held["row"]) < 1e-8


def test_the_first_argument_is_the_number_of_components() -> None:
    """In prince it is ``rescale_with_mean``, so PCA(2) fails late, in another library."""
    for method in (ritz.PCA, ritz.SVD, ritz.CA, ritz.MCA, ritz.FAMD, ritz.MFA, ritz.KernelPCA):
        assert method(2).n_components == 2
