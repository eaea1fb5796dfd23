"""Values that stand apart from all others of their column: a comma in the wrong place, grams among kilograms.

    d = |x − median|,  v = log d,  v₍₁₎ ≥ v₍₂₎ ≥ …,  gap below the r farthest: g = v₍ᵣ₎ − v₍ᵣ₊₁₎

Rows that err together turn the axes towards themselves, and hide among the distances that are measured from these axes.
A column alone knows no axes. Where its tail falls off as a power, d^−α, gaps of logarithms are exponential with mean
1/(α·r) [Rényi 1953]. Two tests, each at half of the level, shared by the columns and by the numbers r that are tried:

    free     α from the m − r excesses below the gap:    p = (1 + r·g/Σ)^−(m−r), as of rows in ``tails.py``
    α = 2    the variance is finite, as any analysis of variances supposes:  p = exp(−2·r·g), r ≤ 2, and the first
             test must not speak against it (p ≤ 0.05). It needs no long tail to learn from, so that 20 rows are enough

Every tail that is shorter, such as that of a Gaussian, leaves smaller gaps. Numbers on a grid tie: their excesses count
for at least half a step of the grid each.

Counts of rows of different totals are compared with what independence lets expect, e = r·c, and x = (N − e)/√max(e, 1).
So that no count hides itself, c leaves out the largest shares of each column and r the largest part of its row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.insight.outliers.tails import FEWEST, LARGEST, REST, UPPER

__all__ = ["ValuesApart", "expected_counts", "values_apart"]

Floats = NDArray[np.float64]

#: Decline of the tail of a variable whose variance is just not finite.
FINITE_VARIANCE = 2.0
#: The free test must not speak against what the other one finds.
AGREES = 0.05
#: How many times as far from the median as the next value, at least.
TIMES = 3.0
#: More rows than this share, or two, are a group and not outliers.
SHARE = 0.05
#: Differences below this part of the range are rounding, and no step of a grid.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class ValuesApart:
    """Values of one column that stand apart.

    Attributes
    ----------
    column : its name
    rows : (r,) numbers of the rows, the farthest first
    values : (r,) what stands there
    least, most : between which all other values of the column lie
    gap : logarithm of how many times as far from the median as the next value
    expected : (r,) what was to be expected there, of counts
    """

    column: str
    rows: NDArray[np.intp]
    values: Floats
    least: float
    most: float
    gap: float
    expected: Floats | None = None


def values_apart(columns: Iterable[tuple[str, Floats]], level: float = 0.05) -> list[ValuesApart]:
    """The values that stand apart from all others of their column, at this level for all columns; largest gap first.

    Examples
    --------
    >>> import numpy as np
    >>> height = np.random.default_rng(0).normal(170, 8, 20).round()
    >>> height[[3, 11]] *= 100
    >>> found = values_apart([("height", height)])
    >>> sorted(found[0].rows.tolist()), found[0].most
    ([3, 11], 180.0)
    """
    given = list(columns)
    found = [_of_column(name, np.asarray(x, np.float64), level / max(len(given), 1)) for name, x in given]
    return sorted((one for one in found if one is not None), key=lambda one: -one.gap)


def _of_column(name: str, x: Floats, level: float) -> ValuesApart | None:
    rows = np.flatnonzero(np.isfinite(x))
    x = x[rows]
    if len(x) <= FEWEST + 2:
        return None
    with np.errstate(over="ignore"):
        d = np.abs(x - np.median(x))
        steps = np.diff(np.unique(x))
    if not len(steps) or not np.isfinite(d).all():
        return None
    order = np.argsort(-d, kind="stable")
    v = np.log(d[d > 0])
    v = np.sort(v)[::-1]
    m = min(max(int(UPPER * len(v)), FEWEST), LARGEST)
    if len(v) <= m + 2:
        return None
    step = float(np.min(steps[steps > ROUNDING * float(np.max(steps))]))
    r = _how_many(v[:m] - v[m], float(np.log1p(step / np.exp(v[m]))), max(2, int(SHARE * len(x))), level)
    if not r:
        return None
    far, others = order[:r], x[order[r:]]
    gap = float(v[r - 1] - v[r])
    return ValuesApart(name, rows[far], x[far], float(np.min(others)), float(np.max(others)), gap)


def _how_many(y: Floats, grid: float, most: int, level: float) -> int:
    """How many of the largest stand apart; ``y``: (m,) excesses, decreasing, ``grid``: a step of the grid there."""
    m = len(y)
    tried = np.arange(1, min(m - REST, most) + 1)
    below = np.cumsum(y[::-1])[::-1]
    sums = np.maximum(below[tried] + tried * y[tried], 0.5 * (m - tried) * grid)
    gaps = y[tried - 1] - y[tried]
    gaps[gaps < np.log(TIMES)] = 0.0
    free = (1 + tried * gaps / np.where(sums > 0, sums, np.inf)) ** -(m - tried).astype(np.float64)
    free[(sums <= 0) & (gaps > 0)] = 0.0
    finite = np.exp(-FINITE_VARIANCE * np.minimum(tried, 2) * gaps)
    shares = np.full(len(tried), 0.5 / max(len(tried) - 1, 1))
    shares[0] = 0.5
    bound = level * shares / 2
    far = np.flatnonzero((free <= bound) | ((finite <= bound) & (free <= AGREES)))
    return int(tried[far[-1]]) if len(far) else 0


def expected_counts(N: Floats) -> Floats:
    """(n, d) counts to expect of rows and columns that are independent, from totals without the largest counts.

    Examples
    --------
    >>> import numpy as np
    >>> expected_counts(np.array([[1, 2, 3], [2, 4, 6], [3, 600, 9], [4, 8, 12], [5, 10, 15]]))[2].round(9).tolist()
    [3.0, 6.0, 9.0]
    """
    N = np.asarray(N, np.float64)
    n, d = N.shape
    if n < 2 or d < 2:
        return N.copy()
    largest = max(2, int(SHARE * n))
    rates = N / np.where(N.sum(axis=1) > 0, N.sum(axis=1), 1.0)[:, None]
    kept = rates <= -np.sort(-rates, axis=0)[min(largest, n - 1)]
    c = np.sum(N * kept, axis=0) / np.maximum(np.sum(kept, axis=0), 1)
    c = c / float(np.sum(c)) if np.sum(c) > 0 else np.full(d, 1 / d)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.nan_to_num(N / c, nan=0.0, posinf=np.inf)
    top = np.argmax(parts, axis=1)
    rest = N.sum(axis=1) - N[np.arange(n), top]
    return np.outer(rest / np.maximum(1 - c[top], 1e-12), c)
