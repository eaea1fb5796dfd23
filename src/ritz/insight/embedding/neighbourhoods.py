"""A bootstrap of neighbourhoods: who lies near whom on the maps of rows that are drawn again.

    S_b = the different rows among n drawn with replacement (about 0.63 n)
    overlap_i = mean over draws of |{k nearest of i on the map of S_b} ∩ {k nearest of i among S_b on the map of all}|/k

Nothing is laid on anything: it speaks of neighbours alone, where Procrustes speaks of the whole picture. A map can turn
into another shape as a whole and keep its neighbourhoods, and the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ritz._core.tabular import Tabular
from ritz.insight.calls import asked
from ritz.insight.embedding.coranking import require_neighbours
from ritz.insight.embedding.draws import Draw, fitted_to, middle

__all__ = ["NeighbourhoodBootstrap", "neighbourhood_bootstrap"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Neighbours where k is not given.
NEIGHBOURS = 10


@dataclass(frozen=True, repr=False)
class NeighbourhoodBootstrap(Tabular):
    """Which neighbourhoods of a map are found again in rows that are drawn again.

    Attributes
    ----------
    k : neighbours
    overlap : share of the k neighbours on the map that are found again, median over draws
    low, high : nine in ten draws lie between
    overlaps : (draws,) of each draw
    chance : what rows placed at random would have
    rows_overlap : (n,) of each row, mean over its draws; NaN where it is in none
    rows_draws : (n,) draws that a row is in
    failed, why : draws that could not be fitted, and the first reason
    """

    k: int
    overlap: float
    low: float
    high: float
    overlaps: Floats
    chance: float
    rows_overlap: Floats
    rows_draws: Counts
    failed: int
    why: str

    def __repr__(self) -> str:
        seen = np.flatnonzero(np.isfinite(self.rows_overlap))
        order = seen[np.argsort(self.rows_overlap[seen], kind="stable")[:3]]
        lines = [
            f"bootstrap of neighbourhoods ({len(self.overlaps)} draws, {len(self.rows_overlap):,} rows, {self.k} "
            "neighbours)",
            f"  found again  {self.overlap:.4f}, nine in ten draws between {self.low:.4f} and {self.high:.4f}; "
            f"{self.chance:.4f} by chance",
            f"  least found again: rows {', '.join(map(str, order))}",
        ]
        if self.failed:
            lines.append(f"  {self.failed} draws could not be fitted: {self.why}")
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        return {"row": range(len(self.rows_overlap)), "overlap": self.rows_overlap, "draws": self.rows_draws}


@asked
def neighbourhood_bootstrap(
    model: Any, X: Any, k: int | None = None, draws: int = 20, *, embedding: Any = None, random_state: int = 0,
    most_seconds: float | None = None,
) -> NeighbourhoodBootstrap:  # fmt: skip
    """Draw rows again with replacement, fit the map again, and see whose neighbours are found again.

    Parameters
    ----------
    model : estimator with ``fit_transform``
        Fitted or not; clones of it are fitted to the different rows of each draw.
    X : what ``fit`` takes
    k : int, optional
        Neighbours; 10, or a tenth of few rows, if absent.
    draws : int
        How often.
    embedding : (n, p), optional
        The map of all rows; that of the model, or of a clone of it, if absent.
    random_state : int
        For the draws.
    most_seconds : float, optional
        No further draw is begun after this time.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> rng = np.random.default_rng(0)
    >>> t, height = rng.uniform(0, 3, 300), rng.uniform(0, 2, 300)
    >>> sheet = np.c_[np.cos(t), np.sin(t), height]
    >>> insight.neighbourhood_bootstrap(ritz.Isomap(2), sheet, draws=5).overlap > 0.8
    True
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    k = require_neighbours(min(NEIGHBOURS, max(1, n // 10)) if k is None else k, n)
    fits = fitted_to(
        model, X, embedding, lambda rng, n: np.unique(rng.integers(0, n, n)), draws, random_state, most_seconds
    )
    fits.require()
    sums, counts = np.zeros(n), np.zeros(n, np.int64)
    overlaps, chance = [], []
    for draw in fits.draws:
        rows, kept, size = _kept(fits.whole, draw, k)
        sums[rows] += kept
        counts[rows] += 1
        overlaps.append(float(kept.mean()) if len(kept) else 0.0)
        chance.append(min(k, size) / max(size, 1))
    own = np.full(n, np.nan)
    np.divide(sums, np.maximum(counts, 1), out=own, where=counts > 0)
    mid, low, high = middle(overlaps)
    return NeighbourhoodBootstrap(
        k, mid, low, high, np.array(overlaps), float(np.mean(chance)), own, counts, fits.failed, fits.why
    )


def _kept(whole: Draw, draw: Draw, k: int) -> tuple[NDArray[np.intp], Floats, int]:
    """Of rows of a draw that lie on both maps: shares of neighbours found again; and how many others there are."""
    there = np.flatnonzero((draw.part >= 0) & (whole.part[draw.rows] >= 0))
    rows = draw.rows[there]
    if len(rows) < 2:
        return rows[:0], np.zeros(0), 0
    k = min(k, len(rows) - 1)
    before, after = (_nearest(Y, k) for Y in (whole.Y[rows], draw.Y[there]))
    same = (before[:, :, None] == after[:, None, :]).any(axis=2)
    return rows, np.asarray(same.mean(axis=1)), len(rows) - 1


def _nearest(Y: Floats, k: int) -> NDArray[np.intp]:
    """The k nearest others of each row, (m, k)."""
    near = np.asarray(cKDTree(Y).query(Y, k + 1)[1]).reshape(len(Y), k + 1)
    own = near == np.arange(len(Y))[:, None]
    own[~own.any(axis=1), -1] = True  # of many copies the row itself may not be among them
    return near[~own].reshape(len(Y), k)
