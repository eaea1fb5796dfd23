"""The key of a table: 64 bits that every entry has a part in, the same however rows are cut and shared out.

    w_ij the 64 bits of x_ij as float64,  r_i = Σ_j w_ij,  h = Σ_i mix(r_i + i·ρ),  c_j = Σ_{8 | i} w_ij    modulo 2⁶⁴

Sums of whole numbers modulo 2⁶⁴ do not round, so blocks, threads and engines cannot change them. They run at the speed
of memory: 5 to 10 GB/s a core, where a cryptographic hash reads 0.3 to 0.9. Of sparse rows only what is stored counts,
each entry with its column:

    r_i = Σ_j c_j·fold(w_ij),    c_j = mix(j·ρ) | 1,    fold(w) = w ⊕ (w ≫ 31)

Numbers of few digits end in zeros, whose product with c_j would end in as many: ``fold`` brings the first digits there.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.keys import key_of_bytes
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import BRIEF_ENTRIES, Block, MemoryBlocks, RowBlocks
from ritz.data.passes.sparse.products import tools

__all__ = ["content_key", "rows_key"]

#: Odd multipliers of the golden ratio and of splitmix64, and the shift of its finaliser.
STEP, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
SHIFT = np.uint64(31)

#: Which rows have a part in the sums of the columns, which tell one order of columns from another.
EVERY = 8

#: Entries whose words are summed while they are in the cache: 160 MB of float32 numbers take 23 ms in pieces of 2¹⁶, 30
#: in pieces of 2¹⁵, 17 of them to widen the numbers.
PIECE = 1 << 16
#: Pieces of numbers that are widened first, about, and the least: 128 kB, which allocators keep for the next fit.
#: Processor ms of float32 in pieces of 2¹⁶ and so: 500×500 0.45 and 0.22, nearly all of it for fresh pages; 1,000×1,000
#: 0.50 in pieces of 2¹⁶, 0.80 in those of 2¹⁴.
PIECES, WIDENED = 16, 1 << 14


class _Margins(Sums):
    """Row and column sums of the words of a table."""

    SUMS = ("columns", "rows")
    ENTIRE = BRIEF_ENTRIES

    def __init__(self, d: int) -> None:
        self.columns, self.rows = np.zeros(d, np.uint64), np.zeros(1, np.uint64)

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        x, start = block.values, block.start
        if not isinstance(x, np.ndarray):
            self._add(_stored_sums(x), start)
            return
        sums = np.zeros(x.shape[0], np.uint64)
        across = abs(x.strides[0]) < abs(x.strides[1])  # stored by columns
        wide: Any = None  # fresh memory for every piece would take longer than its sums
        entries = PIECE if x.dtype == np.float64 else min(PIECE, max(WIDENED, x.size // PIECES))
        step = max(1, entries // max(1, x.shape[0] if across else x.shape[1]))
        for i in range(0, x.shape[1] if across else x.shape[0], step):
            some = slice(i, i + step)
            places = (slice(None), some) if across else (some, slice(None))
            piece = x[places]
            if x.dtype != np.float64:
                wide = np.empty_like(piece, np.float64) if wide is None or wide.shape != piece.shape else wide
                np.copyto(wide, piece, casting="unsafe")
            words = _words(piece if wide is None else wide)
            first = start if across else start + i
            self.columns[places[1]] += np.add.reduce(words[-first % EVERY :: EVERY], axis=0)
            sums[places[0]] += np.add.reduce(words, axis=1)
        self._add(sums, start)

    def _add(self, sums: NDArray[np.uint64], start: int) -> None:
        places = np.arange(start + 1, start + 1 + len(sums), dtype=np.uint64)
        self.rows += np.add.reduce(_mixed(sums + places * STEP))


def _words(x: Any) -> NDArray[np.uint64]:
    """The bits of the numbers as float64."""
    return np.asarray(x, np.float64).view(np.uint64)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> SHIFT)) * MIX
    return words ^ (words >> SHIFT)


def _stored_sums(x: Any) -> NDArray[np.uint64]:
    """Row sums of the words of what CSR rows store, each with its column; in pieces that stay in the cache."""
    n, d = x.shape
    factors, sums = _factors(d), np.zeros(n, np.uint64)
    first, last = int(x.indptr[0]), int(x.indptr[-1])
    inner = np.searchsorted(x.indptr, np.arange(first + PIECE, last, PIECE))
    for a, b in pairwise(sorted({0, *inner.tolist(), n})):
        i, j = int(x.indptr[a]), int(x.indptr[b])
        words, indices, indptr = _words(x.data[i:j]), x.indices[i:j], x.indptr[a : b + 1] - x.indptr[a]
        words = words ^ (words >> SHIFT)
        if tools is not None and indices.dtype == indptr.dtype:
            tools.csr_matvec(b - a, d, indptr, indices, words, factors, sums[a:b])
        else:
            ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words * factors[indices], dtype=np.uint64)])
            sums[a:b] = ends[indptr[1:]] - ends[indptr[:-1]]
    return sums


@lru_cache(maxsize=2)
def _factors(d: int) -> NDArray[np.uint64]:
    """The factors of d columns."""
    return _mixed(np.arange(1, d + 1, dtype=np.uint64) * STEP) | np.uint64(1)


def _feed(state: _Margins, block: Block) -> None:
    state.feed(block)


def rows_key(blocks: RowBlocks) -> int:
    """The key of all rows, by one pass over them."""
    d, kind = int(blocks.shape[1]), _Margins
    if getattr(blocks, "computes", False):
        from ritz.data.passes.device.keys import MarginsThere  # loaded where there is a device

        kind = MarginsThere  # type: ignore[assignment]
    sums = blocks.map_reduce(lambda: kind(d), _feed)
    return key_of_bytes(np.asarray(blocks.shape, np.int64), sums.rows, sums.columns)


def content_key(rows: Any) -> int:
    """The key of prepared rows: arrays, CSR matrices, texts, and dictionaries and lists of these."""
    if isinstance(rows, dict):
        return key_of_bytes(*(f"{name}={content_key(each)};" for name, each in rows.items()))
    if isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind in "fiub":
        return rows_key(MemoryBlocks(rows[:, None]))
    if getattr(rows, "ndim", 0) == 2 and rows.dtype.kind in "fiub":
        return rows_key(MemoryBlocks(rows if isinstance(rows, np.ndarray) else rows.tocsr()))
    if isinstance(rows, (list, tuple)):
        return key_of_bytes(*(f"{each!r};" for each in rows))
    return content_key(rows.rows) if hasattr(rows, "rows") else key_of_bytes(repr(rows))
