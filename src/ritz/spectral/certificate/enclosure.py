"""From pairs and residuals to bounds on eigenvalues and angles, and with these to the certificate.

With V (p×k) orthonormal, θ the Ritz values, R = MV − VΘ, ρ the rounding, τ ≥ every eigenvalue not returned:

    Cauchy        λᵢ ≥ θᵢ − ρ                                          always, for the i-th eigenvalue
    residual      some eigenvalue lies within ‖rᵢ‖ + ρ of θᵢ           always
    Kahan         m pairs whose intervals overlap own m eigenvalues within ‖R_c‖₂ + ρ
    interlacing   at most j eigenvalues exceed τⱼ ≥ everything in the complement of the first j vectors
    Schur         λᵢ ≤ θᵢ + ‖R_{≤j}‖²/(θᵢ − τⱼ) + ρ                    when τⱼ < θᵢ, i ≤ j
    Weyl          |λᵢ − θᵢ| ≤ error                                    for a solver with a global backward error
    Davis–Kahan   sin∠(vᵢ, xᵢ) ≤ (‖rᵢ‖ + ρ)/gap                        gap to every other enclosed eigenvalue  [DK70]

The upper bounds are labelled by index where some τⱼ lies below: then nothing that was missed can push λᵢ up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.frozen import later, quick
from ritz._core.linalg import Array, inner, norm2, norms, to_numpy
from ritz._core.tolerance import CLUSTER_GAP, defect_rounding
from ritz.data.passes.rounding import better
from ritz.spectral.certificate.certificate import DERIVED, Certificate
from ritz.spectral.problem import Pairs

__all__ = ["Enclosure", "angle_bounds", "certify", "enclose", "surely_labelled"]

Vector = NDArray[np.float64]

#: Vectors up to which Python's own numbers take less than arrays: of two 3 µs, not 12.
FEW = 16
#: Numbers of vectors up to which bounds wait until they are read: 40 of the 320 µs of a fit of 150×4. Until then they
#: are kept with their residuals, at most 64 kB each.
DEFERRED = 1 << 13


@quick
@dataclass(frozen=True)
class Enclosure:
    """Bounds on the k returned eigenvalues of M."""

    lower: Vector
    upper: Vector
    labelled: NDArray[np.bool_]
    residuals: Vector


def certify(
    pairs: Pairs,
    *,
    total: float,
    unit: float,
    tol: float | None,
    passes: int,
    seconds: float,
    frame: dict[str, Any],
) -> Certificate:
    """The certificate of an answer on the host; ``unit``² turns the solver's scaled eigenvalues into true ones.

    Bounds of a small answer are derived when somebody reads them, from the same pairs, which are kept until then.
    """
    c = unit * unit
    told: dict[str, Any] = {
        "completeness": pairs.completeness.words,
        "ceiling": pairs.completeness.ceiling * c,
        "probability": 1.0 - pairs.completeness.failure,
        "total": total,
        "kind": "certified" if pairs.estimate is None else "estimate",
        "converged": pairs.converged,
        "tol": tol,
        "unit_roundoff": pairs.roundoff,
        "precision": pairs.precision,
        "rounding": max(pairs.rounding, pairs.error or 0.0) * c,
        "passes": passes,
        "seconds": seconds,
        "estimate": None if pairs.estimate is None else pairs.estimate * c,
        "notes": pairs.notes,
        "frame": {**frame, "grounds": _grounds(pairs)},
    }
    V = pairs.vectors
    if pairs.turned is None and pairs.half is None and isinstance(V, np.ndarray) and V.size <= DEFERRED:
        # the model holds the vectors as well: whoever changes them there changes nothing that is proved
        return later(Certificate, {"which": "largest", **told}, DERIVED, partial(_derived, pairs, V.copy("K"), c))
    return Certificate(**_derived(pairs, V, c), **told)


def _derived(pairs: Pairs, V: Array, c: float) -> dict[str, Any]:
    """What a certificate derives from pairs, their vectors V and residuals; eigenvalues times c."""
    box = enclose(pairs)
    angles, clusters = angle_bounds(pairs, box)
    theta = pairs.leading()
    # The product that measures the defect rounds as well: its sums are short, and equal entries round alike.
    off = pairs.overlap()
    if off is None:
        off = better(V) if isinstance(V, np.ndarray) else np.array(to_numpy(inner(V, V)))
    off.ravel("K")[:: V.shape[1] + 1] -= 1.0
    lower, upper, residuals = box.lower, box.upper, box.residuals
    if c != 1:
        lower, upper, residuals = lower * c, upper * c, residuals * c
    return {
        "values": theta * c,
        "lower": lower,
        "upper": upper,
        "labelled": box.labelled,
        "residuals": residuals,
        "angles": angles,
        "clusters": tuple(clusters),
        "orthogonality": float(np.abs(off).max(initial=0.0)) + defect_rounding(V.shape[0]),
    }


def _grounds(pairs: Pairs) -> dict[str, Any]:
    """What the bounds were derived from, in the units of the solver: ``verify`` derives them again."""
    sketch, given = pairs.estimate is not None, pairs.lower is not None
    direct = pairs.error is not None or pairs.upper is not None
    block = pairs.residual_block if pairs.value_block is None else pairs.value_block
    rest: Any = pairs.upper - pairs.leading() if sketch and pairs.upper is not None else None
    if rest is not None and pairs.drawn is not None:  # the same for all; frequent directions have one for each
        rest = float(np.max(rest, initial=0.0))
    return {
        "k": pairs.k,
        "route": "sketch" if sketch else "direct" if direct else "iterative",
        "rounding": float(pairs.rounding),
        "error": None if pairs.error is None else float(pairs.error),
        "sigma": None if pairs.sigma_error is None else float(pairs.sigma_error),
        "rest": 0.0 if rest is None else rest,
        "cross": None if direct and not sketch else np.asarray(to_numpy(inner(block, block)), np.float64),
        "null": float(pairs.null),
        "positive": bool(pairs.positive),
        "given": given,
        "turned": pairs.value_block is not None,
        "drawn": None if pairs.drawn is None else (f"{pairs.drawn[0]:x}", int(pairs.drawn[1])),
    }


def enclose(pairs: Pairs) -> Enclosure:
    """Enclose every returned eigenvalue."""
    theta, rho = pairs.leading(), pairs.rounding
    residuals = np.asarray(to_numpy(norms(pairs.residual_block)), np.float64)
    if pairs.error is not None or pairs.upper is not None:
        return _direct(pairs, theta, residuals)
    block = pairs.residual_block if pairs.value_block is None else pairs.value_block
    own = residuals if pairs.value_block is None else to_numpy(norms(block)).astype(np.float64)
    reach = _reach(block, theta, own, rho, pairs.completeness.ceiling)
    # A label is not worth a wide interval: where a neighbour's residual would widen it, the pair's own is used.
    labelled = reach <= 3 * residuals + rho
    lower = np.where(labelled, theta - rho, theta - own - rho)
    upper = theta + rho + np.where(labelled, reach, own)
    return Enclosure(np.maximum(lower, 0.0) if pairs.positive else lower, upper, labelled, residuals)


def surely_labelled(pairs: Pairs) -> bool:
    """Whether every returned eigenvalue of an iteration has its index for sure, by what ``_reach`` finds first: all
    vectors together below the ceiling of what is missing. Where it says no, ``enclose`` may say yes.
    """
    theta, tau = pairs.leading(), pairs.completeness.ceiling
    if pairs.error is not None or pairs.upper is not None or not pairs.k or not float(theta[-1]) > tau:
        return False
    residuals = to_numpy(norms(pairs.residual_block))
    own = residuals if pairs.value_block is None else to_numpy(norms(pairs.value_block))
    with np.errstate(over="ignore"):
        return bool((float(own @ own) / (theta - tau) <= 3 * residuals + pairs.rounding).all())


def _reach(block: Array, theta: Vector, own: Vector, rho: float, tau: float) -> Vector:
    """How far above θᵢ the i-th eigenvalue can lie; infinity where no index can be given.

    The complement of the first j vectors has eigenvalues below τⱼ = max(θ_{j+1}, τ) + ‖R_{>j}‖, and by interlacing at
    most j eigenvalues exceed τⱼ. Each i ≤ j takes the best j.
    """
    k = len(theta)
    if k == 0:
        return np.zeros(0)
    head = np.sqrt(np.cumsum(np.square(own)))
    ceiling = _ceilings(theta, own, tau)
    gap = theta[:, None] - ceiling[None, :]  # gap[i, j] = θᵢ − τⱼ
    usable = (gap > 0) & (np.arange(k)[:, None] <= np.arange(k)[None, :])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        schur = np.min(np.where(usable, np.square(head)[None, :] / gap, np.inf), axis=1)
    radius, ends = _clusters(block, theta, own, rho)
    lowest = np.minimum.accumulate(theta - radius - rho)
    counted = np.flatnonzero(ends & (lowest > ceiling))
    last = int(counted[-1]) if len(counted) else -1
    bound: Vector = np.minimum(schur, np.where(np.arange(k) <= last, radius, np.inf))
    return bound


def _direct(pairs: Pairs, theta: Vector, residuals: Vector) -> Enclosure:
    """Weyl: a backward error of the whole matrix bounds every eigenvalue by its index."""
    error = pairs.rounding if pairs.error is None else pairs.error
    lower, upper = theta - error, theta + error
    if pairs.sigma_error is not None:
        sigma = np.sqrt(np.maximum(theta, 0.0))
        lower = np.maximum(lower, np.square(np.maximum(sigma - pairs.sigma_error, 0.0)))
        upper = np.minimum(upper, np.square(sigma + pairs.sigma_error))
    if pairs.upper is not None:
        upper = np.asarray(pairs.upper, np.float64)
    if pairs.lower is not None:
        lower = np.asarray(pairs.lower, np.float64)
    if pairs.positive:
        lower = np.maximum(lower, 0.0)
    return Enclosure(lower, upper, np.full(pairs.k, True), residuals)


def _ceilings(theta: Vector, own: Vector, tau: float) -> Vector:
    """τⱼ: bound on every eigenvalue in the complement of the first j vectors."""
    tail = np.sqrt(np.append(np.cumsum(np.square(own)[:0:-1])[::-1], 0.0))
    ceilings: Vector = np.maximum(np.append(theta[1:], -np.inf), tau) + tail
    return ceilings


def _clusters(block: Array, theta: Vector, own: Vector, rho: float) -> tuple[Vector, NDArray[np.bool_]]:
    """‖R_c‖₂ of the group of overlapping intervals that each pair belongs to, and where groups end."""
    k, radius = len(theta), own.copy()
    for _ in range(k):
        low = np.minimum.accumulate(theta - radius - rho)
        high = np.maximum.accumulate((theta + radius + rho)[::-1])[::-1]
        ends = np.append(high[1:] < low[:-1], True)
        grown = radius.copy()
        start = 0
        for i in np.flatnonzero(ends).tolist():
            if i > start:
                grown[start : i + 1] = norm2(block[:, start : i + 1])
            start = i + 1
        if np.array_equal(grown, radius):
            break
        radius = grown
    return radius, ends


def angle_bounds(pairs: Pairs, box: Enclosure) -> tuple[Vector, list[tuple[int, int, float]]]:
    """Sine bounds of single vectors (nan where the gap is too small) and of the subspaces that clusters span.

    A cluster is ``(first, last, sine)`` with inclusive indices; its sine is nan if even the cluster has no gap.
    """
    theta, k = pairs.leading(), pairs.k
    if k == 0:
        return np.zeros(0), []
    direct = pairs.error is not None or pairs.upper is not None
    if direct and k <= FEW and (sines := _few_sines(pairs, box)):
        return np.array(sines), []
    if direct:
        below, above = np.empty(k), np.empty(k)
        below[:-1] = box.upper[1:]
        above[1:] = box.lower[:-1]
        below[-1], above[0] = max(pairs.completeness.ceiling, pairs.null), np.inf
    else:
        # Interlacing bounds the neighbours whether or not they carry a label.
        own = box.residuals if pairs.value_block is None else to_numpy(norms(pairs.value_block)).astype(np.float64)
        below = np.maximum(_ceilings(theta, own, pairs.completeness.ceiling) + pairs.rounding, pairs.null)
        above = np.append(np.inf, theta[:-1] - pairs.rounding)
    gaps = np.minimum(above - theta, theta - below)
    sine = _sines(pairs, theta, box.residuals, gaps, below, above)
    near = sine <= CLUSTER_GAP
    if near.all():
        return sine, []
    weak = ~near
    groups = _groups(weak, theta, below, above)
    clusters = []
    for first, last in groups:
        residual = norm2(pairs.residual_block[:, first : last + 1])
        gap = min(above[first] - theta[first], theta[last] - below[last])
        clusters.append((first, last, _sine(pairs, first, last, residual, gap, below[last], above[first])))
        sine[first : last + 1] = np.nan
    return sine, clusters


def _few_sines(pairs: Pairs, box: Enclosure) -> list[float]:
    """``_sines`` for few vectors of a direct route; nothing where some cannot be told apart."""
    theta, own, lower, upper = (one.tolist() for one in (pairs.leading(), box.residuals, box.lower, box.upper))
    below, above = [*upper[1:], max(pairs.completeness.ceiling, pairs.null)], [np.inf, *lower[:-1]]
    gaps = [min(above[i] - theta[i], theta[i] - below[i]) for i in range(len(theta))]
    if not min(gaps) > 0:
        return []
    rounding = float(pairs.rounding)
    sines = [(own[i] + rounding) / gaps[i] for i in range(len(theta))]
    if pairs.sigma_error is not None:
        off = 2 * float(pairs.sigma_error)
        sigma, low, high = ([max(x, 0.0) ** 0.5 for x in some] for some in (theta, below, above))
        for i, own_sigma in enumerate(sigma):
            spread = min(high[i] - own_sigma, own_sigma - low[i], max(own_sigma, 1e-300))
            if spread > 0:
                sines[i] = min(sines[i], off / spread)
    return sines if max(sines) <= CLUSTER_GAP else []


def _sine(pairs: Pairs, first: int, last: int, residual: float, gap: float, below: float, above: float) -> float:
    """The better of Davis–Kahan on M and, where singular values have a backward error, Wedin on A."""
    off = residual + pairs.rounding  # quotients above 1 bound nothing, and may leave the range
    bounds = [off / gap] if gap > off else []
    if pairs.sigma_error is not None:
        theta = pairs.leading()
        high, low = np.sqrt(max(theta[first], 0.0)), np.sqrt(max(theta[last], 0.0))
        spread = min(np.sqrt(max(above, 0.0)) - high, low - np.sqrt(max(below, 0.0)), max(low, 1e-300))
        if spread > 2 * pairs.sigma_error:
            bounds.append(2 * pairs.sigma_error / spread)
    best = min(bounds, default=np.nan)
    return float(best) if best < 1 else np.nan


def _sines(pairs: Pairs, theta: Vector, residuals: Vector, gaps: Vector, below: Vector, above: Vector) -> Vector:
    """``_sine`` of every vector alone."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        best = (residuals + pairs.rounding) / gaps
        if not (gaps > 0).all():
            best = np.where(gaps > 0, best, np.inf)
        if pairs.sigma_error is not None:
            sigma = np.sqrt(np.maximum(theta, 0.0))
            spread = np.minimum(np.sqrt(np.maximum(above, 0.0)) - sigma, sigma - np.sqrt(np.maximum(below, 0.0)))
            spread = np.minimum(spread, np.maximum(sigma, 1e-300))
            best = np.minimum(best, np.where(spread > 0, 2 * pairs.sigma_error / spread, np.inf))
    known = best < 1
    return best if known.all() else np.where(known, best, np.nan)


def _groups(weak: NDArray[np.bool_], theta: Vector, below: Vector, above: Vector) -> list[tuple[int, int]]:
    """Runs of neighbours that cannot be told apart: each weak vector joins the neighbour it is closest to."""
    k = len(theta)
    joined = np.zeros(max(k - 1, 0), np.bool_)  # joined[i]: i and i+1 belong together
    for i in np.flatnonzero(weak).tolist():
        up = above[i] - theta[i] if i > 0 else np.inf
        down = theta[i] - below[i]
        if i > 0 and up <= down:
            joined[i - 1] = True
        elif i < k - 1:
            joined[i] = True
    groups: list[tuple[int, int]] = []
    i = 0
    while i < k:
        j = i
        while j < k - 1 and joined[j]:
            j += 1
        if j > i or weak[i]:
            groups.append((i, j))
        i = j + 1
    return groups
