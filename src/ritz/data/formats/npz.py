"""Archives of NumPy (``.npz``): a sparse matrix of SciPy, or one two-dimensional array.

    format, shape, data, indices, indptr  →  CSR (n, d)
    one array of two dimensions           →  ndarray (n, d)

An array that was stored without packing is read in pieces, as an array file is. Anything else is unpacked as a whole
when its rows are first asked for, so it must fit the memory limit; what the headers of arrays promise is weighed before
one of them is made. Nothing is unpickled.
"""

from __future__ import annotations

import math
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import FileError, MemoryLimitError
from ritz.data.formats.declared import MOST_PACKED, require_columns, require_rows, room, too_large
from ritz.data.formats.files import damaged, file_identity, require_shape
from ritz.data.formats.matrix import MatrixSource, even_spans, matrix_names
from ritz.data.formats.npy import HEADER_ERRORS, NpySource, array_header, require_numbers
from ritz.data.formats.source import HELD_BATCHES, Span
from ritz.data.formats.stamp import Stamp, unchanged
from ritz.data.words import cut

__all__ = ["PackedMatrix", "is_npz", "open_npz"]

ERRORS = (*HEADER_ERRORS, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OverflowError)
Header = tuple[tuple[int, ...], np.dtype[Any], bool]  # shape, dtype, whether columns are consecutive
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


def open_npz(path: Path, name: str | int | None = None) -> MatrixSource:
    """The matrix, or that of this name, in an archive: read in pieces where it lies as it is, else unpacked for use."""
    try:
        with zipfile.ZipFile(path) as archive:
            headers = {name.removesuffix(".npy"): _weighed(archive, name, path) for name in archive.namelist()}
            if name is None and "format" in headers and "shape" in headers:
                return PackedMatrix(path, None, _sparse_shape(path), headers["data"])
            only = _only_matrix(headers, path, name)
            shape, dtype, _ = headers[only]
            require_numbers(shape, dtype, path)
            require_shape(shape[0], shape[1], path)
            require_columns(shape[1], path)
            plain = _plain(archive, f"{only}.npy", path)
        return PackedMatrix(path, only, (shape[0], shape[1]), headers[only]) if plain is None else plain
    except (FileError, MemoryLimitError):
        raise
    except ERRORS as error:
        raise damaged(path, ".npz archive", error) from error


class PackedMatrix(MatrixSource):
    """A matrix that must be unpacked as a whole; that is done when its rows are first asked for."""

    decodes = True

    def __init__(self, path: Path, name: str | None, shape: tuple[int, int], header: Header) -> None:
        n, d = shape
        dtype = header[1]
        require_numbers(shape, dtype, path)
        require_shape(n, d, path)
        self.path, self.shape, self._name, self.stamp = path, shape, name, Stamp([path])
        native = dtype.newbyteorder("=") if dtype.itemsize <= 8 else np.dtype(np.float64)
        self.stored = math.prod(header[0]) if name is None else n * d
        super().__init__(matrix_names(d), native, even_spans(n, d * native.itemsize), [path])
        self.sparse = name is None
        self._lock = threading.Lock()
        self._held: Any = None

    @property
    def decoded(self) -> int:
        """How many bytes the rows take in memory, those that they take on their way there included."""
        size = self.stored * self.dtype.itemsize
        return size + 8 * (self.shape[0] + 1) + self.stored * ENTRY_BYTES if self.sparse else size

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane of reading takes: all lanes share the matrix."""
        width = len(self.names) if columns is None else len(columns)
        entries = self.stored / max(1, self.shape[0]) if self.sparse else width
        return self.decoded + HELD_BATCHES * rows * entries * (self.dtype.itemsize + (8 if self.sparse else 0))

    def read_rows(self, span: Span, rows: int) -> Iterator[Any]:
        """Views of the rows of a span."""
        with self._lock:
            if self._held is None:
                self._held = self._unpacked()
        for i in range(span.start, span.stop, rows):
            view = self._held[i : min(span.stop, i + rows)]
            yield view if self.sparse else np.ascontiguousarray(view, dtype=self.dtype)

    def _unpacked(self) -> Any:
        if self.decoded > room():
            what = f"an archive of {self.decoded / 1e6:,.0f} MB, which is unpacked as a whole"
            raise too_large(self.decoded, self.path, what)
        try:
            with unchanged(self):
                if self._name is None:
                    return _load_sparse(self.path)
                with np.load(self.path, allow_pickle=False) as arrays:
                    return arrays[self._name]
        except ERRORS as error:
            raise damaged(self.path, ".npz archive", error) from error

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None, "_held": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def fingerprint(self) -> str:
        """Changes with the file."""
        return file_identity(self.stamp, self.shape, self._name)


def _plain(archive: zipfile.ZipFile, name: str, path: Path) -> NpySource | None:
    """The array as rows of the file itself, where it was stored without packing."""
    entry = archive.getinfo(name)
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
        return None
    with path.open("rb") as file:
        file.seek(entry.header_offset)
        local = file.read(30)
        if len(local) < 30 or not local.startswith(b"PK\x03\x04"):
            raise damaged(path, ".npz archive", f"no entry {name} at the place that the archive gives for it")
        file.seek(entry.header_offset + 30 + sum(struct.unpack("<HH", local[26:30])))
        shape, fortran, dtype = array_header(file)
        return NpySource(path, (shape, fortran, dtype, file.tell()))


def _weighed(archive: zipfile.ZipFile, name: str, path: Path) -> Header:
    """Shape and dtype of one array; its header must not promise more than the archive holds of it."""
    entry = archive.getinfo(name)
    with archive.open(entry) as file:
        shape, fortran, dtype = array_header(file)
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
        stored = f"{entry.file_size:,} bytes, packed in {entry.compress_size:,}"
        raise damaged(path, ".npz archive", f"{name}: {declared:,} bytes declared, {stored}")
    return shape, dtype, fortran


def _sparse_shape(path: Path) -> tuple[int, int]:
    """Shape of a sparse matrix, of which neither names of columns nor ends of rows may exceed the limit."""
    with np.load(path, allow_pickle=False) as arrays:
        shape = tuple(int(v) for v in np.asarray(arrays["shape"]).ravel()[:3])
    if len(shape) != 2 or min(shape) < 0:
        raise damaged(path, ".npz archive", f"a sparse matrix of shape {shape}")
    require_columns(shape[1], path)
    require_rows(shape[0], path, 16.0)  # ends of rows, and those of columns where they come first
    return shape[0], shape[1]


def _load_sparse(path: Path) -> Any:
    import scipy.sparse

    values = scipy.sparse.load_npz(path)
    require_numbers(values.shape, values.dtype, path)
    if values.format == "dia":
        require_rows(values.nnz, path, ENTRY_BYTES)  # one number may stand for a diagonal of any length
    csr = values.tocsr()
    csr.check_format(full_check=True)  # indices outside the matrix would make compiled code read foreign memory
    csr.sum_duplicates()
    return csr


def _only_matrix(headers: dict[str, Header], path: Path, asked: str | int | None) -> str:
    """The name of the array that has rows and columns of numbers: the one that is asked for, or the only one."""
    matrices = [name for name, (shape, dtype, _) in headers.items() if len(shape) == 2 and dtype.kind in "biuf"]
    if asked in matrices or (asked is None and len(matrices) == 1):
        return matrices[0] if asked is None else str(asked)
    shapes = ", ".join(f"{name} ({_sides(shape)}, {dtype})" for name, (shape, dtype, _) in headers.items())
    raise FileError(
        f"expected one array with rows and columns of numbers in {path}"
        if asked is None
        else f"expected an array {asked!r} with rows and columns of numbers in {path}",
        received=cut(shapes, 400) or "an empty archive",
        hint=" or ".join(f"sheet={name!r}" for name in matrices[:2]) + " takes that array"
        if matrices
        else "save an array with rows and columns of numbers with numpy.save",
    )


def _sides(shape: tuple[int, ...]) -> str:
    return "×".join(str(side) for side in shape) or "one number"
