"""How many eigenvalues lie below τ: the negative pivots of a sparse factorisation, with a bound that makes it a proof.

    P(M̃ − τI)Pᵀ + E = L J Lᵀ,   J = diag(±1)          by fronts (``fronts.py``), ‖E‖₂ bounded as it is made

By Sylvester LJLᵀ has no more negative eigenvalues than J has negative entries, c of them, and by Weyl

    λ_{c+1}(M)  ≥  τ − β,       β = ‖E‖₂ + ‖M̃ − M‖₂ + rounding of the diagonal
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.spectral.solvers.smallest.entries import SLACK, U
from ritz.spectral.solvers.smallest.fronts import Fronts

__all__ = ["Count", "count_below"]


@dataclass(frozen=True)
class Count:
    """At most ``below`` eigenvalues lie below ``floor``; pivots were counted at ``shift``."""

    below: int
    floor: float
    shift: float


def count_below(fronts: Fronts, tau: float, formed: float) -> Count | None:
    """Eigenvalues below ``tau`` of the matrix of these fronts; None where the factorisation broke down.

    ``formed`` bounds what is between the matrix and the one that is meant.
    """
    made = fronts.factorized(-tau, bounded=True)
    if made is None or not np.isfinite(made.error):
        return None
    beta = made.error + formed + U * (fronts.largest + abs(tau))
    return Count(made.negative, tau - beta * SLACK, tau)
