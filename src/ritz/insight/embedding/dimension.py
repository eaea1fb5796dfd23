"""How many dimensions rows have where they lie: three estimates from distances to neighbours, with intervals.

    TwoNN         μᵢ = r₂/r₁ of row i,                   d̂ = (n − 1)/Σ log μᵢ                                   [FdRL17]
    MLE           T_j distance to neighbour j,           d̂ = n(k − 1)/ΣᵢΣ_{j<k} log(T_k/T_j)              [LB04], [MG05]
    correlation   C(r) share of pairs nearer than r,     d̂ = log(C(r₂)/C(r₁))/log(r₂/r₁)                        [GP83]

Rows that share neighbours are not independent. The variance of a sum Σeᵢ over rows is taken as e·(I + A)e with A the
graph of who is whose neighbour, not as Σeᵢ²: on uniform rows of a torus 91 to 97 in 100 such intervals hold the mean
of the estimate (tests/insight/test_dimension.py). They say how sure the estimate is, not how far curvature and edges
move it: with few rows in many dimensions that is more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.memory import limit
from ritz._core.tabular import Tabular
from ritz.graphs.graph import edges_of
from ritz.graphs.lists import Lists
from ritz.graphs.spaces.base import Space
from ritz.insight.calls import asked
from ritz.kernels.base import take_rows

__all__ = ["Estimate", "IntrinsicDimension", "checked", "intrinsic_dimension", "mle_dimension"]

Floats = NDArray[np.float64]

#: Neighbours of the maximum likelihood, and of the two radii of the correlation dimension.
NEIGHBOURS, SMALL, LARGE = 10, 5, 10
#: Normal quantile of an interval of 95 %.
QUANTILE = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """A dimension, and the interval of 95 % of its sampling error."""

    dimension: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.dimension:.2f}, between {self.low:.2f} and {self.high:.2f}"


@dataclass(frozen=True, repr=False)
class IntrinsicDimension(Tabular):
    """How many dimensions rows have where they lie.

    Attributes
    ----------
    twonn, mle, correlation : estimates, each with ``dimension``, ``low`` and ``high``
    consensus : the whole number nearest to the median of the three
    n : rows that were compared, each copy once
    copies : rows that were left out because another row is the same
    k : neighbours of the maximum likelihood
    local : (n,) the estimate around each row, by maximum likelihood
    rows : the rows that were compared
    """

    twonn: Estimate
    mle: Estimate
    correlation: Estimate
    consensus: int
    n: int
    copies: int
    k: int
    local: Floats
    rows: NDArray[np.intp]

    def __repr__(self) -> str:
        left = f", {self.copies:,} copies left out" if self.copies else ""
        return (
            f"intrinsic dimension about {self.consensus} ({self.n:,} rows{left}; intervals of 95 %)\n"
            f"  TwoNN        {self.twonn}   two neighbours\n"
            f"  MLE          {self.mle}   {self.k} neighbours\n"
            f"  correlation  {self.correlation}   pairs within two radii"
        )

    def _table(self) -> dict[str, Any]:
        estimates = {name: getattr(self, name) for name in ("twonn", "mle", "correlation")}
        ends = {end: [getattr(one, end) for one in estimates.values()] for end in ("dimension", "low", "high")}
        return {"estimator": list(estimates)} | ends


@asked
def intrinsic_dimension(
    X: Any, k: int = NEIGHBOURS, *, metric: Any = "euclidean", memory: Any = None
) -> IntrinsicDimension:
    """Estimate how many dimensions rows have where they lie.

    Parameters
    ----------
    X : (n, d) rows
        As of :class:`ritz.Neighbours`, or distances with ``metric="precomputed"``. Copies are counted once.
    k : int
        Neighbours of the maximum likelihood; more are steadier and see more of the curvature and of the edges.
    metric : str, kernel or callable
        What is near.
    memory : str, int or None
        Memory limit.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> rng = np.random.default_rng(0)
    >>> angle, height = 1.5 * np.pi * (1 + 2 * rng.random(2000)), 21 * rng.random(2000)
    >>> roll = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    >>> insight.intrinsic_dimension(roll)         # a plane, rolled up in three columns
    intrinsic dimension about 2 (2,000 rows; intervals of 95 %)
      TwoNN        2.03, between 1.92 and 2.13   two neighbours
      MLE          1.97, between 1.93 and 2.00   10 neighbours
      correlation  1.93, between 1.87 and 1.99   pairs within two radii
    """
    from ritz.graphs.spaces.resolve import space_of

    room = limit(memory)
    rows = checked(X, metric)
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 3:
        raise ParameterError("k must be a whole number ≥ 3", received=repr(k))
    k = int(k)
    space = space_of(metric, rows, None, room)
    kept = _without_copies(space)
    if len(kept) < n:
        rows = rows[np.ix_(kept, kept)] if metric == "precomputed" else take_rows(rows, kept)
        if len(kept) > k:
            space = space_of(metric, rows, None, room)
    if len(kept) <= max(k, LARGE) + 1:
        more = "more rows, or a smaller k" if k > LARGE else "give more rows"
        raise InputError(f"a dimension needs more than {max(k, LARGE) + 1} different rows",
                         received=f"{len(kept)} different rows", hint=more)  # fmt: skip
    lists = space.nearest(None, max(k, LARGE)).lists
    T = lists.distances.reshape(len(lists), -1)
    twonn = _twonn(T, lists)
    mle, local = mle_dimension(T[:, :k], lists.nearest(k))
    correlation = _correlation(space, T, lists, room)
    middle = float(np.nanmedian([one.dimension for one in (twonn, mle, correlation)]))
    return IntrinsicDimension(twonn, mle, correlation, max(0, round(middle)), len(kept), n - len(kept), k, local, kept)


def checked(X: Any, metric: Any) -> Any:
    """Rows as a space of the metric takes them."""
    from sklearn.base import BaseEstimator

    from ritz.graphs.spaces.resolve import checked_rows, takes

    return checked_rows(type("Rows", (BaseEstimator,), {"memory": None})(), X, takes(metric), reset=True)


def _without_copies(space: Space) -> NDArray[np.intp]:
    """Rows, of those that are the same the first."""
    same = space.nearest(None, 1, keep_ties=True).lists
    zero = same.distances == 0
    later = same.rows[zero & (same.indices < same.rows)]
    keep = np.ones(len(same), bool)
    keep[later] = False
    return np.flatnonzero(keep)


def _interval(inverse: Floats, lists: Lists, dimension: float) -> Estimate:
    """An interval about d̂ = 1/mean(inverse), allowing for rows that share neighbours."""
    m = len(inverse)
    mean = float(inverse.mean())
    error = _standard_error(inverse - mean, lists) / m
    if not mean > 0:
        return Estimate(dimension, 0.0, np.inf)
    share = QUANTILE * error / mean  # of the logarithm: the interval is never negative
    return Estimate(dimension, dimension * float(np.exp(-share)), dimension * float(np.exp(share)))


def _standard_error(residuals: Floats, lists: Lists) -> float:
    """√(e·(I + A)e), A the pairs of rows one of which is the other's neighbour; at least √(e·e)."""
    edges = edges_of(lists)
    own = float(residuals @ residuals)
    shared = 2 * float(residuals[edges.i] @ residuals[edges.j])
    return float(np.sqrt(own + max(shared, 0.0)))


def _twonn(T: Floats, lists: Lists) -> Estimate:
    logs = np.log(T[:, 1] / T[:, 0])
    total = float(logs.sum())
    if total <= 0:
        raise InputError(
            "distances to the first two neighbours differ", received="rows at equal distances, as on a grid"
        )
    return _interval(logs, lists.nearest(2), (len(logs) - 1) / total)


def mle_dimension(T: Floats, lists: Lists) -> tuple[Estimate, Floats]:
    """Maximum likelihood from distances (n, k) to neighbours: of all rows, and around each row."""
    k = T.shape[1]
    inverse = np.log(T[:, -1:] / T[:, :-1]).sum(axis=1) / (k - 1)
    with np.errstate(divide="ignore"):
        local = (k - 2) / (k - 1) / inverse
    return _interval(inverse, lists, float(1 / inverse.mean())), local


def _correlation(space: Space, T: Floats, lists: Lists, room: float) -> Estimate:
    """Slope of the logarithm of the correlation sum between two radii."""
    radii = np.median(T[:, SMALL - 1]), np.median(T[:, LARGE - 1])
    far = space.within(None, float(radii[1]), room)
    large = far.counts.astype(np.float64)
    small = np.bincount(far.rows[far.distances <= radii[0]], minlength=len(far)).astype(np.float64)
    if not 0 < small.sum() < large.sum():
        return Estimate(np.nan, 0.0, np.inf)
    width = float(np.log(radii[1] / radii[0]))
    dimension = float(np.log(large.sum() / small.sum()) / width)
    influence = (large / large.mean() - small / small.mean()) / width
    error = QUANTILE * _standard_error(influence, lists) / len(influence)
    return Estimate(dimension, max(0.0, dimension - error), dimension + error)
