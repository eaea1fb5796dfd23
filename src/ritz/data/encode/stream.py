"""Tables that stay outside memory, looked at and encoded batch by batch.

    spans of the table's source  →  Arrow batches of the columns used  →  codes  →  CSR, or dense rows

``EncodedSource`` is a source like any other: row blocks read it in lanes, ahead, within the memory limit, and workers
of a cluster read it themselves. So nothing downstream knows that rows were categories.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from ritz._core.memory import limit
from ritz._core.threads import run_lanes
from ritz.data.encode.codes import arrow_kind
from ritz.data.encode.columns import MemoryColumns, memory_columns
from ritz.data.encode.openings import Choice, Opened
from ritz.data.encode.vocabulary import Census
from ritz.data.engines import engaged_cluster
from ritz.data.engines.stream import on_cluster, require_repeatable
from ritz.data.engines.stream.blocks import StreamBlocks
from ritz.data.formats.arrow import ArrowSource
from ritz.data.formats.load import shares
from ritz.data.formats.matrix import even_spans
from ritz.data.formats.pack import DECODE_BYTES
from ritz.data.formats.source import HELD_BATCHES, Span
from ritz.data.formats.stamp import unchanged
from ritz.data.passes.blocks import DENSE_DENSITY
from ritz.data.tables.table import Table

__all__ = ["EncodedSource", "HeldRows", "StreamedTable", "look"]

#: Rows that are looked at in one go.
LOOK_ROWS = 1 << 15


class StreamedTable(Opened):
    """A Table that is read in pieces, here or by the workers of a cluster."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = list(table.names)
        self.cluster = engaged_cluster()

    def kind(self, name: str) -> str:
        """What a column holds, by its type in the source."""
        source: Any = self._source
        if not isinstance(source, ArrowSource):
            return "other" if name in source.label_names else "number" if source.dtype.kind == "f" else "integer"
        for field in source.fields:
            if field.name == name and not field.width:
                return "number" if field.parse else arrow_kind(field.type)
        return "number"  # an entry of a list of numbers

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return 0 if self.table is None else len(self.table)

    @property
    def _source(self) -> Any:
        return None if self.table is None else self.table._data

    def census(self, choice: Choice, weights: Any = None) -> Census:
        """Look at the columns of a choice in one pass."""
        source = self._readable()
        if self.cluster is not None:
            counted: Census = self.cluster.census(source, choice, weights)
            return counted
        with unchanged(source):
            first, *more = run_lanes(lambda spans: look(source, choice, weights, spans), shares(source.spans))
        for later in more:
            first.merge(later)
        return first

    def encoded(self, encoder: Any, unseen: str | None, memory: Any, absent: Any = None) -> Any:
        """Row blocks that encode what they read."""
        source = EncodedSource(self._readable(), self.fitting(encoder), unseen, absent)
        if self.cluster is not None and self.table is not None:
            return on_cluster(source, None, self.cluster, self.table)
        return StreamBlocks(source, budget=limit(memory))

    def _readable(self) -> Any:
        if self.table is not None:
            require_repeatable(self.table)
        return self._source


def look(source: Any, choice: Choice, weights: Any, spans: Sequence[Span]) -> Census:
    """The census of neighbouring spans."""
    census = Census(choice)
    for span in spans:
        at = span.start
        for batch in source.arrow_batches(span, choice.names, LOOK_ROWS):
            some = None if weights is None else weights[at : at + batch.num_rows]
            census.update(memory_columns(batch, empty=True), some)
            at += batch.num_rows
    return census


class EncodedSource:
    """The rows of a source, encoded while they are read.

    Parameters
    ----------
    inner
        Where the columns come from, as Arrow batches.
    encoder
        What turns them into numbers.
    unseen
        What to do with levels that were not seen; None for the rows that were learned from.
    absent
        (n,) rows that may hold anything.
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)

    def __init__(self, inner: Any, encoder: Any, unseen: str | None = "error", absent: Any = None) -> None:
        self.inner, self.encoder, self.unseen, self.absent = inner, encoder, unseen, absent
        self.names: list[str] = encoder.labels
        self.spans, self.files, self.stamp = inner.spans, inner.files, getattr(inner, "stamp", None)
        self.repeatable, self.decodes = inner.repeatable, getattr(inner, "decodes", False)
        entries = encoder.p + encoder.vocabulary.J
        self.sparse = entries <= DENSE_DENSITY * encoder.d
        self.n_rows = inner.n_rows
        self.stored = int(self.n_rows or 0) * (entries if self.sparse else encoder.d)

    @property
    def nbytes(self) -> int:
        """Bytes to read in one pass, about."""
        inner = self.inner
        if not isinstance(inner, ArrowSource):
            return int(inner.nbytes * len(self.encoder.names) / max(1, len(inner.names)))
        return int(inner.with_fields(self._fields()).decoded)

    def _fields(self) -> list[Any]:
        wanted = set(self.encoder.names)
        return [f for f in self.inner.fields if f.name in wanted or wanted.intersection(f.names)]

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        """Encoded rows of a span in batches of at most ``rows``."""
        at = span.start
        for batch in self.inner.arrow_batches(span, self.encoder.names, rows):
            encoded = self._encode(memory_columns(batch, empty=True), at)
            yield encoded if columns is None else encoded[:, list(columns)]
            at += batch.num_rows

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane takes: a decoded batch with its codes, and encoded ones in use, waiting, being made."""
        words = 8 * len(self.names)
        if isinstance(self.inner, ArrowSource):
            words = sum(field.nbytes for field in self._fields())
        entries = self.encoder.p + self.encoder.vocabulary.J
        encoded = 12 * entries + 8 if self.sparse else 8 * self.encoder.d
        making = rows * (4 * entries + words) * 2.0
        more = self.inner.overhead(self._fields()) if isinstance(self.inner, ArrowSource) else 0.0
        return more + max(making, 2.0 * DECODE_BYTES) + HELD_BATCHES * rows * float(encoded)

    def within(self, room: float) -> Self:
        """The same rows, read in a way that takes at most ``room`` bytes a lane where there is one."""
        if not hasattr(self.inner, "within"):
            return self
        other = copy.copy(self)
        other.inner = self.inner.within(room)
        return other

    def _encode(self, columns: Any, start: int) -> Any:
        """Encoded rows of columns, the first of them ``start``."""
        some = None if self.absent is None else self.absent[start : start + columns.rows]
        encoded = self.encoder.encode(columns, self.unseen, start, some)
        return encoded if self.sparse else encoded.toarray()

    def fingerprint(self) -> str:
        """Changes with the data and with what was learned of them."""
        import hashlib

        words = "\n".join([*self.names, *map(repr, self.encoder.shift), repr(self.unseen)])
        return f"{self.inner.fingerprint()}:{hashlib.sha256(words.encode()).hexdigest()[:16]}"


class _InMemory:
    """What an ``EncodedSource`` asks of the source of columns that are in memory."""

    repeatable, decodes = True, False

    def __init__(self, columns: MemoryColumns) -> None:
        self.names, self.n_rows = columns.names, columns.rows
        self.files: list[Path] = []
        self.spans = even_spans(columns.rows, 16 * max(1, len(columns.names)))
        self.nbytes = 8 * columns.rows * len(columns.names)

    def fingerprint(self) -> str:
        """Good as long as this object lives."""
        return f"memory:{id(self):x}"


class HeldRows(EncodedSource):
    """Columns in memory, encoded while they are read: where the memory limit does not hold all encoded rows at once."""

    def __init__(self, columns: MemoryColumns, encoder: Any, unseen: str | None, absent: Any = None) -> None:
        super().__init__(_InMemory(columns), encoder, unseen, absent)
        self._columns = columns

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        """Encoded rows of a span in batches of at most ``rows``."""
        for start in range(span.start, span.stop, rows):
            encoded = self._encode(self._columns.part(start, min(span.stop, start + rows)), start)
            yield encoded if columns is None else encoded[:, list(columns)]
