"""``k(x, y)`` of all pairs by the definition of each kernel, for ``verify``: plain NumPy in float64, not the tiles.

    distances from differences, block by block (never ‖x‖² + ‖y‖² − 2x·y);   dot products of whole rows

Kernels of strings and Python functions have one definition only, which is called again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.kernels.base import Kernel
from ritz.kernels.callables import Precomputed
from ritz.kernels.combine import Normalized, Product, Scaled, Sum
from ritz.kernels.distances import RBF
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.matern import Matern
from ritz.kernels.vectors import Cosine, Linear, Polynomial, Sigmoid

__all__ = ["kernel_matrix", "rounding_scale"]

Floats = NDArray[np.float64]

#: Differences that are held at a time.
HELD = 1 << 22


def kernel_matrix(kernel: Kernel, rows: Any) -> Floats:
    """K (n, n)."""
    if isinstance(kernel, (Sum, Product)):
        left, right = kernel_matrix(kernel.left, rows), kernel_matrix(kernel.right, rows)
        return left + right if isinstance(kernel, Sum) else left * right
    if isinstance(kernel, Scaled):
        return kernel.factor * kernel_matrix(kernel.kernel, rows)
    if isinstance(kernel, Normalized):
        K = kernel_matrix(kernel.kernel, rows)
        return _unit(K, np.sqrt(np.diag(K)))
    if kernel.takes not in ("vectors", "precomputed"):
        return np.asarray(kernel(rows), np.float64)
    X = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    if isinstance(kernel, Precomputed):
        return X
    if isinstance(kernel, (RBF, Laplacian, Matern)):
        return _of_distance(kernel, X)
    if isinstance(kernel, Linear):  # only J K J is asked for, which does not feel a shift
        X = X - X.mean(axis=0)
    G = X @ X.T
    if isinstance(kernel, Cosine):
        return _unit(G, np.sqrt(np.diag(G)))
    if isinstance(kernel, (Polynomial, Sigmoid)):
        G *= 1.0 / max(X.shape[1], 1) if kernel.gamma is None else float(kernel.gamma)
        G += kernel.coef0
        return G**kernel.degree if isinstance(kernel, Polynomial) else np.tanh(G)
    return G if isinstance(kernel, Linear) else np.asarray(kernel(rows), np.float64)


def _of_distance(kernel: RBF | Laplacian | Matern, X: Floats) -> Floats:
    n, d = X.shape
    D, step = np.empty((n, n)), max(1, HELD // max(n * d, 1))
    for i in range(0, n, step):
        gap = X[i : i + step, None, :] - X[None, :, :]
        D[i : i + step] = np.abs(gap).sum(axis=2) if isinstance(kernel, Laplacian) else np.square(gap).sum(axis=2)
    if not isinstance(kernel, Matern):
        gamma = 1.0 / max(d, 1) if kernel.gamma is None else float(kernel.gamma)
        return np.exp(-gamma * D)
    length = float(np.sqrt(max(d, 1) / 2.0) if kernel.length is None else kernel.length)
    if np.isinf(kernel.nu):
        return np.exp(-D / (2 * length**2))
    r = np.sqrt(2 * kernel.nu * D) / length
    if kernel.nu in (0.5, 1.5, 2.5):
        return {0.5: 1.0, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[kernel.nu] * np.exp(-r)
    from scipy.special import gamma as of
    from scipy.special import kv

    with np.errstate(invalid="ignore", over="ignore"):
        K = 2 ** (1 - kernel.nu) / of(kernel.nu) * r**kernel.nu * kv(kernel.nu, r)
    return np.where(np.isfinite(K), K, 1.0)


def _unit(K: Floats, length: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        K = K / length[:, None] / length
    return np.where((length[:, None] > 0) & (length > 0), K, 0.0)


def rounding_scale(kernel: Kernel, K: Floats, columns: int) -> float:
    """max_i Σⱼ of what entries are rounded in units of, times a slowly growing factor of the columns."""
    own = np.sqrt(np.abs(np.diag(K)))
    size = np.abs(K) if kernel.relative else np.maximum(np.abs(K), own[:, None] * own)
    return (1.0 + float(np.sqrt(columns))) * float(np.max(size.sum(axis=1), initial=0.0))
