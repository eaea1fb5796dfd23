"""The Shepard diagram: distances of pairs of rows against their distances on the map.                        [She62]

(d_ij, ‖y_i − y_j‖) of pairs drawn at random;  a map that keeps distances is a straight line, one that keeps their order
a curve that rises;  r and its rank correlation ρ have the standard error (1 − r²)/√m of m pairs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.memory import limit
from ritz._core.tabular import Tabular
from ritz.insight.calls import asked
from ritz.insight.embedding.coranking import pair_of_spaces

__all__ = ["Shepard", "shepard"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Shepard(Tabular):
    """Distances of pairs of rows, before and after.

    Attributes
    ----------
    before, after : (m,) distances among the rows and on the map
    pairs : (m, 2) row numbers
    correlation, rank_correlation : of these pairs
    error : standard error of the correlation, from the number of pairs; 0 where all pairs are there
    """

    before: Floats
    after: Floats
    pairs: NDArray[np.intp]
    correlation: float
    rank_correlation: float
    error: float

    def __repr__(self) -> str:
        sure = f" ± {self.error:.4f}" if self.error else ""
        return (
            f"Shepard diagram of {len(self.before):,} pairs: correlation {self.correlation:.4f}{sure}, of ranks "
            f"{self.rank_correlation:.4f}"
        )

    def _table(self) -> dict[str, Any]:
        return {"i": self.pairs[:, 0], "j": self.pairs[:, 1], "before": self.before, "after": self.after}


@asked
def shepard(
    X: Any, Y: Any, pairs: int = 2000, *, metric: Any = "euclidean", random_state: int = 0, memory: Any = None
) -> Shepard:
    """Distances of pairs of rows against those on a map.

    Parameters
    ----------
    X : (n, d) rows
        As of :class:`ritz.Neighbours`, or distances with ``metric="precomputed"``.
    Y : (n, p) coordinates
        Of the same rows.
    pairs : int
        So many, drawn at random; all where there are no more.
    metric : str, kernel or callable
        Of the rows.
    random_state : int
        For the pairs.
    memory : str, int or None
        Memory limit.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> insight.shepard(X, ritz.PCA(2).fit_transform(X)).correlation > 0.99
    True
    """
    if isinstance(pairs, bool) or not isinstance(pairs, (int, np.integer)) or pairs < 3:
        raise ParameterError("pairs must be a whole number ≥ 3", received=repr(pairs), hint="pairs=2000")
    first, second, _ = pair_of_spaces(X, Y, metric, limit(memory))
    n = first.n
    every = n * (n - 1) // 2
    if every <= pairs:
        i, j = np.triu_indices(n, 1)
    else:
        rng = np.random.default_rng(random_state)
        i = rng.integers(0, n, int(pairs))
        j = (i + rng.integers(1, n, int(pairs))) % n
    before, after = first.pairs(i, j), second.pairs(i, j)
    r = _correlation(before, after)
    error = (1 - r * r) / np.sqrt(len(i)) if len(i) < every else 0.0
    ranks = _correlation(_ranks(before), _ranks(after))
    return Shepard(before, after, np.column_stack([i, j]), r, ranks, float(error))


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else 0.0


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values), np.float64)
