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
from ritz.data.passes.blocks import Block
from ritz.data.passes.sparse_sums import Short, some_columns
from ritz.operators import laid

if TYPE_CHECKING:
    from ritz.operators.affine import Affine, Lane

__all__ = ["short_rows", "short_step"]


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
