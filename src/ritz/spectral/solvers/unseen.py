"""How much of a fresh vector may lie along an eigenvector that a Lanczos chain has not seen.

    D q_j = β_{j+1} q_{j+1} + α_j q_j + β_j q_{j−1},   q_0 = g/‖g‖        q products, D (p×p), α and β numbers
    p_0 = 1,   β_{j+1} p_{j+1}(t) = (t − α_j) p_j(t) − β_j p_{j−1}(t)     Lanczos' polynomials

An eigenvector u of D with eigenvalue μ has uᵀq_j = p_j(μ)·uᵀq_0, and all of them are orthonormal: Σ(uᵀq_j)² ≤ 1. Above
their zeros, which are Ritz values, the polynomials grow. So for every eigenvalue μ ≥ c above all Ritz values

    (uᵀg)² ≤ ‖g‖² / Σ_{j≤q} p_j(μ)² ≤ ‖g‖² / Σ_{j≤q} p_j(c)²             (Christoffel's function)

and uᵀg of a Gaussian g is a normal number: below η with probability at most √(2/π)·η, an event that does not depend on
how often, or at which c, the chain is looked at. What is known of the chain beforehand, from Chebyshev's polynomials
[KW92], supposes that eigenvalues fill all of [0, c]; this one feels where they are. Products that are rounded by σ are
those of another operator, no further away, and of a next vector that is no longer than β + σ.
"""

from __future__ import annotations

import math

__all__ = ["Unseen", "least_level", "needed", "shown"]

#: Sums of squares that nothing is added to: no vector is so short.
ENOUGH = 1e200


class Unseen:
    """Σ p_j(c)² of a chain that grows, from below; 0 from where a Ritz value may lie at c or above it."""

    def __init__(self, level: float, rounding: float) -> None:
        """``level`` c; ``rounding`` of the products."""
        self._c, self._rounding = level - rounding, rounding
        self._before, self._last, self._beta = 0.0, 1.0, 0.0
        self.total = 1.0

    def add(self, alpha: float, beta: float) -> float:
        """One more column: α, and how long the next vector is before it is made one; the sum."""
        if 0 < self.total < ENOUGH:
            grown = (self._c - alpha) * self._last - self._beta * self._before
            width = beta + self._rounding
            following = 0.0 if not grown > 0 else grown / width if width > 0 else math.inf
            self._before, self._last, self._beta = self._last, following, beta
            self.total = min(self.total + following * following, ENOUGH) if following > 0 else 0.0
        return self.total


def needed(length: float, failure: float) -> float:
    """Σ p_j(c)² from which no eigenvalue is above c, but for that probability; ``length`` ‖g‖."""
    return (length / (failure * math.sqrt(math.pi / 2))) ** 2


def least_level(
    columns: list[tuple[float, float]], rounding: float, asked: float, low: float, high: float, halvings: int
) -> float:
    """The least c between ``low`` and ``high``, which is one, with a sum of what is ``asked`` for; from above."""
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(columns, rounding, middle) >= asked else (middle, high)
    return high


def shown(columns: list[tuple[float, float]], rounding: float, level: float) -> float:
    """Σ p_j(c)² of a chain that ended, α and β of its ``columns``."""
    seen = Unseen(level, rounding)
    for alpha, beta in columns:
        if not seen.add(alpha, beta) > 0:
            return 0.0
    return seen.total
