"""A ceiling of what an iteration may have missed, where nothing cheaper proves it: one factor of a float32 matrix.

    G = ZᵀZ + E   (p×p, numbers and sums in float32)      ‖E‖ ≲ u₃₂·(c·λ₁ + 2√(λ₁ tr G)),   c from the length of sums
    ‖E‖ ≤ ‖E‖_F ≤ ‖E R‖_F / √(x c)                        R (p×c) Gaussian, in float64: measured, where that is more
    τI − (G − VΘVᵀ) = L Lᵀ     ⇒     λ_{k+1}(ZᵀZ) ≤ τ + ρ + ‖E‖                                      (interlacing, Weyl)

Where eigenvalues crowd, no search with random columns can tell λ_{k+1} from θ_k within a few products. Nothing is asked
of V, and G need not be known better than the gap behind the k-th value: products and a factor in float32 take a third
of the time in which a Gram matrix in float64 is formed and solved. Numbers that come again and again are rounded alike,
in all entries of G: their errors add up to p times one, which no length of sums tells. So E is measured.

The Gram matrix of sparse rows is formed in float64, as for a direct route, which is spared its eigenvectors.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import blas

from ritz._core.blas import freed_blas_for
from ritz._core.linalg import to_numpy
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.operators.vector import held_rows
from ritz.spectral.certificate.completeness import FAILURE
from ritz.spectral.constants import FACTOR_PROBES
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solvers.deflated import drawn_square
from ritz.spectral.solvers.leading import LEFT_OUT, below
from ritz.spectral.solvers.moments import gram_error

__all__ = ["FACTORED", "by_factor", "by_gram"]

#: Why no eigenvalue is missing.
FACTORED = "a Cholesky factorisation of the Gram matrix in float32 leaves no room for a larger eigenvalue"
#: Where in the gap behind the k-th value the level is put.
MIDDLE = 0.5
#: Rows whose products are summed at once: equal rows are rounded alike as many times.
ROWS = 1024
#: The stream of the columns that measure E. In units of u·λ₁: Gaussian rows, 2,000×400, have ‖E‖ = 4, measured 240, and
#: are allowed 1,250 without it; those of the two values ±⅙ + 10⁻⁴, 4,000×4,000, have 1,640, measured 13,700, and would
#: be allowed 1,380.
STREAM = 1002
#: Columns of G that are brought to float64 at a time.
PANEL = 256


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
    with freed_blas_for(p):
        G = _gram(Z)
    noise = max(noise, _measured(A, G))
    if not level + noise < theta[k - 1]:
        return None
    ceiling = below(G, theta[:k], to_numpy(pairs.vectors), level, np.float32)
    return None if ceiling is None or not ceiling + noise < theta[k - 1] else _proof(ceiling + noise)


def by_gram(problem: SpectralProblem, A: Operator, pairs: Pairs) -> Completeness | None:
    """The same from the Gram matrix of rows in float64, whose rounding is that of a direct route."""
    k, theta = pairs.k, np.asarray(pairs.values, np.float64)
    if len(theta) <= k or not theta[k - 1] > theta[k] > 0:
        return None
    G, top = to_numpy(A.gram()), float(theta[0])
    error = gram_error(problem, A, len(G), top, unit_roundoff(np.float64))
    level = float(theta[k] + MIDDLE * (theta[k - 1] - theta[k]))
    if G.dtype != np.float64 or not level + error < theta[k - 1]:
        return None
    F = G.T if G.flags.c_contiguous else np.asfortranarray(G)
    ceiling = below(F, theta[:k], to_numpy(pairs.vectors), level, np.float64)
    if ceiling is None or not ceiling + error < theta[k - 1]:
        return None
    return Completeness("count", ceiling + error, 0.0, LEFT_OUT)


def _proof(ceiling: float) -> Completeness:
    return Completeness("probability", ceiling, FAILURE, FACTORED)  # the columns that measure rounding may miss it


def _gram(Z: np.ndarray) -> np.ndarray:
    """The lower triangle of ``ZᵀZ``, column by column."""
    G = np.zeros((Z.shape[1],) * 2, np.float32, order="F")
    for first in range(0, len(Z), ROWS):
        rows = Z[first : first + ROWS]
        turned = rows.flags.c_contiguous
        blas.ssyrk(1.0, rows.T if turned else rows, 1.0, G, trans=not turned, lower=1, overwrite_c=1)
    return G


def _measured(A: Operator, G: np.ndarray) -> float:
    """‖G − AᵀA‖_F from above, but for a probability of SHARE."""
    p = len(G)
    R = gaussian_rows(p, STREAM, 0, p, FACTOR_PROBES)
    left = -to_numpy(A.normal(A.place.array(R)))
    for first in range(0, p, PANEL):
        some = slice(first, min(first + PANEL, p))
        part = G[first:, some].astype(np.float64)  # zeros above the diagonal
        left[first:] += part @ R[some]
        np.fill_diagonal(part, 0.0)
        left[some] += part.T @ R[first:]
    size = float(np.linalg.norm(left))
    return math.sqrt(drawn_square(size, FACTOR_PROBES)) if math.isfinite(size) else math.inf
