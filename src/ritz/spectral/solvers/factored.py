"""A ceiling of what an iteration may have missed, where nothing cheaper proves it: one factor of a float32 matrix.

    G = ZᵀZ + E   (p×p, numbers and sums in float32)      ‖E‖ ≤ u₃₂·(c·λ₁ + 2√(λ₁ tr G)),   c from the length of sums
    τI − (G − VΘVᵀ) = L Lᵀ     ⇒     λ_{k+1}(ZᵀZ) ≤ τ + ρ + ‖E‖                                      (interlacing, Weyl)

Where eigenvalues crowd, no search with random columns can tell λ_{k+1} from θ_k within a few products. Nothing is asked
of V, and G need not be known better than the gap behind the k-th value: products and a factor in float32 take a third
of the time in which a Gram matrix in float64 is formed and solved.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import blas

from ritz._core.linalg import to_numpy
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.operators.vector import held_rows
from ritz.spectral.problem import Completeness, Pairs
from ritz.spectral.solvers.leading import below

__all__ = ["FACTORED", "by_factor"]

#: Why no eigenvalue is missing.
FACTORED = "a Cholesky factorisation of the Gram matrix in float32 leaves no room for a larger eigenvalue"
#: Where in the gap behind the k-th value the level is put.
MIDDLE = 0.5
#: Rows whose products are summed at once: equal rows are rounded alike as many times.
ROWS = 1024


def by_factor(A: Operator, pairs: Pairs) -> Completeness | None:
    """A ceiling below the k-th value; None where rounding is too large for that, or an eigenvalue is there."""
    k, theta, Z = pairs.k, np.asarray(pairs.values, np.float64), held_rows(A, np.float32)
    total = A.frobenius2()
    if Z is None or total is None or len(theta) <= k or not theta[k - 1] > theta[k] > 0:
        return None
    n, p = Z.shape
    u, top = unit_roundoff(np.float32), float(theta[0])
    taken = A.inflation() ** (2 if A.symmetric else 1)  # of dense rows nothing is taken off afterwards
    noise = (rounding(p, u) + u * (min(n, ROWS) + n / ROWS)) * (top + taken) + 4 * A.scale_error() * top
    off = (A.perturbation() or 0.0) + u * math.sqrt(total)  # numbers are rounded before products are
    noise += off * (2 * math.sqrt(top + noise) + off)
    level = float(theta[k] + MIDDLE * (theta[k - 1] - theta[k]))
    if not level + noise < theta[k - 1]:
        return None
    ceiling = below(_gram(Z), theta[:k], to_numpy(pairs.vectors), level, np.float32)
    return None if ceiling is None or not ceiling + noise < theta[k - 1] else _proof(ceiling + noise)


def _proof(ceiling: float) -> Completeness:
    return Completeness("trace", ceiling, 0.0, FACTORED)


def _gram(Z: np.ndarray) -> np.ndarray:
    """The lower triangle of ``ZᵀZ``, column by column."""
    G = np.zeros((Z.shape[1],) * 2, np.float32, order="F")
    for first in range(0, len(Z), ROWS):
        rows = Z[first : first + ROWS]
        turned = rows.flags.c_contiguous
        blas.ssyrk(1.0, rows.T if turned else rows, 1.0, G, trans=not turned, lower=1, overwrite_c=1)
    return G
