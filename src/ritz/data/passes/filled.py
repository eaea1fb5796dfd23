"""Sparse rows handed out as dense blocks, so that a mean comes off the entries before anything is multiplied.

    Σw(x − μ)² = Σwx² − Wμ²        the right side loses log₁₀(Wμ²/Σw(x − μ)²) digits

An entry that is not stored lies as far from the mean as zero does, so sparse columns lose next to nothing, unless the
rows without it weigh next to nothing: then the mean is that of a few heavy rows, to all digits. A small table is copied
as a whole; of a large one no more than a block at a time is dense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Accumulator, Block, RowBlocks, are_blocks, block_rows, csr_rows
from ritz.data.passes.profiles import DerivedBlocks

__all__ = ["FILLED", "FilledBlocks", "filled"]

S = TypeVar("S", bound=Accumulator)

#: Cells of a sparse table that is copied as a whole, at most.
FILLED = 1 << 23


def filled(X: Any) -> Any:
    """The rows of a CSR matrix or of sparse row blocks, dense: an array, or row blocks; dense rows as they are."""
    if are_blocks(X):
        return X if not X.sparse else X.dense() if hasattr(X, "dense") else FilledBlocks(X)
    if not hasattr(X, "toarray"):
        return X
    if float(np.prod(X.shape)) <= FILLED:
        return X.toarray()
    from ritz.data.passes.blocks import MemoryBlocks

    return MemoryBlocks(X, filled=True)


class FilledBlocks(DerivedBlocks):
    """Another table's CSR blocks as dense ones, each of no more rows than a dense block has."""

    def __init__(self, inner: RowBlocks) -> None:
        super().__init__(inner)
        self.dtype, self.sparse = inner.dtype, False
        self.stored, self.height = inner.shape[0] * inner.shape[1], block_rows(inner.shape[1])

    @property
    def absent(self) -> Any:
        """Rows of weight zero."""
        return getattr(self.inner, "absent", None)

    def _changed(self, block: Block) -> Block:
        return Block(block.values.toarray(), block.start)

    def _pieces(self, block: Block) -> Iterator[Block]:
        rows = block.values.shape[0]
        for first in range(0, rows, self.height):
            piece = csr_rows(block.values, first, min(first + self.height, rows))
            yield self._changed(Block(piece, block.start + first))

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every piece to an accumulator; the accumulators are merged in row order."""

        def every(state: S, block: Block) -> None:
            for piece in self._pieces(block):
                step(state, piece)

        return self.inner.map_reduce(create, every)

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i."""

        def every(scratch: dict[str, Any], block: Block) -> Any:
            # copies: a step may give back a buffer that it uses again
            return np.concatenate([np.array(step(scratch, piece)) for piece in self._pieces(block)])

        return self.inner.map_rows(every, out)

    def each(self) -> Iterator[Block]:
        """Every piece, in row order."""
        for block in self.inner.each():
            yield from self._pieces(block)
