"""A Table is loaded by the fit whose limit holds it, and by no other; pages of Parquet are checked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz._core.errors import FileError, MemoryLimitError
from ritz.data.passes.blocks import are_blocks
from ritz.data.tables.frames import copied_bytes
from ritz.data.validate import validate_rows

X = np.random.default_rng(0).standard_normal((60_000, 30))  # 14.4 MB


@pytest.fixture(params=["npy", "npz", "parquet", "csv", "arrow"])
def path(request, tmp_path):
    path = tmp_path / f"t.{request.param}"
    table = pa.table({f"x{j}": X[:, j] for j in range(30)})
    if request.param == "npy":
        np.save(path, X)
    elif request.param == "npz":
        np.savez(path, X=X)
    elif request.param == "parquet":
        pq.write_table(table, path)
    elif request.param == "csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=5_000)
    return path


def test_the_limit_of_the_fit_governs(path):
    table = ritz.read(path)
    assert table.lazy
    small = ritz.PCA(2, memory="50MB").fit(table)
    assert table.lazy  # a quarter of 50 MB does not hold it
    large = ritz.PCA(2, memory="400MB").fit(table)
    assert not table.lazy
    truth = ritz.PCA(2).fit(X)
    for model in (small, large):
        gap = np.abs(model.explained_variance_ - truth.explained_variance_).max()
        assert gap <= 1e-12 * truth.explained_variance_[0]
    stated = ritz.read(path, memory="50MB")
    ritz.PCA(2, memory="400MB").fit(stated)
    assert stated.lazy  # who states a limit means it


def test_columns_of_a_frame_are_used_where_they_lie():
    frame = pd.DataFrame({f"x{j}": X[:, j % 30].astype("f4" if j % 2 else "f8") for j in range(60)})
    assert copied_bytes(frame) == 2 * X.nbytes
    assert copied_bytes(pd.DataFrame(X)) == 0
    rows = validate_rows(ritz.PCA(2, memory="50MB"), frame, reset=True)
    assert are_blocks(rows)
    assert not are_blocks(validate_rows(ritz.PCA(2), frame, reset=True))
    small, whole = ritz.PCA(2, memory="50MB").fit(frame), ritz.PCA(2).fit(frame)
    np.testing.assert_allclose(small.explained_variance_, whole.explained_variance_, rtol=1e-12)
    assert list(small.feature_names_in_) == list(frame.columns)
    with pytest.raises(ritz.InputError, match=r"(?s)must hold numbers.*'word'"):
        ritz.PCA(2, memory="50MB").fit(frame.assign(word="a"))


def test_categories_of_a_frame_are_encoded_in_parts():
    rng = np.random.default_rng(1)
    levels = np.array(["a", "b", "c"], dtype=object)
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "c": levels[rng.integers(0, 3, len(X))]})
    frame["d"] = pd.Categorical(levels[rng.integers(0, 3, len(X))], categories=["c", "b", "a"])
    small, whole = ritz.FAMD(2, memory="40MB"), ritz.FAMD(2)
    np.testing.assert_allclose(small.fit(frame).eigenvalues_, whole.fit(frame).eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(small.row_coordinates_, whole.row_coordinates_, atol=1e-8)
    assert list(small.column_coordinates_.index) == list(whole.column_coordinates_.index)


def test_the_error_counts_what_was_loaded(tmp_path):
    np.save(tmp_path / "t.npy", X[:, :20][:10_000].repeat(30, axis=1))  # 48 MB, 600 columns
    table = ritz.read(tmp_path / "t.npy", memory="400MB")
    with pytest.raises(MemoryLimitError, match=r"memory=49 MB; received at least (\d+)"):
        ritz.PCA(2, memory="49MB").fit(table)


def test_checksums_of_pages_are_verified(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table({"a": X[:, 0], "b": X[:, 1]}), path, compression="none", use_dictionary=False,
        write_page_checksum=True,
    )  # fmt: skip
    data = bytearray(path.read_bytes())
    at = data.find(X[1000:1001, 0].tobytes())
    assert at > 0
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"(?s)an undamaged Parquet file.*(crc|CRC|checksum)"):
        ritz.PCA(1).fit(ritz.read(path))
