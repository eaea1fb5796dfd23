"""A source brought into memory as a whole: lanes read different spans, the rows stay in order."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ritz._core.memory import stated
from ritz._core.progress import track
from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.data.formats.arrow import ArrowSource
from ritz.data.formats.matrix import MatrixSource, MemoryMatrix
from ritz.data.formats.memory import ArrowTable
from ritz.data.formats.source import Span, equal_shares
from ritz.data.formats.stamp import unchanged

__all__ = ["load", "rows_of", "shares"]

BATCH_BYTES = 8 << 20
READING_SHARE = 0.25  # of the memory limit, for what reading takes beside the table


def load(source: Any) -> Any:
    """The same table, in memory."""
    with unchanged(source):
        if isinstance(source, ArrowSource):
            return _load_arrow(source)
        if isinstance(source, MatrixSource):
            labels = {name: _labels(source, name) for name in source.label_names}
            return MemoryMatrix(_rows_of(source, None), source.names, labels, source.files)
    raise TypeError(f"no source: {type(source).__name__}")


def shares(spans: list[Span]) -> list[list[Span]]:
    """Neighbouring spans for each lane, about equally many rows."""
    return equal_shares(spans, lane_count())


def rows_of(source: Any, columns: list[int] | None) -> Any:
    """All rows of some columns: an array (n, d), or CSR."""
    with unchanged(source):
        return _rows_of(source, columns)


def _rows_of(source: Any, columns: list[int] | None) -> Any:
    d = len(source.names) if columns is None else len(columns)
    step = max(1, BATCH_BYTES // max(1, d * source.dtype.itemsize))
    n = source.n_rows
    if n is None or source.sparse:
        parts = [batch for span in source.spans for batch in source.batches(span, columns, step)]
        if not source.sparse:
            return np.concatenate(parts)
        import scipy.sparse

        return scipy.sparse.vstack(parts, format="csr", dtype=source.dtype)
    out = np.empty((n, d), dtype=source.dtype)
    lay = getattr(source, "lay", None)  # straight to where they belong

    def fill(spans: list[Span]) -> None:
        for span in spans:
            at = span.start
            for block in source.batches(span, columns, step) if lay is None else lay(span, columns, step, out):
                go_on()
                if lay is None:
                    out[at : at + len(block)] = block
                at += len(block)
                advance(len(block))

    with track("loading rows", total=n) as advance:
        run_lanes(fill, shares(source.spans))
    return out


def _load_arrow(source: ArrowSource) -> ArrowTable:
    """Columns beyond those that are read together come in turns: open columns may take more than the table."""
    import pyarrow as pa

    source = source.within(READING_SHARE * stated() / lane_count())
    most = source.open_together(source.fields)
    turns = [source.fields[i : i + most] for i in range(0, max(1, len(source.fields)), most)]

    def work(spans: list[Span]) -> list[list[Any]]:
        batches: list[list[Any]] = [[] for _ in turns]
        for span in spans:
            for read, fields in zip(batches, turns, strict=True):
                for batch in source.record_batches(span, fields, 1 << 16):
                    go_on()
                    read.append(batch)
                    if read is batches[-1]:
                        advance(batch.num_rows)
        return batches

    with track("loading rows", total=source.n_rows) as advance:
        lanes = run_lanes(work, shares(source.spans))
    tables = [pa.Table.from_batches([batch for lane in lanes for batch in lane[i]]) for i in range(len(turns))]
    schema = pa.schema([one for some in tables for one in some.schema], metadata=tables[0].schema.metadata)
    table = pa.Table.from_arrays([column for some in tables for column in some.columns], schema=schema)
    fields = [dataclasses.replace(field, at=j, type=table.schema.types[j]) for j, field in enumerate(source.fields)]
    return ArrowTable(table, fields, source.files)


def _labels(source: MatrixSource, name: str) -> Any:
    import pyarrow as pa

    parts = [source.read_labels(name, span.start, span.stop) for span in source.spans]
    return pa.concat_arrays(parts)
