"""Completeness: has an eigenvalue been missed?

trace        Σ of eigenvalues outside the subspace = T − Σθ, and the largest of them is no larger; with the Ritz
             values inside, every eigenvalue not returned is ≤ θ_{k+1} + (T − Σθ). Deterministic.
probability  a block Krylov space of q steps from l Gaussian columns contains, for any j < l eigenvectors that
             are set aside, a Krylov space of l − j Gaussian columns in their complement. If the j leading Ritz
             pairs are eigenpairs up to residual ‖R‖, an eigenvalue they missed exceeds (θ_{j+1} + ‖R‖)/(1 − ε)
             with probability at most  j·p·(1.648 √p e^{−√ε(2q−1)})^{l−j}                                 [KW92]
             Every eigenvalue not among the k ≤ j returned is then below the larger of that and θ_{k+1} + ‖R‖.
"""

from __future__ import annotations

import math

import numpy as np

from ritz._core.arrays import Floats
from ritz.spectral.found import Completeness

__all__ = ["FAILURE", "by_start", "by_trace", "strongest"]

#: Largest probability of failure with which a statement is made at all.
FAILURE = 1e-9


def by_trace(theta: Floats, k: int, total: float | None, slack: float) -> Completeness:
    """Ceiling from the exact trace: ``theta`` are all Ritz values of the subspace, ``slack`` their rounding."""
    if total is None:
        return Completeness("none", math.inf)
    rest = max(0.0, total - float(np.sum(theta))) + slack
    following = float(theta[k]) if k < len(theta) else 0.0
    return Completeness("trace", following + rest, 0.0, "the trace leaves no room for a larger eigenvalue")


def by_start(theta: Floats, residuals: Floats, k: int, *, p: int, width: int, steps: int) -> Completeness:
    """Ceiling from the Gaussian start: the best over how many leading pairs are set aside.

    ``residuals`` belong to the leading Ritz pairs, at least k of them; ``width`` columns ran ``steps`` products.
    """
    best = Completeness("none", math.inf)
    if steps < 2:
        return best
    for j in range(k, min(width, len(residuals), len(theta) - 1)):
        spare = width - j
        # p_fail = j·p·(1.648√p e^{−√ε(2q−1)})^spare ≤ FAILURE, solved for ε
        need = (math.log(max(1, j) * p / FAILURE) / spare + math.log(1.648 * math.sqrt(p))) / (2 * steps - 1)
        if need >= 1:
            continue
        worst = float(np.sqrt(np.sum(np.square(residuals[:j]))))
        ceiling = (float(theta[j]) + worst) / (1 - need**2)
        if j > k:
            ceiling = max(ceiling, float(theta[k]) + worst)
        if ceiling < best.ceiling:
            words = f"a Gaussian start misses a larger eigenvalue with probability below {FAILURE:.0e}"
            best = Completeness("probability", ceiling, FAILURE, words)
    return best


def strongest(*options: Completeness) -> Completeness:
    """The statement with the lowest ceiling."""
    return min(options, key=lambda option: (option.ceiling, option.failure))
