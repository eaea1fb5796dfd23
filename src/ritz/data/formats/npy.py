"""Array files of NumPy (``.npy``), read piece by piece and never mapped: mapped pages count as resident memory.

    C order        rows are consecutive: one read a batch
    Fortran order  columns are consecutive: one read a column and batch, turned in memory

Any byte order: numbers are handed out in the machine's own, extended precision as float64. The length of the file
is checked when it is opened.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import FileError
from ritz.data.formats.declared import require_columns, require_rows
from ritz.data.formats.files import damaged, file_identity, require_shape
from ritz.data.formats.matrix import MatrixSource, even_spans, matrix_names
from ritz.data.formats.source import Span
from ritz.data.formats.stamp import Stamp

__all__ = ["HEADER_ERRORS", "NpySource", "array_header", "require_numbers"]

#: Ranges can be cut anywhere: short ones share rows out evenly, and little is read twice after a fit was broken off.
SPAN_BYTES = 4 << 20


class NpySource(MatrixSource):
    """Rows of a two-dimensional ``.npy`` file."""

    def __init__(self, path: Path, layout: tuple[tuple[int, ...], bool, np.dtype[Any], int] | None = None) -> None:
        self.path, self.stamp = path, Stamp([path])
        shape, self._fortran, self._stored, self._offset = _header(path) if layout is None else layout
        self.image_shape: tuple[int, ...] | None = None
        if len(shape) > 2 and not self._fortran and min(shape) > 0:  # pictures: a row has all their pixels
            self.image_shape, shape = shape[1:], (shape[0], math.prod(shape[1:]))
        require_numbers(shape, self._stored, path)
        n, d = shape
        require_shape(n, d, path)
        require_columns(d, path)
        expected = self._offset + n * d * self._stored.itemsize
        size = path.stat().st_size
        if size < expected:
            raise damaged(path, "array file", f"{size} bytes of {expected}: the file was cut off")
        require_rows(n, path)
        native = self._stored.newbyteorder("=") if self._stored.itemsize <= 8 else np.dtype(np.float64)
        super().__init__(matrix_names(d), native, even_spans(n, d * native.itemsize, SPAN_BYTES), [path])
        self.shape = (n, d)

    @classmethod
    def of_map(cls, X: np.memmap[Any, Any]) -> NpySource | None:
        """The file behind a mapped array, to be read instead of mapped; None for a part of one."""
        import mmap

        if X.filename is None or not isinstance(X.base, mmap.mmap) or X.ndim != 2:
            return None
        if X.mode == "c":  # what was written to it is in memory only
            return None
        if not (X.flags.c_contiguous or X.flags.f_contiguous):
            return None
        return cls(Path(X.filename), (X.shape, not X.flags.c_contiguous, X.dtype, int(X.offset)))

    def read_rows(self, span: Span, rows: int) -> Iterator[NDArray[Any]]:
        """Fresh row-major arrays of at most ``rows`` rows."""
        with self.path.open("rb", buffering=0) as file:
            for start in range(span.start, span.stop, rows):
                stop = min(span.stop, start + rows)
                block = self._columns(file, start, stop) if self._fortran else self._rows(file, start, stop)
                yield block.astype(self.dtype, copy=False)

    def _picked(self, wanted: Sequence[str], index: NDArray[np.intp], labels: dict[str, list[Any]]) -> Any:
        """Numbers of some rows, each read where it lies."""
        if self._fortran:
            return super()._picked(wanted, index, labels)
        _, at = self.restrict(wanted)
        out = np.empty((len(index), len(wanted)), self.dtype)
        with self.path.open("rb", buffering=0) as file:
            for place, i in zip(out, index.tolist(), strict=True):
                row = self._rows(file, i, i + 1)[0]
                place[:] = row if at is None else row[at]
        return out

    def _rows(self, file: Any, start: int, stop: int) -> NDArray[Any]:
        d = self.shape[1]
        block = np.empty((stop - start, d), dtype=self._stored)
        self._fill(file, block, start * d)
        return block

    def _columns(self, file: Any, start: int, stop: int) -> NDArray[Any]:
        n, d = self.shape
        turned = np.empty((d, stop - start), dtype=self._stored)
        for j in range(d):
            self._fill(file, turned[j], j * n + start)
        return np.ascontiguousarray(turned.T)

    def _fill(self, file: Any, out: NDArray[Any], entry: int) -> None:
        """Read numbers from entry ``entry`` on until ``out`` is full."""
        file.seek(self._offset + entry * self._stored.itemsize)
        view = out.reshape(-1).view(np.uint8).data
        while len(view):
            count = file.readinto(view)
            if not count:
                raise damaged(self.path, "array file", "a file that became shorter while it was read")
            view = view[count:]

    def fingerprint(self) -> str:
        """Changes with the file."""
        return file_identity(self.stamp, self.shape, self._stored.str, self._fortran)


def require_numbers(shape: tuple[int, ...], dtype: np.dtype[Any], path: Path) -> None:
    """Refuse arrays that are not rows and columns of real numbers."""
    if len(shape) != 2 or min(shape) < 0 or dtype.kind not in "biuf":
        received = f"shape {shape}, dtype {dtype}"
        raise FileError(
            f"expected rows and columns of real numbers in {path}",
            received="Python objects, which Ritz never unpickles" if dtype.hasobject else received,
            hint="save an array of numbers of shape (n_rows, n_columns), e.g. X.reshape(len(X), -1)",
        )


def _header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether columns are consecutive, dtype, and where the numbers begin."""
    try:
        with path.open("rb") as file:
            shape, fortran, dtype = array_header(file)
            return shape, fortran, dtype, file.tell()
    except HEADER_ERRORS as error:
        raise damaged(path, "array file", error) from error


#: What a header that was made to do harm may raise beside what NumPy says: it is a Python literal of any depth.
HEADER_ERRORS = (ValueError, EOFError, OSError, SyntaxError, RecursionError, MemoryError, TypeError, KeyError)


def array_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns are consecutive, and dtype, as the beginning of an array file tells."""
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = reader(file)
    return shape, fortran, dtype
