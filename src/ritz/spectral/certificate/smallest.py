"""Bounds on the smallest eigenvalues, from Ritz values, residuals and a floor.

M has m known null vectors; Z = [Q V] spans m + J dimensions, H = ẐᵀMẐ, R = MẐ − ẐH, C is M off span Z, and the count
says λ_{m+J+1}(M) ≥ f. Eigenvalues are numbered from the smallest, those of the null vectors left out.

    Cauchy       λᵢ ≤ λᵢ(H)                                            always
    Haynsworth   λ_min(C) ≥ c = f − ‖R‖²/(f − λ_J(H))                  where f > λ_J(H): M − fI has no more than m + J
                                                                       negative eigenvalues, and H − fI has as many
    Schur        λᵢ ≥ λᵢ(H) − ‖R‖²/(c − λᵢ(H))                         where c > λᵢ(H): quadratic in the residual, so
                                                                       that digits of tiny eigenvalues are proved
    index        λᵢ ≥ f for i > J                                      J pairs below f: all, but in a cluster
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
    """Sine bounds of single vectors, nan where the gap is too small, and of the spaces that clusters span.

    A vector, or a group, that is no direction of its own joins the neighbour that it is closest to, until none is left
    or the neighbour is not among those returned.
    """
    groups = [(i, i) for i in range(k)]
    sines = [_sine(found, box, *each) for each in groups]
    at = 0
    while at < len(groups):
        first, last = groups[at]
        down, up = found.pairs.theta[first] - box.below[first], box.above[last] - found.pairs.theta[last]
        beside = at - 1 if down <= up else at + 1
        if sines[at] <= CLUSTER_GAP or not 0 <= beside < len(groups):
            at += 1
            continue
        low = min(at, beside)
        groups[low : low + 2] = [(groups[low][0], groups[low + 1][1])]
        sines[low : low + 2] = [_sine(found, box, *groups[low])]
        at = low
    angles, clusters = np.full(k, np.nan), []
    for (first, last), sine in zip(groups, sines, strict=True):
        if first == last and sine <= CLUSTER_GAP:
            angles[first] = sine
        else:
            clusters.append((first, last, sine))
    return angles, tuple(clusters)


def _sine(found: Found, box: _Box, first: int, last: int) -> float:
    """Davis–Kahan of a group of components; nan where it says nothing."""
    pairs = found.pairs
    gap = min(pairs.theta[first] - box.below[first], box.above[last] - pairs.theta[last])
    size = norm2(pairs.block[:, first : last + 1]) + pairs.rounding * np.sqrt(last - first + 1)
    sine = float(size * (1 + 2 * pairs.defect) / gap) if gap > 0 else np.inf
    return sine if sine < 1 else float("nan")
