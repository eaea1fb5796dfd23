"""``krylov``: randomized block Krylov iteration with Rayleigh–Ritz and residuals every step.

    K_q = span{Ω, MΩ, …, M^{q−1}Ω},   Ω (p×l) Gaussian,  l = k + s                         [MM15; Tropp 2022]

For M = AᵀA one step is one pass over the data ("Gram form": only p×l blocks are stored). Full reorthogonalisation;
thick restart with the leading Ritz vectors when the basis is full. On large data the first steps run in float32 and
the finish in float64: Rayleigh–Ritz and the residuals of the answer always come from float64 products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ritz._core.arrays import Array, to_numpy
from ritz._core.linalg import norms, orth
from ritz._core.progress import track
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import checked, rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.completeness import by_start, by_trace, strongest
from ritz.spectral.constants import FINISH_SPARE, FLOAT32_FLOOR, KRYLOV_BASIS_BYTES, MAX_STEPS, oversampling
from ritz.spectral.found import Completeness, Found
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.subspace import Subspace

__all__ = ["krylov", "package", "rounding_of", "worst_residual"]


def krylov(
    problem: SpectralProblem,
    M: Operator,
    *,
    total: Callable[[], float | None] | None = None,
    amplified: bool = False,
    narrow: bool = False,
    start: Array | None = None,
) -> Found:
    """Leading k pairs of the symmetric operator M.

    ``amplified``: residuals are weighed by √(θ₁/θᵢ), because the vectors wanted are Aᵀ times those found here.
    ``narrow``: begin with float32 products. ``start``: a block to begin with instead of a Gaussian one.
    """
    p, k, xp = M.shape[0], problem.k, M.xp
    width = min(p, k + oversampling(k))
    capacity = _capacity(p, width)
    space = Subspace(p, capacity, xp)
    Q = orth(xp.asarray(gaussian_rows(problem.seed, 1, 0, p, width)) if start is None else start)
    steps, chain, status = 0, 0, Completeness("none", np.inf)
    with track("krylov", total=None) as advance:
        if narrow:
            steps, chain, _ = _climb(
                M.at(np.float32), space, Q, problem, max(problem.tol, FLOAT32_FLOOR), amplified, advance
            )
            status = _started(space, k, p, Q.shape[1], chain)
            Q = orth(space.vectors(min(space.m, k + FINISH_SPARE)))
            space = Subspace(p, capacity, xp)
        more, longer, converged = _climb(M, space, Q, problem, problem.tol, amplified, advance)
    if not narrow:
        status = _started(space, k, p, width if start is None else 0, longer)
    return package(M, space, k, total, status, converged, steps + more, narrow)


def _climb(
    M: Operator,
    space: Subspace,
    Q: Array,
    problem: SpectralProblem,
    tol: float,
    amplified: bool,
    advance: object,
) -> tuple[int, int, bool]:
    """Extend the space until k residuals are small; steps taken, longest unbroken chain, whether converged."""
    k, chain, longest, width = problem.k, 0, 0, Q.shape[1]
    floor = rounding(M.shape[0], unit_roundoff(M.dtype))
    best, stalled, pure = np.inf, 0, True
    for step in range(1, MAX_STEPS + 1):
        MQ = M.matmat(Q)
        space.extend(Q, MQ)
        advance(1)  # type: ignore[operator]
        chain += 1
        longest = max(longest, chain)
        rest, wanted = space.remainder(), min(k, space.m)
        worst = np.inf
        if pure:
            worst = worst_residual(to_numpy(space.chain_residuals(rest, wanted)), to_numpy(space.theta), amplified)
        if not pure or worst <= 2 * max(tol, floor) or space.m >= space.p:
            worst = worst_residual(to_numpy(space.residuals(wanted)), to_numpy(space.theta), amplified)
        if worst <= tol or space.m >= space.p:
            return step, longest, worst <= max(tol, floor) or space.m >= space.p
        stalled = stalled + 1 if worst > 0.7 * best else 0
        best = min(best, worst)
        if worst <= floor or (stalled >= 3 and worst <= 20 * floor):
            return step, longest, tol <= floor
        Q = orth(rest, against=space.V, projected=True)
        if space.room() < width and space.capacity < space.p:
            space.restart(min(space.m, space.capacity - 2 * width))
            chain, pure = 0, False
        Q = Q[:, : min(space.room(), Q.shape[1])]
        if Q.shape[1] == 0:  # the Krylov space is invariant: look for what it may have missed
            Q = orth(
                M.xp.asarray(gaussian_rows(problem.seed, 2 + step, 0, space.p, min(width, space.room()))),
                against=space.V,
            )
            pure = False
            if Q.shape[1] == 0 or not np.isfinite(worst):
                return step, longest, worst <= max(tol, floor)
    return MAX_STEPS, longest, False


def worst_residual(residuals: np.ndarray, theta: np.ndarray, amplified: bool) -> float:
    """Largest residual in units of θ₁."""
    top = float(theta[0])
    if top <= 0:
        return 0.0
    if amplified:
        share = np.maximum(theta[: len(residuals)] / top, unit_roundoff(np.float64))
        residuals = residuals / np.sqrt(share)
    return float(np.max(residuals)) / top


def _started(space: Subspace, k: int, p: int, width: int, chain: int) -> Completeness:
    """What the Gaussian start says about missed eigenvalues."""
    if width <= k:
        return Completeness("none", np.inf)
    many = min(space.m, width)
    residuals = to_numpy(norms(space.residual_block(many)))
    return by_start(to_numpy(space.theta), residuals, k, p=p, width=width, steps=chain)


def package(
    M: Operator,
    space: Subspace,
    k: int,
    total: Callable[[], float | None] | None,
    status: Completeness,
    converged: bool,
    steps: int,
    narrow: bool = False,
) -> Found:
    """The answer of an iterative solver from its final subspace."""
    k = min(k, space.m)
    theta = to_numpy(space.theta)
    theta = np.maximum(theta, 0.0) if M.positive else theta
    u = unit_roundoff(np.float64)
    slack = rounding_of(M, max(float(theta[0]), 0.0))
    whole = _whole(theta, k, slack) if space.m >= space.p else None
    best = whole or strongest(by_trace(theta, k, total() if total else None, slack), status)
    path = "float32 iterations, float64 finish" if narrow else "float64"
    return Found(theta, space.vectors(k), space.residual_block(k), slack, best, converged, u, path, steps)


def rounding_of(M: Operator, top: float) -> float:
    """What rounding adds to a residual: measured on the last products where they were, allowed for otherwise."""
    u, measured = unit_roundoff(np.float64), M.measured()
    base = rounding(M.shape[0], u) if measured is None else checked(M.shape[0], u)
    return base * (top + M.inflation()) + (measured or 0.0) + 2 * M.scale_error() * top


def _whole(theta: np.ndarray, k: int, slack: float) -> Completeness:
    following = float(theta[k]) + slack if k < len(theta) else -np.inf
    return Completeness("count", following, 0.0, "the subspace is the whole space")


def _capacity(p: int, width: int) -> int:
    """Columns of the basis: what the byte budget allows, at least three blocks, at most the whole space."""
    columns = int(KRYLOV_BASIS_BYTES // (16 * p))
    return min(p, max(3 * width, min(columns, 24 * width)))
