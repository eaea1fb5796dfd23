"""Files that change while they are read are found out, by whatever they change."""

from __future__ import annotations

import os
import pickle
import time

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import ritz
from ritz._core.errors import DataChanged
from ritz.data.formats.stamp import Stamp, named_files, unchanged


def rows(n=40_000, d=20, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(3, 1, d)


def write_parquet(path, X):
    pq.write_table(pa.table({f"x{j}": column for j, column in enumerate(X.T)}), path, row_group_size=1000)


def later(path):
    """Another time of change, however coarse the clock."""
    now = time.time_ns()
    os.utime(path, ns=(now, now + 10_000_000_000))


@pytest.mark.parametrize("how", ["size", "content", "times set back", "replaced", "gone", "touched"])
def test_a_changed_file_is_found_out(tmp_path, how):
    file = tmp_path / "t.bin"
    file.write_bytes(bytes(1_000_000))
    stamp = Stamp([file])
    stamp.check()
    before = file.stat()
    if how == "size":
        file.write_bytes(bytes(1_000_001))
    elif how == "replaced":
        (tmp_path / "other").write_bytes(b"\x01" * 1_000_000)
        os.replace(tmp_path / "other", file)
    elif how == "gone":
        file.unlink()
    elif how == "touched":
        later(file)
    else:
        with file.open("r+b") as opened:
            opened.seek(777_777)  # in none of the pages that are looked at
            opened.write(b"\x01")
        if how == "times set back":
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DataChanged, match=r"(?s)t\.bin to stay as it is while it is read; received .*hint: no result"):
        pickle.loads(pickle.dumps(stamp)).check()


def test_the_list_of_files_of_a_folder_counts(tmp_path):
    for i in range(2):
        write_parquet(tmp_path / f"{i}.parquet", rows(2000, 3))
    table = ritz.read(tmp_path, memory=300_000)
    assert table.lazy
    table.check_unchanged()
    (tmp_path / ".hidden.parquet").write_bytes(b"")
    table.check_unchanged()
    write_parquet(tmp_path / "2.parquet", rows(2000, 3))
    with pytest.raises(DataChanged, match=r"a file that is new, 2\.parquet"):
        ritz.PCA(2).fit(table)


def test_an_error_that_a_change_has_caused_names_the_change(tmp_path):
    file = tmp_path / "t"
    file.write_bytes(b"abc")
    stamp = Stamp([file])
    with pytest.raises(ValueError, match="another reason"), unchanged(stamp):
        raise ValueError("another reason")
    file.write_bytes(b"ab")
    with pytest.raises(DataChanged), unchanged(stamp):
        raise ValueError("not a number")
    with unchanged(object()):
        pass


def half_times_ten(path, X):
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - X.nbytes // 2)
        file.write((10 * X[len(X) // 2 :]).tobytes())


@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_a_fit_of_rows_that_change_gives_nothing(tmp_path, solver):
    X = rows()
    np.save(tmp_path / "t.npy", X)
    table = ritz.read(tmp_path / "t.npy", memory="20MB")
    assert table.lazy
    source, seen = table.source_for()[0], [0]
    whole = type(source).read_rows

    def read_rows(self, span, count):
        for block in whole(self, span, count):
            seen[0] += 1
            if seen[0] == 3:
                half_times_ten(tmp_path / "t.npy", X)
            yield block

    model = ritz.PCA(2, solver=solver).fit(X[:100])
    type(source).read_rows = read_rows
    try:
        with pytest.raises(DataChanged):
            model.fit(table)
    finally:
        type(source).read_rows = whole
    assert not hasattr(model, "explained_variance_")
    with pytest.raises(DataChanged):
        table.select(table.names)


@pytest.mark.parametrize("make", [lambda X: X, np.asarray, lambda X: X[5:], lambda X: ritz.read(X)])
def test_a_mapped_array_whose_file_changes_gives_nothing(tmp_path, make):
    X = rows(2000, 5)
    np.save(tmp_path / "t.npy", X)
    mapped = np.load(tmp_path / "t.npy", mmap_mode="r")
    model = ritz.PCA(2, solver="krylov").fit(make(mapped))
    before = model.explained_variance_
    with pytest.raises(DataChanged):
        model.set_params(progress=lambda event: half_times_ten(tmp_path / "t.npy", X)).fit(make(mapped))
    assert model.explained_variance_ is before, "the model is as it was"


def test_a_private_map_is_fitted_as_it_is_in_memory(tmp_path):
    X = rows(30_000, 10)
    np.save(tmp_path / "t.npy", X)
    private = np.load(tmp_path / "t.npy", mmap_mode="c")
    private *= 2  # in memory only
    model = ritz.PCA(1, memory="4MB", solver="krylov", mergeable=False)
    try:
        value = model.fit(private).explained_variance_[0]
    except ritz.MemoryLimitError:
        value = ritz.PCA(1).fit(private).explained_variance_[0]
    assert np.isclose(value, np.linalg.eigvalsh(np.cov(2 * X.T))[-1])


def test_files_of_a_query_are_found_as_far_as_it_names_them(tmp_path):
    file = tmp_path / "a b.parquet"
    write_parquet(file, rows(100, 2))
    assert named_files(f"SELECT * FROM read_parquet('{file}') WHERE x = 'y'") == [file]
    assert named_files(f"Parquet SCAN [{file}]\nPROJECT */2 COLUMNS") == [file]
    assert named_files(f"SELECT * FROM '{tmp_path}/*.parquet'") == [file]
    assert named_files("SELECT 'no', [1, 2]") == []


def test_a_dataset_that_changes(tmp_path):
    for i in range(3):
        write_parquet(tmp_path / f"{i}.parquet", rows(2000, 4, seed=i))
    table = ritz.read(ds.dataset(tmp_path), memory=200_000)
    assert table.lazy
    ritz.PCA(2).fit(table)
    write_parquet(tmp_path / "1.parquet", 10 * rows(2000, 4, seed=1))
    with pytest.raises(DataChanged, match=r"1\.parquet"):
        ritz.PCA(2).fit(table)


def test_lazyframes_name_their_file(tmp_path):
    pl = pytest.importorskip("polars")
    write_parquet(tmp_path / "t.parquet", rows(2000, 4))
    table = ritz.read(pl.scan_parquet(tmp_path / "t.parquet"), memory=50_000)
    assert table.lazy
    ritz.PCA(2).fit(table)
    write_parquet(tmp_path / "t.parquet", 10 * rows(2000, 4))
    with pytest.raises(DataChanged, match=r"t\.parquet"):
        ritz.PCA(2).fit(table)
