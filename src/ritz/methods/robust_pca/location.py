"""Location and spread that some bad rows cannot move.

    MAD              median |t − median t| / 0.6745    of frequencies: an integer weight equals that many copies
    univariate MCD   mean and variance of the h sorted neighbours that vary least, corrected and reweighted      [RD99]
    consistency      c = α/P(χ²_{p+2} ≤ χ²_{p,α})      what a covariance of the innermost share α lacks

Directions Y (n×m): one column a direction. The location of rows in all columns at once: ``spatial_median.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NORMAL_MAD", "consistency", "cube_thetas", "mad", "median", "univariate_mcd"]

Floats = NDArray[np.float64]

#: MAD of a normal distribution in standard deviations.
NORMAL_MAD = 0.6744897501960817
#: Share of the rows of a normal distribution that reweighting keeps.
KEPT = 0.975


def median(values: Any, weights: Any = None) -> Floats:
    """Medians of columns, (m,), of rows that count ``weights`` times."""
    rows = np.asarray(values, np.float64)
    if weights is None:
        return np.asarray(np.median(rows, axis=0), np.float64)
    order = np.argsort(rows, axis=0, kind="stable")
    mass = np.cumsum(np.asarray(weights, np.float64)[order], axis=0)
    half, sorted_rows = mass[-1] / 2, np.take_along_axis(rows, order, axis=0)
    slack = 1e-12 * mass[-1]
    low = np.argmax(mass >= half - slack, axis=0)  # the first at which half of the weight is reached,
    high = np.argmax(mass > half + slack, axis=0)  # and the first beyond: the two in the middle
    columns = np.arange(rows.shape[1])
    return np.asarray((sorted_rows[low, columns] + sorted_rows[high, columns]) / 2, np.float64)


def mad(values: Any, weights: Any = None) -> Floats:
    """Median absolute deviations of columns, (m,), as standard deviations of a normal distribution."""
    rows = np.asarray(values, np.float64)
    return median(np.abs(rows - median(rows, weights)), weights) / NORMAL_MAD


def consistency(share: float, p: int) -> float:
    """Factor that makes the covariance of the innermost ``share`` of p-variate normal rows that of all."""
    from scipy.stats import chi2

    return float(share / chi2.cdf(chi2.ppf(share, p), p + 2)) if 0 < share < 1 else 1.0


def cube_thetas(m: float, s: float) -> tuple[float, float, float]:
    """κ₁, κ₂/(2κ₁²) and κ₃/(8κ₁³) of c³ for c ~ N(m, s²), as sums of powers of variances are for a sum of squares."""
    if m <= 0:
        return 0.0, 0.0, 0.0
    x = (s / m) ** 2
    one = 1 + 3 * x  # in units of m³
    two = 15 * x**3 + 36 * x**2 + 9 * x
    sixth = 1 + 15 * x + 45 * x**2 + 15 * x**3
    ninth = 1 + 36 * x + 378 * x**2 + 1260 * x**3 + 945 * x**4
    return m**3 * one, two / (2 * one**2), max(ninth - 3 * sixth * one + 2 * one**3, 0.0) / (8 * one**3)


def _windows(S: Floats, h: int) -> Floats:
    """Sums of h rows that follow each other, (n − h + 1, m), h > n/2.

    Every window holds the middle, so its sum is added up from there to both ends: rows outside it, however large, have
    no part in it.
    """
    n = len(S)
    a, b = n - h, h  # rows that every window holds
    core = S[a:b].sum(axis=0)
    before = np.concatenate([np.cumsum(S[:a][::-1], axis=0)[::-1], np.zeros((1, S.shape[1]))])
    after = np.concatenate([np.zeros((1, S.shape[1])), np.cumsum(S[b:], axis=0)])
    return np.asarray(core + before + after)


def univariate_mcd(Y: Floats, h: int) -> tuple[Floats, Floats]:
    """Location and standard deviation of every column, (m,) each, from its h rows that lie closest together.

    The window of h sorted rows with the smallest variance, made consistent, then all rows within its 97.5 % limits.
    """
    from scipy.stats import chi2

    n = len(Y)
    middle = np.median(Y, axis=0)
    S = np.sort(Y - middle, axis=0)
    means = _windows(S, h) / h
    spread = np.maximum(_windows(S * S, h) / h - means**2, 0.0)
    best = np.argmin(spread, axis=0)
    columns = np.arange(Y.shape[1])
    location = means[best, columns]
    variance = spread[best, columns] * h / max(h - 1, 1) * consistency(h / n, 1)
    inside = np.square(Y - middle - location) <= chi2.ppf(KEPT, 1) * variance
    count = np.maximum(inside.sum(axis=0), 1)
    new = np.where(inside, Y - middle, 0.0).sum(axis=0) / count
    square = np.where(inside, np.square(Y - middle - new), 0.0).sum(axis=0) / np.maximum(count - 1, 1)
    flat = variance <= 0
    location, variance = np.where(flat, location, new), np.where(flat, 0.0, square * consistency(KEPT, 1))
    return np.asarray(location + middle, np.float64), np.asarray(np.sqrt(variance), np.float64)
