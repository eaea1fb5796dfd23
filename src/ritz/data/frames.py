"""Data frames to arrays: pandas, polars, pyarrow and whatever else narwhals reads.

    frame (n × d, one type a column)  →  ndarray (n, d), one dtype for all

The common dtype is NumPy's promotion of the columns' own dtypes, so float32 stays float32 and booleans stay
booleans. Missing values become NaN and therefore need a floating dtype. A pandas frame that is one block is
handed out as a view; every other frame is filled column by column, so the peak is the frame plus the array.
A column that holds no numbers raises by name: a silent choice of columns is made for files only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.integers import has_long, warn_lost
from ritz.data.words import shorten

__all__ = ["frame_names", "frame_to_rows", "is_frame"]


def is_frame(X: object) -> bool:
    """Say whether ``X`` is a data frame: two dimensions, named columns, all in memory."""
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def frame_names(X: Any) -> list[Any]:
    """Column names as the frame holds them (pandas allows other things than strings)."""
    import narwhals as nw

    return list(nw.from_native(X, eager_only=True).columns)


def frame_to_rows(X: Any) -> Any:
    """Give the frame's numbers as an array (n, d), or as a sparse matrix when every column is sparse."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    native = frame.to_native()
    if frame.implementation.is_pandas():
        whole = _pandas_whole(native)
        if whole is not None:
            return whole
    # Positions, not names: pandas allows the same name twice.
    columns = [_column(frame, j) for j in range(frame.shape[1])]
    refused = [
        f"{name!r} ({kind})"
        for name, kind, values in zip(frame.columns, _kinds(frame, native), columns, strict=True)
        if values is None
    ]
    if refused:
        raise InputError(
            "every column of a frame must hold numbers",
            received=f"non-numeric column{'s' if len(refused) > 1 else ''} {shorten(refused)}",
            hint="drop or encode them first, e.g. X.select_dtypes('number') in pandas or "
            "X.select(polars.selectors.numeric()) in polars; ritz.read(path) sets them aside by itself",
        )
    dtype = np.result_type(*[v.dtype for v in columns if v is not None]) if columns else np.float64
    rows = np.empty(frame.shape, dtype=dtype, order="F")
    for j, values in enumerate(columns):
        if rows.dtype.kind == "f" and values is not None and has_long(values):
            warn_lost(f"column {str(frame.columns[j])!r}")
        rows[:, j] = values
    return rows


def _pandas_whole(native: Any) -> Any:
    """Return a pandas frame's values without going column by column where pandas can, else None."""
    import pandas as pd

    dtypes = list(native.dtypes)
    if dtypes and all(isinstance(t, pd.SparseDtype) for t in dtypes):
        return native.sparse.to_coo()
    if all(isinstance(t, np.dtype) and t.kind in "biuf" for t in dtypes) and len(set(dtypes)) == 1:
        return native.to_numpy()
    return None


def _kinds(frame: Any, native: Any) -> list[str]:
    """Words for the type of each column, as the user's own library calls it."""
    if frame.implementation.is_pandas():
        return [str(t) for t in native.dtypes]
    return [str(t) for t in frame.schema.values()]


def _column(frame: Any, j: int) -> np.ndarray | None:
    """Numbers of column ``j`` in its own dtype, missing as NaN; None when it holds something else."""
    series = frame[:, j]
    dtype = series.dtype
    if dtype.is_decimal():
        return _object_column(series.to_list())
    if dtype.is_numeric() or dtype.is_boolean():
        values = series.to_numpy()
        return _object_column(values) if values.dtype == object else values
    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), np.dtype):  # object: any Python value
        return _object_column(native.to_numpy())
    return None


def _object_column(values: Any) -> np.ndarray | None:
    """Turn Python numbers and missing marks into float64; None when anything else is among them."""
    rows = np.empty(len(values), dtype=np.float64)
    for i, value in enumerate(values):
        if is_missing(value):
            rows[i] = np.nan
        elif isinstance(value, (str, bytes, complex)):
            return None
        else:
            try:
                rows[i] = float(value)
            except (TypeError, ValueError, OverflowError):
                return None
    return rows


def is_missing(value: object) -> bool:
    """Recognise None and the missing marks of pandas (its NA refuses to be compared, hence by type)."""
    return value is None or type(value).__name__ in {"NAType", "NaTType"}
