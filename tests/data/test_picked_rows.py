"""Some rows of a table that is read in pieces: those asked for, in one part, and no reading that is not needed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.memory import within
from ritz.data.formats import arrow, matrix, npy
from ritz.data.formats.load import load
from ritz.data.formats.parquet import ParquetSource
from ritz.data.tables.read import read
from ritz.data.tables.table import Table
from ritz.report.rows import FrameRows, TableRows

CELLS = Path(__file__).parent / "anndata" / "cells.h5ad"
N, D = 300, 5
NUMBERS = np.random.default_rng(0).standard_normal((N, D))
FRAME = pa.table(
    {f"x{j}": NUMBERS[:, j] for j in range(D)}
    | {
        "place": pa.array(np.array(["Bonn", "Köln", None])[np.arange(N) % 3]).dictionary_encode(),
        "emb": pa.FixedSizeListArray.from_arrays(pa.array(NUMBERS[:, :3].ravel()), 3),
        "long": pa.array([[float(i), 2.0 * i] for i in range(N)]),
        "gap": pa.array([None if i % 7 == 0 else i for i in range(N)]),
    }
)


def csv(path):
    import pyarrow.csv

    pyarrow.csv.write_csv(FRAME.drop_columns(["emb", "long", "place"]), path)


def cells(path):
    pytest.importorskip("h5py")
    shutil.copy(CELLS, path)


WRITE = {
    "rows.npy": lambda path: np.save(path, NUMBERS),
    "narrow.npy": lambda path: np.save(path, NUMBERS.astype(">f4")),
    "columns.npy": lambda path: np.save(path, np.asfortranarray(NUMBERS)),
    "sparse.npz": lambda path: sp.save_npz(path, sp.csr_array(np.where(NUMBERS > 1, NUMBERS, 0))),
    "cells.h5ad": cells,
    "table.parquet": lambda path: pq.write_table(FRAME, path, row_group_size=40),
    "table.feather": lambda path: pa.feather.write_feather(FRAME, path, chunksize=30),
    "table.csv": csv,
}
PLACES = [[], [0], [3], slice(-1, None), [0, 1, 2, 17, 18], slice(None), slice(None, None, 7)]


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("name", WRITE)
def test_rows_by_their_numbers_are_those_of_the_table(tmp_path, name, places, monkeypatch):
    import pyarrow.feather  # noqa: F401  (pa.feather)

    monkeypatch.setattr(matrix, "PICKED_ROWS", 16)
    monkeypatch.setattr(arrow, "PICKED_ROWS", 16)
    monkeypatch.setattr(arrow, "MANY", 3)
    monkeypatch.setattr(npy, "SPAN_BYTES", 1)
    WRITE[name](tmp_path / name)
    table = read(tmp_path / name, memory=1_000)
    assert table.lazy
    whole = pa.concat_tables(list(table.batches())).unify_dictionaries()
    index = np.arange(len(whole))[places]
    for names in (None, table.names[::-1], table.names[1:2]):
        found = table.picked(index, names)
        wanted = whole.select(table.names if names is None else names).take(pa.array(index))
        assert found.schema.names == wanted.schema.names
        assert found.to_pylist() == wanted.to_pylist()
        assert all(column.num_chunks <= 1 for column in found.columns)


def test_an_array_file_is_read_where_rows_lie(tmp_path, monkeypatch):
    X = np.random.default_rng(1).standard_normal((20_000, 8))
    np.save(tmp_path / "x.npy", X)
    model, table = ritz.PCA(2).fit(X), read(tmp_path / "x.npy", memory=10_000)
    taken, fill = [], npy.NpySource._fill

    def seen(self, file, out, at):
        taken.append(out.size)
        fill(self, file, out, at)

    monkeypatch.setattr(npy.NpySource, "_fill", seen)
    index = np.array([3, 4_000, 19_999])
    some = TableRows(table, len(X), model).take(index)
    assert sum(taken) == 3 * 8
    np.testing.assert_array_equal(np.column_stack([some.labels(name) for name in table.names]), X[index])


def test_row_groups_without_any_of_the_rows_are_not_read(tmp_path, monkeypatch):
    pq.write_table(FRAME, tmp_path / "t.parquet", row_group_size=40)
    table, read_spans = read(tmp_path / "t.parquet", memory=1_000), []
    kind = type(table._data)
    batches = kind.record_batches
    monkeypatch.setattr(
        kind, "record_batches", lambda self, span, *more: read_spans.append(span.start) or batches(self, span, *more)
    )
    assert table.picked([45, 250], ["x1", "gap"]).to_pydict()["gap"] == [45, 250]
    assert all(any(start <= i < start + 160 for i in (45, 250)) for start in read_spans)
    assert len(read_spans) <= 2


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_the_report_of_a_long_table_shows_rows_in_one_part(tmp_path, suffix, monkeypatch):
    """A part for every batch that was read took a kilobyte a column and part: 1.6 GB of a table of 4.3 GB."""
    X = np.random.default_rng(2).standard_normal((30_000, 12)) * np.linspace(3, 1, 12)
    monkeypatch.setattr(npy, "SPAN_BYTES", 1)
    path = tmp_path / f"t.{suffix}"
    if suffix == "npy":
        np.save(path, X)
    else:
        pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(12)}), path, row_group_size=500)
    table = read(path, memory="2MB")
    assert table.lazy
    shown = []
    take = TableRows.take
    monkeypatch.setattr(TableRows, "take", lambda self, index: shown.append(take(self, index)) or shown[-1])
    ritz.report(ritz.PCA(3).fit(X), table, tmp_path / "report.html", points=2_000)
    assert shown
    for some in shown:
        assert all(column.num_chunks == 1 for column in some._data.table.columns)


def test_columns_of_parquet_are_opened_together_only_where_the_limit_holds_their_pages(tmp_path, monkeypatch):
    rows = np.random.default_rng(2).standard_normal((4_000, 60))
    pq.write_table(pa.table({f"x{j}": rows[:, j] for j in range(60)}), tmp_path / "wide.parquet")
    table, opened = read(tmp_path / "wide.parquet", memory=2_000_000), []
    through = ParquetSource.record_batches

    def counted(self, span, fields, rows):
        opened.append((len(fields), self.overhead(fields)))
        return through(self, span, fields, rows)

    monkeypatch.setattr(ParquetSource, "record_batches", counted)
    names = table.names[::-1]
    found = table.picked(np.array([3, 3_999]), names)
    assert found.schema.names == names
    assert np.array_equal(np.column_stack(found.columns), rows[[3, 3_999], ::-1])
    assert sum(columns for columns, _ in opened) == 60  # each is read once
    assert len(opened) > 1
    assert all(held <= 500_000 for _, held in opened)


@pytest.mark.parametrize("stated", ["table", "model", "both"])
def test_a_report_shows_as_many_rows_as_the_limit_holds(tmp_path, stated):
    rows = np.random.default_rng(3).standard_normal((20_000, 100))
    np.save(tmp_path / "rows.npy", rows)
    memories = {"table": ("60MB", None), "model": ("10MB", "100MB"), "both": ("62MB", "60MB")}[stated]
    table = read(tmp_path / "rows.npy", memory=memories[0])
    seen = TableRows(table, len(table), ritz.PCA(2, memory=memories[1]))
    assert table.lazy
    assert seen.most(100_000) == {"table": 2_250, "model": 750, "both": 2_250}[stated]
    assert seen.most(50) == 50
    here = read(pa.table({"x": rows[:, 0]}), memory="1GB")
    assert TableRows(here, len(here), ritz.PCA(1)).most(100_000) == 100_000


def test_a_report_takes_rows_of_a_table_once(tmp_path, monkeypatch):
    rows = np.random.default_rng(4).standard_normal((3_000, 6))
    rows[7] *= 9
    np.save(tmp_path / "rows.npy", rows)
    table = read(tmp_path / "rows.npy", memory="70kB")
    model = ritz.PCA(2).fit(table)
    taken, through = [], Table.picked

    def some(self, rows, names=None):
        taken.append(self.lazy and len(rows) < len(self))
        return through(self, rows, names)

    monkeypatch.setattr(Table, "picked", some)
    page = ritz.report.render(model, table, points=200)
    assert "because of" in page  # rows of the list are blamed on columns
    assert taken.count(True) == 1


def test_columns_of_parquet_are_loaded_in_turns_where_the_limit_holds_few_open_ones(tmp_path, monkeypatch):
    rows = np.random.default_rng(5).standard_normal((9_000, 60))
    frame = pa.table({f"x{j}": rows[:, j] for j in range(60)} | {"city": ["Bonn", "Köln", None] * 3_000})
    pq.write_table(frame, tmp_path / "wide.parquet", row_group_size=4_000)
    opened, through = [], ParquetSource.record_batches

    def counted(self, span, fields, rows):
        opened.append((len(fields), self.overhead(fields)))
        return through(self, span, fields, rows)

    table = read(tmp_path / "wide.parquet", memory="10MB")
    assert table.lazy
    monkeypatch.setattr(ParquetSource, "record_batches", counted)
    with within(20e6):
        loaded = load(table._data).table
    assert loaded.equals(frame)
    assert len(opened) > 1
    assert all(held <= 5e6 for _, held in opened)


def test_numbers_of_a_table_are_looked_at_as_arrays(monkeypatch):
    """As lists they took 3 GB of a table of 240 MB, and a report twenty times as long as its fit."""
    frame = pa.table(
        {
            "narrow": pa.array([1.5, None, 2.5], pa.float32()),
            "whole": pa.array([1, 2, 3], pa.int8()),
            "gaps": pa.array([1, None, 3]),
            "large": pa.array([1, 2, 2**63], pa.uint64()),
            "words": ["a", "b", "a"],
        }
    )
    table = read(frame, kinds={"words": "categorical"})
    found = dict(TableRows(table, 3, ritz.PCA(1)).columns(table))
    assert found["narrow"].dtype == np.float64
    assert np.array_equal(found["narrow"], [1.5, np.nan, 2.5], equal_nan=True)
    assert found["whole"].dtype == np.int64
    assert found["gaps"] == [1, None, 3]
    assert found["large"].dtype == np.float64
    assert found["words"] == ["a", "b", "a"]
    polars = pytest.importorskip("polars")
    for native in (frame.to_pandas(), polars.from_arrow(frame)):
        found = dict(FrameRows(native, 3, ritz.PCA(1)).columns(native))
        assert np.array_equal(found["narrow"], [1.5, np.nan, 2.5], equal_nan=True)
        assert found["whole"].dtype == np.int64
        assert list(found["words"]) == ["a", "b", "a"]


def test_of_very_many_columns_fewer_rows_are_shown(tmp_path):
    """2,000 rows of 20,000 columns took 0.3 GB, and several copies of that."""
    sp.save_npz(tmp_path / "wide.npz", sp.random_array((3_000, 9_000), density=0.001, format="csr"))
    table = read(tmp_path / "wide.npz", memory="1MB")
    for memory, rows in (("1MB", 100), ("500MB", 416), ("4GB", 2_000)):
        model = ritz.PCA(2, memory=memory)
        table._memory = None if memory != "1MB" else table._memory
        assert TableRows(table, 3_000, model).most(100_000) == rows
