"""Rows on Spark: one task for each partition by ``mapInArrow``, sums merged in a fixed tree on the executors.

    DataFrame of numbers, arrays, vectors   →   row blocks of its partitions       transform   →   a lazy DataFrame

PySpark is imported inside functions only; who has not loaded it has no DataFrame of it. Java comes from the system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ritz.data.engines import Asked, Columns, Engine
from ritz.data.engines.spark.fields import (
    among,
    common_dtype,
    fields_of,
    is_spark,
    looked_at,
    names_of,
    table_of,
)

__all__ = ["ENGINE"]


class Spark(Engine):
    """Spark DataFrames."""

    name = "spark"
    library = "pyspark"
    lazy = True

    def takes(self, X: Any) -> bool:
        """Spark DataFrames; those that cannot be served are refused by ``adopt``."""
        return is_spark(X)

    def adopt(self, X: Any, asked: Asked) -> Any:
        """Row blocks of the partitions."""
        from ritz.data.engines.spark.blocks import SparkBlocks

        table = among(X, asked.names)
        if table.adopted is None:
            table.adopted = SparkBlocks(table, budget=asked.room)
        return table.adopted

    def columns(self, X: Any) -> Columns:
        """Dtype and names by the schema; arrays and vectors cost a look at one row."""
        from ritz.data.engines.spark.session import Work

        table = table_of(X)
        fields = looked_at(table, fields_of(table), Work(table.frame).run)
        names = names_of(fields)
        return Columns((float("nan"), len(names)), common_dtype(fields), names)

    def map_rows(self, X: Any, function: Callable[[Any], Any], width: int, dtype: Any, names: Any = None) -> Any:
        """A DataFrame of ``width`` columns, beside those that are no features."""
        from ritz.data.engines.spark.lazy import coordinates
        from ritz.data.engines.spark.reader import NumberReader
        from ritz.data.engines.spark.rows import selected
        from ritz.data.engines.spark.session import Work

        table = table_of(X)
        fields = looked_at(table, fields_of(table), Work(table.frame).run)
        reader = NumberReader(fields, common_dtype(fields))
        frame = selected(table, others=True)
        return coordinates(frame, table.features, table.others, reader, function, width, dtype, names)

    def among(self, X: Any, names: Sequence[str] | None) -> Any:
        """The columns of a fit; further ones go along in ``transform``."""
        return among(X, names)

    def named(self, Z: Any, names: Sequence[str]) -> Any:
        """Coordinates by the names of the components."""
        from ritz.data.engines.spark.lazy import named

        return named(Z, list(names))

    def computed(self, Z: Any) -> Any:
        """The numbers of a DataFrame in this process."""
        from ritz.data.engines.spark.lazy import values_of

        return values_of(Z)

    def weighed(self, X: Any, name: str, memory: Any = None) -> tuple[Any, Any]:
        """The other columns, and the weights in a column, which are fetched when they are looked at."""
        from ritz.data.engines.spark.weights import weighed

        return weighed(X, name, memory)

    def opened(self, X: Any, memory: Any = None) -> Any:
        """Columns that the executors look at and encode."""
        from ritz._core.memory import limit
        from ritz.data.engines.spark.encode import SparkTable

        return SparkTable(X, limit(memory))


ENGINE = Spark()
