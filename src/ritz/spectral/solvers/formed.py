"""The leading pairs of a symmetric matrix that lies in memory, without decomposing all of it.

    M V = V Θ + R      Lanczos with implicit restarts, to the last digit [LSY98];   M (n×n) positive, V (n×k)
    σI − (M − VΘVᵀ) = LLᵀ                          none was missed: every other eigenvalue is below σ, just above θₖ₊₁

A dense decomposition reduces M to tridiagonal form, 4/3·n³ operations half of which wait for memory; Lanczos takes some
4k products with vectors, and the Cholesky factorisation n³/3 operations that run at the speed of products. It succeeds
only for a matrix whose smallest eigenvalue is above −γ·tr with γ = (n + 1)u/(1 − (n + 1)u) [Rump06], so that

    λⱼ(M) ≤ σ + γ·tr(σI − M + VΘVᵀ) + rounding of forming it          for every j > k                     (interlacing)
    |λᵢ − θᵢ| ≤ ‖R‖₂ + max(0, σ − θₖ) + ρ                             for every i ≤ k                     (Weyl)

by place, as a dense decomposition does. Where Lanczos does not converge soon, or the factorisation fails, LAPACK's
routine for the k + 1 largest eigenvalues decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv, dsyrk
from scipy.linalg.lapack import dpotrf
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ritz._core.linalg import Array, eigh, norm2
from ritz._core.tolerance import rounding
from ritz.operators.base import Operator
from ritz.spectral.constants import FORMED_LEAST, FORMED_SHARE, SUBSET_SHARE
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem, counted

__all__ = ["LEFT_OUT", "leading_eigh"]

Vector = NDArray[np.float64]

#: Why no eigenvalue is missing.
LEFT_OUT = "a Cholesky factorisation leaves no room for a larger eigenvalue"
#: Restarts before LAPACK is asked instead. RBF kernels of any width take 2 to 8.
RESTARTS = 40
#: Defect of VᵀV above which vectors of Lanczos are not used.
LOOSE = 1e-12


def leading_eigh(problem: SpectralProblem, M: Operator, S: Array, u: float) -> Pairs | None:
    """The k largest eigenvalues of S, which is M written out; None where a dense decomposition is as quick.

    S is symmetric up to rounding: what is read is one triangle of it, or its product with a block.
    """
    n, k = S.shape[0], problem.k
    if not isinstance(S, np.ndarray) or not M.positive or not 0 < k + 1 < SUBSET_SHARE * n:
        return None
    noise = M.measured() or 0.0
    if n >= FORMED_LEAST and k <= FORMED_SHARE * n:
        found = _lanczos(S, k, problem.start)
        if found is not None:
            theta, V, block, ceiling = found
            slack = rounding(n, u) * (theta[0] + M.inflation()) + noise + 2 * M.scale_error() * theta[0]
            slack += norm2(block) + max(ceiling - theta[k - 1], 0.0)
            complete = Completeness("count", ceiling + slack, 0.0, LEFT_OUT)
            return Pairs(theta, V, block, slack, complete, True, u, "float64", 1, slack, positive=True)
    theta, V = eigh(S, k + 1)  # reads one triangle
    slack = rounding(n, u) * (max(float(theta[0]), 0.0) + M.inflation()) + noise
    slack += 2 * M.scale_error() * max(float(theta[0]), 0.0)
    values, V = np.maximum(theta, 0.0), np.ascontiguousarray(V[:, :k])
    block = S @ V - V * values[:k]
    return Pairs(values, V, block, slack, counted(values, k, slack), True, u, "float64", 1, slack, positive=True)


def _lanczos(S: NDArray[np.float64], k: int, seed: int) -> tuple[Vector, Array, Array, float] | None:
    """θ (k), V (n, k), R (n, k), and what every other eigenvalue of S lies below; None where that was not found."""
    n = len(S)
    start = np.random.default_rng(seed).standard_normal(n)
    F = S.T  # one triangle of it is read: half the memory of a product with all of S
    M = LinearOperator(S.shape, matvec=lambda x: dsymv(1.0, F, x, lower=1), dtype=np.float64)
    try:
        theta, V = eigsh(M, k + 1, which="LA", v0=start - start.mean(), ncv=min(n, max(2 * k + 4, k + 20)),
                         maxiter=RESTARTS)  # fmt: skip
    except ArpackError:  # no convergence is one of them
        return None
    theta, V = np.asarray(theta[::-1], np.float64), np.ascontiguousarray(V[:, ::-1])
    loose = float(np.max(np.abs(V.T @ V - np.eye(k + 1)))) if np.isfinite(theta).all() else np.inf
    if not (loose <= LOOSE and theta[-1] > 0):
        return None
    following, theta, V = float(theta[k]), theta[:k], np.ascontiguousarray(V[:, :k])
    ceiling = _below(F, theta, V, following)
    return None if ceiling is None else (theta, V, S @ V - V * theta, ceiling)


def _below(F: NDArray[np.float64], theta: Vector, V: Array, following: float) -> float | None:
    """What λ₁(S − VΘVᵀ) lies below, about ``following``; None where it does not. ``F`` holds S column by column."""
    n, u = len(F), 2.0**-53
    D = dsyrk(1.0, V * np.sqrt(theta), beta=-1.0, c=F, lower=1)  # VΘVᵀ − S, one triangle
    own = np.einsum("ii->i", D)
    # entries are off by (k + 4)u of the parts that they are made of, and ‖S‖_F ≤ tr S
    spread, whole = -float(np.sum(own)), float(np.sum(theta))
    formed = (len(theta) + 4) * u * (abs(spread) + 2 * whole)
    gamma = 2 * (n + 2) * u * max(n * following - spread, n * following)
    shift = following + 2 * gamma + 2 * formed
    own += shift
    failed = dpotrf(D, lower=1, overwrite_a=1, clean=0)[1]
    return None if failed else shift + gamma + formed
