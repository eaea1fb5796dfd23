"""P-values of rows that are judged among themselves: beyond what ranks can say.

The rank of a row among n is uniform, but never below 1/n: too much for any false discovery rate. Above the median,

    model    the larger of two tails: that of the model's own distribution, and the same in normal scores z with the
             median and the MAD of all rows in place of 0 and 1, as t with 0.37n degrees of freedom (the efficiency of
             the MAD). Right where the good rows follow the model, whatever the bad ones do.
    pareto   above the upper quarter u, share·(1 + ξ(s − u)/σ)^(−1/ξ), fitted to the other rows above u by probability-
             weighted moments [HW87] and averaged over resamples of them. Right for every distribution, for rows that
             stand out alone: rows that stand out together make the tail look long.

Both suppose a tail. Whether rows stand apart from the others, whatever they are, asks for less: in a tail that falls
off exponentially the gap below the r largest of m excesses is exponential with 1/r of its mean, independently of the
others [Rényi 1953], so that with y the excesses and D_r the gap below the r-th

    P(D_r ≥ d) = (1 + r·d/((m − r)·ȳ_r))^−(m−r),     (m − r)·ȳ_r = Σ_{i>r} y₍ᵢ₎ + r·y₍ᵣ₊₁₎

A tail that falls off faster leaves smaller gaps. Rows that stand together are found together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.methods.robust_pca.location import NORMAL_MAD

__all__ = ["apart", "model_tails", "pareto_tails", "ranks"]

Floats = NDArray[np.float64]

#: Efficiency of the MAD: as sure as the standard deviation of so large a share of the rows.
MAD_EFFICIENCY = 0.37
#: Normal scores beyond this are as good as infinite.
FAR = 37.0
#: Share of the rows that make the tail, at least and at most how many, and resamples of them.
UPPER, FEWEST, LARGEST, RESAMPLES = 0.25, 10, 250, 200
#: Excesses that are left to compare with, at least.
REST = 4
#: Scores that differ by less, relative to the largest one, differ by rounding.
TIED = 1e-12
#: Shapes of a tail that are taken for possible.
SHAPES = (-0.5, 0.9)


def ranks(scores: Floats, weights: Floats) -> Floats:
    """Share of the weight at or above each score, its own included."""
    order = np.argsort(scores)
    values, mass = scores[order], np.cumsum(weights[order])
    below = np.concatenate([[0.0], mass])[np.searchsorted(values, scores, side="left")]
    return np.where(np.isfinite(scores), (mass[-1] - below) / mass[-1], np.nan)


def model_tails(plain: Floats, judged: NDArray[np.bool_], own: Floats) -> Floats:
    """``plain`` ranks, and above the median tails; ``own``: p-values by models that did not see the rows."""
    from scipy.stats import norm, t

    z = np.clip(norm.isf(own), -FAR, FAR)
    middle = float(np.median(z[judged]))
    spread = float(np.median(np.abs(z[judged] - middle))) / NORMAL_MAD
    upper = np.isfinite(z) & (z > middle)
    if spread <= 0:  # more than half of the rows score the same
        return np.where(upper, own, plain)
    tails = t.sf((z - middle) / spread, MAD_EFFICIENCY * np.count_nonzero(judged))
    return np.where(upper, np.maximum(tails, own), plain)


def pareto_tails(plain: Floats, scores: Floats, judged: NDArray[np.bool_], seed: int) -> Floats:
    """``plain`` ranks, and above the upper quarter generalised Pareto tails fitted to the other rows there."""
    out, rows = plain.copy(), np.flatnonzero(judged)
    order = rows[np.argsort(-scores[rows], kind="stable")]
    count = min(max(int(UPPER * len(rows)), FEWEST), LARGEST)
    if len(rows) <= count + 2:
        return out
    gap = scores[order[:count]] - scores[order[count]]
    gap[gap <= TIED * float(np.max(np.abs(scores[rows])))] = 0.0
    rng = np.random.default_rng(seed)
    for j in np.flatnonzero(gap):  # a row at the threshold itself has its rank
        others = np.delete(gap, j)
        drawn = np.sort(others[rng.integers(0, len(others), (RESAMPLES, len(others)))], axis=1)
        out[order[j]] = count / len(rows) * float(np.mean(_beyond(gap[j], drawn)))
    return out


def apart(values: Floats, level: float = 0.05) -> int:
    """How many of the largest values stand apart from the others, at this level for all numbers that are tried.

    Half of the level is for one value alone, the rest for all others alike.

    Examples
    --------
    >>> import numpy as np
    >>> calm = np.random.default_rng(0).exponential(size=60)
    >>> apart(calm), apart(np.append(calm, [40.0, 42.0, 44.0]))
    (0, 3)
    """
    x = np.sort(values[np.isfinite(values)])[::-1]
    m = min(max(int(UPPER * len(x)), FEWEST), LARGEST)
    if len(x) <= m + 2:
        return 0
    y = x[:m] - x[m]
    tried = np.arange(1, m - REST + 1)
    below = np.cumsum(y[::-1])[::-1]  # Σ_{i ≥ j} y, from 0
    sums = below[tried] + tried * y[tried]
    gaps = y[tried - 1] - y[tried]
    gaps[gaps <= TIED * max(abs(float(x[0])), abs(float(x[m])))] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(gaps > 0, tried * gaps / np.where(sums > 0, sums, 0.0), 0.0)
        p = (1 + ratio) ** -(m - tried).astype(np.float64)
    shares = np.full(len(tried), 0.5 / max(len(tried) - 1, 1))
    shares[0] = 0.5
    far = np.flatnonzero(p <= level * shares)
    return int(tried[far[-1]]) if len(far) else 0


def _beyond(gap: float, drawn: Floats) -> Floats:
    """P(excess > gap) under the distribution of each resample (one a row, sorted)."""
    m = drawn.shape[1]
    first = drawn.mean(axis=1)
    second = (drawn * ((m - np.arange(1, m + 1)) / (m - 1))).mean(axis=1)
    slack = np.maximum(first - 2 * second, 1e-12 * np.maximum(first, 1e-300))
    xi, sigma = np.clip(2 - first / slack, *SHAPES), 2 * first * second / slack
    xi = np.where(np.abs(xi) < 1e-6, 1e-6, xi)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        base = 1 + xi * gap / np.where(sigma > 0, sigma, np.nan)
        tail = np.where(base > 0, np.maximum(base, 1e-300) ** (-1 / xi), 0.0)
    return np.nan_to_num(tail, nan=float(gap <= 0))
