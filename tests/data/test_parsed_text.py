"""Text that was parsed once is read back from disk: the same numbers as parsed again, and nothing of it is left."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ritz
from ritz.data.formats.delimited import DelimitedSource
from ritz.data.formats.text import codes, parsed, scan
from ritz.data.formats.text.file import TextFile
from ritz.data.formats.text.plain import plain_columns
from ritz.data.formats.text.read import read_text
from ritz.data.tables import read as module

ROWS = 4000


def written(path: Path) -> Path:
    """Columns that change their type on the way: integers, then fractions; numbers, then words; gaps; dates; text."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("whole,widens,stray,gaps,late,date,word,large\n")
        for i in range(ROWS):
            widens = i if i < ROWS // 2 else i + 0.5
            stray = i if i != ROWS - 10 else "oops"
            gap = "" if i % 7 == 0 else f"{rng.standard_normal():.6g}"
            late = "" if i < ROWS * 3 // 4 else i / 8
            file.write(f"{i},{widens},{stray},{gap},{late},2024-01-{i % 28 + 1:02d},w{i % 5},{2**53 + 2 * i}\n")
    return path


@pytest.fixture
def kept(monkeypatch):
    """Small files are kept as well, in small pieces."""
    monkeypatch.setattr(parsed, "LEAST_TEXT", 1)
    calls = []
    stream = TextFile.stream

    def counted(self, data, piece, types, columns):
        calls.append(columns)
        return stream(self, data, piece, types, columns)

    monkeypatch.setattr(TextFile, "stream", counted)
    return calls


def everything(source: DelimitedSource) -> list[list]:
    tables = [pa.Table.from_batches(source.record_batches(s, source.fields, 1000)) for s in source.spans]
    return pa.concat_tables(tables).to_pydict()


def test_what_was_kept_is_what_would_be_parsed(tmp_path, kept):
    path = written(tmp_path / "t.csv")
    again = DelimitedSource(path, span_bytes=20_000)
    assert len(again.spans) > 5
    again.scanned.parsed.close()
    again.scanned.parsed = None
    expected = everything(again)
    assert kept  # parsed again
    kept.clear()
    source = DelimitedSource(path, span_bytes=20_000)
    assert source.scanned.parsed is not None
    assert {name: repr(values) for name, values in everything(source).items()} == {
        name: repr(values) for name, values in expected.items()
    }
    # only the pieces in which the stray word had not come yet were numbers and had to be read again, as text
    assert len(kept) == len(source.spans) - 1
    kept.clear()
    numbers = [f for f in source.fields if f.name in ("whole", "widens", "gaps", "late", "large")]
    for span in source.spans:
        list(source.record_batches(span, numbers, 1000))
    assert not kept


def outside(path: Path, columns: list[str]):
    """A table that stays outside memory, however small."""
    before, module.EAGER_BYTES = module.EAGER_BYTES, 1.0
    try:
        dropped = dict.fromkeys(("stray", "gaps", "late", "date", "word", "large"), "drop")
        table = ritz.read(path, kinds={**dropped, **dict.fromkeys(columns, "numeric")})
    finally:
        module.EAGER_BYTES = before
    assert table.lazy
    assert table.numeric_names() == columns
    return table


def test_fits_are_the_same_to_the_last_bit(tmp_path, kept, monkeypatch):
    path = written(tmp_path / "t.csv")
    columns = ["whole", "widens"]
    first = ritz.PCA(2, memory="40MB").fit(outside(path, columns))
    assert not kept
    monkeypatch.setattr(scan, "folder_for", lambda size: None)
    second = ritz.PCA(2, memory="40MB").fit(outside(path, columns))
    assert kept
    np.testing.assert_array_equal(first.components_, second.components_)
    np.testing.assert_array_equal(first.explained_variance_, second.explained_variance_)


def test_a_full_disk_means_parsing_again(tmp_path, kept, monkeypatch):
    path, pwrite = written(tmp_path / "t.csv"), os.pwrite
    room = [50_000]

    def full(handle, data, offset):
        if offset + len(data) > room[0]:
            raise OSError(28, "No space left on device")
        return pwrite(handle, data, offset)

    monkeypatch.setattr(os, "pwrite", full)
    source = DelimitedSource(path, span_bytes=20_000)
    assert source.scanned.parsed is None
    assert everything(source)["whole"] == list(range(ROWS))


def test_a_changed_file_is_refused_although_it_was_kept(tmp_path, kept):
    path = written(tmp_path / "t.csv")
    source = DelimitedSource(path, span_bytes=20_000)
    path.write_text(path.read_text().replace("w1", "w9"))
    with pytest.raises(ritz.FileError, match="has changed since it was first read"):
        everything(source)


def test_sources_travel_without_what_was_kept(tmp_path, kept):
    path = written(tmp_path / "t.csv")
    source = DelimitedSource(path, span_bytes=20_000)
    other = pickle.loads(pickle.dumps(source))
    assert other.scanned.parsed is None
    assert everything(other)["whole"] == list(range(ROWS))
    assert source.scanned.parsed is not None


def test_the_file_has_no_name(tmp_path, kept, monkeypatch):
    monkeypatch.setattr(parsed.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    source = DelimitedSource(written(tmp_path / "t.csv"), span_bytes=20_000)
    assert source.scanned.parsed is not None
    assert list((tmp_path / "temporary").iterdir()) == []


def test_where_pieces_are_kept(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(parsed, "MOUNTS", mounts)
    here = str(tmp_path.resolve())
    monkeypatch.setattr(parsed.tempfile, "gettempdir", lambda: here)
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nnone {here} tmpfs rw 0 0\n")
    assert parsed.folder_for(2 << 20) == "/var/tmp"  # memory is no place for what memory should not hold
    mounts.write_text(f"/dev/sda / tmpfs rw 0 0\nnone {here} ext4 rw 0 0\n")
    assert parsed.folder_for(2 << 20) == here
    mounts.write_text("/dev/sda / tmpfs rw 0 0\n")
    assert parsed.folder_for(2 << 20) is None
    mounts.unlink()
    assert parsed.folder_for(2 << 20) == here  # where the system does not tell
    assert parsed.folder_for(1 << 60) is None  # no disk has that room
    assert parsed.folder_for(100) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a,b\n1.5e-05,2\n-2.5E+07,3\n", False), ("1e05,2\n", False), ("x,1e-05\n", False), ("a\n-05\n", True),
        ("a,b\n1,007\n", True), ("a,b\n1e-05,007\n", True), ("a\ne-05\n", False), ("-07,1\n", True),
        ("1.05,2.007\n", False),
    ],
)  # fmt: skip
def test_zeros_of_exponents_are_no_codes(text, code):
    assert codes._leading_zeros(text.encode(), ",") is code


def test_numbers_with_exponents_are_parsed_once(tmp_path, monkeypatch):
    path = tmp_path / "small.csv"
    rows = np.random.default_rng(0).standard_normal((500, 3)) * 1e-6
    np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    calls = []
    parse = TextFile.parse
    monkeypatch.setattr(TextFile, "parse", lambda self, *a, **k: calls.append(1) or parse(self, *a, **k))
    table = ritz.read(path)
    assert len(calls) == 1
    np.testing.assert_array_equal(table.select(["a", "b", "c"]), rows)


def test_long_whole_numbers_before_fractions_are_rounded_alike(tmp_path):
    path = tmp_path / "t.csv"
    whole = [2**53 + 1 + 2 * i for i in range(500)]
    path.write_text("a,b\n" + "".join(f"{i},{i % 7}\n" for i in whole) + "0.5,1\n" * 20)
    expected = np.array([float(i) for i in whole] + [0.5] * 20)
    for span in (1 << 20, 1000):
        values = read_text(path, span_bytes=span).values
        assert values.column("a").type == pa.float64()
        assert np.array_equal(values.column("a").to_numpy(), expected)


def test_plain_columns_of_several_blocks():
    runs = [[1.5, 2.5], [-3.5, 0.25, 7.0], [0.5]], [[0.1, 0.2], [9.5, 0.3, -8.5], [1.25]]
    table = pa.table({"a": pa.chunked_array(runs[0]), "b": pa.chunked_array(runs[1]), "c": ["x"] * 6})
    plain = plain_columns(table)
    assert plain.at == (0, 1)
    assert plain.ends == {0: (-3.5, 7.0), 1: (-8.5, 9.5)}
    assert plain.whole.tolist() == [True, False]
