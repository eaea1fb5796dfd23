"""The spatial median of rows: Weiszfeld's iteration, which ends at a row where a row is the answer.

    m = argmin Σ wᵢ‖xᵢ − m‖        m ← Σ wᵢxᵢ/dᵢ / Σ wᵢ/dᵢ,   dᵢ = ‖xᵢ − m‖                                    [VZ00]
    m is the median   ⇔   ‖Σ_{dᵢ>0} wᵢ(xᵢ − m)/dᵢ‖ ≤ Σ_{dᵢ=0} wᵢ      the others pull no harder than the rows at m hold

Where rows repeat, as the zero rows of a sparse table do, the median often is one of them. The iteration comes near it
and never to the row itself, and rows that are the median would lie in some direction from what was found. So a row that
stays the nearest for some steps is asked by the second line, which is a proof: it holds whatever the iteration began
with, and however the rows are stored.

Rows X (n×d), distances in units of a scale (d,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import split_sum
from ritz._core.tolerance import CONSTANT
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, RowBlocks
from ritz.data.passes.center import taken_off

__all__ = ["STILL", "SpatialMedian", "distances_from", "rounded_to", "spatial_median"]

Floats = NDArray[np.float64]

#: The pull of all rows, as a share of their weight, at which the iteration ends.
STILL = 1e-12
#: Squares of distances that are formed as such; others may have left the range of float64 on the way.
SQUARES = 1e-280, 1e280
#: Steps for which a row is the nearest before it is asked whether it is the median: a pass over the rows. Rows without
#: copies take about ten steps in all.
PATIENCE = 10


@dataclass(frozen=True)
class SpatialMedian:
    """Where rows have their spatial median."""

    high: Floats  # (d,)
    low: Floats  # (d,) what rounding took from it: far from zero a float64 number has too few digits
    steps: int
    pull: float  # of the rows that are not there, less what the rows there hold, as a share of all weight


class _Pull(Sums):
    """Σ w x/‖x − m‖ and Σ w/‖x − m‖ over rows that are not at m, the weight of those that are, and of all."""

    SUMS: ClassVar[tuple[str, ...]] = ("toward", "force", "here", "weight")
    LISTS: ClassVar[tuple[str, ...]] = ("near",)  # distance and nearest row of every block, (d + 1,) each

    def __init__(self, d: int) -> None:
        self.toward = np.zeros(d)
        self.force = self.here = self.weight = 0.0
        self.near: list[Floats] = []

    def size(self, scale: Floats | None) -> float:
        """How hard the others pull."""
        return float(np.linalg.norm(self.toward if scale is None else self.toward / scale))

    def over(self, scale: Floats | None) -> float:
        """The same beyond what the rows at m hold, as a share of all weight; 0 where m is the median."""
        return max(self.size(scale) - self.here, 0.0) / max(self.weight, float(np.finfo(np.float64).tiny))

    def nearest(self) -> Floats | None:
        """The row next to m that is not at m."""
        return min(self.near, key=lambda held: held[0])[1:] if self.near else None


def spatial_median(
    blocks: RowBlocks, start: Floats, scale: Floats | None, weights: Floats | None, steps: int = 1000
) -> SpatialMedian:
    """The spatial median of rows in units of ``scale``, by the rows themselves."""
    start = np.asarray(start, np.float64)
    m, taken, over = np.zeros(len(start)), 0, 0.0
    last, stayed, asked = b"", 0, set[bytes]()
    for taken in range(1, steps + 1):
        sums = _pull(blocks, start, m, scale, weights)
        over, row = sums.over(scale), sums.nearest()
        if row is None or over <= STILL:
            break
        # a row at m holds it back
        step = sums.toward / sums.force * (1 - sums.here / max(sums.size(scale), sums.here))
        ends = taken == steps or bool(np.all(np.abs(step) <= 2.0**-53 * np.abs(m)))
        name = row.tobytes()
        stayed, last = stayed + 1 if name == last else 1, name
        if name not in asked and (stayed == PATIENCE or ends):
            asked.add(name)
            if (there := _pull(blocks, row, np.zeros(len(row)), scale, weights).over(scale)) <= STILL:
                return SpatialMedian(row, np.zeros(len(row)), taken, there)
        if ends:
            break
        m = m + step
    return SpatialMedian(*split_sum(start, m), taken, over)


def rounded_to(center: Floats, scale: Floats | None) -> float:
    """How far apart two rows at ``center`` may be that differ by rounding alone."""
    largest = np.abs(center if scale is None else center / scale)
    return CONSTANT * 2.0**-53 * float(np.linalg.norm(largest))


def distances_from(gap: Floats, scale: Floats | None) -> Floats:
    """‖z‖ of rows less a centre, (b,), in units of the scale; no square leaves the range of float64."""
    with np.errstate(over="ignore", under="ignore"):
        square = np.einsum("ij,ij->i", gap, gap) if scale is None else np.square(gap) @ (1 / np.square(scale))
    low, high = SQUARES
    outside = np.flatnonzero(~((square > low) & (square < high)))
    distance = np.sqrt(square)
    if len(outside):
        z = gap[outside] if scale is None else gap[outside] / scale
        largest = np.abs(z).max(axis=1, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)
        distance[outside] = unit * np.linalg.norm(z / unit[:, None], axis=1)
    return np.asarray(distance)


def _pull(blocks: RowBlocks, start: Floats, m: Floats, scale: Floats | None, weights: Floats | None) -> _Pull:
    least = max(rounded_to(start + m, scale), float(np.finfo(np.float64).tiny))

    def step(sums: _Pull, block: Block) -> None:
        # relative to m, so that a large mean costs no digits; a sparse block is small enough to be dense
        rows = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
        gap = taken_off(rows, start, m)
        distance = distances_from(gap, scale)
        w = np.ones(len(gap)) if weights is None else weights[block.rows]
        away = (distance > least) & (w > 0)
        force = np.where(away, w / np.where(away, distance, 1.0), 0.0)
        sums.toward += force @ gap
        sums.force += float(np.sum(force))
        sums.here += float(np.sum(w[~away]))
        sums.weight += float(np.sum(w))
        if bool(away.any()):
            i = int(np.argmin(np.where(away, distance, np.inf)))
            sums.near.append(np.concatenate([distance[i : i + 1], np.asarray(rows[i], np.float64)]))

    return blocks.map_reduce(lambda: _Pull(blocks.shape[1]), step)
