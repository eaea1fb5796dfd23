"""Nodes: the distinct rows of a fit with their neighbours, and the components that they fall into.

    rows (n) ↦ nodes (m ≤ n),  row i is node place[i], −1 where its component was left out

Rows at distance 0 of each other are one node. Otherwise more copies than neighbours would leave a row with neighbours
that say nothing of where it lies, and copies would be placed differently although nothing tells them apart.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ritz._core.errors import DisconnectedGraph, InputError, ParameterError
from ritz._core.warn import unsaid, warn
from ritz.data.words import counted
from ritz.graphs.lists import Lists
from ritz.graphs.neighbours import Neighbours, larger
from ritz.graphs.spaces.resolve import takes

__all__ = ["Nodes", "nodes_of", "picked", "require_neighbours", "say_apart"]

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Distinct rows, where each row of the fit went, and the fitted search."""

    rows: Any
    place: Places  # (n,)
    near: Any  # the fitted ``Neighbours``; None of a graph that was given
    labels: Places  # (m,) components, 0 the largest; all 0 where they were joined or left out

    @property
    def parts(self) -> list[Places]:
        """The nodes of every component, the largest first."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.labels))[:-1])

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.labels)


def nodes_of(rows: Any, disconnected: str, *, fewer: bool = False, **options: Any) -> Nodes:
    """Nodes and neighbours of rows; ``options`` are those of :class:`ritz.Neighbours`.

    ``fewer``: nobody asked for k, so that it may be less where there are not as many distinct rows.
    """
    metric = options["metric"]
    if options.get("k") is not None:
        require_neighbours(options["k"], rows.shape[0] if hasattr(rows, "shape") else len(rows))
    with unsaid(DisconnectedGraph):
        near = Neighbours(disconnected="apart", **options).fit(rows)
        place = _copies(near.neighbours_)
        if place is not None:
            first = np.unique(place, return_index=True)[1]
            if len(first) < 2:
                raise InputError("rows that differ", received=f"{len(place):,} copies of one row", hint="other rows")
            if options.get("k") is not None:
                options["k"] = min(options["k"], len(first) - 1) if fewer else options["k"]
                require_neighbours(options["k"], len(first), len(place))
            rows = picked(rows, first, metric)
            near = Neighbours(disconnected="apart", **options).fit(rows)
    n = len(near.neighbours_)
    place = np.arange(n) if place is None else place
    labels = near.component_labels_
    if near.n_connected_components_ == 1:
        return Nodes(rows, place, near, np.zeros(n, np.intp))
    if disconnected == "apart":
        say_apart(near)
        return Nodes(rows, place, near, labels)
    near = Neighbours(disconnected=disconnected, **options)
    near.size_word = "n_neighbors"
    near.fit(rows)  # joins, leaves out or refuses, and says so
    if disconnected == "largest":
        number = np.full(n, -1)
        number[near.rows_] = np.arange(len(near.rows_))
        rows, place = picked(rows, near.rows_, metric), number[place]
        with unsaid(DisconnectedGraph):
            near = Neighbours(disconnected="apart", **options).fit(rows)
        if near.n_connected_components_ > 1:  # neighbours of its rows lie in it, so this is one of equal distances
            raise InputError("a component that hangs together by itself", received="one that does not",
                             hint="disconnected='apart'")  # fmt: skip
        n = len(near.rows_)
    return Nodes(rows, place, near, np.zeros(n, np.intp))


def say_apart(near: Neighbours) -> None:
    """Warn of components of a graph that are embedded each by itself."""
    sizes = np.bincount(near.component_labels_)
    warn(
        f"the graph of neighbours has {counted(len(sizes), 'component')}, the largest of {sizes[0]:,} rows, the "
        f"smallest of {sizes[-1]:,}: each is embedded by itself, and axes of one say nothing about another\n"
        f"hint: {larger(near, 'n_neighbors')}",
        DisconnectedGraph,
    )


def picked(rows: Any, which: Places, metric: Any) -> Any:
    """Some of the rows: of distances also those columns."""
    if takes(metric) == "precomputed":
        return rows[which][:, which]
    return rows[which] if hasattr(rows, "shape") else [rows[i] for i in which]


def _copies(lists: Lists) -> Places | None:
    """Of each row the node that it becomes, nodes in the order of their first rows; None where no two are the same.

    Equally near rows are listed by row number, so that all copies list the first one, or one that does.
    """
    same = lists.distances == 0
    if not same.any():
        return None
    n = len(lists)
    pairs = coo_array((np.ones(int(same.sum())), (lists.rows[same], lists.indices[same])), shape=(n, n))
    labels = connected_components(pairs, directed=False)[1]
    first = np.unique(labels, return_index=True)[1]
    number = np.empty(len(first), np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return np.asarray(number[labels], np.intp)


def require_neighbours(k: Any, distinct: int, n: int | None = None) -> Any:
    """The number of neighbours, which ``distinct`` rows must have; refused otherwise."""
    if not isinstance(k, numbers.Integral) or isinstance(k, bool) or int(k) < 1:
        raise ParameterError("n_neighbors must be a whole number ≥ 1", received=repr(k), hint="n_neighbors=10")
    if int(k) > distinct - 1:
        rows = f"{distinct:,} rows" if n in (None, distinct) else f"{n:,} rows, of which {distinct:,} are distinct"
        raise ParameterError(
            f"n_neighbors must be at most {distinct - 1}, the number of other {'' if n is None else 'distinct '}rows",
            received=f"n_neighbors={k} of {rows}",
            hint=f"n_neighbors={distinct - 1}, or more rows" if distinct > 1 else "pass more rows",
        )
    return k
