"""From lists of neighbours to a graph: which rows are joined, and how heavily.

    any     i — j  where either is among the other's neighbours          both    where each is among the other's

    connectivity  1      distance  d_ij      heat  exp(−d²/t)      self-tuning  exp(−d²/σᵢσⱼ),  σᵢ = d to neighbour 7
                                                   [BN03]                                                 [ZP04]

Edges are kept as pairs i < j with their distance, so that an edge between two copies, of distance 0, is never lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.graphs.lists import Lists

__all__ = ["GRAPHS", "SELF_TUNING", "WEIGHTS", "Edges", "edges_of", "local_scales", "weights_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

GRAPHS = ("any", "both", "directed")
WEIGHTS = ("distance", "connectivity", "heat", "self-tuning")
#: The neighbour whose distance is the scale of a row, as Zelnik-Manor and Perona propose.
SELF_TUNING = 7


@dataclass(frozen=True, eq=False)
class Edges:
    """Undirected edges of n rows: ``i < j`` and their distance, in order of (i, j)."""

    n: int
    i: Places
    j: Places
    distances: Floats

    def __len__(self) -> int:
        return len(self.i)

    def joined(self, i: Places, j: Places, distances: Floats) -> Edges:
        """With more edges, which are not there yet."""
        low, high = np.minimum(i, j), np.maximum(i, j)
        a, b = np.concatenate([self.i, low]), np.concatenate([self.j, high])
        far = np.concatenate([self.distances, distances])
        order = np.lexsort((b, a))
        return Edges(self.n, a[order], b[order], far[order])

    def kept(self, rows: Places) -> Edges:
        """Edges between some rows (in increasing order), which are numbered anew."""
        number = np.full(self.n, -1)
        number[rows] = np.arange(len(rows))
        keep = (number[self.i] >= 0) & (number[self.j] >= 0)
        return Edges(len(rows), number[self.i[keep]], number[self.j[keep]], self.distances[keep])

    def to_csr(self, weights: Floats) -> Any:
        """A symmetric CSR array (n, n) of weights of the edges; zeros are stored."""
        from scipy.sparse import coo_array

        rows, cols = np.concatenate([self.i, self.j]), np.concatenate([self.j, self.i])
        made = coo_array((np.concatenate([weights, weights]), (rows, cols)), shape=(self.n, self.n)).tocsr()
        made.sort_indices()
        return made


def edges_of(lists: Lists, graph: str = "any") -> Edges:
    """Edges where either row is among the other's neighbours ("any"), or each is ("both")."""
    n = len(lists)
    rows, cols, far = lists.rows, lists.indices, lists.distances
    low, high = np.minimum(rows, cols), np.maximum(rows, cols)
    code = low.astype(np.int64) * n + high
    order = np.argsort(code, kind="stable")
    code, far = code[order], far[order]
    first = np.ones(len(code), bool)
    first[1:] = code[1:] != code[:-1]
    start = np.flatnonzero(first)
    least = np.minimum.reduceat(far, start) if len(start) else far  # both directions, should their last bits differ
    i, j = np.divmod(code[start], n)
    edges = Edges(n, i.astype(np.intp), j.astype(np.intp), least)
    if graph == "both":
        twice = np.diff(np.append(start, len(code))) > 1
        edges = Edges(n, edges.i[twice], edges.j[twice], least[twice])
    return edges


def local_scales(lists: Lists, neighbour: int = SELF_TUNING) -> Floats:
    """σᵢ, the distance of each row to one of its neighbours; where that is a copy, to the first that is none."""
    counts = lists.counts
    scales = np.zeros(len(lists))
    some = counts > 0
    at = lists.indptr[:-1][some] + np.minimum(neighbour, counts[some]) - 1
    scales[some] = lists.distances[at]
    if np.any(zero := scales == 0):
        positive = np.where(lists.distances > 0, lists.distances, np.inf)
        least = np.full(len(lists), np.inf)
        if some.any():
            least[some] = np.minimum.reduceat(positive, lists.indptr[:-1][some])
        everywhere = least[np.isfinite(least)]
        least[~np.isfinite(least)] = everywhere.min() if len(everywhere) else 1.0
        scales[zero] = least[zero]
    return scales


def weights_of(edges: Edges, lists: Lists, weights: str, scale: Any = None) -> tuple[Floats, float | None]:
    """A weight for each edge, and t of the heat kernel where it was found from the edges."""
    far = edges.distances
    if weights == "connectivity":
        return np.ones(len(far)), None
    if weights == "distance":
        return far.copy(), None
    if weights == "heat":
        positive = far[far > 0]
        t = float(scale) if scale is not None else float(np.median(positive)) ** 2 if len(positive) else 1.0
        return np.exp(-np.square(far / np.sqrt(t))), t
    if weights == "self-tuning":
        sigma = local_scales(lists, SELF_TUNING if scale is None else int(scale))
        return np.exp(-(far / sigma[edges.i]) * (far / sigma[edges.j])), None
    raise ParameterError(f"weights must be one of {', '.join(WEIGHTS)}", received=repr(weights))
