"""The probabilistic model of PCA: z ~ N(0, V(Λ − σ²)Vᵀ + σ²I) on the fitted scale.          [Tipping & Bishop 1999]

    log p(z) = −½ [ d log 2π + Σ log λᵢ + (d − k) log σ² + Σ tᵢ²/λᵢ + ‖z − VVᵀz‖²/σ² ]

What is left of a row is formed as a vector: ‖z‖² − Σtᵢ² would lose it beside a row that is far along an axis. No d×d
matrix is formed for likelihoods. With σ² = 0 and k < d the model has no density off its subspace: −∞ there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tolerance import NOISE_FLOOR, unit_roundoff
from ritz.data.passes.finite import require_finite
from ritz.methods.rest import rest_of, wide_axes
from ritz.methods.scaling import TINY, divisor_held, require_told, times_square
from ritz.project.residual import Frame, Parts

__all__ = ["GaussianModel", "deviations", "gaussian_of", "left_of_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianModel:
    """A fitted subspace with its variances and the noise outside."""

    components: Floats  # (k, d)
    variances: Floats  # (k,)
    noise: float
    mean: Floats | None
    scale: Floats | None
    names: Any = None  # of the columns, for messages
    low: Floats | None = None  # (d,) what rounding took from the mean

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.components.shape[1])

    def covariance(self) -> Floats:
        """Model covariance in the units of the data, (d, d)."""
        V = self.components
        C = (V.T * np.maximum(self.variances - self.noise, 0.0)) @ V
        C.flat[:: self.d + 1] += self.noise
        return C if self.scale is None else C * self.scale[:, None] * self.scale

    def precision(self) -> Floats:
        """Its inverse, (d, d), by the matrix inversion lemma; a pseudo-inverse where the model is singular."""
        if self.noise == 0:
            return np.asarray(np.linalg.pinv(self.covariance(), hermitian=True), np.float64)
        V = self.components
        P = (V.T * (1 / np.maximum(self.variances, self.noise) - 1 / self.noise)) @ V
        P.flat[:: self.d + 1] += 1 / self.noise
        return P if self.scale is None else P / self.scale[:, None] / self.scale

    def _plane(self) -> tuple[Frame, Floats]:
        """Rows against the plane of the components, and R (k, k): scores t = yR of coordinates y in its basis."""
        # orthonormal to float64: components of a float32 model leave 1e-8 of a long row beside the plane
        Q, R = np.linalg.qr(self.components.T)
        return Frame(Q.T, np.eye(Q.shape[1]), self.mean, self.scale, self.low), R

    def _mapped(self, X: Any, width: int, step: Any) -> Floats:
        return self._known(X, self._plane()[0].map(X, width, step))

    def _known(self, X: Any, out: Floats) -> Floats:
        """What was computed of rows, all of which must be finite."""
        if not np.isfinite(out).all():
            require_finite(X, self.names)
        return out

    def log_likelihood(self, X: Any) -> Floats:
        """log p of every row."""
        k, d = len(self.variances), self.d
        variances = np.maximum(self.variances, self.noise)
        with np.errstate(over="ignore"):  # far outside a model without width: −∞
            if self.noise > 0 or d == k:
                inside, rest = self._distances(X, variances).T
                outside = rest / self.noise if d > k else np.zeros(len(rest))
            else:
                inside, outside = self._without_width(X, variances)
        logdet = float(np.sum(np.log(variances)))
        if d > k:
            logdet += (d - k) * (np.log(self.noise) if self.noise > 0 else 0.0)
        if self.scale is not None:
            logdet += 2 * float(np.sum(np.log(self.scale)))
        return -0.5 * (d * np.log(2 * np.pi) + logdet + inside + outside)

    def _distances(self, X: Any, variances: Floats) -> Floats:
        """Σ tᵢ²/λᵢ and ‖z − VVᵀz‖² of every row, (n, 2)."""
        plane, R = self._plane()
        white = replace(plane, white=R / np.sqrt(variances))
        return self._known(X, white.distances(X))

    def _without_width(self, X: Any, variances: Floats) -> tuple[Floats, Floats]:
        """Σ tᵢ²/λᵢ, and ∞ for rows off the plane, of a model without noise."""
        R = self._plane()[1]

        def step(part: Parts) -> Floats:
            T = part.whitened @ R
            inside = np.sum(T**2 / variances, axis=1)
            return np.column_stack([inside, part.squares, np.square(part.whitened).sum(axis=1)])

        inside, rest, along = self._mapped(X, 3, step).T
        return inside, np.where(self._off(X, rest, along), np.inf, 0.0)

    def _off(self, X: Any, rest: Floats, along: Floats) -> NDArray[np.bool_]:
        """Whether rows lie off the plane by more than storing them rounds: as large as they are, mean included."""
        u = max(unit_roundoff(X.dtype), unit_roundoff(np.float64))
        about = 0.0
        if self.mean is not None:
            about = float(np.sum(np.square(self.mean if self.scale is None else self.mean / self.scale)))
        return rest > self.d * (NOISE_FLOOR * NOISE_FLOOR * u) ** 2 * (along + rest + about)

    def reconstruction_error(self, X: Any) -> Floats:
        """Mean squared error of rows rebuilt from 0, 1, …, k components."""
        k, R = len(self.variances), self._plane()[1]

        def step(part: Parts) -> Floats:
            return np.column_stack([np.square(part.whitened @ R), part.squares])

        parts = self._mapped(X, k + 1, step)
        # what each component leaves is what the later ones take, and the rest: sums of squares, no difference
        return np.asarray(np.cumsum(np.mean(parts, axis=0)[::-1])[::-1])


# of a fitted PCA


def _floored(model: Any) -> Floats:
    """Variances, none below rounding: dividing by those of a null space must not blow up its noise."""
    variance = np.asarray(model.explained_variance_, np.float64)
    noise = NOISE_FLOOR * unit_roundoff(model._record.dtype) * np.sqrt(model.n_features_in_)
    return np.maximum(variance, max(noise**2 * np.max(variance, initial=0.0), np.finfo(np.float64).tiny))


def deviations(model: Any) -> Floats:
    """Standard deviations of the scores, floored as the variances; of singular values where those underflow."""
    if float(np.max(model.explained_variance_, initial=0.0)) > TINY or not np.any(model.singular_values_):
        return np.asarray(np.sqrt(_floored(model)))
    noise = NOISE_FLOOR * unit_roundoff(model._record.dtype) * np.sqrt(model.n_features_in_)
    sigma = np.asarray(model.singular_values_, np.float64) / np.sqrt(divisor_held(model))
    return np.asarray(np.maximum(sigma, noise * np.max(sigma)))


def gaussian_of(model: Any) -> GaussianModel:
    """The probabilistic model of a fitted PCA."""
    require_told(model, "a Gaussian model")
    record, names = model._record, getattr(model, "feature_names_in_", None)
    return GaussianModel(
        wide_axes(model), _floored(model), float(model.noise_variance_), record.mean64, record.scale64, names,
        record.mean_low,
    )  # fmt: skip


def left_of_rows(model: Any) -> Floats:
    """Mean squared errors of the rows of the fit rebuilt from 0, 1, …, k components, from the spectrum alone."""
    rest, weight = rest_of(model), model._record.weight
    # sums from the end: what is left, then one component more at a time
    values = np.concatenate([np.maximum(model.certificate_.values, 0.0), [0.0 if np.isnan(rest) else rest]])
    errors = np.cumsum(values[::-1])[::-1] / weight
    errors[-1:] = rest / weight  # NaN where a state cannot tell
    return np.asarray(times_square(errors, model.certificate_.frame.get("shown", 1.0)))
