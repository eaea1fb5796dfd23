"""Tables of categories at their edges: excluded levels, colliding names, tiny numbers, one variable, lost columns."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import FAMD, MCA, MFA, PCA
from ritz._core.errors import ConstantColumnWarning, InputError
from ritz.data.encode.vocabulary import MISSING, OTHER


def survey(n: int = 120, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "a": np.array(list("xyz"))[z],
            "b": np.array(list("pqrs"))[z + rng.integers(0, 2, n)],
            "c": np.array(list("uvw"))[rng.integers(0, 3, n)],
            "d": np.array(["yes", "no"])[rng.integers(0, 2, n)],
        }
    )


def mixed(n: int = 120, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = survey(n, seed)
    rows["x"] = rng.normal(size=n) + (rows.a == "x")
    rows["y"] = rng.normal(size=n)
    return rows[["x", "a", "y", "b"]]


def ratios(rows: pd.DataFrame, F: Any, w: Any) -> np.ndarray:
    """(J, k) variance between the levels over the variance of the coordinates, row by row."""
    F, w = np.asarray(F), np.asarray(w) / np.sum(w)
    F = F - w @ F
    out = []
    for name in rows:
        between = np.zeros(F.shape[1])
        for level in rows[name].unique():
            at = (rows[name] == level).to_numpy()
            between += np.square(w[at] @ F[at]) / w[at].sum()
        out.append(between / (w @ np.square(F)))
    return np.array(out)


# excluded levels


@pytest.mark.parametrize(
    "options", [{}, {"mergeable": False}, {"method": "burt"}, {"method": "adjusted"}, {"rare": 0.2}]
)
def test_correlation_ratios_are_over_all_levels_whether_excluded_or_not(options: dict[str, Any]) -> None:
    rows, w = survey(), np.random.default_rng(0).integers(1, 4, 120)
    model = MCA(exclude=["c=u", "d=no"], **options).fit(rows, sample_weight=w)
    shown = rows.copy()
    if "rare" in options:
        share = pd.Series(w).groupby(rows.b).sum() / w.sum()
        shown["b"] = rows.b.where(~rows.b.map(share < 0.2), OTHER)
        assert (shown.b == OTHER).any()
    np.testing.assert_allclose(model.eta2_, ratios(shown, model.row_coordinates_, w), atol=1e-12)
    if "rare" not in options:
        np.testing.assert_allclose(model.eta2_, model.supplementary_columns(rows, "eta2"), atol=1e-12)


def test_correlation_ratios_of_excluded_levels_survive_merging_and_missing_levels_of_a_whole_variable() -> None:
    rows = survey()
    options: dict[str, Any] = {"exclude": ["b=p", "d=no", "d=yes"]}
    whole = MCA(**options).fit(rows)
    parts = MCA(**options).fit(rows[:50]).merge(MCA(**options).fit(rows[50:]))
    np.testing.assert_allclose(parts.eta2_, whole.eta2_, atol=1e-10)
    np.testing.assert_allclose(whole.eta2_, ratios(rows, whole.row_coordinates_, np.ones(120)), atol=1e-12)


def test_correlation_ratios_of_a_filled_in_table_count_given_answers(seed: int) -> None:
    rows = survey(seed=seed)
    rows.loc[3:9, "a"] = None
    model = MCA(2, missing="regularized", exclude=["c=u"]).fit(rows)
    whole = ratios(rows[["c"]], model.row_coordinates_, np.ones(120))[0]
    np.testing.assert_allclose(model.eta2_.loc["c"], whole, atol=1e-10)


def test_wide_streams_without_a_state_say_why_there_are_no_ratios(tmp_path: Path) -> None:
    survey().to_parquet(tmp_path / "rows.parquet")
    model = MCA(exclude=["c=u"], mergeable=False).fit(ritz.read(tmp_path / "rows.parquet", memory="1KB"))
    with pytest.raises(AttributeError, match=r"mergeable=True"):
        _ = model.eta2_


@pytest.mark.parametrize("mergeable", [None, False])
def test_squared_loadings_of_a_mixed_table_count_excluded_levels(mergeable: bool | None) -> None:
    rows = mixed()
    model = FAMD(exclude=["a=x", "b=s"], mergeable=mergeable).fit(rows)
    found, F = model.variable_coordinates_, model.row_coordinates_
    np.testing.assert_allclose(found.loc[["a", "b"]], ratios(rows[["a", "b"]], F, np.ones(120)), atol=1e-12)
    np.testing.assert_allclose(found.loc["x"], np.square([np.corrcoef(rows.x, F[c])[0, 1] for c in F]), atol=1e-12)
    quality = np.square(found.loc[["a", "b"]]) / np.array([[2.0], [3.0]])
    np.testing.assert_allclose(model.variable_cos2_.loc[["a", "b"]], quality, atol=1e-12)


def test_squared_loadings_of_groups_count_excluded_levels() -> None:
    rows = mixed()
    model = MFA(groups={"one": ["x", "a"], "two": ["y", "b"]}, exclude=["a=x"]).fit(rows)
    whole = ratios(rows[["a", "b"]], model.row_coordinates_, np.ones(120))
    np.testing.assert_allclose(model.variable_coordinates_.loc[["a", "b"]], whole, atol=1e-12)


# numbers of any size


@pytest.mark.parametrize("size", [1e-160, 1e-201, 1e-300, 1e150])
@pytest.mark.parametrize("mergeable", [None, False])
def test_numbers_whose_squares_leave_the_range_are_refused(size: float, mergeable: bool | None) -> None:
    rows = mixed()
    rows["x"] *= size
    with pytest.raises(InputError, match=r"too large or too small"):
        FAMD(mergeable=mergeable).fit(rows)
    with pytest.raises(InputError, match=r"too large or too small"):
        FAMD().partial_fit(rows)
    with pytest.raises(InputError, match=r"too large or too small"):
        MFA(groups={"one": ["x", "a"], "two": ["y", "b"]}, mergeable=mergeable).fit(rows)
    with pytest.raises(InputError, match=r"too large or too small"):
        PCA(scale=True, mergeable=mergeable).fit(rows[["x", "y"]].to_numpy())


@pytest.mark.parametrize("size", [1e-120, 1e-30, 1e120])
def test_numbers_of_any_other_size_give_the_same_map(size: float) -> None:
    rows = mixed()
    plain = FAMD().fit(rows)
    rows["x"] *= size
    scaled = FAMD().fit(rows)
    np.testing.assert_allclose(scaled.eigenvalues_, plain.eigenvalues_, rtol=1e-10)
    assert scaled.total_inertia_ == pytest.approx(plain.total_inertia_, rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 1e-200, 1e-150, 1e-140, 0.1, 1e140])
def test_a_constant_column_is_constant_at_any_size(value: float) -> None:
    rows = mixed()
    rows["k"] = value
    with pytest.warns(ConstantColumnWarning, match="'k'"):
        model = FAMD().fit(rows)
    assert model.total_inertia_ == pytest.approx(7.0)
    with pytest.warns(ConstantColumnWarning):
        PCA(scale=True).fit(rows[["x", "k"]].to_numpy())


def test_tiny_columns_beside_others_do_no_harm_where_nothing_is_divided(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(50, 3)) * [1.0, 1.0, 1e-200]
    assert PCA(2).fit(X).explained_variance_[0] > 0


# one variable


def test_corrections_of_a_single_variable_say_that_there_is_no_other() -> None:
    rows = survey()[["a"]]
    model = MCA().fit(rows)
    for name in ("greenacre_", "benzecri_"):
        with pytest.raises(AttributeError, match=r"two variables or more"):
            getattr(model, name)
    with pytest.raises(InputError, match=r"two variables or more"):
        MCA(method="adjusted").fit(rows)
    assert MCA(method="burt").fit(rows).total_inertia_ == pytest.approx(2.0)


# rows without weight


@pytest.mark.parametrize("where", ["frame", "stream", "dask"])
@pytest.mark.parametrize("unseen", ["error", "supplementary", "ignore"])
def test_verify_leaves_out_rows_without_weight(where: str, unseen: str, tmp_path: Path) -> None:
    rows, w = survey(), np.ones(120)
    rows.loc[5] = ["never", "never", "never", "never"]
    rows.loc[9, "a"] = None
    w[[5, 9]] = 0
    model = MCA(unseen=unseen).fit(rows, sample_weight=w)
    held: Any = rows
    if where == "stream":
        rows.to_parquet(tmp_path / "rows.parquet")
        held = ritz.read(tmp_path / "rows.parquet", memory="1KB")
    elif where == "dask":
        held = pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=3)
    assert model.verify(held, sample_weight=w).ok
    with pytest.raises(InputError, match="expected"):
        model.verify(held)


# names


def test_a_level_spelled_like_missing_answers_is_refused_where_these_have_a_level() -> None:
    rows = survey()
    rows.loc[0, "a"] = MISSING
    rows.loc[1:3, "a"] = None
    with pytest.raises(InputError, match=r"no level '\(missing\)' in column 'a'"):
        MCA(missing="category").fit(rows)
    with pytest.raises(InputError, match=r"no level '\(missing\)' in column 'a'"):
        MCA(missing="category").partial_fit(rows[:60])
    plain = MCA(missing="exclude").fit(rows)
    assert f"a={MISSING}" in plain.column_coordinates_.index


def test_a_new_row_with_the_text_of_missing_answers_has_not_left_one_out() -> None:
    rows = survey()
    rows.loc[1:3, "a"] = None
    model = MCA(missing="category").fit(rows)
    new = rows[:2].copy()
    new.loc[0, "a"] = MISSING
    with pytest.raises(InputError, match=r"levels that the fit has seen"):
        model.transform(new)


def test_a_level_spelled_like_rare_ones_is_refused_where_these_are_pooled() -> None:
    rows = survey()
    rows.loc[:39, "a"] = OTHER
    rows.loc[40:42, "a"] = "r1"
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InputError, match=r"no level '\(other\)' in column 'a'.*\n?.*rare"):
            getattr(MCA(rare=0.1), verb)(rows)
    model = MCA().fit(rows)
    assert model.column_masses_[f"a={OTHER}"] == pytest.approx(40 / 120 / 4)


@pytest.mark.parametrize("pair", [(1, "1"), (True, "True"), (2.5, "2.5")])
def test_a_value_and_its_text_are_not_taken_for_one_level(pair: tuple[Any, str]) -> None:
    column = pd.Series([*pair, "x", "y"] * 10, dtype=object)
    rows = pd.DataFrame({"a": column, "b": list("mnop") * 10})
    with pytest.raises(InputError, match=f"values of one type in column 'a'.*\n?.*'{pair[1]}'"):
        MCA(categorical="all").fit(rows)
    with pytest.raises(InputError, match="values of one type in column 'x0'"):
        MCA(categorical="all").fit(rows.to_numpy(object))
    with pytest.raises(InputError, match="values of one type in column 'a'"):
        MCA().fit(rows.assign(a=pd.Categorical(column)))
    assert len(MCA().fit(rows.astype(str)).column_coordinates_) == 7


@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")  # parts without the levels that collide
def test_columns_and_levels_that_make_the_same_label_are_refused() -> None:
    rows = pd.DataFrame({"a": ["b=c", "x", "b=c", "y"] * 10, "a=b": ["c", "k", "k", "c"] * 10, "q": list("mnop") * 10})
    for model in (MCA(), MCA(exclude=["a=b=c"])):
        with pytest.raises(InputError, match=r"not two for 'a=b=c'"):
            model.fit(rows)
    one = MCA().fit(rows[rows.a != "b=c"])
    with pytest.raises(InputError, match=r"not two for 'a=b=c'"):
        one.merge(MCA().fit(rows[rows["a=b"] != "c"]))
    numbers = pd.DataFrame({"a=x": np.arange(40.0), "a": ["x", "y"] * 20})
    with pytest.raises(InputError, match=r"not two for 'a=x'"):
        FAMD().fit(numbers)


# what is certified


@pytest.mark.parametrize("method", ["burt", "adjusted"])
def test_the_certificate_says_that_it_is_of_the_indicator(method: str) -> None:
    rows = survey()
    plain, model = MCA().fit(rows), MCA(method=method).fit(rows)
    assert "of the indicator's inertias λ" in str(model.certificate_)
    assert "of the indicator's inertias λ" not in str(plain.certificate_)
    np.testing.assert_allclose(model.certificate_.values[:1], plain.eigenvalues_[:1])
    assert model.verify(rows).ok


# columns of counts


def counted(n: int = 60, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.poisson(5, (n, 4)).astype(float) + 1, columns=["n0", "n1", "n2", "n3"])
    rows["x"], rows["y"] = rng.normal(size=n), rng.normal(size=n)
    return rows


GROUPS = {"counts": ["n0", "n1", "n2", "n3"], "numbers": ["x", "y"]}


def test_a_column_of_counts_that_went_with_its_rows_leaves_no_axis() -> None:
    rows = counted()
    rows.loc[:39, "n3"] = 0.0
    rows[["n0", "n1", "n2", "n3"]] /= 7.0  # so that sums round
    options: dict[str, Any] = {"frequencies": ["counts"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        whole, part, rest = (MFA(groups=GROUPS, **options).fit(some) for some in (rows, rows[40:], rows[:40]))
        left = whole.subtract(part)
        assert len(left.eigenvalues_) == len(rest.eigenvalues_)
        np.testing.assert_allclose(left.eigenvalues_, rest.eigenvalues_, rtol=1e-9)
        assert left.total_inertia_ == pytest.approx(rest.total_inertia_, rel=1e-9)
    assert np.isnan(left.column_coordinates_.loc["n3"]).all()


@pytest.mark.parametrize("memory", [None, "1KB"])
def test_a_constant_column_of_counts_in_a_table_is_a_count_like_others(memory: Any, tmp_path: Path) -> None:
    rows = counted()
    rows["n2"] = 5.0
    rows.to_parquet(tmp_path / "rows.parquet")
    plain = MFA(groups=GROUPS, frequencies=["counts"]).fit(rows)
    table = MFA(groups=GROUPS, frequencies=["counts"]).fit(ritz.read(tmp_path / "rows.parquet", memory=memory))
    np.testing.assert_allclose(table.eigenvalues_, plain.eigenvalues_, rtol=1e-10)
    assert np.isfinite(plain.column_coordinates_.loc["n2"]).all()


def test_a_row_of_huge_weight_makes_no_variable_constant() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({name: rng.choice(list("pqr"), 40) for name in "abc"})
    weights = np.ones(40)
    weights[3] = 1e14
    model = ritz.MCA(2).fit(people, sample_weight=weights)
    Z = pd.get_dummies(people).to_numpy(float)
    p = weights @ Z / weights.sum()
    A = np.sqrt(weights / weights.sum())[:, None] * (Z - p) / np.sqrt(3 * p)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.svd(A, compute_uv=False)[:2] ** 2, rtol=1e-6)


@pytest.mark.parametrize("model", [MCA(2), FAMD(2)], ids=["MCA", "FAMD"])
def test_names_of_columns_are_recorded_whatever_they_are_and_refused_where_texts_stand_beside_others(model) -> None:
    rows = survey()
    assert list(model.fit(rows).feature_names_in_) == list("abcd")
    numbered = rows.set_axis([10, 11, 12, 13], axis=1)
    assert list(model.fit(numbered).feature_names_in_) == ["10", "11", "12", "13"]
    assert not hasattr(model.fit(rows.to_numpy()), "feature_names_in_")
    assert list(model.fit(rows[["d", "a"]]).feature_names_in_) == ["d", "a"]
    for names in (["a", "b", "c", 13], ["a", "b", "c", np.str_("d")]):
        with pytest.raises(TypeError, match="string names"):
            model.fit(rows.set_axis(pd.Index(names, dtype=object), axis=1))
        assert not hasattr(model, "feature_names_in_")
