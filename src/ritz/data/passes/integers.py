"""Integers as floats, without losing what they differ by.

    x − s = (x_h − s_h)·2³² + (x_l − s_l)          x = x_h·2³² + x_l,  0 ≤ x_l < 2³²,  s an integer near the rows

float64 holds integers below 2⁵³ exactly. Larger ones (identifiers, times in nanoseconds) would lose their last digits,
and with them all that rows differ by; both differences above are exact, and their sum is rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import DigitsLost
from ritz._core.warn import warn

__all__ = ["EXACT", "as_float", "has_long", "subtract", "warn_lost"]

#: Integers below this are float64 numbers.
EXACT = 2.0**53
LOW = 32
SHIFTED = "Subtract an integer from such columns first, e.g. X - X.min(axis=0)."


def has_long(x: Any) -> bool:
    """Whether some integer of an array is too long for float64."""
    if x.dtype.kind not in "iu" or x.dtype.itemsize < 8 or x.size == 0:
        return False
    return int(x.max()) > EXACT or (x.dtype.kind == "i" and int(x.min()) < -EXACT)


def subtract(x: NDArray[Any], shift: NDArray[np.float64], out: NDArray[Any]) -> None:
    """``out = x − shift`` of long integers; ``shift`` is broadcast, and its digits behind the point are kept."""
    integers = np.clip(np.rint(shift), -(2.0**63), 2.0**63 if x.dtype.kind == "i" else 2.0**64)
    high = np.floor(integers * 2.0**-LOW)
    low = integers - high * 2.0**LOW  # in [0, 2³²), exact
    top, rest = x >> x.dtype.type(LOW), x & x.dtype.type((1 << LOW) - 1)
    np.subtract(top.astype(np.float64), high, out=out, casting="same_kind")
    out *= out.dtype.type(2.0**LOW)
    out += rest.astype(np.float64) - low
    if bool(np.any(shift != integers)):
        out -= shift - integers


def as_float(x: Any, what: str = "X", hint: str = SHIFTED) -> Any:
    """``x`` as float64; integers that lose digits are warned about."""
    if has_long(x.data if hasattr(x, "tocsr") else x):
        warn_lost(what, hint)
    return x.astype(np.float64)


def warn_lost(what: str, hint: str = SHIFTED) -> None:
    """Say that integers were too long."""
    warn(
        f"{what} holds integers beyond 2^53, of which float64 keeps the first 16 digits only. {hint}".rstrip(),
        DigitsLost,
    )
