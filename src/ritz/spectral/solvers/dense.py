"""``svd``: dense decomposition, A = UΣVᵀ by LAPACK (QR first where A is tall); for a symmetric operator M = VΛVᵀ.

Backward stable: |σ̂ᵢ − σᵢ| ≤ p(n,d)·u·σ₁ for every i. Costs ~4nd² + 22d³ flops and a dense copy of A. Where A is the
transpose of what is meant and LAPACK has decomposed it whole, U is the answer: AᵀU need not be formed and made
orthonormal.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.factors import BOTH, TALL, svd, triangle
from ritz._core.linalg import Array, eigh, inner, leading, place_of, positive, symmetric, to_numpy, trace, wide
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.operators.gram import Gram
from ritz.spectral.constants import SUBSET_SHARE
from ritz.spectral.problem import Pairs, SpectralProblem, counted

__all__ = [
    "Vector",
    "dense_eigh",
    "dense_svd",
    "require_positive",
    "roundoff",
    "stated",
]

Vector = NDArray[np.float64]

#: A Ritz value below −NEGATIVE·ρ, and below −1e-8 of the largest, is no rounding of zero.
NEGATIVE = 100.0


def stated(pairs: Pairs, M: Operator) -> Pairs:
    """The answer with the arithmetic that formed the matrix of a state, where it was coarser than the solver's own."""
    u, path = M.arithmetic()
    return (
        pairs if u <= pairs.roundoff else replace(pairs, roundoff=u, precision=f"{path}, solved in {pairs.precision}")
    )


def roundoff(M: Operator) -> float:
    """u of the products of M: that of its dtype, unless their rounding is measured, which leaves float64 sums."""
    return unit_roundoff(np.float64 if M.checkable or M.measured() is not None else M.dtype)


def _stored(Z: Array) -> float:
    """u of a matrix that an operator wrote out."""
    if isinstance(Z, np.ndarray):
        return unit_roundoff(np.float64 if Z.dtype == np.float64 else np.float32)
    return unit_roundoff(np.float64 if "64" in str(Z.dtype) else np.float32)


def require_positive(M: Operator, values: Vector) -> None:
    """Refuse an operator that says it has no negative eigenvalue where a Ritz value proves the contrary."""
    size = float(np.max(np.abs(values), initial=0.0))
    noise = rounding(M.shape[0], roundoff(M)) * (size + M.inflation()) + (M.measured() or 0.0)
    least = float(np.min(values, initial=0.0))
    if least < -max(NEGATIVE * noise, 1e-8 * size):
        raise InputError(
            f"{M.symbol()} was said to have no negative eigenvalue (positive=True)",
            received=f"one at or below {least:.6g}, the largest being {float(np.max(values)):.6g}",
            hint="leave positive=False, and use solver='krylov', 'lanczos' or 'svd'",
        )


def dense_svd(problem: SpectralProblem, A: Operator, budget: int, G: Array | None = None) -> Pairs:
    """All singular values of A and the right vectors asked for; ``G``: AᵀA, where it is at hand."""
    Z = A.to_dense(budget)
    u, Z, M, rank = _stored(Z), wide(Z), Gram(A), min(Z.shape)
    R = triangle(Z, BOTH if problem.across else TALL)
    across = problem.across and R is Z
    rows = Z if G is None or across else None
    del Z  # R is enough for what follows where AᵀA is at hand
    U, s, Vt = svd(R)
    top, live = float(s[0]) if s.shape[0] else 0.0, problem.rank
    sigma_error = 0.6 * rounding(rank, u) * top + u * M.inflation() ** 0.5 + M.scale_error() * top
    sigma_error += A.perturbation() or 0.0
    if live < s.shape[0] and float(s[live]) <= sigma_error:  # what centred rows have beyond their rank is rounding
        s = s * place_of(s).array((np.arange(s.shape[0]) < live).astype(np.float64))
    theta = s * s
    values = to_numpy(theta)
    k = problem.pick(values, float(np.sum(values)))
    V = leading(U if across else A.xp.matrix_transpose(Vt), k)
    image = G @ V if rows is None else rows @ inner(rows, V) if across else inner(rows, rows @ V)
    block = image - V * theta[:k]
    slack = 2 * sigma_error * top
    complete = counted(values, k, slack)
    return Pairs(
        values, V, block, slack, complete, True, u, "float64", 1, slack, sigma_error, positive=True, across=across
    )  # fmt: skip


def dense_eigh(problem: SpectralProblem, M: Operator, budget: int) -> Pairs:
    """All eigenvalues of a symmetric operator and the vectors asked for."""
    S = M.to_dense(budget)
    u, S = _stored(S), wide(S)
    if problem.partial and problem.rule is None:
        few = _leading_eigh(problem, M, S, u)
        if few is not None:
            return stated(few, M)
    S = symmetric(S)
    some = problem.rule is None and isinstance(S, np.ndarray) and 0 < problem.k < SUBSET_SHARE * len(S)
    theta, V = eigh(S, problem.k, whole=True) if some else eigh(S)
    if M.positive:
        require_positive(M, to_numpy(theta))
        theta = theta if M.below else positive(theta)
    values = to_numpy(theta)
    k = problem.pick(values, trace(S))
    top = float(np.max(np.abs(values))) if len(values) else 0.0
    slack = rounding(S.shape[0], u) * (top + M.inflation()) + (M.measured() or 0.0) + 2 * M.scale_error() * top
    V = leading(V, k)
    block, complete = S @ V - V * theta[:k], counted(values, k, slack)
    return stated(Pairs(values, V, block, slack, complete, True, u, "float64", 1, slack, positive=M.positive), M)


def _leading_eigh(problem: SpectralProblem, M: Operator, S: Array, u: float) -> Pairs | None:
    """The k largest eigenvalues of S, which is M written out; None where a dense decomposition is as quick."""
    n, k = S.shape[0], problem.k
    if not isinstance(S, np.ndarray) or not M.positive or not 0 < k + 1 < SUBSET_SHARE * n:
        return None
    from ritz.spectral.solvers.leading import leading_pairs  # small matrices do without

    found = leading_pairs(S, k, tol=problem.tol)
    theta, V = eigh(S, k + 1) if found is None else (found.values, found.vectors)  # both read one triangle
    values: Vector = np.maximum(theta, -np.inf if M.below else 0.0)
    V = np.ascontiguousarray(V[:, :k])
    slack = rounding(n, u) * (float(values[0]) + M.inflation()) + (M.measured() or 0.0)
    slack += 2 * M.scale_error() * float(values[0])
    if found is None:
        block, complete = S @ V - V * values[:k], counted(values, k, slack)
    else:
        slack += float(np.max(found.reach, initial=0.0))
        block, complete = found.residual, found.complete(slack)
    return Pairs(values, V, block, slack, complete, True, u, "float64", 1, slack, positive=True)
