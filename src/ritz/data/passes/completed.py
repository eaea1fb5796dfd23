"""Row blocks whose gaps are filled while they are read.

    x̂ = fill(x)        row by row, from the observed entries of the row and a few parameters alone

Whatever runs on row blocks runs on these: statistics, operators, solvers, projections. No completed table is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Accumulator, Block, RowBlocks

__all__ = ["CompletedBlocks"]

S = TypeVar("S", bound=Accumulator)


class CompletedBlocks:
    """Another table's blocks, completed.

    Parameters
    ----------
    inner
        Blocks of rows that may hold NaN.
    fill
        Rows and the number of the first one (None: not known) → the same rows without gaps.
    dtype
        dtype of the completed rows.
    """

    def __init__(self, inner: RowBlocks, fill: Callable[[NDArray[Any], int | None], NDArray[Any]], dtype: Any) -> None:
        self.inner, self.fill = inner, fill
        self.shape, self.dtype = inner.shape, np.dtype(dtype)
        self.sparse, self.stored, self.nbytes = False, inner.stored, inner.nbytes

    def _filled(self, block: Block) -> Block:
        return Block(self.fill(np.asarray(block.values), block.start), block.start)

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every completed block to an accumulator; the accumulators are merged in row order."""
        return self.inner.map_reduce(create, lambda state, block: step(state, self._filled(block)))

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of completed row i."""
        return self.inner.map_rows(lambda scratch, block: step(scratch, self._filled(block)), out)

    def each(self) -> Iterator[Block]:
        """Every completed block, in row order."""
        return map(self._filled, self.inner.each())

    def sample(self, rows: int) -> Any:
        """About ``rows`` completed rows spread evenly over the table."""
        return self.fill(np.asarray(self.inner.sample(rows)), None)
