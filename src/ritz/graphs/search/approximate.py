"""Approximate neighbours by a graph library, and what share of the true ones it found.        [DML11], [MY20]

    recall of row i  r_i = |found ∩ true| / k          mean r̄ of m rows drawn at random, searched exactly

    {p : m·KL(r̄ ‖ p) ≤ log(2/α)} holds the recall of all rows with probability 1 − α                         [Hoe63]

The interval assumes nothing: it holds for any shares between 0 and 1, and for rows drawn without replacement. A tied
neighbour counts as found, whichever of the tied rows it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MissingDependency, ParameterError
from ritz._core.imports import module_of
from ritz._core.threads import lane_count
from ritz.graphs.lists import Lists, of_pairs
from ritz.graphs.search.nearest import merged
from ritz.graphs.spaces.base import Space

__all__ = ["LIBRARIES", "Measured", "approximate", "interval_of", "measured_recall"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LIBRARIES = ("pynndescent", "hnswlib")
#: Rows that are searched exactly to measure the recall, and one minus the confidence of its interval.
SAMPLED, ALPHA = 200, 0.05
#: Neighbours that a library is asked for beyond k: the row itself, and one that rounding may put last.
BEYOND = 2
#: hnswlib: edges of a node, and how many nodes are looked at while it is built.
HNSW_EDGES, HNSW_BUILD = 16, 200

Measured = tuple[float, tuple[float, float], int]


def library_of(asked: str) -> str:
    """The library to use: the one asked for, or the first that is installed."""
    from importlib.util import find_spec

    if asked != "auto" and asked not in LIBRARIES:
        raise ParameterError(f"library must be auto, {' or '.join(LIBRARIES)}", received=repr(asked))
    names = LIBRARIES if asked == "auto" else (asked,)
    for name in names:
        if find_spec(name) is not None:
            return name
    raise MissingDependency(
        f"approximate neighbours need {' or '.join(names)}", hint="pip install 'ritz[neighbours]', or exact=True"
    )


def approximate(space: Space, k: int, library: str, seed: int) -> tuple[Lists, str]:
    """Neighbours by a library, with distances in float64; and its name."""
    name = library_of(library)
    X = space.vectors
    ask = min(k + BEYOND, space.n)
    # Far from 0 float32 would keep no digits of the differences.
    Z = np.ascontiguousarray(X - X.mean(axis=0, dtype=np.float64), dtype=np.float32)
    found = _descent(Z, ask, seed) if name == "pynndescent" else _hnsw(Z, ask, seed)
    rows = np.repeat(np.arange(space.n), found.shape[1])
    cols = found.reshape(-1).astype(np.intp)
    real = (cols >= 0) & (cols != rows)
    rows, cols = np.divmod(np.unique(rows[real] * space.n + cols[real]), space.n)  # each pair once
    lists = of_pairs(rows, cols, space.pairs(rows, cols), space.n, k)
    few = np.flatnonzero(lists.counts < k)
    return (_completed(space, lists, few, k) if len(few) else lists), name


def _completed(space: Space, lists: Lists, rows: Places, k: int) -> Lists:
    """Lists in which some rows, of which the library found too few neighbours, have all of them."""
    found = space.nearest(space.vectors[rows], min(k + 1, space.n)).lists
    other = found.indices != rows[found.rows]
    return merged(lists, rows, of_pairs(found.rows[other], found.indices[other], found.distances[other], len(rows), k))


def _descent(Z: NDArray[Any], ask: int, seed: int) -> NDArray[Any]:
    index = module_of("pynndescent").NNDescent(
        Z, n_neighbors=ask, metric="euclidean", random_state=seed, n_jobs=lane_count()
    )
    return np.asarray(index.neighbor_graph[0])


def _hnsw(Z: NDArray[Any], ask: int, seed: int) -> NDArray[Any]:
    index = module_of("hnswlib").Index(space="l2", dim=Z.shape[1])
    index.init_index(max_elements=len(Z), ef_construction=HNSW_BUILD, M=HNSW_EDGES, random_seed=seed)
    index.set_num_threads(lane_count())
    index.add_items(Z)
    index.set_ef(max(4 * ask, 64))
    return np.asarray(index.knn_query(Z, k=ask)[0], np.intp)


def measured_recall(space: Space, lists: Lists, k: int, seed: int) -> Measured:
    """Recall on rows drawn at random, its interval, and on how many rows."""
    n = space.n
    rows = np.sort(np.random.default_rng(seed).choice(n, min(SAMPLED, n), replace=False))
    true = space.nearest(space.vectors[rows], min(k + 1, n)).lists
    shares = np.empty(len(rows))
    for place, i in enumerate(rows):
        at = slice(true.indptr[place], true.indptr[place + 1])
        others = true.indices[at] != i
        last = true.distances[at][others][:k][-1]
        mine = lists.distances[lists.indptr[i] : lists.indptr[i + 1]]
        shares[place] = np.count_nonzero(mine <= last) / k
    recall = float(shares.mean())
    return recall, (recall, recall) if len(rows) == n else interval_of(recall, len(rows)), len(rows)


def interval_of(mean: float, m: int, alpha: float = ALPHA) -> tuple[float, float]:
    """Where the expectation of shares in [0, 1] lies, given the mean of m of them; Hoeffding's bound of 1963."""
    from scipy.optimize import brentq
    from scipy.special import xlogy

    limit = np.log(2 / alpha) / m

    def over(p: float) -> float:
        # (1 − mean)·log(1 − p) stays finite where the mean is 1
        return float(xlogy(mean, mean / p) + xlogy(1 - mean, (1 - mean) / (1 - p)) - limit)

    tiny = 1e-15
    low = 0.0 if mean <= tiny or over(tiny) < 0 else float(brentq(over, tiny, min(mean, 1 - tiny)))
    high = 1.0 if mean >= 1 - tiny or over(1 - tiny) < 0 else float(brentq(over, max(mean, tiny), 1 - tiny))
    return low, high
