"""Descent of a stress from a start: limited-memory BFGS that falls back on majorisation, so that no step goes up.

    p = −H ∇f    (H from the last steps and changes of the gradient, first guess: that of the last pair)  [Noc80]
    f(Y + tp) ≤ f(Y) + 10⁻⁴ t ∇fᵀp      t = 1, then smaller;  otherwise the step of SMACOF, or of steepest descent

It ends where ‖∇f‖·‖Y‖ ≤ tol·10⁻²·max(f, tol), where a step no longer lowers f beyond rounding, or after ``most`` steps.
The answer is a stationary point near the start: whether a lower one exists nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import go_on
from ritz.methods.manifold.stress import Evaluated

__all__ = ["Descended", "descend"]

Floats = NDArray[np.float64]

#: Pairs of steps that are remembered.
PAIRS = 12
#: Sufficient decrease, and how often a step is cut.
ARMIJO, CUTS = 1e-4, 12
#: Steps in a row that lower f by less than rounding before it ends, and what counts as rounding of f.
STILL, ROUNDING = 3, 4e-15


@dataclass(frozen=True)
class Descended:
    """Where a descent ended."""

    Y: Floats
    value: float
    gradient: float  # ‖∇f‖·‖Y‖: change of f for a change of the map by its own size
    steps: int
    evaluations: int
    converged: bool


def descend(f: Callable[[Floats], Evaluated], Y: Floats, *, tol: float, most: int) -> Descended:
    """From Y down."""
    here, count = f(Y), 1
    changes: list[tuple[Floats, Floats]] = []
    still, step = 0, 0
    converged = _flat(here, Y, tol)
    while not converged and step < most:
        go_on()
        step += 1
        way = _direction(here.gradient, changes)
        slope = float(np.vdot(here.gradient, way))
        found, new = None, Y
        if changes and slope < 0:
            found, new, tried = _searched(f, Y, here, way, slope)
            count += tried
        if found is None and here.step is not None:
            new = here.step
            found, changes = f(new), []
            count += 1
        elif found is None:
            way = -here.gradient * (float(np.linalg.norm(Y)) / max(float(np.linalg.norm(here.gradient)), 1e-300))
            changes = []
            found, new, tried = _searched(f, Y, here, way, float(np.vdot(here.gradient, way)), cuts=50)
            count += tried
        if found is None or found.value > here.value * (1 + ROUNDING):
            converged = True  # nothing goes down any more
            break
        still = still + 1 if here.value - found.value <= ROUNDING * max(here.value, 1e-30) else 0
        _remember(changes, new - Y, found.gradient - here.gradient)
        Y, here = new, found
        converged = _flat(here, Y, tol) or still >= STILL
    size = float(np.linalg.norm(here.gradient)) * float(np.linalg.norm(Y))
    return Descended(Y, here.value, size, step, count, converged)


def _flat(here: Evaluated, Y: Floats, tol: float) -> bool:
    size = float(np.linalg.norm(here.gradient)) * float(np.linalg.norm(Y - Y.mean(axis=0)))
    return size <= 1e-2 * tol * max(here.value, tol)


def _searched(
    f: Callable[[Floats], Evaluated], Y: Floats, here: Evaluated, way: Floats, slope: float, cuts: int = CUTS
) -> tuple[Evaluated | None, Floats, int]:
    t = 1.0
    for tried in range(1, cuts + 1):
        new = Y + t * way
        found = f(new)
        if found.value <= here.value + ARMIJO * t * slope:
            return found, new, tried
        # the minimum of the parabola through what is known, within a half and a tenth
        least = -slope * t * t / (2 * max(found.value - here.value - slope * t, 1e-300))
        t = min(max(least, 0.1 * t), 0.5 * t)
        if -slope * t <= ROUNDING * here.value:
            break
    return None, Y, tried


def _direction(g: Floats, changes: list[tuple[Floats, Floats]]) -> Floats:
    q, kept = -g, []
    for s, y in reversed(changes):
        rho = 1.0 / float(np.vdot(s, y))
        a = rho * float(np.vdot(s, q))
        q = q - a * y
        kept.append((s, y, rho, a))
    if changes:
        s, y = changes[-1]
        q = q * (float(np.vdot(s, y)) / float(np.vdot(y, y)))
    for s, y, rho, a in reversed(kept):
        q = q + s * (a - rho * float(np.vdot(y, q)))
    return q


def _remember(changes: list[tuple[Floats, Floats]], s: Floats, y: Floats) -> None:
    """Keep a pair that curves upwards."""
    if float(np.vdot(s, y)) > 1e-12 * float(np.linalg.norm(s)) * float(np.linalg.norm(y)):
        changes.append((s, y))
        del changes[:-PAIRS]
