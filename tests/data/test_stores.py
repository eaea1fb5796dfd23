"""Stores of groups and arrays: links inside them are followed, bands give the rows, declared sizes are weighed."""

from __future__ import annotations

import io
import itertools
import zipfile

import numpy as np
import pytest
import scipy.sparse

import ritz
from ritz._core.errors import FileError, MemoryLimitError
from ritz._core.memory import within
from ritz.data.formats.anndata import open_h5ad, open_zarr
from ritz.data.formats.bands import Bands, Layout
from ritz.data.formats.declared import require_columns, require_packed, stored_bytes

X = np.random.default_rng(0).integers(0, 9, (1000, 30)).astype(np.float64)


def rows(source, step, columns=None):
    blocks = [block for span in source.spans for block in source.batches(span, columns, step)]
    assert all(block.shape[0] <= step for block in blocks)
    return np.concatenate([block.toarray() if source.sparse else block for block in blocks])


def test_links_inside_a_file_are_followed(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file.create_group("obs")
        file["held/numbers"] = X
        file["way"] = h5py.SoftLink("/held")
        file["X"] = h5py.SoftLink("way/numbers")
    np.testing.assert_array_equal(rows(open_h5ad(tmp_path / "x.h5ad"), 100), X)
    with h5py.File(tmp_path / "circle.h5ad", "w") as file:
        file.create_group("obs")
        file["X"] = h5py.SoftLink("/Y")
        file["Y"] = h5py.SoftLink("/X")
    with pytest.raises(FileError, match="links in a circle"):
        ritz.read(tmp_path / "circle.h5ad")


@pytest.mark.parametrize("chunks", [None, (1, 30), (64, 7), (1000, 30), (2000, 40)])
def test_bands_give_the_rows_whatever_the_room(tmp_path, chunks):
    zarr, h5py = pytest.importorskip("zarr"), pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file.create_group("obs")
        file.create_dataset("X", data=X, chunks=chunks, maxshape=(None, None) if chunks else None)
    array = zarr.create_array(str(tmp_path / "x.zarr"), shape=X.shape, chunks=chunks or (1, 30), dtype="f8")
    array[:] = X
    sources = (open_h5ad(tmp_path / "x.h5ad"), open_zarr(tmp_path / "x.zarr"))
    for source, room in itertools.product(sources, [0.0, 1e5, 1e9]):
        some = source.within(room)
        np.testing.assert_array_equal(rows(some, 90), X)
        np.testing.assert_array_equal(rows(some, 90, [5, 29, 5]), X[:, [5, 29, 5]])


def test_what_bands_take_follows_the_room():
    layout = Layout(d=400, itemsize=8, stored=8, rows=50_000, columns=100)  # chunks of 40 MB, bands of 160 MB
    large, small = Bands(layout, 1e9), Bands(layout, 200e6)
    assert large.held(2000, 400) > 2 * 160e6
    assert small.held(2000, 400) < 250e6
    assert small.width == 100


@pytest.mark.parametrize("index", ["i4", "i8", "u2"])
def test_csr_batches_are_cut_by_their_entries(tmp_path, index):
    h5py = pytest.importorskip("h5py")
    Z = X.copy()
    Z[np.arange(1000) % 100 > 0, 3:] = 0  # one row in a hundred is long
    csr = scipy.sparse.csr_matrix(Z)
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", Z.shape
        group["data"], group["indices"], group["indptr"] = csr.data, csr.indices.astype(index), csr.indptr
        file.create_group("obs")
    source = open_h5ad(tmp_path / "x.h5ad")
    np.testing.assert_array_equal(rows(source, 7), Z)
    most = max(block.nnz for span in source.spans for block in source.batches(span, None, 2))
    assert most <= source._entries(2) == np.diff(csr.indptr).max()


@pytest.mark.parametrize("damage", ["falls", "long", "short", "negative"])
def test_row_ends_that_do_not_rise_are_refused(tmp_path, damage):
    h5py = pytest.importorskip("h5py")
    ends = {"falls": [0, 3, 2], "long": [0, 1, 9], "short": [0, 3], "negative": [-1, 1, 3]}[damage]
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (2, 4)
        group["data"], group["indices"], group["indptr"] = [1.0, 2.0, 3.0], [0, 1, 2], ends
        file.create_group("obs")
    with pytest.raises(FileError, match=r"(?s)an undamaged .*hint"):
        ritz.read(tmp_path / "x.h5ad")


def test_sizes_are_weighed_against_the_limit_and_the_file(tmp_path):
    with (
        within(1e8),
        pytest.raises(
            MemoryLimitError,
            match=r"(?s)at here that fits into a memory limit of 100 MB.*1,000,000,000 columns.*memory=",
        ),
    ):
        require_columns(10**9, "here")
    require_columns(1000, "here")
    (tmp_path / "f").write_bytes(bytes(1000))
    require_packed(1e8, tmp_path / "f", "X")
    with pytest.raises(FileError, match=r"(?s)1,000 MB declared in a file of 0.001 MB.*hint"):
        require_packed(1e9, tmp_path / "f", "X")
    assert stored_bytes(tmp_path, 1e9) == 1000


# --- archives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f4", "|i1"])
def test_archives_give_their_rows_in_pieces_too(tmp_path, save, order, dtype):
    Y = np.asarray(X, dtype=dtype, order=order)
    save(tmp_path / "x.npz", one=Y, other=np.arange(3))
    table = ritz.read(tmp_path / "x.npz", memory=1000)
    assert table.lazy
    source, columns = table.source_for()
    np.testing.assert_array_equal(rows(source, 300, columns), Y.astype(source.dtype))
    assert not ritz.read(tmp_path / "x.npz").lazy


def test_sparse_archives_are_unpacked_when_they_are_used(tmp_path):
    for kind in ("csr", "csc", "coo"):
        scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.coo_matrix(X).asformat(kind))
        table = ritz.read(tmp_path / "x.npz", memory=1000)
        assert table.lazy
        np.testing.assert_array_equal(rows(table.source_for()[0], 300), X)
        with pytest.raises(MemoryLimitError, match="the fit must stay within"):
            ritz.PCA(2, memory="1MB").fit(table)


def test_an_archive_that_promises_more_than_it_holds_is_refused(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10)})
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "x.npz", "w", packing) as file:
            file.writestr("X.npy", header.getvalue() + bytes(800))
        with pytest.raises(FileError, match=r"(?s)80,000,000 bytes declared.*hint"):
            ritz.read(tmp_path / "x.npz")
    np.savez(tmp_path / "o.npz", X=np.array([[1, "a"]], dtype=object))
    with pytest.raises(FileError, match="Python objects, which Ritz never unpickles"):
        ritz.read(tmp_path / "o.npz")
