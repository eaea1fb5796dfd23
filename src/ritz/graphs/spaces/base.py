"""A space: rows, and the distance between any two of them.

    nearest(Q, k)   the k nearest rows of each row of Q, or of the rows themselves without one, where no row counts
    within(Q, r)    all rows at most r away

New rows are brought into the space by ``new``. What was searched how, and what is proved about it, is said in words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.graphs.lists import Lists
from ritz.graphs.search.collect import collect
from ritz.graphs.search.nearest import Nearest, nearest
from ritz.graphs.search.screen import Screen

__all__ = ["Mapped", "Space"]

Floats = NDArray[np.float64]

#: Rows of a tile from which distances of pairs are picked.
TILE = 64


class Space(ABC):
    """Rows with a distance; ``n`` is how many."""

    n: int
    #: What the distance is, how rows are searched and why, and what is proved; in words.
    distance: str = ""
    route: str = "blocks"
    reason: str = ""
    proof: str = ""
    #: How far a distance can be from the true one, relative to it; None where that is not known.
    rounding: float | None = None
    #: Rows as dense vectors whose Euclidean distances have the same order, or None.
    vectors: Any = None

    @abstractmethod
    def screen(self, Q: Any = None) -> Screen:
        """Keys of rows with themselves, or of new rows with them."""

    def new(self, X: Any) -> Any:
        """New rows as the space wants them."""
        return X

    def nearest(self, Q: Any, k: int, keep_ties: bool = False, room: float = np.inf) -> Nearest:
        """The k nearest rows of each; ``Q`` None: of the rows themselves, of which none is its own neighbour."""
        return nearest(self.screen(Q), k, Q is None, keep_ties, room)

    def within(self, Q: Any, radius: float, room: float = np.inf) -> Lists:
        """All rows at most ``radius`` away."""
        screen = self.screen(Q)
        rows = np.arange(screen.m)
        return collect(screen, rows, np.full(screen.m, float(radius)), Q is None, None, room).lists

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """Distances of rows ``rows[i]`` and ``cols[i]``, by tiles of some rows with all that they are compared with."""
        rows, cols, screen = np.asarray(rows, np.intp), np.asarray(cols, np.intp), self.screen()
        out, order = np.empty(len(rows)), np.argsort(rows, kind="stable")
        different, starts = np.unique(rows[order], return_index=True)
        ends = np.append(starts[1:], len(rows))
        for first in range(0, len(different), TILE):
            some = different[first : first + TILE]
            at = order[starts[first] : ends[min(first + TILE, len(different)) - 1]]
            low = int(cols[at].min())
            tile = screen.tile(some, slice(low, int(cols[at].max()) + 1))
            keys = tile[np.searchsorted(some, rows[at]), cols[at] - low]
            out[at] = screen.exact(rows[at], cols[at], keys)
        return out


class Mapped(Space):
    """A space whose distances are an increasing function of those of another one."""

    def __init__(
        self, inner: Space, forward: Callable[[Floats], Floats], back: Callable[[float], float], distance: str
    ) -> None:
        self.inner, self.forward, self.back, self.distance = inner, forward, back, distance
        self.n, self.route, self.reason = inner.n, inner.route, inner.reason
        self.proof, self.rounding, self.vectors = inner.proof, inner.rounding, inner.vectors

    def screen(self, Q: Any = None) -> Screen:
        """That of the inner space: its keys have the same order."""
        return self.inner.screen(Q)

    def new(self, X: Any) -> Any:
        """As the inner space wants them."""
        return self.inner.new(X)

    def nearest(self, Q: Any, k: int, keep_ties: bool = False, room: float = np.inf) -> Nearest:
        """The same rows at other distances."""
        found = self.inner.nearest(Q, k, keep_ties, room)
        return Nearest(self._mapped(found.lists), found.again, found.looked)

    def within(self, Q: Any, radius: float, room: float = np.inf) -> Lists:
        """The same rows at other distances."""
        found = self._mapped(self.inner.within(Q, self.back(float(radius)) * (1 + 2.0**-40), room))
        if not len(found.distances) or found.distances.max() <= radius:
            return found
        near = found.distances <= radius
        counts = np.bincount(found.rows[near], minlength=len(found))
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        return Lists(indptr, found.indices[near], found.distances[near])

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """Distances of pairs."""
        return self.forward(self.inner.pairs(rows, cols))

    def _mapped(self, lists: Lists) -> Lists:
        return Lists(lists.indptr, lists.indices, self.forward(lists.distances))
