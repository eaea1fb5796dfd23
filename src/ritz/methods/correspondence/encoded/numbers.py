"""Numbers among encoded columns: finite, and of a size whose squares can be told.

refused: NaN and infinity in rows that have a weight, and columns whose variance is too small for float64
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import NonFiniteError
from ritz._core.tolerance import CONSTANT
from ritz.data.encode import Encoder
from ritz.data.encode.openings import Opened
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.statistics import Statistics

__all__ = ["divide", "require_finite_numbers"]

Floats = NDArray[np.float64]


def require_finite_numbers(encoder: Encoder, rows: Any, table: Opened, weights: Floats) -> None:
    """Refuse missing and infinite numbers by their columns; rows outside memory are looked at as they are read."""
    if are_blocks(rows) or not encoder.p:
        return
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    if bool(np.isfinite(entries).all()):
        return
    numbers = np.asarray(rows[:, : encoder.p] if isinstance(rows, np.ndarray) else rows[:, : encoder.p].toarray())
    lost = ~np.isfinite(numbers) & (weights > 0)[:, None]
    if not bool(lost.any()):
        return
    i, j = (int(at[0]) for at in np.nonzero(lost))
    name, count = encoder.numeric[j], int(lost[:, j].sum())
    what = "NaN" if bool(np.isnan(numbers[lost]).any()) else "infinity"
    raise NonFiniteError(
        f"Input X contains {what}, where only finite numbers can be used",
        received=f"{count} in column {name!r}, the first in {table.row_name(i)}",
        hint="drop those rows, or fill them first",
    )


def divide(encoder: Encoder, stats: Statistics, names: Collection[str]) -> None:
    """Announce numbers that are divided by their standard deviation; one that float64 cannot tell is refused."""
    divided, rounding = np.zeros(encoder.d, bool), np.zeros(encoder.d)
    divided[: encoder.p] = [name in names for name in encoder.numeric]
    rounding[: encoder.p] = CONSTANT * 2.0**-53 * np.abs(encoder.shift)
    stats.divide(divided, rounding)
