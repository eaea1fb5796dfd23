"""Diagonal factors: columns ``A D_σ⁻¹`` (Scaled) and rows ``D_w^½ A`` (Weighted)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.keys import key_of_bytes
from ritz._core.linalg import Array, to_numpy
from ritz._core.tolerance import SCALE_ERROR
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics
from ritz.operators.affine import Affine
from ritz.operators.base import Operator
from ritz.operators.framed import Framed, Rows, Wrapper

if TYPE_CHECKING:
    from ritz.data.passes.rough import Rough

__all__ = ["Scaled", "Weighted"]


class Scaled(Wrapper):
    """``A D_σ⁻¹``: every column divided by its scale, given or computed when first needed.

    Parameters
    ----------
    inner : Operator
        A.
    scale : array (d,), number, or function
        σ, or a function that gives it when it is first needed.
    name : str
        How ``symbol`` writes it.
    spreads : bool
        Whether the scales are standard deviations, which of sparse columns are what is left of sums of squares.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> A = op.Scaled(op.Centered(op.Dense(X), X.mean(axis=0)), X.std(axis=0, ddof=1))
    >>> A, (A.gram() / 2).round(3)                # AᵀA/(n − 1) is the matrix of correlations
    ((X − 1μᵀ) D_σ⁻¹  (3×2, float64), array([[1.   , 0.971],
           [0.971, 1.   ]]))
    """

    def __init__(
        self, inner: Operator, scale: Any | Callable[[], Any], name: str = "D_σ⁻¹", *, spreads: bool = False
    ) -> None:
        super().__init__(inner)
        self._given, self._name, self._spreads = scale, name, spreads

    @property
    def scale(self) -> np.ndarray:
        """The divisors σ, (d,)."""
        value = self._given
        if callable(value):  # a function of what a pass may have to learn first
            stats = self.statistics
            before = 0 if stats is None else stats.passes
            value = value()
            self.tally.passes += 0 if stats is None else stats.passes - before
        return np.broadcast_to(np.asarray(to_numpy(value), np.float64), (self.shape[1],))

    def _frame(self) -> Affine | None:
        frame = self._inner_frame()
        if frame is None:
            return None
        factor = 1 / self.scale
        return replace(frame, col_scale=factor if frame.col_scale is None else frame.col_scale * factor)

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        state = self._inner_moments()
        if state is None:
            return None
        factor = 1 / self.scale
        return state[0], factor if state[1] is None else state[1] * factor, state[2]

    def faint(self, k: int, *, scaled: bool = False) -> bool:
        return self.inner.faint(k, scaled=True)

    def rough(self, k: int = 1, *, scaled: bool = False) -> Rough | None:
        found = self.inner.rough(k, scaled=True)  # which learns what the scales are made of
        return None if found is None else found.scaled(1 / self.scale)

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        state = self._inner_columns()
        if state is None:
            return None
        factor = 1 / self.scale
        return state[0], factor if state[1] is None else state[1] * factor, state[2]

    def _normal(self, V: Array) -> Array:
        if isinstance(self.inner, Framed) and self.inner._learner() is not None and not callable(self._given):
            return self.inner.normal(V / self.scale[:, None]) / self.scale[:, None]
        return super()._normal(V)

    def scale_error(self) -> float:
        return self.inner.scale_error() + (SCALE_ERROR * self._cancelled() if callable(self._given) else 0.0)

    def _cancelled(self) -> float:
        """Sums of squares of sparse columns over what is left of them about the mean: so much larger is their error."""
        state, stats = self._inner_columns(), self.statistics
        if not self._spreads or state is None or stats is None or not stats.blocks.sparse or not state[2]:
            return 1.0
        about = state[0].weight * np.square(state[0].mean / state[0].unit)
        left = state[0].squares
        return 1.0 + float(np.max(np.where(left > 0, about / np.where(left > 0, left, 1.0), 0.0), initial=0.0))

    def _plain(self, V: Array, adjoint: bool) -> Array:
        scale = self.place.array(self.scale)[:, None]
        return self.inner.rmatmat(V) / scale if adjoint else self.inner.matmat(V / scale)

    def _factor(self) -> float:
        return float(np.max(1 / np.abs(self.scale), initial=0.0))

    def at(self, dtype: Any) -> Scaled:
        return Scaled(self.inner.at(dtype), self._given, self._name, spreads=self._spreads)

    def symbol(self) -> str:
        return f"{self.inner.symbol()} {self._name}"


class Weighted(Wrapper):
    """``D_w^½ A``: row i multiplied by √wᵢ, so that AᵀA sums over frequencies.

    Parameters
    ----------
    inner : Operator
        A.
    weights : array (n,)
        w, not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> A = op.Weighted(op.Dense(X), [2.0, 1.0, 1.0])  # the first row counts twice
    >>> bool(np.allclose(A.gram(), op.Dense(np.vstack([X[:1], X])).gram()))
    True
    """

    def __init__(self, inner: Operator, weights: Any) -> None:
        super().__init__(inner)
        self.weights = np.asarray(to_numpy(weights), np.float64)
        self._root = np.sqrt(self.weights)

    def _frame(self) -> Affine | None:
        frame = self._inner_frame()
        if frame is None:
            return None
        return replace(frame, row_scale=self._root if frame.row_scale is None else frame.row_scale * self._root)

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        # The state counts rows by the weights of its own statistics: they must be these.
        stats = self.statistics
        if stats is None or not self._counted():
            return None
        inner = self.inner
        while isinstance(inner, Scaled):
            inner = inner.inner
        if isinstance(inner, Rows):
            before = stats.passes
            moments = stats.moments
            self.tally.passes += stats.passes - before
            return _rescaled(self.inner, moments, centered=False)
        return self._inner_moments()

    def _counted(self) -> bool:
        """Whether the statistics below count rows by these very weights."""
        stats = self.statistics
        return stats is not None and stats.weights is not None and np.array_equal(stats.weights, self.weights)

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        return self._inner_columns() if self._counted() else None

    def _plain(self, V: Array, adjoint: bool) -> Array:
        root = self.place.array(self._root)[:, None]
        return self.inner.rmatmat(V * root) if adjoint else self.inner.matmat(V) * root

    def _factor(self) -> float:
        return float(np.max(self._root, initial=0.0))

    def key(self) -> int:
        return key_of_bytes(str(self.inner.key()), self.weights)

    def at(self, dtype: Any) -> Weighted:
        return Weighted(self.inner.at(dtype), self.weights)

    def symbol(self) -> str:
        return f"D_w^½ {self.inner.symbol()}"


def _rescaled(operator: Operator, moments: Moments, centered: bool) -> tuple[Moments, np.ndarray | None, bool]:
    factor: np.ndarray | None = None
    while isinstance(operator, Scaled):
        factor = 1 / operator.scale if factor is None else factor / operator.scale
        operator = operator.inner
    return moments, factor, centered
