"""Sparse components one after the other: the truncated power method, and deflation.                         [YZ13]

    x ← the m largest entries of Cx, to unit length;    at the end the leading eigenvector of C on those m columns
    q = (I − QQᵀ)x/‖·‖,   C ← (I − qqᵀ) C (I − qqᵀ)      orthogonalised projection deflation                [Mackey08]

For a covariance every step raises xᵀCx. From the leading eigenvector the number of entries is halved on the way down to
m, which avoids poor ends; single columns of large variance are tried as starts too, all in one product a step. x has m
entries, so that Cx takes m columns of C, or two products with the rows where these are fewer (``covariance.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.sparse_pca.covariance import Covariance

__all__ = ["leading_sparse", "truncated_power"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Single columns that are tried as starts, beside the leading eigenvector.
STARTS = 20


def truncated_power(C: Covariance, counts: Any, *, tol: float, steps: int, tick: Any) -> tuple[Floats, int, bool]:
    """Unit loadings (d, k) of ``counts`` entries each, iterations, and whether all of them settled."""
    d = len(C.diagonal)
    B, Q = np.zeros((d, len(counts))), np.zeros((d, 0))
    taken, settled = 0, True
    for j, count in enumerate(counts):
        x, used, still = leading_sparse(C, int(count), tol=tol, steps=steps)
        taken, settled = max(taken, used), settled and still
        B[:, j] = x
        q = x - Q @ (Q.T @ x)
        length = float(np.linalg.norm(q))
        if length > 1e-10 and j + 1 < len(counts):
            q = q / length
            Q = np.column_stack([Q, q])
            C = C.deflated(q)
        tick(j + 1, 0.0)
    return B, taken, settled


def leading_sparse(C: Covariance, count: int, *, tol: float, steps: int) -> tuple[Floats, int, bool]:
    """A unit vector of ``count`` entries with large variance, iterations, and whether it settled."""
    d = len(C.diagonal)
    sizes = [count]
    while sizes[-1] * 2 < d:
        sizes.append(sizes[-1] * 2)
    single = np.argsort(-C.diagonal, kind="stable")[: min(STARTS, d)]
    ends = _climb(C, C.leading()[None, :], np.arange(d)[None, :], sizes[::-1], tol, steps)
    starts = np.zeros((len(single), d))
    np.put_along_axis(starts, single[:, None], 1.0, axis=1)
    more = _climb(C, starts, single[:, None], [count], tol, steps)
    best, most, settled = np.zeros(d), -np.inf, True
    seen: dict[bytes, None] = {}
    for x, still in zip([*ends[0], *more[0]], [*ends[2], *more[2]], strict=True):
        where = np.flatnonzero(x)
        if where.tobytes() in seen:  # most starts end in the same columns
            continue
        seen[where.tobytes()] = None
        v = C.leading(where)
        variance = float(v @ C.block(where) @ v)
        if variance > most * (1 + 1e-12) or most == -np.inf:
            best, most, settled = np.zeros(d), variance, bool(still)
            best[where] = v
    return best, max(ends[1], more[1]), settled


def _climb(
    C: Covariance, X: Floats, where: Indices, sizes: list[int], tol: float, steps: int
) -> tuple[Floats, int, NDArray[np.bool_]]:
    """Truncated power steps with ever fewer entries, the last ones until they settle.

    ``X`` (s, d) starts with entries ``where`` (s, m); the ends (s, d), iterations, and which of them settled.
    """
    X, taken, settled = X.copy(), 0, np.zeros(len(X), bool)
    for size in sizes:
        moving, settled = np.arange(len(X)), np.zeros(len(X), bool)
        for it in range(1, steps + 1):
            old = X[moving]
            new, places = _cut(C.images(where[moving], np.take_along_axis(old, where[moving], axis=1)), size)
            if places.shape[1] != where.shape[1]:  # the first step from here: all of them move
                where = places
            else:
                where[moving] = places
            X[moving], taken = new, max(taken, it)
            still = np.max(np.abs(new - old), axis=1) <= tol
            settled[moving[still]] = True
            moving = moving[~still]
            if not len(moving):
                break
    return X, taken, settled


def _cut(values: Floats, count: int) -> tuple[Floats, Indices]:
    """The ``count`` largest entries of each row, to unit length, and their places; of one size the first ones."""
    size = np.abs(values)
    s, d = size.shape
    least = np.partition(size, d - count, axis=1)[:, d - count, None]
    taken = size >= least
    for i in np.flatnonzero(np.count_nonzero(taken, axis=1) > count):
        ties = np.flatnonzero(size[i] == least[i])
        taken[i, ties[count - int(np.count_nonzero(size[i] > least[i])) :]] = False
    places = np.nonzero(taken)[1].reshape(s, count)
    out = np.where(taken, values, 0.0)
    length = np.linalg.norm(out, axis=1)
    out[length == 0, 0] = 1.0  # nothing is left to explain: any column will do
    return out / np.where(length > 0, length, 1.0)[:, None], places
