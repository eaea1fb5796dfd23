"""Spherical PCA: the principal axes of the directions in which rows lie.

    uᵢ = (xᵢ − m)/‖xᵢ − m‖,   m the spatial median        Σ wᵢ uᵢuᵢᵀ V = V Λ        variances MAD²(Xv)       [LMS99]

A row counts by its direction alone, however far out it lies, so half of the rows would have to be bad to turn the axes
at will. For elliptical rows the axes are those of the covariance, in the same order. It is one spectral problem, with
rows that are put on the sphere as they are read: files and sparse tables work as for PCA. Rows outside memory have
their median and their scales from 20,000 rows spread evenly over the table. Rows at the median, such as the zero rows
of a sparse table may be, have no direction: uᵢ = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Accumulator, Block, MemoryBlocks, RowBlocks, are_blocks, blocks_of
from ritz.data.passes.center import taken_off
from ritz.methods.robust_pca.location import mad, median
from ritz.methods.robust_pca.spatial_median import STILL, SpatialMedian, distances_from, rounded_to, spatial_median

__all__ = ["SphereBlocks", "column_mad", "filled", "sphere_center", "without_direction"]

Floats = NDArray[np.float64]
S = TypeVar("S", bound=Accumulator)

#: Rows outside memory that give the median and the scales.
SAMPLE = 20_000
#: Entries of a sparse table that are made dense at once.
ENTRIES = 1 << 24
#: Share of the median distance up to which a row has no direction: the centre is known to about STILL of it, so a
#: direction would be wrong by more than a hundredth.
NEAR = 100 * STILL


class _Picked(Sums):
    """Every so many rows of a table, and which they are."""

    LISTS: ClassVar[tuple[str, ...]] = ("rows", "places")

    def __init__(self) -> None:
        self.rows: list[Floats] = []
        self.places: list[NDArray[np.intp]] = []


def sampled(rows: Any, weights: Floats | None) -> tuple[Floats, Floats | None] | None:
    """Rows spread evenly over a table outside memory, dense, and their weights; None for rows in memory.

    Which rows these are depends on their number alone, not on how they are read; rows of weight zero are absent.
    """
    blocks = blocks_of(rows)
    if isinstance(blocks, MemoryBlocks):
        return None
    apart = max(1, -(-blocks.shape[0] // SAMPLE))

    def step(picked: _Picked, block: Block) -> None:
        places = np.arange(-block.start % apart, block.values.shape[0], apart)
        some = block.values[places]
        picked.rows.append(np.array(some.toarray() if hasattr(some, "toarray") else some, np.float64))
        picked.places.append(places + block.start)

    picked = blocks.map_reduce(_Picked, step)
    if not picked.rows:
        return np.empty((0, blocks.shape[1])), None
    found, places = np.concatenate(picked.rows), np.concatenate(picked.places)
    if weights is None:
        return found, None
    w = np.asarray(weights, np.float64)[places]
    return found[w > 0], w[w > 0]


def held(rows: Any, weights: Floats | None) -> tuple[Any, Floats | None, str]:
    """Rows in memory that speak for all, their weights, and which they are: all of them, or a sample."""
    found = sampled(rows, weights)
    if found is None:
        return rows, weights, "the rows"
    return *found, f"{len(found[0]):,} rows spread evenly over the table"


def filled(rows: Any) -> RowBlocks:
    """Row blocks that are dense where rows are in memory: those of a sparse table have the answers of a dense one."""
    return blocks_of(rows) if are_blocks(rows) else MemoryBlocks(rows, filled=True)


def _busy(rows: Any, weights: Floats | None) -> NDArray[np.intp]:
    """Columns of a CSR table of which at least half may not be zero; in all others median and MAD are 0."""
    w = np.ones(rows.shape[0]) if weights is None else weights
    stored = np.bincount(rows.indices, np.repeat(w, np.diff(rows.indptr)), minlength=rows.shape[1])
    return np.flatnonzero(stored >= (0.5 - 1e-9) * float(np.sum(w)))


def column_mad(rows: Any, weights: Floats | None) -> tuple[Floats, Floats]:
    """Median and MAD of every column, (d,) each; a column of which more than half is the same has a MAD of 0."""
    rows, weights, _ = held(rows, weights)
    if isinstance(rows, np.ndarray):
        return median(rows, weights), mad(rows, weights)
    return _by_columns(rows, weights, median), _by_columns(rows, weights, mad)


def column_median(rows: Any, weights: Floats | None) -> Floats:
    """Median of every column of rows in memory, (d,)."""
    return median(rows, weights) if isinstance(rows, np.ndarray) else _by_columns(rows, weights, median)


def _by_columns(rows: Any, weights: Floats | None, measure: Callable[[Any, Floats | None], Floats]) -> Floats:
    busy, out = _busy(rows, weights), np.zeros(rows.shape[1])
    turned = rows.tocsc() if len(busy) else rows
    apart = max(1, min(256, ENTRIES // max(rows.shape[0], 1)))
    for start in range(0, len(busy), apart):
        some = busy[start : start + apart]
        out[some] = measure(turned[:, some].toarray(), weights)
    return out


def sphere_center(
    rows: Any, scale: Floats | None, weights: Floats | None, steps: int = 1000
) -> tuple[SpatialMedian, float, str]:
    """The spatial median of rows, how near to it rows have no direction, and of which rows it is."""
    rows, weights, which = held(rows, weights)
    found = spatial_median(filled(rows), column_median(rows, weights), scale, weights, steps)
    words = f"the centre is the spatial median of {which}"
    return found, _without_direction(rows, found.high, found.low, scale, weights), words


def without_direction(
    rows: Any, center: Floats, low: Floats | None, scale: Floats | None, weights: Floats | None
) -> float:  # fmt: skip
    """Distance from the centre up to which a row has no direction."""
    rows, weights, _ = held(rows, weights)
    return _without_direction(rows, center, low, scale, weights)


def _without_direction(
    rows: Any, center: Floats, low: Floats | None, scale: Floats | None, weights: Floats | None
) -> float:  # fmt: skip
    """NEAR times the median distance, which far rows do not move, or what rounding leaves of equal rows."""
    n = rows.shape[0]
    if n == 0:
        return 0.0

    def far(_scratch: dict[str, Any], block: Block) -> Floats:
        return distances_from(taken_off(block.values, center, low), scale)[:, None]

    middle = float(median(filled(rows).map_rows(far, np.empty((n, 1))), weights)[0])
    return max(NEAR * middle, rounded_to(center, scale))


class SphereBlocks:
    """Another table's blocks, each row moved to unit distance from a centre.

    Parameters
    ----------
    inner
        Blocks of the rows.
    center, scale
        The centre, and the units in which distances are taken.
    dtype
        dtype of the directions.
    low
        What rounding took from the centre.
    near
        Distance from the centre up to which a row has no direction.
    """

    def __init__(
        self, inner: RowBlocks, center: Floats, scale: Floats | None, dtype: Any, low: Floats | None = None,
        near: float = 0.0,
    ) -> None:  # fmt: skip
        self.inner, self.center, self.scale, self.low, self.near = inner, center, scale, low, near
        self.shape, self.dtype = inner.shape, np.dtype(dtype)
        self.sparse, self.stored, self.nbytes = False, inner.shape[0] * inner.shape[1], inner.nbytes
        self.reading = getattr(inner, "reading", None)

    def directions(self, values: Any) -> NDArray[Any]:
        """Unit vectors from the centre to rows; zero for a row that is as good as the centre."""
        rows = values if isinstance(values, np.ndarray) else values.toarray()
        z = taken_off(rows, self.center, self.low)
        z = z if self.scale is None else z / self.scale
        largest = np.abs(z).max(axis=1, keepdims=True, initial=0.0)  # squares stay in range
        z = z / np.where(largest > 0, largest, 1.0)
        length = np.linalg.norm(z, axis=1, keepdims=True)
        away = largest * length > self.near
        return np.where(away, z / np.where(away, length, 1.0), 0.0).astype(self.dtype, copy=False)

    def _turned(self, block: Block) -> Block:
        return Block(self.directions(block.values), block.start)

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block of directions to an accumulator."""
        return self.inner.map_reduce(create, lambda state, block: step(state, self._turned(block)))

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of direction i."""
        return self.inner.map_rows(lambda scratch, block: step(scratch, self._turned(block)), out)

    def each(self) -> Iterator[Block]:
        """Every block of directions, in row order."""
        return map(self._turned, self.inner.each())

    def sample(self, rows: int) -> Any:
        """About ``rows`` directions spread evenly over the table."""
        return self.directions(self.inner.sample(rows))

    def whole(self) -> NDArray[Any]:
        """All directions in memory."""
        return self.map_rows(lambda _scratch, block: block.values, np.empty(self.shape, self.dtype))
