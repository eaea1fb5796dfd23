"""How many neighbours, or how large a radius: the smallest that connects, and what each choice does.

smallest radius that connects  =  the longest edge of the minimum spanning tree
smallest k that connects       by halving: a graph of more neighbours has all edges of one of fewer
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.memory import limit
from ritz._core.tabular import Tabular
from ritz._core.warn import unsaid
from ritz.graphs.components import components_of, shortest_links
from ritz.graphs.graph import Edges, edges_of
from ritz.graphs.lists import Lists
from ritz.graphs.spaces.base import Space
from ritz.insight.calls import asked
from ritz.insight.embedding.dimension import checked
from ritz.insight.embedding.quality import EmbeddingQuality, embedding_quality

__all__ = ["NeighbourhoodSizes", "neighbourhood_sizes"]

Floats = NDArray[np.float64]

#: Numbers of neighbours that are tried, as far as there are rows; and where the search for one that connects ends.
SIZES, MOST = (5, 8, 12, 20, 30, 50), 512
#: Columns of the table that count.
COUNTS = ("k", "components", "neighbours", "alone")


@dataclass(frozen=True, repr=False)
class NeighbourhoodSizes(Tabular):
    """What each number of neighbours does to the graph, and to the picture.

    Attributes
    ----------
    connects_k : the fewest neighbours whose graph is connected; None where 512 do not do
    connects_radius : the smallest radius whose graph is connected, exactly
    table : dict of arrays, one entry a size: "k", "components", "largest" (share of the rows in the largest component),
        "mutual" (share of neighbours that are so both ways), "radius" (median distance to the k-th neighbour),
        "dimension" (intrinsic dimension by maximum likelihood); with ``embed`` also "trustworthiness", "continuity",
        "lcmc"
    qualities : the quality of each size (:func:`ritz.insight.embedding_quality`), with ``embed``
    suggested : the size with the largest LCMC, with ``embed``; the fewest that connects otherwise
    suggested_radius : the same of radii, where those were tried; then ``table`` has an entry for each of them:
        "radius", "components", "largest", "neighbours" (median number within the radius), "alone" (rows without any)
    """

    connects_k: int | None
    connects_radius: float
    table: dict[str, Floats]
    qualities: list[EmbeddingQuality]
    suggested: int | None
    suggested_radius: float | None = None

    def __repr__(self) -> str:
        names = list(self.table)
        shown = [[f"{value:.6g}" if name in COUNTS else f"{value:.3f}" for value in self.table[name]] for name in names]
        widths = [max(len(name), *(len(cell) for cell in column)) for name, column in zip(names, shown, strict=True)]
        lines = ["  ".join(name.rjust(width) for name, width in zip(names, widths, strict=True))]
        lines += [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in zip(*shown, strict=True)
        ]
        least = f"k = {self.connects_k}" if self.connects_k is not None else f"more than {MOST} neighbours"
        lines.append(f"connected from {least} or radius {self.connects_radius:.4g} on")
        if self.suggested is not None:
            why = "the best LCMC" if self.qualities else "the fewest that connect"
            lines.append(f"suggested: k = {self.suggested}, {why}")
        if self.suggested_radius is not None:
            why = "the best LCMC" if self.qualities else "the smallest that connects"
            lines.append(f"suggested: radius = {self.suggested_radius:.6g}, {why}")
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        return self.table


@asked
def neighbourhood_sizes(
    X: Any, sizes: Sequence[int] | None = None, *, radii: Sequence[float] | None = None,
    embed: Callable[[Any], Any] | None = None, quality_k: int | None = None, metric: Any = "euclidean",
    memory: Any = None,
) -> NeighbourhoodSizes:  # fmt: skip
    """Try numbers of neighbours side by side, and find the smallest that connect all rows.

    Parameters
    ----------
    X : (n, d) rows
        As of :class:`ritz.Neighbours`.
    sizes : sequence of int, optional
        Numbers of neighbours to try; 5, 8, 12, 20, 30, 50 if absent.
    radii : sequence of float, optional
        Radii to try instead.
    embed : callable, optional
        From a number of neighbours, or a radius, to coordinates (n, p): each picture is then measured by
        :func:`ritz.insight.embedding_quality`.
    quality_k : int, optional
        Neighbours that the pictures are measured with, the same for all.
    metric : str, kernel or callable
        What is near.
    memory : str, int or None
        Memory limit.

    Examples
    --------
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> insight.neighbourhood_sizes(load_iris().data, [5, 10, 20])
     k  components  largest  mutual  radius  dimension
     5           2    0.667   0.640   0.387      3.482
    10           2    0.667   0.684   0.520      3.177
    20           2    0.667   0.743   0.686      2.676
    connected from k = 25 or radius 1.64 on
    suggested: k = 25, the fewest that connect
    >>> insight.neighbourhood_sizes(load_iris().data, radii=[0.5, 1.0, 2.0])
    radius  components  largest  neighbours  alone
     0.500          12    0.560           8      6
     1.000           2    0.667          37      0
     2.000           1    1.000        70.5      0
    connected from k = 25 or radius 1.64 on
    suggested: radius = 1.64012, the smallest that connects
    """
    from ritz.graphs.spaces.resolve import space_of

    rows = checked(X, metric)
    space = space_of(metric, rows, None, limit(memory))
    n = space.n
    if radii is not None:
        return _of_radii(X, space, radii, sizes, embed, quality_k, metric, memory)
    tried = sorted({int(size) for size in (SIZES if sizes is None else sizes) if 1 <= int(size) < n}) or [n - 1]
    least, lists = _fewest(space, max(tried))
    table: dict[str, list[float]] = {
        name: [] for name in ("k", "components", "largest", "mutual", "radius", "dimension")
    }
    qualities = []
    for k in tried:
        for name, value in _row(lists.nearest(k), k, n).items():
            table[name].append(value)
        if embed is not None:
            with unsaid():
                qualities.append(embedding_quality(X, embed(k), quality_k, metric=metric, memory=memory))
    for name in ("trustworthiness", "continuity", "lcmc") if qualities else ():
        table[name] = [float(getattr(one, name)) for one in qualities]
    suggested = tried[int(np.argmax(table["lcmc"]))] if qualities else least
    arrays = {name: np.array(values) for name, values in table.items()}
    return NeighbourhoodSizes(least, _connecting_radius(space, lists), arrays, qualities, suggested)


def _of_radii(
    X: Any, space: Space, radii: Sequence[float], sizes: Any, embed: Any, quality_k: Any, metric: Any, memory: Any
) -> NeighbourhoodSizes:  # fmt: skip
    """Radii side by side."""
    tried = sorted({float(radius) for radius in radii})
    if sizes is not None or not tried or not 0 < tried[0] <= tried[-1] < np.inf:
        raise ParameterError("sizes, or radii that are numbers > 0", received=f"sizes={sizes!r}, radii={radii!r}",
                             hint="radii=[0.5, 1.0]")  # fmt: skip
    least, lists = _fewest(space, 8)
    connects, wide = _connecting_radius(space, lists), space.within(None, tried[-1], limit(memory))
    table: dict[str, list[float]] = {name: [] for name in ("radius", "components", "largest", "neighbours", "alone")}
    qualities = []
    for radius in tried:
        near = wide.distances <= radius
        counts = np.bincount(wide.rows[near], minlength=space.n)
        ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        pairs = Lists(ends, wide.indices[near], wide.distances[near])
        count, labels = components_of(edges_of(pairs))
        alone = float(np.count_nonzero(counts == 0))
        row = (radius, float(count), float(np.mean(labels == 0)), float(np.median(counts)), alone)
        for name, value in zip(table, row, strict=True):
            table[name].append(value)
        if embed is not None:
            with unsaid():
                qualities.append(embedding_quality(X, embed(radius), quality_k, metric=metric, memory=memory))
    for name in ("trustworthiness", "continuity", "lcmc") if qualities else ():
        table[name] = [float(getattr(one, name)) for one in qualities]
    best = tried[int(np.argmax(table["lcmc"]))] if qualities else connects
    return NeighbourhoodSizes(least, connects, {name: np.array(v) for name, v in table.items()}, qualities, None, best)


def _row(lists: Lists, k: int, n: int) -> dict[str, float]:
    edges = edges_of(lists)
    count, labels = components_of(edges)
    T = lists.distances.reshape(n, k)
    some = T[:, 0] > 0
    dimension = np.nan
    if k >= 3 and some.sum() > k and np.log(T[some, -1:] / T[some, :-1]).sum() > 0:
        dimension = float(1 / np.mean(np.log(T[some, -1:] / T[some, :-1]).sum(axis=1) / (k - 1)))
    return {
        "k": k, "components": count, "largest": float(np.mean(labels == 0)), "mutual": 2 - len(edges) * 2 / (n * k),
        "radius": float(np.median(T[:, -1])), "dimension": dimension,
    }  # fmt: skip


def _fewest(space: Space, at_least: int) -> tuple[int | None, Lists]:
    """The fewest neighbours that connect all rows, and lists of at least so many."""
    n = space.n
    size = min(max(at_least, 8), n - 1)
    lists = space.nearest(None, size).lists
    while components_of(edges_of(lists))[0] > 1:
        if size >= min(MOST, n - 1):
            return None, lists
        size = min(2 * size, n - 1, max(MOST, at_least))
        lists = space.nearest(None, size).lists
    low, high = 0, size  # the first does not connect, the second does
    while high - low > 1:
        middle = (low + high) // 2
        if components_of(edges_of(lists.nearest(middle)))[0] > 1:
            low = middle
        else:
            high = middle
    return high, lists


def _connecting_radius(space: Space, lists: Lists) -> float:
    """The longest edge of the minimum spanning tree: below it some row has no neighbour, or a gap stays open."""
    first = lists.nearest(1).distances
    start = float(first.max(initial=0.0))  # every row must have a neighbour
    edges = edges_of(lists)
    near = edges.distances <= start
    count, labels = components_of(Edges(edges.n, edges.i[near], edges.j[near], edges.distances[near]))
    return start if count == 1 else max(start, float(shortest_links(space, labels).distances.max()))
