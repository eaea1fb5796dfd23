"""A ceiling for what is beyond the k-th eigenvalue of M, from a space that is far from settled.

    Q (p×j),  Ritz values θ of M on it,  R = MQ − QH,  D = (I − QQᵀ) M (I − QQᵀ),  λ₁(D) ≤ μ

    λ_{k+1}(M) ≤ c   for any c > μ with   diag(θ_{k+1}, …) + RᵀR/(c − μ) ⪯ c   on the Ritz vectors beyond the k-th

M − c has as many positive eigenvalues as H − c + Rᵀ(c − D)⁻¹R, since D ≺ c (Haynsworth), and (c − D)⁻¹ ⪯ 1/(c − μ); a
space of k dimensions less that sees nothing above c leaves at most k of them. R enters by its square alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ritz._core.linalg import Floats

__all__ = ["Joined"]

#: Halvings of the bracket in which the least ceiling is sought.
HALVINGS = 8


@dataclass(frozen=True)
class Joined:
    """Ritz values beyond the k-th and RᵀR of their vectors: what these say of M once λ₁(D) is bounded."""

    theta: Floats  # (j − k,)
    square: Floats  # (j − k, j − k)

    def below(self, c: float, mu: float) -> bool:
        """Whether c is a ceiling of what is beyond the k-th eigenvalue of M, given λ₁(D) ≤ μ."""
        if not mu < c < math.inf:
            return False
        S = -self.square / (c - mu)
        S[np.diag_indices_from(S)] += c - self.theta
        try:
            np.linalg.cholesky(S)
        except np.linalg.LinAlgError:
            return False
        return True

    def ceiling(self, mu: float, low: float, high: float) -> float:
        """The least such c between ``low`` and ``high``, which is one, from above."""
        if not high < math.inf:
            return high
        low = max(mu, low)
        for _ in range(HALVINGS):  # what is left of the bracket is on the safe side
            middle = (low + high) / 2
            low, high = (low, middle) if self.below(middle, mu) else (middle, high)
        return high
