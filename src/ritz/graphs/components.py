"""Graphs that fall apart: their components, and the shortest links that make one graph of them.

    links = minimum spanning tree of the components, whose distance is that of their nearest rows              [Bor26]

Each round, every component but the largest is linked to the nearest row outside; components at least halve in
number. The nearest row outside is found among all, with the proof of the screen, not among the neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.threads import go_on
from ritz.graphs.graph import Edges
from ritz.graphs.search.collect import COLS, ROWS
from ritz.graphs.search.screen import Screen
from ritz.graphs.spaces.base import Mapped, Space

__all__ = ["Links", "components_of", "shortest_links"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Links:
    """Edges that join components: rows ``i`` and ``j``, and their distances."""

    i: Places
    j: Places
    distances: Floats

    def __len__(self) -> int:
        return len(self.i)


def components_of(edges: Edges) -> tuple[int, Places]:
    """How many components, and of each row its component; 0 is the largest, equal ones by their first row."""
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(edges.to_csr(np.ones(len(edges))), directed=False)
    if count == 1:
        return 1, np.zeros(edges.n, np.intp)
    sizes = np.bincount(labels, minlength=count)
    first = np.full(count, edges.n)
    np.minimum.at(first, labels, np.arange(edges.n))
    order = np.lexsort((first, -sizes))
    number = np.empty(count, np.intp)
    number[order] = np.arange(count)
    return int(count), number[labels]


def shortest_links(space: Space, labels: Places) -> Links:
    """The shortest links that join all components of the rows of a space."""
    screen, labels = space.screen(), labels.copy()
    i: list[int] = []
    j: list[int] = []
    far: list[float] = []
    while labels.max(initial=0) > 0:
        for a, b, distance in _nearest_outside(screen, labels):
            if labels[a] != labels[b]:  # two components may have chosen each other
                i.append(a)
                j.append(b)
                far.append(distance)
                labels[labels == labels[b]] = labels[a]
        labels = _numbered(labels)
    distances = np.array(far)
    while isinstance(space, Mapped):
        distances, space = space.forward(distances), space.inner
    return Links(np.array(i, np.intp), np.array(j, np.intp), distances)


def _numbered(labels: Places) -> Places:
    """Labels 0, 1, …, the largest component first."""
    _, labels = np.unique(labels, return_inverse=True)
    order = np.argsort(-np.bincount(labels), kind="stable")
    number = np.empty(len(order), np.intp)
    number[order] = np.arange(len(order))
    return np.asarray(number[labels])


def _nearest_outside(screen: Screen, labels: Places) -> list[tuple[int, int, float]]:
    """For each component but the largest its shortest link to another one: (row, row outside, distance)."""
    rows = np.flatnonzero(labels > 0)
    least, cols = np.full(len(rows), np.inf), np.zeros(len(rows), np.intp)
    for at, some, keys, start in _outside(screen, rows, labels):
        place = keys.argmin(axis=1)
        smallest = keys[np.arange(len(some)), place]
        better = smallest < least[at]
        least[at] = np.where(better, smallest, least[at])
        cols[at] = np.where(better, place + start, cols[at])
    known = np.isfinite(least)
    lost = np.setdiff1d(np.unique(labels[rows]), labels[rows[known]])
    if len(lost):
        raise InputError(
            "components can be joined only by distances that are known",
            received=f"a graph in which {np.count_nonzero(labels == lost[0])} rows have no stored distance to others",
            hint="store more distances, or disconnected='apart' or 'largest'",
        )
    upper = np.full(int(labels.max()) + 1, np.inf)
    np.minimum.at(upper, labels[rows[known]], screen.exact(rows[known], cols[known], least[known]))
    again = rows[known][least[known] <= screen.reach(rows[known], upper[labels[rows[known]]])]
    best: dict[int, tuple[float, int, int]] = {}
    for _, some, keys, start in _outside(screen, again, labels):
        a, b = np.nonzero(keys <= screen.reach(some, upper[labels[some]])[:, None])
        finite = np.isfinite(keys[a, b])
        a, b = a[finite], b[finite]
        distances = screen.exact(some[a], b + start, keys[a, b])
        for row, col, distance in zip(some[a].tolist(), (b + start).tolist(), distances.tolist(), strict=True):
            one = int(labels[row])
            best[one] = min(best.get(one, (np.inf, 0, 0)), (distance, row, col))
    return [(row, col, distance) for distance, row, col in sorted(best.values())]


def _outside(screen: Screen, rows: Places, labels: Places) -> Iterator[tuple[slice, Places, Floats, int]]:
    """Blocks of keys in which the keys within a component are infinite: place, rows, keys, first column."""
    for first in range(0, len(rows), ROWS):
        at = slice(first, min(first + ROWS, len(rows)))
        for start in range(0, screen.n, COLS):
            go_on()
            cols = slice(start, min(start + COLS, screen.n))
            keys = np.asarray(screen.tile(rows[at], cols), np.float64)
            keys[labels[rows[at], None] == labels[cols]] = np.inf
            yield at, rows[at], keys, start
