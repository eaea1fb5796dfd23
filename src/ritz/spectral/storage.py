"""What a fit holds beyond its data, in bytes: the planner's other arithmetic.

    pass      ZᵀZV, V (p×l), Z (q×p)   each lane: sum, what rounding took of it, product (p×l); a block, its product
    answer    V (d×k)                  found, turned, with its signs, its residuals; on the rows AᵀU and its factors
    state     ZᵀZ (p×p)                each lane: sum, what rounding took of it, product; then what measures rounding

Sums of sparse rows are cut into short pieces, so that a product is held twice. Lanes are those of this machine: of all
that the planner says this alone depends on it, and only a limit on memory can make it change the route.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ritz._core.threads import lane_count
from ritz.data.passes.blocks import BLOCK_BYTES, block_rows, sparse_rows
from ritz.data.passes.gram import TILE_ABOVE
from ritz.spectral import constants as c

if TYPE_CHECKING:
    from ritz.spectral.plan import Shape

__all__ = ["answer", "passing", "state", "state_solved"]


def _lanes(rows: int, entries: float, sparse: bool) -> tuple[int, int]:
    """Lanes of a pass over that many rows, and rows of a block."""
    each = max(1, int(entries / max(rows, 1)))
    block = min(rows, sparse_rows(each, rows) if sparse else block_rows(each))
    return min(lane_count(), max(1, -(-rows // max(block, 1)))), block


def _blocks(shape: Shape, block: int, columns: int) -> float:
    """A block of rows in another precision or with its means taken off; sparse rows keep their places."""
    if shape.stored is None:
        return 8.0 * block * columns
    return min(shape.entries * 8.0, float(BLOCK_BYTES))


def passing(shape: Shape, side: str, width: int, narrow: bool = False) -> float:
    """A product with M of that many columns, on a side; what a symmetric operator takes besides, it knows itself."""
    if shape.symmetric:
        return 24.0 * shape.n * width
    p, q = (shape.d, shape.n) if side == "columns" else (shape.n, shape.d)
    sparse, item = shape.stored is not None, 4.0 if narrow else 8.0
    lanes, block = _lanes(q, shape.entries, sparse)
    twice = 2 if sparse else 1
    sums = float(p) * width * (16 + twice * item)
    return lanes * (sums + float(block) * width * item * twice + _blocks(shape, block, p)) + 8.0 * p * width


def answer(shape: Shape, k: int, side: str) -> float:
    """The vectors, made ready."""
    size = 8.0 * shape.d * k
    if side == "columns" or shape.symmetric:
        return c.ANSWER_COPIES * size
    if shape.stored is not None:  # columns of the table are its turned rows: a copy of them
        return c.TURNED_COPIES * size + 12.0 * shape.entries
    lanes, block = _lanes(shape.n, shape.entries, False)
    return c.TURNED_COPIES * size + lanes * (24.0 * shape.d * k + _blocks(shape, block, shape.d))


def state(shape: Shape) -> float:
    """The Gram matrix of the smaller side while it is formed."""
    p, q = shape.small, shape.large
    size = 8.0 * p * p
    if shape.symmetric:
        return size
    if shape.stored is not None or p > TILE_ABOVE:
        held = float(BLOCK_BYTES) if shape.stored is None else min(float(BLOCK_BYTES), 16.0 * shape.entries)
        return c.TILED_COPIES * size + lane_count() * held
    lanes, block = _lanes(q, float(p) * q, False)
    return lanes * (c.STATE_SUMS * size + 8.0 * block * p) + c.STATE_CHECKS * size


def state_solved(shape: Shape, k: int, needs_all: bool) -> float:
    """The Gram matrix and its leading pairs, or all."""
    p, small = shape.small, shape.small <= TILE_ABOVE
    copies = c.EIGH_COPIES if small or needs_all or k >= c.SUBSET_SHARE * p else c.TILED_COPIES
    vectors = c.MEASURED_COPIES if small else c.ANSWER_COPIES  # the rounding of tiles is not measured
    held = copies * 8.0 * p * p + vectors * 8.0 * p * (p if needs_all else k)
    if shape.symmetric or not small or not (needs_all or 2 * k >= p):
        return held
    side = "columns" if shape.d <= shape.n else "rows"
    again = c.REPAIR_COPIES * 8.0 * p * p + passing(shape, side, p)  # where small values are lost
    if shape.stored is not None or shape.outside or shape.there or shape.large > c.PIVOTED_TALL * p:
        return max(held, again)
    return max(held, again, 64.0 * p * p + 16.0 * p * shape.large)  # the rows as they are decomposed, and a copy
