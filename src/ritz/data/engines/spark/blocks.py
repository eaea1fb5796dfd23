"""Row blocks of a Spark DataFrame: one task a partition by ``mapInArrow``, sums merged in a fixed tree.

    broadcast (create, step)   →   partitions: Arrow batches → blocks → states   →   tree (``states.py``)   →   state

Only sums travel: the rows stay on the executors, and this process holds no more than a few states. Every pass takes a
print of each partition and compares it with that of the first: a DataFrame that gives other rows is found out.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core import journal as journals
from ritz.data.engines.parcel import Parcel
from ritz.data.engines.partition import CHECKED, Layout, Outline, spread, stacked
from ritz.data.engines.spark.fields import table_of
from ritz.data.engines.spark.held import destroyed, when_gone
from ritz.data.engines.spark.pieces import ERROR
from ritz.data.engines.spark.reader import NumberReader
from ritz.data.engines.spark.rows import Partitions, Persist, of_table
from ritz.data.engines.spark.session import Work, told
from ritz.data.engines.spark.states import merged_here, reduced
from ritz.data.engines.spark.task import SCHEMA, Common, Pass, Rows, Sample, changed
from ritz.data.passes.blocks import DENSE_DENSITY, Accumulator, Block, block_rows, sparse_rows

__all__ = ["SparkBlocks"]

S = TypeVar("S", bound=Accumulator)

#: Bits of Spark's number of a row that count it within its partition.
PLACE_BITS = 33

#: Bytes of results that come to this process at once, at most, and the share of the memory limit that they may take.
COLLECT_BYTES, COLLECT_SHARE = 64 << 20, 0.125
#: What a pass takes here beside results: the bridge to the JVM and its sockets.
BRIDGE_BYTES = 8e6
#: Partitions that rows are sampled from at most, and bytes of a table of which all are read for it.
SAMPLED, FEW_BYTES = 8, 64 << 20
#: Share of the partitions from which rows of a sample are found by Spark, which reads all partitions for them, in its
#: own memory: of two with 200,000 vectors of 100 entries Python was sent all in 1.3 s, and those found in 0.5 s.
FOUND_SHARE = 0.25
#: Broadcasts that an array of n rows is cut into at most: a worker opens those of its own partitions only.
CUTS = 64


class SparkBlocks:
    """Row blocks of a Spark DataFrame.

    Parameters
    ----------
    X
        DataFrame of numeric columns, arrays of numbers and vectors.
    persist
        Whether the executors hold the rows between passes: "auto" where the plan has a shuffle or Python in it, else
        they are computed again in every pass. ``notes`` says what was done. What you persisted yourself is used as it
        is.
    budget
        Memory limit of this process in bytes.
    """

    def __init__(self, X: Any, *, persist: Persist = "auto", budget: float | None = None) -> None:
        table = table_of(X)
        self._work = Work(table.frame)
        self._set(of_table(table, self._work, persist), budget)

    @classmethod
    def of(cls, partitions: Partitions, work: Work, budget: float | None = None) -> SparkBlocks:
        """Row blocks of partitions that are known already."""
        blocks = cls.__new__(cls)
        blocks._work = work
        blocks._set(partitions, budget)
        return blocks

    def _set(self, table: Partitions, budget: float | None) -> None:
        n = sum(table.rows.values())
        self.shape: tuple[int, int] = (n, table.d)
        self.dtype, self.stored, self.names = np.dtype(table.dtype), table.stored, table.names
        self.sparse = table.sparse and table.stored <= DENSE_DENSITY * n * table.d
        self.nbytes = table.stored * self.dtype.itemsize
        self.absent: NDArray[np.bool_] | None = None  # rows of weight zero: handed out as zeros
        self.notes = table.notes
        width = max(1, self.stored // max(1, n)) if self.sparse else table.d
        self._layout = Layout(table.d, self.sparse, sparse_rows(width) if self.sparse else block_rows(width))
        self._frame, self._reader = table.frame, table.reader
        starts = list(accumulate(table.rows.values(), initial=0))
        self._parts = {number: (starts[i], rows) for i, (number, rows) in enumerate(table.rows.items())}
        self._room = float(COLLECT_BYTES if budget is None else min(COLLECT_BYTES, COLLECT_SHARE * budget))
        self.reading = 2 * self._room + BRIDGE_BYTES
        self._prints: dict[int, tuple[int, int]] = {}
        self._passes = 0
        self._samples: dict[int, Any] = {}
        self._keeps = table.held  # lives as long as the row blocks do
        self._cut: list[tuple[Any, list[tuple[int, Any]]]] = []
        self._broadcasts: list[Any] = []
        when_gone(self, destroyed, self._broadcasts)

    def __reduce__(self) -> tuple[Any, ...]:
        # What travels to the workers inside of operators: what the table looks like, not where it is.
        return Outline, (self.shape, self.dtype, self.sparse, self.nbytes, self.stored)

    @property
    def partitions(self) -> list[int]:
        """Rows of every partition that has some."""
        return [rows for _, rows in self._parts.values()]

    # the two verbs

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to the accumulator of its partition; accumulators are merged in a fixed tree."""
        total, journal = create(), journals.current()
        number = -1 if journal is None else journal.next_pass()
        label = f"{type(total).__name__} {self.shape} {len(self._parts)} partitions"
        state = None if journal is None else journal.finished(number, label)
        if state is None:
            state = self._summed(create, step, type(total).__name__, float(getattr(total, "nbytes", 0)))
            if journal is not None:
                journal.finish(number, label, state)
        total.restore(state)
        return total

    def _summed(self, create: Any, step: Any, what: str, nbytes: float, task: Any = Pass) -> dict[str, Any]:
        numbers = {number: place for place, number in enumerate(self._parts)}
        with self._shipped((create, step)) as (shared, cuts):
            states = self._frame.mapInArrow(task(shared, cuts), SCHEMA)
            job = lambda: reduced(states, shared, numbers, nbytes, self._room)  # noqa: E731
            pieces = self._run(job, what)
        state, facts = merged_here(pieces, create, len({piece[0] for piece in pieces}))
        self._compare(facts)
        return state

    def summed_by(self, task: Any, create: Callable[[], S], step: Any, nbytes: float) -> S:
        """What ``task`` adds up in every partition, merged in the same tree."""
        total = create()
        total.restore(self._summed(create, step, task.__name__, nbytes, task))
        return total

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i; the rows of ``out`` come from the workers."""
        for start, rows in self._mapped(step, out.nbytes):
            out[start : start + rows.shape[0]] = rows
        return out

    def mapped(self, step: Callable[[dict[str, Any], Block], Any]) -> Iterator[tuple[int, Any]]:
        """``(first row, step(rows))`` of all rows, computed by the workers, in row order."""
        yield from self._mapped(step, np.inf)

    def each(self) -> Iterator[Block]:
        """The rows themselves, in row order: they all come to this machine, some at once."""
        for start, rows in self._mapped(None, self.nbytes):
            yield Block(rows, start)

    def _mapped(self, step: Any, nbytes: float) -> Iterator[tuple[int, Any]]:
        facts: dict[int, Any] = {}
        with self._shipped((None, step)) as (shared, cuts):
            results = self._frame.mapInArrow(Rows(shared, cuts), SCHEMA)
            for _, seq, data in self._results(results, nbytes):
                found = pickle.loads(bytes(data))
                if seq == ERROR:
                    raise found
                if isinstance(found, dict):
                    facts.update(found)
                else:
                    yield found
        self._compare(facts)

    def _results(self, results: Any, nbytes: float) -> Iterator[Any]:
        """Rows of a DataFrame in order: at once where they are few, else computed, put on disk, and fetched in turn."""
        if nbytes <= self._room:
            yield from self._run(lambda: results.collect(), "rows")
            return
        from pyspark import StorageLevel

        held = results.persist(StorageLevel.DISK_ONLY)
        try:
            self._run(lambda: held.count(), "rows")
            try:
                yield from held.toLocalIterator()
            except Exception as error:
                raise told(error) from error
        finally:
            held.unpersist()

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows, spread evenly over some partitions."""
        if rows not in self._samples:
            self._samples[rows] = self._sample(rows)
        return self._samples[rows]

    def _sample(self, rows: int) -> Any:
        numbers = list(self._parts)
        # Each has to be computed for its few rows: one in eight, at least two.
        some = [numbers[i] for i in spread(len(numbers), min(SAMPLED, max(2, -(-len(numbers) // 8))))]
        each = max(1, -(-rows // len(some)))
        strides = {number: max(1, self._parts[number][1] // each) for number in some}
        # Where that is a good part of them all, Spark finds the rows before anything goes to Python.
        found_there = isinstance(self._reader, NumberReader) and FOUND_SHARE * len(numbers) <= len(some)
        frame = _rows_at(self._frame, strides) if found_there else self._frame
        with self._shipped((None, None)) as (shared, cuts):
            task = Sample(shared, cuts, strides, self.nbytes <= FEW_BYTES, placed=found_there)
            found = frame.mapInArrow(task, SCHEMA)
            pieces = [
                (seq, pickle.loads(bytes(data))) for _, seq, data in self._run(lambda: found.collect(), "", False)
            ]
        for seq, piece in pieces:
            if seq == ERROR:
                raise piece
        return stacked([piece for _, piece in pieces]) if pieces else np.empty((0, self.shape[1]), self.dtype)

    # jobs

    def _run(self, job: Callable[[], Any], what: str, counts: bool = True) -> Any:
        title = f"pass {self._passes}, {what}" if what else "a sample of the rows"
        return self._work.run(job, title, *((len(self._parts), self.nbytes) if counts else ()))

    @contextmanager
    def _shipped(self, pair: tuple[Any, Any]) -> Iterator[tuple[Any, list[list[tuple[int, Any]]]]]:
        """What every task of a pass needs, as broadcasts, and its arrays of n rows, cut by partition."""
        from pyspark import cloudpickle

        self._passes += 1
        parcel = Parcel(pair, self.shape, f"pass {self._passes}", 0.0, cloudpickle)
        long = parcel.take_long()
        gone = self.absent if self.absent is not None and self.absent.any() else None
        numbers = list(self._parts)
        checked = frozenset(numbers[i] for i in spread(len(numbers), CHECKED))
        common = Common(parcel, self._reader, self._layout, self._parts, checked, gone is not None)
        made: list[Any] = []
        try:
            cuts = [self._cut_up(array, made) for array in [*([] if gone is None else [gone]), *long]]
            shared = self._work.broadcast(common)
            made.append(shared)
            yield shared, cuts
        finally:
            destroyed(made)

    def _cut_up(self, array: Any, made: list[Any]) -> list[tuple[int, Any]]:
        """Broadcasts of an array of n rows, by the first partition of each; those of weights are made once."""
        for earlier, groups in self._cut:
            if earlier is array:
                return groups
        numbers, size = list(self._parts), -(-len(self._parts) // CUTS)
        groups = []
        for i in range(0, len(numbers), size):
            some = numbers[i : i + size]
            rows = {number: array[self._parts[number][0] :][: self._parts[number][1]] for number in some}
            groups.append((some[0], self._work.broadcast(rows)))
        (self._broadcasts if array.ndim == 1 else made).extend(one for _, one in groups)
        if array.ndim == 1:
            self._cut.append((array, groups))
        return groups

    def _compare(self, facts: dict[int, tuple[int, int]]) -> None:
        """Refuse a pass over other rows than those of the first."""
        lost = [number for number in self._parts if number not in facts]
        if lost:
            raise changed(f"no rows in partition {lost[0]}, where there were {self._parts[lost[0]][1]:,}")
        for number, mark in facts.items():
            if self._prints.setdefault(number, mark) != mark:
                raise changed(f"other rows in partition {number} than in an earlier pass")


def _rows_at(frame: Any, strides: dict[int, int]) -> Any:
    """Rows at equal steps of some partitions, with their places in them as the last column."""
    from pyspark.sql import functions as F

    place = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << PLACE_BITS) - 1))
    numbered = frame.withColumn("part", F.spark_partition_id()).withColumn("place", place)
    wanted = [(F.col("part") == number) & (F.col("place") % stride == 0) for number, stride in strides.items()]
    return numbered.where(reduce(or_, wanted)).drop("part")
