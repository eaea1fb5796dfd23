"""What a solver of the smallest pairs hands over: Ritz pairs, more than were asked for, and a floor.

    λ_{m+J+1}(M) ≥ f,   J ≤ K     all eigenvalues but those of m null vectors and of the first J pairs lie above f

J = K where a gap follows the pairs. Inside a cluster that is not worth finding whole, J is where it begins, and f just
below it: then every member has an interval, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from ritz.spectral.solvers.smallest.ritz import Null, Ritz

__all__ = ["UNPROVED", "Found"]

#: Why nothing is said of eigenvalues that are not returned.
UNPROVED = "the factorisation rounds by more than the gap"


@dataclass(frozen=True)
class Found:
    """K ≥ k pairs and their floor, in units of unit², with probability 1 − ``failure``; ``counted`` is J."""

    pairs: Ritz
    null: Null
    counted: int
    floor: float
    failure: float
    words: str
    unit: float
    norm: float  # ‖M‖ from above
    products: int = 0
    notes: tuple[str, ...] = ()
