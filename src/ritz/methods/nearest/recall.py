"""How much of the true answer an approximate search finds, measured, with an interval.

    recall = mean over q of |{x found(q): cos(q, x) ≥ the smallest cosine of exact(q)}| / top

Rows of the index itself are found more easily than what it has not seen, so a query is a row x_i moved by as much as
neighbours differ: x_i + (x_a − x_b)/√2, where x_a and x_b are among the true neighbours of another row. Hits of one
query are not independent of each other, so queries are counted and not hits: a share of hits of a query lies in [0, 1],
its variance is at most that of a yes or no with the same mean, and Wilson's interval [Wil27] for as many trials as
queries is wide enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.tabular import Tabular
from ritz.methods.lsi.search import DIGITS, exact

__all__ = ["Recall", "examined", "interval", "measured", "queries_of"]

#: Standard deviations of an interval of 95 %.
SURE = 1.959963984540054


@dataclass(frozen=True)
class Recall(Tabular):
    """A share of true neighbours that were found.

    Attributes
    ----------
    value : the mean over the queries
    low, high : an interval that holds the recall of all queries with 95 % confidence at least
    queries : how many were asked
    top : how many neighbours of each
    """

    value: float
    low: float
    high: float
    queries: int
    top: int

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return (
            f"recall@{self.top} {self.value:.3f}, between {self.low:.3f} and {self.high:.3f} (95 %), "
            f"of {self.queries:,} queries"
        )

    def _table(self) -> dict[str, Any]:
        return {name: [getattr(self, name)] for name in ("value", "low", "high", "queries", "top")}


def interval(share: float, trials: int) -> tuple[float, float]:
    """Wilson's interval of a share of so many trials."""
    z2 = SURE**2
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = SURE / (1 + z2 / trials) * float(np.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2)))
    return max(0.0, middle - half), min(1.0, middle + half)


def queries_of(rows: Any, norms: Any, top: int, count: int, seed: Any) -> Any:
    """Up to ``count`` queries like the rows, and none of them; None where there are too few rows."""
    there = np.flatnonzero(norms > 0)
    if len(there) < 3:
        return None
    rng = np.random.default_rng(seed)
    asked = rng.choice(there, min(count, len(there)), replace=False)
    others = rng.permutation(asked)
    near = exact(rows, norms, np.asarray(rows[others], np.float64), top)
    moved = np.asarray(rows[asked], np.float64)
    for i, (found, _) in enumerate(near):
        a, b = rng.choice(found, 2, replace=len(found) < 2)
        moved[i] += (np.asarray(rows[a], np.float64) - rows[b]) / np.sqrt(2.0)
    sizes = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.where(sizes > 0, moved / np.where(sizes > 0, sizes, 1.0), rows[asked])


def examined(rows: Any, norms: Any, top: int, count: int, seed: Any) -> tuple[Any, Any] | None:
    """Queries like the rows, and their true neighbours; None where there is nothing to find."""
    queries = queries_of(rows, norms, max(top, 2), count, seed)
    return None if queries is None else (queries.astype(rows.dtype), exact(rows, norms, queries, top))


def measured(index: Any, exam: tuple[Any, Any] | None, top: int) -> Recall | None:
    """Recall of ``index.kneighbors`` for the queries of ``examined``."""
    if exam is None:
        return None
    queries, truth = exam
    distances, near = index.kneighbors(queries, top)
    same = 2.0 * DIGITS[queries.dtype.itemsize]
    shares = []
    for (true, cosines), found, away in zip(truth, near, distances, strict=True):
        least = float(np.min(cosines, initial=np.inf))  # copies, and all that is as near as the last, are as good
        hits = int(np.count_nonzero((np.asarray(found) >= 0) & (1.0 - away >= least - same)))
        shares.append(min(hits, len(true)) / max(1, len(true)))
    value = float(np.mean(shares))
    return Recall(value, *interval(value, len(shares)), len(shares), top)
