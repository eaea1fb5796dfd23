"""Dask collections as partitions: whole rows, in row order, of known length.

    array (n, d), chunks of any shape   →   chunks joined along the columns, lazily     →   partitions of whole rows
    frame, numeric columns              →   its own partitions, checked by name          →   partitions of whole rows

Lengths that Dask does not know are counted first, as are the stored entries of sparse chunks: one reading of the
collection of which only the counts are kept. Neighbouring chunks of a few rows are taken together, so that tasks are
worth their overhead. Partitions depend on the collection alone, never on the cluster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.engines import Columns
from ritz.data.engines.dask.cluster import require_dask
from ritz.data.engines.dask.task import Spans, as_rows, count, hand_out, located
from ritz.data.tables.frames import frame_to_rows

__all__ = ["Partitions", "columns_of", "grouped", "is_dask", "lazy_map", "of_collection", "of_source"]

#: Bytes up to which neighbouring chunks are taken together, and above which joined columns are cut into shorter rows.
LEAST_BYTES, MOST_BYTES = 2 << 20, 128 << 20
#: Bytes of a file that one task reads.
SOURCE_BYTES = 64 << 20

Compute = Callable[[list[Any]], list[Any]]


@dataclass(frozen=True)
class Partitions:
    """Rows of a table, somewhere else."""

    chunks: list[list[Any]]  # delayed chunks of every partition
    rows: list[int]  # rows of every partition
    d: int
    dtype: np.dtype[Any]
    sparse: bool
    stored: int
    names: list[str] | None
    files: bool = False  # whether the workers read the rows themselves


def is_dask(X: object) -> bool:
    """Whether ``X`` is a Dask array or frame; without Dask nothing is."""
    if "dask" not in sys.modules:
        return False
    from dask.base import is_dask_collection

    return bool(is_dask_collection(X)) and (hasattr(X, "chunks") or hasattr(X, "npartitions"))


def columns_of(X: Any) -> Columns:
    """Shape, dtype and names of a Dask array or frame."""
    if hasattr(X, "chunks"):
        X = _real(_table(X))
        return Columns((X.shape[0], int(X.shape[1])), np.dtype(X.dtype), None)
    meta, names = frame_to_rows(_table(X)._meta), list(X.columns)
    text = all(isinstance(name, str) for name in names)
    return Columns((float("nan"), len(names)), np.dtype(meta.dtype), names if text else None)


def of_collection(X: Any, compute: Compute) -> Partitions:
    """The partitions of a Dask array or frame; ``compute`` is called only for what Dask does not know."""
    return _of_array(_table(X), compute) if hasattr(X, "chunks") else _of_frame(_table(X), compute)


def _table(X: Any) -> Any:
    """Refuse what is no Dask collection of rows and columns."""
    if not is_dask(X):
        raise InputError(
            "expected a Dask array or a Dask frame",
            received=type(X).__name__,
            hint="dask.array.from_array or dask.dataframe.from_pandas make one",
        )
    if len(getattr(X, "shape", ())) != 2 or (not hasattr(X, "chunks") and not hasattr(X, "columns")):
        raise InputError(
            "a Dask collection with rows and columns",
            received=f"{type(X).__name__} with {getattr(X, 'ndim', 'unknown')} dimension(s)",
            hint="X.reshape(-1, 1) for an array, X.to_frame() for a series",
        )
    return X


def _of_array(X: Any, compute: Compute) -> Partitions:
    X = _whole_rows(_real(X))
    d = int(X.shape[1])
    sparse = not isinstance(X._meta, np.ndarray)
    chunks = list(X.to_delayed().reshape(-1))
    rows = [float(length) for length in X.chunks[0]]
    stored = None
    if sparse or np.isnan(rows).any():
        counts = _counts(chunks, compute)
        rows, stored = [float(r) for r, _ in counts], sum(s for _, s in counts)
    return grouped(chunks, [int(r) for r in rows], d, np.dtype(X.dtype), sparse, stored, None)


def _of_frame(X: Any, compute: Compute) -> Partitions:
    meta = frame_to_rows(X._meta)  # raises by name for a column without numbers
    names = list(X.columns)
    chunks = list(X.to_delayed())
    rows = _lengths(X, len(chunks), compute)
    if rows is None:
        rows = [r for r, _ in _counts(chunks, compute)]
    sparse = not isinstance(meta, np.ndarray)
    stored = sum(s for _, s in _counts(chunks, compute)) if sparse else None
    text = all(isinstance(name, str) for name in names)
    return grouped(chunks, rows, len(names), np.dtype(meta.dtype), sparse, stored, names if text else None)


def _real(X: Any) -> Any:
    """Refuse arrays that hold no real numbers, or whose number of columns nobody knows."""
    if np.dtype(X.dtype).kind not in "biuf":
        raise InputError(
            "an array of real numbers",
            received=f"a Dask array of dtype {X.dtype}",
            hint="X.astype(float); real and imaginary parts can be columns of their own",
        )
    if np.isnan(X.shape[1]):
        raise InputError(
            "an array whose number of columns is known",
            received=f"a Dask array of shape {X.shape}",
            hint="X.compute_chunk_sizes()",
        )
    return X


def _whole_rows(X: Any) -> Any:
    """The array with all columns in every chunk, lazily; rows are cut shorter where chunks would grow too large."""
    if X.numblocks[1] <= 1:
        return X
    d = int(X.shape[1])
    if np.isnan(X.shape[0]):
        return X.rechunk({1: d})
    most = max(1, MOST_BYTES // max(1, d * np.dtype(X.dtype).itemsize))
    rows = [min(most, length - at) for length in X.chunks[0] for at in range(0, max(length, 1), most)]
    return X.rechunk((tuple(rows), (d,)))


def _counts(chunks: list[Any], compute: Compute) -> list[tuple[int, int]]:
    counted = require_dask().delayed(count, pure=False)
    return compute([counted(chunk) for chunk in chunks])


def _lengths(X: Any, partitions: int, compute: Compute) -> list[int] | None:
    """Lengths by reading one column; None where Dask would then read in other partitions."""
    if not len(X.columns) or len(set(X.columns)) < len(X.columns):
        return None
    parts = X[[X.columns[0]]].to_delayed()
    if len(parts) != partitions:
        return None
    length = require_dask().delayed(len, pure=False)
    return [int(rows) for rows in compute([length(partition) for partition in parts])]


def grouped(
    chunks: list[Any], rows: list[int], d: int, dtype: Any, sparse: bool, stored: int | None, names: Any
) -> Partitions:
    """Chunks without the empty ones, small neighbours together."""
    n = sum(rows)
    stored = n * d if stored is None else stored
    width = dtype.itemsize * stored / max(1, n)
    groups: list[list[Any]] = []
    lengths: list[int] = []
    for chunk, length in zip(chunks, rows, strict=True):
        if not length:
            continue
        if groups and (lengths[-1] + length) * width <= LEAST_BYTES:
            groups[-1].append(chunk)
            lengths[-1] += length
        else:
            groups.append([chunk])
            lengths.append(length)
    return Partitions(groups, lengths, d, dtype, sparse, stored, names)


def of_source(source: Any, columns: Sequence[int] | None) -> Partitions:
    """Spans of a source as partitions that the workers read themselves, from a file system that all of them see."""
    delayed = require_dask().delayed
    names = list(source.names)
    wanted = None if columns is None else list(columns)
    spans = [span for span in source.spans if span.rows]
    n, d = sum(span.rows for span in spans), len(names) if wanted is None else len(wanted)
    width = source.nbytes / max(1, n)
    groups: list[list[Any]] = []
    for span in spans:
        if groups and (span.stop - groups[-1][0].start) * width <= SOURCE_BYTES:
            groups[-1].append(span)
        else:
            groups.append([span])
    everywhere = delayed(hand_out, pure=False)(_Sealed(source))
    chunks = [[delayed(_open, pure=False)(everywhere, Spans(group, wanted))] for group in groups]
    stored = int(getattr(source, "stored", n * d)) if source.sparse else n * d
    used = names if wanted is None else [names[j] for j in wanted]
    rows = [group[-1].stop - group[0].start for group in groups]
    return Partitions(chunks, rows, d, np.dtype(source.dtype), bool(source.sparse), stored, used, files=True)


class _Sealed:
    """A source that Dask does not look into."""

    def __init__(self, source: Any) -> None:
        self.source = source


def _open(sealed: _Sealed, spans: Spans) -> Spans:
    return located(sealed.source, spans)


# coordinates, when they are asked for


def lazy_map(X: Any, function: Callable[[Any], Any], width: int, dtype: Any, names: Any = None) -> Any:
    """``function`` of the rows of every partition as a Dask array (n, width); nothing is computed now.

    ``function`` gets an ndarray or CSR matrix and gives as many rows of ``width`` numbers. Lengths that are known stay
    known. A NaN found on the way is named by its row in the whole table where that is known.
    """
    require_dask()
    if hasattr(X, "chunks"):
        rows = _whole_rows(_real(X))
        return rows.map_blocks(
            _Mapped(function, names), dtype=np.dtype(dtype), chunks=(rows.chunks[0], (width,)),
            meta=np.empty((0, width), dtype),
        )  # fmt: skip
    import dask.array as da

    frame_to_rows(X._meta)
    mapped = require_dask().delayed(_Mapped(function, names), pure=False)
    parts = [
        da.from_delayed(mapped(partition), (np.nan, width), dtype, meta=np.empty((0, width), dtype))
        for partition in X.to_delayed()
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


class _Mapped:
    """``function`` of the rows of a chunk."""

    def __init__(self, function: Callable[[Any], Any], names: Any) -> None:
        self.function, self.names = function, names
        self.__name__ = "ritz-coordinates"  # the name of its tasks on Dask's dashboard

    def __call__(self, chunk: Any, block_info: Any = None) -> Any:
        from ritz._core.errors import NonFiniteError
        from ritz.data.passes.finite import require_finite

        rows = as_rows(chunk)
        try:
            return self.function(rows)
        except NonFiniteError as error:
            where = None if not block_info else block_info[0]["array-location"][0][0]
            if where is None or np.isnan(where):
                raise
            try:
                require_finite(rows, self.names, lambda i: f"row {int(where) + i}")
            except NonFiniteError as placed:
                raise NonFiniteError(placed.expected, received=placed.received, hint=error.hint) from None
            raise
