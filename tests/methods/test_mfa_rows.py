"""Groups in all forms: batches, shards, files, libraries, many columns, rows without counts, refusals."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ritz
from ritz import FAMD, MCA, MFA


def survey(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    t = rng.normal(size=n)
    frame = pd.DataFrame({
        "a": t + rng.normal(size=n), "b": 3 * rng.normal(size=n) + 100, "c": t - rng.normal(size=n),
        "u": rng.choice(list("xyz"), n), "v": np.where(t + rng.normal(size=n) > 0, "hi", "lo"),
    })  # fmt: skip
    for j in range(3):
        frame[f"m{j}"] = rng.poisson(3 * np.exp(0.4 * t * (j - 1.5))) + (j == 0)
        frame[f"s{j}"] = rng.poisson(2 + rng.gamma(1, size=n))
    return frame


FRAME = survey()
PLAIN = {"numbers": ["a", "b", "c"], "answers": ["u", "v"]}
WORDS = {**PLAIN, "words": ["m0", "m1", "m2"]}
TABLES = {**WORDS, "songs": ["s0", "s1", "s2"]}
KINDS = {
    "plain": {"groups": PLAIN},
    "counts": {"groups": WORDS, "frequencies": ["words"]},
    "tables": {"groups": TABLES, "frequencies": ["words", "songs"]},
}


def columns(options: dict) -> list[str]:
    return [column for held in options["groups"].values() for column in held]


def close(a, b, atol: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), atol=atol)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=st.lists(st.integers(0, 59), min_size=1, max_size=8))
def test_a_row_has_one_place(kind: str, rows: list[int]) -> None:
    options = KINDS[kind]
    model = MFA(4, **options).fit(FRAME[columns(options)])
    close(model.transform(FRAME.iloc[rows]), model.row_coordinates_.iloc[rows], 1e-10)
    close(model.transform(FRAME.iloc[rows[:1]]), model.transform(FRAME.iloc[rows])[:1], 1e-12)
    parts = model.partial_transform(FRAME.iloc[rows])
    for name, table in parts.items():
        close(table, model.partial_coordinates_[name].iloc[rows], 1e-10)
    close(sum(parts.values()) / len(parts), model.transform(FRAME.iloc[rows]), 1e-10)


@pytest.mark.parametrize("kind", ["plain", "counts"])
@given(cuts=st.lists(st.integers(2, 58), max_size=3), seed=st.integers(0, 2))
def test_partial_fit_and_merge_equal_the_whole(kind: str, cuts: list[int], seed: int) -> None:
    options = KINDS[kind]
    frame = survey(seed=seed)[columns(options)]
    whole, edges = MFA(**options).fit(frame), [0, *sorted(set(cuts)), 60]
    parts = [frame.iloc[a:b] for a, b in pairwise(edges)]
    added = MFA(**options)
    for part in parts:
        added.partial_fit(part)
    merged = ritz.merge(*[MFA(**options).partial_fit(part) for part in parts])
    for model in (added, merged):
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
        close(model.column_coordinates_, whole.column_coordinates_, 1e-8)
        close(model.column_cos2_, whole.column_cos2_, 1e-8)
        close(model.transform(frame), whole.row_coordinates_, 1e-8)
        for name in (
            "group_coordinates_",
            "group_cos2_",
            "group_correlations_",
            "lg_",
            "rv_",
            "inertia_ratio_",
            "partial_axes_",
        ):
            close(getattr(model, name), getattr(whole, name), 1e-8)
        with pytest.raises(AttributeError, match="partial_transform"):
            _ = model.partial_coordinates_


def test_several_tables_do_not_merge() -> None:
    options = KINDS["tables"]
    with pytest.raises(ritz.MergeError, match="several groups of frequencies"):
        MFA(**options).partial_fit(FRAME)
    model = MFA(**options).fit(FRAME)
    with pytest.raises(ritz.MergeError, match="several groups of frequencies"):
        model.merge(model)
    with pytest.raises(ritz.ParameterError, match="at most one group of frequencies"):
        MFA(mergeable=True, **options).fit(FRAME)
    plain = FRAME[columns(KINDS["plain"])]
    with pytest.raises(ritz.MergeError, match="with a MFA only; received FAMD"):
        MFA(**KINDS["plain"]).fit(plain).merge(FAMD().fit(plain))
    with pytest.raises(ritz.MergeError, match="groups"):
        MFA(groups=PLAIN).fit(plain).merge(MFA(groups={"all": columns(KINDS["plain"])}).fit(plain))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_copies(kind: str) -> None:
    options = KINDS[kind]
    frame, w = FRAME[columns(options)], np.arange(60) % 3
    weighted, copied = MFA(**options).fit(frame, sample_weight=w), MFA(**options).fit(frame.loc[frame.index.repeat(w)])
    np.testing.assert_allclose(weighted.eigenvalues_, copied.eigenvalues_, rtol=1e-9)
    close(weighted.column_coordinates_, copied.column_coordinates_)
    close(weighted.column_v_tests_, copied.column_v_tests_, 1e-8)
    close(weighted.lg_, copied.lg_)
    close(weighted.transform(frame), copied.transform(frame))
    close(weighted.row_coordinates_, weighted.transform(frame))  # rows of weight 0 have a place all the same


def test_certificate_verifies_and_can_fail() -> None:
    for options in KINDS.values():
        frame = FRAME[columns(options)]
        model = MFA(3, **options).fit(frame)
        check = model.verify(frame)
        assert check, str(check)
        assert not model.verify(frame.assign(a=frame["a"] ** 3))


def test_levels_that_are_missing_rare_excluded_or_new() -> None:
    frame = FRAME[["a", "b", "c", "u", "v"]]
    gappy = frame.assign(u=frame["u"].where(np.arange(60) % 7 > 0, None))
    own, filled = MFA(groups=PLAIN, missing="category").fit(gappy), MFA(groups=PLAIN).fit(gappy.fillna({"u": "zz"}))
    np.testing.assert_allclose(own.eigenvalues_, filled.eigenvalues_, rtol=1e-12)
    left = MFA(groups=PLAIN, missing="exclude").fit(gappy)
    specific = MFA(groups=PLAIN, exclude=["u=zz"]).fit(gappy.fillna({"u": "zz"}))
    np.testing.assert_allclose(left.eigenvalues_, specific.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(
        left.group_eigenvalues_["answers"], MCA(missing="exclude").fit(gappy[["u", "v"]]).eigenvalues_, rtol=1e-9
    )
    rare = frame.assign(u=np.where(np.arange(60) == 3, "r1", np.where(np.arange(60) == 4, "r2", frame["u"])))
    assert "u=(other)" in MFA(groups=PLAIN, rare=0.05).fit(rare).column_coordinates_.index
    model = MFA(groups=PLAIN, unseen="ignore").fit(frame)
    assert np.isfinite(model.transform(frame[:2].assign(u="new"))).all()
    with pytest.raises(ritz.InputError, match="u=new"):
        MFA(groups=PLAIN).fit(frame).transform(frame[:2].assign(u="new"))


# forms


@pytest.mark.parametrize("kind", KINDS)
def test_a_streamed_file(kind: str, tmp_path: Path) -> None:
    options, frame = KINDS[kind], survey(3000)
    frame = frame[columns(options)]
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=500)
    whole = MFA(3, **options).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outside = ritz.read(tmp_path / "t.parquet", memory="1kB")
        model = MFA(3, memory="40MB", **options).fit(outside)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    close(model.column_coordinates_, whole.column_coordinates_, 1e-8)
    close(model.lg_, whole.lg_, 1e-8)
    close(model.partial_axes_, whole.partial_axes_, 1e-8)
    close(model.transform(outside), whole.row_coordinates_, 1e-8)
    model.transform_to(outside, tmp_path / "f.npy")
    close(np.load(tmp_path / "f.npy"), whole.row_coordinates_, 1e-8)
    with pytest.raises(AttributeError, match="transform"):
        _ = model.row_coordinates_


@pytest.mark.parametrize("kind", KINDS)
def test_dask_frames(kind: str) -> None:
    dd = pytest.importorskip("dask.dataframe")
    options = KINDS[kind]
    frame = survey(300)[columns(options)]
    held = dd.from_pandas(frame, npartitions=3)
    model, whole = MFA(3, **options).fit(held), MFA(3, **options).fit(frame)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    close(np.asarray(model.transform(held)), whole.row_coordinates_, 1e-8)


def test_frames_of_every_library_and_slices_of_names() -> None:
    frame = FRAME[["a", "b", "c", "u", "v"]]
    whole = MFA(groups=PLAIN).fit(frame)
    sliced = MFA(groups={"numbers": slice("a", "c"), "answers": slice("u", None)}).fit(frame)
    close(sliced.row_coordinates_, whole.row_coordinates_, 1e-12)
    for held in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        model = MFA(groups=PLAIN).fit(held)
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
        assert type(model.lg_).__module__.split(".")[0] == type(held).__module__.split(".")[0]
        assert type(model.partial_coordinates_["numbers"]) is type(held)
        assert type(model.inverse_transform(model.transform(held))) is type(held)
    array = frame.to_numpy(dtype=object)
    for groups in (
        {"numbers": slice(0, 3), "answers": [3, -1]},
        {"numbers": ["x0", "x1", "x2"], "answers": slice(3, None)},
    ):
        model = MFA(groups=groups).fit(array)
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
        close(model.transform(array), whole.row_coordinates_)
        assert isinstance(model.rv_, np.ndarray)


def test_other_columns_are_set_aside_and_not_needed_again() -> None:
    with pytest.warns(ritz.ColumnsSetAside, match="6 columns in no group, set aside: 'm0'"):
        model = MFA(groups=PLAIN).fit(FRAME)
    whole = MFA(groups=PLAIN).fit(FRAME[["a", "b", "c", "u", "v"]])
    close(model.row_coordinates_, whole.row_coordinates_, 1e-12)
    close(model.transform(FRAME[["v", "u", "c", "b", "a"]]), whole.row_coordinates_, 1e-12)
    assert list(model.feature_names_in_) == ["a", "b", "c", "u", "v"]
    with pytest.raises(ritz.InputError, match="without 'c'"):
        model.transform(FRAME[["a", "b", "u", "v"]])


def test_rows_without_counts() -> None:
    frame = FRAME[columns(KINDS["counts"])].copy()
    frame.loc[4, ["m0", "m1", "m2"]] = 0
    with pytest.warns(ritz.EmptyProfiles, match="1 row without counts, the first row 4"):
        model = MFA(3, **KINDS["counts"]).fit(frame)
    rest = MFA(3, **KINDS["counts"]).fit(frame.drop(index=4))
    np.testing.assert_allclose(model.eigenvalues_, rest.eigenvalues_, rtol=1e-10)
    close(model.row_coordinates_.drop(index=4), rest.row_coordinates_)
    assert model.row_coordinates_.loc[4].isna().all()
    assert model.partial_coordinates_["numbers"].loc[4].isna().all()
    close(model.group_correlations_, rest.group_correlations_)
    with pytest.warns(ritz.EmptyProfiles):
        assert np.isnan(model.transform(frame.iloc[4:5])).all()


def test_many_columns_are_solved_without_a_state() -> None:
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(rng.normal(size=(n, 2100)), columns=[f"g{j}" for j in range(2100)])
    frame["q"] = rng.integers(0, 250, n).astype(str)
    frame["r"] = rng.choice(list("xyz"), n)
    frame["g0"] += 3 * (frame["r"] == "x")
    groups = {"genes": slice("g0", "g2099"), "answers": ["q", "r"]}
    exact = MFA(3, groups=groups, mergeable=True).fit(frame)
    model = MFA(3, groups=groups, mergeable=False, tol=1e-10).fit(frame)
    assert model._record.state is None
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    close(model.lg_, exact.lg_, 1e-7)
    close(model.rv_, exact.rv_, 1e-7)
    close(model.inertia_ratio_, exact.inertia_ratio_, 1e-6)
    np.testing.assert_allclose(model.group_eigenvalues_["genes"], exact.group_eigenvalues_["genes"], rtol=1e-9)
    with pytest.raises(AttributeError, match="mergeable=True"):
        _ = model.column_cos2_


def test_fitting_again_forgets_what_was_fitted_before() -> None:
    options = KINDS["tables"]
    model = MFA(3, **options, numeric="all").fit(FRAME[columns(options)])
    again = model.set_params(frequencies=["words"]).fit(FRAME[columns(options)])
    fresh = MFA(3, groups=TABLES, frequencies=["words"], numeric="all").fit(FRAME[columns(options)])
    np.testing.assert_array_equal(again.eigenvalues_, fresh.eigenvalues_)
    close(again.column_coordinates_, fresh.column_coordinates_, 1e-15)


def test_scikit_learn_habits() -> None:
    frame = FRAME[["a", "b", "c", "u", "v"]]
    model = MFA(2, groups=PLAIN).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == ["mfa0", "mfa1"]
    again = pickle.loads(pickle.dumps(model))
    close(again.transform(frame), model.transform(frame))
    assert model.groups == PLAIN


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(kind: str, tmp_path: Path) -> None:
    options = KINDS[kind] | {"supplementary": ["answers"]}
    model = MFA(2, **options).fit(FRAME[columns(options)])
    ritz.save(model, tmp_path / "m.ritz")
    again = ritz.load(tmp_path / "m.ritz")
    for name in (
        "row_coordinates_",
        "column_cos2_",
        "lg_",
        "rv_",
        "partial_axes_",
        "group_cos2_",
        "supplementary_group_cos2_",
    ):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_array_equal(again.transform(FRAME), model.transform(FRAME))
    pd.testing.assert_frame_equal(again.supplementary_columns(), model.supplementary_columns())
    sliced = MFA(2, groups={"numbers": slice("a", "c"), "answers": slice("u", "v")}).fit(
        FRAME[["a", "b", "c", "u", "v"]]
    )
    ritz.save(sliced, tmp_path / "s.ritz")
    assert ritz.load(tmp_path / "s.ritz").groups == sliced.groups


# refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"(?s)groups must be a dict of names and their columns; received None\nhint: groups=\{"),
        ({"groups": {}}, "groups must be a dict"),
        ({"groups": {"x": []}}, "expected columns in group 'x'"),
        ({"groups": {"x": 3.5}}, "group 'x' must be a list or a slice"),
        ({"groups": {"x": ["aa"]}}, r"(?s)expected a column 'aa', which group 'x' names.*did you mean 'a'"),
        ({"groups": {"x": ["a", "b"], "y": ["b"]}}, "column 'b' is in 'x' and group 'y'"),
        ({"groups": {"x": ["a", "a"]}}, "column 'a' is twice in group 'x'"),
        ({"groups": PLAIN, "frequencies": "words"}, "frequencies must be a list of names of groups"),
        ({"groups": PLAIN, "frequencies": ["words"]}, "frequencies must name groups; received 'words'"),
        ({"groups": PLAIN, "supplementary": ["numbers", "answers"]}, "a group that is not supplementary"),
        ({"groups": PLAIN, "scale": {"nambers": False}}, "scale must be True, False or a dict"),
        ({"groups": PLAIN, "frequencies": ["answers"]}, "expected counts in column 'u'"),
        ({"groups": PLAIN, "frequencies": ["numbers"]}, r"expected counts or other amounts in column '[ac]'"),
        ({"groups": PLAIN, "n_components": 99}, "must be at most 6"),
    ],
)
def test_refused_parameters(options: dict, words: str) -> None:
    frame = FRAME[["a", "b", "c", "u", "v"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.ColumnsSetAside)
        with pytest.raises((ritz.ParameterError, ritz.InputError), match=words):
            MFA(**options).fit(frame)


def test_groups_that_do_not_vary_are_refused_by_name() -> None:
    with pytest.raises(ritz.InputError, match="a group that varies, not 'still'"):
        MFA(groups={"numbers": ["a"], "still": ["k"]}).fit(FRAME[["a"]].assign(k=1.0))
    with pytest.raises(ritz.InputError, match="NaN"):
        MFA(groups={"numbers": ["a"], "rest": ["k"]}).fit(FRAME[["a"]].assign(k=np.nan))
    with pytest.raises(AttributeError, match="supplementary groups"):
        _ = MFA(groups=PLAIN).fit(FRAME[["a", "b", "c", "u", "v"]]).supplementary_group_cos2_
