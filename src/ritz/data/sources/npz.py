"""Archives of NumPy (``.npz``): a sparse matrix of SciPy, or one two-dimensional array.

    format, shape, data, indices, indptr  →  CSR (n, d)
    one array of two dimensions           →  ndarray (n, d)

An archive is unpacked as a whole, so it must fit the memory limit. Nothing is unpickled.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import FileError, MemoryLimitError
from ritz.data.sources.files import damaged, require_shape
from ritz.data.sources.npy import require_numbers
from ritz.data.stamp import Stamp, unchanged

__all__ = ["is_npz", "read_npz"]

ERRORS = (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, zlib.error)


def is_npz(path: Path) -> bool:
    """Whether a zip archive holds arrays and nothing else."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return path.suffix == ".npz"
    return bool(names) and all(name.endswith(".npy") for name in names)


def read_npz(path: Path, limit: float) -> Any:
    """The matrix in an archive: CSR, or an array; at most ``limit`` bytes of it."""
    with unchanged(Stamp([path])):
        values = _read(path, limit)
    require_shape(values.shape[0], values.shape[1], path)
    return values


def _read(path: Path, limit: float) -> Any:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > limit:
            raise MemoryLimitError(
                f"a memory limit that holds the archive {path}, which is unpacked as a whole",
                received=f"{limit / 1e6:,.0f} MB for {size / 1e6:,.0f} MB",
                hint=f"memory='{-(-size // 10**6)}MB', or save it as .npy or .h5ad, which are read in pieces",
            )
        with np.load(path, allow_pickle=False) as arrays:
            sparse = "format" in arrays.files and "shape" in arrays.files
            values: Any = None if sparse else _only_matrix(arrays, path)
        if sparse:
            values = _load_sparse(path)
    except (FileError, MemoryLimitError):
        raise
    except ERRORS as error:
        raise damaged(path, ".npz archive", error) from error
    return values


def _load_sparse(path: Path) -> Any:
    import scipy.sparse

    values = scipy.sparse.load_npz(path)
    require_numbers(values.shape, values.dtype, path)
    csr = values.tocsr()
    csr.check_format(full_check=True)  # indices outside the matrix would make compiled code read foreign memory
    csr.sum_duplicates()
    return csr


def _only_matrix(arrays: Any, path: Path) -> np.ndarray:
    found = {name: arrays[name] for name in arrays.files}
    matrices = [name for name, array in found.items() if array.ndim == 2 and array.dtype.kind in "biuf"]
    if len(matrices) != 1:
        shapes = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in found.items())
        raise FileError(
            f"expected one array with rows and columns of numbers in {path}",
            received=shapes or "an empty archive",
            hint="load it with numpy.load and give the array itself, or save that one with numpy.save",
        )
    return np.asarray(found[matrices[0]])
