"""Sums that keep what rounding takes: a number as hi + lo, twice as long as float64.

    two_sum      a + b = s + e exactly,   s = fl(a + b)                                   [Knuth; Ogita, Rump, Oishi 05]
    two_product  a · b = p + e exactly,   p = fl(a · b), by Dekker's halves
    add_into     total + low ← total + low + part, in place: a long chain errs by one rounding, not by its length
    settle       total + low ← total + low, in place, low being no more than what rounding takes

The worst case of N plain additions is N·u, and it happens: equal numbers are rounded the same way every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LAG", "add_into", "chain", "settle", "two_product", "two_sum"]

#: Numbers of a panel that is worked on at once: its copies stay in the second-level cache.
PANEL = 1 << 14
#: Terms that may gather in ``low`` before it is settled: as good as settling every one, at a thirtieth of the cost.
LAG = 32
#: Dekker's constant for float64: 2²⁷ + 1.
SPLIT = 134217729.0


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """``a + b`` and what rounding took from it."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """``a · b`` and what rounding took from it; of numbers far from the ends of the range."""
    p = a * b
    ah, bh = a * SPLIT, b * SPLIT
    ah, bh = ah - (ah - a), bh - (bh - b)
    al, bl = a - ah, b - bh
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


def add_into(total: NDArray[np.float64], low: NDArray[np.float64], term: Any) -> None:
    """Add ``term`` to ``total + low``; the three have one shape, and ``total + low`` is the sum."""
    if total.ndim < 2 or total.size <= PANEL:
        _add(total, low, term)
        return
    rows = max(1, PANEL // total.shape[1])
    for first in range(0, total.shape[0], rows):
        some = slice(first, first + rows)
        _add(total[some], low[some], term[some])


def _add(total: NDArray[np.float64], low: NDArray[np.float64], term: Any) -> None:
    s = total + term
    t = s - total
    low += term - t
    np.subtract(s, t, out=t)
    np.subtract(total, t, out=t)
    low += t
    total[...] = s


def settle(total: NDArray[np.float64], low: NDArray[np.float64]) -> None:
    """Take ``low`` into ``total``; what rounding takes stays in ``low``."""
    rows = max(1, PANEL // max(1, total[0].size)) if total.ndim > 1 and total.size else 1
    for first in range(0, total.shape[0], rows) if total.ndim > 1 else [0]:
        some = slice(first, first + rows) if total.ndim > 1 else slice(None)
        total[some], low[some] = two_sum(total[some], low[some])


def chain(parts: list[Any]) -> tuple[Any, Any]:
    """The sum of several arrays as hi + lo."""
    high, low = parts[0], 0.0
    for term in parts[1:]:
        high, rest = two_sum(high, term)
        low = low + rest
    return two_sum(high, low)
