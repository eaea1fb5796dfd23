"""Functions that are fitted to the distances of a map: a line, or anything that does not fall.

interval   d̂ = a + b·δ, b ≥ 0                       least squares
ordinal    d̂ₚ ≤ d̂_q wherever δₚ < δ_q               pool adjacent violators; of equal δ any order will do (Kruskal's
                                                     primary approach to ties), so they are sorted by d
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Line", "Monotone"]

Floats = NDArray[np.float64]


class Line:
    """Projection on ``{a + b·δ : b ≥ 0}``."""

    def __init__(self, delta: Floats) -> None:
        self.mean = float(delta.mean())
        self.off = delta - self.mean
        self.spread = float(self.off @ self.off)

    def __call__(self, d: Floats) -> Floats:
        slope = max(float(self.off @ d) / self.spread, 0.0) if self.spread > 0 else 0.0
        return np.asarray(d.mean() + slope * self.off)


class Monotone:
    """Projection on what does not fall with δ."""

    def __init__(self, delta: Floats) -> None:
        self.order = np.argsort(delta, kind="stable")
        ordered = delta[self.order]
        self.rank = np.cumsum(np.concatenate([[0], (np.diff(ordered) > 0).astype(np.intp)]))
        self.tied = bool(len(delta)) and int(self.rank[-1]) + 1 < len(delta)

    def __call__(self, d: Floats) -> Floats:
        from scipy.optimize import isotonic_regression

        order = self.order
        if self.tied:  # within equal δ by d
            order = order[np.lexsort((d[order], self.rank))]
        fitted = np.empty_like(d)
        fitted[order] = isotonic_regression(d[order]).x
        return fitted
