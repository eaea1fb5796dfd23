"""``chebyshev``: Chebyshev-filtered subspace iteration, for sparse data in memory.                   [ZS06]

    X ← T_m((2M − β)/β) X,   T_{j+1}(t) = 2t·T_j(t) − T_{j−1}(t),   β = smallest Ritz value of the block

The filter damps [0, β] and magnifies everything above like e^{2m√(λ/β − 1)}: m products, one orthonormalisation. For
sparse data products are cheap and orthonormalising long blocks is dear, which is why it beats block Krylov there.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ritz._core.linalg import Array, join, norms, orth, place_of, to_numpy
from ritz._core.progress import track
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.operators.combine import Shifted
from ritz.spectral.constants import CHEBYSHEV_DEGREE, CHEBYSHEV_RANGE, MAX_STEPS
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solvers.dense import roundoff, stated
from ritz.spectral.solvers.krylov import package, rounding_of, worst_residual
from ritz.spectral.solvers.lift import lift
from ritz.spectral.subspace import Subspace
from ritz.spectral.widths import oversampling

__all__ = ["chebyshev"]

UNPROVED = "a filtered block proves completeness only through the trace"


def chebyshev(
    problem: SpectralProblem,
    M: Operator,
    *,
    amplified: bool = False,
) -> Pairs:
    """Leading k pairs of the symmetric operator M; where some λ may be negative, of M + cI with c ≈ −λ_min first."""
    shift = lift(M, problem.start)
    return _lifted(problem, M, shift, amplified) if shift else _filtered(problem, M, amplified)


def _filtered(problem: SpectralProblem, M: Operator, amplified: bool) -> Pairs:
    p, k, place = M.shape[0], problem.k, M.place
    width = min(p, k + 2 * oversampling(k))
    floor, least = rounding(p, roundoff(M)), rounding(p, unit_roundoff(np.float64))
    X = orth(place.array(gaussian_rows(problem.start, 1, 0, p, width)))
    space = Subspace(p, X.shape[1], place)
    products, worst, best, stalled, degree = 0, np.inf, np.inf, 0, CHEBYSHEV_DEGREE // 2
    with track("chebyshev", total=None) as advance:
        while True:
            space = Subspace(p, X.shape[1], place)
            space.extend(X, M.matmat(X))
            products += 1
            advance(1)
            worst = worst_residual(to_numpy(space.residuals(min(k, space.m))), to_numpy(space.theta), amplified)
            if problem.watch is not None:
                problem.watch.look(products, space.m, worst, lambda: space.vectors(space.m))  # noqa: B023
            if worst <= problem.tol or space.m >= p or products >= MAX_STEPS:
                break
            stalled = stalled + 1 if worst > 0.7 * best else 0
            best = min(best, worst)
            top = max(float(space.theta[0]), 1e-300)
            if worst <= floor or (stalled >= 3 and worst <= 20 * max(floor, rounding_of(M, top) / top)):
                break
            beta = float(space.theta[space.m - 1])
            now = _degree(to_numpy(space.theta), min(k, space.m), beta, degree, problem.tol)
            X = _refill(orth(_filter(M, space, beta, now)), width, problem.start, products)
            products += now - 1
            advance(now - 1)
            degree = CHEBYSHEV_DEGREE
    reached = worst <= max(problem.tol, least) or space.m >= p
    # A filtered block is not the Krylov space that the Gaussian-start argument is about: only the trace can prove it.
    status = Completeness("none", np.inf, 0.0, UNPROVED)
    return stated(package(M, space, min(k, space.m), status, reached, products), M)


def _lifted(problem: SpectralProblem, M: Operator, shift: float, amplified: bool) -> Pairs:
    """The vectors of M + cI, then Rayleigh–Ritz with M itself."""
    raised = Shifted(M, shift)
    pairs = _filtered(replace(problem, operator=raised, tol=problem.tol / 10, watch=None), raised, amplified)
    space = Subspace(M.shape[0], pairs.k, M.place)
    Q, _ = M.xp.linalg.qr(pairs.vectors, mode="reduced")
    space.extend(Q, M.matmat(Q))
    worst = worst_residual(to_numpy(space.residuals(pairs.k)), to_numpy(space.theta), amplified)
    reached = worst <= max(problem.tol, rounding(M.shape[0], unit_roundoff(np.float64)))
    status = Completeness("none", np.inf, 0.0, UNPROVED)
    return stated(package(M, space, pairs.k, status, reached, pairs.iterations + 1), M)


def _degree(theta: np.ndarray, k: int, beta: float, most: int, tol: float) -> int:
    """The largest degree for which θ₁ outgrows θ_k by no more than rounding allows at this tolerance.

    Growth g leaves the k-th column with a rounding error of g·u once the leading directions are taken out again.
    """
    if beta <= 0:
        return 1
    allowed = min(CHEBYSHEV_RANGE, max(2.0, 0.03 * tol / unit_roundoff(np.float64)))
    top, last = (math.acosh(max(2 * float(t) / beta - 1, 1.0)) for t in (theta[0], theta[k - 1]))
    return int(max(1, min(most, math.log(allowed) / max(top - last, 1e-3))))


def _filter(M: Operator, space: Subspace, beta: float, degree: int) -> Array:
    """T_m((2M − β)/β) applied to the Ritz vectors; the first product is already known."""
    V, MV = space.vectors(space.m), space.MV @ space.Y
    if beta <= 0:
        return MV
    before, now = V, (2 / beta) * MV - V
    for _ in range(degree - 1):
        before, now = now, (4 / beta) * M.matmat(now) - 2 * now - before
        # Growth is e^{2m√(λ/β−1)}: columns are rescaled together with their predecessors to stay in range.
        size = norms(now)
        factor = M.xp.where(size > 1e100, 1e-100, M.xp.ones_like(size))
        before, now = before * factor, now * factor
    return now


def _refill(X: Array, width: int, seed: int, salt: int) -> Array:
    """The block at full width again: a filter on an operator of low rank leaves fewer directions."""
    lost = width - X.shape[1]
    if lost <= 0:
        return X
    fresh = orth(place_of(X).array(gaussian_rows(seed, 1000 + salt, 0, X.shape[0], lost)), against=X)
    return join([X, fresh])
