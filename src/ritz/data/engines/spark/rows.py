"""A Spark DataFrame as partitions: the columns that are read, how many rows each partition has, and whether they stay.

    plan without a shuffle   →   rows are counted without reading the columns; every pass computes them again
    plan with a shuffle,     →   held by the executors, in memory and on disk, for as long as its row blocks live:
    or with Python in it         a shuffle may change the order of rows, and Python is dear
    plan that says itself    →   read twice before: other rows the second time are an error
    that it is not
    deterministic

Partitions depend on the DataFrame alone; those without rows are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ritz._core.errors import InputError, ParameterError
from ritz.data.engines.partition import Layout
from ritz.data.engines.spark.fields import Chosen, column, common_dtype, fields_of, looked_at, names_of, numbered
from ritz.data.engines.spark.held import Held
from ritz.data.engines.spark.reader import NumberReader
from ritz.data.engines.spark.session import Work
from ritz.data.engines.spark.task import SCHEMA, Common, Prints, changed

__all__ = ["Located", "Partitions", "Persist", "located", "of_table", "selected"]

#: Nodes of a physical plan after which rows may come in another order, or that hold a function in Python.
UNSETTLED = ("Exchange", "CollectLimit", "TakeOrdered", "Coalesce", "Python", "Pandas", "InArrow", "Sample")

Persist = bool | Literal["auto"]


@dataclass(frozen=True)
class Located:
    """Where the rows of a DataFrame are."""

    frame: Any  # the columns that are read: features, and the weight where there is one
    held: Held | None
    notes: list[str]
    rows: dict[int, int]  # rows of every partition that has some, by its number
    stored: int  # entries of vectors
    sparse: bool  # whether any vector is sparse


@dataclass(frozen=True)
class Partitions:
    """Rows of a table, on executors."""

    frame: Any  # exactly the columns that are read
    reader: Any
    rows: dict[int, int]
    d: int
    dtype: np.dtype[Any]
    sparse: bool
    stored: int
    names: list[str] | None
    held: Held | None = None
    notes: list[str] = field(default_factory=list)


def of_table(table: Chosen, work: Work, persist: Persist = "auto") -> Partitions:
    """The partitions of a DataFrame of numbers."""
    fields = looked_at(table, fields_of(table), work.run)
    dtype = common_dtype(fields)
    reader, names = NumberReader(fields, dtype), names_of(fields)
    found = located(table, reader, work, persist)
    n, plain = sum(found.rows.values()), sum(one.width for one in fields if one.kind != "vector")
    stored = found.stored + n * plain if found.sparse else n * len(names)
    frame = numbered(found.frame, table.features)
    return Partitions(
        frame, reader, found.rows, len(names), dtype, found.sparse, stored, names, found.held, found.notes
    )  # fmt: skip


def located(table: Chosen, reader: Any, work: Work, persist: Persist = "auto") -> Located:
    """Where the rows are; counted once for all that is read of the same choice of columns."""
    if table.located is None:
        frame, held, notes = settled(selected(table), reader, work, persist)
        vectors = [one.name for one in table.frame.schema.fields if type(one.dataType).__name__ == "VectorUDT"]
        sums = counted(frame, work, [name for name in vectors if name in table.features])
        table.located = Located(frame, held, notes, *sums)
    found: Located = table.located
    return found


def selected(table: Chosen, others: bool = False) -> Any:
    """The DataFrame with the columns that are read: features, vectors as what they are made of, and the weight.

    ``others``: with the columns that go along, instead of the weight alone.
    """
    kinds = {one.name: type(one.dataType).__name__ for one in table.frame.schema.fields}
    along = table.others if others else [] if table.weight is None else [table.weight]
    features = [
        _entries(column(name)).alias(name) if kinds[name] == "VectorUDT" else column(name) for name in table.features
    ]
    return table.frame.select(*features, *[column(name) for name in along])


def _entries(vector: Any) -> Any:
    """What a vector is made of: type, size, indices, values. Dense ones get an empty list of indices instead of none.

    Spark is slow to write missing lists for Python: 200,000 dense vectors of 100 entries took 2.9 to 6.1 s to get
    there, and 0.8 to 1.0 s with empty lists.
    """
    from pyspark.sql import functions as F

    parts = F.unwrap_udt(vector)
    return parts.withField("indices", F.coalesce(parts["indices"], F.array().cast("array<int>")))


# how many rows there are


def counted(frame: Any, work: Work, vectors: list[str] | None = None) -> tuple[dict[int, int], int, bool]:
    """Rows of every partition, stored entries of columns of vectors, and whether any vector is sparse."""
    from pyspark.sql import functions as F

    inside = [column(name) for name in vectors or ()]
    entries = sum((F.coalesce(F.size(one["values"]), F.lit(0)) for one in inside), F.lit(0))
    sparse = sum((F.coalesce((one["type"] == 0).cast("int"), F.lit(0)) for one in inside), F.lit(0))
    listed = frame.select(F.spark_partition_id().alias("p"), entries.alias("e"), sparse.alias("s"))
    sums = listed.groupBy("p").agg(F.count(F.lit(1)), F.sum("e"), F.max("s"))
    found = sorted(tuple(row) for row in work.run(lambda: sums.collect(), "rows of every partition"))
    if not found:
        raise InputError(
            "Found array with 0 sample(s)",
            received="a DataFrame without rows",
            hint="the data has no rows: look at the filter or the path that made it",
        )
    return {int(p): int(n) for p, n, _, _ in found}, sum(int(e) for _, _, e, _ in found), any(s for *_, s in found)


# whether they stay


def settled(frame: Any, reader: Any, work: Work, persist: Persist) -> tuple[Any, Held | None, list[str]]:
    """The DataFrame to be read, what is held for it, and what was done, in words."""
    if persist not in (True, False, "auto"):
        raise ParameterError("persist must be True, False or 'auto'", received=repr(persist))
    notes: list[str] = []
    nodes, deterministic = _plan(frame)
    if not deterministic:
        _require_repeated(frame, reader, work)
        notes.append("the plan says that it is not deterministic: it was read twice, with the same rows")
    why = next((node for node in nodes if any(word in node for word in UNSETTLED) and "Broadcast" not in node), None)
    if persist is False or (persist == "auto" and why is None):
        asked = "as asked for" if persist is False else "its plan has no shuffle and no Python"
        return frame, None, [*notes, f"the DataFrame is computed again in every pass: {asked}"]
    from pyspark import StorageLevel

    held = frame.persist(StorageLevel.MEMORY_AND_DISK)
    reason = "as asked for" if why is None else f"its plan has a step {why}"
    return held, Held(held), [*notes, f"the executors hold the rows meanwhile, in memory and on disk: {reason}"]


def _plan(frame: Any) -> tuple[list[str], bool]:
    """The steps of the physical plan, those behind a cache left out; and whether it says that it is deterministic."""
    execution = frame._jdf.queryExecution()
    return list(_nodes(execution.executedPlan())), bool(execution.analyzed().deterministic())


def _nodes(plan: Any) -> Iterator[str]:
    name = str(plan.nodeName())
    yield name
    inner = plan.inputPlan() if name.startswith("AdaptiveSparkPlan") else None
    if inner is not None:
        yield from _nodes(inner)
        return
    children = plan.children()
    for i in range(children.size()):
        yield from _nodes(children.apply(i))


def _require_repeated(frame: Any, reader: Any, work: Work) -> None:
    """Refuse a DataFrame that gives other rows when it is computed again."""
    shared = work.broadcast(Common(None, reader, Layout(0, False, 1), {}))
    try:
        prints = [_print(frame, shared, work) for _ in range(2)]
    finally:
        shared.destroy()
    if prints[0] != prints[1]:
        raise changed("other numbers in a second reading, of a plan that says it is not deterministic")


def _print(frame: Any, shared: Any, work: Work) -> tuple[int, int]:
    import pickle

    marks = numbered(frame, frame.columns).mapInArrow(Prints(shared), SCHEMA)
    found = [pickle.loads(bytes(row[2])) for row in work.run(lambda: marks.collect(), "whether rows stay the same")]
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return sum(n for n, _ in found), sum(mark for _, mark in found) % 2**64
