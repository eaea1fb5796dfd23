"""Lists of neighbours: of each row the rows that are near it, and how near, nearest first.

row i:  indices[indptr[i] : indptr[i+1]],  distances[…] in increasing order, equal distances by row number
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lists", "of_pairs"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Lists:
    """Neighbours of m rows; row i has those at ``indptr[i]:indptr[i + 1]``."""

    indptr: Places  # (m + 1,)
    indices: Places
    distances: Floats

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def counts(self) -> Places:
        """How many neighbours each row has, (m,)."""
        return np.diff(self.indptr)

    @property
    def rows(self) -> Places:
        """The row that each entry belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def even(self) -> bool:
        """Whether all rows have as many neighbours."""
        counts = self.counts
        return not len(counts) or bool(np.all(counts == counts[0]))

    def arrays(self) -> tuple[Any, Any]:
        """Distances and indices: (m, k) where all rows have as many, otherwise arrays of arrays."""
        if self.even:
            return self.distances.reshape(len(self), -1), self.indices.reshape(len(self), -1)
        return self.ragged()

    def ragged(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Distances and indices as arrays of m arrays, as scikit-learn's ``radius_neighbors`` gives them."""
        far, where = np.empty(len(self), dtype=object), np.empty(len(self), dtype=object)
        for i in range(len(self)):
            at = slice(self.indptr[i], self.indptr[i + 1])
            far[i], where[i] = self.distances[at], self.indices[at]
        return far, where

    def nearest(self, k: int) -> Lists:
        """The first k of each row."""
        place = np.arange(len(self.indices)) - np.repeat(self.indptr[:-1], self.counts)
        keep = place < k
        indptr = np.concatenate([[0], np.cumsum(np.minimum(self.counts, k))]).astype(np.intp)
        return Lists(indptr, self.indices[keep], self.distances[keep])

    def to_csr(self, columns: int, by_distance: bool = False) -> Any:
        """Distances as a CSR array (m, columns), zero distances stored; entries of a row by column, or by distance."""
        from scipy.sparse import csr_array

        parts = (self.distances.copy(), self.indices.copy(), self.indptr)
        made = csr_array(parts, shape=(len(self), columns))
        if not by_distance:
            made.sort_indices()
        return made


def of_pairs(rows: Places, indices: Places, distances: Floats, m: int, most: int | None = None) -> Lists:
    """Lists of pairs in any order; of each of m rows the ``most`` nearest, equal distances by row number."""
    order = np.lexsort((indices, distances, rows))
    rows, indices, distances = rows[order], indices[order], distances[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=m))]).astype(np.intp)
    made = Lists(indptr, indices.astype(np.intp, copy=False), distances)
    return made if most is None else made.nearest(most)
