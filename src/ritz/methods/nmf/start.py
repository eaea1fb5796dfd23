"""Where factors begin: non-negative parts of the singular vectors.                                          [BG08]

X ≈ Σ σⱼ uⱼ vⱼᵀ       uⱼ = u⁺ − u⁻,  vⱼ = v⁺ − v⁻       of ‖u⁺‖‖v⁺‖ and ‖u⁻‖‖v⁻‖ the larger one is taken
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import blocks_of

__all__ = ["left_vectors", "nndsvd", "random_start"]

Floats = NDArray[np.float64]


def left_vectors(rows: Any, V: Floats, s: Floats) -> Floats:
    """U = X V Σ⁻¹ (n, k), by one pass."""
    parts = [np.asarray(block.values @ V, np.float64) for block in blocks_of(rows).each()]
    return np.concatenate(parts) / np.where(s > 0, s, 1.0)


def nndsvd(U: Floats, s: Floats, V: Floats) -> tuple[Floats, Floats]:
    """W (n, k) and H (k, d) from leading singular vectors U (n, k), V (d, k)."""
    W, H = np.zeros_like(U), np.zeros_like(V.T)
    for j in range(len(s)):
        u, v = U[:, j], V[:, j]
        if j == 0:  # Perron: of one sign
            W[:, 0], H[0] = np.sqrt(s[0]) * np.abs(u), np.sqrt(s[0]) * np.abs(v)
            continue
        sides = [(np.maximum(u, 0), np.maximum(v, 0)), (np.maximum(-u, 0), np.maximum(-v, 0))]
        sizes = [(np.linalg.norm(a), np.linalg.norm(b)) for a, b in sides]
        best = int(sizes[1][0] * sizes[1][1] > sizes[0][0] * sizes[0][1])
        (a, b), (p, q) = sides[best], sizes[best]
        if p * q > 0:
            root = np.sqrt(s[j] * p * q)
            W[:, j], H[j] = root * a / p, root * b / q
    return W, H


def random_start(n: int, d: int, k: int, mean: float, seed: Any) -> tuple[Floats, Floats]:
    """Absolute values of normal draws, of the size of the entries."""
    rng = np.random.default_rng(seed)
    size = np.sqrt(max(mean, 0.0) / k)
    return size * np.abs(rng.standard_normal((n, k))), size * np.abs(rng.standard_normal((k, d)))
