"""Lengths of shortest paths through a graph, in tiles of rows, on all cores.

g(i, j) = min over paths i = v₀, v₁, …, j of Σ w(vₛ, vₛ₊₁)

by elimination (``elimination.py``)     f·n additions, f the fill: surfaces of few dimensions
by searches (``searches.py``)           one from each row, O(n (m + n log n)) in all: graphs that cannot be cut
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError
from ritz._core.progress import track
from ritz._core.threads import lane_count, run_lanes
from ritz.graphs.lists import Lists
from ritz.methods.manifold.elimination import Elimination, eliminated
from ritz.methods.manifold.searches import Searches, lengths
from ritz.operators.distances import Squares, kept_bytes
from ritz.spectral.constants import FILL_CUT
from ritz.spectral.smallest_plan import cut_of

__all__ = ["Geodesics", "Reached"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Rows times entries of the graph below which other processes are not worth their start (about 0.5 s each).
WORTH = 2e8
#: Seconds of an addition of the elimination, and of a search for each stored entry of the graph: measured at n = 10,000
#: and 50,000, where they are 1.3 ns and 17 to 19 ns.
ADDITION, ENTRY = 1.3e-9, 17e-9
#: Estimated fill, in units of what is worth it, up to which it is found out: estimates are off by a factor of two.
DOUBT = 2.0
#: Nodes up to which the calls of a small graph count; seconds then of taking out and putting back a node, of an
#: addition, and of a search for each node and each stored entry. Processor ms of both roads, 5 and 10 neighbours in d
#: dimensions: n = 200, d = 2: 10 and 6; 500, 2: 34 and 39; 500, 5: 77 and 37; 1,000, 3: 158 and 154; 1,000, 5: 350 and
#: 156; 2,000, 3: 546 and 652.
FEW = 3000
TAKEN, FEW_ADDITION, FEW_NODE, FEW_ENTRY = 45e-6, 1.8e-9, 75e-9, 6e-9
#: Sources of a tile of the elimination: enough to keep NumPy busy, few enough for what is added to stay in the cache.
SOURCES = 512
#: Share of the room that tiles on their way may take, and the sources of the least tile.
SHARE, LEAST = 0.4, 8
#: New rows from which on taking nodes out of the graph is worth its time: as long as some hundred searches.
MANY = 256


class Geodesics:
    """Geodesic distances of the nodes of a symmetric graph in one piece.

    Parameters
    ----------
    graph : (n, n) CSR of lengths
        Symmetric; stored zeros are edges of length 0.
    workers
        Threads, or processes; as many as cores if absent.
    road
        "elimination" or "searches"; the quicker one if absent.
    room
        Bytes that distances on their way may take.
    """

    def __init__(
        self, graph: Any, workers: int | None = None, *, road: str | None = None, room: float = np.inf
    ) -> None:  # fmt: skip
        from scipy.sparse import csr_matrix

        plain = csr_matrix((graph.data, graph.indices.astype(np.int32), graph.indptr.astype(np.int32)), graph.shape)
        plain.sort_indices()
        self.n, self.room = graph.shape[0], room
        lanes = lane_count() if workers is None else workers
        made = _by_elimination(plain, road)
        if made is None:
            worth = workers is not None or float(self.n) * max(graph.nnz, 1) >= WORTH
            self.road: Elimination | Searches = Searches(plain, lanes if worth else 1)
            self.seconds = ENTRY * graph.nnz * self.n / (lanes if worth else 1)
            self.lanes = 1
        else:
            self.road, self.lanes = made, lanes
            self.seconds = 0.5 * ADDITION * made.fill * self.n / lanes  # every pair once
        self.order, self.place = self.road.order, self.road.place

    @property
    def relative(self) -> float:
        """How far a squared distance may be off, relative to itself."""
        return 2.0 * self.road.relative

    def between(self, rows: Places) -> Floats:
        """Distances of some rows to all, (m, n), in the order of the rows given."""
        made = np.empty((len(rows), self.n))
        step = SOURCES if isinstance(self.road, Searches) else self._sources()
        starts = range(0, len(rows), step)
        groups = [list(starts)[i : i + self.lanes] for i in range(0, len(starts), self.lanes)]

        def work(start: int) -> None:
            at = slice(start, start + step)
            made[at] = self.road.lengths(self.place[rows[at]]).T[:, self.place]

        with track("geodesics", total=len(groups)) as done:
            for group in groups:
                run_lanes(work, group)
                done()
        return made

    def tiles(self) -> Iterator[tuple[int, Floats]]:
        """``(start, g²[start:stop, start:])`` in the order of the road: ``order`` says which row is which."""
        if isinstance(self.road, Searches):
            yield from self.road.tiles()
            return
        step = self._sources()
        starts = list(range(0, self.n, step))
        with track("geodesics", total=len(starts)) as done:
            for first in range(0, len(starts), self.lanes):
                group = starts[first : first + self.lanes]
                made = run_lanes(lambda start: self._tile(start, min(start + step, self.n)), group)[::-1]
                for start in group:
                    done()
                    yield start, made.pop()  # what nobody keeps is gone before the next are made

    def _tile(self, start: int, stop: int) -> Floats:
        """Squares right of the diagonal, symmetric to the last bit within the block."""
        assert isinstance(self.road, Elimination)  # noqa: S101  (for the type checker)
        D = self.road.lengths(np.arange(start, stop), start)
        tile = np.square(D, out=D).T
        near = tile[:, : stop - start]
        near[...] = np.triu(near, 1) + np.triu(near, 1).T
        return tile

    def _sources(self) -> int:
        """Sources of a tile of the elimination: as many as there is room for."""
        one = self.road.bytes_of(1) if isinstance(self.road, Elimination) else 16.0 * self.n
        fit = min(SHARE * self.room / (self.lanes * one), float(SOURCES))
        if fit < LEAST:
            needed = LEAST * self.lanes * one / SHARE
            error = MemoryLimitError(
                f"geodesics of {self.n:,} rows, {LEAST} rows at a time, need about {needed / 1e6:,.0f} MB",
                received=f"a limit of {self.room / 1e6:,.0f} MB", hint="a larger memory, or fewer rows",
            )  # fmt: skip
            error.least = needed
            raise error
        return int(fit)

    def squares(self, room: float) -> Squares:
        """As an operator takes them, in the order of ``order``; kept where they fit."""
        return Squares(self.n, self.tiles, keep=kept_bytes(self.n) <= 0.6 * room, relative=self.relative)


def _by_elimination(graph: Any, road: str | None) -> Elimination | None:
    """The graph with its nodes taken out, where that is the quicker road, or the one asked for."""
    if road == "searches":
        return None
    n, worth = graph.shape[0], np.inf
    if road is None:
        worth = _worth(n, graph.nnz)
        if worth <= 0 or graph.nnz / 4 + FILL_CUT * cut_of(graph, n) * n > DOUBT * worth:
            return None
    return eliminated(graph, worth)


def _worth(n: int, stored: int) -> float:
    """The fill up to which elimination is the quicker road."""
    if n > FEW:
        return ENTRY / ADDITION * stored
    return (FEW_NODE * n + FEW_ENTRY * stored - TAKEN) / FEW_ADDITION


class Lengths:
    """Geodesics between all rows of a map, for many rows that come after it.

    Parameters
    ----------
    tiles : of squares, as an operator kept them
    place : (n,) of each row among them
    """

    def __init__(self, tiles: list[tuple[int, Floats]], place: Places) -> None:
        self._tiles: list[tuple[int, Floats]] | None = tiles
        self._place, self._matrix = place, np.empty((0, 0))

    @classmethod
    def of(cls, graph: Any) -> Lengths:
        """Measured anew: the same numbers as those of a fit."""
        geodesics = Geodesics(graph)
        return cls(list(geodesics.tiles()), geodesics.place)

    def matrix(self) -> Floats:
        """(n, n), made of the tiles when it is first asked for."""
        tiles = self._tiles
        if tiles is not None:
            D = np.empty((len(self._place),) * 2)
            for start, tile in tiles:
                root = np.sqrt(tile)
                D[start : start + len(tile), start:] = root
                D[start:, start : start + len(tile)] = root.T
            self._matrix = D[np.ix_(self._place, self._place)]  # rows of which lie together
            self._tiles = None  # last: another thread may be here as well
        return self._matrix


class Reached:
    """Distances of new rows to all nodes of a graph, some new rows at a time.

    New rows are nodes with edges to their neighbours and none back, so that no path leads through them.

    Parameters
    ----------
    graph : (n, n) CSR of lengths
    lists
        Neighbours of the new rows among the nodes.
    known
        Distances between all nodes, where they are at hand.
    """

    def __init__(self, graph: Any, lists: Lists, known: Lengths | None = None) -> None:
        self.graph, self.lists = graph, lists
        self.known = None if known is None else known.matrix()
        self.road = _by_elimination(graph, None) if len(lists) >= MANY and known is None else None

    def __call__(self, at: slice) -> Floats:
        """(m, n) of some of them; infinite where there is no path."""
        lists, n, m = self.lists, self.graph.shape[0], at.stop - at.start
        edges = slice(int(lists.indptr[at.start]), int(lists.indptr[at.stop]))
        nodes, far = lists.indices[edges], lists.distances[edges]
        counts = lists.counts[at]
        if self.known is not None:
            made, ends = np.empty((m, n)), np.concatenate([[0], np.cumsum(counts)])
            for i, (first, last) in enumerate(itertools.pairwise(ends.tolist())):  # what one row needs stays in cache
                through = self.known.take(nodes[first:last], axis=0)
                through += far[first:last, None]
                np.minimum.reduce(through, axis=0, out=made[i], initial=np.inf)
            return made
        if self.road is not None:
            which = np.repeat(np.arange(m), counts)
            return self.road.spread(which, self.road.place[nodes], far, m).T[:, self.road.place]
        from scipy.sparse import csr_matrix

        indptr = np.concatenate([self.graph.indptr, self.graph.indptr[-1] + np.cumsum(counts)])
        data = np.concatenate([self.graph.data, far])
        places = np.concatenate([self.graph.indices, nodes])
        whole = csr_matrix((data, places.astype(np.int32), indptr.astype(np.int32)), (n + m, n + m))
        return lengths(whole, np.arange(n, n + m))[:, :n]
