"""Row blocks of an array or CSR matrix in memory: views, shared out among threads.

    rows 0 … n−1   →   lanes of whole blocks, as equal as these allow   →   blocks in row order, lane by lane

Nothing is copied, except that well-filled CSR rows are handed out as dense blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.data.passes.blocks import DENSE_DENSITY, Accumulator, Block, block_rows, csr_rows, merged, sparse_rows

__all__ = ["MemoryBlocks"]

S = TypeVar("S", bound=Accumulator)


class MemoryBlocks:
    """Row blocks of an array or CSR matrix in memory."""

    def __init__(self, X: Any, rows: int | None = None, *, filled: bool = False) -> None:
        self.X, self._filled = X, filled
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        self.dtype: np.dtype[Any] = np.dtype(X.dtype)
        self._csr = not isinstance(X, np.ndarray)
        self.stored = int(X.nnz) if self._csr else int(X.size)
        # Well-filled CSR rows are handed out as dense blocks: faster, and the mean can be taken off before multiplying.
        # So are those that are to be ``filled`` for the sake of their mean.
        self.sparse = self._csr and self.stored <= DENSE_DENSITY * self.shape[0] * self.shape[1] and not filled
        self.nbytes = self.stored * self.dtype.itemsize
        width = max(1, self.stored // max(1, self.shape[0])) if self.sparse else self.shape[1]
        self.rows = rows or (sparse_rows(width, self.shape[0]) if self.sparse else block_rows(width))

    def for_products(self, rows: int) -> MemoryBlocks:
        """The same rows for an accumulator that takes larger blocks, of ``rows`` rows."""
        if rows <= self.rows or not isinstance(self.X, np.ndarray):
            return self
        return MemoryBlocks(self.X, rows)

    def transposed(self) -> MemoryBlocks:
        """The same table with rows and columns exchanged; a view."""
        turned = self.X.T.tocsr() if self._csr else self.X.T
        return MemoryBlocks(turned, filled=self._filled)

    def _blocks(self, first: int, last: int) -> Iterator[Block]:
        for start in range(first, last, self.rows):
            go_on()
            stop = min(start + self.rows, last)
            yield Block(self._take(start, stop), start)

    def _take(self, start: int, stop: int) -> Any:
        if not self._csr:
            return self.X[start:stop]
        rows = csr_rows(self.X, start, stop)
        return rows if self.sparse else rows.toarray()

    def panel(self, start: int, stop: int, columns: slice) -> NDArray[Any]:
        """A dense panel: some rows of some columns."""
        part = self.X[start:stop, columns]
        return np.asarray(part.toarray() if self._csr else part)

    def _lanes(self) -> list[tuple[int, int]]:
        """Row ranges of the lanes: whole blocks, as equal as whole blocks allow."""
        n = self.shape[0]
        blocks = max(1, -(-n // self.rows))
        lanes = min(lane_count(), blocks)
        edges = [min(n, (blocks * i // lanes) * self.rows) for i in range(lanes)] + [n]
        return list(pairwise(edges))

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to an accumulator; the accumulators of all lanes are merged in row order."""

        first = create()

        def work(span: tuple[int, int]) -> S:
            state = first if span[0] == 0 else create()
            for block in self._blocks(*span):
                step(state, block)
            return state

        # Accumulators that use both cores themselves work alone.
        lanes = [(0, self.shape[0])] if getattr(first, "ALONE", False) else self._lanes()
        return merged(run_lanes(work, lanes))

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i; ``step`` gets a scratch dictionary of its lane for buffers."""

        def work(span: tuple[int, int]) -> None:
            scratch: dict[str, Any] = {}
            for block in self._blocks(*span):
                out[block.rows] = step(scratch, block)

        run_lanes(work, self._lanes())
        return out

    def each(self) -> Iterator[Block]:
        """Batches of some blocks in row order, for outputs that go to a file."""
        step = 8 * self.rows
        for start in range(0, self.shape[0], step):
            yield Block(self._take(start, min(start + step, self.shape[0])), start)

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows spread evenly over the table."""
        step = max(1, self.shape[0] // max(1, rows))
        some = self.X[::step]
        return some.toarray() if self._csr and not self.sparse else some
