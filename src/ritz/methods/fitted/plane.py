"""A fitted model as a plane with a spread: what every distance of a row is made of.

    z = (x − μ) D_σ⁻¹          the row in the frame of the fit, (d)
    y = B z                    coordinates in an orthonormal basis B (k×d) of the plane
    T² = ‖y W‖²                W (k×k) whitens: Λ^-½ for principal axes, R L^-ᵀ where scores are correlated
    Q  = ‖z − Bᵀy‖²            what the plane leaves of the row

Components without variance are no part of the plane: a row that has something along them is a row off the plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tolerance import NOISE_FLOOR, unit_roundoff
from ritz.project.residual import Frame

__all__ = ["Plane", "plain_distances", "principal", "with_variance"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Plane:
    """The plane of a linear model."""

    basis: Floats  # (k, d) orthonormal rows B
    white: Floats  # (k, k) W
    mean: Floats | None  # (d,)
    scale: Floats | None  # (d,)
    variances: Floats  # (k,) of the scores along the basis where W is diagonal
    rows: float  # Σw of the fit
    divisor: float  # of the variances
    centered: bool
    rest: float  # θ₁: the variance off the plane
    model: Any
    low: Floats | None = None  # (d,) what rounding took from the mean
    chosen: bool = True  # the plane of the largest variances: it overfits the rows it was chosen from

    @property
    def k(self) -> int:
        """Dimensions of the plane."""
        return int(self.basis.shape[0])

    @property
    def d(self) -> int:
        """Columns."""
        return int(self.basis.shape[1])

    @property
    def frame(self) -> Frame:
        """What rows are compared with."""
        return Frame(self.basis, self.white, self.mean, self.scale, self.low)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the variances: Σw, one less where a mean was estimated."""
        return self.rows - 1 if self.centered else self.rows


def principal(axes: Floats, values: Floats, keep: NDArray[np.bool_], map_: Any, **fields: Any) -> Plane:
    """Of eigenvectors (k, d) with variances: the basis is those to keep, W = Λ^-½; ``map_`` has mean and scale."""
    variances = values[keep]
    basis = axes[keep] / np.linalg.norm(axes[keep], axis=1, keepdims=True)
    mean, scale = (None if array is None else np.asarray(array, np.float64) for array in (map_.mean, map_.scale))
    return Plane(
        basis, np.diag(1 / np.sqrt(variances)), mean, scale, variances, centered=mean is not None, **fields
    )  # fmt: skip


def plain_distances(plane: Plane, rows: Any) -> Floats:
    """(n,) squared distances of rows from the centre: on the plane and off it."""
    plain = Frame(plane.basis, np.eye(plane.k), plane.mean, plane.scale, plane.low)
    return np.asarray(plain.distances(rows).sum(axis=1))


def with_variance(values: Floats, components: Floats, dtype: Any) -> NDArray[np.bool_]:
    """Components whose variance is more than rounding of the largest."""
    d = components.shape[1]
    floor = (NOISE_FLOOR * unit_roundoff(dtype) * np.sqrt(d)) ** 2 * float(np.max(values, initial=0.0))
    return np.asarray((values > floor) & (np.linalg.norm(components, axis=1) > 0))
