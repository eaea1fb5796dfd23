"""Nyström features: k(x, y) ≈ φ̂(x)·φ̂(y) with φ̂(x) = Rᵀ k(Z, x), RRᵀ = (k(Z, Z) + νI)⁻¹, m landmarks Z.

    K̂ = K_nm (K_mm + νI)⁻¹ K_mn ⪯ K        so  λᵢ(HK̂H) ≤ λᵢ(HKH) ≤ λᵢ(HK̂H) + tr K − tr K̂   for a positive kernel

Landmarks: accelerated randomly pivoted Cholesky [Chen, Epperly, Tropp, Webber 2024; Epperly, Tropp, Webber 2024]
(proposals in blocks, kept by rejection, so that the law is that of one pivot after the other), uniform, k-means
centres, or the user's own. What centres are taken of are the features, never K_mm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.tolerance import unit_roundoff
from ritz.kernels.base import Kernel, Prepared

__all__ = ["SAMPLING", "NystromMap", "choose_landmarks", "nystrom_map", "tile_rounding"]

SAMPLING = ("rpcholesky", "uniform", "kmeans")
#: Pivots that are proposed at once.
PROPOSALS = 120
#: Diagonal that is added to a block of pivots, in units of its largest entry times their number times u.
JITTER = 10.0
#: ν in units of m·ε·max k(z, z), where ε is what tiles are rounded to.
RIDGE = 4.0
#: An eigenvalue of K_mm below minus this many times its largest entry is not rounding.
SINGULAR = 1e-8
#: Columns of K that are formed at once while pivots are chosen.
COLUMN_ROWS = 8192
#: Residual share of the trace below which no further pivot says anything new: this, and this many units of round-off.
EXHAUSTED, BLUR = 1e-12, 16.0
#: Rounds of proposals in a row of which none is kept: what is left is rounding.
PATIENCE = 8


@dataclass(frozen=True, eq=False)
class NystromMap:
    """φ̂ of rows prepared like the landmarks."""

    kernel: Kernel
    landmarks: Prepared
    inverse: NDArray[np.float64]  # (m, m), a root R of (K_mm + νI)⁻¹ = RRᵀ: φ̂ = k(x, Z) R

    @property
    def size(self) -> int:
        """Number of features."""
        return self.landmarks.n

    def rows(self, A: Prepared, start: int, stop: int) -> NDArray[Any]:
        """φ̂ of some rows, (stop − start, m)."""
        C = self.kernel.tile(A, self.landmarks, slice(start, stop), slice(0, self.landmarks.n))
        return C @ self.inverse.astype(C.dtype)

    def transform(self, X: Any) -> NDArray[Any]:
        """φ̂ of rows as they are given."""
        A = self.kernel.prepare(X, like=self.landmarks, dtype=self.landmarks.dtype)
        return self.rows(A, 0, A.n)


def nystrom_map(kernel: Kernel, landmarks: Prepared) -> NystromMap:
    """Features from landmarks; nearly equal ones are told apart by a small ridge, which keeps K̂ ⪯ K."""
    wide = landmarks.at(np.float64)
    M = kernel.matrix(wide, wide).astype(np.float64)
    scale = float(np.max(np.diag(M), initial=0.0)) or 1.0
    # tiles are rounded to ε·k, which R magnifies to ε·k√(m/ν) a row: with ν = m·ε·k its square is ε·k
    ridge = RIDGE * M.shape[0] * tile_rounding(kernel, landmarks) * scale
    values, Q = np.linalg.eigh(M)
    if len(values) and values[0] < -max(ridge, SINGULAR * scale):
        raise ParameterError(
            "landmarks need a positive semidefinite kernel",
            received=f"{kernel!r}, whose matrix on {M.shape[0]} landmarks has the eigenvalue {values[0]:.3g}",
            hint="solver='krylov' takes indefinite kernels",
        )
    # by eigenvectors: the inverse of a triangle has the condition of the matrix in its errors, in all directions
    return NystromMap(kernel, landmarks, Q / np.sqrt(np.maximum(values, 0.0) + ridge))


def tile_rounding(kernel: Kernel, A: Prepared) -> float:
    """ε: about what entries of tiles are rounded to, in units of k(x, x)."""
    rough = float(np.quantile(kernel.roughness(A), 0.99)) if A.n else 1.0
    return unit_roundoff(A.dtype) * max(rough, 1.0)


def choose_landmarks(
    kernel: Kernel, A: Prepared, m: int, sampling: Literal["rpcholesky", "uniform", "kmeans"] | str, seed: int
) -> NDArray[np.intp]:
    """Positions of m landmarks among the rows (fewer where the rows are exhausted), in increasing order."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0x4E59]))
    m = min(m, A.n)
    if sampling == "uniform":
        return np.sort(rng.choice(A.n, m, replace=False))
    if sampling == "rpcholesky":
        return np.sort(rpcholesky(kernel, A, m, rng))
    raise ParameterError(
        f"sampling must be one of {', '.join(SAMPLING)}", received=repr(sampling), hint="sampling='rpcholesky'"
    )


def rpcholesky(kernel: Kernel, A: Prepared, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Pivots of randomly pivoted Cholesky, proposed in blocks and kept by rejection."""
    n = A.n
    diagonal = np.maximum(np.asarray(kernel.diag(A), np.float64), 0.0)
    total = float(diagonal.sum())
    G = np.zeros((n, m), np.float32 if A.dtype.itemsize == 4 else np.float64)
    pivots: list[int] = []
    residual = diagonal.copy()
    enough, idle = max(EXHAUSTED, BLUR * unit_roundoff(G.dtype)) * total, 0
    while len(pivots) < m and idle < PATIENCE and float(residual.sum()) > enough:
        share = residual / residual.sum()
        proposed = rng.choice(n, size=min(PROPOSALS, n), p=share)
        kept = _accepted(kernel, A, G[:, : len(pivots)], residual, proposed, rng)[: m - len(pivots)]
        idle = 0 if len(kept) else idle + 1
        if not len(kept):
            continue
        _extend(kernel, A, G, len(pivots), kept, residual)
        pivots += [int(i) for i in kept]
        residual[pivots] = 0.0
    return np.asarray(pivots or [0], np.intp)  # rows without any k(x, x): one stands for all


def _accepted(
    kernel: Kernel, A: Prepared, G: NDArray[Any], residual: NDArray[Any], proposed: NDArray[Any], rng: Any
) -> NDArray[np.intp]:
    """Proposals kept by rejection: each with the share of its diagonal that those kept before it leave."""
    few = A.take(proposed)
    H = kernel.matrix(few, few).astype(np.float64) - G[proposed].astype(np.float64) @ G[proposed].T.astype(np.float64)
    first = np.maximum(residual[proposed], np.finfo(float).tiny)
    draws = rng.random(len(proposed)) * first
    kept: list[int] = []
    for i in range(len(proposed)):
        if draws[i] < H[i, i] and H[i, i] > 0:
            kept.append(i)
            column = H[:, i] / np.sqrt(H[i, i])
            H = H - np.outer(column, column)
    return np.asarray(proposed)[kept]


def _extend(
    kernel: Kernel, A: Prepared, G: NDArray[Any], done: int, pivots: NDArray[np.intp], residual: NDArray[Any]
) -> None:
    """Columns of the Cholesky factor for new pivots, some rows at a time; the residual diagonal shrinks with them."""
    few = A.take(pivots)
    old = G[pivots, :done].astype(np.float64)
    H = kernel.matrix(few, few).astype(np.float64) - old @ old.T
    H += JITTER * len(pivots) * unit_roundoff(G.dtype) * float(np.max(np.diag(H), initial=1e-300)) * np.eye(len(pivots))
    values, vectors = np.linalg.eigh(H)
    # a square root that does not mind nearly dependent pivots
    root = vectors / np.sqrt(np.maximum(values, values[-1] * unit_roundoff(G.dtype)))
    for start in range(0, A.n, COLUMN_ROWS):
        rows = slice(start, min(start + COLUMN_ROWS, A.n))
        C = kernel.tile(A, few, rows, slice(0, few.n)).astype(np.float64) - G[rows, :done].astype(np.float64) @ old.T
        new = C @ root
        G[rows, done : done + len(pivots)] = new
        residual[rows] = np.maximum(residual[rows] - np.sum(new * new, axis=1), 0.0)
