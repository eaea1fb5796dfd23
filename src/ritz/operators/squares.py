"""``‖Z‖²_F`` of rows under an affine frame, by one pass.

    dense     Σᵢⱼ rᵢ²cⱼ²(xᵢⱼ − sⱼ − oᵢ)²
    sparse    Σ stored rᵢ²cⱼ²·x(x − 2(sⱼ + oᵢ))  +  Σᵢ rᵢ² Σⱼ cⱼ²(sⱼ + oᵢ)²,   columns that are full as dense ones

Where the two sums of the second form leave less than a millionth of themselves, nothing is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.compensated import add_into
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block
from ritz.data.passes.center import full_columns

if TYPE_CHECKING:
    from ritz.operators.affine import Affine

__all__ = ["frame_square"]

#: Share of their terms below which a sum of squares has lost so many digits that it is not told.
CANCELLED = 1e-6


class _Square(Sums):
    """A sum with what rounding took from it, and scratch memory."""

    SUMS = ("sum", "low")

    def __init__(self) -> None:
        self.sum, self.low, self.scratch = np.zeros(2), np.zeros(2), dict[str, Any]()

    def add(self, square: float, terms: float) -> None:
        """Add the square of a block, and the size of the terms that it was summed from."""
        add_into(self.sum, self.low, np.array([square, terms]))


def frame_square(frame: Affine) -> float | None:
    """``‖Z‖²_F``; None where it is what is left of much larger sums."""

    def step(lane: _Square, given: Block) -> None:
        for block in frame._pieces(given):
            rows = frame._rows(lane.scratch, block)
            lane.add(*(_sparse(frame, rows, block) if frame.blocks.sparse else _dense(frame, rows, block)))

    lane = frame.blocks.map_reduce(_Square, step)
    total, terms = lane.sum + lane.low
    return float(total) if total >= CANCELLED * terms else None


def _dense(frame: Affine, rows: Any, block: Block) -> tuple[float, float]:
    Z = np.asarray(frame._columns(rows, block), np.float64)
    square = float(np.sum(np.square(Z)))
    return square, square


def _sparse(frame: Affine, rows: Any, block: Block) -> tuple[float, float]:
    n, d = rows.shape
    zero = np.zeros(1)
    shift = zero if frame.shift is None else frame.shift + (0.0 if frame.shift_low is None else frame.shift_low)
    shift = np.broadcast_to(shift, (d,))
    offset = np.broadcast_to(zero if frame.offset is None else frame.offset[block.rows], (n,))
    w = np.ones(n) if frame.row_scale is None else np.square(frame.row_scale[block.rows])
    c = np.ones(d) if frame.col_scale is None else np.square(frame.col_scale)
    row = np.repeat(np.arange(n), np.diff(rows.indptr))
    x, j = rows.data.astype(np.float64), rows.indices
    full = None if frame.shift is None else full_columns(rows, frame.shift)
    if full is not None and frame.shift is not None:
        low = 0.0 if frame.shift_low is None else frame.shift_low
        x = x - np.where(full, frame.shift, 0.0)[j] - np.where(full, low, 0.0)[j]
        shift = np.where(full, 0.0, shift)
    stored = float(np.sum(w[row] * c[j] * x * (x - 2 * (shift[j] + offset[row]))))
    total, tail = float(np.sum(c)), float(c @ shift)
    about = np.sum(w) * float(c @ np.square(shift)) + 2 * (w @ offset) * tail + (w @ np.square(offset)) * total
    return stored + float(about), abs(stored) + abs(float(about))
