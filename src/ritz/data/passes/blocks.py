"""Row blocks: one table cut into blocks of rows, with two verbs.

    map_reduce   Σ over blocks of a small state: one accumulator a lane or partition, merged in row order
    map_rows     one output row for every input row

Every pass over data is one of the two. Engines (``engines/``) differ in where blocks come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import lane_count

__all__ = [
    "Accumulator",
    "Block",
    "RowBlocks",
    "are_blocks",
    "block_rows",
    "blocks_of",
    "csr_rows",
    "mapped",
    "merged",
    "sparse_rows",
]


class Accumulator(Protocol):
    """What a pass adds up (see ``accumulate.py``)."""

    def merge(self, other: Self) -> None:
        """Add the sums of a later piece of the table."""
        ...

    def state(self) -> dict[str, Any]:
        """The sums by name."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Take over sums that ``state`` gave."""
        ...


S = TypeVar("S", bound=Accumulator)

#: Bytes of one block buffer: large enough for BLAS to run at full speed, small enough to stay in the caches.
BLOCK_BYTES = 8 << 20
MIN_ROWS, MAX_ROWS = 256, 2048

#: Above this density the rows of a CSR matrix are multiplied as dense blocks.
DENSE_DENSITY = 0.2


def block_rows(width: int, itemsize: int = 8) -> int:
    """Rows of a block for rows of ``width`` numbers: a multiple of 128 between MIN_ROWS and MAX_ROWS."""
    rows = BLOCK_BYTES // max(1, width * itemsize)
    least = MIN_ROWS if width <= 16384 else MIN_ROWS // 2
    return int(min(MAX_ROWS, max(least, rows // 128 * 128)))


@dataclass(frozen=True)
class Block:
    """Rows ``start : start + values.shape[0]`` of a table; a NumPy view or a CSR slice."""

    values: Any
    start: int

    @property
    def rows(self) -> slice:
        """Where these rows stand in the table."""
        return slice(self.start, self.start + self.values.shape[0])


class RowBlocks(Protocol):
    """A table as a sequence of row blocks; ``ritz.testing.check_engine`` holds an engine's against it.

    Row blocks may have more, and are asked for it:

    names : d names of the columns, or None
    absent : (n,) mask of rows of weight zero, which are handed out as zeros whatever they hold; a fit with such rows
        sets it
    reading : bytes that a pass takes beside its sums
    mapped(step) : what ``mapped`` below gives, computed where the rows are
    for_products(rows) : the same rows for an accumulator that takes them in any order, in blocks of about ``rows``
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    sparse: bool  # whether blocks are CSR matrices; arrays otherwise
    nbytes: int  # to read in one pass
    stored: int  # entries: n·d of dense rows

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to an accumulator; the accumulators are merged in row order."""
        ...

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i."""
        ...

    def each(self) -> Iterator[Block]:
        """Batches of rows in row order, for outputs that go to a file."""
        ...

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows spread evenly over the table."""
        ...


def blocks_of(X: Any) -> RowBlocks:
    """Row blocks of an array or CSR matrix; what already is row blocks is given back."""
    if are_blocks(X):
        blocks: RowBlocks = X
        return blocks
    from ritz.data.engines.memory.blocks import MemoryBlocks

    return MemoryBlocks(X)


def are_blocks(X: Any) -> bool:
    """Whether ``X`` is row blocks: rows that stay outside memory, read in every pass."""
    return hasattr(X, "map_reduce")


def mapped(blocks: RowBlocks, step: Callable[[dict[str, Any], Block], Any]) -> Iterator[tuple[int, Any]]:
    """``(first row, step(rows))`` of all rows, some at a time, in row order; done where the rows are."""
    there = getattr(blocks, "mapped", None)
    if there is not None:
        yield from there(step)
        return
    for block in blocks.each():
        yield block.start, step({}, block)  # buffers of its own: whoever reads ahead holds some results at once


def merged(parts: list[S]) -> S:
    """All accumulators in the first one."""
    first, *others = parts
    for other in others:
        first.merge(other)
    return first


def sparse_rows(width: int, n: int | None = None) -> int:
    """Rows of a sparse block: its entries fill at most BLOCK_BYTES, and lanes have as many blocks of ``n`` rows."""
    most = int(min(65536, max(256, BLOCK_BYTES // (12 * width))))
    if not n:
        return most
    rounds = -(-n // (most * lane_count()))
    return min(most, max(256, -(-n // (rounds * lane_count()))))


def csr_rows(X: Any, start: int, stop: int) -> Any:
    """Rows ``start:stop`` of a CSR matrix as views of its arrays (SciPy's own slicing copies)."""
    a, b = int(X.indptr[start]), int(X.indptr[stop])
    part = type(X)((stop - start, X.shape[1]), dtype=X.dtype)
    part.data, part.indices, part.indptr = (
        X.data[a:b],
        X.indices[a:b],
        X.indptr[start : stop + 1] - X.indptr[start],
    )
    return part
