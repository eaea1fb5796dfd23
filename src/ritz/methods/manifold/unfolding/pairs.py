"""Pairs of rows whose distance in the map is held, and Laplacians of weights of these pairs.

pairs a = (i, j),  c_a = d²_ij         edges: i — j joined in the graph        neighbourhoods: also j, l near one i
L(w) = Σ_a w_a b_a b_aᵀ,  b_a = e_i − e_j           b_aᵀ K b_a = K_ii − 2K_ij + K_jj = ‖y_i − y_j‖²
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

__all__ = ["PAIRS", "Pairs", "pairs_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: What is held: joined rows, or all rows of one neighbourhood.
PAIRS = ("edges", "neighbourhoods")
#: Relative rounding of a distance where the space does not tell it.
UNTOLD = 1e-12
U = 2.0**-53


@dataclass(frozen=True, eq=False)
class Pairs:
    """m pairs i < j of n rows and their squared distances."""

    n: int
    i: Places
    j: Places
    squares: Floats  # (m,) all positive, in units of ``unit``²
    relative: float = 4 * U  # rounding of ``squares``
    unit: float = 1.0  # a power of two near the largest distance: squares stay in range

    def __len__(self) -> int:
        return len(self.i)

    def laplacian(self, w: Floats) -> Any:
        """``L(w)`` (n×n), CSR."""
        A = self.graph(w)
        return (diags_array(np.asarray(A.sum(axis=1)).ravel()) - A).tocsr()

    def graph(self, w: Floats) -> Any:
        """The weights (n×n), CSR; zeros are left out."""
        some = np.flatnonzero(w)
        i, j, w = self.i[some], self.j[some], w[some]
        rows, cols = np.concatenate([i, j]), np.concatenate([j, i])
        return coo_array((np.concatenate([w, w]), (rows, cols)), shape=(self.n, self.n)).tocsr()

    def incidence(self) -> Any:
        """Rows ``b_aᵀ``, (m×n) CSR."""
        m = len(self)
        ends = np.stack([self.i, self.j], axis=1).ravel()
        signs = np.tile([1.0, -1.0], m)
        return csr_array((signs, ends, np.arange(0, 2 * m + 1, 2)), shape=(m, self.n))

    def of_points(self, Z: Floats) -> Floats:
        """Squared distances of the pairs of points Z (n×r), by differences."""
        out = np.empty(len(self))
        for start in range(0, len(self), 1 << 16):
            at = slice(start, start + (1 << 16))
            out[at] = np.square(Z[self.i[at]] - Z[self.j[at]]).sum(axis=1)
        return out


def pairs_of(near: Any, which: str, index: Places | None = None) -> Pairs:
    """Pairs of a fitted search; ``index``: those among some rows, a whole component, numbered anew."""
    edges = near.edges_
    if index is not None and len(index) < edges.n:
        edges = edges.kept(index)
    i, j, far = edges.i, edges.j, edges.distances
    if which == "neighbourhoods":
        i, j, far = _with_common(near, edges, index)
    told = near.certificate_.rounding
    relative = 2 * (UNTOLD if told is None else told) + 4 * U
    unit = 2.0 ** float(np.round(np.log2(np.max(far, initial=1e-300))))
    return Pairs(edges.n, i, j, np.square(far / unit), relative, unit)


def _with_common(near: Any, edges: Any, index: Places | None) -> tuple[Places, Places, Floats]:
    """Edges, and pairs of rows that are both neighbours of a third."""
    lists, n = near.neighbours_, len(near.neighbours_)
    A = csr_array((np.ones(len(lists.indices)), lists.indices, lists.indptr), shape=(n, n))
    both = coo_array(A.T @ A)
    low, high = both.row, both.col
    keep = low < high
    low, high = low[keep].astype(np.intp), high[keep].astype(np.intp)
    if index is not None and len(index) < n:
        number = np.full(n, -1)
        number[index] = np.arange(len(index))
        inside = (number[low] >= 0) & (number[high] >= 0)
        low, high = low[inside], high[inside]
        a, b = number[low], number[high]
    else:
        a, b = low, high
    known = edges.i.astype(np.int64) * edges.n + edges.j
    new = ~np.isin(a.astype(np.int64) * edges.n + b, known)
    far = np.asarray(near._space.pairs(low[new], high[new]), np.float64) if new.any() else np.zeros(0)
    i, j = np.concatenate([edges.i, a[new]]), np.concatenate([edges.j, b[new]])
    far = np.concatenate([edges.distances, far])
    order = np.lexsort((j, i))
    return i[order], j[order], far[order]
