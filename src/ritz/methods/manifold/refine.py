"""From the classical map to one of least stress, and rows that are added to such a map.

new row with distances δ to the n rows at yⱼ:    min over y of Σ wⱼ (d̃ⱼ − ‖y − yⱼ‖)²,   wⱼ = 1, or 1/δⱼ for Sammon's
    y ← Σ wⱼ (yⱼ + d̃ⱼ (y − yⱼ)/‖y − yⱼ‖) / Σ wⱼ       from the place of the nearest row; no step raises the sum

d̃ is the disparity of δ in the unit of the map: δ itself, a line, or the steps of the monotone function that was fitted.
A row of the fit stays where it is, because there the gradient vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning
from ritz._core.warn import warn
from ritz.methods.manifold.descent import Descended, descend
from ritz.methods.manifold.shapes import Line, Monotone
from ritz.methods.manifold.stress import Metric, Sammon, Shaped

__all__ = ["LOSSES", "Refined", "placed_by_stress", "refined"]

Floats = NDArray[np.float64]

LOSSES: dict[str, Any] = {
    "metric": Metric, "interval": lambda D: Shaped(D, Line), "ordinal": lambda D: Shaped(D, Monotone), "sammon": Sammon,
}  # fmt: skip

#: Knots of the function of distances that a model keeps.
KNOTS = 4096
#: Steps by which a new row is placed, and the share of the map's size below which it counts as placed.
STEPS, NEAR = 200, 1e-12
#: Rows that are placed at a time.
BATCH = 256


@dataclass(frozen=True)
class Refined:
    """A map of least stress near its start."""

    Y: Floats
    descended: Descended
    stress: float  # stress-1; Sammon's stress for Sammon's
    knots: tuple[Floats, Floats] | None  # distances and disparities, where those are no multiples of each other


def refined(method: str, D: Floats, start: Floats, *, tol: float, most: int) -> Refined:
    """Descend from a start."""
    loss = LOSSES[method](D)
    found = descend(loss.at, np.array(start - start.mean(axis=0), np.float64), tol=tol, most=most)
    if not found.converged:
        warn(
            f"{most} steps left the stress of the map falling: its gradient is {found.gradient:.1e} instead of "
            f"{1e-2 * tol:.0e} times the stress\nhint: max_iter={10 * most}, or a larger tol",
            AccuracyWarning,
        )
    Y = loss.scaled(found.Y - found.Y.mean(axis=0))
    stress = found.value if method == "sammon" else float(np.sqrt(found.value))
    knots = _knots(loss, Y, found.value) if isinstance(loss, Shaped) else None
    return Refined(_turned(Y), found, stress, knots)


def _turned(Y: Floats) -> Floats:
    """On its principal axes, with the sign rule of all components: a map may be turned as one likes."""
    _, _, axes = np.linalg.svd(Y, full_matrices=False)
    Y = Y @ axes.T
    largest = np.argmax(np.abs(Y) >= (1 - 1e-6) * np.max(np.abs(Y), axis=0, initial=0.0), axis=0)
    return Y * np.where(Y[largest, np.arange(Y.shape[1])] < 0, -1.0, 1.0)


def _knots(loss: Shaped, Y: Floats, value: float) -> tuple[Floats, Floats]:
    from scipy.spatial.distance import pdist

    fitted = loss.shape(np.asarray(pdist(Y))) / (1 - value)
    order = np.argsort(loss.delta, kind="stable")
    if len(order) > KNOTS:
        order = order[np.linspace(0, len(order) - 1, KNOTS).astype(np.intp)]
    x, where = np.unique(loss.delta[order], return_inverse=True)
    y = np.bincount(where, fitted[order]) / np.bincount(where)
    return (x[[0, -1]], y[[0, -1]]) if isinstance(loss.shape, Line) else (x, y)


def placed_by_stress(method: str, Y: Floats, delta: Floats, knots: tuple[Floats, Floats] | None) -> Floats:
    """Coordinates (m, k) of rows with distances ``delta`` (m, n) to the rows of the map."""
    out = np.empty((len(delta), Y.shape[1]))
    for start in range(0, len(delta), BATCH):
        out[start : start + BATCH] = _placed(method, Y, delta[start : start + BATCH], knots)
    return out


def _placed(method: str, Y: Floats, delta: Floats, knots: tuple[Floats, Floats] | None) -> Floats:
    from scipy.spatial.distance import cdist

    wanted = delta if knots is None else np.where(delta > 0, _disparity(delta, knots, method), 0.0)
    weights = np.ones_like(delta)
    if method == "sammon":
        weights = 1.0 / np.where(delta > 0, delta, 1.0)
        weights[delta == 0] = 0.0
    total = weights.sum(axis=1, keepdims=True)
    y = Y[np.argmin(delta, axis=1)].copy()
    size = float(np.max(np.abs(Y), initial=0.0))
    for _ in range(STEPS):
        d = np.asarray(cdist(y, Y))
        ratio = np.divide(weights * wanted, d, out=np.zeros_like(d), where=d > 0)
        new = (weights @ Y + ratio.sum(axis=1, keepdims=True) * y - ratio @ Y) / np.where(total > 0, total, 1.0)
        moved = float(np.max(np.abs(new - y), initial=0.0))
        y = new
        if moved <= NEAR * size:
            break
    return y


def _disparity(delta: Floats, knots: tuple[Floats, Floats], method: str) -> Floats:
    x, y = knots
    if method == "interval" and len(x) > 1:  # a line has no end
        return np.maximum(y[0] + (delta - x[0]) * (y[-1] - y[0]) / (x[-1] - x[0]), 0.0)
    return np.asarray(np.interp(delta, x, y))
