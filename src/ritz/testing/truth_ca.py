"""The true inertias of a table of counts as it is stored, with a rigorous error.

    T = D_w N,   R = T1,   C = Tᵀ1,   t = 1ᵀT,   A = D_R^-½ (tT − RCᵀ) D_C^-½ / t = D_r^-½ (P − rcᵀ) D_c^-½

Stored counts and weights are integers times powers of two, so tT − RCᵀ is exact in integers and nothing cancels,
however near rows and columns are to independence; only the roots are rounded, to 2^-bits. What follows is as in
``truth``: refined vectors, eigenvalues proved in ball arithmetic. Rows and columns without counts have no part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.testing.truth import (
    GUARD,
    Array,
    Balls,
    Truth,
    flint_module,
    integers,
    precision,
    proved,
    refined,
    right_vectors,
)

__all__ = ["true_inertia", "true_residuals"]


def true_inertia(N: Any, *, weights: Any = None, digits: int = 60, vectors: bool = False) -> Truth:
    """Principal inertias of the stored counts as balls, decreasing, with a proof; as many as the smaller side has.

    Parameters
    ----------
    N : ndarray or scipy sparse matrix
        (n, d) counts; the smaller side should not exceed about 60.
    weights : array-like, optional
        (n,) weights of the rows.
    digits : int
        Decimal digits of λ₁.
    vectors : bool
        Right singular vectors of A too, (d, min(n, d)), with zeros for columns without counts.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz.testing import true_inertia
    >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
    >>> truth = true_inertia(smokers).values
    >>> bool(abs(ritz.CA().fit(smokers).eigenvalues_ - truth[:3]).max() < 1e-15)
    True
    """
    flint, bits = flint_module(), int(3.33 * digits) + 8
    with precision(bits + GUARD):
        A, kept = _residuals(N, weights)
        n, d = A.nrows(), A.ncols()
        size = max((abs(v).mid() for v in A.entries()), default=flint.arb(0))
        if size == 0:
            return Truth((flint.arb(0),) * min(n, d), flint.arb(0), None)
        exponent = int(size.man_exp()[1]) + int(size.man_exp()[0]).bit_length()
        unit = flint.arb(2) ** exponent
        A = A * (1 / unit)
        G = A.transpose() * A if n >= d else A * A.transpose()
        floats = np.array([float(v) for v in A.entries()]).reshape(n, d)
        U, _, Vt = np.linalg.svd(floats, full_matrices=False)
        V = refined(G, Vt.T if n >= d else U, bits)
        balls = tuple(ball.nonnegative_part() * unit**2 for ball in proved(G, V))
        total = sum((G[i, i] for i in range(G.nrows())), flint.arb(0)) * unit**2
        return Truth(balls, total, _spread(right_vectors(G, V, None if n >= d else A), kept) if vectors else None)


def true_residuals(N: Any, *, weights: Any = None) -> Array:
    """A (n, d) in extended precision, entry by entry right to its last digits; zeros where there are no counts."""
    shape = N.shape
    with precision(400):
        A, kept, rows = _parts(N, weights)
        high = np.array([float(v) for v in A.entries()])
        low = np.array([float(v - h) for v, h in zip(A.entries(), high.tolist(), strict=True)])
        residuals = np.zeros(shape, np.longdouble)
        both = high.astype(np.longdouble) + low.astype(np.longdouble)
        residuals[np.ix_(rows, kept)] = both.reshape(len(rows), len(kept))
    return residuals


def _residuals(N: Any, weights: Any) -> tuple[Balls, Array]:
    A, kept, _ = _parts(N, weights)
    return A, kept


def _parts(N: Any, weights: Any) -> tuple[Balls, Array, Array]:
    """A in balls, and which columns and rows have counts."""
    flint = flint_module()
    M, _ = integers(N)
    T = M.tolist()
    if weights is not None:
        w = [int(v) for v in integers(np.asarray(weights, np.float64)[:, None])[0].entries()]
        T = [[a * v for v in row] for a, row in zip(w, T, strict=True)]
    R = [int(sum(row)) for row in T]
    rows = np.flatnonzero([value > 0 for value in R])
    C = [int(sum(T[i][j] for i in rows)) for j in range(M.ncols())]
    kept = np.flatnonzero([value > 0 for value in C])
    t = sum(R)
    roots = [flint.arb(value).rsqrt() for value in R], [flint.arb(value).rsqrt() for value in C]
    entries = [flint.arb(t * int(T[i][j]) - R[i] * C[j]) * roots[0][i] * roots[1][j] / t for i in rows for j in kept]
    return flint.arb_mat(len(rows), len(kept), entries), kept, rows


def _spread(V: Array, kept: Array) -> Array:
    """Vectors with zeros for the columns without counts."""
    wide = np.zeros((int(kept.max()) + 1, V.shape[1]), V.dtype)
    wide[kept] = V
    return wide
