"""Neighbours of new rows among those of a fit, as a graph of lengths takes them in.

x — j   where j is among the k nearest of x, or within the radius;   of given distances, the same among those
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.validate import room_for
from ritz.graphs.lists import Lists, of_pairs
from ritz.graphs.neighbours import NEIGHBOURS
from ritz.graphs.spaces.precomputed import refuse_bad
from ritz.graphs.spaces.resolve import space_of
from ritz.kernels.rows import is_sparse

__all__ = ["among", "entering", "of_one_part"]

Floats = NDArray[np.float64]


def entering(model: Any, rows: Any) -> Lists:
    """Neighbours of new rows of an :class:`ritz.Isomap` among the rows of its fit."""
    n = model.n_samples_
    k = None if model.radius is not None else int(model.n_neighbors or min(NEIGHBOURS, n - 1))
    if not (isinstance(model.metric, str) and model.metric == "precomputed"):
        space = space_of(model.metric, model._record.compared, model.metric_params, room_for(model))
        new = space.new(rows)
        if k is None:
            return space.within(new, float(model.radius or 0.0), room_for(model))
        return space.nearest(new, k, model.ties == "keep", room_for(model)).lists
    if is_sparse(rows):
        csr = rows.tocsr()
        refuse_bad(csr.data.reshape(1, -1), 0)
        at = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        return _nearest_of(at, csr.indices.astype(np.intp), np.asarray(csr.data, np.float64), csr.shape[0], model)
    D = np.asarray(rows, np.float64)
    refuse_bad(D, 0)
    every, cols = np.indices(D.shape)
    return _nearest_of(every.ravel(), cols.ravel(), D.ravel(), len(D), model)


def _nearest_of(rows: Any, cols: Any, far: Floats, m: int, model: Any) -> Lists:
    """The neighbours that a model means, of given distances."""
    if model.radius is not None:
        near = far <= float(model.radius)
        return of_pairs(rows[near], cols[near], far[near], m, None)
    every = of_pairs(rows, cols, far, m, None)
    if model.n_neighbors is None and is_sparse(model.graph_) and every.counts.max(initial=0) < model.n_samples_:
        return every  # stored edges are the graph
    k = int(model.n_neighbors or min(NEIGHBOURS, model.n_samples_ - 1))
    if model.ties == "row":
        return every.nearest(k)
    last = every.distances[every.indptr[:-1] + np.minimum(k, every.counts) - 1]
    near = every.distances <= last[every.rows]
    return of_pairs(every.rows[near], every.indices[near], every.distances[near], m, None)


def among(lists: Lists, nodes: NDArray[np.intp], n: int) -> Lists:
    """Neighbours that are nodes of the graph, by their places in it."""
    if len(nodes) == n:
        return lists
    place = np.full(n, -1, np.intp)
    place[nodes] = np.arange(len(nodes))
    there = place[lists.indices] >= 0
    return of_pairs(lists.rows[there], place[lists.indices[there]], lists.distances[there], len(lists), None)


def of_one_part(lists: Lists, part: NDArray[np.intp]) -> tuple[Lists, NDArray[np.intp]]:
    """Neighbours in the component of the nearest one, and that component, −1 without a neighbour."""
    some = lists.counts > 0
    home = np.full(len(lists), -1, np.intp)
    home[some] = part[lists.indices[lists.indptr[:-1][some]]]
    near = part[lists.indices] == home[lists.rows]
    return of_pairs(lists.rows[near], lists.indices[near], lists.distances[near], len(lists), None), home
