"""In which order the rows of a sparse symmetric M are taken out, and which wait for which.

    minimum degree        SuperLU's order of Mᵀ + M: the row with the fewest neighbours left goes first       [ER80]
    parent(j)             the first row after j that j reaches through rows before it: the tree of elimination   [Liu90]
    postorder             children just before their parents, so that a branch of the tree is a range of rows

Which rows j reaches through rows up to i is what a spanning tree of the lightest edges tells, an edge {i, j} weighing
max(i, j): of the entries of M only p − 1 are looked at one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.sparse.linalg import spilu

__all__ = ["elimination_order", "minimum_degree", "parents", "postorder"]

Places = NDArray[np.intp]

#: Share of the largest entry of a column below which an incomplete factor drops entries: all but the pivots.
DROP = 1e300


def elimination_order(M: Any) -> tuple[Places, Places]:
    """Rows in the order in which they are taken out, (p,), and the parent of each in that order, −1 of a root."""
    order = minimum_degree(M)
    above = parents(M, order)
    place = postorder(above)
    turned = np.argsort(place)
    above = above[turned]
    return order[turned], np.where(above >= 0, place[above], -1)


def minimum_degree(M: Any) -> Places:
    """The order of minimum degree: SuperLU makes it for an incomplete factor that keeps nothing."""
    p = M.shape[0]
    rough = sp.csc_array((np.full(M.nnz, -1.0), M.indices, M.indptr), shape=M.shape)
    rough = sp.csc_array(rough + (p + 2.0) * sp.eye_array(p, format="csc"))
    rough = sp.csc_array((rough.data, rough.indices.astype(np.int32), rough.indptr.astype(np.int32)), shape=M.shape)
    made = spilu(
        rough, drop_tol=DROP, fill_factor=1, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip
    return np.argsort(made.perm_c).astype(np.intp)


def parents(M: Any, order: Places) -> Places:
    """The tree of elimination of M when its rows are taken out in that order."""
    p = M.shape[0]
    place = np.empty(p, np.int32)
    place[order] = np.arange(p, dtype=np.int32)
    edges = sp.tril(M, -1, format="csc")
    last = np.maximum(place[edges.indices], np.repeat(place, np.diff(edges.indptr)))
    tree = minimum_spanning_tree(sp.csr_array((last + 1.0, edges.indices, edges.indptr), shape=(p, p))).tocoo()
    ends = place[tree.row], place[tree.col]
    late = np.maximum(*ends)
    by_last = np.argsort(late, kind="stable")
    parent, top = [-1] * p, list(range(p))
    for i, j in zip(late[by_last].tolist(), np.minimum(*ends)[by_last].tolist(), strict=True):
        root = j
        while top[root] != root:  # the last row of the branch that j belongs to
            top[root] = root = top[top[root]]
        if root != i:
            parent[root] = top[root] = i
    return np.array(parent, np.intp)


def postorder(parent: Places) -> Places:
    """Where each node of a forest goes, (p,): children come before their parents, each branch in one piece."""
    p, above = len(parent), parent.tolist()
    size = [1] * p
    for i, up in enumerate(above):  # parents have larger numbers
        if up >= 0:
            size[up] += size[i]
    place, free = [0] * p, [0] * p + [p - 1]
    for i in range(p - 1, -1, -1):  # a branch takes the last places that are free below its parent
        at = free[above[i]]
        place[i], free[i] = at, at - 1
        free[above[i]] = at - size[i]
    return np.array(place, np.intp)
