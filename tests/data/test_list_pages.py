"""Lists taken from Parquet pages as they lie: the same rows as Arrow decodes, and Arrow's word on everything else."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz._core.errors import RitzError
from ritz.data.engines.stream.blocks import StreamBlocks
from ritz.data.formats.parquet import ParquetSource
from ritz.data.passes.blocks import Block
from ritz.data.passes.gram import DensePass
from ritz.data.passes.statistics import Statistics

CODECS = ("none", "snappy", "zstd", "gzip", "brotli", "lz4")


def lists(rows: np.ndarray, kind: str) -> pa.Array:
    """Rows as lists of one of Arrow's kinds."""
    flat = pa.array(rows.ravel())
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])
    ends = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int64)
    make = pa.LargeListArray if kind == "large" else pa.ListArray
    return make.from_arrays(pa.array(ends, pa.int64() if kind == "large" else pa.int32()), flat)


def read(path: Path) -> np.ndarray:
    """All rows of the only column, in batches of 37."""
    source = ParquetSource([path])
    if not source.names:
        raise OSError("the first lists differ in length: no column of numbers")
    batches = [np.array(batch) for span in source.spans for batch in source.batches(span, None, 37)]
    return np.concatenate(batches)


def arrow_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ParquetSource, "_list_column", lambda *_: None)


@pytest.fixture
def pages_alone(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Arrow may look at the first rows, and decodes no others."""

    def refused(*_: object) -> None:
        raise AssertionError("decoded by Arrow")

    monkeypatch.setattr(ParquetSource, "_arranged", refused)
    monkeypatch.setattr("ritz.data.formats.parquet.list_rows", refused)
    return monkeypatch


@pytest.mark.parametrize("codec", CODECS[:-1])
@pytest.mark.parametrize("width", [1, 3, 8, 40])
def test_rows_are_those_that_were_written(tmp_path, pages_alone, codec, width):
    rng = np.random.default_rng(width)
    for version, words, kind, dtype in product(("1.0", "2.0"), (True, False), ("list", "fixed"), ("f4", "f8")):
        rows = rng.standard_normal((500, width)).astype(dtype)
        if kind == "list":
            rows = rows.round(1)  # a dictionary to the end
        path = tmp_path / "a.parquet"
        pq.write_table(
            pa.table({"e": lists(rows, kind)}), path, compression=codec, use_dictionary=words,
            data_page_version=version, data_page_size=1000, row_group_size=300, write_batch_size=64,
            dictionary_pagesize_limit=2000, write_page_checksum=kind == "fixed",
        )  # fmt: skip
        assert np.array_equal(read(path), rows)


def test_long_files_and_large_lists(tmp_path, pages_alone, seed):
    rows = np.random.default_rng(seed).standard_normal((30_000, 33)).astype(np.float32)
    pq.write_table(pa.table({"e": lists(rows, "large")}), tmp_path / "a.parquet", row_group_size=17_000)
    assert np.array_equal(read(tmp_path / "a.parquet"), rows)
    model = ritz.PCA(3).fit(ritz.read(tmp_path / "a.parquet", memory="2MB"))
    assert np.allclose(model.explained_variance_, ritz.PCA(3).fit(rows).explained_variance_, rtol=1e-5)


def test_arrow_reads_what_is_unlike(tmp_path):
    rows = np.arange(2400.0).reshape(300, 8)
    gap = pa.array([None if i == 250 else list(row) for i, row in enumerate(rows)], pa.list_(pa.float64()))
    hole = pa.array([[*row[:7], None if i == 250 else row[7]] for i, row in enumerate(rows)], pa.list_(pa.float64()))
    for column, where in ((gap, slice(None)), (hole, slice(7, None))):
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"e": column}), path, data_page_size=800, write_batch_size=16, use_dictionary=False)
        expected = rows.copy()
        expected[250, where] = np.nan
        assert np.array_equal(read(path), expected, equal_nan=True)
    for options in ({"compression": "lz4"}, {"use_dictionary": False, "column_encoding": "BYTE_STREAM_SPLIT"}):
        pq.write_table(pa.table({"e": lists(rows, "list")}), tmp_path / "b.parquet", **options)
        assert np.array_equal(read(tmp_path / "b.parquet"), rows)


@pytest.mark.parametrize("groups", [700, 5000])
def test_a_list_of_another_length_far_down_is_named(tmp_path, groups):
    rows = [[1.0, 2.0, 3.0]] * 3000 + [[1.0, 2.0]] + [[1.0, 2.0, 3.0, 4.0]]
    pq.write_table(pa.table({"e": rows, "x": range(3002)}), tmp_path / "a.parquet", row_group_size=groups)
    with pytest.raises(RitzError, match=r"2 numbers in row 3000\n.*rows count from 0"):
        ritz.PCA(1).fit(ritz.read(tmp_path / "a.parquet"))
    pq.write_table(pa.table({"e": rows}), tmp_path / "a.parquet", row_group_size=groups)
    with pytest.raises(RitzError, match=r"2 numbers in row 3000\n.*rows count from 0"):
        read(tmp_path / "a.parquet")


def test_other_columns_and_partitions_beside(tmp_path):
    rows = np.random.default_rng(0).standard_normal((50, 4))
    for year in (1, 2):
        (tmp_path / f"t/year={year}").mkdir(parents=True)
        table = pa.table({"word": ["a", "b"] * 25, "e": lists(rows * year, "list"), "x": rows[:, 0]})
        pq.write_table(table, tmp_path / f"t/year={year}/a.parquet")
    table = ritz.read(tmp_path / "t", memory="1MB")
    both = np.concatenate([rows, 2 * rows])
    assert np.array_equal(table.select([f"e[{j}]" for j in range(4)]), both)
    assert np.array_equal(table.select(["e[2]", "e[0]"]), both[:, [2, 0]])
    assert np.array_equal(table.select(["e[1]", "x"]), np.column_stack([both[:, 1], np.tile(rows[:, 0], 2)]))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_damaged_pages_are_left_to_arrow(tmp_path, monkeypatch, version):
    rows = np.random.default_rng(0).standard_normal((60, 5)).round(1)
    good = tmp_path / "good.parquet"
    pq.write_table(
        pa.table({"e": lists(rows, "list")}), good, data_page_version=version, data_page_size=300, write_batch_size=8
    )
    whole, bad = bytearray(good.read_bytes()), tmp_path / "bad.parquet"
    footer = int.from_bytes(whole[-8:-4], "little") + 8

    def outcome(alone: bool) -> np.ndarray | None:
        with monkeypatch.context() as patch:
            if alone:
                arrow_alone(patch)
            try:
                return read(bad)
            except (RitzError, OSError):
                return None

    rng = np.random.default_rng(1)
    for place in rng.choice(np.arange(4, len(whole) - footer), 100, replace=False):
        broken = bytearray(whole)
        broken[place] ^= int(rng.integers(1, 256))
        bad.write_bytes(broken)
        mine, theirs = outcome(False), outcome(True)
        assert (mine is None) == (theirs is None), place
        assert mine is None or np.array_equal(mine, theirs, equal_nan=True), place


def test_a_wrong_checksum_is_an_error(tmp_path):
    rows = np.random.default_rng(0).standard_normal((3000, 5))
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"e": lists(rows, "list")}), path, compression="none", use_dictionary=False, write_page_checksum=True,
        data_page_size=1000, write_batch_size=16, row_group_size=1500,
    )  # fmt: skip
    data = bytearray(path.read_bytes())
    at = data.find(rows[2900].tobytes())  # in a page that nobody looks at before
    data[at + 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(RitzError, match="undamaged"):
        read(path)


def test_blocks_that_somebody_holds_are_not_used_again(tmp_path):
    rows = np.random.default_rng(0).standard_normal((5000, 6))
    pq.write_table(pa.table({"e": lists(rows, "list")}), tmp_path / "a.parquet")
    source = ParquetSource([tmp_path / "a.parquet"])
    held = list(source.batches(source.spans[0], None, 100))
    assert np.array_equal(np.concatenate(held), rows)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_number_that_is_missing_from_a_dictionary_page_is_not_made_up(tmp_path, version):
    # Indices come in groups of eight: the last one, which is not there, reads as the first word of the dictionary.
    rows = np.tile(np.arange(1.0, 9.0), (400, 1))
    made = [[*row[:7], None if i == 399 else row[7]] for i, row in enumerate(rows)]
    pq.write_table(
        pa.table({"e": pa.array(made, pa.list_(pa.float64()))}), tmp_path / "a.parquet", data_page_version=version,
        row_group_size=200,
    )  # fmt: skip
    rows[399, 7] = np.nan
    assert np.array_equal(read(tmp_path / "a.parquet"), rows, equal_nan=True)


def test_a_pass_that_writes_over_its_rows_is_made_again_from_the_file(tmp_path):
    # The first rows tell nothing of the mean, so that a second pass is due; memory of the first must not be read again.
    rng = np.random.default_rng(8)
    rows = (rng.standard_normal((9000, 130)) / np.sqrt(1 + np.arange(130))).astype(np.float32)
    rows[300:] += 300
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"v": lists(rows, "fixed")}), path, row_group_size=9000)
    statistics = Statistics(StreamBlocks(ParquetSource([path])), precision=np.float32)
    found = statistics.moments
    assert statistics.passes == 2
    Z = rows.astype(np.float64) - rows.astype(np.float64).mean(axis=0)
    exact = Z.T @ Z
    assert np.max(np.abs(found.scatter - exact)) <= 1e-7 * np.trace(exact)
    assert np.max(np.abs(found.mean - rows.astype(np.float64).mean(axis=0))) <= 1e-4
    assert np.array_equal(read(path), rows)


def test_rows_that_somebody_else_reads_are_not_written_over():
    rows = np.random.default_rng(9).standard_normal((3000, 60)).astype(np.float32)
    before = rows.copy()
    for free in (False, True):
        sums = DensePass(np.full(60, 0.5), 1.0, None, rows.dtype, products=True, rows=3000)
        sums.feed(Block(rows, 0, free))
        assert np.array_equal(rows, before) is not free
    Z = before.astype(np.float64) - 0.5
    assert np.allclose(sums.finish(), Z.T @ Z, rtol=0, atol=1e-2)
