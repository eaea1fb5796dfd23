"""The probabilistic model of PCA: z ~ N(0, V(Λ − σ²)Vᵀ + σ²I) on the fitted scale.          [Tipping & Bishop 1999]

    log p(z) = −½ [ d log 2π + Σ log λᵢ + (d − k) log σ² + Σ tᵢ²/λᵢ + (‖z‖² − Σtᵢ²)/σ² ]

No d×d matrix is formed for likelihoods. With σ² = 0 and k < d the model has no density off its subspace: −∞ there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.project.linear import LinearMap

__all__ = ["GaussianModel", "square_norms"]


@dataclass(frozen=True)
class GaussianModel:
    """A fitted subspace with its variances and the noise outside."""

    components: NDArray[np.float64]  # (k, d)
    variances: NDArray[np.float64]  # (k,)
    noise: float
    mean: NDArray[np.float64] | None
    scale: NDArray[np.float64] | None
    names: Any = None  # of the columns, for messages

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.components.shape[1])

    def covariance(self) -> NDArray[np.float64]:
        """Model covariance in the units of the data, (d, d)."""
        V = self.components
        C = (V.T * np.maximum(self.variances - self.noise, 0.0)) @ V
        C.flat[:: self.d + 1] += self.noise
        return C if self.scale is None else C * self.scale[:, None] * self.scale

    def precision(self) -> NDArray[np.float64]:
        """Its inverse, (d, d), by the matrix inversion lemma; a pseudo-inverse where the model is singular."""
        if self.noise == 0:
            return np.asarray(np.linalg.pinv(self.covariance(), hermitian=True), np.float64)
        V = self.components
        P = (V.T * (1 / np.maximum(self.variances, self.noise) - 1 / self.noise)) @ V
        P.flat[:: self.d + 1] += 1 / self.noise
        return P if self.scale is None else P / self.scale[:, None] / self.scale

    def _parts(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores t and squared lengths ‖z‖² of rows on the fitted scale."""
        # in float64 for float32 rows too: what is left outside is a difference
        frame = LinearMap(self.components, self.mean, self.scale, None, self.names)
        return frame.forward(X, np.float64), square_norms(X, self.mean, self.scale)

    def log_likelihood(self, X: Any) -> NDArray[np.float64]:
        """log p of every row."""
        T, length = self._parts(X)
        k, d = len(self.variances), self.d
        variances = np.maximum(self.variances, self.noise)
        logdet = float(np.sum(np.log(variances)))
        with np.errstate(over="ignore"):  # far outside a model without width: −∞
            inside = np.sum(T**2 / variances, axis=1)
        rest = np.maximum(length - np.sum(T**2, axis=1), 0.0)
        outside = np.zeros(len(rest))
        if d > k:
            tiny = 1e-12 * np.maximum(length, np.finfo(float).tiny)
            outside = rest / self.noise if self.noise > 0 else np.where(rest > tiny, np.inf, 0.0)
            logdet += (d - k) * (np.log(self.noise) if self.noise > 0 else 0.0)
        if self.scale is not None:
            logdet += 2 * float(np.sum(np.log(self.scale)))
        return -0.5 * (d * np.log(2 * np.pi) + logdet + inside + outside)

    def reconstruction_error(self, X: Any) -> NDArray[np.float64]:
        """Mean squared error of rows rebuilt from 0, 1, …, k components."""
        T, length = self._parts(X)
        explained = np.concatenate([np.zeros((len(T), 1)), np.cumsum(T**2, axis=1)], axis=1)
        return np.maximum(np.mean(length[:, None] - explained, axis=0), 0.0)


def square_norms(X: Any, mean: Any, scale: Any, rows: int = 1024) -> NDArray[np.float64]:
    """‖(x − μ)D⁻¹‖² of every row, block by block."""
    if not isinstance(X, np.ndarray):
        return _sparse_norms(X, mean, scale)
    out = np.empty(X.shape[0])
    for start in range(0, X.shape[0], rows):
        z = X[start : start + rows].astype(np.float64)
        if mean is not None:
            z -= mean
        if scale is not None:
            z /= scale
        out[start : start + rows] = np.einsum("ij,ij->i", z, z)
    return out


def _sparse_norms(X: Any, mean: Any, scale: Any) -> NDArray[np.float64]:
    """The same from stored entries alone: ‖μD⁻¹‖² + Σ x(x − 2μ)/σ² over them."""
    metric = np.ones(X.shape[1]) if scale is None else 1 / np.square(scale)
    parts = X.astype(np.float64)  # a copy of the stored entries, which are overwritten
    parts.data *= parts.data - (0.0 if mean is None else 2 * mean[parts.indices])
    about_zero = 0.0 if mean is None else float(np.square(mean) @ metric)
    return np.asarray(parts @ metric) + about_zero
