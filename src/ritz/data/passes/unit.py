"""The unit of a table: a power of two near the largest of its weighted deviations.

    unit = 2^round(log₂ max √wᵢ·|xᵢⱼ − sⱼ|)        s a point inside the data, or zero where rows are not centred

In this unit the squares of all that counts are near 1, wherever in the range of float64 the numbers and the weights
lie: a power of two changes no digit. Exponents are taken before anything is squared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.blocks import Block, RowBlocks
from ritz.data.passes.filled import filled

__all__ = [
    "HIGHEST",
    "LEAST_EXTENT",
    "RANGE",
    "UnitChange",
    "extent_of",
    "out_of_range",
    "power_of_two",
    "reach_from",
    "require_spread",
    "require_squares",
    "require_sums",
]  # fmt: skip

#: Exponents of units: the reciprocal of a unit is a number too.
LEAST, MOST = -1022, 1022
#: Exponents at least of what counts: products of smaller numbers with coordinates would lose digits.
LEAST_EXTENT = -1012.0
#: Magnitudes whose variances can be told in float64.
RANGE = (1e-145, 1e145)
#: Magnitudes above which products of rows may leave the range before they are brought to the unit.
HIGHEST = 1e303
#: Largest magnitudes of a table whose squared distances, and sums of those, float64 holds.
SQUARES = (1e-151, 1e151)


class UnitChange(Exception):
    """Says that a pass has found squares outside the range, and the unit in which they would stay.

    ``dense``: that sparse rows lie so far from zero, in units of their spread, that means must come off the entries.
    """

    def __init__(self, unit: float, dense: bool = False) -> None:
        super().__init__(f"unit {unit:g}")
        self.unit, self.dense = unit, dense

    def rows(self, X: Any) -> Any:
        """The rows to begin again with."""
        return filled(X) if self.dense else X


def extent_of(blocks: RowBlocks, shift: NDArray[np.float64] | None, weights: NDArray[np.float64] | None) -> float:
    """log₂ of the largest √w·|x − shift|, by one pass; −∞ where all are zero."""

    def step(extent: _Extent, block: Block) -> None:
        extent.look(block.values, shift, None if weights is None else weights[block.rows])

    return float(blocks.map_reduce(_Extent, step).value)


def power_of_two(extent: float) -> float:
    """The unit for an extent."""
    return float(np.ldexp(1.0, int(np.clip(np.round(extent), LEAST, MOST))))


class _Extent:
    """The largest exponent so far."""

    def __init__(self) -> None:
        self.value = -np.inf

    def look(self, rows: Any, shift: NDArray[np.float64] | None, w: NDArray[np.float64] | None) -> None:
        """Look through some rows."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if isinstance(rows, np.ndarray):
                # halves, so that a difference of two large numbers stays finite
                halves = rows * 0.5 if shift is None else rows * 0.5 - shift * 0.5
                size = np.max(np.abs(halves), axis=1, initial=0.0).astype(np.float64)
            else:
                size = np.zeros(rows.shape[0])
                at = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
                np.maximum.at(size, at, np.abs(rows.data).astype(np.float64) * 0.5)
            exponent = np.log2(size) + 1
            if w is not None:
                exponent = np.where(w > 0, exponent + 0.5 * np.log2(np.where(w > 0, w, 1.0)), -np.inf)
        self.value = max(self.value, float(np.max(exponent, initial=-np.inf)))

    def merge(self, other: _Extent) -> None:
        """Take over what later rows have shown."""
        self.value = max(self.value, other.value)

    def state(self) -> dict[str, Any]:
        """As plain values."""
        return {"value": self.value}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what ``state`` gave."""
        self.value = float(state["value"])


def require_spread(spread: NDArray[np.float64], constant: NDArray[np.bool_], unit: float, names: Any = None) -> None:
    """Refuse standard deviations that are too small to be told from their squares, unless the column is constant."""
    least = max(RANGE[0] * unit, float(np.finfo(np.float64).tiny))  # a subnormal number has lost digits
    small = np.flatnonzero(~constant & (spread < least))
    if len(small):
        raise out_of_range(float(spread[small[0]]), small, names, beside=unit)


def require_squares(rows: Any) -> None:
    """Refuse a table of numbers in memory whose squares, or sums of them, leave the range of float64."""
    entries = rows.data if hasattr(rows, "indptr") else rows
    if not isinstance(entries, np.ndarray) or entries.dtype.kind != "f" or not entries.size:
        return
    size = max(float(np.max(entries)), -float(np.min(entries)))
    if 0 < size < SQUARES[0] or SQUARES[1] < size < np.inf:  # what is not finite is judged elsewhere
        raise out_of_range(size)


def require_sums(sample: NDArray[Any]) -> None:
    """Refuse rows whose products leave the range before they are brought to the unit."""
    size = float(np.max(np.abs(sample), initial=0.0))
    if HIGHEST < size < np.inf:
        raise out_of_range(size)


def out_of_range(size: float, columns: Any = None, names: Any = None, *, beside: float | None = None) -> InputError:
    """The refusal of numbers whose squares cannot be told; ``beside``: others that are too much larger."""
    where = ""
    if columns is not None:
        where = f" in column {str(names[columns[0]])!r}" if names is not None else f" in column {int(columns[0])}"
    return InputError(
        "squares of the data must stay within the range of float64",
        received=f"values that are too large or too small, such as {size:.1e}{where}"
        + ("" if beside is None else f" beside values of {beside:.1e}"),
        hint="divide the data, or the columns concerned, by a power of ten",
    )


def reach_from(mean: NDArray[np.float64], blocks: Any, sampled: int) -> NDArray[np.float64]:
    """(d,) how far entries of a sample of rows lie from the mean; in memory those of all rows, for it may have missed
    the few that vary."""
    matrix: Any = getattr(blocks, "X", None)
    in_memory = matrix is not None and isinstance(matrix, np.ndarray) != blocks.sparse
    rows: Any = matrix if in_memory else blocks.sample(sampled)
    with np.errstate(invalid="ignore", over="ignore"):
        if not blocks.sparse:
            return np.asarray(np.max(np.abs(np.asarray(rows) - mean), axis=0, initial=0.0))
        stored = np.bincount(rows.indices, minlength=len(mean))
        reach = np.where(stored < rows.shape[0], np.abs(mean), 0.0)
        np.maximum.at(reach, rows.indices, np.abs(rows.data - mean[rows.indices]))
    return reach
