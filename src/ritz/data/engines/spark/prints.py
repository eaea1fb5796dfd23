"""Prints of partitions: 64 bits by which a later reading of the same rows is known, or found to be of others.

    w_ij the bits of x_ij,  r_i = Σ_j w_ij      placed = Σ_i mix(r_i + i·ρ)      free = Σ_i mix(r_i)      modulo 2⁶⁴

A lazy DataFrame is computed again in every pass. One that is not deterministic gives other rows each time, and an
answer from such passes would be that of no data at all. ``placed`` counts rows from the first of their partition;
``free`` does not mind their order, which a shuffle may change. Whole numbers modulo 2⁶⁴ do not round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Print"]

#: Odd multipliers of the golden ratio and of splitmix64, and the shift of its finaliser (as in ``passes/keys.py``).
STEP, MIX, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(31)
#: Entries whose bits are summed while they are in the cache.
PIECE = 1 << 16


class Print:
    """The print of the rows of one partition, as they come."""

    def __init__(self) -> None:
        self.rows, self.placed, self.free = 0, 0, 0

    def add(self, values: Any) -> None:
        """Take in the next rows, an array or a CSR matrix."""
        sums = _row_sums(values)
        places = np.arange(self.rows + 1, self.rows + 1 + len(sums), dtype=np.uint64)
        self.placed = (self.placed + int(np.add.reduce(_mixed(sums + places * STEP)))) % 2**64
        self.free = (self.free + int(np.add.reduce(_mixed(sums)))) % 2**64
        self.rows += len(sums)


def _row_sums(values: Any) -> NDArray[np.uint64]:
    if not isinstance(values, np.ndarray):
        words = _bits(values.data).astype(np.uint64) + (values.indices.astype(np.uint64) + np.uint64(1)) * STEP
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(words), dtype=np.uint64)])
        return np.asarray(ends[values.indptr[1:]] - ends[values.indptr[:-1]])
    words, n = _bits(values), values.shape[0]
    sums, step = np.zeros(n, np.uint64), max(1, PIECE // max(1, values.shape[1]))
    for i in range(0, n, step):
        sums[i : i + step] = np.add.reduce(words[i : i + step], axis=1, dtype=np.uint64)
    return sums


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    """The bits of numbers as whole ones of their own width."""
    return values.view(np.dtype(f"u{values.dtype.itemsize}"))


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> SHIFT)) * MIX
    return words ^ (words >> SHIFT)
