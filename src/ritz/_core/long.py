"""Long blocks of vectors in memory, some rows at a time: fresh memory as large as they are costs more than its use.

combine_rows   (m×p)ᵀ (m×k)  →  (p, k)      a basis that is held as rows, of any precision
long_signs     (p×k)  →  (k,)               the one sign rule of ``linalg.signs``
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import lane_count, run_lanes

__all__ = ["combine_rows", "divided", "long_signs"]

#: Bytes of a basis that are brought to another precision at a time where its vectors are combined.
BLEND_BYTES = 1 << 22
#: Multiplications above which they are shared out among lanes: about half a millisecond.
LANE_WORK = 2e7
#: Rows of a block beyond which it is multiplied by the inverse of its factor, which takes a quarter of the time of a
#: triangular system, and the condition of the factor up to which that loses no digits to speak of.
LONG, WELL = 4096, 1e3
#: Entries of vectors whose signs are looked at together.
SIGNED = 1 << 19


def combine_rows(rows: Any, Y: Any) -> Any:
    """``rowsᵀ Y`` in the precision of Y, (p, k): nothing as long as the answer is made beside it."""
    m, p = rows.shape
    out, turned = np.empty((Y.shape[1], p), Y.dtype), np.ascontiguousarray(Y.T)
    step = max(64, BLEND_BYTES // (Y.dtype.itemsize * max(1, m)))
    lanes = lane_count() if float(p) * m * Y.shape[1] > LANE_WORK else 1

    def work(span: tuple[int, int]) -> None:
        for first in range(span[0], span[1], step):
            part = slice(first, min(first + step, span[1]))
            np.matmul(turned, rows[:, part].astype(Y.dtype, copy=False), out=out[:, part])

    run_lanes(work, list(pairwise([p * i // lanes for i in range(lanes + 1)])))
    return out.T


def divided(W: Any, C: Any) -> Any:
    """``W C⁻¹`` for an upper triangular C."""
    if W.shape[0] > LONG:
        back = np.linalg.inv(C)
        if float(np.linalg.norm(C, 1) * np.linalg.norm(back, 1)) < WELL:
            return np.matmul(W, back.astype(W.dtype, copy=False))
    import scipy.linalg

    return scipy.linalg.solve_triangular(C, W.T, trans="T", check_finite=False).T


def long_signs(V: Any, tie: float) -> NDArray[np.float64]:
    """±1 for every column: the sign of its first entry whose magnitude is at least ``tie`` times the largest."""
    least = tie * np.maximum(V.max(axis=0), -V.min(axis=0))
    out, left = np.ones(V.shape[1]), np.arange(V.shape[1])
    step = max(1, SIGNED // V.shape[1])
    for first in range(0, V.shape[0], step):
        part = V[first : first + step, left]
        met = np.abs(part) >= least[left]
        found = met.any(axis=0)
        out[left[found]] = np.where(part[met.argmax(axis=0)[found], np.flatnonzero(found)] < 0, -1.0, 1.0)
        left = left[~found]
        if not len(left):
            break
    return out
