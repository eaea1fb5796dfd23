"""One row taken off all rows of a table of few columns, many rows at a time.

    out = x − 1rᵀ        x (n, d) by rows, d small:   (n/m, m·d) − (m·d),  r repeated m times

NumPy's loop runs along one row, and beginning it takes as long as twenty entries: 2,048×2 numbers take 36 µs row by row
and 3 in this way. Every entry is the same difference of the same two numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEW_COLUMNS", "subtract_row"]

#: Columns up to which a row is short, and numbers of the rows that are taken at a time.
FEW_COLUMNS, LINE = 32, 512


def subtract_row(x: NDArray[Any], row: NDArray[Any], out: NDArray[Any], dtype: Any = None) -> None:
    """``out = x − row``, which may be ``x`` itself, computed in ``dtype``."""
    many = LINE // x.shape[1] if x.ndim == 2 and 0 < x.shape[1] <= FEW_COLUMNS else 0
    if not many or x.shape[0] < 2 * many or not (x.flags.c_contiguous and out.flags.c_contiguous):
        np.subtract(x, row, out=out, dtype=dtype, casting="same_kind")
        return
    n, d = x.shape
    covered, rows = n // many * many, row[None].repeat(many, axis=0).reshape(-1)
    flat = out[:covered].reshape(-1, many * d)
    np.subtract(x[:covered].reshape(-1, many * d), rows, out=flat, dtype=dtype, casting="same_kind")
    if covered < n:
        np.subtract(x[covered:], row, out=out[covered:], dtype=dtype, casting="same_kind")
