"""``svd``: dense decomposition, A = UΣVᵀ by LAPACK (QR first where A is tall); for a symmetric operator M = VΛVᵀ.

Backward stable: |σ̂ᵢ − σᵢ| ≤ p(n,d)·u·σ₁ for every i. Costs ~4nd² + 22d³ flops and a dense copy of A.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.linalg import eigh, inner
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.found import Completeness, Found
from ritz.spectral.problem import SpectralProblem

__all__ = ["Vector", "counted", "dense_eigh", "dense_svd", "pick", "triangle"]

Vector = NDArray[np.float64]

COUNTED = Completeness("count", np.inf, 0.0, "the dense decomposition returns every eigenvalue")


def pick(problem: SpectralProblem, values: Vector, total: float) -> int:
    """How many components: the number asked for, or what the rule decides from the whole spectrum."""
    if problem.rule is None:
        return min(problem.k, len(values))
    decided = problem.rule.decide(problem.seen(values[: max(problem.rank, 1)], total, complete=True))
    return len(values) if decided is None else min(decided, len(values))


def counted(values: Vector, k: int, slack: float) -> Completeness:
    """All eigenvalues are known: those not returned lie below the next one."""
    ceiling = float(values[k]) + slack if k < len(values) else -np.inf
    return Completeness("count", ceiling, 0.0, COUNTED.words)


def dense_svd(problem: SpectralProblem, A: Operator, budget: int) -> Found:
    """All singular values of A and the right vectors asked for."""
    Z = np.asarray(A.to_dense(budget), np.float64)
    R = triangle(Z)
    _, s, Vt = scipy.linalg.svd(R, full_matrices=False, check_finite=False)
    values = np.square(s)
    k = pick(problem, values, float(np.sum(values)))
    V = np.ascontiguousarray(Vt[:k].T)
    u = unit_roundoff(np.float64)
    top = float(s[0]) if len(s) else 0.0
    sigma_error = 0.6 * rounding(min(Z.shape), u) * top + u * np.sqrt(A.inflation()) + A.scale_error() * top
    block = inner(Z, Z @ V) - V * values[:k]
    slack = 2 * sigma_error * top
    return Found(values, V, block, slack, counted(values, k, slack), True, u, "float64", 1, slack, sigma_error)


def triangle(Z: Vector) -> Vector:
    """R with RᵀR = ZᵀZ by a tree of QR factorisations; Z itself when it is not tall.

    Faster than an SVD of all rows, and sums stay short: a thousand rows of one sign, summed in one go, would round
    in one direction.
    """
    d = Z.shape[1]
    rows = max(32, 2 * d)
    while Z.shape[0] > 2 * rows:
        parts = [
            scipy.linalg.qr(Z[i : i + rows], mode="r", check_finite=False)[0][:d] for i in range(0, Z.shape[0], rows)
        ]
        Z = np.concatenate(parts)
    return Z


def dense_eigh(problem: SpectralProblem, M: Operator, budget: int) -> Found:
    """All eigenvalues of a symmetric operator and the vectors asked for."""
    S = np.asarray(M.to_dense(budget), np.float64)
    S = (S + S.T) / 2
    values, V = eigh(S)
    values = np.maximum(values, 0.0) if M.positive else values
    k = pick(problem, values, float(np.trace(S)))
    u = unit_roundoff(np.float64)
    top = float(np.max(np.abs(values))) if len(values) else 0.0
    slack = rounding(S.shape[0], u) * (top + M.inflation()) + (M.measured() or 0.0) + 2 * M.scale_error() * top
    V = np.ascontiguousarray(V[:, :k])
    return Found(values, V, S @ V - V * values[:k], slack, counted(values, k, slack), True, u, "float64", 1, slack)
