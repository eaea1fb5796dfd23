"""What the correspondence family tells a reader whose table is not quite what it takes it for."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ritz
from ritz import CA, FAMD, MCA, MFA
from ritz._core.errors import (
    ColumnsSetAside,
    ConstantColumnWarning,
    IdentifiersAsCategories,
    InputError,
    NoAssociation,
    NonFiniteError,
    ParameterError,
)


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


# lists to be counted

PEOPLE = pd.DataFrame({"Hair": list("aabbcc"), "Eye": list("xyxyxy"), "Freq": [1, 2, 3, 4, 9, 1]})


def test_numbers_beside_a_pair_may_be_its_counts() -> None:
    with (
        pytest.warns(ColumnsSetAside, match=r"'Freq' holds numbers and was not used.*\n.*counts='Freq'"),
        pytest.warns(NoAssociation, match="every row has the same profile"),
    ):
        model = CA(rows="Hair", columns="Eye").fit(PEOPLE)
    assert model.total_inertia_ == pytest.approx(0.0, abs=1e-13)
    assert CA(rows="Hair", columns="Eye", counts="Freq").fit(PEOPLE).total_inertia_ > 0.1
    with pytest.warns(ColumnsSetAside, match="counts='Freq'"):  # counted by a third column too
        CA(rows="Hair", columns="Eye").fit(pd.concat([PEOPLE.assign(Sex="f"), PEOPLE.assign(Sex="m")[1:]]))
    CA(rows="Hair", columns="Eye").fit(pd.concat([PEOPLE, PEOPLE[1:]]).rename(columns={"Freq": "age"}))


def test_frames_with_texts_are_told_how_to_be_counted(tmp_path: Path) -> None:
    for frame, hint in (
        (PEOPLE, r"CA\(rows='Hair', columns='Eye', counts='Freq'\)"),
        (PEOPLE.drop(columns="Freq").assign(Sex="f"), r"CA\(rows='Hair', columns='Eye'\)"),
        (PEOPLE.drop(columns="Eye"), r"CA\(rows='Hair'\)"),
    ):
        with pytest.raises(InputError, match=f"must hold numbers.*'Hair'.*\n.*{hint}"):
            CA().fit(frame)
    counts = pd.DataFrame(np.random.default_rng(0).integers(1, 9, (30, 3)), [f"t{i}" for i in range(30)], list("uvw"))
    counts.to_csv(tmp_path / "counts.csv", index_label="task")
    model = CA().fit(ritz.read(tmp_path / "counts.csv"))
    pd.testing.assert_frame_equal(model.row_coordinates_, CA().fit(counts).row_coordinates_)


def test_missing_counts_are_not_for_pca_to_fill() -> None:
    N = np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, 1.0]])
    with pytest.raises(NonFiniteError, match=r"NaN.*\nhint: put 0 for no count, or leave the row out; rows"):
        CA().fit(N)
    with pytest.raises(NonFiniteError, match=r"infinity.*\nhint: drop those rows"):
        CA().fit(np.nan_to_num(N, nan=np.inf))


# rare levels


def test_a_single_rare_level_keeps_its_name_and_several_are_recorded() -> None:
    rows = survey().assign(price=["cheap", "free", *["dear"] * 29, *["fair"] * 29], kind=["odd", *["plain"] * 59])
    model = MCA(2, rare=0.05).fit(rows)
    assert model.pooled_ == {"price": ["cheap", "free"]}
    labels = set(model.column_coordinates_.index)
    assert {"price=(other)", "kind=odd"} <= labels
    assert "kind=(other)" not in labels
    assert "rare levels taken together: price: cheap, free" in str(model.certificate_)
    np.testing.assert_allclose(model.transform(rows), model.row_coordinates_, atol=1e-10)
    assert FAMD(2).fit(rows.assign(x=np.arange(60.0))).pooled_ == {}


# names


@pytest.mark.parametrize("model", [CA(), MCA(), FAMD(), MFA(groups={"one": ["a"], "two": ["b"]})])
def test_results_of_an_unfitted_model_say_so(model: Any) -> None:
    for name in ("row_coordinates_", "column_cos2_", "eigenvalues_", "certificate_"):
        with pytest.raises(NotFittedError, match=f"not fitted yet, so it has no {name}"):
            getattr(model, name)
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="no attribute 'row_colours_'"):
        _ = model.row_colours_


def test_only_results_of_rows_say_that_rows_are_not_kept() -> None:
    model = MCA().fit(survey())
    with pytest.raises(AttributeError, match="no attribute 'row_colours_'"):
        _ = model.row_colours_
    with pytest.raises(AttributeError, match=r"hint: the attribute row_coordinates_ after fit, or transform\(X\)"):
        model.row_coordinates(survey())
    with pytest.raises(AttributeError, match="hint: the attribute column_coordinates_ after fit"):
        model.column_coordinates(survey())
    with pytest.raises(AttributeError, match="tables in memory only"):
        _ = MCA().partial_fit(survey()).row_coordinates_


# answers and words


def test_missing_answers_are_all_named_with_every_way_to_take_them() -> None:
    rows = survey()
    rows.loc[3:5, "a"] = None
    rows.loc[2:3, "b"] = None
    words = r"columns 'a', 'b'; received 5 missing in 2 columns: 'a' \(3\), 'b' \(2\); the first in row 2\n"
    with pytest.raises(InputError, match=words + "hint: .*'category'.*'exclude'.*missing='regularized'"):
        MCA().fit(rows)
    with pytest.raises(InputError, match=words) as caught:
        FAMD().fit(rows.assign(x=np.arange(60.0)))
    assert "missing='regularized'" in str(caught.value)


def test_words_that_are_nearly_right_are_recognised() -> None:
    with pytest.raises(ParameterError, match="hint: method='burt'"):
        MCA(method="Burt").fit(survey())
    with pytest.raises(ParameterError, match="hint: missing='exclude'"):
        MCA(missing="Exclude").fit(survey())
    with pytest.raises(InputError, match="hint: did you mean 'Freq'"):
        CA(rows="Hair", columns="Eye", counts="Freqs").fit(PEOPLE)


def test_numbers_of_a_table_are_told_once_how_to_be_categories(tmp_path: Path) -> None:
    survey().assign(p=np.arange(60) % 3, q=np.arange(60) % 4).to_csv(tmp_path / "rows.csv", index=False)
    table = ritz.read(tmp_path / "rows.csv")
    with pytest.warns(ColumnsSetAside, match=r"^2 columns set aside: 'p', 'q' \(numbers; categorical='all'.*\)$"):
        MCA(2).fit(table)
    assert len(MCA(2, categorical="all").fit(table).eta2_) == 5


@pytest.mark.parametrize("name", ["MCA", "FAMD", "MFA"])
def test_columns_of_new_rows_are_found_by_name(name: str) -> None:
    rows = survey().assign(x=np.random.default_rng(1).normal(size=60))
    model = fitted(name, rows)
    want = model.transform(rows[[str(column) for column in model.feature_names_in_]])
    np.testing.assert_array_equal(model.transform(rows[["x", "c", "b", "a"]].assign(more="text")), want)
    np.testing.assert_array_equal(model.supplementary_rows(rows[["x", "c", "b", "a"]]), want)
    with pytest.raises(InputError, match=r"columns of the fit.*a table without 'b'"):
        model.transform(rows.drop(columns="b"))
    if name == "FAMD":
        parts = clone(model).partial_fit(rows[:40]).partial_fit(rows[["x", "c", "b", "a"]][40:])
        np.testing.assert_allclose(parts.eigenvalues_, model.eigenvalues_, rtol=1e-9)


# what arrays cannot show


@pytest.mark.parametrize("name", ["CA", "MCA", "FAMD", "MFA"])
def test_axes_and_columns_have_names_whatever_came(name: str) -> None:
    rng = np.random.default_rng(1)
    rows = survey().assign(x=rng.normal(size=60))
    rows[["m", "n", "o"]] = rng.integers(1, 20, (60, 3))
    model = fitted(name, rows)
    assert list(model.column_names_) == list(model.column_coordinates_.index)
    table = model.inertia_table()
    assert list(table.columns) == ["eigenvalue", "share", "cumulative"]
    assert list(table.index) == list(model.row_coordinates_.columns)
    np.testing.assert_array_equal(table["eigenvalue"], model.eigenvalues_)
    np.testing.assert_allclose(table["cumulative"], np.cumsum(model.eigenvalues_) / model.total_inertia_)


def test_arrays_get_names_and_a_table_of_inertias() -> None:
    N = np.random.default_rng(0).integers(1, 9, (6, 3))
    model = CA().fit(N)
    assert list(model.column_names_) == ["x0", "x1", "x2"]
    assert model.inertia_table().shape == (2, 3)
    answers = MCA().fit(survey().to_numpy(dtype=object))
    assert list(answers.column_names_)[:4] == ["x0=x", "x0=y", "x0=z", "x1=p"]
    assert len(answers.column_names_) == len(answers.column_coordinates_)
    polars = pytest.importorskip("polars")
    assert MCA(2).fit(polars.DataFrame(survey().to_dict("list"))).inertia_table()["axis"].to_list() == ["Dim1", "Dim2"]


@pytest.mark.parametrize("index", [pd.Index([f"r{i}" for i in range(60)], name="who"), pd.Index([1, "a"] * 30), None])
def test_written_coordinates_keep_the_names_of_rows(index: Any, tmp_path: Path) -> None:
    rows = survey() if index is None else survey().set_index(index)
    model = MCA(2).fit(rows)
    model.transform_to(rows, tmp_path / "map.csv")
    held = pd.read_csv(tmp_path / "map.csv")
    np.testing.assert_allclose(held[["Dim1", "Dim2"]], model.row_coordinates_, atol=1e-12)
    if index is None:
        assert list(held.columns) == ["Dim1", "Dim2"]
    else:
        assert list(held[index.name or "row"]) == [str(label) for label in index]
    model.transform_to(rows, tmp_path / "map.npy")
    assert np.load(tmp_path / "map.npy").shape == (60, 2)
