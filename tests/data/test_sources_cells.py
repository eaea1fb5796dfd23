"""AnnData stores and zarr arrays give the rows that were written; a missing library is named."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from ritz._core.errors import ColumnsSetAside, FileError, ParameterError
from ritz.data.tables.read import read

CELLS = Path(__file__).parent / "anndata" / "cells.h5ad"  # written by anndata 0.12: CSR X, dense and CSC layers
I, J = np.indices((23, 4))
X = ((7 * I + 3 * J) % 5).astype(np.float32)


def rows(source, columns=None, step=5):
    blocks = [block for span in source.spans for block in source.batches(span, columns, step)]
    assert all(block.shape[0] <= step for block in blocks)
    return scipy.sparse.vstack(blocks).toarray() if source.sparse else np.concatenate(blocks)


@pytest.mark.parametrize("memory", [100, None])
def test_h5ad_as_anndata_wrote_it(memory):
    pytest.importorskip("h5py")
    table = read(CELLS, memory=memory)
    assert table.lazy == (memory == 100)
    genes = [f"gene{j}" for j in range(4)]
    assert table.names == ["obs_names", *genes]
    assert table.kinds["obs_names"] == "identifier"
    assert table.labels("obs_names") == [f"cell{i}" for i in range(23)]
    source, columns = table.source_for(genes)
    assert source.sparse
    assert source.dtype == np.float32
    assert source.stored == np.count_nonzero(X)
    np.testing.assert_array_equal(rows(source, columns), X)
    np.testing.assert_array_equal(rows(source, [2, 0]), X[:, [2, 0]])
    with pytest.warns(ColumnsSetAside, match="names of the rows"):
        names = table.numeric_names()
    assert names == genes
    parts = list(table.batches(["gene1", "obs_names"], 10))
    assert [len(part) for part in parts] == [10, 10, 3]
    np.testing.assert_array_equal(np.concatenate([part["gene1"].to_numpy() for part in parts]), X[:, 1])


def test_layers():
    pytest.importorskip("h5py")
    source, _ = read(CELLS, layer="half", memory=100).source_for()
    assert not source.sparse
    np.testing.assert_array_equal(rows(source), X / 2)
    with pytest.raises(FileError, match=r"(?s)a layer 'hafl' in .*received layers 'half', 'turned'.*hint"):
        read(CELLS, layer="hafl")
    with pytest.raises(FileError, match=r"(?s)rows-first \(CSR\) or dense .*received csc_matrix\nhint: .*tocsr"):
        read(CELLS, layer="turned")
    with pytest.raises(ParameterError, match="layer is for AnnData stores only"):
        read(np.ones((2, 2)), layer="half")


def test_damaged_h5ad(tmp_path):
    pytest.importorskip("h5py")
    data = CELLS.read_bytes()
    (tmp_path / "x.h5ad").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match=r"(?s)an undamaged .h5ad file at .*hint"):
        read(tmp_path / "x.h5ad")


def test_other_hdf5_files_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = np.ones((2, 2))
    with pytest.raises(FileError, match=r"(?s)an AnnData store.*received a group that holds numbers.*hint"):
        read(tmp_path / "x.h5")


def test_zarr_arrays_and_stores(tmp_path):
    zarr = pytest.importorskip("zarr")
    Y = np.random.default_rng(0).normal(size=(50, 6))
    array = zarr.create_array(str(tmp_path / "y.zarr"), shape=Y.shape, chunks=(8, 4), dtype="f8")
    array[:] = Y
    for memory in (100, None):
        table = read(tmp_path / "y.zarr", memory=memory)
        np.testing.assert_array_equal(rows(table.source_for()[0]), Y)
    group = zarr.open_group(str(tmp_path / "cells.zarr"), mode="w")
    group.create_group("obs")
    group["X"] = X
    np.testing.assert_array_equal(rows(read(tmp_path / "cells.zarr", memory=100).source_for()[0]), X)


@pytest.mark.parametrize("package", ["h5py", "zarr"])
def test_a_missing_library_is_named(tmp_path, monkeypatch, package):
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr" / "zarr.json").write_text("{}")
    path = CELLS if package == "h5py" else tmp_path / "x.zarr"

    def absent(name, *rest):
        if name.split(".")[0] == package:
            raise ImportError(f"No module named {package!r}")
        return real(name, *rest)

    real = importlib.import_module
    monkeypatch.setattr("ritz.data.formats.store.import_module", absent)
    with pytest.raises(FileError, match=rf"(?s)the package {package}.*\nhint: pip install {package}"):
        read(path)
