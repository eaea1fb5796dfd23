"""Columns of numbers on their way into the page.

exact       float32, base64               {"f32": …}                       {"f64": …} beyond what float32 holds
coloured    uint16 between lo and hi      {"u16": …, "lo": …, "hi": …}     65,535 stands for a missing value
kinds       uint8, or uint16              {"u8": …} with the names beside
few         plain numbers                 [1.25, null, …]
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["codes", "exact", "few", "shade", "wide"]

#: Arrays up to this length are written as plain numbers, for people who read the source of the page.
PLAIN = 64
GAP = 65535
#: Largest magnitudes between which float32 keeps its digits.
SMALLEST, LARGEST = 1e-30, 3e38


def exact(values: Any) -> Any:
    """Numbers to seven digits."""
    array = np.asarray(values, np.float64).reshape(-1)
    if len(array) <= PLAIN:
        return few(values)
    size = np.abs(array[np.isfinite(array) & (array != 0)])
    fits = not len(size) or SMALLEST <= size.max() <= LARGEST
    return {"f32": _text(array.astype("<f4"))} if fits else {"f64": _text(array.astype("<f8"))}


def shade(values: Any) -> dict[str, Any]:
    """Numbers to 1/65,534 of their range: enough for a colour and a tooltip."""
    array = np.asarray(values, np.float64).reshape(-1)
    finite = np.isfinite(array)
    edge = np.finfo(np.float64).max / 4  # beyond it a range is not a number
    lo, hi = (
        (float(x) for x in np.clip((array[finite].min(), array[finite].max()), -edge, edge)) if finite.any() else (0, 0)
    )
    width = hi - lo if hi > lo else 1.0
    steps = np.full(len(array), GAP, np.float64)
    steps[finite] = np.round((np.clip(array[finite], lo, hi) - lo) / width * (GAP - 1))
    return {"u16": _text(steps.astype("<u2")), "lo": lo, "hi": lo + width}


def codes(values: Any) -> dict[str, Any]:
    """Whole numbers from 0; −1 becomes the largest that fits."""
    array = np.asarray(values, np.int64).reshape(-1)
    return {"u8": _text(array.astype(np.uint8))} if array.max(initial=0) < 255 else {"u16c": _text(array.astype("<u2"))}


def wide(values: Any) -> dict[str, Any]:
    """Numbers of rows."""
    return {"u32": _text(np.asarray(values).astype("<u4"))}


def few(values: Any, digits: int = 6) -> list[float | None]:
    """Plain numbers, rounded; None for what is not finite."""
    array = np.asarray(values, np.float64).reshape(-1)
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array.tolist()]


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
