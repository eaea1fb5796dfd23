"""Rows that wait: batches are put together until forming a state of them pays, or until a result is read.

    rows waiting: n×d numbers              state: d×d, 16d² bytes and as much again while two are merged
    base ⊕ S(rows)                         formed in one product of many rows, and merged once

As long as the rows take no more than the state would, they are the state: nothing of n·d² is computed for a stream that
is shorter than that, and what is read is solved as ``fit`` solves rows. Frequent directions are fed blocks of a fixed
height, so how the stream was cut into batches leaves no trace in them.

With ``decay`` γ a row weighs γ^j once j further rows have come: those that wait know their places.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz.data.passes.blocks import blocks_of, fresh
from ritz.data.passes.integers import has_long
from ritz.data.passes.moments import Moments
from ritz.data.passes.rounding import largest
from ritz.data.passes.statistics import Statistics
from ritz.data.passes.unit import UnitChange
from ritz.data.streams.directions import Directions

__all__ = ["Gathered", "faded", "fading", "formed", "plain"]

Floats = NDArray[np.float64]

#: Magnitudes and weights of rows that may wait: nothing can go wrong with them later.
USUAL, USUAL_WEIGHTS = (1e-50, 1e50), (1e-20, 1e20)


def fading(weights: Floats | None, n: int, decay: float) -> Floats | None:
    """Weights of n rows of a stream, the last of which has just come: wᵢ·γ^(n−1−i), rows of weight zero not counted."""
    if decay == 1:
        return weights
    if weights is None:
        return np.power(decay, np.arange(n - 1, -1, -1, dtype=np.float64))
    present = weights > 0
    later: NDArray[Any] = np.cumsum(present[::-1])[::-1] - present
    return np.where(present, np.power(decay, later.astype(np.float64)) * weights, 0.0)


def faded(state: Any, rows: int, decay: float) -> Any:
    """A state after ``rows`` further rows."""
    if decay == 1 or state is None:
        return state
    factor = float(np.power(decay, float(rows)))
    later = state.times(factor)
    if isinstance(later, Moments):  # what the products with the factor round
        later = replace(later, noise=later.noise + 4 * 2.0**-53 * largest(later.scatter))
    return later


def formed(X: Any, weights: Floats | None, center: bool, names: Any = None) -> Moments:
    """The moment state of rows, in float64: it cannot be repaired later."""
    stats = Statistics(blocks_of(X), weights, np.float64, names, rescales=True, about_zero=not center)
    try:
        return stats.moments
    except UnitChange as change:
        rows = blocks_of(change.rows(X))
        again = Statistics(rows, weights, np.float64, names, rescales=True, about_zero=not center, given=change.unit)
        return again.moments


def plain(X: Any, weights: Floats | None) -> bool:
    """Whether rows in memory may wait: finite numbers of usual size, none of which a later step would refuse."""
    entries = X if isinstance(X, np.ndarray) else X.data
    if entries.dtype.kind not in "fiu" or entries.dtype.itemsize > 8 or has_long(entries):
        return False
    if entries.dtype.kind == "f" and entries.size:
        least, most = float(entries.min()), float(entries.max())  # NaN is neither
        size = max(-least, most)
        if not (size <= USUAL[1] and (size >= USUAL[0] or size == 0)):
            return False
    if weights is None or not weights.size:
        return True
    return bool(weights.min() >= USUAL_WEIGHTS[0] and weights.max() <= USUAL_WEIGHTS[1])


@dataclass(frozen=True)
class Gathered:
    """A state, and rows that were not added to it yet.

    Parameters
    ----------
    base
        What was formed of the rows before; None where there is nothing.
    batches, weights
        Arrays, or CSR matrices, of one type, and weights of their rows; None for weights of one.
    rows
        How many rows wait.
    decay
        γ.
    center
        Whether rows will be taken about their mean.
    """

    base: Moments | Directions | None
    batches: tuple[Any, ...] = ()
    weights: tuple[Floats | None, ...] = ()
    rows: int = 0
    decay: float = 1.0
    center: bool = True

    @property
    def nbytes(self) -> int:
        """Bytes that wait."""
        return sum(batch.nbytes if isinstance(batch, np.ndarray) else 12 * batch.nnz for batch in self.batches)

    def takes(self, X: Any) -> bool:
        """Whether rows are of the type of those that wait."""
        if not self.batches:
            return True
        last = self.batches[-1]
        return isinstance(X, np.ndarray) == isinstance(last, np.ndarray) and X.dtype == last.dtype

    def plus(self, X: Any, weights: Floats | None) -> Gathered:
        """With more rows waiting; they are copied."""
        rows = X.copy() if isinstance(X, np.ndarray) else X.tocsr(copy=True)
        given = None if weights is None else np.array(weights, np.float64)
        return replace(
            self, batches=(*self.batches, rows), weights=(*self.weights, given), rows=self.rows + X.shape[0]
        )  # fmt: skip

    @cached_property
    def table(self) -> tuple[Any, Floats | None]:
        """All rows that wait, and what they weigh now."""
        X = self.batches[0] if len(self.batches) == 1 else _stacked(self.batches)
        return X, fading(self._given(), self.rows, self.decay)

    def _given(self) -> Floats | None:
        """The weights that the rows came with."""
        if all(each is None for each in self.weights):
            return None
        ones = (np.ones(batch.shape[0]) for batch in self.batches)
        return np.concatenate([w if w is not None else one for w, one in zip(self.weights, ones, strict=True)])

    @cached_property
    def settled(self) -> Any:
        """The state of all rows."""
        if not self.batches:
            return self.base
        X, weights = self.table
        before = faded(self.base, self.rows, self.decay)
        if isinstance(before, Directions):
            return before.add(X, weights)
        added = formed(X, weights, self.center)
        return added if before is None else before.merge(added)

    @property
    def formed(self) -> bool:
        """Whether the state of all rows was asked for, and is there."""
        return "settled" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        """What was asked for is no part of a copy."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def emptied(self) -> Gathered:
        """Nothing waits: all is in the state."""
        return Gathered(self.settled, decay=self.decay, center=self.center) if self.batches else self

    def united(self) -> Gathered:
        """The same rows in one piece, that of ``table``."""
        return replace(self, batches=(self.table[0],), weights=(self._given(),)) if len(self.batches) > 1 else self


def _stacked(batches: tuple[Any, ...]) -> Any:
    """Batches of one type below each other."""
    if not isinstance(batches[0], np.ndarray):
        return sp.vstack(batches, format="csr")
    rows = sum(len(batch) for batch in batches)
    return np.concatenate(batches, out=fresh((rows, batches[0].shape[1]), batches[0].dtype))
