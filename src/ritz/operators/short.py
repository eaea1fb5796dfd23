"""``Z V`` and ``ZᵀZ V`` of blocks of sparse rows in short chains of sums, some columns of V at a time.

    B = D_r (X W − 1 dᵀ − o (1ᵀW)),    total ← total + XᵀD_r B         W = D_c V (d×l),  d = Wᵀs

How rows and columns are cut is found once for a block, and a group of columns of W, of B and of the sums stays in the
caches while entries are read; where W is too long for that, rows are turned first (``turned.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.linalg import Array
from ritz.data.passes.blocks import Block, TurnedBlocks, csr_rows
from ritz.data.passes.sparse.sums import Short, converted, cuts_of, some_columns
from ritz.operators import laid

if TYPE_CHECKING:
    from ritz.operators.affine import Affine
    from ritz.operators.lane import Lane

__all__ = ["short_rows", "short_step", "stored_normal"]

#: Entries and columns up to which rows that were turned are multiplied as they were stored. Processor ms of turning and
#: multiplying them, and of that, 1, 8 and 24 columns: 5,000×40,000 with 400,000 entries 4.2, 6.7, 12.2 and 1.2, 3.6,
#: 8.6; 10,000×50,000 with 10⁶ 10.8, 18.0, 35.5 and 3.4, 9.5, 24.5; 400×8,970 with 100,000 0.7, 1.2, 1.9 and 0.4, 0.9,
#: 2.0; 314×898 with 6,400 0.13, 0.16, 0.21 and 0.03, 0.06, 0.09.
STORED_ENTRIES, STORED_COLUMNS = 1_000_000, 24
#: The same of more entries. 1, 3, 8 and 24 columns: 2,000×20,000 with 2·10⁶ 15.8, 23.0, 25.4, 36.0 and 7.2, 12.3, 15.6,
#: 34.3; 20,000×100,000 with 5·10⁶ 56, 70, 69, 108 and 18, 39, 36, 269; 5,000×50,000 with 15·10⁶ 161, 206, 172 and 34,
#: 70, 50. Where rows were turned, a second product takes three quarters of the time, and turning them that of four.
#: And bytes of ``Z V`` beyond which it is jumped about in for too long: 8,080×303,531 with 1.8·10⁶, 1, 3 and 8 columns,
#: 25, 29, 36 and 8, 31, 69.
STORED_MOST, STORED_FEW, STORED_TIMES, STORED_BYTES = 20_000_000, 8, 4, 6_500_000


def short_step(
    frame: Affine, W: Array, drop: Array | None, keep: Array | None = None
) -> Callable[[Lane, Any, Block], None]:
    """The step of a pass for W and drop of ``frame._right(V)``; ``keep`` (n, l) is filled with ``Z V``."""
    groups = [
        (some, np.ascontiguousarray(W[:, some]), None if drop is None else drop[some]) for some in some_columns(W)
    ]

    def step(lane: Lane, rows: Any, block: Block) -> None:
        short = Short(rows, frame._cuts(block))
        for some, part, off in groups:
            B = frame._finish(short.times(part), block, off, part)
            if keep is not None:
                keep[block.rows, some] = B
            scaled = frame._weighted(B, block)
            frame._add(lane, short.adjoint(scaled), scaled, block, some)

    return step


def stored_normal(frame: Affine, W: Array, keep: Array | None = None) -> Array | None:
    """``ZᵀZ V`` of rows that were turned and nobody has put in order yet, by those that are stored; ``keep`` takes
    ``Z V``. None where they are at hand, are many, or something is taken off or scaled.
    """
    blocks = frame.blocks
    if not isinstance(blocks, TurnedBlocks) or blocks.made or frame.loose or W.dtype != np.float64:
        return None
    framed = (frame.shift, frame.offset, frame.row_scale, frame.col_scale)
    long = 8 * blocks.shape[0] * W.shape[1] > STORED_BYTES
    few = blocks.stored <= STORED_MOST and W.shape[1] <= STORED_FEW and not long
    few |= blocks.stored <= STORED_ENTRIES and W.shape[1] <= STORED_COLUMNS
    if not few or any(part is not None for part in framed):
        return None
    rows, made = frame.held.get("stored", (None, 0))
    if made == STORED_TIMES:
        del frame.held["stored"]
        return None
    if rows is None:
        X = blocks.origin
        X = X if len(X.data) == len(X.indices) == X.indptr[-1] else csr_rows(X, 0, X.shape[0])
        X = X if blocks.dtype == np.float64 else converted(X, np.dtype(np.float64), {})
        rows = Short(X, cuts_of(X))
    frame.held["stored"] = rows, made + 1
    half = rows.adjoint(W)
    if keep is not None:
        keep[...] = half
    frame.noise.append(0.0)  # as of all short sums of sparse rows
    return np.asarray(rows.times(half))


def short_rows(frame: Affine, V: Array, out: Any) -> Any:
    """``out`` filled with ``Z V``; None where something is taken off, or V is short enough to be taken as it lies.

    The groups of columns are copied once, from V itself, and not with every block.
    """
    if not frame.blocks.sparse or frame.loose or frame.shift is not None:
        return None
    V = np.asarray(V, frame.precision) if frame.col_scale is None else V * frame.col_scale[:, None]
    cut = some_columns(V)
    if len(cut) == 1:
        return None
    groups = [(some, np.ascontiguousarray(V[:, some], frame.precision)) for some in cut]
    tall = laid.turned_blocks(frame, V) if V.nbytes >= laid.LEAST else None
    made: Any = Short
    if tall is not None:
        from ritz.operators.turned import Turned  # long tables of words and the like

        made = Turned

    def step(scratch: dict[str, Any], block: Block) -> Any:
        rows = made(frame._rows(scratch, block))
        product = np.empty((block.values.shape[0], V.shape[1]), frame.precision)
        for some, part in groups:
            product[:, some] = frame._finish(rows.times(part), block, None, part)
        return product

    return (tall or frame.blocks).map_rows(step, out)
