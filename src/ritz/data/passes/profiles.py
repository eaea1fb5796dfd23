"""Row profiles of counts, made while they are read.

    xᵢⱼ = Nᵢⱼ / Nᵢ.        mass of a row: its total Nᵢ.        (n, d) in row blocks, dense or sparse

Whatever runs on row blocks runs on these, so correspondence analysis is a weighted analysis of profiles. A row of zeros
has no profile: its mass is zero, so it counts nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Accumulator, Block, RowBlocks, are_blocks, blocks_of

__all__ = [
    "DerivedBlocks", "ProfileBlocks", "RestrictedBlocks", "checked_counts", "margins", "profiles", "restricted",
]  # fmt: skip

S = TypeVar("S", bound=Accumulator)


def profiles(N: Any, totals: NDArray[np.float64]) -> Any:
    """Every row divided by its total: an array, a CSR matrix that shares its pattern with ``N``, or row blocks."""
    if are_blocks(N):
        return ProfileBlocks(N)
    return divided(N, totals)


def restricted(N: Any, keep: NDArray[np.bool_]) -> Any:
    """The same table with zeros in the columns that are not kept."""
    if are_blocks(N):
        return RestrictedBlocks(N, keep)
    if isinstance(N, np.ndarray):
        return N * keep
    from scipy.sparse import diags_array

    return (N @ diags_array(keep.astype(np.float64))).tocsr()


def divided(rows: Any, totals: NDArray[np.float64]) -> Any:
    """Rows over their totals; a row of zeros stays as it is."""
    by = np.where(totals > 0, totals, 1.0)
    if isinstance(rows, np.ndarray):
        return rows / by[:, None]
    data = rows.data / np.repeat(by, np.diff(rows.indptr))
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)


def margins(N: Any, weights: NDArray[np.float64] | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Totals of the rows (n,) and of the columns (d,), the latter weighted, by one pass.

    Weights are taken in the unit of the largest, a power of two. A count below zero is refused by its place.
    """
    blocks = blocks_of(N)
    if weights is not None:
        weights = np.asarray(np.ldexp(weights, -int(np.frexp(np.max(weights, initial=1e-300))[1])))

    def step(sums: _Margins, block: Block) -> None:
        sums.feed(block, None if weights is None else weights[block.rows])

    margin = blocks.map_reduce(lambda: _Margins(blocks.shape[1]), step)
    totals = np.zeros(blocks.shape[0])
    for stretch in margin.totals:
        first = int(stretch[0])
        totals[first : first + len(stretch) - 1] = stretch[1:]
    return totals, margin.columns


class _Margins(Sums):
    """Totals of columns, and of rows with the number of the first one in front."""

    SUMS, LISTS = ("columns",), ("totals",)

    def __init__(self, d: int) -> None:
        self.columns = np.zeros(d)
        self.totals: list[NDArray[np.float64]] = []

    def feed(self, block: Block, w: NDArray[np.float64] | None) -> None:
        """Add the rows of a block."""
        rows = block.values
        if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu" and w is None and rows.size:
            # As float64 numbers first: their sums are exact in any order, and BLAS forms them.
            rows = rows.astype(np.float64)
            totals = rows @ np.ones(rows.shape[1])
            if float(np.min(rows)) >= 0 and float(np.sum(totals)) < 2.0**53:
                self.totals.append(np.append(float(block.start), totals))
                self.columns += np.ones(rows.shape[0]) @ rows
                return
            rows = block.values
        self.totals.append(np.append(float(block.start), checked_counts(rows, block.start)))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is named by who reads the sums
            sums = rows.sum(axis=0, dtype=np.float64) if w is None else w @ rows
            self.columns += np.asarray(sums, np.float64).reshape(-1)


def checked_counts(rows: Any, start: int) -> NDArray[np.float64]:
    """Totals of some rows; a count below zero is refused by its place."""
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    if entries.size and float(np.min(entries)) < 0:  # NaN passes: the first pass names its column
        dense = isinstance(rows, np.ndarray)
        row = (
            int(np.argmax((rows < 0).any(axis=1)))
            if dense
            else int(np.argmax(np.asarray(rows.min(axis=1).todense()) < 0))
        )
        raise InputError(
            "Negative values in data passed to a correspondence analysis, which takes counts or other amounts",
            received=f"{float(np.nanmin(entries)):g} in row {start + row}",
            hint="for measurements that can be negative use ritz.PCA",
        )
    with np.errstate(over="ignore"):  # an infinite total is named by who reads it
        return np.asarray(rows.sum(axis=1, dtype=np.float64), np.float64).reshape(-1)


class DerivedBlocks:
    """Another table's blocks, each changed while it is read."""

    def __init__(self, inner: RowBlocks) -> None:
        self.inner = inner
        self.shape, self.dtype = inner.shape, np.dtype(np.float64)
        self.sparse, self.stored, self.nbytes = inner.sparse, inner.stored, inner.nbytes

    @property
    def reading(self) -> Any:
        """What is known of how fast the rows are read."""
        return getattr(self.inner, "reading", None)

    def _changed(self, block: Block) -> Block:
        raise NotImplementedError

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every changed block to an accumulator; the accumulators are merged in row order."""
        return self.inner.map_reduce(create, lambda state, block: step(state, self._changed(block)))

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of changed row i."""
        return self.inner.map_rows(lambda scratch, block: step(scratch, self._changed(block)), out)

    def each(self) -> Iterator[Block]:
        """Every changed block, in row order."""
        return map(self._changed, self.inner.each())

    def sample(self, rows: int) -> Any:
        """About ``rows`` changed rows spread evenly over the table."""
        return self._changed(Block(self.inner.sample(rows), 0)).values


class ProfileBlocks(DerivedBlocks):
    """Another table's blocks as row profiles."""

    def _changed(self, block: Block) -> Block:
        return Block(divided(block.values, checked_counts(block.values, block.start)), block.start)


class RestrictedBlocks(DerivedBlocks):
    """Another table's blocks with zeros in some columns."""

    def __init__(self, inner: RowBlocks, keep: NDArray[np.bool_]) -> None:
        super().__init__(inner)
        self.keep = keep

    def _changed(self, block: Block) -> Block:
        return Block(restricted(block.values, self.keep), block.start)
