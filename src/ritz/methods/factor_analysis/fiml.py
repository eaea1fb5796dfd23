"""Factor analysis of rows with gaps by full information maximum likelihood: EM, each step of which cannot go down.

    rows x_o (what is observed) ~ N(μ_o, Σ_oo),      maximise  ℓ = Σ_rows log N(x_o; μ_o, Σ_oo)              [DLR77]
    E    x̂_m = μ_m + Σ_mo Σ_oo⁻¹(x_o − μ_o),   C_mm = Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om
    M    μ = mean x̂,   S = Σ(x̂ − μ)(x̂ − μ)ᵀ/n + ΣC/n,   Σ ← S (any Σ),  or  LLᵀ + Ψ of S (the factor model)   [RT82]

The M step of the factor model is the ordinary fit to S, so at rest the factors are those of S: the same spectral
problem and the same certificate. ℓ of any Σ less ℓ of the model, doubled, is the χ² of the test. Rows are taken pattern
by pattern of their gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError
from ritz._core.warn import warn
from ritz.data.passes.moments import Moments

__all__ = ["Expected", "Gaps", "fill_rows", "maximise", "state_of"]

Floats = NDArray[np.float64]


class Expected(NamedTuple):
    """What one E step gives."""

    mean: Floats  # (d,)
    covariance: Floats  # (d, d), divisor n
    likelihood: float  # ℓ before the step


@dataclass(frozen=True)
class Gaps:
    """Rows by the patterns of their gaps, in standard units."""

    groups: list[tuple[NDArray[np.intp], Floats, Floats]]  # observed columns, rows (m, o), weights (m,)
    weight: float
    d: int
    center: Floats
    unit: Floats  # columns were divided by it

    @classmethod
    def of(cls, X: Floats, weights: Floats | None, names: Any = None) -> Gaps:
        """Group rows; a column, or a pair of columns, that is never observed is refused by name."""
        n, d = X.shape
        w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        there = ~np.isnan(X)
        label = (lambda j: repr(str(names[j]))) if names is not None else str
        seen = (there * w[:, None]).T @ there
        if np.any(np.diag(seen) < 2):
            j = int(np.argmin(np.diag(seen)))
            raise InputError("every column needs two values at least", received=f"column {label(j)} with fewer",
                             hint="leave it out")  # fmt: skip
        if np.any(seen == 0):
            i, j = (int(v) for v in np.argwhere(seen == 0)[0])
            raise InputError(
                "a covariance needs rows in which both columns have values",
                received=f"columns {label(i)} and {label(j)}, never observed together", hint="leave one of them out",
            )  # fmt: skip
        center = np.nanmean(X, axis=0)
        spread = np.nanstd(X, axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        Z = (X - center) / unit
        groups = []
        patterns, which = np.unique(there, axis=0, return_inverse=True)
        for g, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.reshape(-1) == g)
            columns = np.flatnonzero(pattern)
            if len(columns):
                groups.append((columns, Z[np.ix_(rows, columns)], w[rows]))
        weight = float(sum(group[2].sum() for group in groups))
        return cls(groups, weight, d, center, unit)

    def step(self, mean: Floats, sigma: Floats) -> Expected:
        """The E step under N(mean, sigma), in standard units, and ℓ there."""
        total, outer, extra, likelihood = np.zeros(self.d), np.zeros((self.d, self.d)), np.zeros((self.d, self.d)), 0.0
        for columns, rows, w in self.groups:
            gaps = np.setdiff1d(np.arange(self.d), columns)
            L = np.linalg.cholesky(sigma[np.ix_(columns, columns)])
            u = np.linalg.solve(L, (rows - mean[columns]).T)  # (o, m)
            logdet = 2 * float(np.sum(np.log(np.diag(L))))
            distance = float(np.square(u).sum(axis=0) @ w)
            likelihood -= 0.5 * (distance + w.sum() * (logdet + len(columns) * np.log(2 * np.pi)))
            full = np.empty((len(rows), self.d))
            full[:, columns] = rows
            if len(gaps):
                B = np.linalg.solve(L, sigma[np.ix_(columns, gaps)])  # (o, m̄)
                full[:, gaps] = mean[gaps] + u.T @ B
                extra[np.ix_(gaps, gaps)] += w.sum() * (sigma[np.ix_(gaps, gaps)] - B.T @ B)
            total += w @ full
            outer += (full * w[:, None]).T @ full
        new = total / self.weight
        S = outer / self.weight - np.outer(new, new) + extra / self.weight
        return Expected(new, (S + S.T) / 2, likelihood)


def maximise(
    gaps: Gaps, model: Callable[[Floats], Floats], start: tuple[Floats, Floats], max_iter: int, tol: float
) -> tuple[tuple[Floats, Floats], Expected, int]:
    """EM from ``start`` (μ, Σ); ``model`` makes Σ of S. The last (μ, Σ), what it expects, and the number of steps.

    Steps end where ℓ changes by less than ``tol`` per row and S by less than its root; steps are extrapolated along the
    last change where that goes up (over-relaxation), since EM alone crawls where much is missing.
    """
    mean, sigma = start
    found = gaps.step(mean, sigma)
    reach = 1.0
    for steps in range(1, max_iter + 1):
        new_mean, new_sigma = found.mean, model(found.covariance)
        ahead = mean + reach * (new_mean - mean), sigma + reach * (new_sigma - sigma)
        trial = None
        if reach > 1:
            try:
                far = (ahead[0], model(ahead[1]))
                trial = gaps.step(*far)
            except np.linalg.LinAlgError:
                trial = None
        if trial is None or not trial.likelihood > found.likelihood:
            far, reach = (new_mean, new_sigma), 1.0
            trial = gaps.step(*far)
        else:
            reach = min(reach * 1.5, 8.0)
        reach = max(reach, 1.5)
        change = float(np.max(np.abs(far[1] - sigma)))
        gain = (trial.likelihood - found.likelihood) / gaps.weight
        (mean, sigma), found = far, trial
        if abs(gain) <= tol and change <= np.sqrt(tol):
            return (mean, sigma), found, steps
    warn(f"EM for rows with gaps stopped after {max_iter} steps, while the likelihood still grew by {gain:.1e} a row; "
         f"try max_iter={2 * max_iter}", AccuracyWarning)  # fmt: skip
    return (mean, sigma), found, max_iter


def state_of(gaps: Gaps, expected: Expected, rows: int) -> Moments:
    """The moment state that the ordinary fit takes: the expected covariance in the units of the data."""
    mean = gaps.center + expected.mean * gaps.unit
    scatter = expected.covariance * np.outer(gaps.unit, gaps.unit) * gaps.weight
    noise = 2.0**-53 * gaps.d * float(np.trace(scatter))
    plain = Moments(rows, gaps.weight, mean, np.zeros(gaps.d), scatter, 1.0, noise, 2.0**-53)
    return replace(plain, weight_low=0.0)


def fill_rows(X: Floats, mean: Floats, sigma: Floats) -> Floats:
    """Rows whose gaps hold what N(mean, sigma) expects of them given the rest."""
    X = np.array(X, np.float64)
    gone = np.isnan(X)
    for pattern in np.unique(gone[gone.any(axis=1)], axis=0):
        rows = np.flatnonzero((gone == pattern).all(axis=1))
        m, o = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        B = (
            np.linalg.lstsq(sigma[np.ix_(o, o)], sigma[np.ix_(o, m)], rcond=None)[0]
            if len(o)
            else np.zeros((0, len(m)))
        )
        X[np.ix_(rows, m)] = mean[m] + (X[np.ix_(rows, o)] - mean[o]) @ B
    return X
