"""Centring: rows without their mean.

    (A − 1μᵀ) V = A V − 1(μᵀV)          (A − 1μᵀ)ᵀ U = AᵀU − μ(1ᵀU)          A (n×d),  μ (d)

Rows have a frame, to which the mean is added (``framed.py``): it is taken off each block before that is multiplied.
Where there is none (a sum, a foreign operator), the formulas above are used: the term 1ᵀU, zero in exact arithmetic,
removes the rounding. Means that nobody knows yet are learned on the way of the first product.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.frozen import changed
from ritz._core.linalg import Array, to_numpy
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.operators.affine import Affine
from ritz.operators.base import Operator
from ritz.operators.framed import Rows, Wrapper

if TYPE_CHECKING:
    from ritz.data.passes.rough import Rough

__all__ = ["Centered"]


class Centered(Wrapper):
    """``A − 1μᵀ`` with μ given, or learned from the rows' statistics when first needed.

    Parameters
    ----------
    inner : Operator
        A.
    mean : array (d,) or Statistics
        μ, or where it is learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> A = op.Centered(op.Dense(X), X.mean(axis=0))
    >>> A, A.to_dense().sum(axis=0).round(12) + 0
    ((X − 1μᵀ)  (3×2, float64), array([0., 0.]))
    """

    def __init__(self, inner: Operator, mean: Any | Statistics) -> None:
        super().__init__(inner)
        self._given = mean
        self._of_rows = isinstance(inner, Rows) and self.statistics is not None

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
        if self._narrow is np.float64:
            return mean, low if low is not None and low.any() else None
        narrow = mean.astype(np.float32).astype(np.float64)
        rest = (mean - narrow) + (0.0 if low is None else low)
        return narrow, rest if rest.any() else None

    @property
    def _narrow(self) -> Any:
        frame = self._inner_frame()
        return np.float64 if frame is None or np.dtype(frame.precision).itemsize >= 8 else np.float32

    def _frame(self) -> Affine | None:
        frame = self._inner_frame()
        if frame is None or frame.shift is not None or frame.row_scale is not None or frame.col_scale is not None:
            return None
        shift, low = self._split()
        altered: Any = changed if type(frame) is Affine else replace  # a device holds parts of the frame besides
        return altered(frame, shift=shift, shift_low=low)  # type: ignore[no-any-return]

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        stats = self._given
        if not isinstance(stats, Statistics):
            return None
        if not self._of_rows and self._inner_frame() is None:
            return None
        before = stats.passes
        moments = stats.moments
        self.tally.passes += stats.passes - before
        return moments, None, True

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        state = self._inner_columns()
        own = isinstance(self._given, Statistics) and self._given is self.statistics
        return (state[0], state[1], True) if state is not None and own else None

    def _learner(self) -> Statistics | None:
        stats = self._given
        # Sums of squares in true units would leave the range where the unit is not one.
        own = isinstance(stats, Statistics) and self.xp is np  # a device reads twice rather than correct a product
        return stats if own and not stats.known and stats.unit == 1 else None

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

    def faint(self, k: int, *, scaled: bool = False) -> bool:
        own = isinstance(self._given, Statistics) and self._given is self.statistics and isinstance(self.inner, Rows)
        return own and self._faintly(self._given, k, centered=True, scaled=scaled)

    def rough(self, k: int = 1, *, scaled: bool = False) -> Rough | None:
        own = isinstance(self._given, Statistics) and self._given is self.statistics and isinstance(self.inner, Rows)
        return self._roughly(self._given, k, centered=True, scaled=scaled) if own else None

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
