"""Centring: ``A − 1μᵀ``.

    (A − 1μᵀ) V = A V − 1(μᵀV)          (A − 1μᵀ)ᵀ U = AᵀU − μ(1ᵀU)

On rows in memory the mean is taken off each block before it is multiplied; otherwise the two formulas above are used,
the second term kept although 1ᵀU is zero in exact arithmetic: it removes the rounding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.linalg import Array, to_numpy
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.operators.affine import Affine
from ritz.operators.base import Operator
from ritz.operators.framed import Wrapper

__all__ = ["Centered"]


class Centered(Wrapper):
    """``A − 1μᵀ`` with μ given, or learned from the rows' statistics when first needed."""

    def __init__(self, inner: Operator, mean: Any | Statistics) -> None:
        super().__init__(inner)
        self._given = mean

    @property
    def mean(self) -> np.ndarray:
        """The column means μ."""
        if isinstance(self._given, Statistics):
            before = self._given.passes
            mean = self._given.column.mean
            self.tally.passes += self._given.passes - before
            return mean
        return np.asarray(to_numpy(self._given), np.float64)

    def _split(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The mean as a part exactly representable in the working precision and a small rest."""
        mean, low = self.mean, None
        if isinstance(self._given, Statistics):
            column = self._given.column
            low = (column.shift - mean) + column.offset
        narrow = mean.astype(self._narrow).astype(np.float64)
        rest = (mean - narrow) + (0.0 if low is None else low)
        return narrow, rest if bool(np.any(rest != 0)) else None

    @property
    def _narrow(self) -> Any:
        frame = self._inner_frame()
        wide = frame is None or np.dtype(frame.precision).itemsize >= 8
        return np.float64 if wide else np.float32

    def _frame(self) -> Affine | None:
        frame = self._inner_frame()
        if frame is None or frame.shift is not None or frame.row_scale is not None or frame.col_scale is not None:
            return None
        shift, low = self._split()
        return replace(frame, shift=shift, shift_low=low)

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        stats = self._given
        if not isinstance(stats, Statistics) or self._inner_frame() is None:
            return None
        before = stats.passes
        moments = stats.moments
        self.tally.passes += stats.passes - before
        return moments, None, True

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        state = self._inner_columns()
        known = isinstance(self._given, Statistics) and self._given is self._statistics()
        return (state[0], state[1], True) if state is not None and known else None

    def _learner(self) -> Statistics | None:
        stats = self._given
        # Sums of squares in true units would leave the range where the unit is not one.
        return stats if isinstance(stats, Statistics) and not stats.known and stats.unit == 1 else None

    def _normal(self, V: Array) -> Array:
        stats = self._learner()
        inner = self._inner_frame()
        narrow = inner is not None and np.dtype(inner.precision).itemsize < 8  # sums of squares need float64
        if stats is None or inner is None or narrow or inner.row_scale is not None or stats.weights is not None:
            return super()._normal(V)
        # The means are not known yet: one pass about the shift learns them and is corrected by mmᵀ/w afterwards.
        self.tally.passes += 1
        raw = replace(inner, shift=None if inner.blocks.sparse else stats.shift)
        product = raw.normal(V, learn=stats)
        if not stats.known:  # the shift lay off centre: the product lost digits
            return super()._normal(V)
        gap = stats.column.offset if not inner.blocks.sparse else stats.column.mean
        return product - np.outer(gap * stats.weight, gap @ np.asarray(V, np.float64))

    def _plain(self, V: Array, adjoint: bool) -> Array:
        mean = self.place.array(np.broadcast_to(self.mean, (self.shape[1],)))
        if adjoint:
            return self.inner.rmatmat(V) - mean[:, None] * self.xp.sum(V, axis=0)
        return self.inner.matmat(V) - mean @ V

    def inflation(self) -> float:
        """‖1μᵀ‖² where the mean is taken off the product."""
        own = 0.0 if self.affine is not None else self.shape[0] * float(np.sum(np.square(self.mean)))
        return super().inflation() + own

    def at(self, dtype: Any) -> Centered:
        return Centered(self.inner.at(dtype), self._given)

    def symbol(self) -> str:
        return f"({self.inner.symbol()} − 1μᵀ)"
