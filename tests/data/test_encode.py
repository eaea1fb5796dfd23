"""Encoders: what is a category, codes of every kind of table, indicators, policies for what is missing or new."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz._core.errors import ColumnsSetAside, InputError, ParameterError
from ritz.data.encode import Encoder
from ritz.data.encode.codes import code_objects, text_of
from ritz.data.encode.columns import opened
from ritz.data.encode.stream import EncodedSource
from ritz.data.engines.stream.blocks import StreamBlocks
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.statistics import Statistics

N = 400


def answers(n: int = N, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    colours, sizes = ["red", "green", "blue"], ["S", "M", "L", "XL"]
    return {
        "colour": [colours[i] for i in rng.integers(0, 3, n)],
        "size": [sizes[i] for i in rng.choice(4, n, p=[0.4, 0.3, 0.28, 0.02])],
        "happy": [bool(i) for i in rng.integers(0, 2, n)],
    }


def indicator(data: dict[str, list[Any]], levels: dict[str, list[Any]]) -> np.ndarray:
    """The indicator by its definition."""
    return np.column_stack([[float(value == level) for value in data[name]] for name in data for level in levels[name]])


LEVELS: dict[str, list[Any]] = {
    "colour": ["blue", "green", "red"],
    "size": ["L", "M", "S", "XL"],
    "happy": [False, True],
}
FORMS = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda d: pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in d.items()}),
    "pandas categories": lambda d: pd.DataFrame({k: pd.Series(v).astype("category") for k, v in d.items()}),
    "polars": pl.DataFrame,
    "polars categories": lambda d: pl.DataFrame(d).with_columns(pl.col("colour", "size").cast(pl.Categorical)),
    "arrow": pa.table,
    "arrow dictionaries": lambda d: pa.table({k: pa.array(v).dictionary_encode() for k, v in d.items()}),
    "table": lambda d: ritz.read(pd.DataFrame(d)),
    "array": lambda d: np.asarray(pd.DataFrame(d), dtype=object),
    "texts": lambda d: np.asarray(pd.DataFrame(d).astype(str)).astype(str),
    "lists": lambda d: [list(row) for row in zip(*d.values(), strict=True)],
}


def dense(rows: Any) -> np.ndarray:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


@pytest.mark.parametrize("form", FORMS)
def test_every_table_gives_the_same_indicator(form):
    data = answers()
    encoder = Encoder.learn(FORMS[form](data))
    rows = encoder.rows(FORMS[form](data))
    np.testing.assert_array_equal(dense(rows), indicator(data, LEVELS))
    names = ["colour", "size", "happy"] if form not in ("array", "texts", "lists") else ["x0", "x1", "x2"]
    assert encoder.labels == [f"{n}={v}" for n, k in zip(names, data, strict=True) for v in LEVELS[k]]
    assert rows.nnz == 3 * N
    assert rows.has_canonical_format
    np.testing.assert_allclose(encoder.mean, indicator(data, LEVELS).mean(axis=0), atol=1e-15)


def test_a_row_is_encoded_alone_as_among_others():
    X = pd.DataFrame(answers())
    encoder = Encoder.learn(X)
    whole = dense(encoder.rows(X))
    for i in (0, 17, N - 1):
        np.testing.assert_array_equal(dense(encoder.rows(X.iloc[i : i + 1]))[0], whole[i])


def test_declared_categories_keep_their_order_and_those_that_nobody_gives_have_no_column():
    order = ["XL", "L", "M", "S", "XXL"]
    X = pd.DataFrame(answers())
    X["size"] = pd.Categorical(X["size"], order, ordered=True)
    want = ["size=XL", "size=L", "size=M", "size=S"]
    assert Encoder.learn(X).labels[3:7] == want
    enum = pl.DataFrame(answers()).with_columns(pl.col("size").cast(pl.Enum(order)))
    assert Encoder.learn(enum).labels[3:7] == want
    arrow = pa.table({"size": pa.DictionaryArray.from_arrays(pa.array([3, 1, 2, 0]), pa.array(order), ordered=True)})
    assert Encoder.learn(arrow).labels == want


def test_numbers_as_categories_are_sorted_by_size_and_whole_ones_lose_their_point():
    X = pd.DataFrame({"a": [10.0, 9.0, np.nan, 10.0], "b": [2, 10, 1, 1]})
    encoder = Encoder.learn(X, categorical="all", missing="category")
    assert encoder.labels == ["a=9", "a=10", "a=(missing)", "b=1", "b=2", "b=10"]
    np.testing.assert_array_equal(dense(encoder.rows(X)).sum(axis=1), 2.0)


def test_infinity_is_no_category():
    with pytest.raises(InputError, match="column 'a'; received infinity"):
        Encoder.learn(pd.DataFrame({"a": [1.0, np.inf]}), categorical="all")


def test_texts_of_values():
    values = ["x", True, 3, 3.0, 2.5, None, float("nan"), pd.NA, pd.NaT, np.int64(4), np.bool_(False), 1e300]
    assert [text_of(v) for v in values] == [
        "x", "True", "3", "3", "2.5", None, None, None, None, "4", "False", "1e+300",
    ]  # fmt: skip


def test_columns_of_mixed_objects_are_told_apart_by_their_texts():
    coded = code_objects(np.asarray([1, "a", None, "a", (1, 2)], dtype=object))
    assert [None if c < 0 else coded.levels[c] for c in coded.codes] == ["1", "a", None, "a", "(1, 2)"]


# ---------------------------------------------------------------------------------- what is a category


def test_numbers_are_asked_about_and_not_guessed():
    X = pd.DataFrame({"colour": ["r", "g"], "zip": [1234, 5678], "height": [1.5, 1.8]})
    with pytest.raises(InputError, match=r"numbers in 'zip', 'height'.*\n.*categorical=\['zip', 'height'\]"):
        Encoder.learn(X)
    encoder = Encoder.learn(X.drop(columns="height"), categorical=["zip"])
    assert encoder.labels == ["colour=g", "colour=r", "zip=1234", "zip=5678"]
    with pytest.raises(ParameterError, match="'all' or a list"):
        Encoder.learn(X, categorical="zip")
    with pytest.raises(InputError, match="did you mean 'colour'"):
        Encoder.learn(X, categorical=["color"])


def test_numbers_stay_numbers_where_they_are_taken():
    X = pd.DataFrame({"x": [1e8 + 1, 1e8 + 2, 1e8 + 4], "c": ["a", "b", "a"], "grade": [1, 2, 1]})
    encoder = Encoder.learn(X, numbers=True)
    assert (encoder.numeric, encoder.vocabulary.names) == (("x", "grade"), ["c"])
    assert encoder.few == ("grade",)
    rows = dense(encoder.rows(X))
    np.testing.assert_array_equal(rows[:, 0] + encoder.shift[0], X["x"])
    assert np.abs(rows[:, 0]).max() < 16
    assert encoder.labels == ["x", "grade", "c=a", "c=b"]


def test_a_table_sets_aside_what_it_does_not_use(tmp_path):
    X = pd.DataFrame({"id": [f"n{i}" for i in range(60)], **answers(60), "age": np.arange(60) % 23 + 20})
    X.to_csv(tmp_path / "t.csv", index=False)
    table = ritz.read(tmp_path / "t.csv")
    with pytest.warns(ColumnsSetAside, match=r"'id' \(an identifier.*'age' \(numbers; categorical='all', or a list"):
        encoder = Encoder.learn(table)
    assert encoder.vocabulary.names == ["colour", "size", "happy"]
    with pytest.warns(ColumnsSetAside, match="1 column set aside"):
        assert Encoder.learn(table, numbers=True).numeric == ("age",)
    with pytest.warns(ColumnsSetAside, match="1 column set aside"):
        assert Encoder.learn(table, categorical=["age"]).vocabulary.names[-1] == "age"


def test_dates_duplicate_names_and_sparse_matrices_are_refused():
    import scipy.sparse

    when = pd.DataFrame({"c": ["a", "b"], "when": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(InputError, match="dates or other values in 'when'"):
        Encoder.learn(when)
    twice = pd.DataFrame([["a", "b"]], columns=["c", "c"])
    with pytest.raises(InputError, match="more than one 'c'"):
        Encoder.learn(twice)
    with pytest.raises(InputError, match=r"ritz\.CA"):
        Encoder.learn(scipy.sparse.eye_array(3).tocsr())
    with pytest.raises(InputError, match="2D"):
        Encoder.learn(np.asarray(["a", "b"]))


# ------------------------------------------------------------------------------- missing and unseen


def gaps() -> pd.DataFrame:
    return pd.DataFrame({"a": ["x", "y", None, "x"], "b": ["u", "u", "v", None]})


def test_missing_answers_are_an_error_a_level_or_nothing():
    with pytest.raises(InputError, match=r"columns 'a', 'b'; received 2 missing .*'a' \(1\).*; the first in row 2"):
        Encoder.learn(gaps())
    own = Encoder.learn(gaps(), missing="category")
    assert own.labels == ["a=x", "a=y", "a=(missing)", "b=u", "b=v", "b=(missing)"]
    np.testing.assert_array_equal(dense(own.rows(gaps())).sum(axis=1), 2.0)
    none = Encoder.learn(gaps(), missing="exclude")
    np.testing.assert_array_equal(dense(none.rows(gaps())), [[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
    np.testing.assert_allclose(none.mean, [0.5, 0.25, 0.5, 0.25])


def test_empty_texts_of_a_table_are_missing_and_of_a_frame_a_level():
    X = pd.DataFrame({"a": ["x", "", "x", "y", "y", "x"] * 5})
    assert Encoder.learn(X).labels == ["a=", "a=x", "a=y"]
    with pytest.raises(InputError, match="5 missing"):
        Encoder.learn(ritz.read(X))


def test_rows_of_weight_zero_are_not_looked_at():
    w = np.asarray([1.0, 2.0, 0.0, 0.0])
    encoder = Encoder.learn(gaps(), weights=w)
    assert encoder.labels == ["a=x", "a=y", "b=u"]
    assert encoder.vocabulary.counts.tolist() == [1.0, 2.0, 3.0]
    assert encoder.weight == 3.0
    np.testing.assert_array_equal(dense(encoder.rows(gaps(), unseen=None))[:2], [[1, 0, 1], [0, 1, 1]])


NEW = pd.DataFrame({"a": ["x", "mauve", "mauve"], "b": ["u", "v", "odd"]})


def test_unseen_levels_are_named():
    encoder = Encoder.learn(gaps().dropna(), missing="error")
    with pytest.raises(InputError, match=r"received 'a=mauve', 'b=v', 'b=odd'"):
        encoder.rows(NEW)


def test_unseen_levels_that_are_ignored_leave_the_mean_in_their_block():
    encoder = Encoder.learn(gaps(), missing="exclude")
    m = encoder.mean
    rows = dense(encoder.rows(NEW, unseen="ignore"))
    np.testing.assert_allclose(rows, [[1, 0, 1, 0], [m[0], m[1], 0, 1], m], atol=1e-15)


def test_unseen_levels_as_missing_answers():
    none = Encoder.learn(gaps(), missing="exclude")
    np.testing.assert_array_equal(dense(none.rows(NEW, unseen="missing")), [[1, 0, 1, 0], [0, 0, 0, 1], [0] * 4])
    own = Encoder.learn(gaps(), missing="category")
    rows = dense(own.rows(NEW, unseen="missing"))
    np.testing.assert_array_equal(rows[2], [0, 0, 1, 0, 0, 1])
    strict = Encoder.learn(gaps().dropna())
    with pytest.raises(InputError, match="no missing answers to count them with"):
        strict.rows(NEW, unseen="missing")


def test_unseen_levels_as_supplementary_stretch_the_known_part():
    encoder = Encoder.learn(gaps(), missing="exclude")
    m = encoder.mean
    rows = dense(encoder.rows(NEW.iloc[:2], unseen="supplementary"))
    z = np.asarray([0, 0, 0, 1.0])
    want = m.copy()
    want[2:] += 2.0 * (z - m)[2:]
    np.testing.assert_allclose(rows, [[1, 0, 1, 0], want], atol=1e-15)
    with pytest.raises(InputError, match="row 2, which has none"):
        encoder.rows(NEW, unseen="supplementary")


@pytest.mark.parametrize("unseen", ["error", "ignore", "missing", "supplementary"])
def test_missing_answers_that_the_fit_refused_are_refused_again(unseen):
    encoder = Encoder.learn(gaps().dropna())
    with pytest.raises(InputError, match="missing='error'"):
        encoder.rows(gaps().iloc[2:3], unseen=unseen)


def test_a_missing_answer_that_the_fit_never_saw_is_unseen():
    encoder = Encoder.learn(gaps().dropna(), missing="category")
    row = pd.DataFrame({"a": [None], "b": ["u"]}, dtype=object)
    with pytest.raises(InputError, match="the fit saw none missing here"):
        encoder.rows(row)
    np.testing.assert_allclose(dense(encoder.rows(row, unseen="ignore"))[0], [0.5, 0.5, 1.0])


# --------------------------------------------------------------------------------- pooling and exclusion


def test_rare_levels_are_one_level_and_excluded_ones_have_no_column():
    data = answers()
    X = pd.DataFrame(data)
    plain = Encoder.learn(X)
    share = plain.vocabulary.counts / N
    rare = Encoder.learn(X, rare=0.29)
    small = [level for level, s in zip(["L", "M", "S", "XL"], share[3:7], strict=True) if s < 0.29]
    assert small == ["L", "M", "XL"] or small == ["L", "XL"]
    assert [name for name in rare.labels if name.startswith("size")] == [
        *(f"size={v}" for v in ["L", "M", "S", "XL"] if v not in small), "size=(other)",
    ]  # fmt: skip
    other = rare.labels.index("size=(other)")
    np.testing.assert_array_equal(dense(rare.rows(X))[:, other], np.isin(data["size"], small))
    specific = Encoder.learn(X, exclude=["size=XL", "happy=True"])
    keep = [i for i, name in enumerate(plain.labels) if name not in ("size=XL", "happy=True")]
    np.testing.assert_array_equal(dense(specific.rows(X)), dense(plain.rows(X))[:, keep])
    assert specific.vocabulary.J == 3
    with pytest.raises(InputError, match="did you mean 'size=XL'"):
        Encoder.learn(X, exclude=["size=XXL"])
    with pytest.raises(InputError, match="makes it part of"):
        Encoder.learn(X, exclude=["size=XL"], rare=0.29)


def test_states_move_between_all_levels_and_active_ones():
    X = pd.DataFrame(answers())
    chosen = Encoder.learn(X, rare=0.1, exclude=["colour=red"])
    assert not chosen.is_whole
    whole = Statistics(blocks_of(chosen.whole().rows(X))).moments
    want = Statistics(blocks_of(chosen.rows(X))).moments
    got = chosen.narrowed(whole)
    np.testing.assert_allclose(got.scatter, want.scatter, atol=1e-10)
    np.testing.assert_allclose(got.mean, want.mean, atol=1e-14)


def test_states_of_two_tables_merge_over_the_union_of_their_levels():
    X = pd.DataFrame({"x": np.arange(N) + 1e9, **answers()})
    a, b = X[X["size"] != "S"], X[X["size"] == "S"]
    ea, eb = Encoder.learn(a, numbers=True), Encoder.learn(b, numbers=True)
    assert ea.labels != eb.labels
    both = ea.union(eb)
    parts = [
        e.widened(e.lifted(Statistics(blocks_of(e.rows(part))).moments), both.vocabulary)
        for e, part in ((ea, a), (eb, b))
    ]
    merged = both.lowered(parts[0].merge(parts[1]))
    whole = Encoder.learn(X, numbers=True)
    assert both.labels == whole.labels
    np.testing.assert_array_equal(both.vocabulary.counts, whole.vocabulary.counts)
    want = Statistics(blocks_of(both.rows(X))).moments
    np.testing.assert_allclose(merged.scatter, want.scatter, rtol=1e-12, atol=1e-8)
    np.testing.assert_allclose(merged.mean, want.mean, atol=1e-10)
    rest = both.difference(eb)
    assert rest.labels == ea.labels
    np.testing.assert_array_equal(rest.vocabulary.counts, ea.vocabulary.counts)


def test_columns_are_found_by_name_or_by_place():
    X = pd.DataFrame(answers())
    named, placed = Encoder.learn(X), Encoder.learn(X.to_numpy(dtype=object))
    want = dense(named.rows(X))
    np.testing.assert_array_equal(dense(named.rows(X[["happy", "size", "colour"]])), want)
    np.testing.assert_array_equal(dense(named.rows(X.to_numpy(dtype=object))), want)
    np.testing.assert_array_equal(dense(placed.rows(X)), want)
    with pytest.raises(InputError, match="without 'happy'"):
        named.rows(X.drop(columns="happy"))
    with pytest.raises(InputError, match="has 2 features, but the fit is expecting 3"):
        placed.rows(X.to_numpy(dtype=object)[:, :2])


def test_an_encoder_can_be_pickled():
    X = pd.DataFrame(answers())
    encoder = pickle.loads(pickle.dumps(Encoder.learn(X, rare=0.1)))
    np.testing.assert_array_equal(dense(encoder.rows(X)), dense(Encoder.learn(X, rare=0.1).rows(X)))


# --------------------------------------------------------------------------------------- outside memory


def big(n: int = 20_000) -> pd.DataFrame:
    X = pd.DataFrame(answers(n, seed=3))
    X["many"] = [f"v{i}" for i in np.random.default_rng(1).integers(0, 40, n)]
    X["x"] = np.random.default_rng(2).normal(size=n) + 100.0
    X.loc[::97, "colour"] = None
    return X


@pytest.fixture(params=["parquet", "csv", "lazy", "dataset"])
def outside(request, tmp_path) -> Any:
    X = big()
    if request.param == "csv":
        X.to_csv(tmp_path / "t.csv", index=False)
        return ritz.read(tmp_path / "t.csv", memory="100KB")
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "t.parquet", row_group_size=3000)
    if request.param == "lazy":
        return pl.scan_parquet(tmp_path / "t.parquet")
    if request.param == "dataset":
        import pyarrow.dataset as ds

        return ds.dataset(tmp_path / "t.parquet")
    return ritz.read(tmp_path / "t.parquet", memory="100KB")


@pytest.mark.parametrize("numbers", [False, True])
def test_tables_outside_memory_are_learned_and_encoded_as_in_memory(outside, numbers, monkeypatch):
    X = big() if numbers else big().drop(columns="x")
    options: dict[str, Any] = {"missing": "category", "rare": 0.025, "numbers": numbers}
    want = Encoder.learn(X, **options)
    table = ritz.read(outside, memory="100KB")
    if not numbers:
        with pytest.warns(ColumnsSetAside, match="'x'"):
            got = Encoder.learn(table, **options)
    else:
        got = Encoder.learn(table, **options)
    assert got.labels == want.labels
    np.testing.assert_array_equal(got.vocabulary.counts, want.vocabulary.counts)
    blocks = got.rows(table, memory="40MB")
    assert isinstance(blocks, StreamBlocks)
    assert blocks.shape == (len(X), want.d)
    rows = np.concatenate([dense(block.values) for block in blocks.each()])
    np.testing.assert_allclose(rows, dense(got.rows(X)), atol=1e-12)
    state = Statistics(blocks).moments
    held = Statistics(blocks_of(got.rows(X))).moments
    np.testing.assert_allclose(state.scatter, held.scatter, atol=1e-7)


def test_weights_count_levels_outside_memory_too(tmp_path):
    X = big(5000).drop(columns="x")
    w = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    w[X["colour"].isna()] = 0.0
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "t.parquet", row_group_size=700)
    got = Encoder.learn(ritz.read(tmp_path / "t.parquet", memory="100KB"), weights=w)
    want = Encoder.learn(X, weights=w)
    assert got.labels == want.labels
    np.testing.assert_allclose(got.vocabulary.counts, want.vocabulary.counts)


def test_an_encoded_source_is_a_source(tmp_path):
    X = big(5000)
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "t.parquet", row_group_size=700)
    table = ritz.read(tmp_path / "t.parquet", memory="100KB")
    encoder = Encoder.learn(table, missing="exclude", numbers=True)
    source = EncodedSource(table._data, encoder, None)
    again = pickle.loads(pickle.dumps(source))
    assert source.sparse
    assert again.names == encoder.labels
    assert source.nbytes > 0
    assert source.fingerprint() == again.fingerprint()
    assert source.held(None, 100) < source.within(1e9).held(None, 100_000)
    span = source.spans[1] if len(source.spans) > 1 else source.spans[0]
    parts = list(again.batches(span, None, 100))
    assert max(part.shape[0] for part in parts) <= 100
    whole = np.concatenate([dense(part) for part in parts])
    np.testing.assert_allclose(whole, dense(encoder.rows(X))[span.start : span.stop], atol=1e-12)


def test_a_mostly_full_table_is_handed_out_dense(tmp_path):
    X = pd.DataFrame(answers(3000))
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "t.parquet", row_group_size=500)
    table = ritz.read(tmp_path / "t.parquet", memory="10KB")
    encoder = Encoder.learn(table)
    blocks = encoder.rows(table, memory="40MB")
    assert not blocks.sparse
    assert all(isinstance(block.values, np.ndarray) for block in blocks.each())


def test_unseen_levels_outside_memory_by_policy(tmp_path):
    X = pd.DataFrame(answers(3000))
    encoder = Encoder.learn(X)
    X.loc[2500, "colour"] = "mauve"
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "t.parquet", row_group_size=500)
    table = ritz.read(tmp_path / "t.parquet", memory="10KB")
    with pytest.raises(InputError, match="'colour=mauve'"):
        list(encoder.rows(table).each())
    rows = np.concatenate([dense(b.values) for b in encoder.rows(table, unseen="ignore").each()])
    np.testing.assert_allclose(rows[2500, :3], encoder.mean[:3])


# ------------------------------------------------------------------------------------------------- Dask


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["frame", "categories", "array"])
def test_dask_collections_are_learned_and_encoded_as_in_memory(kind):
    dask = pytest.importorskip("dask")
    import dask.array as da
    import dask.dataframe as dd

    from ritz.data.engines.dask.encode import DaskTable

    X = pd.DataFrame(answers(1000))
    if kind == "categories":
        X = X.astype({"colour": "category", "size": "category"})
    want = Encoder.learn(X if kind != "array" else X.astype(str).to_numpy(dtype=object))
    with dask.config.set(scheduler="synchronous"):
        D = dd.from_pandas(X, npartitions=4)
        if kind == "array":
            D = da.from_array(X.astype(str).to_numpy(dtype=object), chunks=(300, 2))
        table = opened(D)
        assert isinstance(table, DaskTable)
        assert table.n_rows == 1000
        got = Encoder.learn(table, weights=np.ones(1000))
        assert got.labels == want.labels
        np.testing.assert_array_equal(got.vocabulary.counts, want.vocabulary.counts)
        blocks = got.rows(table, unseen=None)
        rows = np.concatenate([dense(block.values) for block in blocks.each()])
        np.testing.assert_array_equal(rows, indicator(answers(1000), LEVELS))
        state, held = Statistics(blocks).moments, Statistics(blocks_of(rows)).moments
        np.testing.assert_allclose(state.scatter, held.scatter, atol=1e-9)
        V = np.arange(18.0).reshape(9, 2)
        lazy = opened(D).map_rows(got, lambda part: part @ V, 2, "error")
        np.testing.assert_allclose(lazy.compute(), rows @ V)


def test_texts_that_return_are_not_taken_for_as_small_as_their_file(tmp_path):
    """A dictionary keeps the file small; the texts in memory would not keep the limit."""
    words = pa.array([f"level{i % 10}" for i in range(200_000)])
    pq.write_table(pa.table({f"q{j}": words for j in range(5)}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 1_000_000
    assert ritz.read(tmp_path / "t.parquet", memory="20MB").lazy
