"""The entries of M as a solver works with them: in a unit near one, with what every product may be off.

    |fl(Bv) − Bv|  ≤  γ_r |B||v|,      |fl(Bᵀy) − Bᵀy|  ≤  γ_c |B|ᵀ|y|,      |fl(BᵀB) − BᵀB|_ij  ≤  γ_{cᵢ} (|B|ᵀ|B|)_ij

with γ_n = nu/(1 − nu), r and c the most entries in a row and a column [Higham02, 3.1]: worst cases, not allowances.
Norms come from ‖|B|‖₂² ≤ ‖B‖₁‖B‖_∞, and ‖E‖₂ ≤ max row sum of |E| for a symmetric E. Dividing by a power of two rounds
nothing, and keeps squares of very small and very large weights in range.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz.operators.assembled import Assembled
from ritz.spectral.solvers.smallest.gram import gram

__all__ = ["Entries", "gamma"]

Vector = NDArray[np.float64]

U = 2.0**-53
#: What sums of non-negative bounds may themselves be rounded by.
SLACK = 1 + 1e-9


def gamma(n: float) -> float:
    """γ_n, from above."""
    return float(n * U / (1 - n * U))


class Entries:
    """M, or its root, divided by a power of four, or of two."""

    def __init__(self, given: Assembled) -> None:
        stored = given.matrix if given.root is None else given.root
        top = float(np.max(np.abs(stored.data), initial=0.0))
        power = 0 if top == 0 else math.frexp(top)[1]
        power = power if given.root is not None else power // 2
        #: M is divided by its square
        self.unit = math.ldexp(1.0, power)
        self.p = given.p
        self.root: Any = None
        self.matrix: Any = None
        if given.root is not None:
            self.root = _divided(given.root, self.unit)
            self.noise = given.noise / self.unit
        else:
            self.matrix = _divided(_divided(given.matrix, self.unit), self.unit)
            self.noise = given.noise / self.unit / self.unit
        self._measure()

    def _measure(self) -> None:
        A = self.matrix if self.root is None else self.root
        size = abs(A)
        rows, columns = np.asarray(size.sum(axis=1)).ravel(), np.asarray(size.sum(axis=0)).ravel()
        own = A.tocsr() if self.root is None else A
        inside = int(np.max(np.diff(own.indptr), initial=0))
        if self.root is None:
            #: ‖M‖₂ from above
            self.norm = float(np.max(rows, initial=0.0)) * SLACK
            self._direct, self._back = (gamma(inside + 1) * self.norm + self.noise) * SLACK, 0.0
            #: ‖fl(Bv) − Bv‖ of a unit vector, from above; None without a root
            self.image_error: float | None = None
            #: ‖M̃ − M‖₂ of the matrix that is factorised
            self.formed = self.noise
            return
        counts = np.bincount(A.indices, minlength=self.p)
        high = int(np.max(counts, initial=0))
        b = math.sqrt(float(np.max(rows, initial=0.0)) * float(np.max(columns, initial=0.0))) * SLACK
        self.norm = b * b
        self.image_error = (gamma(inside + 1) * b + self.noise) * SLACK
        self._direct, self._back = b * (gamma(inside + 1) * b + 2 * self.noise) * SLACK, gamma(high + 1) * b * SLACK
        across = size.T @ rows  # |B|ᵀ|B|1
        self.formed = (U * float(np.max((counts + 1) * across, initial=0.0)) + 2 * self.noise * b) * (1 + 1e-6)

    def product_error(self, image: float) -> float:
        """‖fl(Bᵀfl(Bv)) − Mv‖ of a unit vector whose image has at most that length: short ones round less."""
        return self._direct + self._back * image

    @cached_property
    def written(self) -> Any:
        """M̃ as CSC with sorted indices."""
        if self.root is not None:
            return gram(self.root)
        M = sp.csc_array(self.matrix)
        M.sort_indices()
        return M

    def image(self, V: Any) -> Any:
        """``B V``, or ``M V`` where no root is known."""
        return (self.matrix if self.root is None else self.root) @ V

    def back(self, Y: Any) -> Any:
        """``Bᵀ Y``."""
        return Y if self.root is None else self.root.T @ Y


def _divided(A: Any, by: float) -> Any:
    return A if by == 1 else type(A)((A.data / by, A.indices, A.indptr), shape=A.shape)
