"""What t-SNE makes small, from its definition: affinities of rows, the divergence of a map, its gradient.     [MH08]

    p_j|i ∝ exp(−β_i d²_ij) over the k nearest rows, β_i such that the perplexity 2^H(p_·|i) is as asked
    P = (p + pᵀ)/2n,     q_ij = (1 + ‖y_i − y_j‖²)⁻¹ / Z,     KL = Σ p_ij log(p_ij/q_ij)
    ∂KL/∂y_i = 4 Σ_j (a·p_ij − q_ij) q_ij Z (y_i − y_j)

a is the exaggeration. Z is a sum over all pairs: exact up to some ten thousand rows, by tiles; of more rows a sample of
rows is summed, and the error that this leaves is told. Nothing here is shared with the library that makes the map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from ritz._core.threads import go_on

__all__ = ["EXACT", "Measured", "affinities", "divergence"]

Floats = NDArray[np.float64]

#: Rows up to which all pairs are summed; rows of the sample beyond; pairs of one tile.
EXACT, SAMPLE, TILE = 20_000, 2_000, 1 << 22
#: Halvings of the interval of log β.
HALVINGS = 64


@dataclass(frozen=True)
class Measured:
    """Divergence and gradient of a map, and the standard error of the divergence where rows were sampled."""

    divergence: float
    gradient: float  # ‖∇‖·‖Y‖: change of the divergence for a change of the map by its own size
    error: float = 0.0


def affinities(near: Any, far: Floats, perplexity: float) -> Any:
    """P (n×n) CSR of the neighbours (n, k) and their distances: symmetric, of sum 1."""
    n, k = far.shape
    square = np.square(far - far[:, :1]) + 2 * far[:, :1] * (far - far[:, :1])  # d² − d²_1, without cancellation
    size = np.maximum(square[:, -1:], 1e-300)
    square = square / size
    low, high = np.full((n, 1), -30.0), np.full((n, 1), 60.0)
    p = np.zeros_like(square)
    for _ in range(HALVINGS):
        beta = (low + high) / 2
        p = np.exp(-np.exp(beta) * square)
        total = p.sum(axis=1, keepdims=True)
        entropy = np.log(total) + np.exp(beta) * (p * square).sum(axis=1, keepdims=True) / total
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, beta, low), np.where(wide, high, beta)
    p = p / p.sum(axis=1, keepdims=True)
    P = csr_array((p.ravel(), np.asarray(near).ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    P = (P + P.T).tocsr()
    return P / P.sum()


def divergence(P: Any, Y: Floats, exaggeration: float = 1.0, *, seed: int = 0, exact: int = EXACT) -> Measured:
    """KL(P ‖ Q) of a map Y (n×k), and the size of the gradient with P times the exaggeration."""
    n = len(Y)
    rows = np.arange(n)
    if n > exact:
        rows = np.sort(np.random.default_rng(seed).choice(n, SAMPLE, replace=False))
    sums, pushed = np.empty(len(rows)), np.empty((len(rows), Y.shape[1]))
    for start in range(0, len(rows), max(1, TILE // n)):
        go_on()
        at = rows[start : start + max(1, TILE // n)]
        kernel = 1.0 / (1.0 + cdist(Y[at], Y, "sqeuclidean"))
        kernel[np.arange(len(at)), at] = 0.0
        some = slice(start, start + len(at))
        sums[some] = kernel.sum(axis=1)
        np.square(kernel, out=kernel)
        pushed[some] = kernel.sum(axis=1)[:, None] * Y[at] - kernel @ Y
    Z = float(sums.mean()) * n
    P = csr_array(P)
    i, j = np.repeat(np.arange(n), np.diff(P.indptr)), P.indices
    near = 1.0 / (1.0 + np.square(Y[i] - Y[j]).sum(axis=1))
    some = P.data > 0
    value = float(np.sum(P.data[some] * np.log(P.data[some] / near[some]))) + float(P.data.sum()) * np.log(Z)
    pulls = csr_array((P.data * near, j, P.indptr), shape=P.shape)
    pulled = np.asarray(pulls.sum(axis=1)).reshape(-1, 1) * Y - pulls @ Y
    gradient = 4.0 * (exaggeration * pulled[rows] - pushed / Z)
    size = float(np.linalg.norm(gradient)) * np.sqrt(n / len(rows))
    error = 0.0 if len(rows) == n else float(np.std(sums) / np.sqrt(len(rows)) / sums.mean())
    return Measured(float(value), size * float(np.linalg.norm(Y - Y.mean(axis=0))), error)
