"""Parquet within a memory limit: every way of reading gives the numbers of the file, and keeps to its room."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz._core.errors import FileError
from ritz.data.engines.stream.blocks import StreamBlocks
from ritz.data.formats.parquet import ParquetSource
from ritz.data.formats.parquet_rows import Chunk, chosen_way

MB = 1e6


def scalars(path: Path, n: int, d: int, group: int, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(d)}), path, row_group_size=group)
    return X


def everything(source, columns=None, rows=1000) -> np.ndarray:
    parts = [batch for span in source.spans for batch in source.batches(span, columns, rows)]
    assert all(len(part) <= rows and part.flags.c_contiguous for part in parts)
    whole = np.concatenate(parts)
    laid = [batch for span in source.spans for batch in source.column_batches(span, columns, rows)]
    assert all(len(part) <= rows for part in laid)
    assert np.array_equal(np.concatenate(laid), whole, equal_nan=True)
    return whole


@pytest.mark.parametrize("room", [0.0, 4e5, 1e6, 3e6, 1e9])
@pytest.mark.parametrize("group", [700, 5000, 20_000])
def test_every_way_gives_the_numbers_of_the_file(tmp_path, room, group):
    X = scalars(tmp_path / "t.parquet", 20_000, 37, group)
    source = ParquetSource([tmp_path / "t.parquet"]).within(room)
    assert np.array_equal(everything(source), X)
    some = [36, 0, 5, 5, 20]
    assert np.array_equal(everything(source, some, 333), X[:, some])


@pytest.mark.parametrize("room", [0.0, 1e9])
def test_missing_values_types_and_keys_whatever_the_way(tmp_path, room, monkeypatch):
    monkeypatch.setattr("ritz.data.formats.parquet_rows.OPEN_COLUMNS", 0)
    n = 50_000
    rng = np.random.default_rng(1)
    columns = {
        "a": pa.array(rng.standard_normal(n), mask=rng.random(n) < 0.1),
        "b": pa.array(rng.integers(0, 9, n)),
        "c": pa.array(rng.random(n) < 0.5),
        "d": pa.array(rng.integers(0, 9, n).astype(np.int8)).dictionary_encode(),
        "e": pa.array(rng.standard_normal(n).astype(np.float16)),
    }
    columns |= {f"f{j}": pa.array(rng.standard_normal(n)) for j in range(20)}
    (tmp_path / "k=7").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "k=7/t.parquet")
    source = ParquetSource([tmp_path / "k=7/t.parquet"], tmp_path).within(room)
    assert source._way(None, 1000).name == ("whole" if room else "spill")
    truth = np.column_stack(
        [np.array(values.to_pylist(), dtype=float) for values in columns.values()] + [np.full(n, 7.0)]
    )
    assert np.array_equal(everything(source), truth, equal_nan=True)


def test_the_way_follows_the_room():
    chunk = Chunk(stored=3e5, plain=3e5, dictionary=2e5, decoded=2e5)

    def way(room: float, columns: int = 768) -> str:
        return chosen_way(chunk, columns, 154 * MB, 4 * MB, lists=0.0, room=room, two=True).name

    assert [way(room * MB) for room in (1000, 200, 20)] == ["whole", "spill", "spill"]
    assert way(60 * MB, 10) == "pages"
    lists = chosen_way(chunk, 1, 154 * MB, 4 * MB, lists=4 * MB, room=1e9, two=True)
    assert lists.name == "pages"


def test_lanes_and_batches_shrink_until_reading_fits(tmp_path):
    scalars(tmp_path / "t.parquet", 400_000, 20, 100_000)  # 8 MB a row group
    source = ParquetSource([tmp_path / "t.parquet"])
    told = [StreamBlocks(source, budget=limit * MB).reading for limit in (40, 60, 100, 400)]
    assert all(a <= b * MB for a, b in zip(told, (40, 60, 100, 400), strict=True)), told
    assert StreamBlocks(source, budget=40 * MB).lanes <= StreamBlocks(source, budget=400 * MB).lanes
    assert StreamBlocks(source, budget=400 * MB).source._way(None, 1000).name == "whole"


def test_no_room_for_the_temporary_file_is_said(tmp_path, monkeypatch):
    scalars(tmp_path / "t.parquet", 20_000, 200, 20_000)
    source = ParquetSource([tmp_path / "t.parquet"]).within(0.0)
    assert source._way(None, 1000).name == "spill"
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: open("/dev/full", "r+b", buffering=0))  # noqa: SIM115
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with pytest.raises(FileError, match="expected room for 16 MB in"):
        everything(source)


READ = """
import sys
import numpy, scipy.linalg, pyarrow.parquet, ritz
from ritz.data.formats.parquet import ParquetSource
from ritz.data.engines.stream.blocks import StreamBlocks
from pathlib import Path
def status(key):
    return int(open("/proc/self/status").read().split(key)[1].split()[0]) * 1024
class Sums:
    def __init__(self): self.total = 0.0
    def merge(self, other): self.total += other.total
    def state(self): return {"total": self.total}
def add(sums, block): sums.total += float(block.values.sum(dtype=numpy.float64))
before = status("VmRSS:")
blocks = StreamBlocks(ParquetSource([Path(sys.argv[1])]), budget=float(sys.argv[2]) * 1e6)
total = blocks.map_reduce(Sums, add).total
print(status("VmHWM:") - before, blocks.reading, total)
"""


@pytest.fixture(scope="module", params=["wide", "lists"])
def large(request, tmp_path_factory):
    """A file, the limits to read it under, the sum of its numbers and of their sizes."""
    path = tmp_path_factory.mktemp("large") / "t.parquet"
    if request.param == "wide":
        X = scalars(path, 20_000, 2000, 20_000)  # 160 MB in one row group
    else:
        X = np.random.default_rng(0).standard_normal((120_000, 256), dtype=np.float32)  # 123 MB in one row group
        pq.write_table(pa.table({"emb": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 256)}), path)
    limits = (150, 300) if request.param == "wide" else (90, 150)
    return path, limits, X.sum(dtype=np.float64), np.abs(X).sum(dtype=np.float64)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure resident memory")
@pytest.mark.parametrize("which", [0, 1])
def test_what_reading_takes_stays_within_what_it_tells(large, which):
    path, limits, expected, size = large
    limit = limits[which]
    done = subprocess.run([sys.executable, "-c", READ, path, str(limit)], capture_output=True, text=True, check=True)
    added, told, total = map(float, done.stdout.split())
    assert 10 * MB < added <= told <= limit * MB, f"{added / MB:.0f} MB, told {told / MB:.0f} MB"
    assert abs(total - expected) <= 1e-9 * size


def test_a_fit_over_the_temporary_file_equals_one_in_memory(tmp_path):
    X = scalars(tmp_path / "t.parquet", 60_000, 150, 60_000)
    table = ritz.read(tmp_path / "t.parquet", memory="60MB")
    assert table.lazy
    model, truth = ritz.PCA(5, memory="60MB").fit(table), ritz.PCA(5).fit(X)
    gap = np.abs(model.explained_variance_ - truth.explained_variance_).max()
    assert gap <= 1e-6 * truth.explained_variance_[0]  # float32 in, float32 out
