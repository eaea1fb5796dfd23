"""Data frames: pandas, polars, pyarrow and whatever else narwhals reads; their libraries, their names, their numbers.

    frame (n × d, one type a column)  →  ndarray (n, d), one dtype for all

The common dtype is NumPy's promotion of the columns' own dtypes, so float32 stays float32 and booleans stay
booleans. Missing values become NaN and therefore need a floating dtype. A pandas frame that is one block is
handed out as a view; every other frame is laid out in one array, so the peak is the frame plus the array.
A column that holds no numbers raises by name: a silent choice of columns is made for files only.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.engines import engine_of, registered
from ritz.data.passes.integers import EXACT, warn_lost
from ritz.data.words import shorten

__all__ = [
    "NO_NUMBERS", "copied_bytes", "frame_names", "frame_source", "frame_to_rows", "holds_numbers", "index_labels",
    "is_frame", "is_missing", "is_pandas", "is_polars", "library_of", "narwhal", "require_names", "row_labels",
]  # fmt: skip


#: What Python turns into a number although it is none: a date of NumPy becomes its nanoseconds since 1970.
NO_NUMBERS = (str, bytes, complex, np.datetime64, np.timedelta64)


def is_pandas(X: object) -> bool:
    """Whether ``X`` is a frame of pandas, as its type tells: narwhals asks for longer than a small fit takes."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(X) is getattr(pandas, "DataFrame", None)


def is_polars(X: object) -> bool:
    """The same of polars, whose names are never shared."""
    polars = sys.modules.get("polars")
    return polars is not None and type(X) is getattr(polars, "DataFrame", None)


def is_frame(X: object) -> bool:
    """Say whether ``X`` is a data frame: two dimensions, named columns, all in memory."""
    if isinstance(X, np.ndarray) or type(X).__module__.startswith("scipy.sparse"):
        return False
    if is_pandas(X) or is_polars(X):
        return True
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def narwhal(X: Any) -> Any:
    """The frame as narwhals sees it; columns that share a name are refused, as nothing could be found by it."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(X, eager_only=True)
    except DuplicateError as error:
        names = [str(name) for name in getattr(X, "columns", ())] if hasattr(X, "iloc") else list(X.column_names)
        twice = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
        raise InputError(
            "expected columns of different names in a frame",
            received=shorten(twice) or str(error),
            hint="rename them, or let ritz.read(X) number them ('a', 'a_2'), or give the numbers alone: X.to_numpy()",
        ) from error


def require_names(X: Any) -> None:
    """Refuse columns that share a name."""
    if not (X.columns.is_unique if is_pandas(X) else is_polars(X)):
        narwhal(X)


def frame_names(X: Any) -> list[Any]:
    """Column names as the frame holds them (pandas allows other things than strings)."""
    return list(X.columns if is_polars(X) else narwhal(X).columns)


def library_of(X: Any) -> str | None:
    """``pandas``, ``polars`` or ``pyarrow`` for a frame, ``pandas`` for a Table if it is installed; None otherwise."""
    if is_pandas(X) or is_polars(X):
        return "pandas" if is_pandas(X) else "polars"
    if hasattr(X, "tocsr"):  # sparse rows have no names
        return None
    from ritz.data.tables.table import Table

    if isinstance(X, Table):
        from importlib.util import find_spec

        return "pandas" if find_spec("pandas") else "pyarrow"
    if not is_frame(X):
        return None
    kind = narwhal(X).implementation
    return "pandas" if kind.is_pandas() else "polars" if kind.is_polars() else "pyarrow"


def row_labels(X: Any) -> list[Any] | None:
    """Names of the rows: a pandas index, those of an AnnData, identifiers of a Table in memory; None without any."""
    return index_labels(X) if is_pandas(X) and not registered else engine_of(X).labels(X)


def index_labels(X: Any) -> list[Any] | None:
    """A pandas index that names rows; None where it only numbers them."""
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "columns") or not hasattr(index, "tolist"):
        return None
    numbered = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1  # only places
    return None if numbered else list(index.tolist())


def frame_to_rows(X: Any) -> Any:
    """Give the frame's numbers as an array (n, d), or as a sparse matrix when every column is sparse."""
    from ritz.data.tables.numbers import LONG, arrow_columns, pandas_rows, polars_columns, polars_rows

    if is_pandas(X) and X.columns.is_unique and (array := pandas_rows(X)) is not None:
        return array
    if is_polars(X) and (array := polars_rows(X)) is not None:
        return array
    if is_polars(X) and (columns := polars_columns(X)) is not None:
        return _side_by_side(columns, X.columns, X.shape, [str(kind) in LONG for kind in X.dtypes])
    frame = narwhal(X)
    native, kind = frame.to_native(), frame.implementation
    if kind.is_pandas() and native is not X and (array := pandas_rows(native)) is not None:
        return array
    if kind.is_pyarrow() and (columns := arrow_columns(native)) is not None:
        return _side_by_side(columns, frame.columns, frame.shape, [str(kind) in LONG for kind in native.schema.types])
    each = [_column(series) for series in frame.iter_columns()]
    columns = [values for values in each if values is not None]
    if len(columns) < len(each):
        named = zip(frame.columns, _kinds(frame, native), each, strict=True)
        raise _refused([f"{name!r} ({kind})" for name, kind, values in named if values is None])
    long = [str(series.dtype) in LONG or _long_objects(series) for series in frame.iter_columns()]
    return _side_by_side(columns, frame.columns, frame.shape, long)


def _side_by_side(
    columns: list[np.ndarray], names: Sequence[Any], shape: tuple[int, int], long: list[bool]
) -> np.ndarray:
    """Columns as one array; those of integers that lose digits there are named."""
    from ritz.data.tables.numbers import side_by_side

    rows, far = side_by_side(columns, shape, [j for j, may in enumerate(long) if may])
    for j in far:
        warn_lost(f"column {str(names[j])!r}")
    return rows


def copied_bytes(X: Any) -> int:
    """Bytes of the array that ``frame_to_rows`` makes beside the frame; 0 where it hands out a view."""
    if is_polars(X):
        return int(X.shape[0] * X.shape[1] * 8)
    frame = X if is_pandas(X) else narwhal(X)
    n, d = frame.shape
    if frame is X or frame.implementation.is_pandas():
        import pandas as pd

        native = X if frame is X else frame.to_native()
        dtypes = set(native.dtypes)
        sparse = all(isinstance(dtype, pd.SparseDtype) and dtype.fill_value == 0 for dtype in dtypes)
        if d == 0 or sparse or (_plain_block(dtypes) and _root(native.iloc[:, 0].to_numpy()).size == n * d):
            return 0
        widths = [dtype.itemsize if isinstance(dtype, np.dtype) and dtype.kind in "biuf" else 8 for dtype in dtypes]
        return n * d * max(widths)
    return n * d * 8


def _root(values: np.ndarray) -> np.ndarray:
    """The array whose memory ``values`` looks at: all of a frame, or one column."""
    while isinstance(values.base, np.ndarray):
        values = values.base
    return values


def _plain_block(dtypes: set[Any]) -> bool:
    return len(dtypes) == 1 and all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes)


def frame_source(X: Any) -> Any:
    """The columns of a frame of numbers as a source: they are used where they lie, some rows at a time."""
    import narwhals as nw
    import pyarrow as pa

    from ritz.data.formats.memory import ArrowTable

    table = X if isinstance(X, pa.Table) else None
    if nw.dependencies.is_pandas_dataframe(X):
        sparse = [repr(name) for name, dtype in X.dtypes.items() if hasattr(dtype, "fill_value")]
        if sparse:
            raise InputError(
                "expected columns that are all dense, or all sparse with zeros left out, in a frame read in pieces",
                received=f"sparse column{'s' if len(sparse) > 1 else ''} {shorten(sparse)}",
                hint="allow more memory, or make them dense first: X.sparse.to_dense() of these columns",
            )
        other = [name for name, dtype in X.dtypes.items() if getattr(dtype, "kind", "O") not in "biuf"]
        for name in other:
            if _column(narwhal(X[[name]])[:, 0]) is None:
                raise _refused([f"{name!r} ({X.dtypes[name]})"])
        table = pa.Table.from_pandas(X, preserve_index=False)
    source = ArrowTable(narwhal(X).to_arrow() if table is None else table)
    if source.label_names:
        raise _refused([repr(name) for name in source.label_names])
    return source


def _refused(columns: list[str]) -> InputError:
    return InputError(
        "every column of a frame must hold numbers",
        received=f"non-numeric column{'s' if len(columns) > 1 else ''} {shorten(columns)}",
        hint="drop or encode them first, e.g. X.select_dtypes('number') in pandas or "
        "X.select(polars.selectors.numeric()) in polars; ritz.read(X) sets them aside by itself, and makes columns of "
        "lists of numbers that are equally long",
    )


def _kinds(frame: Any, native: Any) -> list[str]:
    """Words for the type of each column, as the user's own library calls it."""
    if frame.implementation.is_pandas():
        return [str(t) for t in native.dtypes]
    return [str(t) for t in frame.schema.values()]


def _column(series: Any) -> np.ndarray | None:
    """Numbers of a column in its own dtype, missing as NaN; None when it holds something else."""
    dtype = series.dtype
    if dtype.is_decimal() or str(dtype).endswith("Int128"):  # NumPy has no integers of 128 bits
        return _object_column(series.to_list())
    if dtype.is_numeric() or dtype.is_boolean():
        values = series.to_numpy()
        return _object_column(values) if values.dtype == object else values
    native = series.to_native()
    if getattr(native, "dtype", None) == np.dtype(object):  # any Python value; dates have dtypes of their own
        return _object_column(native.to_numpy())
    return None


def holds_numbers(series: Any) -> bool:
    """Whether a column whose type is none of numbers holds them all the same: as Python has them, or sparse ones."""
    native = series.to_native()
    kind: Any = getattr(native, "dtype", None)
    if hasattr(kind, "fill_value"):
        return np.dtype(kind.subtype).kind in "iuf"
    values = native.to_numpy() if kind == np.dtype(object) else ()
    there = [value for value in values if not is_missing(value)]
    if not there or any(isinstance(value, (bool, np.bool_)) for value in there):
        return False
    numbers = _object_column(there)
    return numbers is not None and not bool(np.isnan(numbers).all())


def _long_objects(series: Any) -> bool:
    """Whether a column of Python values has an integer among them that is too long for float64."""
    native = series.to_native()
    if getattr(native, "dtype", None) != np.dtype(object):
        return False
    return any(isinstance(value, int) and abs(value) > EXACT for value in native.to_numpy())


def _object_column(values: Any) -> np.ndarray | None:
    """Turn Python numbers and missing marks into float64; None when anything else is among them."""
    rows = np.empty(len(values), dtype=np.float64)
    for i, value in enumerate(values):
        if is_missing(value):
            rows[i] = np.nan
        elif isinstance(value, NO_NUMBERS):
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
