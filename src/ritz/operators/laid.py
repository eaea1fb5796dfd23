"""Sparse rows laid out for products with blocks of vectors: pieces of rows, each stored by its columns.

    X_b (r×d) by columns:     B = Σⱼ X_b[:, j] W[j],     out[j] += X_b[:, j]ᵀ B            W (d×l),  B (r×l)

Stored by rows, an entry asks for a row of W and changes one of the sums wherever its column is; where these are longer
than the caches, each time waits for memory. Stored by columns, W and the sums are run through from the first row to the
last, and what is jumped about in is B, which a piece is so low for that it stays in the caches.

A copy of all entries is the price, and the time of some products to make it: for iterations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.sparse.products import csc_matvecs, csr_matvecs, tools

__all__ = ["Piece", "laid_bytes", "laid_out", "piece_rows", "turned_blocks", "turned_sums"]

#: Bytes of a row of a block of vectors: 16 numbers of float32, 8 of float64.
WIDE = 64
#: Bytes of W above which entries stored by rows wait for memory: nanoseconds an entry of both products with 16 columns
#: of float32, as stored and laid out, 250,000×200,000 words by Zipf's law with 2·10⁷ entries 43 and 12, 18,846×168,000
#: with 2.9·10⁶ by its columns, W of 1.2 MB, 8.6 and 8.0.
LONG = 1 << 20
#: Bytes of B at least, and as a share of those of W: nanoseconds an entry with B of 0.5, 1, 2, 4 MB, by compiled loops:
#: 250,000×200,000, W of 13 MB, 7.3, 6.0, 6.1, 4.7; 100,000×60,000, W of 4 MB, 4.0, 3.4, 3.8, 5.5; 18,846×168,000 by its
#: columns, W of 1.2 MB, 4.3, 3.1, 3.0, 3.8.
LOW, SHARE = 1 << 20, 1 / 3
#: Entries of a piece at least, for every column: all columns are run through, those without an entry too. And bytes of
#: B beyond which a piece that has so many is too high to gain from it.
FILLED, HIGH = 1.5, 1 << 22
#: Columns of a product in float64 from which rows are turned for it alone, and bytes of 16 of them above which that
#: pays: of 104 columns, nanoseconds an entry as stored and turned, 120,000×200,000 580 and 227, 18,846×168,000 by its
#: columns 170 and 213.
MANY, LONGER = 32, 1 << 23
#: Bytes of W that both make at least.
LEAST = 1 << 24


class Piece(NamedTuple):
    """Rows ``start:stop`` by columns."""

    start: int
    stop: int
    indptr: NDArray[Any]  # (d + 1,)
    indices: NDArray[Any]  # rows, counted from ``start``
    data: NDArray[Any]

    def add(self, W: Any, B: Any, finish: Any, out: Any) -> Any:
        """``out += Xᵀ finish(X W)``; B (at least stop − start, l) is a buffer. What ``finish`` gave."""
        rows, d, l = self.stop - self.start, W.shape[0], W.shape[1]
        B = B[:rows]
        B.fill(0)
        csc_matvecs(rows, d, l, self.indptr, self.indices, self.data, W.ravel(), B.ravel())
        B = np.ascontiguousarray(finish(B))
        csr_matvecs(d, rows, l, self.indptr, self.indices, self.data, B.ravel(), out.ravel())
        return B


def piece_rows(n: int, d: int, entries: float, turned: bool = False) -> int:
    """Rows of a piece; 0 where laying out does not pay. ``turned``: it is laid out anew for one product in float64."""
    if tools is None or d * WIDE <= LONG or entries < FILLED * d:
        return 0
    rows = max(LOW // WIDE, int(FILLED * d * n / entries))
    if rows * WIDE > HIGH:
        return 0
    return min(n, max(rows, 0 if turned else min(int(SHARE * d), HIGH // WIDE)))


def laid_bytes(n: int, d: int, entries: float, itemsize: int) -> float:
    """Bytes of all pieces; 0 where laying out does not pay."""
    rows = piece_rows(n, d, entries)
    return entries * (4.0 + itemsize) + 4.0 * (d + 1) * -(-n // rows) if rows else 0.0


def laid_out(X: Any, dtype: Any, start: int, stop: int) -> Piece:
    """Rows ``start:stop`` of CSR rows, in another precision."""
    a, b = int(X.indptr[start]), int(X.indptr[stop])
    d, kind = X.shape[1], X.indices.dtype
    indptr, indices, data = np.empty(d + 1, kind), np.empty(b - a, kind), np.empty(b - a, dtype)
    given, ends = X.data[a:b].astype(dtype, copy=False), X.indptr[start : stop + 1] - X.indptr[start]
    tools.csr_tocsc(stop - start, d, ends, X.indices[a:b], given, indptr, indices, data)
    return Piece(start, stop, indptr, indices, data)


def turned_blocks(frame: Any, W: Any) -> MemoryBlocks | None:
    """Rows in blocks that are turned for a product with W in short sums; None where that does not pay."""
    blocks = frame.blocks
    if W.shape[1] < MANY or 2 * WIDE * W.shape[0] <= LONGER or W.dtype != np.float64 or not blocks.sparse:
        return None
    if not isinstance(blocks, MemoryBlocks) or blocks.X.indices.dtype != blocks.X.indptr.dtype:
        return None
    rows = piece_rows(*blocks.shape, blocks.stored, turned=True)
    return blocks.of_rows(rows) if rows else None


def turned_sums(frame: Any, W: Any, drop: Any, keep: Any) -> Any:
    """The sums of ``ZᵀZ V`` over blocks that are turned; None where that does not pay."""
    blocks = turned_blocks(frame, W)
    if blocks is None:
        return None
    from ritz.operators.turned import turned_normal  # long tables of words and the like

    return turned_normal(frame, blocks, W, drop, keep)
