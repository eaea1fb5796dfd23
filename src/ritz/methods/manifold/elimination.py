"""Shortest paths by elimination: nodes are taken out of a graph one by one, and put back with their distances.

    out    i = 1 … n    w(u, v) ← min(w(u, v), w(u, i) + w(i, v))       u, v ∈ A(i), the neighbours of i that are left
    up     from source j, along its ancestors i:        d(u) ← min(d(u), w(i, u) + d(i))                     u ∈ A(i)
    down   i = n … 1                                    d(i) ← min(d(i), min over u ∈ A(i) of w(i, u) + d(u))

Taking i out leaves the distances of the others as they are, and a shortest path from i to one of them leads through
A(i). It is the elimination of Gauss with (min, +) for (+, ×), with the same fill f = Σ|A(i)|: f·n additions for all
pairs, each for many sources at a time [Car71; PWK12]. On a surface of two dimensions f ≈ 25·n at n = 10,000:
0.3 ms a source where Dijkstra's search takes 2 ms. Where a graph cannot be cut, in many dimensions, f is too large.

An addition rounds by u of its sum. No length passes through more than 3h of them, h the height of the tree of
ancestors: relative error ≤ 3(h + 1)u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import go_on
from ritz._core.tolerance import unit_roundoff

__all__ = ["Elimination", "eliminated"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Front:
    """Nodes first … last − 1, taken out one after the other, that have the same neighbours left beside each other."""

    first: int
    last: int
    beyond: Places  # A(last − 1)
    weights: list[Floats]  # of node first + t: to ``beyond``, then to last − 1, …, first + t + 1; (f, 1) each


class Elimination:
    """A graph whose nodes were taken out: distances from any of them.

    Attributes
    ----------
    order : (n,) the node that was taken out i-th
    place : (n,) when each node was taken out
    fill : Σ|A(i)|
    relative : how far a distance may be off, relative to itself
    """

    words = "by taking nodes out of the graph"

    def __init__(self, order: Places, parent: Places, fronts: list[_Front], fill: int) -> None:
        self.order, self.parent, self.fronts, self.fill = order, parent, fronts, fill
        self.n = len(order)
        self.place = np.empty(self.n, np.intp)
        self.place[order] = np.arange(self.n)
        self.relative = 3.0 * (_height(parent) + 1) * unit_roundoff(np.float64)
        self._widest = max((len(one.beyond) + one.last - one.first for one in fronts), default=0)

    def bytes_of(self, many: int) -> float:
        """What distances from so many sources take while they are made."""
        return 8.0 * many * (self.n + 2 * self._widest + 2)

    def lengths(self, sources: Places, least: int = 0) -> Floats:
        """Distances (n − least, m) of nodes to m sources; nodes and sources by when they were taken out.

        Sources are taken out no sooner than ``least``, nor are these nodes: paths between them need no others.
        """
        return self.spread(np.arange(len(sources)), sources, np.zeros(len(sources)), len(sources), least)

    def spread(self, which: Places, nodes: Places, far: Floats, many: int, least: int = 0) -> Floats:
        """Distances (n, m) of nodes to m new ones, of which ``which[e]`` has an edge ``far[e]`` to ``nodes[e]``."""
        D = np.full((self.n - least, many), np.inf)
        np.minimum.at(D, (nodes - least, which), far)
        above = self._ancestors(nodes)
        self._up(D, above, least)
        self._down(D, above, least)
        return D

    def _ancestors(self, sources: Places) -> NDArray[np.bool_]:
        parent, met = self.parent.tolist(), bytearray(self.n)
        for i in sources.tolist():
            while i >= 0 and not met[i]:
                met[i] = 1
                i = parent[i]
        return np.frombuffer(met, np.uint8).astype(bool)

    def _up(self, D: Floats, above: NDArray[np.bool_], least: int) -> None:
        for one in self.fronts:
            for i in range(one.first, one.last):
                if above[i]:
                    at = np.concatenate([one.beyond, np.arange(one.last - 1, i, -1)]) - least
                    D[at] = np.minimum(D[at], one.weights[i - one.first] + D[i - least])

    def _down(self, D: Floats, above: NDArray[np.bool_], least: int) -> None:
        shape = (self._widest + 1, D.shape[1])
        near, sums = np.empty(shape), np.empty(shape)
        for number, one in enumerate(reversed(self.fronts)):
            if number % 256 == 0:
                go_on()
            if one.last <= least:
                break
            have = len(one.beyond)
            np.take(D, one.beyond - least, axis=0, out=near[:have], mode="clip")  # "raise" would copy
            for i in range(one.last - 1, max(one.first, least) - 1, -1):
                row = near[have]
                if have == 0:
                    row[...] = D[i - least]
                else:
                    np.add(near[:have], one.weights[i - one.first], out=sums[:have])
                    np.minimum.reduce(sums[:have], axis=0, out=row)
                    if above[i]:
                        np.minimum(row, D[i - least], out=row)
                    D[i - least] = row
                have += 1


def eliminated(graph: Any, most: float) -> Elimination | None:
    """Take all nodes out of a symmetric CSR graph of lengths; None where the fill would exceed ``most``."""
    order = _minimum_degree(graph)
    rows = _later(graph, order)
    left, parent = _neighbours_left(*rows[:2], most)
    if left is None:
        return None
    turned = _depth_first(parent)  # a branch after the other: what is read again was read a moment ago
    place = np.empty(len(turned), np.intp)
    place[turned] = np.arange(len(turned))
    order = order[turned]
    left = [place[left[i]] for i in turned]
    parent = np.where(parent[turned] >= 0, place[parent[turned]], -1)
    fill = sum(len(one) for one in left)
    return Elimination(order, parent, _fronts(_later(graph, order), left, parent), fill)


def _minimum_degree(graph: Any) -> Places:
    """Nodes in the order of minimum degree, as SuperLU takes them out of the Laplacian."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    n = graph.shape[0]
    ones = csc_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    matrix = csc_array(diags_array(np.diff(graph.indptr) + 1.0) - ones) if n > 1 else csc_array(np.ones((1, 1)))
    factor = splu(
        matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )  # fmt: skip
    return np.argsort(factor.perm_c).astype(np.intp)


def _later(graph: Any, order: Places) -> tuple[Places, Places, Floats]:
    """Edges of each node to those that are taken out after it: CSR in that order."""
    n = len(order)
    place = np.empty(n, np.intp)
    place[order] = np.arange(n)
    i = place[np.repeat(np.arange(n), np.diff(graph.indptr))]
    j = place[graph.indices]
    later = np.flatnonzero(i < j)
    later = later[np.lexsort((j[later], i[later]))]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(i[later], minlength=n))]).astype(np.intp)
    return indptr, j[later], np.asarray(graph.data, np.float64)[later]


def _neighbours_left(indptr: Places, indices: Places, most: float) -> tuple[list[Places] | None, Places]:
    """A(i), and the first of them to be taken out: the parent of i in the tree of ancestors, −1 of a root."""
    n = len(indptr) - 1
    left: list[Places] = []
    parent = np.full(n, -1, np.intp)
    children: list[list[int]] = [[] for _ in range(n)]
    total = 0
    for i in range(n):
        own = indices[indptr[i] : indptr[i + 1]]
        if children[i]:
            own = np.unique(np.concatenate([own, *(left[c][1:] for c in children[i])]))
        left.append(own)
        if len(own):
            parent[i] = own[0]
            children[int(own[0])].append(i)
        total += len(own)
        if total > most:
            return None, parent
    return left, parent


def _depth_first(parent: Places) -> Places:
    """Nodes of a forest, children before their parents, each branch in one piece."""
    n = len(parent)
    children: list[list[int]] = [[] for _ in range(n + 1)]
    for i, above in enumerate(parent.tolist()):
        children[above if above >= 0 else n].append(i)
    made: list[int] = []
    waiting = children[n][:]
    while waiting:  # parents first, to be turned round
        i = waiting.pop()
        made.append(i)
        waiting.extend(children[i])
    return np.array(made[::-1], np.intp)


def _height(parent: Places) -> int:
    depth = np.zeros(len(parent), np.intp)
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] >= 0:
            depth[i] = depth[parent[i]] + 1
    return int(depth.max(initial=0)) + 1


def _fronts(rows: tuple[Places, Places, Floats], left: list[Places], parent: Places) -> list[_Front]:
    """The weights that are left when each node is taken out.

    Nodes of which each is the parent of the one before, and has one neighbour less left, are taken out of one dense
    matrix of their neighbours; what that leaves is handed to the front of the next.
    """
    indptr, indices, data = rows
    n = len(left)
    count = np.array([len(one) for one in left], np.intp)
    same = (parent[:-1] == np.arange(1, n)) & (count[:-1] == count[1:] + 1)
    starts = np.flatnonzero(np.append(True, ~same))
    ends = np.append(starts[1:], n)
    front_of = np.repeat(np.arange(len(starts)), ends - starts)
    handed: list[list[tuple[Places, Floats]]] = [[] for _ in starts]
    made = []
    for number, (first, last) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        if number % 256 == 0:
            go_on()
        m, nodes = last - first, np.concatenate([[first], left[first]])
        F = np.full((len(nodes), len(nodes)), np.inf)
        for t in range(m):
            at = slice(indptr[first + t], indptr[first + t + 1])
            where = np.searchsorted(nodes, indices[at])
            F[t, where] = F[where, t] = data[at]
        for some, lengths in handed[number]:
            where = np.searchsorted(nodes, some)
            square = np.ix_(where, where)
            F[square] = np.minimum(F[square], lengths)
        handed[number] = []
        for t in range(m):
            row, rest = F[t, t + 1 :], F[t + 1 :, t + 1 :]
            np.minimum(rest, row[:, None] + row, out=rest)
        weights = [np.concatenate([F[t, m:], F[t, t + 1 : m][::-1]])[:, None] for t in range(m)]
        made.append(_Front(first, last, nodes[m:], weights))
        if len(nodes) > m:
            handed[front_of[nodes[m]]].append((nodes[m:], F[m:, m:].copy()))
    return made
