"""Lengths of shortest paths through a graph, in tiles of rows, on all cores.

    g(i, j) = min over paths i = v₀, v₁, …, j of Σ w(vₛ, vₛ₊₁)      Dijkstra from every row, O(n (m + n log n)) in all

SciPy's ``dijkstra`` on the symmetric graph taken as directed: 1.7 ms a source at n = 10,000, 11 entries a row, 1.5 ms
with rows in the order of Cuthill and McKee, which puts neighbours next to each other in memory; undirected 3.6 ms. It
holds the interpreter lock, so other cores are used by other processes (joblib's, which need no guard in the caller's
script), each of which hands back the part right of the diagonal. The calling process computes its share, too.

A sum of h lengths is off by at most (h − 1)u of itself, and a path visits a row once: relative error ≤ n·u.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import go_on, lane_count
from ritz._core.tolerance import unit_roundoff
from ritz.operators.distances import ROWS, Squares, kept_bytes

__all__ = ["Geodesics", "lengths_from"]

Floats = NDArray[np.float64]

#: Rows times entries of the graph below which other processes are not worth their start (about 0.5 s each).
WORTH = 2e8


class Geodesics:
    """Geodesic distances of the nodes of a symmetric graph in one piece.

    Parameters
    ----------
    graph : (n, n) CSR of lengths
        Symmetric; stored zeros are edges of length 0.
    workers
        Processes; as many as cores if absent.
    """

    def __init__(self, graph: Any, workers: int | None = None) -> None:
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        plain = csr_matrix((graph.data, graph.indices.astype(np.int32), graph.indptr.astype(np.int32)), graph.shape)
        self.n = graph.shape[0]
        self.order = np.asarray(reverse_cuthill_mckee(plain, symmetric_mode=True), np.intp)
        self.place = np.argsort(self.order)
        self.graph = _permuted(plain, self.order, self.place)
        work = float(self.n) * max(graph.nnz, 1)
        self.workers = (lane_count() if work >= WORTH else 1) if workers is None else workers

    @property
    def relative(self) -> float:
        """How far a squared distance may be off, relative to itself."""
        return 2.0 * self.n * unit_roundoff(np.float64)

    def between(self, rows: NDArray[np.intp]) -> Floats:
        """Distances of some rows to all, (m, n), in the order of the rows given."""
        return _lengths(self.graph, self.place[rows])[:, self.place]

    def tiles(self) -> Iterator[tuple[int, Floats]]:
        """``(start, g²[start:stop, start:])`` in the order of Cuthill and McKee: ``order`` says which row is which."""
        starts = list(range(0, self.n, ROWS))
        if self.workers == 1 or len(starts) < 2:
            for start in starts:
                go_on()
                yield start, _tile(self.graph, start, min(start + ROWS, self.n))
            return
        yield from self._shared(starts)

    def _shared(self, starts: list[int]) -> Iterator[tuple[int, Floats]]:
        """Tiles of this process and of the others, as they come."""
        from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

        helpers = self.workers - 1
        with ProcessPoolExecutor(max_workers=helpers, initializer=_take, initargs=(self.graph,), timeout=60) as pool:
            waiting = list(starts)
            pending: list[tuple[int, Any]] = []
            while waiting or pending:
                while waiting and len(pending) < 2 * helpers:  # no more than are soon wanted: tiles wait in memory
                    start = waiting.pop(0)
                    pending.append((start, pool.submit(_of_worker, start, min(start + ROWS, self.n))))
                if waiting:
                    go_on()
                    start = waiting.pop(0)
                    yield start, _tile(self.graph, start, min(start + ROWS, self.n))
                else:
                    start, future = pending.pop(0)
                    yield start, future.result()
                done = [one for one in pending if one[1].done()]
                pending = [one for one in pending if one not in done]
                for start, future in done:
                    yield start, future.result()

    def squares(self, room: float) -> Squares:
        """As an operator takes them, in the order of ``order``; kept where they fit."""
        return Squares(self.n, self.tiles, keep=kept_bytes(self.n) <= 0.6 * room, relative=self.relative)


def _permuted(graph: Any, order: NDArray[np.intp], place: NDArray[np.intp]) -> Any:
    """Rows and columns in another order; stored zeros stay."""
    from scipy.sparse import csr_matrix

    taken = graph[order]
    made = csr_matrix((taken.data, place[taken.indices].astype(np.int32), taken.indptr), graph.shape)
    made.sort_indices()
    return made


def _lengths(graph: Any, rows: Any) -> Floats:
    from scipy.sparse.csgraph import dijkstra

    return np.atleast_2d(dijkstra(graph, directed=True, indices=rows))


def _tile(graph: Any, start: int, stop: int) -> Floats:
    """Squares right of the diagonal, symmetric to the last bit within the block."""
    tile = np.square(_lengths(graph, np.arange(start, stop))[:, start:])
    near = tile[:, : stop - start]
    near[...] = np.triu(near, 1) + np.triu(near, 1).T
    return tile


#: The graph of a process that was started for its tiles.
_graph: Any = None


def _take(graph: Any) -> None:
    global _graph
    _graph = graph


def _of_worker(start: int, stop: int) -> Floats:
    return _tile(_graph, start, stop)


def lengths_from(graph: Any, lists: Any, at: slice) -> Floats:
    """Distances of new rows, with these neighbours in the graph, to all its nodes: (m, n).

    New rows are nodes with edges to their neighbours and none back, so that no path leads through them.
    """
    from scipy.sparse import csr_matrix

    n, m = graph.shape[0], at.stop - at.start
    first, last = int(lists.indptr[at.start]), int(lists.indptr[at.stop])
    indptr = np.concatenate([graph.indptr, graph.indptr[-1] + lists.indptr[at.start + 1 : at.stop + 1] - first])
    data = np.concatenate([graph.data, lists.distances[first:last]])
    places = np.concatenate([graph.indices, lists.indices[first:last]])
    whole = csr_matrix((data, places.astype(np.int32), indptr.astype(np.int32)), (n + m, n + m))
    return _lengths(whole, np.arange(n, n + m))[:, :n]
