"""Buffers of a pass that are used again by its next block: rows in the working precision, and their products."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes import sparse_sums
from ritz.data.passes.blocks import RowBlocks, fresh

__all__ = ["buffer", "times", "turned_rows"]


def turned_rows(blocks: RowBlocks) -> bool:
    """Whether blocks are columns of a table that is stored by rows, rows of one stored by columns, or sparse."""
    X = getattr(blocks, "X", None)
    return blocks.sparse or (isinstance(X, np.ndarray) and abs(X.strides[0]) < abs(X.strides[1]))


def times(scratch: dict[str, Any], rows: Any, W: Any, loose: bool = False) -> Any:
    """``rows W`` into a reused buffer."""
    if not isinstance(rows, np.ndarray):
        return sparse_sums.plain_times(rows, W) if loose else sparse_sums.times(rows, W)
    shape = (rows.shape[0], W.shape[1])
    out = scratch.get("product")
    if out is None or out.shape != shape or out.dtype != W.dtype:
        out = scratch["product"] = fresh(shape, W.dtype)
    return np.matmul(rows, W, out=out)


def buffer(scratch: dict[str, Any], x: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A reused buffer for one block, in the memory order of the block so that copying runs along memory."""
    order: Literal["F", "C"] = "F" if abs(x.strides[0]) < abs(x.strides[1]) else "C"
    held: NDArray[Any] | None = scratch.get("rows")
    if held is None or held.shape != x.shape or held.dtype != dtype:
        scratch["rows"] = held = fresh(x.shape, dtype, order)
    return held
