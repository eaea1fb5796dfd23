"""The second table: handed to ``fit`` beside the first, or columns of it by name or number.

fit(X, Y)                     two tables of the same rows
fit(table), target=["y"]      columns of one table are the second; the others are the first

Rows for ``transform`` and ``predict`` may have the columns of the second table or not: they are left out by name, and
from an array by their places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.engines.refused import translated
from ritz.data.passes.integers import as_float
from ritz.data.tables.frames import frame_to_rows, is_frame, narwhal
from ritz.data.tables.table import Table
from ritz.data.words import describe, shorten

__all__ = ["Second", "Together", "first_of", "require_numbers", "second_of", "split", "targets_of"]

Floats = NDArray[np.float64]

DATES = (np.datetime64, np.timedelta64)


@dataclass(frozen=True)
class Together:
    """Both tables as one argument, for steps that know of one."""

    X: Any
    Y: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the first table."""
        return tuple(getattr(self.X, "shape", ()))


@dataclass(frozen=True)
class Second:
    """The second table."""

    values: Floats  # (n, q)
    names: list[str]
    flat: bool  # handed in as a vector, so that predictions are one as well
    dtype: Any = np.float64  # of what was handed in


def targets_of(target: Any) -> list[Any]:
    """The columns that ``target`` names."""
    if target is None:
        return []
    return [target] if isinstance(target, (str, int, np.integer)) else list(target)


def split(model: Any, X: Any, Y: Any) -> tuple[Any, Second]:
    """The first table and the second, from what ``fit`` was given."""
    wanted, name = targets_of(model.target), type(model).__name__
    if Y is not None:
        return first_of(X, wanted, None) if wanted and not isinstance(X, np.ndarray) else X, second_of(Y, name)
    if not wanted:
        raise InputError(
            # scikit-learn's phrase
            f"{name} requires y to be passed, but the target y is None: the second table, or target=",
            received="one table", hint=f"fit(X, Y), or {name}(target='y').fit(table) for columns of one table",
        )  # fmt: skip
    if isinstance(X, Table):
        _require(wanted, X.names)
        kinds = X.kinds
        numbers = [one for one in wanted if kinds[one] in ("numeric", "constant")]
        if len(numbers) < len(wanted):
            lost = next(one for one in wanted if one not in numbers)
            raise _no_numbers(lost, f"{kinds[lost]} values")
        values = X.select(wanted)
        return first_of(X, wanted, None), _second(values, [str(one) for one in wanted], len(wanted) == 1)
    if is_frame(X):
        frame = narwhal(X)
        _require(wanted, list(frame.columns))
        chosen = frame.select(*map(_column(), wanted)).to_native()
        return first_of(X, wanted, None), second_of(chosen, name, flat=len(wanted) == 1)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    places = _places(wanted, X)
    Y = X[:, places]
    return first_of(X, wanted, None), second_of(Y.toarray() if hasattr(Y, "toarray") else Y, name, len(wanted) == 1)


def first_of(X: Any, wanted: list[Any], d: int | None) -> Any:
    """The columns of the first table; rows that have no others, d of them, are given back as they are."""
    if isinstance(X, Table):
        others = [name for name in X.names if name not in wanted]
        return X.narrowed(others) if len(others) < len(X.names) else X
    if not isinstance(X, np.ndarray) and is_frame(X):
        frame = narwhal(X)
        there = [name for name in wanted if name in frame.columns]
        return frame.drop(there).to_native() if there else X
    if not all(isinstance(one, (int, np.integer)) for one in wanted) or not hasattr(X, "shape") or len(X.shape) != 2:
        return X
    if d is not None and X.shape[1] != d + len(wanted):
        return X
    places = _places(wanted, X)
    return X[:, np.setdiff1d(np.arange(X.shape[1]), places)]


def second_of(Y: Any, name: str, flat: bool | None = None) -> Second:
    """A second table as numbers (n, q)."""
    if isinstance(Y, Second):
        return Y
    if isinstance(Y, Table):
        return _second(*Y.numeric(), False)
    refuse_masked(Y)
    names: list[str] | None = None
    if not isinstance(Y, np.ndarray) and is_frame(Y):
        frame = narwhal(Y)
        names = [str(one) for one in frame.columns]
        for name_of, one in zip(names, frame.iter_columns(), strict=True):
            if not (one.dtype.is_numeric() or one.dtype.is_boolean() or str(one.dtype) in ("Object", "Unknown")):
                raise _no_numbers(name_of, f"{one.dtype} values")
        values = frame_to_rows(Y)
        values = values.toarray() if hasattr(values, "toarray") else values
    else:
        values = _array_of(Y)
        label = getattr(Y, "name", None)
        names = [str(label)] if values.ndim == 1 and isinstance(label, str) else None
    if values.ndim not in (1, 2) or values.size == 0:
        raise InputError(f"the second table of {name} has rows and columns", received=f"shape {values.shape}",
                         hint="pass an array of shape (n,) or (n, q)")  # fmt: skip
    vector = values.ndim == 1 if flat is None else flat
    values = values[:, None] if values.ndim == 1 else values
    if values.dtype.kind == "c":
        raise _no_numbers(names[0] if names else "0", "Complex data not supported")  # scikit-learn's phrase
    if values.dtype.kind not in "fiub":
        try:
            if values.dtype.kind in "mM" or any(isinstance(one, DATES) for one in values.flat):
                raise TypeError  # NumPy would take their count of days or nanoseconds
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise _no_numbers(names[0] if names else "0", describe(Y)) from None
    return _second(values, names or [f"y{j}" for j in range(values.shape[1])], vector)


def _array_of(Y: Any) -> Any:
    try:
        return np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
    except (TypeError, ValueError) as error:  # rows of several lengths
        raise translated(error, Y) from error


def _second(values: Any, names: list[str], flat: bool) -> Second:
    given = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    numbers = as_float(given, "the second table") if given.dtype.kind in "iu" else given.astype(np.float64, copy=False)
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    return Second(np.ascontiguousarray(numbers), names, flat, given.dtype)


def require_numbers(Y: Floats, names: list[str]) -> None:
    """Refuse gaps and infinities in the second table."""
    bad = np.argwhere(~np.isfinite(Y))
    if len(bad):
        i, j = (int(one) for one in bad[0])
        raise NonFiniteError(  # scikit-learn's phrase
            "expected finite numbers in the second table: Input y contains NaN or infinity",
            received=f"{Y[i, j]} in column {names[j]!r}, row {i}", hint="drop those rows",
        )  # fmt: skip


def _column() -> Any:
    import narwhals as nw

    return nw.col  # by name, also where that is no text


def _require(wanted: list[Any], names: list[Any]) -> None:
    lost = [one for one in wanted if one not in names]
    if lost:
        shown = shorten([repr(name) for name in names])
        raise InputError(f"expected a column {lost[0]!r} for target", received=f"columns {shown}",
                         hint="name a column of the table, or give the second table to fit(X, Y)")  # fmt: skip
    if len(set(wanted)) == len(names):
        raise InputError("expected columns beside those of target", received="none",
                         hint="target names the second table; the other columns are the first")  # fmt: skip


def _places(wanted: list[Any], X: Any) -> NDArray[np.intp]:
    width = X.shape[1] if len(X.shape) == 2 else 0
    if not all(isinstance(one, (int, np.integer)) and -width <= one < width for one in wanted):
        raise InputError(
            f"target of an array names places of its {width} columns, such as -1 for the last",
            received=shorten([repr(one) for one in wanted]),
            hint="pass a frame to name columns, or give both tables: fit(X, Y)",
        )  # fmt: skip
    places = np.asarray([int(one) % width for one in wanted], np.intp)
    if len(np.unique(places)) == width:
        raise InputError("expected columns beside those of target", received="none", hint="leave some for X")
    return places


def _no_numbers(column: str, received: str) -> InputError:
    return InputError(
        f"the second table takes numbers, also in column {column!r}", received=received,
        hint="for groups give one column of 0 and 1 for each: pandas.get_dummies(y)",
    )  # fmt: skip
