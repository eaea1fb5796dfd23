"""Counts that lie in files of a temporary folder: what a memory limit leaves no room for.

    shard i    rows [start, stop)  of counts, CSR:   tf  (uint8 to uint32, or float64),  column (int32),  row lengths

Shards are written once and read in every pass, a few rows at a time, into arrays of their own: nothing is mapped, so
that what is read leaves memory again. They are a source of rows (``data/formats/source.py``): ``weighted`` gives the
same rows with the weights of a rule, computed as they are read. The folder goes when the last of them is forgotten.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import FileError
from ritz.data.formats.source import Span

__all__ = ["Folder", "Shards"]

#: Times that the numbers of a batch are held while it is weighted: as stored, as CSR, its weights and what they need.
HELD = 6.0


class Folder:
    """A temporary folder that is removed when nothing refers to it any more, or when the process ends."""

    def __init__(self) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="ritz-text-"))
        except OSError as error:
            raise self._full(error) from error
        self._gone = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self._number = 0

    def write(self, array: Any) -> tuple[Path, Any]:
        """A file with the numbers of an array, and their dtype."""
        path = self.path / f"{self._number}.bin"
        self._number += 1
        try:
            array.tofile(path)
        except OSError as error:
            raise self._full(error) from error
        return path, array.dtype

    def _full(self, error: OSError) -> FileError:
        return FileError(
            f"expected room in {tempfile.gettempdir()} for the counts of texts that memory= leaves no room for",
            received=str(error),
            hint="set TMPDIR to a folder on a larger disk, or give a larger memory=",
        )


class Shards:
    """Rows of counts in files; a source, and what a matrix tells of its size.

    Parameters
    ----------
    folder : Folder
    d : columns
    """

    sparse = True
    files: Sequence[Path] = ()  # none of the user's: nothing can change them

    def __init__(self, folder: Folder, d: int) -> None:
        self.folder, self.d = folder, d
        self.dtype = np.dtype(np.float64)
        self.spans: list[Span] = []
        self.stored = 0
        self.entries = np.zeros(0, np.int64)  # (n,) of each row
        self.totals = np.zeros(0)  # (n,) sums of each row
        self._filed = self.entries  # (n,) of each row as it lies in the files
        self._parts: list[tuple[Any, Any]] = []
        self._weigh: Any = None
        self._to: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.entries), self.d

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return self.stored

    @property
    def names(self) -> Sequence[Any]:
        """As many names as columns."""
        return range(self.d)

    @property
    def nbytes(self) -> int:
        """To read in one pass."""
        return 6 * self.stored

    def add(self, counts: Any) -> None:
        """Write rows of counts, CSR, to a file."""
        self._parts.append((counts.indptr, np.asarray(counts.sum(axis=1), np.float64).ravel()))
        start = sum(span.rows for span in self.spans)
        files = self.folder.write(_narrow(counts.data)), self.folder.write(counts.indices.astype(np.int32))
        self.spans.append(Span(start, start + counts.shape[0], files))
        self.stored += int(counts.nnz)

    def closed(self) -> Shards:
        """Itself, once all rows are added."""
        self.entries = np.concatenate([np.zeros(0, np.int64), *(np.diff(ends) for ends, _ in self._parts)])
        self.totals = np.concatenate([np.zeros(0), *(totals for _, totals in self._parts)])
        self._parts, self._filed = [], self.entries
        return self

    def selected(self, kept: Any) -> Shards:
        """Some of the columns, in their order; the rows are looked through once for what is left of them."""
        some = self._copy(len(kept))
        some._to = np.full(self.d, -1, np.int32)
        some._to[kept] = np.arange(len(kept), dtype=np.int32)
        entries, totals = [np.zeros(0, np.int64)], [np.zeros(0)]
        for rows in some.rows():
            entries.append(np.diff(rows.indptr).astype(np.int64))
            totals.append(np.asarray(rows.sum(axis=1), np.float64).ravel())
        some.entries, some.totals = np.concatenate(entries), np.concatenate(totals)
        some.stored = int(some.entries.sum())
        return some

    def weighted(self, rule: Any) -> Shards:
        """The same rows with weights of a fitted ``Weighting``, made as they are read."""
        rows = self._copy(self.d)
        rows._to, rows._weigh = self._to, rule
        rows.entries, rows.totals, rows.stored = self.entries, self.totals, self.stored
        return rows

    def rows(self, many: int = 1 << 14) -> Iterator[Any]:
        """CSR matrices of some rows each, in order."""
        for span in self.spans:
            yield from self.batches(span, None, many)

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        """Rows of a shard, at most so many at a time."""
        from scipy.sparse import csr_array

        (tf, kind), (place, _) = span.key
        lengths = self._filed[span.start : span.stop]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        for first in range(0, span.rows, rows):
            last = min(first + rows, span.rows)
            a, b = int(ends[first]), int(ends[last])
            data = np.fromfile(tf, kind, b - a, offset=a * kind.itemsize).astype(np.float64)
            indices = np.fromfile(place, np.int32, b - a, offset=4 * a)
            indptr = (ends[first : last + 1] - a).astype(np.int32)
            if self._to is not None:
                data, indices, indptr = _moved(data, indices, indptr, self._to)
            counts = csr_array((last - first, self.d), dtype=np.float64)
            counts.data, counts.indices, counts.indptr = data, indices, indptr
            counts.has_canonical_format = True
            yield counts if self._weigh is None else self._weigh.transform(counts)

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane takes for batches of ``rows`` rows."""
        width = self.stored / max(1, len(self.entries))
        return HELD * 12.0 * rows * max(width, 1.0)

    def fingerprint(self) -> str:
        """Of this process alone."""
        return f"shards {id(self.folder)}"

    def _copy(self, d: int) -> Shards:
        other = Shards(self.folder, d)
        other.spans, other._filed = self.spans, self._filed
        return other


def _narrow(data: Any) -> Any:
    """Whole numbers in as few bytes as they need."""
    most = float(np.max(data, initial=0.0))
    for kind in (np.uint8, np.uint16, np.uint32):
        if most <= np.iinfo(kind).max:
            return data.astype(kind)
    return data.astype(np.float64)


def _moved(data: Any, indices: Any, indptr: Any, to: Any) -> tuple[Any, Any, Any]:
    """Entries whose column goes to ``to``; −1: nowhere."""
    columns = to[indices]
    kept = columns >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return data[kept], columns[kept], before[indptr].astype(np.int32)
