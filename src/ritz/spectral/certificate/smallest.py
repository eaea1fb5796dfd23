"""Bounds on the smallest eigenvalues, from Ritz values, residuals and a floor.

M has m known null vectors; Z = [Q V] spans m + J dimensions, H = ẐᵀMẐ, R = MẐ − ẐH, C is M off span Z, and the count
says λ_{m+J+1}(M) ≥ f. Eigenvalues are numbered from the smallest, those of the null vectors left out.

    Cauchy       λᵢ ≤ λᵢ(H)                                            always
    Haynsworth   λ_min(C) ≥ c = f − ‖R‖²/(f − λ_J(H))                  where f > λ_J(H): M − fI has no more than m + J
                                                                       negative eigenvalues, and H − fI has as many
    Schur        λᵢ ≥ λᵢ(H) − ‖R‖²/(c − λᵢ(H))                         where c > λᵢ(H): quadratic in the residual, so that
                                                                       digits of tiny eigenvalues are proved
    index        λᵢ ≥ f for i > J                                      J pairs below f, J = K unless f lies below a cluster
    residual     some eigenvalue within ‖rᵢ‖ + ρ of θᵢ                 where nothing was counted
    Davis–Kahan  sin∠(vᵢ, xᵢ) ≤ (‖rᵢ‖ + ρ)/gap                         gap to all others, null vectors included  [DK70]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import norm2
from ritz._core.tolerance import CLUSTER_GAP
from ritz.spectral.certificate.certificate import Certificate
from ritz.spectral.solvers.smallest.found import Found

__all__ = ["certify_smallest"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class _Box:
    """Intervals of all K pairs, and what lies next below and next above each."""

    lower: Vector
    upper: Vector
    labelled: NDArray[np.bool_]
    below: Vector
    above: Vector
    floor: float  # no eigenvalue but those of the k pairs and the null vectors lies below


def certify_smallest(
    found: Found, k: int, *, total: float, tol: float, seconds: float, passes: int, frame: dict[str, Any],
    signs: Vector, unit: float = 1.0,
) -> Certificate:  # fmt: skip
    """The certificate of the k smallest pairs; ``signs`` were given to their vectors."""
    box = _enclosed(found, k)
    pairs, c = found.pairs, (found.unit * unit) ** 2
    angles, clusters = _angles(found, box, k)
    residuals = pairs.own[:k]
    reached = bool(np.max(residuals, initial=0.0) <= tol * found.norm + 2 * pairs.rounding)
    V = pairs.V[:, :k]
    block = pairs.block[:, :k] * signs
    zero = int(np.count_nonzero(pairs.bounds()[0] <= 0))
    notes = (*found.notes, *_near_null(zero, k, found.null.m))
    return Certificate(
        values=pairs.theta[:k] * c,
        lower=box.lower[:k] * c,
        upper=box.upper[:k] * c,
        labelled=box.labelled[:k],
        residuals=residuals * c,
        angles=angles,
        clusters=clusters,
        completeness=found.words,
        ceiling=box.floor * c,
        probability=1.0 - found.failure,
        total=total,
        orthogonality=float(np.max(np.abs(V.T @ V - np.eye(k)), initial=0.0)) + pairs.defect,
        kind="certified",
        converged=reached,
        tol=tol,
        unit_roundoff=2.0**-53,
        precision="float64",
        rounding=pairs.rounding * c,
        passes=passes,
        seconds=seconds,
        notes=notes,
        which="smallest",
        frame={**frame, "grounds": _grounds(found, k, block, c)},
    )


def _near_null(zero: int, k: int, m: int) -> tuple[str, ...]:
    """What is to be said of eigenvalues that rounding cannot tell from zero."""
    if zero == 0:
        return ()
    some = f"{zero} eigenvalue{'s' * (zero != 1)}" if zero <= k else f"all {k} eigenvalues, and {zero - k} more,"
    beside = f" beside the {m} known null vector{'s' * (m != 1)}" if m else ""
    return (f"{some} cannot be told from zero{beside}: their axes are arbitrary in the null space",)


def _grounds(found: Found, k: int, block: Vector, c: float) -> dict[str, Any]:
    """What the bounds rest on, in the units of the certificate: ``verify`` derives them again."""
    pairs = found.pairs
    return {
        "k": k,
        "route": "smallest",
        "theta": pairs.theta * c,
        "error": float(pairs.error) * (np.sqrt(c) if pairs.by_root else c),
        "root": bool(pairs.by_root),
        "defect": float(pairs.defect),
        "residual": float(pairs.residual) * c,
        "residuals": pairs.own * c,
        "rounding": float(pairs.rounding) * c,
        "floor": float(found.floor) * c,
        "counted": int(found.counted),
        "null": int(found.null.m),
        "leak": float(_leak(found)) * c,
        "norm": float(found.norm) * c,
        "cross": np.asarray(block.T @ block, np.float64) * c * c,
    }


def _leak(found: Found) -> float:
    """Eigenvalues of the null vectors, from above."""
    return float(found.null.image**2 * (1 + 4 * found.pairs.defect))


def _enclosed(found: Found, k: int) -> _Box:
    pairs, J, f = found.pairs, found.counted, found.floor
    low, high = pairs.bounds()
    inside = _inside(f, float(high[J - 1]) if J else -np.inf, pairs.residual)
    own = (pairs.own + pairs.rounding) * (1 + 2 * pairs.defect)
    index = np.arange(len(high))
    labelled = np.where(index < J, inside > high, np.isfinite(f))
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(labelled & (index < J), pairs.residual**2 / (inside - high), 0.0)
    proved = np.where(index < J, low - reach, f)
    lower = np.minimum(np.maximum(np.where(labelled, proved, pairs.theta - own), 0.0), pairs.theta)
    upper = np.maximum(np.where(labelled, high, pairs.theta + own), pairs.theta)
    # By index: the i-th eigenvalue is at most high[i] in any case, and at least lower[i] where it is labelled.
    least = np.where(labelled, lower, -np.inf)
    null = _leak(found) if found.null.m else -np.inf
    below = np.concatenate([[null], np.maximum.accumulate(high)[:-1]])
    above = np.append(least[1:], f)
    return _Box(lower, upper, labelled, below, above, float(above[k - 1]))


def _inside(floor: float, highest: float, residual: float) -> float:
    """c ≤ λ_min(C); minus infinity where the floor does not lie above the Ritz values."""
    if not floor > highest:
        return -np.inf
    return floor - (residual**2 / (floor - highest) if np.isfinite(floor) else 0.0)


def _angles(found: Found, box: _Box, k: int) -> tuple[Vector, tuple[tuple[int, int, float], ...]]:
    """Sine bounds of single vectors, nan where the gap is too small, and of the spaces that clusters span."""
    pairs = found.pairs
    theta, grow = pairs.theta[:k], 1 + 2 * pairs.defect
    gaps = np.minimum(theta - box.below[:k], box.above[:k] - theta)
    with np.errstate(divide="ignore", invalid="ignore"):
        sine = np.where(gaps > 0, (pairs.own[:k] + pairs.rounding) * grow / gaps, np.nan)
    sine = np.where(sine < 1, sine, np.nan)
    weak = ~(sine <= CLUSTER_GAP)
    clusters = []
    for first, last in _groups(weak, theta, box.below[:k], box.above[:k]):
        size = (norm2(pairs.block[:, first : last + 1]) + pairs.rounding * np.sqrt(last - first + 1)) * grow
        gap = min(theta[first] - box.below[first], box.above[last] - theta[last])
        together = size / gap if gap > 0 else np.nan
        clusters.append((first, last, float(together) if together < 1 else float("nan")))
        sine[first : last + 1] = np.nan
    return sine, tuple(clusters)


def _groups(weak: NDArray[np.bool_], theta: Vector, below: Vector, above: Vector) -> list[tuple[int, int]]:
    """Runs of neighbours that are directions only together: each weak vector joins the neighbour it is closest to."""
    k, joined = len(theta), np.zeros(max(len(theta) - 1, 0), np.bool_)
    for i in np.flatnonzero(weak).tolist():
        down, up = theta[i] - below[i], above[i] - theta[i]
        if i > 0 and down <= up:
            joined[i - 1] = True
        elif i < k - 1:
            joined[i] = True
    edges = np.flatnonzero(np.append(~joined, True)) if k else np.zeros(0, int)
    groups, first = [], 0
    for last in edges.tolist():
        if last > first or weak[first]:
            groups.append((first, last))
        first = last + 1
    return groups
