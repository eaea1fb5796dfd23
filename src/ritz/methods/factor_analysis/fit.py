"""Two ways to fit S ≈ LLᵀ + Ψ, L (d×k), Ψ diagonal.

    maximum likelihood   f(Ψ) = log|Σ| + tr Σ⁻¹S at the best L for Ψ:  Ψ^-½SΨ^-½ = V diag(e) Vᵀ,
                         L = Ψ^½ Vₖ (θ − 1)^½, θ = max(e, 1),   ∂f/∂log ψᵢ = Σ_{m left out} (1 − eₘ) v²ᵢₘ     [Jor67]
    principal axes       f(Ψ) = ½ Σ of the squared eigenvalues of S − Ψ that are left out, ∂f/∂ψᵢ = −Σ eₘ v²ᵢₘ;
                         its minimum is where iterated principal axes come to rest (minimum residuals)       [HJ66]

Both are minimised over log Ψ, which no scale of the columns can spoil, between a floor (a uniqueness of zero is a
Heywood case) and the variance of the column. S may be singular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Uniquenesses", "discrepancy", "fit_uniquenesses", "principal_axes_loadings"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Uniquenesses:
    """Uniquenesses and how they were found."""

    uniquenesses: Floats  # (d,)
    iterations: int
    slope: float  # largest projected gradient that is left
    heywood: NDArray[np.bool_]  # (d,) stopped by the floor


def fit_uniquenesses(S: Floats, k: int, method: str, floor: float, max_iter: int, tol: float) -> Uniquenesses:
    """Uniquenesses of a covariance matrix (d, d) without constant columns, none below ``floor`` of its variance."""
    from scipy.optimize import minimize

    variance = np.diag(S)
    low, high = np.log(floor * variance), np.log(variance)
    value = _likelihood(S, k) if method == "ml" else _residual(S, k)
    start = np.clip(np.log(_start(S, k)), low, high)
    options = {"maxiter": max_iter, "ftol": 1e-15, "gtol": tol, "maxcor": 20}
    minimum = minimize(
        lambda x: value(x)[:2], start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)),
        options=options,
    )  # fmt: skip
    x = _polished(minimum.x, low, high, value, tol)
    left = _projected(x, value(x)[1], low, high)
    stopped = x <= low + 1e-9
    return Uniquenesses(np.exp(x), int(minimum.nit), float(np.max(np.abs(left), initial=0.0)), stopped)


Value = Callable[[Floats], tuple[float, Floats, Floats]]


def _likelihood(S: Floats, k: int) -> Value:
    def value(x: Floats) -> tuple[float, Floats, Floats]:
        half = np.exp(-x / 2)
        e, V = np.linalg.eigh(half[:, None] * S * half)
        e, V = e[::-1], V[:, ::-1]
        theta = np.ones_like(e)
        theta[:k] = np.maximum(e[:k], 1.0)
        rest = V * np.sqrt(np.where(theta == 1.0, 1.0, 0.0))
        slope = np.square(rest) @ (1 - e)
        curve = np.square(rest @ rest.T)  # the Hessian where what is left out is noise [Jor67]
        return float(np.sum(x) + np.sum(np.log(theta) + e / theta)), slope, curve

    return value


def _residual(S: Floats, k: int) -> Value:
    unit = float(np.mean(np.diag(S))) ** 2

    def value(x: Floats) -> tuple[float, Floats, Floats]:
        psi = np.exp(x)
        e, V = np.linalg.eigh(S - np.diag(psi))
        e, V = e[::-1].copy(), V[:, ::-1]
        out = np.ones(len(e), bool)
        out[:k] = e[:k] < 0
        left = np.where(out, e, 0.0)
        slope = -(np.square(V) @ left) * psi / unit
        rest = V[:, out]
        curve = np.square(rest @ rest.T) * np.outer(psi, psi) / unit
        return float(left @ left) / 2 / unit, slope, curve

    return value


def _start(S: Floats, k: int) -> Floats:
    """(1 − k/2d)/diag S⁻¹, as factanal; a singular S gets a little on its diagonal."""
    d, variance = len(S), np.diag(S)
    inverse = np.linalg.inv(S + np.diag(1e-8 * variance))
    return (1 - 0.5 * k / d) / np.maximum(np.diag(inverse), 1 / variance)


def _projected(x: Floats, slope: Floats, low: Floats, high: Floats) -> Floats:
    """The slope, without what would lead out of the bounds."""
    blocked = ((x <= low + 1e-9) & (slope > 0)) | ((x >= high - 1e-9) & (slope < 0))
    return np.where(blocked, 0.0, slope)


def _polished(x: Floats, low: Floats, high: Floats, value: Value, tol: float) -> Floats:
    """A few scoring steps: line searches end where f stops to change, long before its slope is zero."""
    for _ in range(20):
        _, slope, curve = value(x)
        left = _projected(x, slope, low, high)
        if float(np.max(np.abs(left), initial=0.0)) <= min(tol, 1e-12):
            break
        free = left != 0
        step = np.zeros_like(x)
        step[free] = np.linalg.lstsq(curve[np.ix_(free, free)], left[free], rcond=1e-12)[0]
        new = np.clip(x - step, low, high)
        if np.linalg.norm(_projected(new, value(new)[1], low, high)) >= np.linalg.norm(left):
            break
        x = new
    return x


def principal_axes_loadings(S: Floats, psi: Floats, k: int) -> Floats:
    """L = Vₖ e^½ of S − Ψ, (d, k)."""
    e, V = np.linalg.eigh(S - np.diag(psi))
    return np.asarray(V[:, ::-1][:, :k] * np.sqrt(np.maximum(e[::-1][:k], 0.0)), np.float64)


def discrepancy(S: Floats, L: Floats, psi: Floats) -> float:
    """log|Σ| − log|S| + tr Σ⁻¹S − d; NaN where S is singular."""
    sigma = L @ L.T + np.diag(psi)
    sign, size = np.linalg.slogdet(S)
    values = np.linalg.eigvalsh(S)
    if sign <= 0 or values[0] <= 1e-12 * values[-1]:
        return float("nan")
    trace = float(np.trace(np.linalg.solve(sigma, S)))
    return float(np.linalg.slogdet(sigma)[1] - size) + trace - len(S)
