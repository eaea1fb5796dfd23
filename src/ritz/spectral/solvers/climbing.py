"""What every Lanczos chain shares while it climbs: when to look at its residuals, and whether its arithmetic holds.

residuals fall like those of a geometric series:  m' = m + (log r − log target) / slope
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ritz._core.tolerance import unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.solvers.krylov import RANGE32

if TYPE_CHECKING:
    from ritz.spectral.solvers.chain import Chain
    from ritz.spectral.solvers.strand import Strand

__all__ = ["Climbed", "due", "holds"]

#: Growth of the basis, at most and at least, between two looks at H.
SELDOM, OFTEN = 0.25, 0.04
#: Times the tolerance that float32 products may round, in units of u times what they round: refining does the rest.
BLUR = 30.0


class Climbed(NamedTuple):
    """A chain, the products made, those since a Gaussian start that nothing interrupted, and whether numbers held."""

    chain: Chain | Strand
    steps: int
    pure: int
    held: bool = True


def holds(A: Operator, theta: np.ndarray, tol: float) -> bool:
    """Whether float32 products can tell residuals of the tolerance: numbers in range, means not far above spreads."""
    top = float(theta[0])
    if not np.isfinite(top) or not RANGE32[0] <= top <= RANGE32[1]:
        return False
    return unit_roundoff(np.float32) * (1 + A.inflation() / top) <= BLUR * tol


def due(m: int, worst: float, seen: tuple[int, float], target: float) -> int:
    """The size of the basis at which to look again: where the residual is small if it goes on falling as it did."""
    often, seldom = m + max(1, int(OFTEN * m)), m + max(1, int(SELDOM * m))
    if not 0 < worst < 0.9 * seen[1] < np.inf or target <= 0:
        return seldom
    fall = np.log(seen[1] / worst) / (m - seen[0])
    return min(seldom, max(often, m + int(np.ceil(np.log(worst / target) / fall))))
