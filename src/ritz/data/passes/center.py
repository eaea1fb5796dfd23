"""A mean in two parts: the rounded mean that is shown, and what rounding took from it.

    μ = high + low,   high = fl(μ),   |low| ≤ u|μ|          z = (x − high) − low

Rows near 1e8 are stored to 1e-8, and so is their mean as one number: taken off as one number it moves every score by
the same 1e-8, however many rows there are. A moment state keeps its mean as ``shift + offset``; the sum and its exact
rounding error [Knuth, TAOCP 2, 4.2.2] are the two parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import split_sum
from ritz.data.passes.blocks import subtract_row
from ritz.data.passes.integers import subtract

__all__ = ["full_columns", "mean_parts", "take_off", "take_off_long", "taken_off", "wider"]

Floats = NDArray[np.float64]

#: Rows of a sparse block that are looked at before its columns are counted.
PROBED = 16


def mean_parts(column: Any) -> tuple[Floats, Floats | None]:
    """High and low part of the mean of column statistics or of a moment state; None for a low part of zeros."""
    high, low = split_sum(column.shift, column.offset)
    less = getattr(column, "offset_low", None)  # of a merged state
    if less is not None:
        high, low = split_sum(high, low + less)
    return high, low if bool(np.any(low)) else None


def taken_off(x: NDArray[Any], mean: Floats | None, low: Floats | None) -> NDArray[Any]:
    """``x − high − low`` in float64."""
    z = np.asarray(x, np.float64)
    if mean is None:
        return z
    out = np.empty_like(z)
    subtract_row(z, mean, out)
    if low is not None:
        subtract_row(out, low, out)
    return out


def full_columns(x: Any, mean: Floats) -> NDArray[np.bool_] | None:
    """(d,) columns of a CSR block with every entry stored and a mean to take off; None where there are none.

    Only these can have a mean far above their spread: an entry that is not stored lies as far from the mean as zero.
    """
    rows, d = x.shape
    if rows == 0 or x.nnz < rows:
        return None
    some: Any = None
    for i in np.unique(np.linspace(0, rows - 1, min(rows, PROBED)).astype(int)):
        columns = x.indices[x.indptr[i] : x.indptr[i + 1]]
        some = np.unique(columns) if some is None else np.intersect1d(some, columns)
        if not len(some):
            return None
    if not x.has_canonical_format:  # an entry may come twice
        x = x.copy()
        x.sum_duplicates()
    full = (np.bincount(x.indices, minlength=d) >= rows) & (mean != 0)
    return full if bool(np.any(full)) else None


def wider(x: Any, dtype: np.dtype[Any]) -> bool:
    """Whether numbers of x have more digits than a dtype."""
    return bool(x.dtype.kind == "f" and x.dtype.itemsize > dtype.itemsize)


def take_off(
    z: NDArray[Any], x: Any, offset: NDArray[np.float64], low: Any, dtype: np.dtype[Any], first: Any
) -> None:  # fmt: skip
    """``z = x − offset`` row by row: in the precision of x where that is wider, else of ``first`` and in two parts."""
    if wider(x, dtype):
        shift = offset if low is None else offset + low
        np.subtract(x, shift[:, None].astype(x.dtype), out=z, casting="same_kind")
        return
    high = offset.astype(dtype)
    rest = (offset - high) + (0.0 if low is None else low)
    np.subtract(first, high[:, None], out=z)
    if bool(np.any(rest)):
        z -= rest[:, None].astype(dtype)


def take_off_long(z: NDArray[Any], x: Any, shift: Floats | None, offset: Floats | None, low: Floats | None) -> None:
    """``z = x − shift − offset`` of integers that float64 cannot hold; what is left of the offset is ``low``."""
    rows = None if offset is None else offset[:, None]
    first = rows if shift is None else shift
    subtract(x, np.zeros(1) if first is None else first, z)
    if rows is not None:
        rest = 0.0 if low is None else low[:, None]
        z -= rest if shift is None else rows + rest
