"""``ZᵀZ v`` of one vector and rows in memory, sparse ones or a few dense ones, by the shortest way there is.

    b = D_r² (X D_c v − 1 (sᵀD_c v) − o (1ᵀD_c v)),    ZᵀZ v = D_c (Xᵀb − s (1ᵀb) − 1 (oᵀb))

SciPy has loops of its own for one vector, which take a quarter of what a block of eight takes; both products read rows
as they are stored. Of dense rows Z is formed once in the precision of the products, unless it is X itself: BLAS reads
it in an eighth of the time of a product with sixteen columns; one that is longer than the caches some rows at a time,
so that the second product finds them where the first has left them. Sums are as long as they come: for iterations whose
answer is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.threads import go_on
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.sparse.products import normal, tools
from ritz.data.passes.sparse.sums import HELD_BYTES
from ritz.operators.shared_rows import shared_rows

if TYPE_CHECKING:
    from ritz.operators.affine import Affine
    from ritz.operators.base import Operator

__all__ = [
    "DENSE_ENTRIES", "DENSE_SIDE", "TALL_SIDE", "columns_bytes", "held_rows", "kept", "kept_bytes", "vector_normal",
]  # fmt: skip

#: Entries of dense rows, and the longer side, up to which Z is formed for products with one vector: float32 sums of
#: more numbers would lose digits that the tolerance asks for. Residuals of answers of chains in float32 were 2e-7 to
#: 5e-7·θ₁ at 30,000 columns, once 8e-7, and 3e-7 to 4e-7 at 3,000. Processor ms of blocks and of single vectors:
#: 572×11,383 in float32, k = 1, 87 and 42; 809×25,765, k = 9, 280 and 216. And rows up to which that is planned: some
#: of the rows of taller tables tell whether anything decays (``spectral/sampled_plan.py``).
DENSE_ENTRIES, DENSE_SIDE, TALL_SIDE = 24_000_000, 32_768, 10_000

#: Bytes of Z above which rows are multiplied both ways before the next, and of these rows. Processor ms of a product as
#: a whole and of pieces of 0.25, 0.5 and 1 MB: 4,000×4,000 in float64 11.3 and 8.5, 8.4, 7.9, in float32 4.9 and 3.9,
#: 4.8, 4.4; 3,000×1,500 in float32, 18 MB, 0.70 and 0.86, 0.81, 0.69, on a busy machine 0.90 and 1.17, 1.04, 0.83;
#: 2,500×2,500 in float32, 25 MB, 1.57 and 1.46, 1.35, 1.33; 5,000×500 in float64, 20 MB, 1.72 and 1.22, 1.14, 0.99.
LONG, DENSE_PIECE = 1 << 24, 1 << 20

#: Entries of a row, in the mean, up to which rows are multiplied by their columns, where columns are fewer by such a
#: factor: loops over short rows end where no processor foresees it, unless rows are so few that it remembers them all.
#: Processor µs of a product by rows and by columns, and of putting entries in order, of 1.5, 4, 8, 16 and 32 a row:
#: 4,000×2,000 17, 14 and 19; 25, 24 and 38; 42, 42 and 67; 75, 83 and 129; 159, 164 and 253; 12,000×6,000 43, 35 and
#: 49; 127, 72 and 113; 226, 162 and 219; 321, 268 and 452; 523, 531 and 883; 60,000×12,000 826, 228 and 496; 1,062, 404
#: and 813; 1,278, 746 and 1,408; 1,675, 1,492 and 3,481; 3,429, 3,666 and 13,967. SVD(3) of 100,000×5,000 with 0.1 % 72
#: and 43 ms, of 16,723×1,131 with 28,000 entries 7.2 and 4.0.
SHORT_ROW, MANY_ROWS, SHORTEST_ROW, TALL = 10.0, 9_000, 2.0, 1.5
#: Entries up to which that was measured.
MOST = 2_000_000


def vector_normal(frame: Affine) -> Callable[[Any], Any] | None:
    """``v ↦ ZᵀZ v`` in the precision of the frame; None where rows are not in memory, or dense ones and many.

    What is given is a buffer that the next product fills again.
    """
    blocks = frame.blocks
    if isinstance(blocks, MemoryBlocks) and blocks.is_array:
        return _dense_normal(frame, blocks)
    if tools is None or not isinstance(blocks, MemoryBlocks) or not blocks.sparse:
        return None
    # The loops run over rows as they are stored: over the fewer rows of a table that was turned, as it was before.
    turned = blocks.origin is not None and blocks.shape[0] > blocks.shape[1]
    X, dtype = blocks.origin if turned else blocks.X, np.dtype(frame.precision)
    if X.indices.dtype != X.indptr.dtype or dtype.kind != "f":
        return None
    n, d = blocks.shape
    across, along = np.empty(n, dtype), np.empty(d, dtype)
    if turned:
        data = X.data.astype(dtype, copy=False)
        there, back = tools.csc_matvec, tools.csr_matvec
    else:
        data = _entries(frame, X.data, dtype)
        there, back = tools.csr_matvec, tools.csc_matvec

    shared = shared_rows(X, data)
    fused = None if turned else normal(X.indptr, X.indices, data) if shared is None else shared.both
    indptr, indices = X.indptr, X.indices
    compiled = fused is not None and (shared is None or shared.fused[0] is not None)
    if not turned and not compiled and 0 < columns_bytes(n, d, len(data), dtype.itemsize) <= frame.room:
        indptr, indices, data = _columns(frame, X, data)
        there, back, shared, fused = tools.csc_matvec, tools.csr_matvec, None, None

    def plain(v: Any, first: Any = 0) -> None:
        go_on()
        if shared is not None:
            (shared.scatter if turned else shared.gather)(v, across, first)
            return
        across.fill(first)
        there(n, d, indptr, indices, data, v, across)

    def back_again() -> None:
        if shared is not None:
            (shared.gather if turned else shared.scatter)(across, along)
            return
        along.fill(0)
        back(d, n, indptr, indices, data, across, along)

    def product(v: Any) -> Any:
        plain(v)
        back_again()
        return along

    nothing = dtype.type(0)

    def at_once(v: Any) -> Any:
        go_on()
        return along if fused is not None and fused(v, nothing, across, along) else product(v)

    if frame.shift is None and frame.offset is None and frame.row_scale is None and frame.col_scale is None:
        return product if fused is None else at_once
    return _framed_normal(frame, dtype, fused, across, along, plain, back_again)


def _framed_normal(
    frame: Affine, dtype: np.dtype[Any], fused: Any, across: Any, along: Any, there: Callable[[Any, Any], None],
    back: Callable[[], None],
) -> Callable[[Any], Any]:  # fmt: skip
    """``v ↦ ZᵀZ v`` where Z is not X: ``there`` fills ``across`` with X v and a number, ``back`` ``along`` with Xᵀ of
    it, and ``fused`` does both where there is but a number to take off between.
    """
    shift = None if frame.shift is None else frame.shift + (0.0 if frame.shift_low is None else frame.shift_low)
    rows = None if frame.row_scale is None else np.square(frame.row_scale).astype(dtype)
    columns, offset = _own(frame.col_scale, dtype), _own(frame.offset, dtype)
    fused = fused if offset is None and rows is None else None
    off, nothing = None if shift is None else np.empty_like(shift), dtype.type(0)

    def framed(v: Any) -> Any:
        nonlocal across, along
        go_on()
        v = v if columns is None else v * columns
        drop = dtype.type(0 if shift is None else shift.dot(v))
        if fused is None or not fused(v, drop, across, along):
            there(v, nothing - drop)
            if offset is not None:
                across -= offset * dtype.type(np.add.reduce(v, dtype=np.float64))
            if rows is not None:
                across *= rows
            back()
        if shift is not None:
            along -= np.multiply(shift, np.add.reduce(across, dtype=np.float64), out=off)
        if offset is not None:
            along -= dtype.type(offset @ across)
        if columns is not None:
            along *= columns
        return along

    return framed


def _entries(frame: Affine, data: Any, dtype: np.dtype[Any]) -> Any:
    """Stored entries in a precision; few of them are kept for the next chain."""
    if data.dtype == dtype:
        return data
    found = frame.held.get(("entries", dtype))
    if found is None:
        found = data.astype(dtype)
        if found.nbytes <= HELD_BYTES:
            frame.held["entries", dtype] = found
    return found


def columns_bytes(n: int, d: int, entries: float, itemsize: int) -> float:
    """Bytes of a copy of n×d sparse rows by their columns for products with one vector; 0 where it does not pay."""
    short = SHORT_ROW if n >= MANY_ROWS else SHORTEST_ROW
    return (4.0 + itemsize) * entries + 4.0 * d if n >= TALL * d and entries <= min(short * n, MOST) else 0.0


def _columns(frame: Affine, X: Any, data: Any) -> tuple[Any, Any, Any]:
    """``indptr``, ``indices`` and entries of CSR rows by their columns, in the precision of ``data``; made once."""
    found = frame.held.get(("columns", data.dtype))
    if found is None:
        n, d = X.shape
        many, kind = int(X.indptr[-1]), X.indices.dtype
        found = np.empty(d + 1, kind), np.empty(many, kind), np.empty(many, data.dtype)
        tools.csr_tocsc(n, d, X.indptr, X.indices, data, *found)
        frame.held["columns", data.dtype] = found
        frame.held.pop(("entries", data.dtype), None)
    return found


def _dense_normal(frame: Affine, blocks: MemoryBlocks) -> Callable[[Any], Any] | None:
    n, d = blocks.shape
    if n * d > DENSE_ENTRIES or max(n, d) > DENSE_SIDE:
        return None
    dtype = np.dtype(frame.precision)
    Z = frame.held.get(("whole", dtype))
    if Z is None:
        Z = frame.held["whole", dtype] = _whole(frame, blocks, dtype)
    across, along = np.empty(n, dtype), np.empty(d, dtype)

    step = max(1, DENSE_PIECE // (d * dtype.itemsize))
    if Z.nbytes <= LONG or not Z.flags.c_contiguous:  # some rows of columns lie far apart

        def product(v: Any) -> Any:
            go_on()
            np.dot(Z, v, out=across)
            return np.dot(across, Z, out=along)

        return product
    pieces, part = [(Z[a : a + step], across[a : a + step]) for a in range(0, n, step)], np.empty(d, dtype)

    def in_pieces(v: Any) -> Any:
        go_on()
        along.fill(0)
        for rows, some in pieces:
            np.dot(rows, v, out=some)
            np.add(along, np.dot(some, rows, out=part), out=along)
        return along

    return in_pieces


def kept_bytes(entries: float, narrow: bool) -> float:
    """Bytes of dense rows that are kept in float32 for the products of an iteration; 0 where they are not."""
    return 4.0 * entries if narrow and entries <= DENSE_ENTRIES else 0.0


def kept(frame: Affine, room: float) -> Affine:
    """The frame of Z itself, dense rows in float32, where it may take so many bytes; else the frame as it is.

    Of 500×3,000 in float64 a product with 16 columns takes 1.9 ms of one core and not 3.2, of 1,400×1,400 2.4 and not
    4.8: rounding every number takes as long as multiplying it.
    """
    from ritz.operators.affine import Affine as Frame  # which asks for this

    blocks, dtype = frame.blocks, np.dtype(frame.precision)
    if not isinstance(blocks, MemoryBlocks) or not blocks.is_array or dtype != np.float32:
        return frame
    size = kept_bytes(float(math.prod(blocks.shape)), True)
    if not 0 < size <= room or (_plain(frame) and blocks.dtype == dtype):
        return frame
    return Frame(MemoryBlocks(_whole(frame, blocks, dtype)), precision=frame.precision)


def _plain(frame: Affine) -> bool:
    """Whether Z is X."""
    framed = (frame.shift, frame.shift_low, frame.offset, frame.row_scale, frame.col_scale)
    return all(each is None for each in framed)


def held_rows(A: Operator, dtype: Any) -> Any:
    """Z of few dense rows in memory in a precision, (n, d), whose numbers may be those of the table; None of others."""
    frame = getattr(A.at(dtype), "affine", None)
    blocks = getattr(frame, "blocks", None)
    if frame is None or not isinstance(blocks, MemoryBlocks) or not blocks.is_array:
        return None
    if math.prod(blocks.shape) > DENSE_ENTRIES or np.dtype(frame.precision) != dtype:
        return None
    return _whole(frame, blocks, np.dtype(dtype))


def _whole(frame: Affine, blocks: MemoryBlocks, dtype: np.dtype[Any]) -> Any:
    """Z, (n, d)."""
    short = dtype.itemsize * blocks.X.size <= LONG  # a longer one is multiplied some rows at a time
    if _plain(frame) and blocks.dtype.kind == "f":
        # The rows of a turned table, 8,000×2,000 in float32: 25 ms more for the copy, and 4.4 instead of 5.7 a product.
        return blocks.X.astype(dtype, order="K" if short or blocks.dtype == dtype else "C", copy=False)
    Z = np.empty(blocks.shape, dtype, order="F" if short and blocks.X.flags.f_contiguous else "C")

    def step(_scratch: dict[str, Any], block: Block) -> None:
        for piece in frame._pieces(block):
            into = Z[piece.rows]
            rows = frame._columns(frame._rows({"rows": into}, piece), piece)
            if rows is not into:
                into[...] = rows

    blocks.visit(step)
    return Z


def _own(scale: Any, dtype: Any) -> Any:
    return None if scale is None else scale.astype(dtype)
