"""Missing cells of a row from those that are there, by axes that are known.

    y = (z − m)/s,  o observed, h hidden,      t = Vᵀy,      y_h = V_h D t,     D = diag(1 − σ²/λ)

So t = V_oᵀy_o + V_hᵀV_h D t, which has one solution: (I − V_hᵀV_h D) t = V_oᵀy_o, because ‖V_hᵀV_h D‖ < 1. It is the
fixed point of regularised iterative MCA with the axes held still [JCLH12]: a row of the fit gets what the fit gave it,
and a new row gets the same alone and among others. The block of a categorical variable sums to 1, and may leave [0, 1]
a little; a number is a variable of one column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property

__all__ = ["Fill"]

Floats = NDArray[np.float64]

#: Rows whose k×k systems are solved at once.
CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Fill:
    """Axes, their shrinkage, and the frame they live in."""

    vectors: Floats  # (K, k)
    shrink: Floats  # (k,) 1 − σ²/λ
    mean: Floats  # (K,)
    scale: Floats  # (K,)
    owners: NDArray[np.intp]  # (K,) the variable of every column

    @cached_property
    def _within(self) -> Floats:
        """(J, k, k) V_jᵀV_j of every variable."""
        J, k = int(self.owners.max(initial=-1)) + 1, self.vectors.shape[1]
        out = np.zeros((J, k, k))
        np.add.at(out, self.owners, self.vectors[:, :, None] * self.vectors[:, None, :])
        return out

    def complete(self, rows: Floats, hidden: NDArray[np.bool_]) -> Floats:
        """Rows (m, K) with the blocks of hidden variables (m, J) filled in."""
        out = rows.copy()
        for first in range(0, len(rows), CHUNK):
            some = slice(first, first + CHUNK)
            out[some] = self._completed(rows[some], hidden[some])
        return out

    def _completed(self, rows: Floats, hidden: NDArray[np.bool_]) -> Floats:
        k, cells = len(self.shrink), hidden[:, self.owners]
        y = np.where(cells, 0.0, (rows - self.mean) / self.scale)
        J = self._within.shape[0]
        G = np.tensordot(hidden[:, :J].astype(np.float64), self._within, axes=1) * self.shrink
        t = np.linalg.solve(np.eye(k) - G, (y @ self.vectors)[:, :, None])[:, :, 0]
        filled = self.mean + self.scale * ((t * self.shrink) @ self.vectors.T)
        return np.where(cells, filled, rows)
