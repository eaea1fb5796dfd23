"""Columns of a Spark DataFrame that hold numbers: scalars, arrays of numbers, vectors of ``pyspark.ml``.

    x  double                        →   x                          one column
    e  array<float>, m entries       →   e[0] … e[m−1]              an embedding a row
    v  vector, dense or sparse       →   v[0] … v[m−1]              sparse ones stay sparse

A column that holds something else raises by name. How long arrays and vectors are, no schema tells: one row is looked
at, and every pass finds out a row of another length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.words import counted, shorten

__all__ = [
    "Chosen", "Field", "among", "column", "common_dtype", "fields_of", "is_spark", "looked_at", "names_of", "numbered",
    "table_of",
]  # fmt: skip

#: NumPy's names of Spark's types of numbers.
NUMBERS = {
    "ByteType": "int8", "ShortType": "int16", "IntegerType": "int32", "LongType": "int64", "FloatType": "float32",
    "DoubleType": "float64", "BooleanType": "bool", "DecimalType": "float64",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """One column of a DataFrame that holds numbers."""

    name: str
    kind: str  # "number", "array" or "vector"
    dtype: np.dtype[Any]
    nullable: bool
    width: int = 1  # entries of a row; 0 where nobody has looked

    @property
    def names(self) -> list[str]:
        """The names of its columns of numbers."""
        return [self.name] if self.kind == "number" else [f"{self.name}[{i}]" for i in range(self.width)]


@dataclass(eq=False)
class Chosen:
    """A DataFrame of which some columns are the rows of a fit; the others go along, or weigh them."""

    frame: Any
    features: tuple[str, ...]
    weight: str | None = None
    known: tuple[str, ...] | None = None  # names of the columns of a fit, which tell how long arrays and vectors are
    adopted: Any = None  # row blocks, where they were made
    located: Any = None  # its partitions, where they were counted

    @property
    def others(self) -> list[str]:
        """The columns that are no features."""
        return [name for name in self.frame.columns if name not in self.features]


def is_spark(X: object) -> bool:
    """Whether ``X`` is a Spark DataFrame, of any kind, or a choice of its columns; loads nothing."""
    if isinstance(X, Chosen):
        return True
    kind = type(X)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith(("pyspark.sql", "pyspark.pandas"))


def table_of(X: Any) -> Chosen:
    """A DataFrame and its features, which are all columns unless some were chosen; refuses what cannot be served."""
    if isinstance(X, Chosen):
        return X
    module = type(X).__module__
    if module.startswith("pyspark.sql.connect"):
        raise InputError(
            "expected a DataFrame of a Spark session in this process, through whose context passes are sent",
            received="a DataFrame of Spark Connect, which has no such context",
            hint="run the program with spark-submit, or make the session by SparkSession.builder.master(…); "
            "for a small table X.toPandas() will do",
        )
    if module.startswith("pyspark.pandas"):
        raise InputError(
            "expected a Spark DataFrame",
            received="one of pandas on Spark",
            hint="X.to_spark() gives the DataFrame below it",
        )
    if getattr(X, "isStreaming", False):
        raise InputError(
            "expected a DataFrame whose rows can be read again",
            received="a streaming DataFrame",
            hint="write the stream to a table and fit that, or call partial_fit in foreachBatch",
        )
    names = list(X.columns)
    twice = sorted({repr(name) for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            "expected columns of different names in a DataFrame",
            received=f"more than one {shorten(twice)}",
            hint="rename them: X.toDF(*names)",
        )
    return Chosen(X, tuple(names))


def among(X: Any, names: Sequence[str] | None) -> Chosen:
    """The columns of a fit in a DataFrame that may have more, in the order of the fit; all where they are not there."""
    table = table_of(X)
    if names is None or table.known is not None:
        return table
    columns, wanted = (
        set(table.features),
        dict.fromkeys(name if name in table.features else _root(name) for name in names),
    )
    if not columns.issuperset(wanted):
        return table
    same = tuple(wanted) == table.features
    return table if same else Chosen(table.frame, tuple(wanted), table.weight, tuple(names), located=table.located)


def _root(name: str) -> str:
    """The column of arrays or vectors that ``name[3]`` belongs to."""
    return name.rpartition("[")[0]


def column(name: str) -> Any:
    """The column of a name, whatever characters it has."""
    from pyspark.sql import functions as F

    quoted = name.replace("`", "``")
    return F.col(f"`{quoted}`")


def numbered(frame: Any, names: Sequence[str]) -> Any:
    """Columns in this order, under names that ``mapInArrow`` takes: it knows none with a dot or a quote."""
    return frame.select(*[column(name).alias(f"c{j}") for j, name in enumerate(names)])


def fields_of(table: Chosen) -> list[Field]:
    """The features by name and type; arrays and vectors have no width yet."""
    types = {field.name: field for field in table.frame.schema.fields}
    found: list[Field] = []
    refused: list[str] = []
    for name in table.features:
        field = _field(name, types[name].dataType, bool(types[name].nullable))
        if field is None:
            refused.append(f"{name!r} ({types[name].dataType.simpleString()})")
        else:
            found.append(field)
    if refused:
        raise InputError(
            "every column of a frame must hold numbers",
            received=f"non-numeric column{'s' if len(refused) > 1 else ''} {shorten(refused)}",
            hint="choose the others first: X.select(…) or X.drop(…); transform lets further columns go along",
        )
    if not found:
        raise InputError(
            "Found array with 0 feature(s)", received="a DataFrame without columns", hint="look at its select"
        )
    return found


def _field(name: str, kind: Any, nullable: bool) -> Field | None:
    called = type(kind).__name__
    if called in NUMBERS:
        return Field(name, "number", np.dtype(NUMBERS[called]), nullable)
    if called == "ArrayType" and type(kind.elementType).__name__ in NUMBERS:
        entries = np.dtype(NUMBERS[type(kind.elementType).__name__])
        return Field(name, "array", entries, nullable or bool(kind.containsNull), 0)
    if called == "VectorUDT":
        return Field(name, "vector", np.dtype(np.float64), nullable, 0)
    return None


def common_dtype(fields: Sequence[Field]) -> np.dtype[Any]:
    """NumPy's promotion of all columns; floating wherever a value may be missing."""
    common = np.result_type(*{field.dtype for field in fields})
    return common if common.kind == "f" or not any(field.nullable for field in fields) else np.dtype(np.float64)


def names_of(fields: Sequence[Field]) -> list[str]:
    """The names of all columns of numbers."""
    return [name for field in fields for name in field.names]


def looked_at(table: Chosen, fields: Sequence[Field], run: Any) -> list[Field]:
    """Fields with their widths: those of the fit by its names where these are known, else by a look at one row."""
    unknown = [field.name for field in fields if not field.width]
    if not unknown:
        return list(fields)
    if table.known is not None:
        widths = {name: sum(other.startswith(f"{name}[") for other in table.known) for name in unknown}
    else:
        widths = _first_widths(table, [field for field in fields if not field.width], run)
    return [field if field.width else replace(field, width=widths[field.name]) for field in fields]


def _first_widths(table: Chosen, fields: Sequence[Field], run: Any) -> dict[str, int]:
    from pyspark.sql import functions as F

    sizes = []
    for field in fields:
        if field.kind == "vector":
            inside = F.unwrap_udt(column(field.name))
            sizes.append(F.coalesce(inside["size"], F.size(inside["values"])))
        else:
            sizes.append(F.size(column(field.name)))
    lengths = table.frame.select(*[size.alias(f"s{j}") for j, size in enumerate(sizes)])
    there = lengths.where(" AND ".join(f"s{j} > 0" for j in range(len(sizes))))
    first = run(lambda: there.first(), "how long arrays and vectors are")
    if first is None:
        raise InputError(
            f"expected numbers in {counted(len(fields), 'column')} of arrays or vectors, "
            f"{shorten([repr(field.name) for field in fields])}",
            received="no row with any",
            hint="the data has no rows, or no entries: look at the filter or the path that made it",
        )
    return {field.name: int(first[j]) for j, field in enumerate(fields)}
