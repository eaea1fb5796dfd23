"""The moment pass for tables of many columns: S = Σwzzᵀ with one d×d matrix in all.

    S[:j+c, j:j+c] += z[:, :j+c]ᵀ z[:, j:j+c]         panels of c columns, the upper half only

A matrix for every lane, and a second one for the product of a block, would not fit beside each other; here BLAS uses
both cores for one lane. ``finish`` mirrors the upper half. Rounding is measured as in ``gram.py``, on the leading
columns of the first block, and counted as if it were the same everywhere: ‖E‖ ≤ (d/c)·‖E_cc‖.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.accumulate import Sums
from ritz.data.blocks import Block
from ritz.data.gram import CHECK_PIECE, DensePass, better, column_sums

__all__ = ["WidePass"]

#: Columns of a panel, and of the corner on which rounding is measured.
PANEL, CORNER = 1024, 256


class WidePass(Sums):
    """Accumulators of the only lane over dense blocks of many columns."""

    SUMS, LISTS = ("m", "S", "blocks"), ("errors",)
    ALONE = True

    def __init__(
        self,
        shift: NDArray[Any],
        unit: float,
        weights: NDArray[Any] | None,
        dtype: np.dtype[Any],
        products: bool = True,
        short: bool = False,
    ) -> None:
        d = shift.shape[0]
        # Shifting into a reused buffer is the same as for narrow tables; only the product differs.
        self._shift = DensePass(shift, unit, weights, dtype, products=False)
        self.weights, self.dtype = weights, dtype
        self.m, self.S = np.zeros(d), np.zeros((d, d))
        self.panel = np.empty((d, PANEL), dtype)
        self.errors: list[NDArray[Any]] = []
        self.blocks = 0

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        z = self._shift._shifted(np.asarray(block.values))
        w = None if self.weights is None else self.weights[block.rows].astype(self.dtype)
        d = z.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            self.m += column_sums(z, w)
            if w is not None:
                z *= np.sqrt(w)[:, None]
            for first in range(0, d, PANEL):
                last = min(first + PANEL, d)
                product = self.panel[:last, : last - first]
                np.matmul(z[:, :last].T, z[:, first:last], out=product)
                self.S[:last, first:last] += product
            if self.blocks < 2:
                corner = np.ascontiguousarray(z[:, :CORNER])
                scale = d / corner.shape[1]
                self.errors.append(scale * (corner.T @ corner - better(corner, None, CHECK_PIECE)))
        self.blocks += 1

    def finish(self) -> NDArray[np.float64]:
        """The whole S; the lower half is filled in place, panel by panel."""
        d = self.S.shape[0]
        for first in range(0, d, PANEL):
            last = min(first + PANEL, d)
            self.S[first:last, :first] = self.S[:first, first:last].T
            square = self.S[first:last, first:last]
            square[...] = np.triu(square) + np.triu(square, 1).T
        return self.S
