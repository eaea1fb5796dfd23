"""A few leading pairs of a positive semidefinite matrix that lies in memory, and the proof that none was missed.

    G V = V Θ + R      Lanczos with implicit restarts, θ to the last digit [LSY98];    G (p×p), V (p×k)
    τI − B = L Lᵀ      B = G − VΘVᵀ, a Cholesky factor   ⇒  λ₁(B) ≤ τ + ρ  ⇒  λ_{k+1}(G) ≤ τ + ρ         (interlacing)
    λᵢ ≤ θᵢ + ‖R‖²/(θᵢ − τ),   or θᵢ + ‖R‖ + max(0, τ − θᵢ)                                             (Schur, Weyl)

LAPACK reduces the whole matrix to a tridiagonal one, 4/3·p³ flops of which half read all of it for one vector; some
dozens of products with one vector, which read one triangle, and a Cholesky factor, p³/3 flops at the speed of products,
say as much about k ≪ p pairs. Nothing is asked of V: G − B has rank k whatever it is. The factor is formed in float32,
half the time, where its rounding ρ is small beside the gap behind the k-th value, in float64 otherwise. An eigenvalue
that the iteration missed makes the factorisation fail: then LAPACK solves it. Errors of values are squares of those of
vectors, so where a tolerance is given, iterations end at a share of it, and go on only if values are not yet right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from ritz._core.blas import freed_blas_for
from ritz._core.keys import key_of_numbers
from ritz._core.linalg import Array, Floats, norm2
from ritz._core.tolerance import solving, unit_roundoff
from ritz.spectral import costs
from ritz.spectral.constants import FORMED_LEAST, FORMED_SHARE, LEAVE
from ritz.spectral.problem import Completeness

__all__ = ["LEFT_OUT", "Leading", "below", "leading_pairs"]

#: Why no eigenvalue is missing.
LEFT_OUT = "a Cholesky factorisation leaves no room for a larger eigenvalue"
#: Rounding of VΘVᵀ − G and of its factor, in units of what a dense eigenproblem is allowed: |LLᵀ − A| stays near
#: u·√p·max aᵢᵢ. Kernel matrices, copies of rows and equal eigenvalues, p = 50 … 2,000: up to 0.2.
FACTORED = 0.8
#: Share of the gap behind the k-th value that rounding of a float32 factor may take.
NEAR = 0.05
#: Restarts before LAPACK is asked instead, at least and at most. RBF kernels of any width take 2 to 8, noise up to 15.
RESTARTS = 10, 40
#: The same where LAPACK takes little longer.
BRIEF = 4
#: Share of the tolerance at which iterations end; restarts overshoot it, so that vectors are mostly right to rounding.
#: RBF, k = 10, p = 1,400, processor ms by 1e-2, 1e-4, 1e-8: 33.8, 35.8, 38.0.
ENDED = 1e-4
#: Vectors of the basis at least, and two for each pair. RBF, k = 10, p = 1,000 and 300: 4.7 and 0.9 ms with 24 vectors,
#: 5.2 and 1.05 with 30, 5.1 and 1.1 with 42.
BASIS = 23
#: Distance of a value from what is proved, in units of what LAPACK may be off, above which LAPACK solves it: the factor
#: itself leaves 2.4 of them.
COPIES = 4.0
#: Defect of VᵀV above which vectors of Lanczos are not used.
LOOSE = 1e-12
#: Eigenvalues decay where as many equal ones as this share of all would have the same trace and Frobenius norm: 3p rows
#: of noise have 0.75, 1/j 0.08 for p = 300. Products that find the first value, which does not count: tf-idf 400×5,000
#: that is not centred has 0.07 with it and 0.84 without, and its other values come too late, after 2.5 ms of 14.
FLAT_SHARE, POWER = 0.25, 3
#: Products of the chain that looks for a crowd far below θ_k at most; its residual, and how far above its Ritz value
#: the level is put, in units of the gap.
CHAIN, SETTLED, ABOVE = 42, 0.01, 0.03
#: Products of it between two looks.
LOOK = 6
#: Share of other directions in a start that is near the answer.
OTHERS = 1e-3


@dataclass(frozen=True)
class Leading:
    """The k leading pairs, one more as a rule, and what is proved of them beside the rounding of G."""

    values: Floats  # (k + 1,), or (k,) where the next one lies in a crowd far below
    vectors: Array  # (p, k + 1) or (p, k)
    residual: Array  # (p, k)
    reach: Floats  # (k,) how far above its Ritz value the i-th eigenvalue can lie
    ceiling: float  # above every eigenvalue but the first k

    def complete(self, error: float) -> Completeness:
        """None of the other eigenvalues is larger; ``error``: the rounding of G."""
        return Completeness("count", self.ceiling + error, 0.0, LEFT_OUT)


class _Triangle(LinearOperator):  # type: ignore[misc]  # SciPy has no types
    """Products of vectors with a symmetric matrix whose lower triangle is read, in a unit of its own.

    ARPACK takes values below u^⅔ for that: it stops where residuals are u^5/3, however small the values are.
    """

    def __init__(self, F: NDArray[np.float64]) -> None:
        super().__init__(np.dtype(np.float64), F.shape)
        self.F, self.unit = F, math.ldexp(1.0, max(math.frexp(float(np.trace(F)))[1], -1000))

    def matvec(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Without the checks of SciPy's, which take half as long as a product with a small matrix."""
        return blas.dsymv(1 / self.unit, self.F, x, lower=1)  # type: ignore[no-any-return]

    _matvec = matvec


def leading_pairs(
    G: Array,
    k: int,
    *,
    start: Array | None = None,
    least: int = FORMED_LEAST,
    always: bool = False,
    brief: bool = False,
    tol: float = 0.0,
) -> Leading | None:
    """The k + 1 leading pairs of a positive semidefinite G; None where LAPACK is the cheaper way or has to decide.

    G is symmetric up to rounding: what is read is one triangle of it. ``start``: a block that is near the answer.
    ``least``: the smallest side. ``always``: whatever LAPACK would cost, for tests. ``brief``: where LAPACK takes
    little longer, only for eigenvalues that decay, and without patience. ``tol``: residuals that will do, in units of
    the values.
    """
    p = G.shape[0]
    worthwhile = p >= least and k + 1 <= FORMED_SHARE * p
    if not isinstance(G, np.ndarray) or k < 1 or k + 2 >= p or not (worthwhile or always):
        return None
    if G.dtype != np.float64 or not np.isfinite(np.trace(G)):
        return None
    # column by column, as LAPACK wants it: the lower triangle is read
    F = G.T if G.flags.c_contiguous else np.asfortranarray(G)
    if brief and not _decays(F, k):
        return None
    found = _lanczos(F, k, start, brief, ENDED * tol)
    if found is None:
        return None
    theta, V = found
    ceiling = _ceiling(F, theta, V, k) if len(theta) > k else _far_below(F, theta, V)
    if ceiling is None:
        return None
    made = _bounded(F, theta, V, ceiling, k)
    if tol > 0 and not float(made.reach.max()) <= solving(p, unit_roundoff(np.float64)) * float(theta[0]):
        return leading_pairs(G, k, start=V, least=least, always=always, brief=brief)  # values in a crowd
    if not float(made.reach.max()) <= COPIES * solving(p, unit_roundoff(np.float64)) * float(theta[0]):
        return None  # a copy of a value that came late: LAPACK finds all of them alike
    return made


def _decays(F: NDArray[np.float64], k: int) -> bool:
    """Whether eigenvalues decay, by the number tr²/‖G‖_F² of equal ones that would have the same sums; the first, which
    is that of the mean of rows that are not centred, tells nothing of the others and is left out where these count.
    """
    entries = F.ravel("K")  # as they lie: no copy
    total, square = float(np.trace(F)), float(entries @ entries)
    if not 0 < total * total <= FLAT_SHARE * len(F) * square < np.inf:
        return False
    first = _first(F, total) if k > 1 else 0.0
    return (total - first) ** 2 <= FLAT_SHARE * len(F) * (square - first * first)


def _first(F: NDArray[np.float64], total: float) -> float:
    """The largest eigenvalue, from below: Rayleigh's quotient after some products with one vector."""
    q = F.diagonal() / total
    for _ in range(POWER):
        q = blas.dsymv(1.0, F, q / np.linalg.norm(q), lower=1)
    q /= np.linalg.norm(q)
    return float(q @ blas.dsymv(1.0, F, q, lower=1))


def _lanczos(
    F: NDArray[np.float64], k: int, start: Array | None, brief: bool, tol: float
) -> tuple[Floats, Array] | None:
    """The k + 1 leading pairs, or k where the next one does not come soon; None where they do not."""
    p, columns = len(F), min(len(F), max(2 * k + 4, BASIS))
    random = np.random.default_rng(key_of_numbers(F.diagonal(), F[:, 0]))
    first = random.standard_normal(p)
    if start is not None:  # a mixture of what is known already, a little of everything else beside
        known = np.asarray(start, np.float64) @ random.standard_normal(start.shape[1])
        first = known + OTHERS * (start.shape[1] / p) ** 0.5 * first
    each = (columns - k - 1) * costs.stored_product(p)
    restarts = BRIEF if brief else int(min(max(LEAVE * costs.eigh(p, k + 1) / each, RESTARTS[0]), RESTARTS[1]))
    triangle = _Triangle(F)
    try:
        theta, V = eigsh(triangle, k + 1, which="LA", v0=first, ncv=columns, maxiter=restarts, tol=tol)
    except ArpackNoConvergence as stopped:
        theta, V = stopped.eigenvalues, stopped.eigenvectors
        if len(theta) != k:
            return None
    except ArpackError:
        return None
    order = np.argsort(-theta)
    theta, V = triangle.unit * np.asarray(theta[order], np.float64), np.ascontiguousarray(V[:, order])
    if not np.isfinite(theta).all() or not theta[-1] > 0:
        return None
    return (theta, V) if float(np.max(np.abs(V.T @ V - np.eye(len(theta))))) <= LOOSE else None


def _ceiling(F: NDArray[np.float64], theta: Floats, V: Array, k: int) -> float | None:
    """What every eigenvalue but the first k lies below, just above θ_{k+1}; None where one is larger."""
    return below(F, theta[:k], V[:, :k], float(theta[k]), _precision(F, theta, float(theta[k - 1] - theta[k])))


def _precision(F: NDArray[np.float64], theta: Floats, gap: float) -> Any:
    """Of the factor: float32 where its rounding is small beside the gap."""
    narrow = 3 * _lost(len(F), np.float32) * float(theta[0]) <= NEAR * gap
    return np.float32 if narrow else np.float64


def _far_below(F: NDArray[np.float64], theta: Floats, V: Array) -> float | None:
    """The same where θ_{k+1} lies in a crowd far below θ_k: of a level that a short Lanczos chain beside V tells."""
    level = _level(F, V, float(theta[-1]))
    if level is None:
        return None
    gap = float(theta[-1]) - level
    return below(F, theta, V, level + ABOVE * gap, _precision(F, theta, gap))


def _level(F: NDArray[np.float64], V: Array, top: float) -> float | None:
    """The largest Ritz value of G outside of V, when it has come near an eigenvalue; None where that does not come soon
    or is no smaller than ``top``. Whether it is the largest eigenvalue there, the factor will say.
    """
    p, q = len(F), np.random.default_rng(len(F)).standard_normal(len(F))
    Q, H = np.zeros((CHAIN, p)), np.zeros((CHAIN, CHAIN))
    for j in range(CHAIN):
        for _ in range(2):
            q -= V @ (V.T @ q)
            q -= Q[:j].T @ (Q[:j] @ q)
        length = float(np.linalg.norm(q))
        if j and (j % LOOK == 0 or length == 0):
            omega, Y = np.linalg.eigh(H[:j, :j])
            if abs(float(Y[-1, -1])) * length <= SETTLED * (top - float(omega[-1])):
                return float(omega[-1])
        if not length > 0:
            return None
        if j:
            H[j, j - 1] = H[j - 1, j] = length
        Q[j] = q / length
        q = blas.dsymv(1.0, F, Q[j], lower=1)
        H[j, j] = float(Q[j] @ q)
    return None


def _lost(p: int, dtype: Any) -> float:
    """Rounding of a factor and of the matrix that is factored, in units of θ₁."""
    return FACTORED * solving(p, unit_roundoff(dtype))


def below(F: NDArray[np.float64], theta: Floats, V: Array, following: float, dtype: Any) -> float | None:
    """What λ₁(G − VΘVᵀ) lies below, about ``following``; None where it does not. In units of θ₁ until the end."""
    p, top = len(F), float(theta[0])
    lost = _lost(p, dtype)
    shift = following / top + 2 * lost
    W = np.asfortranarray(V * np.sqrt(theta / top), dtype)
    D = np.empty((p, p), dtype, order="F")
    np.multiply(F, 1 / top, out=D, casting="same_kind")
    syrk, factor = (blas.ssyrk, lapack.spotrf) if dtype == np.float32 else (blas.dsyrk, lapack.dpotrf)
    D = syrk(1.0, W, beta=-1.0, c=D, lower=1, overwrite_c=1)  # VΘVᵀ − G, one triangle
    D[np.diag_indices(p)] += shift
    with freed_blas_for(p // 2):  # 0.035 s of 1,500, 0.24 of 3,000: a seventh of their eigenvalues
        failed = factor(D, lower=1, overwrite_a=1, clean=0)[1]
    return None if failed else (shift + lost) * top


def _bounded(F: NDArray[np.float64], theta: Floats, V: Array, ceiling: float, k: int) -> Leading:
    R = (np.ascontiguousarray(V[:, :k].T) @ F.T).T  # few rows times a matrix are half as long as that times columns
    R -= V[:, :k] * theta[:k]
    spread, gaps = float(norm2(R)), theta[:k] - ceiling
    with np.errstate(divide="ignore"):
        schur = np.where(gaps > 0, spread * (spread / np.where(gaps > 0, gaps, 1.0)), np.inf)
    return Leading(theta, V, R, np.minimum(schur, spread + np.maximum(-gaps, 0.0)), ceiling)
