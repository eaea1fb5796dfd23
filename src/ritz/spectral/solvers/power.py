"""``power``: power iteration with deflation, the method of the lectures.

    repeat x ← Mx/‖Mx‖ from a random x until it no longer turns: the most significant eigenvector. Then work in the
    subspace orthogonal to it, find the second, and so on.

The error shrinks by λ_{i+1}/λᵢ a step: slow for close eigenvalues, which is why the other solvers exist. Stops by the
same residual test as they do.
"""

from __future__ import annotations

import numpy as np

from ritz._core.linalg import Array, norms, to_numpy, wide
from ritz._core.progress import track
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.constants import MAX_POWER_STEPS
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solvers.dense import roundoff, stated
from ritz.spectral.solvers.krylov import package, worst_residual
from ritz.spectral.solvers.lift import lift
from ritz.spectral.subspace import Subspace

__all__ = ["power"]


def power(
    problem: SpectralProblem,
    M: Operator,
    *,
    amplified: bool = False,
) -> Pairs:
    """Leading k pairs of the symmetric operator M, one after the other.

    Powers turn to the largest |λ|. Where some λ may be negative, M + cI is iterated, c ≈ −λ_min, whose largest |λ| are
    the largest of M; the answer is Rayleigh–Ritz with M itself.
    """
    p, k, xp, place = M.shape[0], min(problem.k, M.shape[0]), M.xp, M.place
    shift = lift(M, problem.start)
    B = place.zeros((k, p))
    floor, least = rounding(p, roundoff(M)), rounding(p, unit_roundoff(np.float64))
    steps, top = 0, 0.0
    with track("power", total=k) as advance:
        for i in range(k):
            x = _away(place.array(gaussian_rows(problem.start, 11, 0, p, k)[:, i]), B[:i, :])
            x, theta, taken = _iterate(M, x, B[:i, :], top, problem.tol, floor, amplified, shift)
            top = max(top, theta if shift == 0 else abs(theta))
            B[i, :] = x
            steps += taken
            advance(1)
    space = Subspace(p, k, place)
    Q, _ = xp.linalg.qr(xp.matrix_transpose(B), mode="reduced")
    space.extend(Q, M.matmat(Q))
    worst = worst_residual(to_numpy(space.residuals(k)), to_numpy(space.theta), amplified)
    none = Completeness("none", np.inf, 0.0, "one start vector cannot see repeated eigenvalues")
    return stated(package(M, space, k, none, worst <= max(problem.tol, least) or k >= p, steps + 1), M)


def _iterate(
    M: Operator, x: Array, basis: Array, top: float, tol: float, floor: float, amplified: bool, shift: float
) -> tuple[Array, float, int]:
    """One eigenvector: x ← normalised (I − BᵀB)(M + cI)x until ‖Mx − θx‖ is small."""
    theta, steps = 0.0, 0
    while steps < MAX_POWER_STEPS:
        steps += 1
        y = _project(wide(M.matmat(x[:, None]))[:, 0], basis)
        theta = float(x @ y)
        length = float(norms((y + shift * x)[:, None])[0])
        reference = max(top, theta if shift == 0 else abs(theta))
        residual = float(norms((y - theta * x)[:, None])[0])
        if amplified and theta > 0:
            residual *= (reference / theta) ** 0.5
        if length <= floor * reference or residual <= 0.3 * max(tol, floor) * reference:
            break
        x = _away(y + shift * x if shift else y, basis)
    return x, theta, steps


def _project(y: Array, basis: Array) -> Array:
    return y - (basis @ y) @ basis if basis.shape[0] else y


def _away(x: Array, basis: Array) -> Array:
    """x orthogonal to what was found, with unit length."""
    x = x / float(norms(x[:, None])[0])
    x = _project(_project(x, basis), basis)
    return x / float(norms(x[:, None])[0])
