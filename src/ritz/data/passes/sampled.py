"""Some rows of a table, spread over it: for rules and looks that need no more.

    chosen   one row of each of m strata of equal weight, at random within its stratum
    take     those rows, from memory or by one pass over row blocks

Integer weights that sum to no more than m give every row as often as it counts, so that a weighted table and the one
with copies are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, RowBlocks, are_blocks

__all__ = ["chosen_rows", "take_dense", "take_rows"]

Index = NDArray[np.int64]


def chosen_rows(n: int, weights: NDArray[np.float64] | None, most: int, seed: int) -> Index:
    """Return which of n rows to look at, increasing; a heavy row may come more than once.

    Parameters
    ----------
    n
        Rows of the table.
    weights
        Frequencies of the rows, or None.
    most
        How many rows at most.
    seed
        Seed of the choice within strata.
    """
    if weights is None:
        if n <= most:
            return np.arange(n)
        inside = np.random.default_rng([seed, 17]).random(most)
        return np.minimum(((np.arange(most) + inside) * (n / most)).astype(np.int64), n - 1)
    total = float(np.sum(weights))
    if total <= most and bool(np.all(weights == np.round(weights))):
        return np.repeat(np.arange(n), weights.astype(np.int64))
    count = int(min(most, max(2, round(total))))
    inside = np.random.default_rng([seed, 17]).random(count)
    edges = np.cumsum(weights)
    at = np.searchsorted(edges, (np.arange(count) + inside) * (total / count), side="right")
    last = int(np.flatnonzero(weights)[-1])
    return np.minimum(at, last).astype(np.int64)


class _Taken(Sums):
    """Chosen rows of one piece of the table, in row order."""

    LISTS = ("rows",)

    def __init__(self, chosen: Index) -> None:
        self.chosen = chosen
        self.rows: list[Any] = []

    def feed(self, block: Block) -> None:
        """Keep what is chosen of a block."""
        a, b = np.searchsorted(self.chosen, [block.rows.start, block.rows.stop])
        if b > a:
            rows = block.values[self.chosen[a:b] - block.start]
            self.rows.append(np.array(rows) if isinstance(rows, np.ndarray) else rows)


def take_rows(X: Any, chosen: Index) -> Any:
    """The chosen rows of an array, a CSR matrix or row blocks; blocks are read once."""
    if not are_blocks(X):
        return X[chosen]
    blocks: RowBlocks = X
    taken = blocks.map_reduce(lambda: _Taken(chosen), lambda sums, block: sums.feed(block))
    if all(isinstance(rows, np.ndarray) for rows in taken.rows):
        return np.concatenate(taken.rows)
    from scipy.sparse import csr_array, vstack

    return vstack([csr_array(rows) for rows in taken.rows], format="csr")


def take_dense(X: Any, chosen: Index, used: bool = False) -> NDArray[np.float64]:
    """The chosen rows as float64; ``used``: of a sparse table only columns with an entry among them."""
    rows = take_rows(X, chosen)
    if isinstance(rows, np.ndarray):
        return rows.astype(np.float64)
    if used:
        rows = rows.tocsc()
        rows = rows[:, np.flatnonzero(np.diff(rows.indptr))]
    return np.asarray(rows.toarray(), np.float64)
