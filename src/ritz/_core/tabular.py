"""Results as tables: ``to_frame()`` of whatever Ritz answers with.

    {name: column of m values}  →  pandas (the default), polars or Arrow, m rows

A column of names (rows, components, columns of the data) comes first, so that the three libraries hold the same table.
Two results are equal where their fields are, entry by entry; NaN equals NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib.util import find_spec
from typing import Any

from ritz._core.errors import MissingDependency, ParameterError

__all__ = ["LIBRARIES", "Tabular", "flat_names", "framed"]

LIBRARIES = ("pandas", "polars", "pyarrow")


def framed(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Columns of equal length as a frame; None: pandas, or Arrow where pandas is not installed."""
    if library is None:
        library = "pandas" if find_spec("pandas") else "pyarrow"
    if library not in LIBRARIES:
        words = ", ".join(map(repr, LIBRARIES))
        raise ParameterError(f"library must be one of {words}", received=repr(library), hint="library='pandas'")
    if not find_spec(library):
        raise MissingDependency(f"to_frame(library={library!r}) needs {library}", hint=f"pip install {library}")
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(dict(columns))
    plain = {name: column.tolist() if hasattr(column, "tolist") else list(column) for name, column in columns.items()}
    if library == "polars":
        import polars as pl

        return pl.DataFrame(plain, strict=False)
    import pyarrow as pa

    return pa.table({name: pa.array(column) for name, column in plain.items()})


def flat_names(values: Any, otherwise: str) -> tuple[Any, list[Any], list[str] | None]:
    """A labelled result as numbers, names of its rows and of its columns; rows without names get numbers from 0."""
    import numpy as np

    if hasattr(values, "index") and hasattr(values, "to_numpy") and not callable(values.index):  # of pandas
        names = [str(name) for name in values.columns] if hasattr(values, "columns") else None
        return values.to_numpy(), list(values.index), names
    if hasattr(values, "to_numpy") or hasattr(values, "column_names"):  # of polars or Arrow: names come first
        titles = list(values.columns if hasattr(values, "to_numpy") else values.column_names)
        columns = [np.asarray(values[title]) for title in titles]
        return np.column_stack(columns[1:]), columns[0].tolist(), [str(title) for title in titles[1:]]
    values = np.asarray(values)
    return values, [f"{otherwise}{i}" if otherwise else i for i in range(len(values))], None


class Tabular:
    """A result that can be had as a table."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__eq__ in (object.__eq__, _equal):  # that of a data class would ask an array whether it is true
            cls.__eq__ = _equal  # type: ignore[method-assign]

    def _table(self) -> Mapping[str, Any]:
        """Names and columns of equal length."""
        raise NotImplementedError

    def to_frame(self, library: str | None = None) -> Any:
        """This result as a data frame, one line for each thing that it speaks of.

        Parameters
        ----------
        library : "pandas", "polars", "pyarrow" or None
            None: pandas, or Arrow where pandas is not installed.
        """
        return framed(self._table(), library)


def _equal(one: Any, other: Any) -> Any:
    """Whether two results of one class hold the same values; what asks for no comparison is only itself."""
    asked: Any = getattr(one, "__dataclass_params__", None)
    if type(other) is not type(one) or (asked is not None and not asked.eq):
        return NotImplemented
    return _alike(vars(one), vars(other)) if asked is None else _same_fields(one, other)


def _same_fields(one: Any, other: Any) -> bool:
    return all(_alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare)


def _alike(a: Any, b: Any) -> bool:
    """Whether two values are the same: arrays entry by entry, what holds others in each of them."""
    import numpy as np
    from scipy.sparse import issparse

    from ritz._core.linalg import is_foreign, to_numpy

    if a is b:
        return True
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and a.keys() == b.keys() and all(_alike(a[name], b[name]) for name in a)
    if hasattr(a, "equals") and callable(a.equals):  # frames
        return type(a) is type(b) and bool(a.equals(b))
    asked: Any = getattr(type(a), "__dataclass_params__", None)
    if asked is not None and asked.eq and not isinstance(a, Tabular):  # of arrays as well
        return type(a) is type(b) and _same_fields(a, b)
    if is_foreign(a) or is_foreign(b):  # on a device, or of another library
        return type(a) is type(b) and _alike(to_numpy(a), to_numpy(b))
    if issparse(a) or issparse(b):
        return type(a) is type(b) and a.shape == b.shape and (a != b).nnz == 0
    kinds = (np.ndarray, float, complex, np.generic)
    if isinstance(a, kinds) or isinstance(b, kinds):
        x, y = np.asarray(a), np.asarray(b)
        numbers = x.dtype.kind in "fc" and y.dtype.kind in "fciub"
        return x.shape == y.shape and bool(np.array_equal(x, y, equal_nan=numbers))
    return bool(a == b)
