"""Spherical PCA: the principal axes of the directions in which rows lie.

    uᵢ = (xᵢ − m)/‖xᵢ − m‖,   m the spatial median        Σ wᵢ uᵢuᵢᵀ V = V Λ        variances MAD²(Xv)       [LMS99]

A row counts by its direction alone, however far out it lies, so half of the rows would have to be bad to turn the axes
at will. For elliptical rows the axes are those of the covariance, in the same order. It is one spectral problem, with
rows that are put on the sphere as they are read: files and sparse tables work as for PCA. Rows outside memory have
their median and their scales from 20,000 rows spread evenly over the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import split_sum
from ritz.data.passes.blocks import Accumulator, Block, MemoryBlocks, RowBlocks, blocks_of
from ritz.data.passes.center import taken_off
from ritz.methods.robust_pca.location import mad, median, spatial_offset

__all__ = ["SphereBlocks", "column_mad", "sampled", "sphere_center"]

Floats = NDArray[np.float64]
S = TypeVar("S", bound=Accumulator)

#: Rows outside memory that give the median and the scales.
SAMPLE = 20_000


def sampled(rows: Any) -> NDArray[Any] | None:
    """Rows spread evenly over a table outside memory, dense; None for rows in memory."""
    blocks = blocks_of(rows)
    if isinstance(blocks, MemoryBlocks):
        return None
    some = blocks.sample(SAMPLE)
    return np.asarray(some.toarray() if hasattr(some, "toarray") else some, np.float64)


def column_mad(rows: Any, weights: Floats | None) -> tuple[Floats, Floats]:
    """Median and MAD of every column, (d,) each; a column of which more than half is the same has a MAD of 0."""
    some = sampled(rows)
    if some is not None:
        return median(some), mad(some)
    if isinstance(rows, np.ndarray):
        return median(rows, weights), mad(rows, weights)
    middle, out = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    turned = rows.tocsc()
    for start in range(0, rows.shape[1], 256):
        columns, at = turned[:, start : start + 256].toarray(), slice(start, start + 256)
        middle[at], out[at] = median(columns, weights), mad(columns, weights)
    return middle, out


def sphere_center(
    rows: Any, scale: Floats | None, weights: Floats | None, steps: int = 1000
) -> tuple[tuple[Floats, Floats], int, str]:
    """The spatial median of rows in two parts, (d,) each, the steps it took, and of which rows it is."""
    some = sampled(rows)
    if some is not None:
        words = f"the centre is the spatial median of {len(some):,} rows spread evenly over the table"
        start = median(some)
        offset, taken = spatial_offset(MemoryBlocks(some), start, scale, None, steps)
        return split_sum(start, offset), taken, words
    start = median(rows, weights) if isinstance(rows, np.ndarray) else np.asarray(rows.mean(axis=0)).ravel()
    offset, taken = spatial_offset(blocks_of(rows), start, scale, weights, steps)
    return split_sum(start, offset), taken, "the centre is the spatial median of the rows"


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
    """

    def __init__(
        self, inner: RowBlocks, center: Floats, scale: Floats | None, dtype: Any, low: Floats | None = None
    ) -> None:
        self.inner, self.center, self.scale, self.low = inner, center, scale, low
        self.shape, self.dtype = inner.shape, np.dtype(dtype)
        self.sparse, self.stored, self.nbytes = False, inner.shape[0] * inner.shape[1], inner.nbytes
        self.reading = getattr(inner, "reading", None)

    def directions(self, values: Any) -> NDArray[Any]:
        """Unit vectors from the centre to rows; zero for a row that is the centre."""
        rows = values if isinstance(values, np.ndarray) else values.toarray()
        z = taken_off(rows, self.center, self.low)
        z = z if self.scale is None else z / self.scale
        largest = np.abs(z).max(axis=1, keepdims=True, initial=0.0)  # squares stay in range
        z = z / np.where(largest > 0, largest, 1.0)
        length = np.linalg.norm(z, axis=1, keepdims=True)
        return (z / np.where(length > 0, length, 1.0)).astype(self.dtype, copy=False)

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
