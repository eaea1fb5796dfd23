"""Pearson residuals of counts, made while they are read.

    z_ij = (x_ij − μ_ij)/√(μ_ij + μ_ij²/θ),  μ_ij = r_i p_j,  r_i = Σ_j x_ij,  p_j = Σ_i x_ij/Σx,  within ±c    [LBK21]

A count of zero has a residual that is not zero, so blocks are dense whatever they are made of: (rows of a block) × d
numbers at a time, never the whole table. Rows and columns without any count have residual 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, RowBlocks
from ritz.data.passes.profiles import DerivedBlocks

__all__ = ["CountSums", "ResidualBlocks", "pearson_rows"]

Floats = NDArray[np.float64]


def pearson_rows(values: Any, shares: Floats, theta: float, clip: float, keep: Any = None, start: int = 0) -> Floats:
    """Residuals (m, d) of some rows, of the columns ``keep`` alone where they are named."""
    totals = checked(values, start)
    rows = values if keep is None else values[:, keep]
    x = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), np.float64)
    mu = totals[:, None] * (shares if keep is None else shares[keep])
    spread = mu if np.isinf(theta) else mu * (1 + mu / theta)
    x = x - mu
    np.divide(x, np.sqrt(spread, out=spread), out=x, where=spread > 0)
    return np.clip(np.where(spread > 0, x, 0.0), -clip, clip)


def checked(values: Any, start: int) -> Floats:
    """Totals of rows of counts; what is negative or not finite is refused by its row."""
    entries = values if isinstance(values, np.ndarray) else values.data
    if entries.size and not (float(np.min(entries)) >= 0 and np.isfinite(entries.sum(dtype=np.float64))):
        dense = values if isinstance(values, np.ndarray) else values.toarray()
        wrong = ~((dense >= 0) & np.isfinite(dense))
        row = int(np.argmax(wrong.any(axis=1)))
        if not np.isfinite(dense[wrong]).all():
            raise NonFiniteError(
                "expected finite counts", received=f"NaN or infinity in row {start + row}",
                hint="a gap among counts is no zero: leave such rows out, or fill them",
            )  # fmt: skip
        raise InputError(
            "Negative values in data passed to PearsonResiduals, which takes counts", received=(
                f"{dense[row][wrong[row]][0]:g} in row {start + row}"),
            hint="raw counts, before any logarithm, scaling or centring",
        )  # fmt: skip
    return np.asarray(values.sum(axis=1, dtype=np.float64), np.float64).reshape(-1)


class CountSums(Sums):
    """Totals of the columns, and what the moments of an overdispersion need."""

    SUMS = ("columns", "squares", "row_squares", "rows")

    def __init__(self, d: int) -> None:
        self.columns, self.squares, self.row_squares, self.rows = np.zeros(d), 0.0, 0.0, 0.0

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        totals = checked(block.values, block.start)
        entries = block.values if isinstance(block.values, np.ndarray) else block.values.data
        self.columns += np.asarray(block.values.sum(axis=0, dtype=np.float64), np.float64).reshape(-1)
        self.squares += float(np.sum(np.square(entries, dtype=np.float64)))
        self.row_squares += float(np.sum(np.square(totals)))
        self.rows += float(block.values.shape[0])


class ResidualBlocks(DerivedBlocks):
    """Another table's blocks as Pearson residuals."""

    def __init__(self, inner: RowBlocks, shares: Floats, theta: float, clip: float, keep: Any = None) -> None:
        super().__init__(inner)
        self.shares, self.theta, self.clip, self.keep = shares, theta, clip, keep
        d = inner.shape[1] if keep is None else len(keep)
        self.shape, self.sparse, self.stored = (inner.shape[0], d), False, inner.shape[0] * d
        self.names: Any = None

    def _changed(self, block: Block) -> Block:
        rows = pearson_rows(block.values, self.shares, self.theta, self.clip, self.keep, block.start)
        return Block(rows, block.start)
