"""A few leading pairs of a matrix that is at hand: block Krylov on it, then a factorisation that counts the others.

    G = Gᵀ (p×p),  G V = V Θ + R,  k pairs to rounding;      B = G − V_k Θ_k V_kᵀ
    τI − B = L Lᵀ  (Cholesky)    ⇒    λ₁(B) < τ    ⇒    λ_{k+1} ≤ τ, for G − B has rank k                (interlacing)
    λᵢ ≤ θᵢ + ‖R_k‖²/(θᵢ − τ),   or θᵢ + ‖R_k‖ + max(0, τ − θᵢ)                                        (Schur, Weyl)

LAPACK reduces the whole matrix to a tridiagonal one, 4/3·p³ flops of which half read all of it for one vector; some
dozens of products with sixteen columns and a Cholesky factor, p³/3 flops at the speed of products, say as much about
k ≪ p pairs. An eigenvalue that the iteration missed makes the factorisation fail: then LAPACK solves it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from ritz._core.keys import key_of_numbers
from ritz._core.linalg import Array, Floats, combine, norm2, norms, orth
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, solving
from ritz.operators.base import Operator
from ritz.spectral import costs
from ritz.spectral.constants import ITERATE_BLOCK, ITERATE_SHARE, ITERATE_SIDE
from ritz.spectral.course import Course, Left, Watch
from ritz.spectral.problem import Completeness, SpectralProblem
from ritz.spectral.solvers.krylov import climb
from ritz.spectral.subspace import Subspace

__all__ = ["Leading", "leading_pairs"]

U = 2.0**-53
#: Why no other eigenvalue is larger.
COUNTED = "a factorisation of the Gram matrix counts every larger eigenvalue"
#: Rounding of a Cholesky factor in units of what a dense eigenproblem is allowed: |LLᵀ − A| stays near u·√p·max aᵢᵢ.
FACTORED = 4.0
#: Share of other directions in a start that is near the answer.
OTHERS = 1e-3
#: Share of the gap behind the k-th value within which the one that follows has to be known.
NEAR = 0.05


@dataclass(frozen=True)
class Leading:
    """The k + 1 leading pairs, and what is proved of them beside the rounding of G."""

    values: Floats  # (k + 1,)
    vectors: Array  # (p, k + 1)
    reach: Floats  # (k,) how far above its Ritz value the i-th eigenvalue can lie
    ceiling: float  # above every eigenvalue but the first k
    products: int

    def complete(self, error: float) -> Completeness:
        """None of the other eigenvalues is larger; ``error``: the rounding of G."""
        return Completeness("count", self.ceiling + error, 0.0, COUNTED)


class _Matrix(Operator):
    """A symmetric matrix of the host that was looked at before."""

    symmetric = True

    def __init__(self, G: Array) -> None:
        super().__init__(G.shape, np.float64)
        self.G = G

    def _matmat(self, V: Array) -> Array:
        return combine(self.G, V)

    def _rmatmat(self, U: Array) -> Array:
        return combine(self.G, U)

    def trace(self) -> float:
        return float(np.trace(self.G))

    def key(self) -> int:
        return key_of_numbers(self.G.sum(axis=1), self.G.diagonal())

    def symbol(self) -> str:
        return "G"


def leading_pairs(G: Array, k: int, *, start: Array | None = None, always: bool = False) -> Leading | None:
    """The k + 1 leading pairs of a positive semidefinite G; None where LAPACK is the cheaper way or has to decide.

    ``start``: a block that is near the answer. ``always``: whatever LAPACK would cost, for tests.
    """
    p = G.shape[0]
    worthwhile = p >= ITERATE_SIDE and k + 1 <= ITERATE_SHARE * p
    if not isinstance(G, np.ndarray) or k < 1 or k + 1 >= p or not (worthwhile or always):
        return None
    if not np.isfinite(np.trace(G)):
        return None
    M = _Matrix(G)
    width = min(ITERATE_BLOCK, p)
    most = min(p, max(4 * (k + 1), k + 24 * width))
    course = Course(costs.stored_product(p, width), p, width, (("LAPACK", costs.eigh(p, k + 1)),), most=most)
    watch = None if always else Watch(course, rounding(p, U))
    problem = SpectralProblem(M, k, kind="eigh", tol=0.0, watch=watch)
    Q = gaussian_rows(problem.start, 1, 0, p, width)
    if start is not None:  # mixtures of what is known already, a little of everything else beside
        mixed = np.asarray(start, np.float64) @ gaussian_rows(problem.start, 2, 0, start.shape[1], width)
        Q = mixed + OTHERS * (start.shape[1] / p) ** 0.5 * Q
    space = Subspace(p, most)
    products = _converged(problem, M, space, orth(Q))
    if products and _near(space, k):  # what follows has to be known as well to tell it from the last
        further = orth(space.remainder(), against=space.V, projected=True)
        more = _converged(replace(problem, k=k + 1), M, space, further[:, : space.room()])
        products = products + more if more else 0
    return _counted(G, space, k, products) if products else None


def _converged(problem: SpectralProblem, M: Operator, space: Subspace, Q: Array) -> int:
    """Products until the pairs are as accurate as float64 allows; 0 where that was given up."""
    try:
        products, _, reached = climb(M, space, Q, problem, 0.0, False, lambda _: None)
    except Left:
        return 0
    return products if reached and space.m > problem.k else 0


def _near(space: Subspace, k: int) -> bool:
    """Whether the k-th pair lies too near to what follows for a rough idea of that."""
    room = space.room() >= ITERATE_BLOCK
    return room and float(norms(space.residual_block(k + 1))[k]) > NEAR * float(space.theta[k - 1] - space.theta[k])


def _counted(G: Array, space: Subspace, k: int, products: int) -> Leading | None:
    """The pairs with the proof that no other eigenvalue lies above the last; None where that fails."""
    p, theta = space.p, np.asarray(space.theta, np.float64)
    V, R = space.vectors(k + 1), space.residual_block(k + 1)
    lost = FACTORED * solving(p, U) * float(theta[0])
    gap = float(theta[k - 1] - theta[k])
    tau = float(theta[k]) + min(NEAR * gap + 2 * float(norms(R[:, k:])[0]), gap / 2) + 2 * lost
    B = combine(V[:, :k] * theta[:k], V[:, :k].T)
    B -= G
    B[np.diag_indices(p)] += tau
    if scipy.linalg.lapack.dpotrf(B.T, lower=1, clean=0, overwrite_a=1)[1] != 0:
        return None
    ceiling, spread = tau + lost, float(norm2(R[:, :k]))
    gaps = theta[:k] - ceiling
    with np.errstate(divide="ignore"):
        schur = np.where(gaps > 0, spread**2 / np.where(gaps > 0, gaps, 1.0), np.inf)
    return Leading(theta[: k + 1], V, np.minimum(schur, spread + np.maximum(-gaps, 0.0)), ceiling, products)
