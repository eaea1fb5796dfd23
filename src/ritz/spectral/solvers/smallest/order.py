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
    above = parents(M[order][:, order])
    turned = postorder(above)
    place = np.empty(len(turned), np.intp)
    place[turned] = np.arange(len(turned))
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


def parents(M: Any) -> Places:
    """The tree of elimination of M in the order that it has."""
    p = M.shape[0]
    before = sp.triu(M, 1, format="csc")  # column i: its neighbours j < i
    weights = np.repeat(np.arange(1.0, p + 1), np.diff(before.indptr))
    tree = minimum_spanning_tree(sp.csr_array((weights, before.indices, before.indptr), shape=(p, p))).tocsr()
    starts, places = tree.indptr.tolist(), tree.indices.tolist()
    parent, top = [-1] * p, list(range(p))
    for i in range(p):
        for j in places[starts[i] : starts[i + 1]]:
            while top[j] != j:  # the last row of the branch that j belongs to
                top[j] = j = top[top[j]]
            if j != i:
                parent[j] = top[j] = i
    return np.array(parent, np.intp)


def postorder(parent: Places) -> Places:
    """Nodes of a forest, children before their parents, each branch in one piece."""
    p = len(parent)
    children: list[list[int]] = [[] for _ in range(p + 1)]
    for i, above in enumerate(parent.tolist()):
        children[above].append(i)  # roots, of parent −1, come last
    made: list[int] = []
    waiting = children[p]
    while waiting:  # parents first, to be turned round
        i = waiting.pop()
        made.append(i)
        waiting.extend(children[i])
    return np.array(made[::-1], np.intp)
