"""Two ways to fit S ≈ LLᵀ + Ψ, L (d×k), Ψ diagonal.

    maximum likelihood   f(Ψ) = log|Σ| + tr Σ⁻¹S at the best L for Ψ:  Ψ^-½SΨ^-½ = V diag(e) Vᵀ,
                         L = Ψ^½ Vₖ (θ − 1)^½, θ = max(e, 1),   ∂f/∂log ψᵢ = Σ_{m left out} (1 − eₘ) v²ᵢₘ     [Jor67]
    principal axes       f(Ψ) = ½ Σ of the squared eigenvalues of S − Ψ that are left out, ∂f/∂ψᵢ = −Σ eₘ v²ᵢₘ;
                         its minimum is where iterated principal axes come to rest (minimum residuals)       [HJ66]

Both are minimised over log Ψ, which no scale of the columns can spoil, between a floor (a uniqueness of zero is a
Heywood case) and the variance of the column. S may be singular. Newton's method finds the minimum in some six steps;
where it does not come to rest, quasi-Newton steps from the same start (L-BFGS-B) do. With W = v_l ∘ v_m (d), the second
derivatives of the likelihood are Σ c_lm WWᵀ over l and m,

    c_lm = (e_l + e_m)/2  for l, m left out,        (1 − e_m)(e_l + e_m)/(e_l − e_m)  for l kept, m left out.

What is left out has eigenvalues near 1. So of many columns Σ WWᵀ over l, m left out, the squares of I − VₖVₖᵀ, does as
well [Jor67]: it takes the k leading pairs alone, and so do f and its slope, as tr M and diag M hold the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Uniquenesses", "discrepancy", "fit_uniquenesses", "principal_axes_loadings"]

Floats = NDArray[np.float64]

#: Steps of Newton's method at most, shares of a step that are tried, and how far a step goes at most, in log Ψ.
NEWTON, SHARES, FURTHEST = 40, (1.0, 0.5, 0.25, 0.1, 0.02), 1.0
#: Slopes at which the minimum is reached, and at which it is where no step leads down any more.
FLAT, RESTING = 1e-12, 1e-9
#: Columns from which k leading pairs are found, and nothing else. Processor ms of a minimum by all pairs and by these,
#: k = 5 of 1,000 rows: 80 columns 4.5 and 14, 160 18 and 21, 320 120 and 42; k = 10, 200 columns 67 and 27; k = 5 of
#: 300 rows, 500 columns 842 and 103.
MANY = 180
#: Entries of diag S diag S⁻¹ above which S is singular: then S⁻¹ says nothing of uniquenesses.
SINGULAR = 1e6


@dataclass(frozen=True)
class Uniquenesses:
    """Uniquenesses and how they were found."""

    uniquenesses: Floats  # (d,)
    iterations: int
    slope: float  # largest projected gradient that is left
    heywood: NDArray[np.bool_]  # (d,) stopped by the floor


def fit_uniquenesses(S: Floats, k: int, method: str, floor: float, max_iter: int, tol: float) -> Uniquenesses:
    """Uniquenesses of a covariance matrix (d, d) without constant columns, none below ``floor`` of its variance."""
    variance = np.diag(S)
    low, high = np.log(floor * variance), np.log(variance)
    value = _likelihood(S, k) if method == "ml" else _residual(S, k)
    start = np.clip(np.log(_start(S, k)), low, high)
    steps = NEWTON if method == "ml" else NEWTON // 3  # which has no exact second derivatives here
    found = _newton(start, low, high, value, tol, min(max_iter, steps))
    if found is None or bool(np.any(found[0] <= low + 1e-9)):  # beside a Heywood case there may be another minimum
        other = _quasi_newton(start, low, high, value, tol, max_iter)
        found = other if found is None or other[3] < found[3] - 1e-9 * (1 + abs(found[3])) else found
    x, slope, iterations, _ = found
    left = _projected(x, slope, low, high)
    stopped = x <= low + 1e-9
    return Uniquenesses(np.exp(x), iterations, float(np.max(np.abs(left), initial=0.0)), stopped)


Value = Callable[[Floats], tuple[float, Floats, Callable[[], tuple[Floats, Floats]]]]
Found = tuple[Floats, Floats, int, float]  # log Ψ, the slope there, steps, and f


def _newton(x: Floats, low: Floats, high: Floats, value: Value, tol: float, max_iter: int) -> Found | None:
    """Newton's steps that go down; None where they do not come to rest."""
    f, slope, curves = value(x)
    for iteration in range(max_iter + 1):
        left = _projected(x, slope, low, high)
        size = float(np.abs(left).max())
        if size <= min(tol, FLAT):
            return x, slope, iteration, f
        if iteration == max_iter:
            break
        step = _step(left, curves)
        for share in SHARES:
            new = np.clip(x - share * step, low, high)
            there = value(new)
            down = there[0] < f - 1e-4 * float(left @ (x - new))
            # near the minimum f does not change any more, but its slope does
            if down or (
                abs(there[0] - f) <= 1e-13 * (1 + abs(f))
                and float(np.abs(_projected(new, there[1], low, high)).max()) < size
            ):
                break
        else:
            return (x, slope, iteration, f) if size <= RESTING else None
        x, (f, slope, curves) = new, there
    return None


def _step(left: Floats, curves: Callable[[], tuple[Floats, Floats]]) -> Floats:
    """H⁻¹ times the slope, of what is free to move; by an H that is surely positive where the exact one is not."""
    step = _solved(left, *curves())
    most = float(np.abs(step).max())
    return step * (FURTHEST / most) if most > FURTHEST else step


def _solved(left: Floats, exact: Floats, sure: Floats) -> Floats:
    from scipy.linalg.lapack import dposv

    free = left != 0
    if not free.all():
        exact, sure = exact[np.ix_(free, free)], sure[np.ix_(free, free)]
    step = np.zeros_like(left)
    _, solved, info = dposv(exact, left[free])
    step[free] = solved if info == 0 else np.linalg.lstsq(sure, left[free], rcond=1e-12)[0]
    return step


def _quasi_newton(start: Floats, low: Floats, high: Floats, value: Value, tol: float, max_iter: int) -> Found:
    from scipy.optimize import minimize

    options = {"maxiter": max_iter, "ftol": 1e-15, "gtol": tol, "maxcor": 20}
    minimum = minimize(
        lambda x: value(x)[:2], start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)),
        options=options,
    )  # fmt: skip
    x = _polished(minimum.x, low, high, value, tol)
    f, slope, _ = value(x)
    return x, slope, int(minimum.nit), f


def _likelihood(S: Floats, k: int) -> Value:
    every = _of_all_pairs(S, k)
    return _of_leading_pairs(S, k, every) if len(S) >= MANY else every


def _of_leading_pairs(S: Floats, k: int, every: Value) -> Value:
    """The likelihood from k pairs that a factor proves to be the leading ones; ``every``: where none does."""
    from ritz.spectral.solvers.leading import leading_pairs  # which small tables do without

    near: list[Floats] = []  # the pairs found last
    size = [1.0]  # of the slope there: pairs need no more digits than it will tell

    def value(x: Floats) -> tuple[float, Floats, Callable[[], tuple[Floats, Floats]]]:
        half = np.exp(-x / 2)
        M = half[:, None] * S * half
        found = leading_pairs(M, k, start=near[-1] if near else None, always=True, tol=min(0.1 * size[0], 1e-3))
        if found is None:
            return every(x)
        near[:] = [np.asarray(found.vectors)[:, :k]]
        head = found.values[:k]
        head = head[head > 1.0]
        V, diagonal = near[0][:, : len(head)], np.diag(M)
        own = 1 - np.sum(np.square(V), axis=1)
        slope = own - (diagonal - np.square(V) @ head)
        size[0] = float(np.max(np.abs(slope), initial=0.0))

        def curves() -> tuple[Floats, Floats]:
            P = -V @ V.T
            P[np.diag_indices_from(P)] += 1.0
            curve = np.square(P)
            return curve, curve

        rest = float(np.sum(diagonal) - np.sum(head))
        return float(np.sum(x) + np.sum(np.log(head))) + len(head) + rest, slope, curves

    return value


def _of_all_pairs(S: Floats, k: int) -> Value:
    def value(x: Floats) -> tuple[float, Floats, Callable[[], tuple[Floats, Floats]]]:
        half = np.exp(-x / 2)
        e, V = np.linalg.eigh(half[:, None] * S * half)
        e, V = e[::-1], V[:, ::-1]
        kept = np.count_nonzero(e[:k] > 1.0)
        head, rest, noise = e[:kept], V[:, kept:], e[kept:]
        slope = np.square(rest) @ (1 - noise)

        def curves() -> tuple[Floats, Floats]:
            P = rest @ rest.T
            exact = (rest * noise) @ rest.T * P
            for i in range(kept):
                c = (1 - noise) * (head[i] + noise) / np.maximum(head[i] - noise, 1e-300)
                v = V[:, i]
                exact += v[:, None] * ((rest * c) @ rest.T) * v
            return exact, np.square(P)  # the second where what is left out is noise [Jor67]

        return float(np.sum(x) + np.sum(np.log(head)) + kept + np.sum(noise)), slope, curves

    return value


def _residual(S: Floats, k: int) -> Value:
    unit = float(np.mean(np.diag(S))) ** 2

    def value(x: Floats) -> tuple[float, Floats, Callable[[], tuple[Floats, Floats]]]:
        psi = np.exp(x)
        e, V = np.linalg.eigh(S - np.diag(psi))
        e, V = e[::-1].copy(), V[:, ::-1]
        out = np.ones(len(e), bool)
        out[:k] = e[:k] < 0
        left = np.where(out, e, 0.0)
        slope = -(np.square(V) @ left) * psi / unit
        rest = V[:, out]

        def curves() -> tuple[Floats, Floats]:
            curve = np.square(rest @ rest.T) * np.outer(psi, psi) / unit
            return curve, curve

        return float(left @ left) / 2 / unit, slope, curves

    return value


def _start(S: Floats, k: int) -> Floats:
    """(1 − k/2d)/diag S⁻¹, as factanal; of a singular S what k principal components of its correlations leave."""
    d, variance = len(S), np.diag(S)
    inverse = np.diag(_inverse(S + np.diag(1e-8 * variance)))
    if d < MANY or float(np.median(inverse * variance)) < SINGULAR:
        return (1 - 0.5 * k / d) / np.maximum(inverse, 1 / variance)
    from ritz.spectral.solvers.leading import leading_pairs  # which small tables do without

    half = 1 / np.sqrt(variance)
    R = half[:, None] * S * half
    found = leading_pairs(R, k, always=True)
    if found is None:
        e, V = np.linalg.eigh(R)
        e, V = e[::-1][:k], V[:, ::-1][:, :k]
    else:
        e, V = found.values[:k], np.asarray(found.vectors)[:, :k]
    noise = (d - float(np.sum(e))) / max(d - k, 1)
    return np.asarray(variance * np.clip(1 - np.square(V) @ np.maximum(e - noise, 0.0), 0.05, 1.0))


def _inverse(S: Floats) -> Floats:
    """S⁻¹ of a positive definite S, with its lower half alone where a Cholesky factor gives it."""
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, info = dpotrf(S, lower=1)
    inverse, info = dpotri(factor, lower=1) if info == 0 else (S, info)
    return np.asarray(inverse if info == 0 else np.linalg.inv(S))


def _projected(x: Floats, slope: Floats, low: Floats, high: Floats) -> Floats:
    """The slope, without what would lead out of the bounds."""
    blocked = ((x <= low + 1e-9) & (slope > 0)) | ((x >= high - 1e-9) & (slope < 0))
    return np.where(blocked, 0.0, slope)


def _polished(x: Floats, low: Floats, high: Floats, value: Value, tol: float) -> Floats:
    """A few scoring steps: line searches end where f stops to change, long before its slope is zero."""
    for _ in range(20):
        _, slope, curves = value(x)
        left = _projected(x, slope, low, high)
        if float(np.max(np.abs(left), initial=0.0)) <= min(tol, 1e-12):
            break
        curve = curves()[1]
        new = np.clip(x - _solved(left, curve, curve), low, high)
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
