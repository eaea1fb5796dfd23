"""Operators on rows whose products fuse into one affine pass (see ``affine.py``).

A wrapper (centred, scaled, weighted) asks what it wraps for its frame and adds to it. If there is a frame, products
are one blocked pass over the rows; if not (a sum, a foreign operator), the wrapper works algebraically.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ritz._core.lazy import cached_property
from ritz._core.linalg import Array
from ritz.data.engines.memory.blocks import MemoryBlocks
from ritz.data.passes.gram import TILE_ABOVE
from ritz.data.passes.moments import Moments, scaled_noise
from ritz.data.passes.rounding import SHORT_NOISE
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.operators.affine import Affine
from ritz.operators.base import Operator
from ritz.operators.rounding import taken_off

__all__ = ["Framed", "Tally", "Wrapper"]


class Tally:
    """Passes over one table, shared by all operators on it."""

    def __init__(self) -> None:
        self.passes = 0


class Framed(Operator):
    """An operator that may have an affine frame."""

    tally: Tally

    @abstractmethod
    def _frame(self) -> Affine | None: ...

    @abstractmethod
    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        """Moment state, column scale and whether centred, if one pass over the rows gives them all."""

    def _learner(self) -> Statistics | None:
        """The statistics that the next pass could learn on its way, if it may."""
        return None

    @cached_property
    def affine(self) -> Affine | None:
        """The fused pass, resolved when first used."""
        return self._frame()

    def _plain(self, V: Array, adjoint: bool) -> Array:
        raise NotImplementedError

    def _matmat(self, V: Array) -> Array:
        if self.affine is None:
            return self._plain(V, adjoint=False)
        self.tally.passes += 1
        return self.affine.matmat(V)

    def _rmatmat(self, U: Array) -> Array:
        if self.affine is None:
            return self._plain(U, adjoint=True)
        self.tally.passes += 1
        return self.affine.rmatmat(U)

    def _normal(self, V: Array) -> Array:
        if self.affine is None:
            return super()._normal(V)
        self.tally.passes += 1
        return self.affine.normal(V)

    def _gram(self, W: Array | None) -> Array:
        state = self._moments() if W is None and self.stately() else None
        if state is not None:
            return _gram_of(*state)
        if self.affine is None:
            return super()._gram(W)
        self.tally.passes += 1
        return self.affine.gram(W)

    def stately(self) -> bool:
        """Whether the Gram matrix comes from a moment state.

        In memory a wide one is formed faster by tiles, which need the means first; elsewhere reading twice costs more.
        """
        stats = self._statistics()
        return self.shape[1] <= TILE_ABOVE or (stats is not None and not isinstance(stats.blocks, MemoryBlocks))

    def gram_noise(self) -> float | None:
        state = self._moments() if self.stately() else None
        if state is None:
            return self.affine.noise[-1] if self.affine is not None and self.affine.noise else None
        moments, scale, centered = state
        added = 0.0 if centered else SHORT_NOISE * 2.0**-53 * moments.weight * _square(moments.mean / moments.unit)
        c = moments.unit if scale is None else scale * moments.unit
        return scaled_noise(moments, c) + added * float(np.max(np.square(c)))

    def noise_along(self, V: Array) -> float | None:
        state, stats = self._moments() if self.stately() else None, self._statistics()
        if state is None or stats is None or not state[2]:
            return None
        c = np.full(self.shape[1], state[0].unit) if state[1] is None else state[1] * state[0].unit
        return stats.noise_along(V * c[:, None])

    def gram_inflation(self) -> float:
        stated = self.stately() and self._moments() is not None  # a moment state has counted what taking off means cost
        return 0.0 if stated else super().gram_inflation()

    def measured(self) -> float | None:
        return self.affine.noise[-1] if self.affine is not None and self.affine.noise else None

    def gram_dtype(self) -> Any:
        stats = self._statistics()
        if self.affine is None:
            return super().gram_dtype()
        return np.float64 if stats is None else stats.precision

    def wider(self) -> Operator | None:
        if np.dtype(self.gram_dtype()).itemsize >= 8:
            return None
        stats = self._statistics()
        if stats is not None:
            stats.widen()
        return self.at(np.float64)

    def _statistics(self) -> Statistics | None:
        """The statistics of the rows at the bottom."""
        return None

    def frobenius2(self) -> float | None:
        """‖A‖²_F from the column statistics of the rows, or by a pass over them where those do not tell."""
        state = self._columns()
        if state is None:
            return self._square
        column, scale, centered = state
        c = np.full(self.shape[1], column.unit) if scale is None else scale * column.unit
        squares = column.squares if centered else column.squares + column.weight * np.square(column.mean / column.unit)
        return float(np.sum(squares * np.square(c)))

    @cached_property
    def _square(self) -> float | None:
        if self.affine is None:
            return None
        self.tally.passes += 1
        return self.affine.square()

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        """Column statistics, column scale and whether centred, if the rows' statistics tell."""
        return None

    def passes(self) -> int:
        return self.tally.passes

    def inflation(self) -> float:
        frame = self.affine
        if frame is None or not frame.blocks.sparse or frame.shift is None:
            return 0.0
        mean = frame.shift if frame.col_scale is None else frame.shift * frame.col_scale
        mass = float(frame.shape[0]) if frame.row_scale is None else float(np.sum(frame.row_scale**2))
        return mass * float(mean @ mean)


class Wrapper(Framed):
    """A framed operator around another one."""

    def __init__(self, inner: Operator, shape: tuple[int, int] | None = None) -> None:
        super().__init__(shape or inner.shape, inner.dtype)
        self.inner, self.xp, self.device = inner, inner.xp, inner.device
        self.tally = inner.tally if isinstance(inner, Framed) else Tally()

    def _inner_frame(self) -> Affine | None:
        return self.inner.affine if isinstance(self.inner, Framed) else None

    def _inner_moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        return self.inner._moments() if isinstance(self.inner, Framed) else None

    def _inner_columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        return self.inner._columns() if isinstance(self.inner, Framed) else None

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        return self._inner_columns()

    def _statistics(self) -> Statistics | None:
        return self.inner._statistics() if isinstance(self.inner, Framed) else None

    def _factor(self) -> float:
        """By how much this wrapper lengthens what it wraps at most."""
        return 1.0

    def inflation(self) -> float:
        """Of the frame, or of what is wrapped."""
        return super().inflation() if self.affine is not None else taken_off(self.inner) * self._factor() ** 2

    def perturbation(self) -> float | None:
        known = self.inner.perturbation()
        return None if known is None else known * self._factor()

    def scale_error(self) -> float:
        return self.inner.scale_error()

    def passes(self) -> int:
        return self.inner.passes()

    def key(self) -> int:
        return self.inner.key()  # means and scales are functions of the rows


def _square(v: np.ndarray) -> float:
    return float(v @ v)


def _gram_of(moments: Moments, scale: Any, centered: bool) -> Array:
    """``D_c (scatter or second moment) D_c`` in true units."""
    G = moments.scatter if centered else moments.second_moment()
    c = np.full(moments.d, moments.unit) if scale is None else scale * moments.unit
    return G if bool(np.all(c == 1)) else G * c[:, None] * c
