"""Numbers of a frame by what its own library does fastest: whole, or column after column as they lie.

    dtype of all = promotion of the columns' own dtypes; a column of integers or booleans with gaps counts as float64

Asking narwhals for one column after another takes longer than a small fit. Here dtypes are asked for once; None comes
back where columns need to be looked at one by one: dates, texts, objects, decimals, and integers that float64 cannot
hold, whose columns are to be named.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.data.passes.integers import EXACT, has_long

__all__ = ["LONG", "arrow_columns", "pandas_rows", "polars_columns", "polars_rows", "side_by_side"]

NUMBERS = "biuf"
#: Integers that may be longer than float64 holds, as polars, pyarrow and narwhals call them.
LONG = {"Int64", "UInt64", "Int128", "UInt128", "int64", "uint64"}
#: Columns of polars whose arrays have a dtype of their own.
POLARS = {
    "Int8": "int8", "Int16": "int16", "Int32": "int32", "Int64": "int64", "UInt8": "uint8", "UInt16": "uint16",
    "UInt32": "uint32", "UInt64": "uint64", "Float32": "float32", "Float64": "float64",
}  # fmt: skip


def pandas_rows(X: Any) -> Any:
    """Numbers of a pandas frame as an array (n, d), a sparse matrix where all columns leave out zeros, or None."""
    import pandas as pd

    own = X.dtypes
    kinds = set(own)
    if kinds and all(isinstance(kind, pd.SparseDtype) and kind.fill_value == 0 for kind in kinds):
        return X.sparse.to_coo()
    plain = {kind: dtype for kind in kinds if (dtype := _numpy_dtype(kind)) is not None}
    if not kinds or len(plain) < len(kinds):
        return None
    nullable = any(not isinstance(kind, np.dtype) for kind in kinds)
    if len(kinds) == 1 and not nullable:
        return X.to_numpy()
    dtype, gaps = np.result_type(*plain.values()), np.result_type(*[_with_gaps(kind) for kind in plain.values()])
    if nullable and dtype != gaps:  # it depends on whether, and where, something is missing
        missing = X.isna().any().to_numpy()
        if bool(missing.any()):
            each = [plain[kind] for kind in own]
            dtype = np.result_type(*[_with_gaps(kind) if m else kind for kind, m in zip(each, missing, strict=True)])
    rows = X.to_numpy(dtype=dtype, na_value=np.nan) if nullable and dtype.kind == "f" else X.to_numpy(dtype=dtype)
    return None if dtype.kind == "f" and _reach(_long([plain[kind] for kind in own]), rows) else rows


def polars_rows(X: Any) -> np.ndarray | None:
    """Numbers of a polars frame as float64, by one call of polars; None where columns promote to something else."""
    dtypes = [np.dtype(POLARS[name]) for kind in X.dtypes if (name := str(kind)) in POLARS]
    if not dtypes or len(dtypes) < X.shape[1] or np.result_type(*set(dtypes)) != np.float64:
        return None
    rows: np.ndarray = X.to_numpy()
    alike = rows.dtype == np.float64 and rows.shape == X.shape
    return rows if alike and not _reach(_long(dtypes), rows) else None


def polars_columns(X: Any) -> list[np.ndarray] | None:
    """Columns of a polars frame, each as polars makes an array of it; None where some hold no plain numbers."""
    return _columns(X.get_columns()) if {str(kind) for kind in set(X.dtypes)} <= {*POLARS, "Boolean"} else None


def arrow_columns(X: Any) -> list[np.ndarray] | None:
    """Columns of a pyarrow table, likewise."""
    from pyarrow import types

    kinds = set(X.schema.types)
    numbers = all(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) for kind in kinds)
    return _columns(X.columns) if numbers else None


def side_by_side(columns: list[np.ndarray], shape: tuple[int, int], long: list[int]) -> tuple[np.ndarray, list[int]]:
    """Columns as one array, each beside the last in memory, and which of those of ``long`` integers lose digits."""
    dtype = np.result_type(*{values.dtype for values in columns}) if columns else np.dtype(np.float64)
    rows = np.empty(shape, dtype=dtype, order="F")
    for j, values in enumerate(columns):
        rows[:, j] = values
    far = _reach(long, rows) if dtype.kind == "f" else []
    return rows, [j for j in far if columns[j].dtype.kind == "f" or has_long(columns[j])]  # rounded where gaps are


def _columns(series: list[Any]) -> list[np.ndarray] | None:
    """An array for each column; None where one is an array of objects: booleans with gaps."""
    columns = [values.to_numpy() for values in series]
    return columns if all(values.dtype.kind in NUMBERS for values in columns) else None


def _numpy_dtype(kind: Any) -> np.dtype[Any] | None:
    """The dtype of a column of pandas without gaps as an array: its own, or that behind another; else None."""
    behind = "subtype" if hasattr(kind, "fill_value") else "numpy_dtype"  # intervals have a subtype, and no fill value
    dtype = kind if isinstance(kind, np.dtype) else getattr(kind, behind, None)
    return dtype if dtype is not None and dtype.kind in NUMBERS else None


def _with_gaps(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


def _long(dtypes: list[np.dtype[Any]]) -> list[int]:
    return [j for j, dtype in enumerate(dtypes) if dtype.kind in "iu" and dtype.itemsize == 8]


def _reach(long: list[int], rows: np.ndarray) -> list[int]:
    """Columns of long integers that, as floats, reach what float64 holds exactly."""
    if not long or not rows.shape[0]:
        return []
    top, low = rows.max(axis=0), rows.min(axis=0)
    for j in np.flatnonzero(np.isnan(top)):  # fmax passes over gaps, and takes longer
        top[j], low[j] = np.fmax.reduce(rows[:, j]), np.fmin.reduce(rows[:, j])
    return [j for j in long if top[j] >= EXACT or low[j] <= -EXACT]
