"""A kernel problem solved, some of its components picked, and what of it is zero.

    φ = 4u(√n |λ|₁ + ‖K‖_F/√n + n|g|), or the measured rounding of K        eigenvalues with |λ| ≤ φ are 0

Entries of K are rounded to u|Kᵢⱼ| each, so K to about u‖K‖_F/√n in norm; taking off means is off by u|g| in the same
direction for every row, n|g|u in norm; the decomposition adds u|λ|₁ times a slowly growing factor. 1 is always in the
null space of J K J, and duplicated rows or few features leave many more zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.frozen import changed
from ritz._core.linalg import Floats
from ritz._core.threads import lane_count, run_lanes
from ritz._core.tolerance import unit_roundoff
from ritz.kernels.base import Kernel
from ritz.operators.kernel import CenteredKernel
from ritz.project.kernel import FeatureSpaceMap, KernelMap
from ritz.spectral.solution import Solution

__all__ = ["NOISE", "Solved", "cast_to", "noise_floor", "picked", "widened", "without_noise"]

#: Multiples of u in the floor below which an eigenvalue is rounding.
NOISE = 4.0
#: Bytes of vectors from which lanes share their copy.
CAST_BYTES = 1 << 24


@dataclass(frozen=True)
class Solved:
    """A kernel problem solved; ``vectors`` (n, k) are None where only landmarks are kept."""

    kernel: Kernel
    spectrum: Solution
    vectors: NDArray[np.float64] | None
    coordinates: FeatureSpaceMap
    total: float  # what shares of the variance are shares of
    n: int
    dtype: Any
    kept_rows: Any
    negative_share: float = 0.0
    total_error: float = 0.0  # standard error of ``total``; 0 where it is exact

    def kept(self, keep: NDArray[np.bool_]) -> Solved:
        """Some components only."""
        if keep.all():
            return self
        index = np.flatnonzero(keep)
        vectors = None if self.vectors is None else self.vectors[:, index]
        coordinates: Any = self.coordinates
        axes = (
            {"dual": coordinates.dual[:, index]}
            if isinstance(coordinates, KernelMap)
            else {"axes": coordinates.axes[:, index]}
        )
        return replace(
            self, spectrum=picked(self.spectrum, index), vectors=vectors,
            coordinates=replace(coordinates, values=coordinates.values[index], **axes),
        )  # fmt: skip


def cast_to(V: Floats, dtype: Any) -> Floats:
    """A copy in another precision, made by all lanes where it is long: new pages take longer than numbers."""
    lanes = lane_count() if V.nbytes >= CAST_BYTES else 1
    if lanes < 2:
        return V.astype(dtype)
    out, edges = np.empty(V.shape, dtype), [len(V) * i // lanes for i in range(lanes + 1)]

    def work(rows: slice) -> None:
        np.copyto(out[rows], V[rows], casting="same_kind")

    run_lanes(work, [slice(a, b) for a, b in pairwise(edges)])
    return out


def picked(spectrum: Solution, index: NDArray[np.intp]) -> Solution:
    """Some pairs of a spectrum, in any order, with their lines of the certificate; those dropped raise its ceiling."""
    a = spectrum.certificate
    lines: dict[str, Any] = {
        name: getattr(a, name)[index] for name in ("values", "lower", "upper", "residuals", "angles", "labelled")
    }
    dropped = np.delete(a.upper, index)
    ceiling = float(np.max(dropped, initial=a.ceiling)) if len(dropped) else a.ceiling
    frame = {**a.frame, "vectors": a.frame["vectors"][:, index]} if "vectors" in a.frame else a.frame
    certificate = replace(a, **lines, clusters=_renumbered(a.clusters, index), ceiling=ceiling, frame=frame)
    return replace(spectrum, values=spectrum.values[index], vectors=spectrum.vectors[:, index], certificate=certificate)


def _renumbered(
    clusters: tuple[tuple[int, int, float], ...], index: NDArray[np.intp]
) -> tuple[tuple[int, int, float], ...]:
    """Clusters whose members were all picked and still stand together; of others no plane is left to speak of."""
    place = {int(old): new for new, old in enumerate(index)}
    kept = []
    for first, last, sine in clusters:
        spots = sorted(place.get(i, -1) for i in range(first, last + 1))
        if spots[0] >= 0 and spots[-1] - spots[0] == last - first:
            kept.append((spots[0], spots[-1], sine))
    return tuple(kept)


def noise_floor(M: CenteredKernel, values: NDArray[Any]) -> float:
    """Magnitude up to which an eigenvalue of J K J cannot be told from 0."""
    stats, n = M.statistics(), M.shape[0]
    given = M.inner.prepared.source
    rounded = M.inner.kernel.takes == "precomputed" and hasattr(given, "dtype")  # K as it was handed over
    unit = unit_roundoff(given.dtype) if rounded else unit_roundoff(stats.dtype)
    largest = float(np.max(np.abs(values), initial=0.0))
    entries = float(np.sqrt(stats.square / n)) + M.inflation()
    return max(NOISE * unit * (float(np.sqrt(n)) * largest + entries), M.measured() or 0.0)


def without_noise(spectrum: Solution, floor: float) -> Solution:
    """Eigenvalues below the floor as 0; the certificate keeps what was computed."""
    values = np.where(np.abs(spectrum.values) <= floor, 0.0, spectrum.values)
    return changed(spectrum, values=values)


def widened(spectrum: Solution, delta: float) -> Solution:
    """The certificate of (JΦ)ᵀJΦ as one of J K J, where Φ is off by ‖E‖ ≤ δ: |σ̂ − σ| ≤ δ, |λ̂ − λ| ≤ 2δ√λ̂ + δ².

    An angle grows by what the matrix is off over the gap to the nearest other eigenvalue (Davis–Kahan).
    """
    a = spectrum.certificate
    sigma = np.sqrt(np.maximum(a.values, 0.0))
    more, most = 2 * delta * sigma + delta**2, 2 * delta * float(np.max(sigma, initial=0.0)) + delta**2
    outer = np.append(np.inf, a.values), np.append(a.values, max(a.ceiling, 0.0))
    gaps = np.maximum(np.minimum(outer[0][:-1] - a.values, a.values - outer[1][1:]) - most, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        angles = a.angles + most / gaps
    clusters = []
    for first, last, sine in a.clusters:
        gap = min(outer[0][first] - a.values[first], a.values[last] - outer[1][last + 1]) - most
        clusters.append((first, last, float(sine + most / gap) if gap > 0 else float("nan")))
    certificate = replace(
        a, lower=np.maximum(a.lower - more, np.minimum(a.lower, 0.0)), upper=a.upper + more,
        angles=np.where(angles <= 1, angles, np.nan), clusters=tuple(clusters), rounding=a.rounding + most,
        ceiling=max(a.ceiling, 0.0) + 2 * delta * float(np.sqrt(max(a.ceiling, 0.0))) + delta**2,
    )  # fmt: skip
    return replace(spectrum, certificate=certificate)
