"""The Gaussian model of factor analysis: z ~ N(0, GGᵀ + Ψ), G = LΦ^½ (d×k), on the fitted scale.

    B = Ψ^-½G,   u = zΨ^-½,   zᵀΣ⁻¹z = ‖u‖² − ‖uB C⁻¹‖²,   log|Σ| = Σ log ψ + log|I + BᵀB|,   CᵀC = I + BᵀB

Columns that do not vary have ψ = 0 and no part in densities and scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.likelihood import square_norms
from ritz.project.linear import LinearMap

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
    mean: Floats
    scale: Floats | None
    names: Any = None  # of the columns, for messages

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
        T = LinearMap(B.T, self.mean, spread, None, self.names).forward(X, np.float64)
        inside = np.square(np.linalg.solve(C, T.T)).sum(axis=0)
        length = square_norms(X, self.mean, spread)
        logdet = 2 * float(np.sum(np.log(spread[there])) + np.sum(np.log(np.diag(C))))
        return -0.5 * (int(there.sum()) * np.log(2 * np.pi) + logdet + length - inside)
