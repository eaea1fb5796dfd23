"""``ZᵀZ V`` of sparse rows in memory with sums as long as they come: for iterations whose answer is measured.

    B = D_r² (X W − 1 dᵀ − o (1ᵀW)),   ZᵀZ V = D_c (XᵀB − s (1ᵀB) − 1 (oᵀB)),     W = D_c V (d×l),  d = Wᵀs

Rows are taken some at a time: as many as make B about half as large as W, so that these stay in the caches. Both
products read entries where they are stored, and the second one adds to what the rows before have left: nothing is
copied or added up between two pieces. Where W is longer than the caches and there is room, a copy of the entries is
laid out by columns with the first product (``laid.py``).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.linalg import Array
from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.gram import column_sums
from ritz.data.passes.sparse.products import csc_matvecs, csr_matvecs, tools
from ritz.data.passes.sparse.sums import HELD_BYTES
from ritz.operators.laid import Piece, laid_bytes, laid_out, piece_rows
from ritz.operators.shared_rows import equal_entries

if TYPE_CHECKING:
    from ritz.operators.affine import Affine

__all__ = ["loose_normal"]

#: Bytes of B, at least and at most. Processor ms of a float32 product with 16 columns, B of 0.25, 0.5, 1, 2, 4 MB:
#: 18,846×168,000 with 2.9·10⁶ entries by its columns 24, 31, 31, 36, 50; 100,000×60,000 with 10⁷ by its rows 188, 156,
#: 122, 153, 140.
PIECE = 1 << 18, 1 << 21
#: Stored entries up to which one lane multiplies: beginning two takes 0.8 ms of processor time, a product of 400,000
#: entries with eight columns 2.1.
ONE_LANE = 400_000
#: Entries that are brought to another precision at a time, where all of them would take too much memory.
CONVERTED = 1 << 20


def loose_normal(frame: Affine, W: Array, drop: Array | None) -> Array | None:
    """``ZᵀZ V`` for W and drop of ``frame._right(V)``; None where rows are not sparse ones in memory."""
    blocks = frame.blocks
    if tools is None or not isinstance(blocks, MemoryBlocks) or not blocks.sparse:
        return None
    X = blocks.X
    if (
        X.indices.dtype != X.indptr.dtype
        or len(X.data) != X.nnz
        or W.dtype.kind != "f"
        or W.dtype != np.dtype(frame.precision)
    ):
        return None
    lanes = 1 if X.nnz <= ONE_LANE else lane_count()
    n, d = frame.shape
    rows = piece_rows(n, d, X.nnz)
    taken = ("columns", W.dtype) in frame.held  # room for a copy, by one that single vectors are multiplied by
    if rows and not taken and laid_bytes(n, d, X.nnz, W.dtype.itemsize) <= frame.room:
        starts = range(0, n, rows)
        spans = [starts[len(starts) * i // lanes : len(starts) * (i + 1) // lanes] for i in range(lanes)]
        parts = run_lanes(lambda span: _Lane(frame, W, drop, None).run_laid(span), [span for span in spans if span])
        return _summed(frame, parts)
    held = X.dtype == W.dtype or X.nnz * W.dtype.itemsize <= HELD_BYTES
    data = frame._rows({}, Block(X, 0)).data if held else None
    return _summed(frame, run_lanes(lambda span: _Lane(frame, W, drop, data).run(*span), equal_entries(X, lanes)))


def _summed(frame: Affine, parts: list[tuple[Array, Array, Array]]) -> Array:
    """The product from what the lanes have added up."""
    total, sums, tail = parts[0]
    for more, other, last in parts[1:]:
        total += more
        sums, tail = sums + other, tail + last
    if frame.shift is None and frame.offset is None and frame.col_scale is None:
        return total
    return frame._taken_off(total, sums, tail)


class _Lane:
    """Some rows: XᵀB, Σb and Σ offset·b."""

    def __init__(self, frame: Affine, W: Array, drop: Array | None, data: Any) -> None:
        self.frame, self.W, self.drop, self.data = frame, W, drop, data
        l, wide = W.shape[1], max(1, W.shape[1] * W.dtype.itemsize)
        self.rows = max(1, min(max(PIECE[0], W.nbytes // 2), PIECE[1]) // wide)
        self.out = np.zeros((frame.shape[1], l), W.dtype)
        self.sums, self.tail = np.zeros(l), np.zeros(l)

    def run(self, first: int, last: int) -> tuple[Array, Array, Array]:
        """Rows ``first:last``."""
        X, step = self.frame.blocks.X, self.rows  # type: ignore[attr-defined]
        if self.data is None:
            step = min(step, max(1, int(CONVERTED / max(1.0, X.nnz / max(1, X.shape[0])))))
        B = np.empty((min(step, last - first), self.W.shape[1]), self.W.dtype)
        for start in range(first, last, step):
            go_on()
            self._piece(start, min(start + step, last), B)
        return self.out, self.sums, self.tail

    def run_laid(self, span: range) -> tuple[Array, Array, Array]:
        """Pieces that begin at these rows, laid out when they are first asked for."""
        W, X, held = self.W, self.frame.blocks.X, self.frame.held  # type: ignore[attr-defined]
        B = np.empty((min(span.step, X.shape[0]), W.shape[1]), W.dtype)
        for start in span:
            go_on()
            piece: Piece | None = held.get((start, W.dtype.char))
            if piece is None:
                piece = laid_out(X, W.dtype, start, min(start + span.step, X.shape[0]))
                held[start, W.dtype.char] = piece
            block = Block(B[: piece.stop - start], start)
            self._count(piece.add(W, B, partial(self._framed, block), self.out), start, piece.stop)
        return self.out, self.sums, self.tail

    def _framed(self, block: Block, B: Array) -> Array:
        return self.frame._weighted(self.frame._finish(B, block, self.drop, self.W), block)

    def _count(self, B: Array, start: int, stop: int) -> None:
        """Add up b and offset·b."""
        if self.frame.shift is not None:
            self.sums += column_sums(B, None)
        if self.frame.offset is not None:
            self.tail += column_sums(B, self.frame.offset[start:stop].astype(B.dtype))

    def _piece(self, start: int, stop: int, B: Array) -> None:
        frame, W, X = self.frame, self.W, self.frame.blocks.X  # type: ignore[attr-defined]
        rows, d, l = stop - start, frame.shape[1], W.shape[1]
        indptr, indices, data = X.indptr[start : stop + 1], X.indices, self.data
        if data is None:
            a, b = int(indptr[0]), int(indptr[-1])
            indptr, indices, data = indptr - indptr[0], indices[a:b], X.data[a:b].astype(W.dtype)
        B = B[:rows]
        B.fill(0)
        csr_matvecs(rows, d, l, indptr, indices, data, W.ravel(), B.ravel())
        B = self._framed(Block(B, start), B)
        csc_matvecs(d, rows, l, indptr, indices, data, B.ravel(), self.out.ravel())
        self._count(B, start, stop)
