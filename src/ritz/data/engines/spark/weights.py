"""Weights that are a column of the DataFrame: it is no feature, and its numbers come here in row order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError, MemoryLimitError
from ritz._core.memory import limit
from ritz.data.engines.spark.blocks import SparkBlocks
from ritz.data.engines.spark.fields import NUMBERS, Chosen, Field, numbered, table_of
from ritz.data.engines.spark.reader import AnyReader, NumberReader
from ritz.data.engines.spark.rows import Partitions, located
from ritz.data.engines.spark.session import Work
from ritz.data.words import nearest, shorten

__all__ = ["weighed"]

#: Share of the memory limit that weights may take.
WEIGHTS_SHARE = 0.5


def weighed(X: Any, name: str, memory: Any) -> tuple[Chosen, Weights]:
    """The other columns as features, and the weights in column ``name``."""
    table = table_of(X)
    if name not in table.features:
        raise InputError(
            "sample_weight must be the name of a column, or one number for each row",
            received=f"{name!r}, where the columns are {shorten([repr(one) for one in table.features])}",
            hint=f"did you mean {nearest(name, list(table.features))!r}?",
        )
    kind = next(field for field in table.frame.schema.fields if field.name == name).dataType
    if type(kind).__name__ not in NUMBERS:
        raise InputError(
            "sample_weight must be numbers",
            received=f"column {name!r} of type {kind.simpleString()}",
            hint="weights are frequencies: weight 2 counts a row twice, weight 0 leaves it out",
        )
    features = tuple(one for one in table.features if one != name)
    chosen = Chosen(table.frame, features, name)
    return chosen, Weights(chosen, memory)


class Weights:
    """Weights of all rows; ``numpy.asarray`` fetches them."""

    def __init__(self, table: Chosen, memory: Any) -> None:
        self._table, self._memory = table, memory
        self._values: Any = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self._values is None:
            self._values = self._fetched()
        return np.asarray(self._values, dtype)

    def _fetched(self) -> Any:
        name, work = str(self._table.weight), Work(self._table.frame)
        found = located(self._table, AnyReader(), work)
        n = sum(found.rows.values())
        need, room = 8.0 * n, WEIGHTS_SHARE * limit(self._memory)
        if need > room:
            raise MemoryLimitError(
                f"the weights of all rows must fit into half of the memory limit, {room / 1e9:.3g} GB",
                received=f"{n:,} rows, whose weights take {need / 1e9:.3g} GB",
                hint="fit parts of the table and merge the models, or raise memory=",
            )
        reader = NumberReader([Field(name, "number", np.dtype(np.float64), True)], np.dtype(np.float64))
        frame = numbered(found.frame, [name])
        table = Partitions(frame, reader, found.rows, 1, np.dtype(np.float64), False, n, [name], found.held)
        blocks = SparkBlocks.of(table, work, limit(self._memory))
        return blocks.map_rows(_as_they_are, np.empty((n, 1)))[:, 0]


def _as_they_are(_: dict[str, Any], block: Any) -> Any:
    return block.values
