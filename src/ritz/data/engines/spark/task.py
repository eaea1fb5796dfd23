"""What a Python worker of Spark runs: the sums of one partition, its coordinates, its sample; merges of eight sums.

    Arrow batches of a partition   →   blocks   →   one state, in pieces           (mapInArrow)
    pieces of eight states, sorted →   one state, in pieces                        (a round of the tree)

Every task is pure. An error of Ritz is a result like any other: it comes out as itself, and Spark does not try again
what must fail again. What else goes wrong is Spark's: it runs the task elsewhere.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ritz._core.blas import limited_blas
from ritz._core.errors import DataChanged, NonFiniteError, RitzError
from ritz.data.engines.partition import Layout, Part, cut, join, present, stacked, sums_of
from ritz.data.engines.spark.pieces import ERROR, Piece, in_pieces, states_of
from ritz.data.engines.spark.prints import Print
from ritz.data.formats.pack import numbers
from ritz.data.passes.blocks import Block

__all__ = ["SCHEMA", "Common", "Lazily", "Merge", "Pass", "Prints", "Rows", "Sample", "changed"]

#: Of the rows that tasks give: states, coordinates and errors, all in pieces.
SCHEMA = "part int, seq int, data binary"
#: Bytes of coordinates that travel in one piece.
ROWS_BYTES = 1 << 20


@dataclass
class Common:
    """What all tasks of a pass share; broadcast once."""

    parcel: Any
    reader: Any
    layout: Layout
    parts: dict[int, tuple[int, int]]  # first row and rows of every partition that has some
    checked: frozenset[int] = frozenset()  # partitions that measure rounding for all
    absent: bool = False  # whether the first of the cut arrays tells which rows have weight zero


@dataclass
class Task:
    """Base: a function of the Arrow batches of one partition."""

    common: Any  # a broadcast
    cuts: list[list[tuple[int, Any]]] = field(default_factory=list)  # arrays of n rows: broadcasts by first partition

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        number = _number()
        try:
            for piece in self.run(number, self.common.value, batches):
                yield _batch(piece)
        except (RitzError, FloatingPointError) as error:
            yield _batch((number, ERROR, pickle.dumps(error)))

    def run(self, number: int, common: Common, batches: Iterable[Any]) -> Iterator[Piece]:
        """Pieces of the result."""
        raise NotImplementedError

    def cut_of(self, number: int) -> list[Any]:
        """The rows of partition ``number`` in every array of n rows."""
        found = []
        for groups in self.cuts:
            first = max(first for first, _ in groups if first <= number)
            found.append(dict(groups)[first].value[number])
        return found


class Pass(Task):
    """The sums of a partition."""

    def run(self, number: int, common: Common, batches: Iterable[Any]) -> Iterator[Piece]:
        """One state."""
        if (part := _part(number, common, batches)) is None:
            return
        cuts, mark = self.cut_of(number), Print()
        part.absent = cuts.pop(0) if common.absent else None
        with careful(common.parcel.errors):
            create, step = common.parcel.open(cuts, part.start)
            state = sums_of(create, step, _blocks(part, common, batches, mark), number in common.checked)
        yield from in_pieces(number, state, {number: (mark.rows, mark.placed)})


class Rows(Task):
    """One row of output for every row of a partition; without a step, the rows themselves."""

    def run(self, number: int, common: Common, batches: Iterable[Any]) -> Iterator[Piece]:
        """Some rows a piece, and at last the print."""
        if (part := _part(number, common, batches)) is None:
            return
        cuts, mark = self.cut_of(number), Print()
        part.absent = cuts.pop(0) if common.absent else None
        held: list[Any] = []
        seq, start = 0, part.start
        scratch: dict[str, Any] = {}
        with careful(common.parcel.errors):
            _, step = common.parcel.open(cuts, part.start)
            for block in _blocks(part, common, batches, mark):
                # The step reuses its buffers.
                held.append(block.values if step is None else np.array(step(scratch, block)))
                if sum(getattr(one, "nbytes", ROWS_BYTES) for one in held) >= ROWS_BYTES:
                    yield number, seq, _packed(start, held)
                    seq, start, held = seq + 1, block.rows.stop, []
        if held:
            yield number, seq, _packed(start, held)
        yield number, seq + 1, pickle.dumps({number: (mark.rows, mark.placed)})


@dataclass
class Sample(Task):
    """Some rows of some partitions, spread evenly; absent ones are left out.

    Other partitions are not read, unless they are ``few``: a worker that leaves rows unread ends, and another one has
    to load its libraries.
    """

    strides: dict[int, int] = field(default_factory=dict)
    few: bool = False
    placed: bool = False  # only the rows wanted come, with their places in the partition as the last column

    def run(self, number: int, common: Common, batches: Iterable[Any]) -> Iterator[Piece]:
        """One piece."""
        if number not in self.strides:
            for _ in batches if self.few else ():
                pass
            return
        if (part := _part(number, common, batches)) is None:
            return
        gone = self.cut_of(number)[0] if common.absent else None
        some = list(
            self._found(part, common, batches, gone) if self.placed else self._read(part, common, batches, gone)
        )
        if some:
            yield number, 0, pickle.dumps(stacked(some))

    def _read(self, part: Part, common: Common, batches: Iterable[Any], gone: Any) -> Iterator[Any]:
        """Rows out of all of the partition."""
        stride = self.strides[part.number]
        for block in _blocks(part, common, batches, Print()):
            places = np.arange(-(block.start - part.start) % stride, block.values.shape[0], stride)
            if gone is not None:
                places = places[~gone[places + block.start - part.start]]
            yield block.values[places]

    def _found(self, part: Part, common: Common, batches: Iterable[Any], gone: Any) -> Iterator[Any]:
        """All rows that come."""
        import pyarrow as pa

        for batch in batches:
            places, rows = numbers(batch.columns[-1]), batch.select(range(batch.num_columns - 1))
            if gone is not None:
                rows = rows.filter(pa.array(~gone[places]))
            if rows.num_rows:
                yield from cut(common.reader.rows(rows), part.layout)


class Prints(Task):
    """The print of a partition, whatever it holds."""

    def run(self, number: int, common: Common, batches: Iterable[Any]) -> Iterator[Piece]:
        """One piece: rows, and the print that does not mind their order."""
        mark = Print()
        for batch in batches:
            mark.add(common.reader.rows(batch))
        if mark.rows:
            yield number, 0, pickle.dumps((mark.rows, mark.free))


@dataclass
class Merge:
    """The states of eight neighbours as one; of pieces ((group, part, seq), data), sorted."""

    common: Any

    def __call__(self, rows: Iterable[tuple[tuple[int, int, int], Any]]) -> Iterator[Piece]:
        group, facts = -1, {}

        def states() -> Iterator[Any]:
            nonlocal group
            for _, state, fact in states_of(_noted(rows)):
                facts.update(fact)
                yield state

        def _noted(rows: Any) -> Iterator[Piece]:
            nonlocal group
            for (group, part, seq), data in rows:  # noqa: B007
                yield part, seq, data

        common = self.common.value
        try:
            with careful(common.parcel.errors):
                create, _ = common.parcel.open()
                state = join(create, states())
            if group >= 0:
                yield from in_pieces(group, state, facts)
        except (RitzError, FloatingPointError) as error:
            yield group, ERROR, pickle.dumps(error)


@dataclass
class Lazily:
    """Coordinates of Arrow batches, as columns beside those that go along; for a DataFrame that is computed later."""

    reader: Any
    function: Any
    features: int  # columns that are read; those behind them go along
    width: int
    dtype: Any
    names: Any = None  # of the features, for messages

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        at = 0
        for batch in batches:
            rows = self.reader.rows(batch)
            with careful(None):
                scores = np.asarray(self._placed(rows, at), self.dtype)
            at += rows.shape[0]
            columns = [np.ascontiguousarray(scores[:, j]) for j in range(self.width)]
            arrays = [*batch.columns[self.features :], *map(pa.array, columns)]
            names = [*batch.schema.names[self.features :], *(f"z{j}" for j in range(self.width))]
            yield pa.RecordBatch.from_arrays(arrays, names)

    def _placed(self, rows: Any, at: int) -> Any:
        from ritz.data.passes.finite import require_finite

        try:
            return self.function(rows)
        except NonFiniteError as error:
            number = _number()
            try:
                require_finite(rows, self.names, lambda i: f"row {at + i} of partition {number}")
            except NonFiniteError as placed:
                raise NonFiniteError(placed.expected, received=placed.received, hint=error.hint) from None
            raise


# rows of a partition


def changed(received: str) -> DataChanged:
    """The error for a DataFrame that gives other rows when it is computed again."""
    return DataChanged(
        "expected the DataFrame to give the same rows each time it is computed",
        received=received,
        hint="no result is given for data of two states; X.persist(), or write it to a table, and fit that",
    )


def _part(number: int, common: Common, batches: Iterable[Any]) -> Part | None:
    if number in common.parts:
        return Part(number, *common.parts[number], common.layout)
    rows = sum(batch.num_rows for batch in batches)
    if rows:
        raise changed(f"{rows:,} rows in partition {number}, where there were none")
    return None


def _blocks(part: Part, common: Common, batches: Iterable[Any], mark: Print) -> Iterator[Block]:
    at = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        gone = part.absent[at : at + batch.num_rows] if common.reader.skips and part.absent is not None else None
        values = common.reader.rows(batch, part.start + at, gone)
        mark.add(values)
        if at + values.shape[0] > part.rows:
            raise changed(f"more than the {part.rows:,} rows that partition {part.number} had")
        for piece in cut(values, part.layout):
            yield Block(present(piece, part, at), part.start + at)
            at += piece.shape[0]
    if at != part.rows:
        raise changed(f"{at:,} rows in partition {part.number}, where there were {part.rows:,}")


def _packed(start: int, held: list[Any]) -> bytes:
    return pickle.dumps((start, stacked(held)), protocol=5)


def _batch(piece: Piece) -> Any:
    import pyarrow as pa

    part, seq, data = piece
    arrays = [pa.array([part], pa.int32()), pa.array([seq], pa.int32()), pa.array([data], pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, ["part", "seq", "data"])


def _number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


@contextmanager
def careful(errors: Any) -> Iterator[None]:
    """With the task's share of the cores, and the caller's floating-point settings."""
    from pyspark import TaskContext

    context = TaskContext.get()
    threads = 1 if context is None else max(1, int(context.cpus()))
    with limited_blas(threads), np.errstate(**(errors or {})):
        yield
