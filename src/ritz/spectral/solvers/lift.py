"""The shift c that makes M + cI free of negative eigenvalues, for solvers that turn to the largest |λ|.

    c = −(θ_min − ‖r‖),   (θ_min, r) from a short Lanczos run with −M

An estimate is enough: c decides how fast such a solver gets to the largest eigenvalues of M, never what is claimed.
"""

from __future__ import annotations

import numpy as np

from ritz._core.linalg import orth, to_numpy
from ritz._core.random import gaussian_rows
from ritz.operators.base import Operator
from ritz.spectral.subspace import Subspace

__all__ = ["lift"]

#: Lanczos steps, and the stream of their start.
STEPS, STREAM = 20, 1 << 21


def lift(M: Operator, seed: int) -> float:
    """The shift c ≥ 0; zero where no eigenvalue is negative."""
    if M.positive:
        return 0.0
    p = M.shape[0]
    space = Subspace(p, min(p, STEPS), M.place)
    Q = orth(M.place.array(gaussian_rows(seed, STREAM, 0, p, 1)))
    while space.room() and Q.shape[1]:
        space.extend(Q, -M.matmat(Q))
        Q = orth(space.remainder(), against=space.V, projected=True)
    below = float(space.theta[0]) + float(to_numpy(space.residuals(1))[0])
    return max(below, 0.0) if np.isfinite(below) else 0.0
