"""Text that stays on disk: the same numbers as in memory, spans in any order and on any thread, and damage by name."""

from __future__ import annotations

import gzip
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from ritz._core.errors import FileError
from ritz.data.formats.delimited import DelimitedSource
from ritz.data.formats.text.dialect import TextOptions
from ritz.data.formats.text.read import read_text
from ritz.data.tables.read import read

ROWS = 300


@pytest.fixture
def mixed(tmp_path):
    """Integers that become floats, money, text, gaps, flags, codes; NumPy says what the numbers are."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=ROWS)
    whole = np.where(np.arange(ROWS) < 250, np.arange(ROWS) % 17, np.arange(ROWS) + 0.5)
    money = rng.integers(0, 10**7, ROWS) / 100
    gaps = np.where(np.arange(ROWS) % 7 == 3, np.nan, x * 3)
    flag = x > 0
    lines = ["x,whole,money,word,gaps,flag,code"]
    for i in range(ROWS):
        number = int(whole[i]) if i < 250 else whole[i]
        gap = "NA" if np.isnan(gaps[i]) else repr(float(gaps[i]))
        word = '"two\nlines, ""here"""' if i % 5 == 0 else f"word{i % 3}"
        lines.append(f'{float(x[i])!r},{number},"${money[i]:,.2f}",{word},{gap},{str(flag[i]).upper()},{i:05d}')
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, np.column_stack([x, whole, money, gaps, flag])


def rows(source, columns=None, step=7):
    return np.concatenate([b for span in source.spans for b in source.batches(span, columns, step)])


@pytest.mark.parametrize("span_bytes", [1, 100, 1000, 10**6])
def test_the_numbers_are_those_that_were_written(mixed, span_bytes):
    path, X = mixed
    source = DelimitedSource(path, span_bytes=span_bytes)
    assert source.names == ["x", "whole", "money", "gaps", "flag"]
    assert source.label_names == ["word", "code"]
    assert [span.start for span in source.spans[1:]] == [span.stop for span in source.spans[:-1]]
    assert (source.spans[0].start, source.spans[-1].stop) == (0, ROWS)
    got = rows(source)
    np.testing.assert_array_equal(got, X)
    np.testing.assert_array_equal(rows(source, [3, 0]), X[:, [3, 0]])
    assert got.dtype == source.dtype == np.float64
    assert got.flags.c_contiguous
    assert all(len(b) <= 7 for span in source.spans for b in source.batches(span, None, 7))
    if span_bytes < 1000:
        assert len(source.spans) > 10


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_finds_the_same_types_and_notes(mixed, monkeypatch, threads):
    path, X = mixed
    whole = read_text(path)
    monkeypatch.setattr("ritz.data.formats.text.scan.lane_count", lambda: threads)
    for span_bytes in (100, 1000, 4000):
        found = read_text(path, span_bytes=span_bytes)
        assert found.values.equals(whole.values)
        assert found.notes == whole.notes
        np.testing.assert_array_equal(rows(DelimitedSource(path, span_bytes=span_bytes)), X)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_damaged_line_is_told_by_any_number_of_threads(tmp_path, monkeypatch, threads):
    lines = ["a,b"] + [f"{i},{i / 2}" for i in range(400)]
    lines[90] += ",7,8"
    lines[300] += ",9"
    path = tmp_path / "damaged.csv"
    path.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr("ritz.data.formats.text.scan.lane_count", lambda: threads)
    with pytest.raises(FileError, match="91"):
        read_text(path, span_bytes=300)


def test_a_table_outside_memory_is_that_in_memory(mixed):
    path, _ = mixed
    inside = read_text(path)
    outside = read_text(path, memory=1000, span_bytes=500)
    assert (inside.source, outside.values) == (None, None)
    assert outside.notes == inside.notes
    assert outside.reasons == inside.reasons
    assert outside.line(50) == inside.line(50) is not None
    assert "'money': commas between thousands taken out" in outside.notes
    batches = [b for s in outside.source.spans for b in outside.source.record_batches(s, outside.source.fields, 10)]
    assert pa.Table.from_batches(batches).equals(inside.values)


def test_ritz_read_gives_the_same_table_both_ways(mixed, monkeypatch):
    path, X = mixed
    inside = read(path)
    monkeypatch.setattr("ritz.data.tables.read.EAGER_BYTES", 0.0)
    outside = read(path)
    assert outside.lazy
    assert not inside.lazy
    assert outside.kinds == inside.kinds
    assert outside.missing == inside.missing == {"gaps": int(np.isnan(X).sum())}
    assert outside.set_aside == inside.set_aside
    assert outside.notes == inside.notes


def test_kinds_found_on_the_way_are_those_found_in_memory(tmp_path, monkeypatch):
    """Constants, identifiers, categories, dates, empty columns: over many spans."""
    lines = ["id,k,same,none,day,colour,key,n,late"]
    lines += [
        f"{100 + 3 * i},{i},5,,2021-01-{i % 28 + 1:02d},{'red' if i % 3 else 'blue'},u{i},{i * 7 % 11},"
        for i in range(60)
    ]
    lines += ["999,60,5,,2021-02-01,red,u60,1,2.5", "1000,61,5,,2021-02-01,red,u61,3,3"]
    path = tmp_path / "kinds.csv"
    path.write_text("\n".join(lines))
    inside = read(path)
    monkeypatch.setattr("ritz.data.tables.read.EAGER_BYTES", 0.0)
    monkeypatch.setattr("ritz.data.formats.text.read.read_text.__kwdefaults__", {"memory": None, "span_bytes": 64})
    outside = read(path)
    assert outside.lazy
    assert outside.kinds == inside.kinds
    assert inside.kinds == {
        "id": "identifier",
        "k": "numeric",
        "same": "constant",
        "none": "constant",
        "day": "date",
        "colour": "categorical",
        "key": "identifier",
        "n": "numeric",
        "late": "numeric",
    }
    assert outside.missing == inside.missing == {"none": 62, "late": 60}
    assert outside.set_aside == inside.set_aside


def test_spans_are_read_by_several_threads_at_once(mixed):
    path, X = mixed
    source = DelimitedSource(path, span_bytes=400)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda span: np.concatenate(list(source.batches(span, None, 5))), source.spans[::-1]))
    np.testing.assert_array_equal(np.concatenate(parts[::-1]), X)


@pytest.mark.parametrize("pack", [None, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_packed_and_wide_text(tmp_path, pack, encoding):
    text = ("größe;b\r\n" + "".join(f"{i},5;ü{i % 2}\r\n" for i in range(100))).encode(encoding)
    path = tmp_path / "t.txt"
    path.write_bytes(pack(text) if pack else text)
    source = DelimitedSource(path, span_bytes=64)
    assert source.names == ["größe"]
    assert len(source.spans) > 5
    np.testing.assert_array_equal(rows(source)[:, 0], np.arange(100) + 0.5)
    words = [w for s in source.spans for b in source.arrow_batches(s, ["b"], 50) for w in b.column(0).to_pylist()]
    assert words == [f"ü{i % 2}" for i in range(100)]


def test_integers_stay_integers_unless_one_is_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 50)
    assert DelimitedSource(path, span_bytes=20).dtype == np.int64
    path.write_text("a,b\n" + "1,2\n" * 50 + ",3\n")
    source = DelimitedSource(path, span_bytes=20)
    assert source.dtype == np.float64
    assert np.isnan(rows(source)[-1, 0])


def test_a_source_travels_to_another_process(mixed):
    path, X = mixed
    source = pickle.loads(pickle.dumps(DelimitedSource(path, span_bytes=1000)))
    np.testing.assert_array_equal(rows(source), X)


def test_the_fingerprint_changes_with_the_data_and_the_reading(mixed):
    path, _ = mixed
    first = DelimitedSource(path).fingerprint()
    assert DelimitedSource(path).fingerprint() == first
    assert DelimitedSource(path, TextOptions(header=False)).fingerprint() != first
    os.utime(path, (1, 1))
    assert DelimitedSource(path).fingerprint() != first


def test_progress_can_count_the_bytes(mixed):
    path, _ = mixed
    source = DelimitedSource(path, span_bytes=700)
    assert source.nbytes == sum(span.key.stop - span.key.start for span in source.spans)
    assert source.files == [path]


# --- damage -----------------------------------------------------------------------------------------------


def test_a_file_that_changed_since_is_refused(mixed):
    path, _ = mixed
    source = DelimitedSource(path, span_bytes=1000)
    with path.open("a") as file:
        file.write("1,2,$3,x,4,TRUE,00001\n")
    with pytest.raises(FileError, match=r"(?s)mixed.csv has changed since it was first read\nhint: read it again"):
        rows(source)


def test_a_file_that_became_shorter_while_nobody_looked(mixed):
    path, _ = mixed
    source = DelimitedSource(path, span_bytes=1000)
    before = path.stat()
    os.truncate(path, before.st_size // 2)
    source.text.stamp = (path.stat().st_size, path.stat().st_mtime_ns)
    with pytest.raises(FileError, match=r"(?s)mixed.csv became shorter.*\nhint: "):
        rows(source)


def test_other_values_under_the_same_size_and_time(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 20)
    source = DelimitedSource(path, span_bytes=16)
    before = path.stat()
    path.write_text("a,b\n" + "1,2\n" * 10 + "1,x\n" + "1,2\n" * 9)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(FileError, match=r"(?s)a number in line 12 of .*t.csv; received 'x'.*\nhint: .*changed"):
        rows(source)


@pytest.mark.parametrize(
    ("end", "word"),
    [
        ("1,2\n3", r"line 102: Expected 2 columns, got 1: '3'\nhint: the last line has no end"),
        ('1,2\n3,"x', r"a field that opens with a quote in line 102 and never ends"),
        ("1,2,3\n", r"line 101: Expected 2 columns, got 3: '1,2,3'\nhint: every line"),
    ],
)
@pytest.mark.parametrize("span_bytes", [16, 10**6])
def test_damage_is_found_before_anything_is_computed(tmp_path, end, word, span_bytes):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 99 + end)
    with pytest.raises(FileError, match=f"(?s)t.csv.*{word}|{word}.*t.csv"):
        DelimitedSource(path, span_bytes=span_bytes)


def test_a_column_that_turns_to_text_halfway_is_set_aside_by_name_and_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 500 + "1,broken\n" + "1,3\n" * 99)
    source = DelimitedSource(path, span_bytes=100)
    assert source.names == ["a"]
    assert source.scanned.reasons == {"b": "text among numbers, such as 'broken' in line 502"}


def test_times_flags_and_empty_columns_are_the_same_in_any_pieces(tmp_path):
    path = tmp_path / "t.csv"
    lines = ["zone,clock,fine,mixed,flag,none,odd,b"]
    lines += [
        f"2021-01-{d:02d}T00:00:00Z,12:{d}:00,2021-01-02 10:00:00.5,2021-01-{d},TRUE,,{d}," for d in range(10, 20)
    ]
    lines.append("2021-02-01T00:00:00Z,13:30:00,2021-01-02 10:00:00,2021-01-02 11:12:13,,,x,FALSE")
    path.write_text("\n".join(lines))
    whole = read_text(path).values
    source = DelimitedSource(path, span_bytes=20)
    assert len(source.spans) == 11
    streamed = [b for span in source.spans for b in source.record_batches(span, source.fields, 5)]
    assert pa.Table.from_batches(streamed).equals(whole)
    assert pa.types.is_temporal(whole.schema.field("mixed").type)
    assert whole.column("odd").to_pylist() == [*map(str, range(10, 20)), "x"]
    assert source.names == ["flag", "none", "b"]  # a column without any value is numbers that are all missing
