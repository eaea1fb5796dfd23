"""Sources whose rows are numbers of one dtype: array files, sparse matrices, single-cell files.

    rows (n, d) of one dtype, dense or CSR,  beside them perhaps labels (n,) of the rows

A subclass reads row ranges; choosing columns and handing out labels is done here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ritz.data.formats.source import Span, places_in, spans_with
from ritz.data.formats.stamp import Stamp

__all__ = ["MatrixSource", "MemoryMatrix", "even_spans", "matrix_names"]

SPAN_BYTES = 32 << 20
PICKED_ROWS = 1 << 12  # of a block of which some rows are kept
SPAN_ROWS = 1024  # spans are whole multiples: random draws are keyed by blocks of so many rows


def matrix_names(d: int) -> list[str]:
    """Names of columns that have none."""
    return [f"x{j}" for j in range(d)]


def even_spans(n: int, row_bytes: int, size: int = SPAN_BYTES) -> list[Span]:
    """Cut [0, n) into spans of about ``size`` bytes."""
    step = max(1, size // max(1, row_bytes) // SPAN_ROWS) * SPAN_ROWS
    return [Span(i, min(n, i + step)) for i in range(0, n, step)]


class MatrixSource:
    """Base: ``read_rows`` is all that a subclass must give, beside shape, dtype and names."""

    sparse = False
    repeatable = True
    #: state of the files when they were opened
    stamp: Stamp | None = None
    label_names: list[str]

    def __init__(self, names: Sequence[str], dtype: Any, spans: Sequence[Span], files: Sequence[Path] = ()) -> None:
        self.names = list(names)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.spans = list(spans)
        self.files = list(files)
        self.label_names = []

    def read_rows(self, span: Span, rows: int) -> Iterator[Any]:
        """All columns of a span, at most ``rows`` rows at a time, in order."""
        raise NotImplementedError

    def read_labels(self, name: str, start: int, stop: int) -> Any:
        """An Arrow array of the labels of some rows."""
        raise KeyError(name)

    def fingerprint(self) -> str:
        """Changes when the data change."""
        raise NotImplementedError

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where only reading would tell."""
        stop = self.spans[-1].stop if self.spans else 0
        return None if stop < 0 else stop

    @property
    def decoded(self) -> int:
        """How many bytes the rows take in memory."""
        return (self.n_rows or 0) * len(self.names) * self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes to read in one pass."""
        return self.decoded

    def restrict(self, names: Sequence[str]) -> tuple[Self, list[int] | None]:
        """This source, and the positions of ``names`` in it; None for all of them in order."""
        if list(names) == self.names:
            return self, None
        place = {name: j for j, name in enumerate(self.names)}
        return self, [place[name] for name in names]

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        """Rows of a span in row-major batches of at most ``rows``; ``columns`` are positions in ``names``."""
        at = None if columns is None else np.asarray(columns, dtype=np.intp)
        for block in self.read_rows(span, rows):
            if at is None:
                yield block
            else:
                yield block[:, at] if self.sparse else np.take(block, at, axis=1)

    def arrow_batches(self, span: Span, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Columns of any kind by name as record batches of at most ``rows`` rows, in row order."""
        import pyarrow as pa

        wanted = [name for name in names if name not in self.label_names]
        _, at = self.restrict(wanted)
        start = span.start
        for block in self._blocks_or_ranges(span, at, rows, bool(wanted)):
            r = block if isinstance(block, int) else block.shape[0]
            if wanted and self.sparse:
                block = block.toarray()
            columns = {name: pa.array(np.ascontiguousarray(block[:, j])) for j, name in enumerate(wanted)}
            columns |= {name: self.read_labels(name, start, start + r) for name in names if name in self.label_names}
            yield pa.RecordBatch.from_arrays([columns[name] for name in names], names=list(names))
            start += r

    def picked(self, names: Sequence[str], index: NDArray[np.intp]) -> Any:
        """The rows with these increasing numbers as one Arrow table; of all others nothing is kept."""
        import pyarrow as pa

        wanted = [name for name in names if name not in self.label_names]
        labels: dict[str, list[Any]] = {name: [] for name in names if name in self.label_names}
        numbers = self._picked(wanted, index, labels)
        columns = {name: pa.array(np.ascontiguousarray(numbers[:, j])) for j, name in enumerate(wanted)}
        for name, parts in labels.items():
            columns[name] = pa.chunked_array(parts or [self.read_labels(name, 0, 0)]).combine_chunks()
        return pa.table([columns[name] for name in names], names=list(names))

    def _picked(self, wanted: Sequence[str], index: NDArray[np.intp], labels: dict[str, list[Any]]) -> Any:
        """Numbers of some rows, (m, columns); their labels are added to ``labels``."""
        import pyarrow as pa

        _, at = self.restrict(wanted)
        blocks: list[Any] = [np.empty((0, len(wanted)), self.dtype)]
        for span in spans_with(self.spans, index):
            start = span.start
            for block in self._blocks_or_ranges(span, at, PICKED_ROWS, bool(wanted)):
                rows = block if isinstance(block, int) else block.shape[0]
                here = places_in(index, start, rows)
                if len(here):
                    some: Any = np.empty((len(here), 0), self.dtype) if isinstance(block, int) else block[here]
                    blocks.append(some.toarray() if self.sparse and wanted else some)
                    for name, parts in labels.items():
                        parts.append(self.read_labels(name, start, start + rows).take(pa.array(here)))
                start += rows
        return np.concatenate(blocks)

    def _blocks_or_ranges(self, span: Span, at: Sequence[int] | None, rows: int, numbers: bool) -> Iterator[Any]:
        """Blocks of numbers, or only how many rows come next where no numbers are asked for."""
        if numbers or span.stop < 0:
            yield from self.batches(span, at, rows)
        else:
            yield from (min(rows, span.stop - i) for i in range(span.start, span.stop, rows))


class MemoryMatrix(MatrixSource):
    """An array or CSR matrix in memory, handed out as views; ``labels`` are Arrow arrays by name."""

    def __init__(
        self, values: Any, names: Sequence[str] | None = None, labels: dict[str, Any] | None = None, files: Any = ()
    ) -> None:
        n, d = values.shape
        row_bytes = d * values.dtype.itemsize
        super().__init__(names or matrix_names(d), values.dtype, even_spans(n, row_bytes), files)
        self.values = values
        self.sparse = not isinstance(values, np.ndarray)
        self.stored = int(values.nnz) if self.sparse else n * d
        self.labels = labels or {}
        self.label_names = list(self.labels)

    @property
    def decoded(self) -> int:
        """How many bytes the rows take in memory."""
        arrays = [self.values.data, self.values.indices, self.values.indptr] if self.sparse else [self.values]
        return int(sum(array.nbytes for array in arrays))

    def read_rows(self, span: Span, rows: int) -> Iterator[Any]:
        """Views of the rows of a span; array rows in row-major order."""
        for i in range(span.start, span.stop, rows):
            view = self.values[i : min(span.stop, i + rows)]
            yield view if self.sparse else np.ascontiguousarray(view)

    def read_labels(self, name: str, start: int, stop: int) -> Any:
        """An Arrow array of the labels of some rows."""
        return self.labels[name].slice(start, stop - start)

    def fingerprint(self) -> str:
        """The place in memory: good as long as this object lives."""
        return f"memory:{id(self.values):x}:{self.values.shape}:{self.dtype}"
