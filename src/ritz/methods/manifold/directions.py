"""Which axes of an embedding are new directions, and which repeat earlier ones.                            [DTCK18]

    y_j(i) ≈ a_i + b_iᵀ (y_1 … y_{j−1})(i),   fitted for every i with weights exp(−‖Δ‖²/h²) on all other rows
    r_j = ‖y_j − ŷ_j‖ / ‖y_j‖                 near 0: y_j is a function of earlier axes;  near 1: a new direction

h is a third of the median distance. Of many rows a sample is looked at: r is a mean, and a thousand rows settle it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["REPEATED", "regression_residuals"]

Floats = NDArray[np.float64]

#: Rows of the sample.
SAMPLE = 1000
#: Share of the median distance that is called near, as Dsilva and others propose.
BANDWIDTH = 1 / 3
#: Residual below which an axis repeats earlier ones: on strips of 2 to 5 times their width, and on a swiss roll,
#: harmonics have 0.01 to 0.23, new directions 0.38 to 0.9.
REPEATED = 0.3
#: Share of the trace added to the normal equations of a row, so that a row without neighbours has an answer.
RIDGE = 1e-10


def regression_residuals(Y: Floats, seed: int = 0) -> Floats:
    """r_j of every axis of coordinates Y (n, k); the first is 1."""
    n, k = Y.shape
    if n > SAMPLE:
        Y = Y[np.sort(np.random.default_rng(seed).choice(n, SAMPLE, replace=False))]
    r = np.ones(k)
    for j in range(1, k):
        r[j] = _residual(Y[:, :j], Y[:, j])
    return r


def _residual(Z: Floats, y: Floats) -> float:
    """What a local linear function of Z (n, j) leaves of y, each row predicted by the others."""
    n = len(Z)
    size = float(np.linalg.norm(y))
    if n < 3 or size == 0:
        return 1.0
    W = _squares(Z)
    h2 = float(np.median(np.concatenate([W[i, i + 1 :] for i in range(n - 1)]))) * BANDWIDTH**2
    if h2 == 0:
        return 1.0
    W /= -h2
    np.exp(W, out=W)
    np.fill_diagonal(W, 0.0)
    A = np.column_stack([np.ones(n), Z / np.sqrt(np.mean(np.square(Z), axis=0))])
    products = (A[:, :, None] * A[:, None, :]).reshape(n, -1)
    G = (W @ products).reshape(n, A.shape[1], A.shape[1])
    trace = np.trace(G, axis1=1, axis2=2)
    i = np.arange(A.shape[1])
    G[:, i, i] += np.where(trace > 0, RIDGE * trace, 1.0)[:, None]
    b = np.linalg.solve(G, (W @ (A * y[:, None]))[:, :, None])[:, :, 0]
    return min(float(np.linalg.norm(y - np.einsum("nj,nj->n", A, b)) / size), 1.0)


def _squares(Z: Floats) -> Floats:
    """‖zᵢ − zⱼ‖² (n, n) by differences, column after column, so that no (n, n, j) array is held."""
    out = np.zeros((len(Z), len(Z)))
    apart = np.empty_like(out)
    for column in Z.T:
        np.subtract(column[:, None], column, out=apart)
        apart *= apart
        out += apart
    return out
