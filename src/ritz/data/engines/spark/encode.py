"""Spark DataFrames of categories: looked at and encoded by the executors, partition by partition.

    partitions  →  one census each, merged in the tree        Arrow batches  →  encoded rows  →  row blocks

Rows are encoded again in every pass, from texts that the executors have or hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np

from ritz.data.encode.columns import memory_columns
from ritz.data.encode.openings import Choice, Opened
from ritz.data.encode.vocabulary import Census
from ritz.data.engines.spark.blocks import SparkBlocks
from ritz.data.engines.spark.fields import numbered, table_of
from ritz.data.engines.spark.lazy import coordinates
from ritz.data.engines.spark.pieces import Piece, in_pieces
from ritz.data.engines.spark.reader import AnyReader, EncodedReader
from ritz.data.engines.spark.rows import Located, Partitions, located
from ritz.data.engines.spark.session import Work
from ritz.data.engines.spark.task import Common, Task, changed

__all__ = ["SparkTable"]

#: Arrow's names of Spark's types; those of others hold no categories and no numbers.
ARROW = {
    "ByteType": "int8", "ShortType": "int16", "IntegerType": "int32", "LongType": "int64", "FloatType": "float32",
    "DoubleType": "float64", "BooleanType": "bool_", "StringType": "string", "VarcharType": "string",
    "CharType": "string", "DateType": "date32", "BinaryType": "binary",
}  # fmt: skip


#: About how many bytes the census of one column takes.
CENSUS_BYTES = 1 << 15


class SparkTable(Opened):
    """A Spark DataFrame."""

    def __init__(self, X: Any, budget: float | None = None) -> None:
        import pyarrow as pa

        self._table, self._budget = table_of(X), budget
        self._work = Work(self._table.frame)
        kinds = {one.name: one.dataType for one in self._table.frame.schema.fields}
        empty = pa.table({name: pa.array([], _arrow(kinds[name])) for name in self._table.features})
        self._meta = memory_columns(empty)
        self.names, self.named = self._meta.names, True

    def kind(self, name: str) -> str:
        """What a column holds, by its type."""
        return self._meta.kind(name)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._found().rows.values())

    def census(self, choice: Choice, weights: Any = None) -> Census:
        """Look at the columns of a choice in every partition."""
        if not choice.names:
            return Census(choice)
        w = None if weights is None else np.asarray(weights, np.float64)
        blocks = self._blocks(choice.names, AnyReader(), len(choice.names), None)
        found = blocks.summed_by(
            Look, lambda: _Counted(choice), _Looking(choice.names, w), CENSUS_BYTES * len(choice.names)
        )
        return found.census

    def encoded(self, encoder: Any, unseen: str | None, memory: Any, absent: Any = None) -> Any:
        """Row blocks of encoded partitions."""
        encoder = self.fitting(encoder)
        entries = encoder.p + encoder.vocabulary.J
        blocks = self._blocks(
            encoder.names,
            EncodedReader(encoder, encoder.names, unseen, absent is not None),
            encoder.d,
            encoder.labels,
            entries,
        )
        blocks.absent = None if absent is None else np.asarray(absent, bool)
        return blocks

    def map_rows(self, encoder: Any, function: Callable[[Any], Any], width: int, unseen: str | None) -> Any:
        """``function`` of the encoded rows as a lazy DataFrame, beside the columns that were not read."""
        encoder = self.fitting(encoder)
        used = set(encoder.names)
        carried = [name for name in self._table.frame.columns if name not in used]
        reader = EncodedReader(encoder, [*encoder.names, *carried], unseen)
        return coordinates(self._table.frame, encoder.names, carried, reader, function, width, np.float64)

    # where the rows are

    def _found(self) -> Located:
        return located(self._table, AnyReader(), self._work)

    def _blocks(self, names: Any, reader: Any, d: int, labels: Any, entries: int | None = None) -> SparkBlocks:
        """Row blocks of some columns."""
        found = self._found()
        stored = sum(found.rows.values()) * (d if entries is None else entries)
        frame = numbered(found.frame, names)
        table = Partitions(
            frame, reader, found.rows, d, np.dtype(np.float64), entries is not None, stored, labels, found.held,
            found.notes,
        )  # fmt: skip
        return SparkBlocks.of(table, self._work, self._budget)


class Look(Task):
    """The census of a partition."""

    def run(self, number: int, common: Common, batches: Iterable[Any]) -> Iterator[Piece]:
        """One state."""
        start, announced = common.parts.get(number, (0, 0))
        at, state = 0, None
        create, step = common.parcel.open(self.cut_of(number) if number in common.parts else None, start)
        sums = create()
        for batch in batches:
            if at + batch.num_rows > announced:
                raise changed(f"more than the {announced:,} rows that partition {number} had")
            step(sums, batch, start + at)
            at += batch.num_rows
        if at != announced:
            raise changed(f"{at:,} rows in partition {number}, where there were {announced:,}")
        if at:
            state = sums.state()
            yield from in_pieces(number, state, {number: (at, 0)})


class _Looking:
    """Feeds columns of some rows to a census, with the weights of these rows."""

    def __init__(self, names: Any, weights: Any) -> None:
        self.names, self.weights = list(names), weights

    def __call__(self, sums: _Counted, batch: Any, start: int) -> None:
        rows = slice(start, start + batch.num_rows)
        columns = memory_columns(batch.rename_columns(self.names))
        sums.census.update(columns, None if self.weights is None else self.weights[rows])


class _Counted:
    """A census as an accumulator."""

    def __init__(self, choice: Choice) -> None:
        self.census = Census(choice)

    def merge(self, other: Self) -> None:
        """Take in the census of later rows."""
        self.census.merge(other.census)

    def state(self) -> dict[str, Any]:
        """The census itself."""
        return {"census": self.census}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a census."""
        self.census = state["census"]


def _arrow(kind: Any) -> Any:
    import pyarrow as pa

    called = type(kind).__name__
    if called == "DecimalType":
        return pa.decimal128(kind.precision, kind.scale)
    return (
        getattr(pa, ARROW[called])() if called in ARROW else pa.null() if called == "NullType" else pa.list_(pa.null())
    )
