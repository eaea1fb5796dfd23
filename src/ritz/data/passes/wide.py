"""The moment pass for tables of many columns: S = Σwzzᵀ with one d×d matrix in all.

    S[:j+c, j:j+c] += z[:, :j+c]ᵀ z[:, j:j+c]         panels of c columns, the upper half only

A matrix for every lane, and a second one for the product of a block, would not fit beside each other; here BLAS uses
both cores for one lane. ``finish`` mirrors the upper half. Rounding is measured as in ``rounding.py``; blocks are
formed anew in their leading columns only, and count as if they were the same everywhere: ‖E‖ ≤ (d/c)·‖E_cc‖. The sum
over blocks has no room for what rounding takes; it is bounded by its length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import add_into
from ritz.data.passes.blocks import Block
from ritz.data.passes.gram import DensePass, column_sums
from ritz.data.passes.rounding import (
    CHECK_PIECE,
    PIECE,
    PROBES,
    REPEATED,
    SAMPLED_ROWS,
    Watched,
    better,
    repeats,
    times,
)

__all__ = ["WidePass"]

#: Columns of a panel, and of the corner on which rounding is measured.
PANEL, CORNER = 1024, 256
#: One block of so many is probed, which is all of them: a run of equal rows may lie in any. A probe reads the product
#: of a block again, 1 of the 80 ms of 1,920×2,100.
EVERY = 1


class WidePass(Watched):
    """Accumulators of the only lane over dense blocks of many columns."""

    SUMS = ("m", "m_low", "S", "blocks", *Watched.SUMS)
    ALONE = True

    def __init__(
        self,
        shift: NDArray[Any],
        unit: float,
        weights: NDArray[Any] | None,
        dtype: np.dtype[Any],
        products: bool = True,
        short: bool = False,
        rows: int = 0,
    ) -> None:
        d = shift.shape[0]
        # Shifting into a reused buffer is the same as for narrow tables; only the product differs.
        self._shift = DensePass(shift, unit, weights, dtype, products=False)
        self.weights, self.dtype = weights, dtype
        self.m, self.m_low, self.S = np.zeros(d), np.zeros(d), np.zeros((d, d))
        self.panel = np.empty((d, PANEL), dtype)
        self.blocks = 0
        self.watch(d, rows, dtype, every=EVERY)

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        z = self._shift._shifted(np.asarray(block.values))
        w = None if self.weights is None else self.weights[block.rows].astype(self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            add_into(self.m, self.m_low, column_sums(z, w))
            if w is not None:
                z *= np.sqrt(w)[:, None]
            self.take(z)

    def take(self, z: NDArray[Any]) -> None:
        """Add the products of rows as they are, whose buffer may be used up."""
        mass = float(np.sum(np.square(z), dtype=np.float64))
        anew = self.weigh(mass)
        some = self.some(mass)
        if some.stop and z.shape[0] > PIECE:
            heaviest = np.square(z[:: len(z) // SAMPLED_ROWS]).sum(axis=0).argmax()
            if repeats(z, int(heaviest)) >= REPEATED:  # what returns in this block alone is seen by all vectors
                some = slice(0, PROBES)
        self._add(z, some, mass)
        if anew and z.shape[0] > PIECE:
            corner = np.ascontiguousarray(z[:, :CORNER])
            share = float(np.sum(np.square(corner), dtype=np.float64)) or mass
            self.errors.append((corner.T @ corner - better(corner, None, CHECK_PIECE)) / share)
        self.blocks += 1

    def _add(self, z: NDArray[Any], some: slice, mass: float) -> None:
        d = z.shape[1]
        r = self.random[:, some]
        off, diagonal = np.zeros((d, r.shape[1])), np.zeros(d)
        for first in range(0, d, PANEL):
            last = min(first + PANEL, d)
            product = self.panel[:last, : last - first]
            np.matmul(z[:, :last].T, z[:, first:last], out=product)
            self.S[:last, first:last] += product
            if some.stop:
                square = product[first:]
                diagonal[first:last] = np.diag(square)
                np.fill_diagonal(square, 0.0)
                off[:last] += times(product, r[first:last])
                off[first:last] += times(product[:first].T, r[:first])
        if some.stop:
            self.probes(z, diagonal, off, some, mass)

    @property
    def length(self) -> float:
        """What the sum over blocks may add, in units of u: a quarter of their number was seen on equal ones."""
        return self.blocks / 2

    def finish(self) -> NDArray[np.float64]:
        """The whole S; the lower half is filled in place, panel by panel."""
        d = self.S.shape[0]
        for first in range(0, d, PANEL):
            last = min(first + PANEL, d)
            self.S[first:last, :first] = self.S[:first, first:last].T
            square = self.S[first:last, first:last]
            square[...] = np.triu(square) + np.triu(square, 1).T
        return self.S
