"""The k nearest rows by a k-d tree, where columns are few.                                                    [MM99]

    query k + 2  →  without the row itself  →  distances again, by Ritz's own sum  →  is the k-th less than the next?

A tree finds rows by distances that it rounds itself, relative to their size. Where the k-th and the next differ by less
than that rounding, or not at all, everything within the k-th distance is fetched and sorted, equal distances by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError
from ritz._core.threads import go_on, lane_count
from ritz.graphs.lists import Lists, of_pairs
from ritz.graphs.search.copies import copies
from ritz.graphs.search.nearest import Nearest, merged
from ritz.graphs.search.screen import Screen
from ritz.graphs.spaces.euclidean import distance_rounding

__all__ = ["TREE_COLUMNS", "Tree"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Columns up to which a tree is faster than blocks of products, for any number of rows.
TREE_COLUMNS = 10
#: Pairs that are fetched at a time where distances are tied.
FETCHED = 1 << 21
#: Rows that are asked for at a time, so that a search can be stopped between them.
ASKED = 1 << 14


class Tree:
    """A k-d tree of rows.

    Parameters
    ----------
    X : ndarray (n, d)
    p : float
        Of the distance ``(Σ|x − y|^p)^(1/p)``; infinity for the largest difference.
    """

    def __init__(self, X: NDArray[Any], p: float = 2.0) -> None:
        from scipy.spatial import cKDTree

        self.X, self.p = X, p
        # A mean far from 0 costs a tree no digits: it compares columns and takes differences.
        self.tree = cKDTree(X)

    def nearest(self, screen: Screen, Q: Any, k: int, keep_ties: bool = False, room: float = np.inf) -> Nearest:
        """The k nearest rows of each row (``Q`` None) or of new rows; ``screen`` knows distances of pairs."""
        own = Q is None
        rows = self.X if own else Q
        m, n = len(rows), len(self.X)
        ask = min(k + 1 + own, n)
        margin = 1 + 4 * distance_rounding(self.X.shape[1])
        indices, distances, sure = np.empty((m, k), np.intp), np.empty((m, k)), np.empty(m, bool)
        for start in range(0, m, ASKED):
            go_on()
            at = slice(start, min(start + ASKED, m))
            far, where = self.tree.query(rows[at], k=np.arange(1, ask + 1), p=self.p, workers=lane_count())
            if own:
                far, where = _without_self(far, where, np.arange(at.start, at.stop))
            kept, last = where[:, :k], far[:, k - 1]
            sure[at] = True if far.shape[1] <= k else far[:, k] > last * margin
            number = np.repeat(np.arange(at.start, at.stop), k)
            exact = screen.exact(number, kept.reshape(-1), far[:, :k].reshape(-1)).reshape(-1, k)
            order = np.lexsort((kept, exact), axis=1)
            indices[at] = np.take_along_axis(kept, order, axis=1)
            distances[at] = np.take_along_axis(exact, order, axis=1)
        lists = Lists(np.arange(m + 1) * k, indices.reshape(-1), distances.reshape(-1))
        again = np.flatnonzero(~sure)
        alike = again[distances[again, -1] == 0]
        if len(alike):
            chosen, twins = copies(screen, alike, own, k, keep_ties)
            lists, again = merged(lists, chosen, twins), np.setdiff1d(again, chosen)
        if not len(again):
            return Nearest(lists, 0, m * ask)
        radii = distances[again, -1]
        more = self.within(screen, Q, again, radii, None if keep_ties else k, room)
        return Nearest(merged(lists, again, more), len(again), m * ask)

    def within(
        self, screen: Screen, Q: Any, rows: Places, radii: Floats, most: int | None = None, room: float = np.inf
    ) -> Lists:
        """Rows within a distance of some rows."""
        own = Q is None
        points = (self.X if own else Q)[rows]
        wide = radii * (1 + 4 * distance_rounding(self.X.shape[1]))
        parts: list[Lists] = []
        counts = self.tree.query_ball_point(points, wide, p=self.p, workers=lane_count(), return_length=True)
        taken, start = 0, 0
        while start < len(rows):
            go_on()
            ends = np.searchsorted(np.cumsum(counts[start:]), FETCHED, side="right")
            at = slice(start, start + max(1, int(ends)))
            found = self.tree.query_ball_point(points[at], wide[at], p=self.p, workers=lane_count())
            i = np.repeat(np.arange(len(found)), counts[at])
            j = np.concatenate([np.asarray(one, np.intp) for one in found]) if len(i) else np.zeros(0, np.intp)
            if own:
                other = rows[at][i] != j
                i, j = i[other], j[other]
            far = screen.exact(rows[at][i], j, np.zeros(0))
            near = far <= radii[at][i]
            parts.append(of_pairs(i[near], j[near], far[near], len(found), most))
            taken += 16 * len(parts[-1].indices)
            if taken > room:
                raise MemoryLimitError(
                    "lists of neighbours within the memory limit",
                    received=f"{taken / 1e6:,.0f} MB after {at.stop:,} of {len(rows):,} rows",
                    hint="a smaller radius, or k nearest rows instead; ties='row' keeps k of many equally near",
                )
            start = at.stop
        sizes = np.concatenate([part.counts for part in parts]) if parts else np.zeros(0, np.intp)
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        indices = np.concatenate([part.indices for part in parts]) if parts else np.zeros(0, np.intp)
        return Lists(indptr, indices, np.concatenate([part.distances for part in parts]) if parts else np.zeros(0))


def _without_self(far: Floats, where: Places, rows: Places) -> tuple[Floats, Places]:
    """Each row without its own number; where many copies hide it, without the last one."""
    own = where == rows[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(rows), where.shape[1] - 1)
    return far[~own].reshape(shape), where[~own].reshape(shape)
