"""Ward's tree of weighted points, and partitions read from it.

    gain of joining a and b    w_a w_b/(w_a + w_b) · ‖c_a − c_b‖²       the inertia between them that is lost
    Σ of all gains             Σ w ‖x − x̄‖²                            the total inertia

The tree is built by chains of nearest neighbours: from any cluster go to its nearest one until two are nearest to each
other, and join them. Ward's gains never fall along a tree, so joins sorted by gain are the tree that joins the cheapest
pair each time. O(n²k) time, O(nk) memory: no matrix of distances is formed. [Ward63], [Murtagh83]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut", "partition_means", "ward_tree"]

Floats = NDArray[np.float64]


def ward_tree(X: Floats, w: Floats) -> Floats:
    """Joins (n − 1, 4) in the order of their gains: two clusters, the gain, the number of points in both.

    Points are 0 … n − 1, the cluster of the i-th join is n + i, as in SciPy; gains stand where SciPy has distances.
    """
    n = len(X)
    C, m, there = X.astype(np.float64, copy=True), w.astype(np.float64, copy=True), np.ones(n, bool)
    joins = np.empty((max(n - 1, 0), 3))
    chain: list[int] = []
    for step in range(n - 1):
        if not chain:
            chain = [int(np.argmax(there))]
        while True:
            a = chain[-1]
            gains = _gains(C, m, there, a)
            b = int(np.argmin(gains))
            if len(chain) > 1 and gains[chain[-2]] <= gains[b]:
                b = chain[-2]
                break
            chain.append(b)
        chain = chain[:-2]
        joins[step] = a, b, gains[b]
        C[a] = (m[a] * C[a] + m[b] * C[b]) / (m[a] + m[b])
        m[a] += m[b]
        there[b] = False
    return _sorted(joins, n)


def _gains(C: Floats, m: Floats, there: NDArray[np.bool_], a: int) -> Floats:
    """What joining a with each other cluster would cost, (n,)."""
    gap = C - C[a]
    gains = m[a] * m / (m[a] + m) * np.einsum("ij,ij->i", gap, gap)
    gains[~there] = np.inf
    gains[a] = np.inf
    return gains


def _sorted(joins: Floats, n: int) -> Floats:
    """Joins of representatives in the order of their gains, with the numbers of the clusters that they join."""
    order = np.argsort(joins[:, 2], kind="stable")
    parent, size = list(range(2 * n - 1)), [1] * n + [0] * max(n - 1, 0)
    tree = np.empty((len(joins), 4))
    for i, (a, b, gain) in enumerate(joins[order]):
        one, other = sorted((_root(parent, int(a)), _root(parent, int(b))))
        size[n + i] = size[one] + size[other]
        parent[one] = parent[other] = n + i
        tree[i] = one, other, gain, size[n + i]
    return tree


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def cut(tree: Floats, q: int) -> NDArray[np.intp]:
    """Which of q clusters every point belongs to, (n,), when the tree is cut; numbered as they appear."""
    n = len(tree) + 1
    parent = list(range(2 * n - 1))
    for i in range(n - q):
        parent[int(tree[i, 0])] = parent[int(tree[i, 1])] = n + i
    roots = [_root(parent, i) for i in range(n)]
    number = {root: place for place, root in enumerate(dict.fromkeys(roots))}
    return np.array([number[root] for root in roots], np.intp)


def partition_means(X: Floats, w: Floats, labels: NDArray[np.intp], q: int) -> tuple[Floats, Floats]:
    """Weights (q,) and centres (q, k) of the clusters of a partition."""
    mass = np.asarray(np.bincount(labels, weights=w, minlength=q), np.float64)
    sums = np.stack([np.bincount(labels, weights=w * column, minlength=q) for column in X.T], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return mass, sums / mass[:, None]
