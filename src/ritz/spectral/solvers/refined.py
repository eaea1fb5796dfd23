"""``refined``: leading pairs of a Gram matrix in float32, measured by one product in float64 and corrected.

    G̃ = AᵀA + E  (d×d, products in float32),     G̃ W = W Θ̃,   W (d×l), l > k                     one pass
    M W = AᵀA W,   WᵀM W = QΘQᵀ,   R = M W − W Θ   ≈ ‖E‖                                            one pass, float64
    (θᵢ − P G̃ P) δᵢ = rᵢ,   P = I − WWᵀ            conjugate gradients; no rows are read
    M(W + Δ) = M W + G̃ Δ − E Δ,    ‖EΔ‖ ≤ ‖E‖‖Δ‖    Rayleigh–Ritz with W + Δ
    (M + F) W' = W'Θ' + R',   F = eW'ᵀ + W'eᵀ − W' sym(W'ᵀe) W'ᵀ,   ‖F‖ ≤ 2‖e‖,   e = EΔ,   R' orthogonal to W'

One step of Newton's method with G̃ in the place of M: residuals of 10⁻⁷·θ₁ become at most 10⁻¹⁰·θᵢ, where corrections
end, and could become ‖E‖‖Δ‖ [DMW83]. The product with W + Δ is not formed, for all that is not known of it is EΔ, a
product of two small numbers. So float32 products of half the price give values as float64 does, and vectors to the
digits of their residuals; enclosures count both.

Nothing is missed: λᵢ(M) ≤ λᵢ(G̃) + ‖E‖ (Weyl), and where the values that follow the l-th lie below θ_{k+1} by more than
that, λ_{k+1}(M) ≤ θ_{k+1} + ‖R‖. Where two values are too near for it, or residuals too large, the Gram matrix is
formed in float64.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ritz._core.linalg import Floats, eigh, norm2, norms, qr, symmetric
from ritz._core.tolerance import solving, unit_roundoff
from ritz.data.passes.rough import Rough
from ritz.operators.base import Operator
from ritz.operators.gram import Gram
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solvers.krylov import rounding_of
from ritz.spectral.solvers.moments import iterated, moments
from ritz.spectral.widths import refined_width

__all__ = ["REFINED", "refined"]

#: Why no eigenvalue is missing, and what was computed how.
COUNTED = "a Gram matrix in float32, whose rounding is measured, leaves no room for a larger eigenvalue"
REFINED = "float32 Gram matrix, float64 finish"
#: Residual, in units of θᵢ, at which a correction ends, and in units of the tolerance; steps of it; and by how much a
#: residual is reduced in float32 at most.
ENOUGH, SHARE, STEPS, LEAST = 1e-10, 1e-3, 40, 1e-5
#: ‖F‖, in units of θ₁, up to which the image of a correction is not measured. Of 200,000×784 numbers it is 1e-14 where
#: eigenvalues decay, 4e-12 of noise; ``verify`` allows 1e-11.
UNMEASURED = 5e-12
#: Where the Gram matrix was formed in float64 after all.
TOO_NEAR = "float32 products could not tell the components from those that follow"
NOT_HELD = "float32 does not hold these rows as they have to be"

Matrix = np.ndarray


def refined(problem: SpectralProblem, A: Operator) -> Pairs:
    """The leading k pairs of AᵀA; by ``moments`` where float32 does not do."""
    few = problem.rule is None and 0 < problem.k < A.shape[1] - 1
    rough = A.rough(problem.k) if few else None
    found = None if rough is None else _found(problem, A, rough)
    if found is not None:
        return found
    return replace(moments(problem, A), road=("moments", NOT_HELD if rough is None else TOO_NEAR))


def _found(problem: SpectralProblem, A: Operator, rough: Rough) -> Pairs | None:
    G, k, d = rough.matrix, problem.k, len(rough.matrix)
    width = min(refined_width(k), d - 1)
    values, reach, V = _leading(G, width, problem.iterate)
    off, M = rough.off(float(values[0])), Gram(A)
    if not float(values[width]) + off < float(values[k - 1]):  # no ceiling could lie below θ_k
        return None
    W = qr(V)[0]
    Y = M.matmat(W)
    theta, W, Y = _turned(W, Y)
    top = float(theta[0])
    if not 0 < top < np.inf:
        return None
    goal = np.minimum(ENOUGH * theta[:k], SHARE * problem.tol * top)
    delta = _correction(G, W, theta[:k], (Y - W * theta)[:, :k], goal)
    if not float(np.linalg.norm(delta)) < 1:  # nor where it is not finite: values that float32 does not tell from zero
        return None
    grown, image = W.copy(), Y.copy()
    grown[:, :k] += delta
    image[:, :k] += G @ delta
    # W and Δ are orthogonal: the Gram matrix of W + Δ is I + ΔᵀΔ
    turn = np.linalg.inv(np.linalg.cholesky(symmetric(grown.T @ grown))).T
    theta, W, Y, turn = _turned(grown @ turn, image @ turn, turn)
    unknown = 2 * off * float(norm2(delta @ turn[:k]))
    if unknown > UNMEASURED * top:  # a small gap, or means far from zero: what is not known is measured
        unknown, (theta, W, Y) = 0.0, _turned(W, M.matmat(W))
    block = Y - W @ (W.T @ Y)
    slack = rounding_of(M, top) + unknown
    if float(np.max(norms(block[:, :k]))) + unknown > problem.tol * top:
        return None
    ceiling = _ceiling(G, W, theta, block, values, reach, off, k) + slack
    if not ceiling < theta[k - 1]:
        return None
    complete = Completeness("count", ceiling, 0.0, COUNTED)
    return Pairs(
        theta, W[:, :k], block[:, :k], slack, complete, True, unit_roundoff(np.float64), REFINED, 2, positive=True
    )  # fmt: skip


def _leading(G: Matrix, width: int, always: bool) -> tuple[Floats, float, Matrix]:
    """Leading eigenvalues of G, one more than vectors, how far above these the true ones can lie, and the vectors."""
    found = iterated(G, width, None, always)
    exact = solving(len(G), unit_roundoff(np.float64))
    if found is not None and len(found.values) > width:
        reach = float(np.max(found.reach)) + exact * float(found.values[0])
        return found.values, max(reach, found.ceiling - float(found.values[width])), found.vectors[:, :width]
    theta, V = eigh(G, width + 1, whole=False)
    return theta[: width + 1], exact * float(theta[0]), V[:, :width]


def _turned(W: Matrix, Y: Matrix, *others: Matrix) -> tuple[Matrix, ...]:
    """Ritz values of an orthonormal W with image Y, decreasing, and all that is given turned to its Ritz vectors."""
    theta, Q = eigh(symmetric(W.T @ Y))
    return (theta, W @ Q, Y @ Q, *(other @ Q for other in others))


def _correction(G: Matrix, W: Matrix, theta: Floats, R: Matrix, goal: Floats) -> Matrix:
    """Δ (d×k) with (θᵢ − P G P)δᵢ = P rᵢ up to a residual of ``goal``, all columns together.

    In float32 and in units of θ₁ and of the residuals: five digits of a correction are as many as are of use.
    """
    R = R - W @ (W.T @ R)
    sizes, top = norms(R), float(theta[0])
    unit = np.where(sizes > 0, sizes, 1.0)
    r, H, Z, shift = ((R / unit).astype(np.float32), (G / top).astype(np.float32), W.astype(np.float32),
                      (theta / top).astype(np.float32))  # fmt: skip
    delta, p, square = np.zeros_like(r), r.copy(), np.einsum("ij,ij->j", r, r)
    limit = np.square(np.clip(goal / unit, LEAST, 2.0)).astype(np.float32)  # r has length one
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(STEPS):
            unfinished = square > limit
            if not unfinished.any():
                break
            q = p * shift - H @ p
            q -= Z @ (Z.T @ q)
            curved = np.einsum("ij,ij->j", p, q)
            step = np.where(unfinished & (curved > 0), square / np.where(curved > 0, curved, 1), 0)
            delta += p * step
            r -= q * step
            before, square = square, np.einsum("ij,ij->j", r, r)
            p = r + p * np.where(before > 0, square / np.where(before > 0, before, 1), 0)
        found = delta * (unit / top)
        return found - W @ (W.T @ found)


def _ceiling(
    G: Matrix, W: Matrix, theta: Floats, block: Matrix, values: Floats, reach: float, off: float, k: int
) -> float:  # fmt: skip
    """λ_{k+1}(M) from above, but for the rounding of its products: by G alone, or by what was measured in W as well.

    Off W, G has no eigenvalue above λ_{l+1}(G) + g, g = ‖GW − WΘ'‖, where those in W lie above that: then M has none
    above the larger of θ_{k+1} and that with ‖E‖, but for ‖R‖.
    """
    simple = float(values[k]) + reach + off
    inside, Z = np.linalg.eigvalsh(symmetric(W.T @ (GW := G @ W))), GW - W @ (W.T @ GW)
    g, beyond = float(norm2(Z)), float(values[-1]) + reach
    if not float(inside[0]) > beyond + 2 * g:
        return simple
    return min(simple, max(float(theta[k]), beyond + g + off) + float(norm2(block)))
