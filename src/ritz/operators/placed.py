"""``Z V`` of an array in memory, written where it belongs, in pieces whose shifted copies stay in the cache.

    out[i:j] = (X[i:j] − 1sᵀ) W − 1 dᵀ        W = D_c V (d×l),  d = Wᵀ s_low;   Z itself with V = I

No sum runs over rows, so pieces are as tall as is fast: of few columns taller than the blocks that sums are formed of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import Array
from ritz.data.passes.blocks import Block, MemoryBlocks, subtract_row, turned_rows
from ritz.data.passes.thin import thin

if TYPE_CHECKING:
    from ritz.operators.affine import Affine

__all__ = ["placed", "written"]

#: Bytes of the shifted copy of a piece.
CACHED_BYTES = 1 << 19
#: Multiplications from which it matters how a product with few columns is cut.
THIN_WORK = 2e6


def placed(frame: Affine, V: Array, out: NDArray[Any]) -> Array:
    """``out`` filled with ``Z V``, for a frame of an array in memory that scales no rows."""
    W = np.asarray(V, np.float64)
    W = W if frame.col_scale is None else W * frame.col_scale[:, None]
    drop = None if frame.shift_low is None else (frame.shift_low @ W).astype(frame.precision)
    W = np.ascontiguousarray(W, frame.precision)  # row after row, as kernels for few columns want it
    blocks: Any = frame.blocks
    small = blocks.stored * W.shape[1] < THIN_WORK or turned_rows(blocks)

    def step(scratch: dict[str, Any], block: Block) -> None:
        cut = None if small else thin(W)
        for piece in frame._pieces(block, CACHED_BYTES):
            into, rows = out[piece.rows], frame._rows(scratch, piece)
            made = np.matmul(rows, W, out=into) if cut is None else cut.times(rows, W, into)
            if made is not into:  # made column by column, in memory of its own
                into[...] = made
            if drop is not None:
                subtract_row(into, drop, into)

    _tall(blocks, W).visit(step)
    return out


def written(frame: Affine) -> Array:
    """``Z`` itself, to the bits of its product with the identity where these are finite."""
    out, scale = np.empty(frame.shape, frame.precision), frame.col_scale
    low = frame.shift_low if frame.shift_low is None or scale is None else frame.shift_low * scale
    drop = None if low is None else low.astype(frame.precision)
    scale = None if scale is None else np.asarray(scale).astype(frame.precision)
    blocks: Any = frame.blocks

    def step(scratch: dict[str, Any], block: Block) -> None:
        for piece in frame._pieces(block, CACHED_BYTES):
            into, rows = out[piece.rows], frame._rows(scratch, piece)
            if scale is None:
                into[...] = rows
            else:
                np.multiply(rows, scale, out=into)
            if drop is not None:
                subtract_row(into, drop, into)

    blocks.visit(step)
    return out


def _tall(blocks: MemoryBlocks, W: Array) -> MemoryBlocks:
    """The same rows in blocks that fill the cache, where those for sums are much shorter."""
    rows = CACHED_BYTES // (8 * max(1, *W.shape))
    return blocks if rows < 2 * blocks.rows or blocks.shape[0] <= blocks.rows else blocks.for_products(rows)
