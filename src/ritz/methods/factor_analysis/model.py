"""The Gaussian model of factor analysis: z ~ N(0, GGᵀ + Ψ), G = LΦ^½ (d×k), on the fitted scale.

    B = Ψ^-½G,  u = zΨ^-½,  f = (I + BᵀB)⁻¹Bᵀu,  zᵀΣ⁻¹z = ‖u − Bf‖² + ‖f‖²,  log|Σ| = Σ log ψ + log|I + BᵀB|

Two squares that are added: ‖u‖² − ‖C⁻¹Bᵀu‖² would cancel for rows that the factors explain.

Columns that do not vary have ψ = 0 and no part in densities and scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Block, blocks_of
from ritz.data.passes.center import taken_off
from ritz.data.passes.finite import require_finite

__all__ = ["FactorModel", "score_weights"]

Floats = NDArray[np.float64]


def score_weights(L: Floats, psi: Floats, phi: Floats, method: str) -> Floats:
    """What turns z into scores, (d, k)."""
    with np.errstate(divide="ignore"):
        U = L * np.where(psi > 0, 1 / psi, 0.0)[:, None]
    M = L.T @ U
    if method == "regression":
        M = M + np.linalg.inv(phi)
        return np.asarray(np.linalg.solve(M, U.T).T, np.float64)
    return np.asarray(U @ np.linalg.pinv(M, hermitian=True), np.float64)


@dataclass(frozen=True)
class FactorModel:
    """Common and unique parts of a covariance."""

    common: Floats  # (d, k) G
    unique: Floats  # (d,) ψ
    mean: Floats | None
    scale: Floats | None
    names: Any = None  # of the columns, for messages
    low: Floats | None = None  # (d,) what rounding took from the mean

    def covariance(self) -> Floats:
        """(d, d), in the units of the data."""
        C = self.common @ self.common.T + np.diag(self.unique)
        return C if self.scale is None else C * self.scale[:, None] * self.scale

    def precision(self) -> Floats:
        """Its inverse, by the matrix inversion lemma; a pseudo-inverse where columns do not vary."""
        weight = np.zeros(len(self.unique))
        np.divide(1.0, self.unique, out=weight, where=self.unique > 0)
        U = self.common * weight[:, None]
        P = np.diag(weight) - U @ np.linalg.solve(np.eye(U.shape[1]) + self.common.T @ U, U.T)
        return P if self.scale is None else P / self.scale[:, None] / self.scale

    def log_likelihood(self, X: Any) -> Floats:
        """log p of every row, over the columns that vary."""
        scale = np.ones(len(self.unique)) if self.scale is None else self.scale
        there = self.unique > 0
        spread = np.where(there, scale * np.sqrt(self.unique), np.inf)
        B = self.common / np.where(there, np.sqrt(self.unique), np.inf)[:, None]
        C = np.linalg.cholesky(np.eye(B.shape[1]) + B.T @ B)
        blocks = blocks_of(X)

        def step(_scratch: dict[str, Any], block: Block) -> Floats:
            x = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
            u = taken_off(x, self.mean, self.low) / spread
            f = np.linalg.solve(C.T, np.linalg.solve(C, (u @ B).T)).T
            return (np.square(u - f @ B.T).sum(axis=1) + np.square(f).sum(axis=1))[:, None]

        with np.errstate(over="ignore", invalid="ignore"):
            distance = blocks.map_rows(step, np.empty((blocks.shape[0], 1)))[:, 0]
        if not np.isfinite(distance).all():
            require_finite(X, self.names)
        logdet = 2 * float(np.sum(np.log(spread[there])) + np.sum(np.log(np.diag(C))))
        return -0.5 * (int(there.sum()) * np.log(2 * np.pi) + logdet + distance)
