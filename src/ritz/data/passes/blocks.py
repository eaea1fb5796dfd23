"""Row blocks: one table cut into blocks of rows, with two verbs; and those of a table in memory.

    map_reduce   Σ over blocks of a small state: one accumulator a lane or partition, merged in row order
    map_rows     one output row for every input row

Every pass over data is one of the two. Engines (``engines/``) differ in where blocks come from. In memory they are
views, shared out among threads, whole blocks to each: nothing is copied, except that well-filled CSR rows are handed
out as dense blocks. A table of one block is worked on where it is called for, without lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.blas import freed_blas
from ritz._core.frozen import quick
from ritz._core.memory import SMALL_TABLE
from ritz._core.threads import STOP, go_on, lane_count, run_lanes

__all__ = [
    "BRIEF_ENTRIES",
    "DENSE_DENSITY",
    "FEW_COLUMNS",
    "FEW_ENTRIES",
    "Accumulator",
    "Block",
    "MemoryBlocks",
    "RowBlocks",
    "TurnedBlocks",
    "are_blocks",
    "block_rows",
    "blocks_of",
    "buffer",
    "csr_rows",
    "fresh",
    "mapped",
    "merged",
    "sparse_rows",
    "subtract_row",
    "turned_rows",
    "widened_once",
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

#: Blocks of a lane below which one more or less makes lanes unlike, and rows at whose multiples they end then: of three
#: blocks, 5,000×500, two lanes took 18 ms, and take 15.
FEW_BLOCKS, EDGE = 4, 128

#: Smaller buffers are left to malloc.
MAPPED_BYTES = 1 << 20

#: Stored entries of a CSR table that is one block: beginning lanes takes as long as a product of 50,000 with a vector.
FEW_ENTRIES = 100_000
#: The same of passes that do little with an entry. Milliseconds of column sums, and of a key, by two lanes
#: and at once: 400,000 entries of 5,000×40,000 3.2 and 1.7, 2.6 and 0.9; 10⁶ of 20,000×10,000 4.4 and 3.4, 2.1 and 1.4.
BRIEF_ENTRIES = 1_000_000

#: Columns up to which a row is short, and numbers of the rows that one is taken off at a time.
FEW_COLUMNS, LINE = 32, 512

#: Above this density the rows of a CSR matrix are multiplied as dense blocks.
DENSE_DENSITY = 0.2


def block_rows(width: int, itemsize: int = 8) -> int:
    """Rows of a block for rows of ``width`` numbers: a multiple of 128 between MIN_ROWS and MAX_ROWS."""
    rows = BLOCK_BYTES // max(1, width * itemsize)
    least = MIN_ROWS if width <= 16384 else MIN_ROWS // 2
    return int(min(MAX_ROWS, max(least, rows // 128 * 128)))


@quick
@dataclass(frozen=True)
class Block:
    """Rows ``start : start + values.shape[0]`` of a table; a NumPy view or a CSR slice.

    ``free``: nobody reads them again, so that an accumulator may write over them.
    """

    values: Any
    start: int
    free: bool = False

    @property
    def rows(self) -> slice:
        """Where these rows stand in the table."""
        return slice(self.start, self.start + self.values.shape[0])


class RowBlocks(Protocol):
    """A table as a sequence of row blocks; ``ritz.testing.check_engine`` holds an engine's against it.

    Row blocks may have more, and are asked for it:

    names : d names of the columns, or None
    resident : whether a pass reads memory alone, so that reading again costs little
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


class MemoryBlocks:
    """Row blocks of an array or CSR matrix in memory."""

    resident = True
    origin: Any = None  # of rows that were turned: the CSR matrix whose transpose they are

    def __init__(self, X: Any, rows: int | None = None, *, filled: bool = False) -> None:
        self.X, self._filled = X, filled
        self._turned: MemoryBlocks | None = None
        self.shape: tuple[int, int] = self._sides(X)
        self.dtype: np.dtype[Any] = np.dtype(X.dtype)
        self._csr = not isinstance(X, np.ndarray)
        self.is_array = not self._csr  # whether X is an array, filled blocks of CSR rows aside
        self.stored = int(X.nnz) if self._csr else int(X.size)
        # Well-filled CSR rows are handed out as dense blocks: faster, and the mean can be taken off before multiplying.
        # So are those that are to be ``filled`` for the sake of their mean.
        self.sparse = self._csr and self.stored <= DENSE_DENSITY * self.shape[0] * self.shape[1] and not filled
        self.nbytes = self.stored * self.dtype.itemsize
        width = max(1, self.stored // max(1, self.shape[0])) if self.sparse else self.shape[1]
        self.rows = rows or (sparse_rows(width, self.shape[0]) if self.sparse else block_rows(width))

    def _sides(self, X: Any) -> tuple[int, int]:
        return int(X.shape[0]), int(X.shape[1])

    @property
    def whole(self) -> Block | None:
        """The table as one block, if it is one."""
        return Block(self._take(0, self.shape[0]), 0) if 0 < self.shape[0] <= self.rows else None

    def for_products(self, rows: int) -> MemoryBlocks:
        """The same rows for an accumulator that takes larger blocks, of ``rows`` rows."""
        return self if rows <= self.rows or self._csr != self.sparse else self.of_rows(rows)

    def of_rows(self, rows: int) -> MemoryBlocks:
        """The same rows in blocks of ``rows``."""
        other = MemoryBlocks(self.X, rows)
        other.origin = self.origin
        return other

    def transposed(self) -> MemoryBlocks:
        """The same table with rows and columns exchanged; a view, or of CSR rows a copy that is made once."""
        if not self._csr:
            return MemoryBlocks(self.X.T, filled=self._filled)
        if self._turned is None:
            self._turned = TurnedBlocks(self.X, filled=self._filled)
        return self._turned

    def _blocks(self, first: int, last: int) -> Iterator[Block]:
        for start in range(first, last, self.rows):
            go_on()
            stop = min(start + self.rows, last)
            yield Block(self._take(start, stop), start)

    def _take(self, start: int, stop: int) -> Any:
        if not self._csr:
            return self.X[start:stop]
        X = self.X
        whole = start == 0 and stop == self.shape[0] and len(X.data) == len(X.indices) == X.indptr[-1]
        rows = X if whole else csr_rows(X, start, stop)
        return rows if self.sparse else rows.toarray()

    def panel(self, start: int, stop: int, columns: slice) -> NDArray[Any]:
        """A dense panel: some rows of some columns."""
        panel = self.X[start:stop, columns]
        return np.asarray(panel.toarray() if self._csr else panel)

    def _lanes(self) -> list[tuple[int, int]]:
        """Row ranges of the lanes: whole blocks, as equal as whole blocks allow; equal where these are few."""
        n = self.shape[0]
        blocks = max(1, -(-n // self.rows))
        lanes = min(lane_count(), blocks)
        # Steps no longer than a block: no lane is empty, so that two of them never begin at one row.
        step = min(EDGE, self.rows) if blocks < FEW_BLOCKS * lanes and not self.sparse else self.rows
        edges = [min(n, (-(-n // step) * i // lanes) * step) for i in range(lanes)] + [n]
        return list(pairwise(edges))

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to an accumulator; the accumulators of all lanes are merged in row order."""

        first, only_block = create(), self.whole
        if only_block is None and self.sparse and self.stored <= getattr(first, "ENTIRE", 0):
            only_block = Block(self._take(0, self.shape[0]), 0)
        if STOP.get() is not None:
            go_on()
        if only_block is not None:
            step(first, only_block)
            return first

        def work(span: tuple[int, int]) -> S:
            state = first if span[0] == 0 else create()
            for block in self._blocks(*span):
                step(state, block)
            return state

        if getattr(first, "ALONE", False):  # accumulators that use all cores themselves work alone
            with freed_blas():
                return merged(run_lanes(work, [(0, self.shape[0])]))
        return merged(run_lanes(work, self._lanes()))

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i; ``step`` gets a scratch dictionary of its lane for buffers."""

        only_block = self.whole
        if STOP.get() is not None:
            go_on()
        if only_block is not None:
            out[...] = step({}, only_block)
            return out

        def work(span: tuple[int, int]) -> None:
            scratch: dict[str, Any] = {}
            for block in self._blocks(*span):
                out[block.rows] = step(scratch, block)

        run_lanes(work, self._lanes())
        return out

    def visit(self, step: Callable[[dict[str, Any], Block], None]) -> None:
        """``map_rows`` for a step that writes its output itself."""

        only_block = self.whole
        if STOP.get() is not None:
            go_on()
        if only_block is not None:
            step({}, only_block)
            return

        def work(span: tuple[int, int]) -> None:
            scratch: dict[str, Any] = {}
            for block in self._blocks(*span):
                step(scratch, block)

        run_lanes(work, self._lanes())

    def each(self) -> Iterator[Block]:
        """Batches of some blocks in row order, for outputs that go to a file."""
        step = 8 * self.rows
        for start in range(0, self.shape[0], step):
            yield Block(self._take(start, min(start + step, self.shape[0])), start)

    def sample(self, rows: int) -> Any:
        """``rows`` rows spread evenly over the table, or more than half as many."""
        some = self.X[:: max(1, -(-self.shape[0] // max(1, rows)))]
        return some.toarray() if self._csr and not self.sparse else some


class TurnedBlocks(MemoryBlocks):
    """Columns of a CSR table as rows, put in order when they are first asked for: a chain of single vectors, and the
    product that measures its answer, read them as they were stored.
    """

    @property
    def X(self) -> Any:
        """The CSR matrix."""
        attributes = self.__dict__
        return attributes["_made"] if "_made" in attributes else attributes.setdefault("_made", self.origin.T.tocsr())

    @X.setter
    def X(self, origin: Any) -> None:
        self.origin = origin

    def _sides(self, X: Any) -> tuple[int, int]:
        return int(X.shape[1]), int(X.shape[0])

    @property
    def made(self) -> bool:
        """Whether the rows are there."""
        return "_made" in self.__dict__


def blocks_of(X: Any) -> RowBlocks:
    """Row blocks of an array or CSR matrix; what already is row blocks is given back."""
    if are_blocks(X):
        blocks: RowBlocks = X
        return blocks
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
    if n * width <= FEW_ENTRIES:
        return n
    rounds = -(-n // (most * lane_count()))
    return min(most, max(256, -(-n // (rounds * lane_count()))))


def csr_rows(X: Any, start: int, stop: int) -> Any:
    """Rows ``start:stop`` of a CSR matrix as views of its arrays (SciPy's own slicing copies)."""
    a, b = int(X.indptr[start]), int(X.indptr[stop])
    rows = type(X)((stop - start, X.shape[1]), dtype=X.dtype)
    rows.data, rows.indices, rows.indptr = (
        X.data[a:b],
        X.indices[a:b],
        X.indptr[start : stop + 1] - X.indptr[start],
    )
    return rows


def widened_once(X: Any, precision: str) -> Any:
    """Rows; those of a small float32 table whose products are of float64 as such, once and not in each of three passes.

    Processor ms of 100×3,000, k = 1: 2.75 instead of 3.0.
    """
    small = type(X) is np.ndarray and X.dtype == np.float32 and 8 * X.size <= SMALL_TABLE
    return X.astype(np.float64) if small and precision == "float64" else X


def fresh(shape: tuple[int, int], dtype: Any, order: Literal["C", "F"] = "C") -> NDArray[Any]:
    """An uninitialised array (r, c), if it is large in pages of its own."""
    dtype = np.dtype(dtype)
    size = shape[0] * shape[1] * dtype.itemsize
    if size < MAPPED_BYTES:
        return np.empty(shape, dtype, order=order)
    from ritz._core.pages import mapped_bytes  # small tables do without

    return mapped_bytes(size)[:size].view(dtype).reshape(shape, order=order)


def turned_rows(blocks: RowBlocks) -> bool:
    """Whether blocks are columns of a table that is stored by rows, rows of one stored by columns, or sparse."""
    X = None if blocks.sparse else getattr(blocks, "X", None)
    return blocks.sparse or (isinstance(X, np.ndarray) and abs(X.strides[0]) < abs(X.strides[1]))


def buffer(scratch: dict[str, Any], x: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A reused buffer for one block, in the memory order of the block so that copying runs along memory."""
    order: Literal["F", "C"] = "F" if abs(x.strides[0]) < abs(x.strides[1]) else "C"
    held: NDArray[Any] | None = scratch.get("rows")
    if held is None or held.shape != x.shape or held.dtype != dtype:
        scratch["rows"] = held = fresh(x.shape, dtype, order)
    return held


def subtract_row(x: NDArray[Any], row: NDArray[Any], out: NDArray[Any], dtype: Any = None) -> None:
    """``out = x − row``, which may be ``x`` itself, computed in ``dtype``; of few columns many rows at a time.

    NumPy's loop runs along one row, and beginning it takes as long as twenty entries: 2,048×2 numbers take 36 µs row by
    row and 3 in this way. Every entry is the same difference of the same two numbers.
    """
    many = LINE // x.shape[1] if x.ndim == 2 and 0 < x.shape[1] <= FEW_COLUMNS else 0
    if not many or x.shape[0] < 2 * many or not (x.flags.c_contiguous and out.flags.c_contiguous):
        np.subtract(x, row, out=out, dtype=dtype, casting="same_kind")
        return
    n, d = x.shape
    covered, rows = n // many * many, row[None].repeat(many, axis=0).reshape(-1)
    flat = out[:covered].reshape(-1, many * d)
    np.subtract(x[:covered].reshape(-1, many * d), rows, out=flat, dtype=dtype, casting="same_kind")
    if covered < n:
        np.subtract(x[covered:], row, out=out[covered:], dtype=dtype, casting="same_kind")
