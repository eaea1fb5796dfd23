"""Sparse components one after the other: the truncated power method, and deflation.                         [YZ13]

    x ← the m largest entries of Cx, to unit length;    at the end the leading eigenvector of C on those m columns
    q = (I − QQᵀ)x/‖·‖,   C ← (I − qqᵀ) C (I − qqᵀ)      orthogonalised projection deflation                [Mackey08]

For a covariance every step raises xᵀCx. From the leading eigenvector the number of entries is halved on the way down to
m, which avoids poor ends; single columns of large variance are tried as starts too. Only C (d×d) is looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["leading_sparse", "truncated_power"]

Floats = NDArray[np.float64]

#: Single columns that are tried as starts, beside the leading eigenvector.
STARTS = 20


def truncated_power(C: Floats, counts: Any, *, tol: float, steps: int, tick: Any) -> tuple[Floats, int, bool]:
    """Unit loadings (d, k) of ``counts`` entries each, iterations, and whether all of them settled."""
    d, D = len(C), C.copy()
    B, Q = np.zeros((d, len(counts))), np.zeros((d, 0))
    taken, settled = 0, True
    for j, count in enumerate(counts):
        x, used, still = leading_sparse(D, int(count), tol=tol, steps=steps)
        taken, settled = max(taken, used), settled and still
        B[:, j] = x
        q = x - Q @ (Q.T @ x)
        length = float(np.linalg.norm(q))
        if length > 1e-10:
            q = q / length
            Q = np.column_stack([Q, q])
            D = D - np.outer(q, q @ D)
            D = D - np.outer(D @ q, q)
            D = (D + D.T) / 2
        tick(j + 1, 0.0)
    return B, taken, settled


def leading_sparse(C: Floats, count: int, *, tol: float, steps: int) -> tuple[Floats, int, bool]:
    """A unit vector of ``count`` entries with large variance, iterations, and whether it settled."""
    d = len(C)
    sizes = [count]
    while sizes[-1] * 2 < d:
        sizes.append(sizes[-1] * 2)
    starts = [(np.linalg.eigh(C)[1][:, -1], sizes[::-1])]
    starts += [(np.eye(d)[:, i], [count]) for i in np.argsort(-np.diag(C), kind="stable")[: min(STARTS, d)]]
    best, most, taken, settled = starts[0][0], -np.inf, 0, True
    for start, way in starts:
        x, used, still = _climb(C, start, way, tol, steps)
        x = _polished(C, x)
        variance = float(x @ C @ x)
        if variance > most * (1 + 1e-12) or most == -np.inf:
            best, most, settled = x, variance, still
        taken = max(taken, used)
    return best, taken, settled


def _climb(C: Floats, start: Floats, sizes: list[int], tol: float, steps: int) -> tuple[Floats, int, bool]:
    """Truncated power steps with ever fewer entries, the last ones until they settle."""
    x, taken = start, 0
    for size in sizes:
        for it in range(1, steps + 1):
            new = _cut(C @ x, size)
            change = float(np.max(np.abs(new - x)))
            x, taken = new, max(taken, it)
            if change <= tol:
                break
        else:
            if size == sizes[-1]:
                return x, taken, False
    return x, taken, True


def _cut(values: Floats, count: int) -> Floats:
    """The ``count`` largest entries, to unit length; of entries of one size the first ones."""
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    out = np.zeros_like(values)
    out[order] = values[order]
    length = float(np.linalg.norm(out))
    if length > 0:
        return out / length
    out[order[0]] = 1.0  # nothing is left to explain: any column will do
    return out


def _polished(C: Floats, x: Floats) -> Floats:
    """The leading eigenvector on the columns of x."""
    where = np.flatnonzero(x)
    out = np.zeros_like(x)
    out[where] = np.linalg.eigh(C[np.ix_(where, where)])[1][:, -1]
    return out
