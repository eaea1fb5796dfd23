"""Probabilities of the cells of a table under a bivariate normal distribution with correlation ρ.

    Φ₂(h, k; ρ) = ½[Φ(h) + Φ(k)] − T(h, (k − ρh)/(h√(1 − ρ²))) − T(k, (h − ρk)/(k√(1 − ρ²))) − ½[hk < 0]     [Owen56]
    π_ij = Φ₂(a_i, b_j) − Φ₂(a_{i−1}, b_j) − Φ₂(a_i, b_{j−1}) + Φ₂(a_{i−1}, b_{j−1})
    ∂Φ₂/∂ρ = φ₂(h, k; ρ),    ∂Φ₂/∂h = φ(h)Φ((k − ρh)/√(1 − ρ²))                                            [Pla54]

Owen's T is SciPy's, right to the last digits of absolute value; differences of Φ₂ are right to about 1e-16.
Shapes: thresholds a (r − 1,), b (c − 1,), cells (r, c).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "normal_both"]

Floats = NDArray[np.float64]

#: Smallest probability of a cell: what the differences of Φ₂ are sure to.
LEAST = 1e-16


def normal_both(h: Any, k: Any, rho: float) -> Floats:
    """P(X ≤ h, Y ≤ k) of standard normal X and Y with correlation ρ in (−1, 1)."""
    from scipy.special import ndtr, owens_t

    h, k = np.broadcast_arrays(np.asarray(h, np.float64), np.asarray(k, np.float64))
    root = np.sqrt((1 - rho) * (1 + rho))
    both = (h == 0) & (k == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = owens_t(h, np.where(h == 0, np.copysign(np.inf, k), (k - rho * h) / (h * root)))
        two = owens_t(k, np.where(k == 0, np.copysign(np.inf, h), (h - rho * k) / (k * root)))
    apart = (h * k < 0) | ((h * k == 0) & (h + k < 0))
    value = 0.5 * (ndtr(h) + ndtr(k)) - one - two - 0.5 * apart
    return np.asarray(np.where(both, 0.25 + np.arcsin(rho) / (2 * np.pi), np.clip(value, 0.0, 1.0)))


class Cells:
    """The cells of a table with thresholds a (r − 1,) and b (c − 1,)."""

    def __init__(self, a: Floats, b: Floats) -> None:
        self.a, self.b = np.asarray(a, np.float64), np.asarray(b, np.float64)

    def probabilities(self, rho: float) -> Floats:
        """π (r, c), none below what rounding leaves."""
        from scipy.special import ndtr

        r, c = len(self.a) + 1, len(self.b) + 1
        corners = np.zeros((r + 1, c + 1))
        corners[1:-1, 1:-1] = normal_both(self.a[:, None], self.b[None, :], rho)
        corners[-1, 1:-1], corners[1:-1, -1], corners[-1, -1] = ndtr(self.b), ndtr(self.a), 1.0
        return np.asarray(np.maximum(_cells(corners), LEAST))

    def slopes(self, rho: float) -> Floats:
        """∂π/∂ρ (r, c)."""
        h, k, rest = self.a[:, None], self.b[None, :], (1 - rho) * (1 + rho)
        corners = np.zeros((len(self.a) + 2, len(self.b) + 2))
        density = np.exp(-0.5 * (np.square(h - rho * k) / rest + np.square(k)))
        corners[1:-1, 1:-1] = density / (2 * np.pi * np.sqrt(rest))
        return _cells(corners)

    def by_thresholds(self, rho: float) -> tuple[Floats, Floats]:
        """∂π/∂a (r − 1, r, c) and ∂π/∂b (c − 1, r, c)."""
        return _by_rows(self.a, self.b, rho), _by_rows(self.b, self.a, rho).transpose(0, 2, 1)


def _by_rows(a: Floats, b: Floats, rho: float) -> Floats:
    from scipy.special import ndtr

    root = np.sqrt((1 - rho) * (1 + rho))
    edge = np.zeros((len(a), len(b) + 2))
    edge[:, 1:-1], edge[:, -1] = ndtr((b[None, :] - rho * a[:, None]) / root), 1.0
    slope = np.diff(edge, axis=1) * (np.exp(-0.5 * np.square(a)) / np.sqrt(2 * np.pi))[:, None]
    out = np.zeros((len(a), len(a) + 1, len(b) + 1))
    at = np.arange(len(a))
    out[at, at], out[at, at + 1] = slope, -slope
    return out


def _cells(corners: Floats) -> Floats:
    """Second differences of values at the corners."""
    return np.asarray(np.diff(np.diff(corners, axis=0), axis=1))
