"""Whatever holds a table, as something that can be looked at and encoded.

opened(X)   →   columns in memory · a Table that stays outside · a collection of an engine

.choose(…)  →  Choice       .census(choice, weights)  →  Census       .encoded(encoder, …)  →  rows or row blocks
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz._core.memory import LITTLE, limit
from ritz.data.encode.census import Census
from ritz.data.encode.choice import Choice, choose
from ritz.data.encode.columns import MemoryColumns, memory_columns
from ritz.data.engines import engine_of
from ritz.data.passes.blocks import DENSE_DENSITY
from ritz.data.tables.table import Table
from ritz.data.words import shorten

__all__ = ["InMemory", "Opened", "is_dense", "of_table", "opened"]

ARROW_ROWS = 1 << 18
#: Rows that are looked at in one go where the memory limit does not hold the codes of all.
PART_ROWS = 1 << 15
#: Share of the memory limit that codes and encoded rows may take, and the bytes of one code and of one entry while they
#: are made: place, column, value, mask, and what is kept of them. 235 MB were seen for 7.2 million entries.
HELD_SHARE, CODE_BYTES, ENTRY_BYTES = 0.5, 16, 40


def is_dense(entries: int, d: int) -> bool:
    """Whether rows with so many entries are handed out dense."""
    return entries > DENSE_DENSITY * d


class Opened:
    """Base: names and kinds of the columns, and how they are looked at and encoded."""

    names: list[str]
    named: bool = True
    table: Table | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        raise NotImplementedError

    def kind(self, name: str) -> str:
        """What a column holds."""
        raise NotImplementedError

    def choose(self, *, categorical: Any = None, numbers: bool, columns: Sequence[str] | None = None) -> Choice:
        """Say which columns are categories and which are numbers."""
        return choose(
            self.names, self.kind, categorical=categorical, numbers=numbers, columns=columns, table=self.table,
            named=self.named,
        )  # fmt: skip

    def census(self, choice: Choice, weights: Any = None) -> Census:
        """Look at the columns of a choice."""
        raise NotImplementedError

    def encoded(self, encoder: Any, unseen: str | None, memory: Any, absent: Any = None) -> Any:
        """Encoded rows; ``absent`` ones may hold anything."""
        raise NotImplementedError

    def map_rows(self, encoder: Any, function: Callable[[Any], Any], width: int, unseen: str | None) -> Any:
        """``function`` of the encoded rows, (n, width), as a collection of a lazy engine."""
        raise NotImplementedError

    def held(self, rows: Any) -> float:
        """Bytes that ``encoded`` put in memory for its rows."""
        return 0.0

    def row_name(self, row: int) -> str:
        """Name a row for a message."""
        return f"row {row}" if self.table is None else self.table.row_name(row)

    def fitting(self, encoder: Any) -> Any:
        """The encoder, for columns of these names; a table without the columns of the fit is refused."""
        if self.named and encoder.named:
            absent = [name for name in encoder.names if name not in self.names]
            if absent:
                raise InputError(
                    f"expected the columns of the fit, {shorten([repr(name) for name in encoder.names])}",
                    received=f"a table without {shorten([repr(name) for name in absent])}",
                    hint="give the columns of the fit, by their names",
                )
            return encoder
        if len(self.names) != len(encoder.columns):
            raise InputError(
                f"X has {len(self.names)} features, but the fit is expecting {len(encoder.columns)} features as input",
                received=f"columns {shorten(self.names)}",
                hint="give the columns of the fit, in the same order",
            )
        return encoder if list(encoder.columns) == self.names else encoder.renamed(self.names)


class InMemory(Opened):
    """Columns in memory."""

    def __init__(self, columns: MemoryColumns, table: Table | None = None, memory: Any = None) -> None:
        self.columns, self.table, self._memory = columns, table, memory
        self.names, self.named = columns.names, columns.named

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.columns.rows

    def kind(self, name: str) -> str:
        """What a column holds."""
        return self.columns.kind(name)

    def census(self, choice: Choice, weights: Any = None) -> Census:
        """Look at the columns of a choice."""
        census, n = Census(choice), self.columns.rows
        weights = None if weights is None else np.asarray(weights, np.float64)
        if _holds(self._memory, n * len(choice.names) * CODE_BYTES):
            census.update(self.columns, weights)
            return census
        for start in range(0, n, PART_ROWS):
            stop = min(n, start + PART_ROWS)
            census.update(self.columns.part(start, stop), None if weights is None else weights[start:stop])
        return census

    def encoded(self, encoder: Any, unseen: str | None, memory: Any, absent: Any = None) -> Any:
        """CSR (n, d), or an array where all are numbers; row blocks where the memory limit does not hold these."""
        encoder = self.fitting(encoder)
        if not _holds(memory, self.columns.rows * (encoder.p + encoder.vocabulary.J) * ENTRY_BYTES):
            from ritz.data.encode.stream import HeldRows
            from ritz.data.engines.stream.blocks import StreamBlocks

            return StreamBlocks(HeldRows(self.columns, encoder, unseen, absent), budget=limit(memory))
        rows = encoder.encode(self.columns, unseen, 0, absent)
        return rows.toarray() if encoder.vocabulary.J == 0 else rows

    def held(self, rows: Any) -> float:
        """Bytes of the codes and of the encoded rows, and of the table where it came from a file."""
        loaded = 0.0 if self.table is None else float(self.table.loaded)
        size = getattr(rows, "nbytes", 0) if isinstance(rows, np.ndarray) else 12 * getattr(rows, "nnz", 0)
        return loaded + size + self.columns.coded_bytes


def _holds(memory: Any, size: float) -> bool:
    """Whether codes or encoded rows of so many bytes fit the share of the limit that is theirs."""
    return (memory is None and size <= LITTLE) or size <= HELD_SHARE * limit(memory)


def opened(X: Any, memory: Any = None) -> Opened:
    """A table that can be looked at and encoded; what is opened already is given back."""
    if isinstance(X, Opened):
        return X
    table: Opened = engine_of(X).opened(X, memory)
    return table


def of_table(table: Table, memory: Any) -> Opened:
    """A Table in memory where the limit holds it, else one that is read in pieces, here or by a cluster."""
    from ritz.data.encode.stream import StreamedTable

    streamed = StreamedTable(table)
    if streamed.cluster is None:
        table.settle(HELD_SHARE * limit(memory))
    if table.lazy or streamed.cluster is not None:
        return streamed
    import pyarrow as pa

    joined = pa.concat_tables(table.batches(None, ARROW_ROWS))
    return InMemory(memory_columns(joined, empty=True), table, memory)
