"""The bounds of a certificate, derived a second time from what it says they rest on.

    θ, ‖rᵢ‖, ρ, τ (values, residuals, rounding, ceiling), RᵀR   →   intervals, labels, sines, clusters

The theorems are those of ``certificate/enclosure.py``, written down again: a field that was changed no longer follows
from the others. Whether the others are true is for the data to say (``truth.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Derived", "derive"]

Vector = NDArray[np.float64]

#: Sine above which a component is no direction of its own.
DIRECTION = 0.5


@dataclass(frozen=True)
class Derived:
    """What follows; None where the certificate does not hold what it would follow from."""

    lower: Vector | None
    upper: Vector | None
    labelled: NDArray[np.bool_]
    angles: Vector
    clusters: list[tuple[int, int, float, float]]  # first, last, sine from below and from above


def derive(c: Any, grounds: dict[str, Any]) -> Derived:
    """All bounds of the certificate ``c`` from its own grounds."""
    direct = grounds["route"] != "iterative"
    lower, upper, labelled = _direct(c, grounds) if direct else _iterative(c, grounds)
    below, above = _neighbours(c, grounds, direct, c.lower, c.upper)
    theta, k = c.values, len(c.values)
    sines = np.array([_sine(c, grounds, i, i, c.residuals[i], below[i], above[i]) for i in range(k)])
    weak = ~(sines <= DIRECTION)
    clusters = []
    for first, last in _groups(weak, theta, below, above):
        members = slice(first, last + 1)
        r = c.residuals[members]
        least = float(np.max(r))
        most = least * float(np.linalg.norm(r / least)) if least > 0 else 0.0  # squares may leave the range
        if grounds["cross"] is not None:
            stretch = _ratio(r, np.sqrt(np.diag(grounds["cross"])[members]))
            least = most = _norm(grounds["cross"][members, members] * stretch[:, None] * stretch)
        ends = below[last], above[first]
        from_, to = (_sine(c, grounds, first, last, size, *ends) for size in (least, most))
        clusters.append((first, last, from_, to))
        sines[members] = np.nan
    return Derived(lower, upper, labelled, sines, clusters)


def _direct(c: Any, g: dict[str, Any]) -> tuple[Vector | None, Vector | None, NDArray[np.bool_]]:
    """Weyl for eigenvalues and singular values; for a sketch, what M̂ lacks of the trace."""
    theta, labelled = c.values, np.ones(len(c.values), np.bool_)
    if g["given"]:
        return None, None, labelled
    error = g["rounding"] if g["error"] is None else g["error"]
    lower, upper = theta - error, theta + error
    if g["sigma"] is not None:
        s = np.sqrt(np.maximum(theta, 0.0))
        lower = np.maximum(lower, np.square(np.maximum(s - g["sigma"], 0.0)))
        upper = np.minimum(upper, np.square(s + g["sigma"]))
    if g["route"] == "sketch":
        upper = theta + g["rest"]
    return (np.maximum(lower, 0.0) if g["positive"] else lower), upper, labelled


def _iterative(c: Any, g: dict[str, Any]) -> tuple[Vector, Vector, NDArray[np.bool_]]:
    """Cauchy, Kahan and the Schur complement, each index with the best of them."""
    theta, rho, cross, k = c.values, g["rounding"], g["cross"], len(c.values)
    own = np.sqrt(np.maximum(np.diag(cross), 0.0))
    ceilings = _ceilings(theta, own, c.ceiling)
    reach = np.full(k, np.inf)
    for i in range(k):
        for j in range(i, k):
            if theta[i] > ceilings[j]:
                reach[i] = min(reach[i], float(np.sum(own[: j + 1] ** 2)) / (theta[i] - ceilings[j]))
    radius, ends = _kahan(theta, own, rho, cross)
    lowest, last = np.inf, -1
    for i in range(k):
        lowest = min(lowest, theta[i] - radius[i] - rho)
        last = i if ends[i] and lowest > ceilings[i] else last
    reach[: last + 1] = np.minimum(reach, radius)[: last + 1]
    labelled = reach <= 3 * c.residuals + rho
    lower = np.where(labelled, theta - rho, theta - own - rho)
    upper = theta + rho + np.where(labelled, reach, own)
    return (np.maximum(lower, 0.0) if g["positive"] else lower), upper, labelled


def _kahan(theta: Vector, own: Vector, rho: float, cross: Vector) -> tuple[Vector, list[bool]]:
    """Groups of overlapping intervals, grown until nothing overlaps any more: ‖R_c‖₂ of each, and where groups end."""
    k, radius = len(theta), own.copy()
    while True:
        low = np.minimum.accumulate(theta - radius - rho)
        high = np.maximum.accumulate((theta + radius + rho)[::-1])[::-1]
        ends = [i == k - 1 or bool(high[i + 1] < low[i]) for i in range(k)]
        grown, start = radius.copy(), 0
        for i in range(k):
            if ends[i]:
                if i > start:
                    grown[start : i + 1] = _norm(cross[start : i + 1, start : i + 1])
                start = i + 1
        if np.allclose(grown, radius, rtol=1e-12, atol=0.0):
            return radius, ends
        radius = grown


def _ceilings(theta: Vector, own: Vector, tau: float) -> Vector:
    """Nothing in the complement of the first j vectors is larger, (k,)."""
    k = len(theta)
    return np.array(
        [max(theta[j + 1] if j + 1 < k else -np.inf, tau) + float(np.linalg.norm(own[j + 1 :])) for j in range(k)]
    )


def _neighbours(c: Any, g: dict[str, Any], direct: bool, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """What lies next below and next above each component, at worst."""
    theta = c.values
    if direct:
        return np.append(upper[1:], max(c.ceiling, g["null"])), np.append(np.inf, lower[:-1])
    own = np.sqrt(np.maximum(np.diag(g["cross"]), 0.0))
    below = np.maximum(_ceilings(theta, own, c.ceiling) + g["rounding"], g["null"])
    return below, np.append(np.inf, theta[:-1] - g["rounding"])


def _sine(c: Any, g: dict[str, Any], first: int, last: int, residual: float, below: float, above: float) -> float:
    """Davis–Kahan for M, and Wedin where singular values have an error bound."""
    high, low = c.values[first], c.values[last]
    gap, best = min(above - high, low - below), np.inf
    if gap > residual + g["rounding"]:
        best = (residual + g["rounding"]) / gap
    if g["sigma"] is not None:
        s, t = np.sqrt(max(high, 0.0)), np.sqrt(max(low, 0.0))
        spread = min(np.sqrt(max(above, 0.0)) - s, t - np.sqrt(max(below, 0.0)), max(t, 1e-300))
        best = min(best, 2 * g["sigma"] / spread) if spread > 2 * g["sigma"] else best
    return float(best) if best < 1 else float("nan")


def _groups(weak: Any, theta: Vector, below: Vector, above: Vector) -> list[tuple[int, int]]:
    """Runs of components that are directions only together; each weak one joins its nearest neighbour."""
    k = len(theta)
    tied = set()
    for i in range(k):
        if weak[i]:
            if i > 0 and above[i] - theta[i] <= theta[i] - below[i]:
                tied.add(i - 1)
            elif i < k - 1:
                tied.add(i)
    runs, i = [], 0
    while i < k:
        j = i
        while j in tied:
            j += 1
        if j > i or weak[i]:
            runs.append((i, j))
        i = j + 1
    return runs


def _norm(square: Vector) -> float:
    return float(np.sqrt(max(float(np.linalg.eigvalsh((square + square.T) / 2)[-1]), 0.0)))


def _ratio(a: Vector, b: Vector) -> Vector:
    return np.divide(a, b, out=np.ones_like(a), where=b > 0)
