"""What a Dask worker runs: one pure task a partition, and merges of eight results each (``engines/partition.py``).

    chunk: array, sparse matrix, frame, spans of a file   →   rows   →   blocks, as the layout says

Tasks change nothing that they are given and depend on their arguments alone, so a task that is run again, because its
worker died or because two ran it at once, gives the same bits.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ritz._core.errors import FileError, InputError
from ritz.data.engines.dask.worker import careful, tell
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.engines.parcel import Parcel
from ritz.data.engines.partition import Layout, Part, cut, join, present, stacked, sums_of
from ritz.data.passes.blocks import Block
from ritz.data.passes.read_ahead import ahead

__all__ = [
    "Spans", "all_rows", "as_rows", "count", "hand_out", "located", "merge", "run_pass", "run_rows", "sample_rows",
]  # fmt: skip


#: Bytes of a batch that is read at once from a file.
BATCH_BYTES = 16 << 20


class Spans:
    """Rows of a file that the worker reads itself: spans of a source, one after the other."""

    def __init__(self, spans: list[Any], columns: Sequence[int] | None, source: Any = None) -> None:
        self.spans, self.columns, self.source = spans, columns, source


# tasks


def hand_out(thing: Any) -> Any:
    """The thing itself: as a task it is kept by the scheduler, fetched by workers from each other, and never lost."""
    return thing


def located(source: Any, spans: Spans) -> Spans:
    """Spans with the source that reads them."""
    return Spans(spans.spans, spans.columns, source)


def count(chunk: Any) -> tuple[int, int]:
    """Rows and stored entries of a chunk."""
    rows = as_rows(chunk)
    return int(rows.shape[0]), int(rows.size if isinstance(rows, np.ndarray) else rows.nnz)


def run_pass(parcel: Parcel, partition: Part, checked: bool, cuts: list[Any], chunks: list[Any]) -> dict[str, Any]:
    """The sums of one partition."""
    with careful(parcel.held, parcel.errors):
        create, step = parcel.open(cuts, partition.start)
        state = sums_of(create, step, _blocks(partition, chunks), checked)
    tell(parcel.name, partition.rows)
    return state


def merge(parcel: Parcel, states: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums of several partitions, in row order. What was given stays as it is: another try may need it."""
    with careful(parcel.held, parcel.errors):
        create, _ = parcel.open()
        return join(create, states)


def run_rows(parcel: Parcel, partition: Part, cuts: list[Any], chunks: list[Any]) -> Any:
    """One output row for every row of a partition."""
    with careful(parcel.held, parcel.errors):
        _, step = parcel.open(cuts, partition.start)
        scratch: dict[str, Any] = {}
        pieces = [np.array(step(scratch, block)) for block in _blocks(partition, chunks)]  # the step reuses its buffers
    tell(parcel.name, partition.rows)
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def all_rows(partition: Part, chunks: list[Any]) -> Any:
    """The rows of a partition."""
    return stacked([block.values for block in _blocks(partition, chunks)])


def sample_rows(partition: Part, rows: int, chunks: list[Any]) -> Any:
    """About ``rows`` rows of a partition, spread evenly; of a file, the first ones. Absent rows are left out."""
    pieces = (piece for chunk in chunks for piece in _pieces(chunk, partition.layout))
    taken = [next(pieces)] if isinstance(chunks[0], Spans) else list(pieces)
    values = stacked(taken)
    if partition.absent is not None:
        values = values[np.flatnonzero(~partition.absent[: values.shape[0]])]
    some = values[:: max(1, values.shape[0] // rows)]
    return np.array(some) if isinstance(some, np.ndarray) else some


# rows of a partition


def _blocks(partition: Part, chunks: list[Any]) -> Iterator[Block]:
    at = partition.start
    for values in (piece for chunk in chunks for piece in _pieces(chunk, partition.layout)):
        rows = values.shape[0]
        if rows:
            yield Block(present(values, partition, at - partition.start), at)
        at += rows
    if at - partition.start != partition.rows:
        raise InputError(
            f"partition {partition.number} must have the {partition.rows:,} rows that its collection announced",
            received=f"{at - partition.start:,} rows",
            hint="call compute_chunk_sizes() on the array, and make sure that its tasks give the same rows every time",
        )


def _pieces(chunk: Any, layout: Layout) -> Iterator[Any]:
    """Blocks of a chunk, or of several in a list, dense or CSR as the layout says."""
    if isinstance(chunk, list):
        for one in chunk:
            yield from _pieces(one, layout)
        return
    if isinstance(chunk, Spans):
        for batch in _read(chunk, layout):
            yield from cut(batch, layout)
        return
    rows = as_rows(chunk)
    if rows.shape[1] != layout.d:
        raise InputError(
            f"every chunk must have {layout.d:,} columns",
            received=f"{rows.shape[1]:,}",
            hint="the chunks of a Dask collection must have the shape that it announces",
        )
    yield from cut(rows, layout)


def _read(chunk: Spans, layout: Layout) -> Iterator[Any]:
    """Batches of whole blocks from files, read ahead."""
    gone = [str(path) for path in chunk.source.files if not path.exists()]
    if gone:
        raise FileError(
            "every worker must see the files under the same path",
            received=f"a worker on {platform.node()} without {gone[0]}",
            hint="put the files on a file system that all machines share, or fit without the engine",
        )
    rows = layout.rows * max(1, BATCH_BYTES // (8 * layout.d * layout.rows))
    for span in chunk.spans:
        yield from ahead(chunk.source.batches(span, chunk.columns, rows))


def as_rows(chunk: Any) -> Any:
    """A chunk as ndarray or canonical CSR: arrays, SciPy and pydata sparse matrices, pandas frames."""
    refuse_masked(chunk, where=" in one chunk", hint="fill them first: dask.array.ma.filled(X, value)")
    if isinstance(chunk, np.ndarray):
        return np.asarray(chunk)
    if hasattr(chunk, "columns") and hasattr(chunk, "dtypes"):
        from ritz.data.tables.frames import frame_to_rows

        return as_rows(frame_to_rows(chunk))
    if hasattr(chunk, "tocsr"):
        rows = chunk.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return rows
    return np.asarray(chunk)
