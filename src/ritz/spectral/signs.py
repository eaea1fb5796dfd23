"""Order and signs, fixed once for every solver.

In each component the first entry whose magnitude is at least (1 − 1e-6) of the largest is positive. So solver, row
order, chunking, threads and release give the same signs; a tie between two entries (two standardised columns) is
decided by their order, not by rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz._core.tolerance import SIGN_TIE

__all__ = ["signs"]


def signs(V: NDArray[np.floating]) -> NDArray[np.float64]:
    """±1 for every column of V (d×k), so that ``V * signs(V)`` follows the rule."""
    if V.shape[0] == 0 or V.shape[1] == 0:
        return np.ones(V.shape[1])
    size = np.abs(V)
    first = np.argmax(size >= (1 - SIGN_TIE) * size.max(axis=0), axis=0)
    chosen = V[first, np.arange(V.shape[1])]
    return np.where(chosen < 0, -1.0, 1.0)
