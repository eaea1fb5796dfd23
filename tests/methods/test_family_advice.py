"""What the correspondence family tells a reader whose table is not quite what it takes it for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ritz import CA, FAMD, MCA, MFA
from ritz._core.errors import ConstantColumnWarning, IdentifiersAsCategories, InputError


def survey(n: int = 60, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "a": np.array(list("xyz"))[z],
            "b": np.array(list("pqrs"))[z + rng.integers(0, 2, n)],
            "c": np.array(list("uvw"))[rng.integers(0, 3, n)],
        }
    )


# columns that name rows, and columns that never change


def test_a_column_that_names_rows_is_pointed_out() -> None:
    rows = survey().assign(id=[f"r{i}" for i in range(60)], x=np.arange(60.0) ** 2)
    groups = {"one": ["a", "id"], "two": ["b", "c", "x"]}
    for model, table in ((MCA(2), rows.drop(columns="x")), (FAMD(2), rows), (MFA(2, groups=groups), rows)):
        with pytest.warns(IdentifiersAsCategories, match=r"'id': every row has its own level.*η² = 1.*\n.*index"):
            model.fit(table)
    assert isinstance(model, MFA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MCA(2).fit(rows.set_index("id")[["a", "b", "c"]])
        MCA(2).fit(survey(4)[["a", "c"]])


@pytest.mark.parametrize("options", [{}, {"method": "burt"}, {"method": "adjusted"}, {"mergeable": False}])
def test_a_constant_answer_is_set_aside(options: dict[str, Any]) -> None:
    rows = survey()
    plain = MCA(**options).fit(rows)
    with pytest.warns(ConstantColumnWarning, match="constant column 'k': set aside"):
        model = MCA(**options).fit(rows.assign(k="always"))
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, atol=1e-12)
    assert model.total_inertia_ == pytest.approx(plain.total_inertia_)
    assert model.column_masses_.sum() == pytest.approx(1.0)
    assert model.column_coordinates_.loc["k=always"].isna().all()
    np.testing.assert_allclose(np.abs(model.row_coordinates_), np.abs(plain.row_coordinates_), atol=1e-9)
    np.testing.assert_allclose(model.eta2_.loc[["a", "b", "c"]], plain.eta2_, atol=1e-10)
    np.testing.assert_allclose(model.eta2_.loc["k"], 0.0, atol=1e-12)


def test_an_answer_that_is_constant_in_one_part_only_counts_in_the_whole() -> None:
    rows = survey().assign(k=["always"] * 30 + ["now", "then"] * 15)
    whole = MCA().fit(rows)
    with pytest.warns(ConstantColumnWarning, match="'k'"):
        first = MCA().fit(rows[:30])
    np.testing.assert_allclose(first.merge(MCA().fit(rows[30:])).eigenvalues_, whole.eigenvalues_, atol=1e-10)


# rows by name


def fitted(name: str, rows: pd.DataFrame) -> Any:
    if name == "CA":
        return CA().fit(rows[["m", "n", "o"]])
    kinds = {"MCA": MCA(2), "FAMD": FAMD(2), "MFA": MFA(2, groups={"one": ["a", "x"], "two": ["b", "c"]})}
    return kinds[name].fit(rows[["a", "b", "c"] if name == "MCA" else ["a", "x", "b", "c"]])


@pytest.mark.parametrize("name", ["CA", "MCA", "FAMD", "MFA"])
@pytest.mark.parametrize("index", ["names", "numbers"])
def test_supplementary_columns_follow_the_index(name: str, index: str) -> None:
    rng = np.random.default_rng(1)
    rows = survey().assign(x=rng.normal(size=60), y=rng.integers(0, 9, 60) + 1)
    rows[["m", "n", "o"]] = rng.integers(1, 20, (60, 3))
    if index == "names":
        rows.index = pd.Index([f"r{i}" for i in range(60)])
    model, other = fitted(name, rows), rows[["y"]]
    want = np.asarray(model.supplementary_columns(other))
    for shown in (other[::-1], other.sample(frac=1, random_state=2), other.reset_index(drop=True), other.to_numpy()):
        np.testing.assert_allclose(np.asarray(model.supplementary_columns(shown)), want, atol=1e-12)
    if index == "names":
        with pytest.raises(InputError, match=r"rows of the fit, among them 'r0'; received an index with 'q0' instead"):
            model.supplementary_columns(other.rename(index={"r0": "q0"}))
