"""The correlation behind a table of two ordered variables, by maximum likelihood in two steps.

    step 1   thresholds from the margins:  a_i = Φ⁻¹(n_{≤i·}/n),  b_j likewise
    step 2   ρ̂ = argmax Σ n_ij log π_ij(ρ; a, b)      score Σ n_ij π'_ij/π_ij,  information n Σ π'²/π       [Ols79]

Standard errors take in that thresholds are estimates: with A = Σ π'²/π and B_a = Σ π'·∂π/∂a /π, one observation in
cell (i, j) moves ρ̂ by [π'_ij/π_ij − Σ_a B_a·(1{i ≤ a} − Φ(a))/φ(a) − Σ_b …]/(nA), whose squares add up to the variance.
A 2×2 table of medians has ρ = sin(2π(p₁₁ − ¼)) in closed form.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.insight.ordinal.bivariate import Cells

__all__ = ["Pair", "correlate", "thresholds"]

Floats = NDArray[np.float64]

#: Correlations at which the search begins, and beyond which there is no maximum inside.
GRID, EDGE = np.tanh(np.linspace(-2.5, 2.5, 11)), 0.9999
#: Steps of the search, and the change of ρ at which it ends.
STEPS, STILL = 60, 1e-12


class Pair(NamedTuple):
    """What one table tells."""

    rho: float
    error: float
    filled: int  # empty cells that something was put into
    slope: float  # what is left of the score, per row


def thresholds(counts: Floats) -> Floats:
    """Thresholds (r − 1,) of the counts (r,) of a variable, none of which is zero."""
    from scipy.special import ndtri

    share = np.cumsum(counts)[:-1] / np.sum(counts)
    return np.asarray(ndtri(share))


def correlate(table: Floats, empty: float) -> Pair:
    """ρ of a table (r, c) of counts; levels that do not occur are left out.

    ``empty``: what is put into empty cells where without it there is no maximum with |ρ| < 1.
    """
    N = np.asarray(table, np.float64)
    N = N[N.sum(axis=1) > 0][:, N.sum(axis=0) > 0]
    if min(N.shape) < 2:
        return Pair(float("nan"), float("nan"), 0, 0.0)
    found = _maximum(N)
    holes = int(np.count_nonzero(N == 0))
    if abs(found.rho) >= EDGE and holes and empty > 0:
        return _maximum(np.where(N == 0, empty, N))._replace(filled=holes)
    return found


def _maximum(N: Floats) -> Pair:
    cells, n = Cells(thresholds(N.sum(axis=1)), thresholds(N.sum(axis=0))), float(N.sum())

    def likelihood(rho: float) -> float:
        return float(np.sum(N * np.log(cells.probabilities(rho)))) / n

    def score(rho: float) -> float:
        return float(np.sum(N * cells.slopes(rho) / cells.probabilities(rho))) / n

    at = int(np.argmax([likelihood(rho) for rho in GRID]))
    low = GRID[at - 1] if at else -EDGE
    high = GRID[at + 1] if at + 1 < len(GRID) else EDGE
    rho = _root(score, cells, float(low), float(high))
    return Pair(rho, _error(cells, N / n, rho) / np.sqrt(n), 0, score(rho))


def _root(score: object, cells: Cells, low: float, high: float) -> float:
    """Where the score is zero: scoring steps, halved brackets where they lead out; an end where it never is."""
    slope = score  # a function of ρ
    at_low, at_high = slope(low), slope(high)  # type: ignore[operator]
    if at_low <= 0:
        return low
    if at_high >= 0:
        return high
    rho = 0.5 * (low + high)
    for _ in range(STEPS):
        here = slope(rho)  # type: ignore[operator]
        low, high = (rho, high) if here > 0 else (low, rho)
        information = float(np.sum(np.square(cells.slopes(rho)) / cells.probabilities(rho)))
        new = rho + here / max(information, 1e-12)
        new = new if low < new < high else 0.5 * (low + high)
        if abs(new - rho) <= STILL or high - low <= STILL:
            return new
        rho = new
    return rho


def _error(cells: Cells, share: Floats, rho: float) -> float:
    """Standard deviation of what one row does to ρ̂, times n."""
    if abs(rho) >= EDGE:
        return float("nan")
    pi, slope = cells.probabilities(rho), cells.slopes(rho)
    A = float(np.sum(np.square(slope) / pi))
    influence = slope / pi
    for axis, (values, change) in enumerate(zip((cells.a, cells.b), cells.by_thresholds(rho), strict=True)):
        B = np.einsum("ij,tij->t", slope / pi, change)
        below = np.arange(share.shape[axis])[:, None] <= np.arange(len(values))[None, :]
        margin = np.cumsum(share.sum(axis=1 - axis))[:-1]
        density = np.exp(-0.5 * np.square(values)) / np.sqrt(2 * np.pi)
        moved = ((below - margin) / density) @ B
        influence = influence - (moved[:, None] if axis == 0 else moved[None, :])
    mean = float(np.sum(share * influence))
    return float(np.sqrt(np.sum(share * np.square(influence - mean)))) / A
