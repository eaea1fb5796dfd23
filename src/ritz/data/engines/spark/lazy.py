"""Coordinates as a Spark DataFrame that is computed when somebody asks for it.

    X (features and others)   →   others, as they are · one column a component

Names of the components come from the model. Rows keep their partitions and their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.engines.spark.fields import numbered
from ritz.data.engines.spark.session import Work
from ritz.data.engines.spark.task import Lazily
from ritz.data.formats.pack import numbers

__all__ = ["coordinates", "named", "values_of"]


def coordinates(
    frame: Any,
    features: Sequence[str],
    carried: Sequence[str],
    reader: Any,
    function: Callable[[Any], Any],
    width: int,
    dtype: Any,
    names: Any = None,
) -> Any:
    """``function`` of the rows that ``reader`` makes of some columns, beside those that are ``carried`` along."""
    from pyspark.sql.types import DoubleType, FloatType, StructField, StructType

    kinds = {field.name: field for field in frame.schema.fields}
    kind = FloatType() if np.dtype(dtype) == np.float32 else DoubleType()
    made = [f"z{j}" for j in range(width)]
    along = [StructField(f"c{j}", kinds[name].dataType, True) for j, name in enumerate(carried, len(features))]
    schema = StructType([*along, *(StructField(name, kind, True) for name in made)])
    read = numbered(frame, [*features, *carried])
    Z = read.mapInArrow(Lazily(reader, function, len(features), width, np.dtype(dtype), names), schema)
    return Z.toDF(*carried, *made)


def named(Z: Any, names: Sequence[str]) -> Any:
    """Coordinates with the names of a model's components; those that go along keep theirs."""
    others = list(Z.columns)[: -len(names)] if names else list(Z.columns)
    twice = [name for name in names if name in others]
    if twice:
        raise InputError(
            f"expected no column {twice[0]!r} beside the features, since coordinates get that name",
            received=f"a DataFrame with {twice[0]!r}",
            hint=f"rename it: X.withColumnRenamed({twice[0]!r}, …)",
        )
    return Z.toDF(*others, *names)


def values_of(Z: Any) -> np.ndarray:
    """The numbers of a DataFrame, (n, k), in this process."""
    work = Work(Z)
    table = work.run(lambda: Z.toArrow(), "coordinates")
    columns = [np.concatenate([np.zeros(0, np.float32), *map(numbers, values.chunks)]) for values in table.columns]
    return np.column_stack(columns)
