"""Encoded rows of a table with their weights, and statistics of their columns in shares.

Σw = 1,   R (n×d) as a method encodes its rows
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.statistics import ColumnStatistics

__all__ = ["Encoded", "lifted", "shared", "shares_of_weights"]


@dataclass
class Encoded:
    """Rows as a method encodes them."""

    rows: Any  # ndarray, CSR or row blocks (n, d)
    weights: NDArray[np.float64]  # (n,) none negative; zero: absent
    labels: list[Any] | None = None  # names of the rows
    library: str | None = None  # of the frame that was given

    @property
    def outside(self) -> bool:
        """Whether the rows stay outside memory."""
        return are_blocks(self.rows)


def shared(column: ColumnStatistics) -> ColumnStatistics:
    """The same columns with weights that sum to 1."""
    return replace(column, weight=1.0, squares=column.squares / column.weight)


def lifted(column: Any, centre: NDArray[np.float64] | None) -> Any:
    """Statistics, or a state, of rows from which ``centre`` was taken off, as those of the rows themselves."""
    return column if centre is None else replace(column, shift=centre, offset=column.mean)


def shares_of_weights(weights: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """Weights as shares of their sum."""
    shares = weights / total
    gone = np.flatnonzero((shares < np.finfo(np.float64).tiny) & (weights > 0))
    if len(gone):
        raise InputError(
            "every weight must be a share of their sum that float64 can tell from zero",
            received=f"{weights[gone[0]]:.1e} of {total:.1e} in row {int(gone[0])} of those with a weight",
            hint="leave such rows out: they are too light to move anything",
        )
    return shares
