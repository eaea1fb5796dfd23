"""Principal angles between subspaces: vectors have no sign and clusters no basis, so answers are compared so.

    sin θ_max(U, V) = ‖(I − QQᵀ) V‖₂   with Q an orthonormal basis of span U,    U (d, p), V (d, k), k ≤ p

Small angles come from this sine, never from arccos of UᵀV, which cannot see below 1e-8 (Björck & Golub 1973).
`compare` splits a spectrum at its gaps and compares cluster by cluster: inside one only the span is defined.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["Comparison", "clusters", "compare", "largest_sine", "principal_sines"]

Array = np.ndarray[Any, Any]


def _basis(V: Array) -> Array:
    """Orthonormal columns in extended precision: Gram–Schmidt, twice."""
    Q = np.array(V, dtype=np.longdouble)
    for j in range(Q.shape[1]):
        for _ in range(2):
            Q[:, j] -= Q[:, :j] @ (Q[:, :j].T @ Q[:, j])
        norm = np.sqrt(np.sum(Q[:, j] ** 2))
        if norm == 0:
            raise ValueError(f"expected independent columns; column {j} depends on those before it")
        Q[:, j] /= norm
    return Q


def principal_sines(U: Array, V: Array) -> Array:
    """Sines of the principal angles from span V to span U, decreasing; (k,) for V of k ≤ p columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import principal_sines
    >>> plane = np.eye(3)[:, :2]
    >>> tilted = np.array([[1, 0], [0, np.cos(0.1)], [0, np.sin(0.1)]])
    >>> principal_sines(plane, tilted).round(4)   # they share a line; beside it they are 0.1 apart
    array([0.0998, 0.    ])
    """
    P, Q = _basis(U), _basis(V)
    if Q.shape[1] > P.shape[1]:
        raise ValueError(f"expected V with at most {P.shape[1]} columns, as U has; received {Q.shape[1]}")
    rest = Q - P @ (P.T @ Q)
    size = np.abs(rest).max(initial=0.0)
    if size == 0:
        return np.zeros(Q.shape[1])
    # scaled, so that sines far below 1e-16 survive the float64 decomposition
    return np.minimum(1.0, np.linalg.svd((rest / size).astype(np.float64), compute_uv=False) * float(size))


def largest_sine(U: Array, V: Array) -> float:
    """Sine of the largest principal angle from span V to span U.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz.testing import largest_sine
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> pca = ritz.PCA(2).fit(X)
    >>> exact = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    >>> largest_sine(pca.components_.T, exact.T) < 1e-13  # whatever the signs
    True
    """
    return float(principal_sines(U, V).max(initial=0.0))


def clusters(values: Array, width: float) -> list[slice]:
    """Runs of a decreasing sequence whose neighbours are at most ``width`` apart.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import clusters
    >>> clusters(np.array([9.0, 5.0, 4.999, 1.0]), width=0.01)  # the second and the third are one
    [slice(0, 1, None), slice(1, 3, None), slice(3, 4, None)]
    """
    cuts = np.flatnonzero(-np.diff(np.asarray(values, dtype=float)) > width) + 1
    edges = [0, *cuts.tolist(), len(values)]
    return [slice(a, b) for a, b in pairwise(edges) if b > a]


@dataclass(frozen=True)
class Comparison:
    """One cluster of two answers: which components, how far apart their spans, how well separated.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import compare
    >>> first, second = compare(np.array([9.0, 1.0]), np.eye(2), np.eye(2), width=1e-6)
    >>> first.components, round(first.gap, 2)     # a sine says little unless it is held against the gap
    (slice(0, 1, None), 0.89)
    """

    components: slice
    sine: float
    gap: float  # to the nearest eigenvalue outside, relative to the largest; inf when there is none


def compare(values: Array, U: Array, V: Array, *, width: float, following: float | None = None) -> list[Comparison]:
    """Compare the k columns of U with those of V, cluster by cluster.

    Parameters
    ----------
    values : ndarray
        (k,) decreasing eigenvalues that belong to the columns.
    U, V : ndarray
        (d, p) and (d, k) with orthonormal columns.
    width : float
        Neighbours closer than width·values[0] form one cluster.
    following : float, optional
        The eigenvalue after the last; without it the last cluster is left out unless it ends the whole space,
        because a cut through a cluster leaves no span to compare.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import compare
    >>> turn = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])  # turns the last two vectors among themselves
    >>> found = compare(np.array([9.0, 1.0, 1.0]), np.eye(3), turn, width=1e-6)
    >>> [(part.components.start, part.components.stop, round(part.sine, 3)) for part in found]
    [(0, 1, 0.0), (1, 3, 0.0)]
    """
    values = np.asarray(values, dtype=float)
    top = float(values[0])
    square = U.shape[1] == U.shape[0]
    extended = values if following is None else np.append(values, following)
    result = []
    for c in clusters(extended, width * top):
        if c.stop > values.size or (c.stop == extended.size and following is None and not square):
            continue
        above = extended[c.start - 1] - extended[c.start] if c.start else np.inf
        below = extended[c.stop - 1] - extended[c.stop] if c.stop < extended.size else np.inf
        gap = min(above, below) / top if top else np.inf
        result.append(Comparison(c, largest_sine(U[:, c], V[:, c]), float(gap)))
    return result
