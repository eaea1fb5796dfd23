"""Would other rows give the same map? Maps of some rows, laid on the map of all of them.

    share_b   = min over moves, turns, mirrors and stretches of ‖Y_S − 1bᵀ − sY^(b)R‖² / ‖Y_S − mean‖²     Procrustes
    moved_i   = √mean_b ‖y_i − (aligned place of i in draw b)‖²  /  √mean_i ‖y_i − ȳ‖²

0: the same picture every time; 1: nothing in common. Axes of one eigenvalue may turn among each other: Procrustes turns
them back. Components that a graph falls into are laid on each other one by one, since each was placed by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.tabular import Tabular
from ritz.insight.calls import asked
from ritz.insight.embedding.draws import Draw, fitted_to, middle
from ritz.insight.embedding.procrustes import procrustes

__all__ = ["EmbeddingStability", "embedding_stability"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class EmbeddingStability(Tabular):
    """How much of a map is found again from some of its rows.

    Attributes
    ----------
    share : what no move explains of the map, median over draws; 0 is the same picture, 1 nothing in common
    low, high : nine in ten draws lie between
    shares : (draws,) of each draw
    chance : what maps whose rows change places at random would have
    rows_moved : (n,) how far a row moves, in units of the size of the map; NaN where it is in fewer than two draws
    rows_draws : (n,) draws that a row is in
    drawn : rows of a draw
    broken : draws whose graph fell into more components than that of all rows
    failed, why : draws that could not be fitted, and the first reason
    """

    share: float
    low: float
    high: float
    shares: Floats
    chance: float
    rows_moved: Floats
    rows_draws: Counts
    drawn: int
    broken: int
    failed: int
    why: str

    def __repr__(self) -> str:
        n = len(self.rows_moved)
        seen = np.flatnonzero(np.isfinite(self.rows_moved))
        lines = [
            f"stability of a map ({len(self.shares)} draws of {self.drawn:,} of {n:,} rows)",
            f"  not found again  {self.share:.4f}, nine in ten draws between {self.low:.4f} and {self.high:.4f}; "
            f"{self.chance:.2f} by chance",
            f"  a row moves by   {np.median(self.rows_moved[seen]):.4f} of the size of the map, the median",
        ]
        order = seen[np.argsort(-self.rows_moved[seen], kind="stable")[:3]]
        lines.append(f"  least steady: rows {', '.join(map(str, order))}")
        if self.broken:
            lines.append(f"  {self.broken} draws fell into more components")
        if self.failed:
            lines.append(f"  {self.failed} draws could not be fitted: {self.why}")
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        return {"row": range(len(self.rows_moved)), "moved": self.rows_moved, "draws": self.rows_draws}


@asked
def embedding_stability(
    model: Any, X: Any, draws: int = 20, *, share: float = 0.8, embedding: Any = None, random_state: int = 0,
    most_seconds: float | None = None,
) -> EmbeddingStability:  # fmt: skip
    """Fit a map again to some of the rows, many times, and see how far the rows move.

    Parameters
    ----------
    model : estimator with ``fit_transform``
        Fitted or not; clones of it are fitted.
    X : what ``fit`` takes
    draws : int
        How often.
    share : float
        Part of the rows in a draw, drawn without replacement.
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
    >>> found = insight.embedding_stability(ritz.Isomap(2), sheet, draws=5)
    >>> found.share < 0.05                                    # the sheet, every time
    True
    >>> noise = rng.normal(size=(300, 20))
    >>> insight.embedding_stability(ritz.Isomap(2), noise, draws=5).share > 0.2
    True
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < float(share) < 1:
        raise ParameterError("share must be a number between 0 and 1", received=repr(share), hint="share=0.8")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    m = max(3, round(float(share) * n))
    fits = fitted_to(
        model, X, embedding, lambda rng, n: rng.choice(n, m, replace=False), draws, random_state, most_seconds
    )
    fits.require()
    rng = np.random.default_rng(random_state)
    squares, counts = np.zeros(n), np.zeros(n, np.int64)
    shares, chance, broken = [], [], 0
    for draw in fits.draws:
        laid = _laid(fits.whole, draw, rng)
        shares.append(laid.share)
        chance.append(laid.chance)
        broken += bool(draw.part.max(initial=0) > fits.whole.part.max(initial=0))
        squares[laid.rows] += laid.far
        counts[laid.rows] += 1
    size = _size(fits.whole)
    moved = np.full(n, np.nan)
    np.divide(squares, np.maximum(counts, 1), out=moved, where=counts >= 2)
    mid, low, high = middle(shares)
    return EmbeddingStability(
        mid, low, high, np.array(shares), float(np.mean(chance)), np.sqrt(moved) / size, counts, m, broken,
        fits.failed, fits.why,
    )  # fmt: skip


@dataclass(frozen=True)
class _Laid:
    rows: NDArray[np.intp]
    far: Floats  # squared distances from the places on the map of all rows
    share: float
    chance: float


def _laid(whole: Draw, draw: Draw, rng: Any) -> _Laid:
    """A draw laid on the map of all rows, component by component."""
    target, part = whole.Y[draw.rows], np.where(draw.part < 0, -1, whole.part[draw.rows])
    p = target.shape[1]
    rows, far, left, by_chance, total = [], [], 0.0, 0.0, 0.0
    for a, b in sorted({(int(a), int(b)) for a, b in zip(part, draw.part, strict=True) if a >= 0}):
        here = np.flatnonzero((part == a) & (draw.part == b))
        if len(here) < p + 2:  # anything fits so few rows
            continue
        T, Y = target[here], draw.Y[here]
        found = procrustes(T, Y)
        rows.append(draw.rows[here])
        far.append(np.square(found.distances))
        left += found.ss
        by_chance += procrustes(T, Y[rng.permutation(len(Y))]).ss
        total += float(np.square(T - T.mean(axis=0)).sum())
    if not rows or not total > 0:
        return _Laid(np.zeros(0, np.intp), np.zeros(0), 1.0, 1.0)
    return _Laid(np.concatenate(rows), np.concatenate(far), left / total, by_chance / total)


def _size(whole: Draw) -> float:
    """Root mean square distance of rows from the middle of their component."""
    squares, count = 0.0, 0
    for a in range(int(whole.part.max(initial=0)) + 1):
        Y = whole.Y[whole.part == a]
        squares, count = squares + float(np.square(Y - Y.mean(axis=0)).sum()) if len(Y) else squares, count + len(Y)
    return float(np.sqrt(squares / max(count, 1))) or 1.0
