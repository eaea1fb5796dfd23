"""Archives of NumPy (``.npz``): a sparse matrix of SciPy, or one two-dimensional array.

    format, shape, data, indices, indptr  →  CSR (n, d)
    one array of two dimensions           →  ndarray (n, d)

An archive is unpacked as a whole, so it must fit the memory limit; what the headers of its arrays promise is weighed
before one of them is made. Nothing is unpickled.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import FileError, MemoryLimitError
from ritz.data.sources.declared import MOST_PACKED, require_columns, require_rows, room, too_large
from ritz.data.sources.files import damaged, require_shape
from ritz.data.sources.npy import HEADER_ERRORS, array_header, require_numbers
from ritz.data.words import cut

__all__ = ["is_npz", "read_npz"]

ERRORS = (*HEADER_ERRORS, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OverflowError)
#: Bytes for one entry of a sparse matrix while it is brought to CSR: value and two indices, twice.
ENTRY_BYTES = 40


def is_npz(path: Path) -> bool:
    """Whether a zip archive holds arrays and nothing else."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return path.suffix == ".npz"
    return bool(names) and all(name.endswith(".npy") for name in names)


def read_npz(path: Path) -> Any:
    """The matrix in an archive: CSR, or an array, where the memory limit holds it."""
    try:
        with zipfile.ZipFile(path) as archive:
            headers = {name.removesuffix(".npy"): _weighed(archive, name, path) for name in archive.namelist()}
            sparse = "format" in headers and "shape" in headers
            size = sum(math.prod(shape) * dtype.itemsize for shape, dtype in headers.values())
            only = None if sparse else _only_matrix(headers, path)
            if only is not None:
                shape, dtype = headers[only]
                size = math.prod(shape) * dtype.itemsize
                require_columns(shape[1], path)
            if size > room():
                raise too_large(size, path, f"an archive of {size / 1e6:,.0f} MB, which is unpacked as a whole")
        if only is None:
            values = _load_sparse(path, headers)
        else:
            with np.load(path, allow_pickle=False) as arrays:
                values = arrays[only]
    except (FileError, MemoryLimitError):
        raise
    except ERRORS as error:
        raise damaged(path, ".npz archive", error) from error
    require_shape(values.shape[0], values.shape[1], path)
    return values


def _weighed(archive: zipfile.ZipFile, name: str, path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of one array; its header must not promise more than the archive holds of it."""
    entry = archive.getinfo(name)
    with archive.open(entry) as file:
        shape, _, dtype = array_header(file)
    if dtype.hasobject:
        raise FileError(
            f"expected numbers in {path}",
            received=f"{name}: Python objects, which Ritz never unpickles",
            hint="save numbers and texts without objects: numpy.savez(path, X=X.astype(float))",
        )
    declared = math.prod(shape) * dtype.itemsize
    # What deflate makes of one byte at most; other packings of zip do better, and are told by their method.
    most = entry.compress_size * (1.0 if entry.compress_type == zipfile.ZIP_STORED else MOST_PACKED)
    if min(shape, default=0) < 0 or declared > min(entry.file_size, most):
        held = f"{entry.file_size:,} bytes, packed in {entry.compress_size:,}"
        raise damaged(path, ".npz archive", f"{name}: {declared:,} bytes declared, {held}")
    return shape, dtype


def _load_sparse(path: Path, headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> Any:
    import scipy.sparse

    with np.load(path, allow_pickle=False) as arrays:
        shape = tuple(int(v) for v in np.asarray(arrays["shape"]).ravel()[:3])
    stored = math.prod(headers.get("data", ((0,), None))[0])
    if len(shape) != 2 or min(shape) < 0:
        raise damaged(path, ".npz archive", f"a sparse matrix of shape {shape}")
    require_columns(shape[1], path)
    # Row ends of CSR, and those of columns where they come first.
    require_rows(shape[0] + ENTRY_BYTES * stored // 16, path, 16.0)
    values = scipy.sparse.load_npz(path)
    require_numbers(values.shape, values.dtype, path)
    if values.format == "dia":
        require_rows(values.nnz, path, ENTRY_BYTES)  # one number may stand for a diagonal of any length
    csr = values.tocsr()
    csr.check_format(full_check=True)  # indices outside the matrix would make compiled code read foreign memory
    csr.sum_duplicates()
    return csr


def _only_matrix(headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]], path: Path) -> str:
    """The name of the one array that has rows and columns of numbers."""
    matrices = [name for name, (shape, dtype) in headers.items() if len(shape) == 2 and dtype.kind in "biuf"]
    if len(matrices) != 1:
        shapes = ", ".join(f"{name} {shape} {dtype}" for name, (shape, dtype) in headers.items())
        raise FileError(
            f"expected one array with rows and columns of numbers in {path}",
            received=cut(shapes, 400) or "an empty archive",
            hint="load it with numpy.load and give the array itself, or save that one with numpy.save",
        )
    return matrices[0]
