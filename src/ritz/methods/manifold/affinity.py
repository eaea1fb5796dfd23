"""New rows among the nodes of a graph: whom they are joined to, and how heavily.

    any    x — j   where j is among the k nearest of x, or x nearer to j than the last of j's neighbours
    both   where each is           radius   where x and j are at most so far apart

A row of the fit is joined to the nodes that it is joined to in the graph, so that the formula that extends an
eigenvector gives back its own coordinates. Weights are kept as logarithms: of rows far away all would vanish.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ritz.graphs.graph import SELF_TUNING, local_scales
from ritz.graphs.lists import Lists, of_pairs
from ritz.graphs.spaces.base import Space

__all__ = ["joined", "log_weights", "reaches", "shares"]

Floats = NDArray[np.float64]


def reaches(lists: Lists) -> Floats:
    """The distance of each node to the last of its neighbours, (m,)."""
    last = np.zeros(len(lists))
    some = lists.counts > 0
    last[some] = lists.distances[lists.indptr[1:][some] - 1]
    return last


def joined(
    space: Space, Q: Any, k: int | None, radius: float | None, graph: str, reach: Floats, room: float
) -> tuple[Lists, Lists]:
    """Nodes that new rows are joined to, and the lists of their own neighbours."""
    if k is None:
        own = space.within(Q, float(radius or 0.0), room)
        return own, own
    own = space.nearest(Q, min(k, len(reach)), False, room).lists
    if graph == "both":
        keep = own.distances <= reach[own.indices]
        return of_pairs(own.rows[keep], own.indices[keep], own.distances[keep], len(own)), own
    wide = space.within(Q, float(reach.max()), room)
    keep = wide.distances <= reach[wide.indices]
    rows = np.concatenate([own.rows, wide.rows[keep]])
    nodes = np.concatenate([own.indices, wide.indices[keep]])
    far = np.concatenate([own.distances, wide.distances[keep]])
    first = np.unique(rows.astype(np.int64) * len(reach) + nodes, return_index=True)[1]
    return of_pairs(rows[first], nodes[first], far[first], len(own)), own


def log_weights(lists: Lists, own: Lists, weights: str, scale: Any, spread: Floats | None) -> Floats:
    """Logarithms of the weights of the edges."""
    if weights == "connectivity":
        return np.zeros(len(lists.distances))
    if weights == "heat" or spread is None:
        return -np.square(lists.distances) / float(scale)
    sigma = local_scales(own, SELF_TUNING if scale is None else int(scale))
    return -(lists.distances / sigma[lists.rows]) * (lists.distances / spread[lists.indices])


def shares(lists: Lists, logs: Floats, m: int) -> Any:
    """Weights as shares of those of their row, CSR (rows, m)."""
    most = np.full(len(lists), -np.inf)
    np.maximum.at(most, lists.rows, logs)
    w = np.exp(logs - most[lists.rows])
    total = np.bincount(lists.rows, w, len(lists))
    return csr_array((w / total[lists.rows], lists.indices, lists.indptr), shape=(len(lists), m))
