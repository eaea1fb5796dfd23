"""Tables judge their columns alike in memory and outside, keep to the memory limit, and listen to the user."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ritz
from ritz._core.errors import ColumnsSetAside, InputError, MemoryLimitError, ParameterError
from ritz.data.formats.parquet import ParquetSource
from ritz.data.tables import summaries as scan
from ritz.data.tables.read import read
from ritz.data.tables.summaries import Distinct, MatrixSummary, Summary


def kinds_table(n=500):
    rng = np.random.default_rng(0)
    day = dt.date(2024, 1, 1)
    return pa.table({
        "row": np.arange(n),
        "sample_id": rng.permutation(n) + 1000,
        "x": pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1),
        "year": rng.integers(1990, 2024, n),
        "zip": rng.integers(10000, 10050, n),
        "five": np.full(n, 5),
        "never": pa.nulls(n, pa.float64()),
        "colour": pa.array(["red", "blue", None] * n)[:n],
        "mark": pa.array(["A"] * n).dictionary_encode(),
        "key": [f"k{i}" for i in range(n)],
        "note": [f"a remark that is much too long for a name, the {i}th of many" for i in range(n)],
        "word": [f"w{i % 200}" for i in range(n)],
        "day": pa.array([day + dt.timedelta(days=i) for i in range(n)]),
        "text_number": [str(i / 4) for i in range(n)],
        "stray": ["n.d." if i == 7 else str(i) for i in range(n)],
    })  # fmt: skip


EXPECTED = {
    "row": ("identifier", "an identifier: every row has its own"),
    "sample_id": ("identifier", "an identifier: every row has its own"),
    "x": ("numeric", ""),
    "year": ("numeric", ""),
    "zip": ("numeric", ""),
    "five": ("constant", "always 5"),
    "never": ("constant", "no values"),
    "colour": ("categorical", "categories: 2 different values"),
    "mark": ("constant", "always 'A'"),
    "key": ("identifier", "an identifier: every row has its own"),
    "note": ("text", "running text"),
    "word": ("text", "text: 200 different values"),
    "day": ("date", "dates or times"),
    "text_number": ("identifier", "an identifier: every row has its own"),
    "stray": ("text", "text among numbers, such as 'n.d.'"),
}


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("group", [7, 100, 500])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_kinds_are_the_same_in_memory_and_outside(tmp_path, monkeypatch, statistics, group, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr("ritz.data.formats.parquet.SPAN_BYTES", 1)
    table = kinds_table()
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=group, write_statistics=statistics)
    for memory in (10, None):
        got = read(tmp_path / "t.parquet", memory=memory)
        assert got.lazy == (memory == 10)
        assert {c.name: (c.kind, c.reason) for c in got.columns} == EXPECTED
        assert got.missing == {"x": table["x"].null_count, "never": 500, "colour": table["colour"].null_count}


def test_numbers_of_parquet_are_judged_by_the_footers_alone(tmp_path, monkeypatch):
    pq.write_table(kinds_table(), tmp_path / "t.parquet", row_group_size=50)
    read_columns = set()
    real = ParquetSource.record_batches

    def watched(self, span, fields, rows):
        read_columns.update(field.name for field in fields)
        return real(self, span, fields, rows)

    monkeypatch.setattr(ParquetSource, "record_batches", watched)
    read(tmp_path / "t.parquet", memory=10)
    assert read_columns.isdisjoint({"x", "year", "zip", "five", "never"})
    assert {"row", "sample_id", "colour", "key"} <= read_columns


def test_arrays_outside_memory_are_not_scanned_before_they_are_asked_to(tmp_path):
    X = np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 3.0]] * 20)
    np.save(tmp_path / "x.npy", X)
    table = read(tmp_path / "x.npy", memory=100)
    assert table.kinds == {"x0": "numeric", "x1": "numeric", "x2": "numeric"}
    assert not table.scanned
    assert table.missing == {}
    full = table.scan()
    assert full.lazy
    assert full.scanned
    assert full.kinds == read(tmp_path / "x.npy").kinds == table.kinds
    assert full.missing == {"x2": 20}


# --- the user's word --------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [10, None])
def test_the_user_says_what_columns_are(tmp_path, memory):
    pq.write_table(kinds_table(), tmp_path / "t.parquet")
    said = {"zip": "categorical", "row": "numeric", "text_number": "numeric", "five": "numeric", "note": "drop"}
    table = read(tmp_path / "t.parquet", memory=memory, kinds=said)
    assert table.kinds["zip"] == "categorical"
    assert dict(table.set_aside)["zip"] == "categorical, as you said"
    assert "note" not in table.names
    assert any("left out, as you said: 'note'" in note for note in table.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsSetAside)
        names = table.numeric_names()
    assert names == ["row", "x", "year", "five", "text_number"]
    source, columns = table.source_for(["text_number", "row"])
    X = np.concatenate([b for span in source.spans for b in source.batches(span, columns, 64)])
    np.testing.assert_array_equal(X, np.column_stack([np.arange(500) / 4, np.arange(500)]))
    assert table.labels("text_number")[:3] == [0.0, 0.25, 0.5]


def test_text_files_listen_too(tmp_path):
    (tmp_path / "t.csv").write_text("code,x\n" + "".join(f"{i:03},{i * i}\n" for i in range(20)))
    assert read(tmp_path / "t.csv").kinds["code"] != "numeric"
    for memory in (100, None):
        table = read(tmp_path / "t.csv", kinds={"code": "numeric"}, memory=memory)
        assert table.lazy == (memory == 100)
        source, columns = table.source_for(["code", "x"])
        X = np.concatenate([b for span in source.spans for b in source.batches(span, columns, 7)])
        np.testing.assert_array_equal(X[:, 0], np.arange(20))


def test_an_embedding_is_named_as_a_whole():
    table = pa.table({"x": [1.0, 2.0], "e": pa.array([[1.0, 2.0], [3.0, 5.0]], pa.list_(pa.float64(), 2))})
    assert read(table, kinds={"e": "drop"}).names == ["x"]
    assert read(table, kinds={"e": "identifier"}).kinds == {"x": "numeric", "e[0]": "identifier", "e[1]": "identifier"}
    assert read(table, kinds={"e[1]": "drop"}).names == ["x", "e[0]"]


def test_wrong_words_of_the_user():
    table = kinds_table(20)
    with pytest.raises(InputError, match=r"(?s)a column 'zipp' for kinds=.*hint: did you mean 'zip'\?"):
        read(table, kinds={"zipp": "categorical"})
    with pytest.raises(ParameterError, match=r"(?s)one of numeric, .* or drop; received 'number' for column 'zip'"):
        read(table, kinds={"zip": "number"})
    with pytest.raises(ParameterError, match=r"(?s)column 'day' must hold numbers.*received dates or times.*hint"):
        read(table, kinds={"day": "numeric"})
    with pytest.raises(InputError, match=r"(?s)expected numbers in column 'stray'; received the text 'n.d.'"):
        read(table, kinds={"stray": "numeric"})
    with pytest.raises(ParameterError, match=r"header is for text files only"):
        read(table, header=True)


# --- memory -----------------------------------------------------------------------------------------------


def test_loading_keeps_to_the_limit(tmp_path):
    X = np.random.default_rng(0).normal(size=(1000, 10))
    np.save(tmp_path / "x.npy", X)
    table = read(tmp_path / "x.npy", memory=X.nbytes - 1)
    assert table.lazy
    with pytest.raises(MemoryLimitError, match=r"(?s)holds 10 columns of x.npy; received 0 MB for 0 MB\nhint"):
        table.numeric()
    np.testing.assert_array_equal(table.select(["x3", "x1"]), X[:, [3, 1]])
    assert not read(tmp_path / "x.npy", memory=4 * X.nbytes).lazy
    assert read(tmp_path / "x.npy", memory=4 * X.nbytes - 4).lazy


def test_columns_that_are_not_there_or_hold_no_numbers():
    table = read(kinds_table(20))
    with pytest.raises(InputError, match=r"(?s)a table without 'colur'\nhint: did you mean 'colour'"):
        table.labels("colur")
    with pytest.raises(InputError, match=r"(?s)other values in 'colour' \(categories: 2 .*hint: .*kinds="):
        table.select(["x", "colour"])


def test_batches_of_any_columns(tmp_path):
    table = kinds_table()
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=77)
    for memory in (10, None):
        parts = list(read(tmp_path / "t.parquet", memory=memory).batches(["key", "x", "day"], 30))
        assert all(0 < len(part) <= 30 for part in parts)
        assert pa.concat_tables(parts).equals(table.select(["key", "x", "day"]))


# --- summaries --------------------------------------------------------------------------------------------


def whole(values, kind=None, cuts=(0,), compared=True):
    array = pa.array(values, kind)
    parts = []
    for a, b in zip(cuts, [*cuts[1:], len(array)], strict=True):
        part = Summary(array.type, compared=compared)
        part.update(array.slice(a, b - a))
        parts.append(part)
    first, *more = parts
    for later in more:
        first.merge(later)
    return first


@pytest.mark.parametrize("cuts", [(0,), (0, 1), (0, 3, 3, 50), (0, 99)])
@pytest.mark.parametrize(
    "values",
    [
        list(range(100)),
        list(range(100))[::-1],
        [*range(60), *range(40)],
        [None if i % 3 else i for i in range(100)],
        [float("nan") if i % 3 else i / 7 for i in range(100)],
        [f"w{i % 11}" for i in range(100)],
        [f"w{i}" for i in range(100)],
        [None] * 50 + ["x" * 300] * 50,
    ],
)
def test_summaries_of_parts_are_those_of_the_whole(values, cuts):
    one, many = whole(values), whole(values, cuts=cuts)
    for name in ("rows", "missing", "low", "high", "first", "last", "rises", "counts", "longest"):
        assert getattr(one, name) == getattr(many, name), name
    assert (one.distinct.more, one.distinct.twice) == (many.distinct.more, many.distinct.twice)
    assert len(one.distinct) == len(many.distinct)
    assert one.missing == sum(v is None or v != v for v in values)


def test_unsigned_numbers_that_fall_do_not_rise():
    summary = whole([3, 2, 1], pa.uint8())
    assert not summary.rises
    assert not summary.counts


def test_different_values_are_counted_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(scan, "DISTINCT", 10)
    for step in (1, 3, 100):
        for values, twice in (([*range(11), 5], False), ([*range(5), 3, *range(5, 30)], True), ([*range(50)], False)):
            found = Distinct()
            for i in range(0, len(values), step):
                found.update(pa.array(values[i : i + step]))
            assert (found.more, found.twice, len(found)) == (True, twice, 10)


def test_more_values_than_are_counted_say_so(monkeypatch):
    monkeypatch.setattr(scan, "DISTINCT", 100)
    words = [f"w{i}" for i in range(150)]
    table = read(pa.table({"key": words, "word": [*words[:50], *words[:100]], "text": [*words[:149], "w0"]}))
    reasons = dict(table.set_aside)
    assert reasons["key"].startswith("an identifier: more than ")
    assert reasons["text"].startswith("an identifier: more than ")  # the second w0 comes after the bound
    assert reasons["word"] == "text: 100 different values"


def test_matrix_summaries_merge():
    X = np.random.default_rng(0).normal(size=(30, 4))
    X[::4, 1] = np.nan
    one, a, b = MatrixSummary(4), MatrixSummary(4), MatrixSummary(4)
    one.update(X)
    a.update(X[:11])
    b.update(X[11:])
    a.merge(b)
    for name in ("rows", "low", "high", "missing"):
        np.testing.assert_array_equal(getattr(a, name), getattr(one, name))
    np.testing.assert_array_equal(one.low, np.nanmin(X, axis=0))
    np.testing.assert_array_equal(one.missing, np.isnan(X).sum(axis=0))


def test_summaries_agree_with_arrow_on_the_whole_column():
    table = kinds_table()
    for name in ("x", "year", "key", "colour"):
        summary = whole(table[name].to_pylist(), cuts=(0, 123, 124))
        assert summary.present == pc.count(table[name]).as_py()
        if summary.numeric:
            assert {"min": summary.low, "max": summary.high} == pc.min_max(table[name]).as_py()
        else:
            assert len(summary.distinct) == pc.count_distinct(table[name]).as_py()


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_identifiers_do_not_depend_on_lanes_or_memory(tmp_path, monkeypatch, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    rng = np.random.default_rng(0)
    ids = rng.permutation(160_000) + 1000
    ids[150_000] = ids[140_000]  # a repeat behind the first 100,000 different values
    columns = {"x": rng.standard_normal(160_000), "user_id": ids, "y": rng.standard_normal(160_000)}
    pq.write_table(pa.table(columns), tmp_path / "ids.parquet", row_group_size=2000)
    for memory in ("8MB", "4GB"):
        assert read(tmp_path / "ids.parquet", memory=memory).kinds["user_id"] == "identifier"
    ids[5] = ids[3]
    pq.write_table(pa.table(columns), tmp_path / "ids.parquet", row_group_size=2000)
    for memory in ("8MB", "4GB"):
        assert read(tmp_path / "ids.parquet", memory=memory).kinds["user_id"] == "numeric"


def test_a_column_of_negative_zeros_is_always_0():
    table = read(pa.table({"a": [-0.0, -0.0, -0.0], "b": [-0.0, 0.0, -0.0], "c": [1.0, 2.0, 4.0]}))
    assert [column.reason for column in table.columns] == ["always 0", "always 0", ""]


def test_types_follow_what_is_loaded(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i}.5\n" for i in range(40)))
    table = ritz.read(path)
    assert {name: table.type_of(name) for name in table.names} == table.types
    assert table.type_of("none") is None
    before = table.types
    table.settle(1e9)  # which loads the rows
    assert table.types == before == {name: table.type_of(name) for name in table.names}
    changed = table.types
    changed["a"] = None
    assert table.type_of("a") is not None
