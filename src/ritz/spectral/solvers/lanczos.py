"""``lanczos``: thick-restart Lanczos with full reorthogonalisation.                                  [WS00]

    M V_m = V_m H + β v_{m+1} eᵀ,   residual of the i-th Ritz pair:  β·|y_{m,i}|

One vector a step: the fewest products with M for tight tolerances, at the price of one pass each. A single start
vector cannot see how often an eigenvalue is repeated, so the answer is labelled by index only when the trace proves it.
"""

from __future__ import annotations

import numpy as np

from ritz._core.linalg import Array, eigh, norms, place_of, symmetric, to_numpy, wide
from ritz._core.progress import track
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.constants import MAX_RESTARTS
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solvers.dense import roundoff, stated
from ritz.spectral.solvers.krylov import package, worst_residual
from ritz.spectral.subspace import Subspace

__all__ = ["lanczos"]


def lanczos(
    problem: SpectralProblem,
    M: Operator,
    *,
    amplified: bool = False,
) -> Pairs:
    """Leading k pairs of the symmetric operator M."""
    p, k, xp, place = M.shape[0], problem.k, M.xp, M.place
    size = min(p, max(2 * k + 12, k + 40))
    V, H, m = place.zeros((size, p)), place.zeros((size, size)), 0
    v = _fresh(problem, V, 0, 0)
    floor = rounding(p, roundoff(M))
    steps = 0
    with track("lanczos", total=None) as advance:
        for _ in range(MAX_RESTARTS):
            while m < size:
                w = wide(M.matmat(xp.reshape(v, (-1, 1))))[:, 0]
                steps += 1
                advance(1)
                V[m, :] = v
                m += 1
                w, h = _orthogonalise(w, V[:m, :])
                H[:m, m - 1], H[m - 1, :m] = h, h
                beta = float(norms(xp.reshape(w, (-1, 1)))[0])
                scale = float(xp.max(xp.abs(H[:m, :m])))
                v = w / beta if beta > 1e-14 * scale else _fresh(problem, V, m, steps)
                beta = beta if beta > 1e-14 * scale else 0.0
            theta, Y = eigh(symmetric(H[:m, :m]))
            residuals = np.abs(beta * to_numpy(Y[m - 1, : min(k, m)]))
            worst = worst_residual(residuals, to_numpy(theta), amplified)
            if problem.watch is not None:
                problem.watch.look(steps, m, worst, lambda: xp.matrix_transpose(V[:m, :]) @ Y[:, : min(k + 1, m)])  # noqa: B023
            if worst <= 0.5 * max(problem.tol, 0.1 * floor) or m >= p:
                break
            keep = min(k + (size - k) // 2, size - 2)
            V[:keep, :] = xp.matrix_transpose(Y[:, :keep]) @ V[:m, :]
            H[:, :] = 0.0
            for i in range(keep):
                H[i, i] = theta[i]
            m = keep
    return _finish(problem, M, V, Y, min(k, m), p, amplified, steps)


def _orthogonalise(w: Array, V: Array) -> tuple[Array, Array]:
    """w without its components along the basis rows (twice), and those components."""
    h = V @ w
    w = w - h @ V
    again = V @ w
    return w - again @ V, h + again


def _fresh(problem: SpectralProblem, V: Array, m: int, salt: int) -> Array:
    """A random unit vector orthogonal to the first m basis rows: the start, and the way out of an invariant space."""
    g = place_of(V).array(gaussian_rows(problem.start, 101 + salt, 0, V.shape[1], 1)[:, 0])
    if m:
        g, _ = _orthogonalise(g, V[:m, :])
    length = float(norms(g[:, None])[0])
    return g / length if length > 0 else g


def _finish(
    problem: SpectralProblem,
    M: Operator,
    V: Array,
    Y: Array,
    k: int,
    p: int,
    amplified: bool,
    steps: int,
) -> Pairs:
    """Rayleigh–Ritz on the found vectors with fresh products: the residuals of the answer are never recurred ones."""
    xp = M.xp
    many = min(Y.shape[1], k + 1)
    Q = xp.matrix_transpose(V[: Y.shape[0], :]) @ Y[:, :many]
    Q, _ = xp.linalg.qr(Q, mode="reduced")
    space = Subspace(p, many, M.place)
    space.extend(Q, M.matmat(Q))
    worst = worst_residual(to_numpy(space.residuals(k)), to_numpy(space.theta), amplified)
    reached = worst <= max(problem.tol, rounding(p, unit_roundoff(np.float64))) or many >= p
    none = Completeness("none", np.inf, 0.0, "one start vector cannot see repeated eigenvalues")
    return stated(package(M, space, k, none, reached, steps + 1), M)
