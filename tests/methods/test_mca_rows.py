"""MCA: new rows, unseen and missing answers, specific analysis, pooling, the way back, states, files."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import ritz
from ritz._core.errors import InputError, MergeError
from ritz.methods.correspondence.mca.mca import MCA


def survey(n: int = 300, seed: int = 0, shape: tuple[int, ...] = (3, 4, 2, 5)) -> pd.DataFrame:
    """Answers that depend on each other through one hidden trait."""
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=n)
    columns = {}
    for j, K in enumerate(shape):
        score = trait[:, None] * np.linspace(-1, 1, K) * (1 if j % 2 else -1) + rng.gumbel(size=(n, K))
        columns[f"q{j}"] = [f"a{i}" for i in np.argmax(score, axis=1)]
    return pd.DataFrame(columns)


def indicator(X: pd.DataFrame) -> np.ndarray:
    return pd.get_dummies(X, prefix_sep="=").to_numpy(float)


def same(a: MCA, b: MCA, rtol: float = 1e-9, k: int | None = None) -> None:
    """Two models of the same rows."""
    k = min(a.n_components_, b.n_components_) if k is None else k
    assert a.n_components_ == b.n_components_
    assert list(a._encoder.labels) == list(b._encoder.labels)
    np.testing.assert_allclose(a.eigenvalues_[:k], b.eigenvalues_[:k], rtol=rtol)
    np.testing.assert_allclose(a.total_inertia_, b.total_inertia_, rtol=rtol)
    for name in ("coordinates", "contributions", "cos2", "v_tests", "masses", "inertias"):
        mine, theirs = (np.asarray(getattr(m, f"column_{name}_")) for m in (a, b))
        mine, theirs = (x[:, :k] if x.ndim == 2 else x for x in (mine, theirs))
        np.testing.assert_allclose(mine, theirs, atol=1e-7)


# new rows


MODELS: dict[str, dict[str, Any]] = {
    "plain": {},
    "burt": {"method": "burt"},
    "adjusted": {"method": "adjusted"},
    "pooled": {"rare": 0.2},
    "specific": {"exclude": ["q0=a1"]},
    "ignore": {"unseen": "ignore"},
    "supplementary": {"unseen": "supplementary"},
    "own": {"missing": "category", "unseen": "missing"},
    "none": {"missing": "exclude", "unseen": "missing"},
    "filled": {"missing": "regularized", "unseen": "missing", "n_components": 2},
}


def with_gaps(X: pd.DataFrame, share: float = 0.1, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return X.mask(rng.random(X.shape) < share)


@pytest.mark.parametrize("name", MODELS)
@given(rows=st.lists(st.integers(0, 79), min_size=1, max_size=12))
def test_a_row_lies_in_the_same_place_alone_and_in_any_batch(name: str, rows: list[int]) -> None:
    gaps = MODELS[name].get("missing", "error") != "error"
    X = with_gaps(survey(80)) if gaps else survey(80)
    model = _fitted(name)
    new = X.iloc[rows].copy()
    if model.unseen != "error":
        new.iloc[0, 1] = "never seen"
    together = model.transform(new)
    alone = np.vstack([model.transform(new.iloc[i : i + 1]) for i in range(len(new))])
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-13)


_MODELS: dict[str, MCA] = {}


def _fitted(name: str) -> MCA:
    if name not in _MODELS:
        gaps = MODELS[name].get("missing", "error") != "error"
        _MODELS[name] = MCA(**MODELS[name]).fit(with_gaps(survey(80)) if gaps else survey(80))
    return _MODELS[name]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "filled"])
def test_training_rows_lie_where_the_fit_put_them(name: str) -> None:
    gaps = MODELS[name].get("missing", "error") != "error"
    X = with_gaps(survey(80)) if gaps else survey(80)
    np.testing.assert_allclose(_fitted(name).transform(X), _fitted(name).row_coordinates_, atol=1e-12)


def test_unseen_levels_are_refused_by_name() -> None:
    model = MCA().fit(survey())
    new = survey(3).assign(q1=["x", "a0", "y"])
    with pytest.raises(InputError, match="'q1=x', 'q1=y'"):
        model.transform(new)


def test_rows_whose_levels_are_all_unseen_lie_in_the_centre_and_never_become_nan() -> None:
    new = pd.DataFrame({f"q{j}": ["?"] for j in range(4)})
    np.testing.assert_allclose(MCA(unseen="ignore").fit(survey()).transform(new), 0.0, atol=1e-12)
    with pytest.raises(InputError, match="row 0, which has none"):
        MCA(unseen="supplementary").fit(survey()).transform(new)


def test_an_ignored_answer_contributes_nothing_and_a_supplementary_row_is_placed_by_the_others() -> None:
    X = survey()
    model = MCA().fit(X)
    G, root = model.column_coordinates_, np.sqrt(model.eigenvalues_)
    row = X.iloc[:1].copy()
    row["q1"] = "?"
    known = [f"{name}={row[name].iloc[0]}" for name in ("q0", "q2", "q3")]
    ignored = MCA(unseen="ignore").fit(X).transform(row)[0]
    np.testing.assert_allclose(ignored, G.loc[known].sum() / 4 / root, atol=1e-12)
    placed = MCA(unseen="supplementary").fit(X).transform(row)[0]
    np.testing.assert_allclose(placed, G.loc[known].mean() / root, atol=1e-12)


def test_unseen_levels_as_missing_ones() -> None:
    X = with_gaps(survey())
    model = MCA(missing="category", unseen="missing").fit(X)
    a, b = survey(1).assign(q1="?"), survey(1).assign(q1=None)
    np.testing.assert_array_equal(model.transform(a), model.transform(b))


# missing answers, pooling, specific analysis


def test_missing_answers_as_a_level_of_their_own() -> None:
    X = with_gaps(survey())
    model = MCA(missing="category").fit(X)
    want = MCA().fit(X.fillna("(missing)"))
    np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-12)
    assert "q0=(missing)" in model.column_coordinates_.index
    with pytest.raises(InputError, match=r"columns 'q0', 'q1'(.|\n)*missing='category'"):
        MCA().fit(X)


def test_missing_answers_without_a_column() -> None:
    """Specific analysis: the level of missing answers is left out of the indicator, J and p stay."""
    X = with_gaps(survey())
    a = MCA(missing="exclude").fit(X)
    gone = [f"q{j}=(missing)" for j in range(4)]
    b = MCA(exclude=gone).fit(X.fillna("(missing)"))
    same(a, b)
    Z = indicator(X.fillna("(missing)"))
    p = Z.mean(axis=0)
    keep = [i for i, name in enumerate(pd.get_dummies(X.fillna("(missing)"), prefix_sep="=")) if "missing" not in name]
    A = ((Z - p) / np.sqrt(4 * p * len(Z)))[:, keep]
    np.testing.assert_allclose(a.eigenvalues_, np.linalg.svd(A, compute_uv=False) ** 2, rtol=1e-10)
    assert a.n_components_ == len(keep)


def test_specific_analysis_leaves_out_a_level() -> None:
    X = survey()
    model = MCA(exclude=["q3=a4", "q0=a0"]).fit(X)
    Z = pd.get_dummies(X, prefix_sep="=").astype(float)
    p = Z.mean()
    A = ((Z - p) / np.sqrt(4 * p * len(Z))).drop(columns=["q3=a4", "q0=a0"])
    values = np.linalg.svd(A.to_numpy(), compute_uv=False) ** 2
    np.testing.assert_allclose(model.eigenvalues_, values[: model.n_components_], rtol=1e-10)
    np.testing.assert_allclose(model.total_inertia_, values.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.column_masses_, p[A.columns] / 4, rtol=1e-12)
    assert "q3=a4" not in model.column_coordinates_.index
    with pytest.raises(InputError, match="did you mean"):
        MCA(exclude=["q3=a9"]).fit(X)


@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")  # all levels of one variable are rare
def test_rare_levels_are_pooled_and_stay_so_for_new_rows() -> None:
    X = survey()
    shares = pd.get_dummies(X, prefix_sep="=").mean()
    rare = {name for name, share in shares.items() if share < 0.22}
    several = [name for name in X if sum(level.startswith(f"{name}=") for level in rare) > 1]
    rare = {level for level in rare if level.split("=")[0] in several}
    assert rare
    pooled = X.copy()
    for name in X:
        pooled[name] = [v if f"{name}={v}" not in rare else "(other)" for v in X[name]]
    model, want = MCA(rare=0.22).fit(X), MCA().fit(pooled)
    np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-11)
    assert set(model.column_coordinates_.index) == set(want.column_coordinates_.index)
    np.testing.assert_allclose(model.transform(X[:5]), want.transform(pooled[:5]), atol=1e-10)


# the way back


def test_all_axes_give_the_indicator_back() -> None:
    X = survey()
    model = MCA().fit(X)
    shares = model.inverse_transform(model.row_coordinates_)
    np.testing.assert_allclose(shares, indicator(X), atol=1e-10)
    pd.testing.assert_frame_equal(model.categories(model.row_coordinates_), X)


def test_few_axes_give_shares_that_sum_to_one() -> None:
    X = survey()
    model = MCA(2).fit(X)
    shares = model.inverse_transform(model.transform(X))
    owners = model._encoder.active.owners
    np.testing.assert_allclose([shares[:, owners == j].sum(axis=1) for j in range(4)], 1, atol=1e-12)
    chances = model.probabilities(model.transform(X))
    assert float(np.min(chances)) >= 0
    guessed = model.categories(model.transform(X))
    assert list(guessed.columns) == list(X.columns)
    assert (guessed == X).to_numpy().mean() > (X.mode().iloc[0] == X).to_numpy().mean()
    np.testing.assert_allclose(model.transform(X), shares_to(model, shares), atol=1e-10)
    with pytest.raises(InputError, match="coordinates of 2"):
        model.inverse_transform(np.zeros((3, 5)))


def shares_to(model: MCA, shares: np.ndarray) -> np.ndarray:
    p = np.asarray(model.column_masses_) * 4
    return (shares - p) / np.sqrt(4 * p) @ model.components_.T


def test_categories_come_back_as_what_they_are() -> None:
    X = pd.DataFrame({"yes": [True, False, True, True] * 5, "grade": [1, 2, 3, 1] * 5, "word": list("abca") * 5})
    model = MCA(categorical=["grade"]).fit(X)
    back = model.categories(model.row_coordinates_)
    pd.testing.assert_frame_equal(back, X, check_dtype=False)
    assert back["yes"].dtype == bool
    array = MCA(categorical="all").fit(X.to_numpy(dtype=object))
    assert isinstance(array.categories(array.row_coordinates_), np.ndarray)


# states


@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")  # one shard holds one level only
@pytest.mark.parametrize(
    "options", [{}, {"rare": 0.2}, {"exclude": ["q3=a2"]}, {"method": "burt"}, {"n_components": 2}]
)
def test_merging_shards_equals_the_whole(options: dict[str, Any]) -> None:
    X = survey()
    # The first shard lacks a level that the second has, and the other way round.
    first, second = X[X["q1"] != "a3"], X[X["q1"] == "a3"]
    whole = MCA(**options).fit(pd.concat([first, second]))
    parts = [MCA(**{k: v for k, v in options.items() if k != "exclude"}).fit(part) for part in (first, second)]
    if "exclude" in options:
        parts = [MCA(**options).fit(part) for part in (first, second)]
    merged = parts[0].merge(parts[1])
    same(merged, whole)
    np.testing.assert_allclose(merged.transform(X[:7]), whole.transform(X[:7]), atol=1e-8)
    same(merged.subtract(parts[1]), MCA(**options).fit(first), rtol=1e-8)
    assert merged.n_samples_ == len(X)


def test_weighted_shards_merge_too() -> None:
    X = survey()
    w = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    merged = MCA().fit(X[:100], sample_weight=w[:100]).merge(MCA().fit(X[100:], sample_weight=w[100:]))
    same(merged, MCA().fit(X, sample_weight=w))


@pytest.mark.parametrize("options", [{}, {"rare": 0.2, "missing": "category"}, {"missing": "exclude"}])
def test_rows_added_in_parts_give_the_whole(options: dict[str, Any]) -> None:
    X = with_gaps(survey()) if options else survey()
    model = MCA(**options)
    for part in np.array_split(np.arange(len(X)), 7):
        model.partial_fit(X.iloc[part])
    same(model, MCA(**options).fit(X))
    with pytest.raises(AttributeError, match="transform"):
        model.row_coordinates_  # noqa: B018


@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")  # of the answer that nobody else gave
def test_models_of_other_columns_or_parameters_do_not_merge() -> None:
    X = survey()
    a = MCA().fit(X)
    with pytest.raises(MergeError, match="rare"):
        a.merge(MCA(rare=0.1).fit(X))
    with pytest.raises(MergeError, match="'q3' only in the first"):
        a.merge(MCA().fit(X[["q0", "q1", "q2"]]))
    with pytest.raises(MergeError, match="never saw"):
        a.subtract(MCA().fit(X.assign(q1="new")))
    with pytest.raises(MergeError, match="regularized"):
        MCA(2, missing="regularized").fit(X).merge(MCA(2, missing="regularized").fit(X))


def test_models_are_cloned_pickled_saved_and_loaded(tmp_path) -> None:
    X = with_gaps(survey())
    for name in ("own", "filled"):
        model = clone(MCA(**MODELS[name])).fit(X)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        ritz.save(model, tmp_path / f"{name}.ritz")
        loaded = ritz.load(tmp_path / f"{name}.ritz")
        np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
        np.testing.assert_array_equal(loaded.eigenvalues_, model.eigenvalues_)
        pd.testing.assert_frame_equal(loaded.column_coordinates_, model.column_coordinates_)
        assert loaded.verify(X).ok
    merged = ritz.merge(tmp_path / "own.ritz", MCA(**MODELS["own"]).fit(X))
    same(merged, MCA(**MODELS["own"]).fit(pd.concat([X, X])))


# size


def test_the_indicator_is_never_dense() -> None:
    """Dense, the indicator of this table alone would take 2 GB."""
    import tracemalloc

    rng = np.random.default_rng(0)
    n, K = 50_000, 2500
    trait = rng.random(n)
    X = pd.DataFrame({name: ((trait + rng.random(n)) / 2 * K).astype(int).astype(str) for name in ("a", "b")})
    tracemalloc.start()
    model = MCA(2, tol=1e-3).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    levels = len(model.components_.T)
    assert levels > 4000
    assert peak < 0.1 * 8 * n * levels


# tables outside memory


@pytest.fixture
def table(tmp_path) -> ritz.Table:
    X = with_gaps(survey(5000, shape=(3, 4, 2, 5, 12, 9)))
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "survey.parquet", row_group_size=700)
    return ritz.read(tmp_path / "survey.parquet", memory="50KB")


@pytest.mark.parametrize("options", [{}, {"rare": 0.05}, {"method": "adjusted"}, {"n_components": 2}])
def test_a_table_outside_memory_gives_the_same_axes(table: ritz.Table, options: dict[str, Any], tmp_path) -> None:
    assert table.lazy
    X = pd.read_parquet(tmp_path / "survey.parquet")
    model = MCA(missing="category", memory="60MB", **options).fit(table)
    want = MCA(missing="category", **options).fit(X)
    same(model, want)
    np.testing.assert_allclose(model.transform(table), want.row_coordinates_, atol=1e-8)
    with pytest.raises(AttributeError, match="transform_to"):
        model.row_coordinates_  # noqa: B018
    path = model.transform_to(table, tmp_path / "scores.parquet")
    scores = pd.read_parquet(path)
    np.testing.assert_allclose(scores, want.row_coordinates_, atol=1e-8)
    assert list(scores.columns[:2]) == ["Dim1", "Dim2"]
    half = table  # supplementary columns of a streamed fit: the rows are read again
    more = pd.DataFrame({"twice": X["q0"].fillna("none")})
    placed = model.supplementary_columns(more, rows=half)
    np.testing.assert_allclose(placed, want.supplementary_columns(more), atol=1e-7)


def test_an_iterative_solver_reads_a_table_outside_memory_again(table: ritz.Table, tmp_path) -> None:
    X = pd.read_parquet(tmp_path / "survey.parquet")
    model = MCA(3, missing="exclude", solver="krylov", tol=1e-9, mergeable=False, memory="100MB").fit(table)
    want = MCA(3, missing="exclude").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-8)


def test_weights_of_a_table_outside_memory(table: ritz.Table, tmp_path) -> None:
    X = pd.read_parquet(tmp_path / "survey.parquet")
    w = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    w[X.isna().any(axis=1)] = 0.0
    same(MCA(4, memory="60MB").fit(table, sample_weight=w), MCA(4).fit(X, sample_weight=w))


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_dask_frames() -> None:
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    X = survey(1000)
    with dask.config.set(scheduler="synchronous"):
        D = dd.from_pandas(X, npartitions=5)
        model, want = MCA(4).fit(D), MCA(4).fit(X)
        same(model, want)
        lazy = model.transform(D)
        assert hasattr(lazy, "dask")
        np.testing.assert_allclose(lazy.compute(), want.row_coordinates_, atol=1e-8)
        parts = MCA(4)
        for i in range(5):
            parts.partial_fit(D.partitions[i])
        same(parts, want)


def test_iterators_and_queries(tmp_path) -> None:
    import polars as pl

    X = survey(1000)
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "survey.parquet", row_group_size=100)
    same(MCA(3).fit(pl.scan_parquet(tmp_path / "survey.parquet")), MCA(3).fit(X))
    parts = [X[i : i + 150] for i in range(0, 1000, 150)]
    same(MCA(3).fit(iter(parts)), MCA(3).fit(X))
    w = np.arange(1000.0)
    same(MCA(3).fit(iter(parts), sample_weight=w), MCA(3).fit(X, sample_weight=w))
    with pytest.warns(ritz.ColumnsSetAside, match="'age'"):
        same(MCA(3).fit(ritz.read(iter(part.assign(age=7.5 + part.index) for part in parts))), MCA(3).fit(X))
    with pytest.raises(InputError, match="each of the 1000 rows"):
        MCA(3).fit(iter(parts), sample_weight=np.ones(1001))
    with pytest.raises(InputError, match="tables with rows"):
        MCA(3).fit(iter([]))


def test_the_route_can_be_asked_for_before_it_is_taken() -> None:
    X = survey(1000)
    plan = ritz.plan(X, MCA(2))
    assert plan.solver == MCA(2).fit(X).plan_.solver
