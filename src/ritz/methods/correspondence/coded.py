"""Encoded rows of a table with their weights, and weights as shares.

Σw = 1,   R (n×d) as a method encodes its rows
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError

__all__ = ["Encoded", "shares_of_weights"]


@dataclass
class Encoded:
    """Rows as a method encodes them."""

    rows: Any  # ndarray, CSR or row blocks (n, d)
    weights: NDArray[np.float64]  # (n,) none negative; zero: absent
    labels: list[Any] | None = None  # names of the rows
    library: str | None = None  # of the frame that was given


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
