"""How far an embedding can be trusted: who stayed near, who came near, who went away.

    trustworthiness   1 − 2/(nk(2n−3k−1)) Σ_i Σ_{j near in Y, not in X} (rank_X(i, j) − k)                    [VK01]
    continuity        the same with X and Y changed: neighbours that went away
    overlap Q_NX(k)   share of the k neighbours that stayed;  LCMC(k) = Q_NX(k) − k/(n − 1)                    [CB09]
    Shepard           correlation of distances among the rows and in the embedding, over all pairs

All are computed for each row and for every number of neighbours up to k. Ranks are exact (``ranks.py``); no matrix of
n×n is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.memory import limit
from ritz._core.tabular import Tabular
from ritz._core.threads import go_on
from ritz.graphs.spaces.base import Mapped, Space
from ritz.insight.calls import asked
from ritz.insight.embedding.coranking import pair_of_spaces, require_neighbours
from ritz.insight.embedding.dimension import checked
from ritz.insight.embedding.procrustes import share_left
from ritz.insight.embedding.ranks import ranks_of, row_blocks
from ritz.kernels.base import take_rows

__all__ = ["EmbeddingQuality", "by_chance", "embedding_quality"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Places = NDArray[np.intp]

#: Neighbours where k is not given.
NEIGHBOURS = 10
#: Rows whose distances to all others enter the Shepard correlation, if there are more.
SHEPARD = 1000


@dataclass(frozen=True, repr=False)
class EmbeddingQuality(Tabular):
    """How far an embedding can be trusted.

    Attributes
    ----------
    k : neighbours that the numbers are about
    n : rows
    trustworthiness, continuity, overlap, lcmc : numbers at k; 1 is perfect (``lcmc``: 1 − k/(n − 1))
    curve : dict of "k", "trustworthiness", "continuity", "overlap", "lcmc", "r_nx": arrays for 1 … k neighbours
    coranking : (k, k) corner of the co-ranking matrix: how often the r-th neighbour became the s-th
    shepard : correlation of distances among rows and in the embedding
    shepard_rows : rows whose distances to all others entered it
    procrustes : share of the rows that no moving, turning and stretching explains; None for rows without columns
    rows_trustworthiness, rows_continuity, rows_overlap : (n,) the same of each row
    rows_stretch : (n,) by what factor the neighbourhood of a row was stretched, relative to the median of all rows
    standard_errors : dict of what the numbers at k are sure to, where only some rows were measured; else None
    rows : the rows that were measured
    """

    k: int
    n: int
    trustworthiness: float
    continuity: float
    overlap: float
    lcmc: float
    curve: dict[str, Floats]
    coranking: Counts
    shepard: float
    shepard_rows: int
    procrustes: float | None
    rows_trustworthiness: Floats
    rows_continuity: Floats
    rows_overlap: Floats
    rows_stretch: Floats
    standard_errors: dict[str, float] | None
    rows: Places

    def chance(self, measure: str) -> Floats:
        """What rows placed at random reach on average, for 1 … k neighbours."""
        return by_chance(self.n, self.curve["k"])[measure]

    def __repr__(self) -> str:
        m = len(self.rows)
        whole = f"{self.n:,} rows" if m == self.n else f"{m:,} of {self.n:,} rows, drawn at random"
        chance = self.k / (self.n - 1)
        lines = [
            f"quality of an embedding ({whole}, {self.k} neighbours; exact ranks)",
            f"  trustworthiness  {self.trustworthiness:.4f}{self._error('trustworthiness')}   near ones belong there",
            f"  continuity       {self.continuity:.4f}{self._error('continuity')}   near ones stayed",
            f"  overlap          {self.overlap:.4f}{self._error('overlap')}   neighbours kept; {chance:.4f} by chance",
            f"  LCMC             {self.lcmc:.4f}   overlap beyond chance",
            f"  Shepard          {self.shepard:.4f}   correlation of distances"
            + (f", of {self.shepard_rows:,} rows with all others" if self.shepard_rows < self.n else ""),
        ]
        if self.procrustes is not None:
            lines.append(f"  Procrustes       {self.procrustes:.4f}   share of the rows that it does not explain")
        worst = self.rows[np.argsort(self.rows_trustworthiness, kind="stable")[:3]]
        lines.append(f"  least to be trusted: rows {', '.join(map(str, worst))}")
        return "\n".join(lines)

    def _error(self, name: str) -> str:
        return "" if self.standard_errors is None else f" ± {self.standard_errors[name]:.4f}"

    def _table(self) -> dict[str, Any]:
        names = ("trustworthiness", "continuity", "overlap", "stretch")
        return {"row": self.rows} | {name: getattr(self, f"rows_{name}") for name in names}


def by_chance(n: int, k: Any) -> dict[str, Floats]:
    """What rows placed at random reach on average: ranks of their neighbours are uniform on 1 … n − 1."""
    k = np.asarray(k, np.float64)
    trust = 1 - (n - 1 - k) * (n - k) / ((n - 1) * (2 * n - 3 * k - 1))
    return {"trustworthiness": trust, "continuity": trust, "overlap": k / (n - 1), "lcmc": 0 * k, "r_nx": 0 * k}


@asked
def embedding_quality(
    X: Any, Y: Any, k: int | None = None, *, metric: Any = "euclidean", sample: int | None = None,
    random_state: int = 0, memory: Any = None,
) -> EmbeddingQuality:  # fmt: skip
    """Measure how an embedding distorts neighbourhoods and distances.

    Parameters
    ----------
    X : (n, d) rows
        What was embedded: dense, sparse, strings, or distances with ``metric="precomputed"``, as of
        :class:`ritz.Neighbours`.
    Y : (n, p) coordinates
        The embedding of the same rows.
    k : int, optional
        Neighbours; 10, or a tenth of few rows, if absent.
    metric : str, kernel or callable
        What is near among the rows X; in the embedding it is the Euclidean distance.
    sample : int, optional
        Measure on so many rows, drawn at random, each against all others; the numbers then have standard errors.
    random_state : int
        For ``sample``.
    memory : str, int or None
        Memory limit.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> insight.embedding_quality(X, ritz.PCA(2).fit_transform(X), k=10)
    quality of an embedding (150 rows, 10 neighbours; exact ranks)
      trustworthiness  0.9830   near ones belong there
      continuity       0.9908   near ones stayed
      overlap          0.7347   neighbours kept; 0.0671 by chance
      LCMC             0.6676   overlap beyond chance
      Shepard          0.9984   correlation of distances
      Procrustes       0.0223   share of the rows that it does not explain
      least to be trusted: rows 84, 87, 68
    """
    room = limit(memory)
    first, second, coordinates = pair_of_spaces(X, Y, metric, room)
    n = first.n
    k = require_neighbours(min(NEIGHBOURS, max(1, n // 10)) if k is None else k, n)
    rows = np.arange(n)
    if sample is not None and sample < n:
        rows = np.sort(np.random.default_rng(random_state).choice(n, int(sample), replace=False))
    held = checked(X, metric) if len(rows) < n else None
    near_x, far_x = _neighbours(first, rows, k, held)
    near_y, _ = _neighbours(second, rows, k, coordinates)
    in_x, in_y = ranks_of(first, rows, near_y), ranks_of(second, rows, near_x)
    curve, by_row = _curves(in_x, in_y, n)
    errors = None
    if len(rows) < n:
        spread = np.sqrt((1 - len(rows) / n) / len(rows))
        errors = {name: float(values.std(ddof=1) * spread) for name, values in by_row.items()}
    corner = _corner(in_x)
    shepard, used = _shepard(first, second, rows, random_state)
    vectors = first.vectors if not isinstance(first, Mapped) else None
    return EmbeddingQuality(
        k=k, n=n, trustworthiness=float(curve["trustworthiness"][-1]), continuity=float(curve["continuity"][-1]),
        overlap=float(curve["overlap"][-1]), lcmc=float(curve["lcmc"][-1]), curve=curve, coranking=corner,
        shepard=shepard, shepard_rows=used,
        procrustes=None if vectors is None else share_left(vectors, coordinates),
        rows_trustworthiness=by_row["trustworthiness"], rows_continuity=by_row["continuity"],
        rows_overlap=by_row["overlap"], rows_stretch=_stretch(far_x, second, rows, near_x),
        standard_errors=errors, rows=rows,
    )  # fmt: skip


def _neighbours(space: Space, rows: Places, k: int, held: Any) -> tuple[Places, Floats]:
    """The k nearest of some rows and their distances, (m, k); ``held`` are all rows, of which only some are asked."""
    if len(rows) == space.n:
        found = space.nearest(None, k).lists
        return found.indices.reshape(-1, k), found.distances.reshape(-1, k)
    found = space.nearest(space.new(take_rows(held, rows)), k + 1).lists
    near, far = found.indices.reshape(-1, k + 1), found.distances.reshape(-1, k + 1)
    own = near == rows[:, None]
    own[~own.any(axis=1), -1] = True  # of many copies the row itself may not be among them
    return near[~own].reshape(-1, k), far[~own].reshape(-1, k)


def _curves(in_x: Counts, in_y: Counts, n: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Measures for 1 … k neighbours, and those at k of each row; ranks (m, k) of the neighbours of the other side."""
    k = in_x.shape[1]
    sizes = np.arange(1, k + 1)
    trust, cont, kept = np.empty(k), np.empty(k), np.empty(k)
    rows: dict[str, Floats] = {}
    for size in sizes:
        worst = size * (2 * n - 3 * size - 1) / 2  # the most that ranks can exceed k by, for one row
        lost_x = np.maximum(in_x[:, :size] - size, 0).sum(axis=1) / worst
        lost_y = np.maximum(in_y[:, :size] - size, 0).sum(axis=1) / worst
        stayed = np.count_nonzero(in_x[:, :size] <= size, axis=1) / size
        trust[size - 1], cont[size - 1], kept[size - 1] = 1 - lost_x.mean(), 1 - lost_y.mean(), stayed.mean()
        rows = {"trustworthiness": 1 - lost_x, "continuity": 1 - lost_y, "overlap": stayed}
    chance = sizes / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        beyond = np.where(chance < 1, (kept - chance) / (1 - chance), 0.0)
    curve = {"k": sizes.astype(float), "trustworthiness": trust, "continuity": cont, "overlap": kept,
             "lcmc": kept - chance, "r_nx": beyond}  # fmt: skip
    return curve, rows


def _corner(in_x: Counts) -> Counts:
    """Pairs whose ranks are at most k on both sides, counted by both."""
    k = in_x.shape[1]
    other = np.broadcast_to(np.arange(1, k + 1), in_x.shape)
    both = in_x <= k
    corner = np.zeros((k, k), np.int64)
    np.add.at(corner, (in_x[both] - 1, other[both] - 1), 1)
    return corner


def _stretch(before: Floats, second: Space, rows: Places, near: Places) -> Floats:
    """Median over neighbours of the distance in the embedding by that among rows, by the median of all rows."""
    k = near.shape[1]
    after = second.pairs(np.repeat(rows, k), near.reshape(-1)).reshape(-1, k)
    ratio = np.full(before.shape, np.nan)
    np.divide(after, before, out=ratio, where=before > 0)
    known = ~np.isnan(ratio).all(axis=1)
    own = np.ones(len(rows))
    if known.any():
        own[known] = np.nanmedian(ratio[known], axis=1)
        middle = float(np.median(own[known]))
        own[known] /= middle if middle > 0 else 1.0
    return own


def _shepard(first: Space, second: Space, rows: Places, seed: int) -> tuple[float, int]:
    """Correlation of distances over all pairs of some rows with all others, and how many these rows are."""
    if len(rows) > 2 * SHEPARD:
        rows = np.sort(np.random.default_rng(seed).choice(rows, SHEPARD, replace=False))
    left, right = (screen if (screen := space.screen()).wide is None else screen.wide for space in (first, second))
    sums, count = np.zeros(5), 0
    for at in row_blocks(len(rows), first.n):
        go_on()
        some = rows[at]
        a = left.lengths(some, left.tile(some, slice(0, first.n)))
        b = right.lengths(some, right.tile(some, slice(0, first.n)))
        if isinstance(first, Mapped):
            a = first.forward(a)
        others = np.ones(a.shape, bool)
        others[np.arange(len(some)), some] = False
        a, b = a[others], b[others]
        sums += [a.sum(), b.sum(), a @ a, b @ b, a @ b]
        count += len(a)
    mean_a, mean_b = sums[0] / count, sums[1] / count
    spread = np.sqrt(max(sums[2] / count - mean_a**2, 0.0) * max(sums[3] / count - mean_b**2, 0.0))
    return float((sums[4] / count - mean_a * mean_b) / spread) if spread > 0 else 0.0, len(rows)
