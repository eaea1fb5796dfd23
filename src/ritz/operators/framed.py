"""Rows as an operator: operators on rows whose products fuse into one affine pass (see ``affine.py``).

    Z = D_r (X − 1μᵀ) D_c,      ZᵀZ V in one pass over row blocks of X (n×d)

A wrapper (centred in ``center.py``, scaled and weighted in ``scale.py``) asks what it wraps for its frame and adds to
it. With a frame, products are one blocked pass, and the mean is taken off each block before it is multiplied; without
(a sum, a foreign operator), each wrapper has a formula of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from ritz._core.linalg import Array, is_foreign
from ritz.data.passes.blocks import MemoryBlocks, fresh
from ritz.data.passes.gram import TILE_ABOVE
from ritz.data.passes.keys import rows_key
from ritz.data.passes.moments import Moments, scaled_noise
from ritz.data.passes.rounding import SHORT_NOISE
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.operators.affine import Affine
from ritz.operators.base import Operator, Tally
from ritz.operators.rounding import taken_off
from ritz.operators.vector import vector_normal

if TYPE_CHECKING:
    from ritz.data.passes.rough import Rough

__all__ = ["Dense", "Framed", "Rows", "Sparse", "Wrapper"]

#: Units of rows whose entries, and those that are far smaller, float32 holds.
FLOAT32 = 1e-25, 1e30


class Framed(Operator):
    """An operator that may have an affine frame."""

    tally: Tally
    #: of the rows at the bottom; None where there are none in the memory of the host
    statistics: Statistics | None = None
    _of_rows = False  # whether it is rows, or their centring, which have a frame: none is made to know

    @abstractmethod
    def _frame(self) -> Affine | None: ...

    @abstractmethod
    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        """Moment state, column scale and whether centred, if one pass over the rows gives them all."""

    def _learner(self) -> Statistics | None:
        """The statistics that the next pass could learn on its way, if it may."""
        return None

    @property
    def affine(self) -> Affine | None:
        """The fused pass, resolved when first used; the first of two threads decides, as in ``_core/lazy.py``."""
        attributes = self.__dict__
        return attributes["_fused"] if "_fused" in attributes else attributes.setdefault("_fused", self._frame())

    def loose(self, room: float = 0.0) -> Operator:
        frame = self.affine
        if frame is None or (made := frame.loosened(room)) is frame:
            return self
        other = self.at(self.dtype)
        other.__dict__["_fused"] = made
        return other

    def _plain(self, V: Array, adjoint: bool) -> Array:
        raise NotImplementedError

    def _matmat(self, V: Array) -> Array:
        if self.affine is None:
            return self._plain(V, adjoint=False)
        self.tally.passes += 1
        return self.affine.matmat(V)

    def _written(self) -> Array:
        if (frame := self.affine) is None or not frame.plain or frame.row_scale is not None:
            return super()._written()
        from ritz.operators.placed import written  # which most fits do without

        self.tally.passes += 1
        return written(frame)

    def _rmatmat(self, U: Array) -> Array:
        if self.affine is None:
            return self._plain(U, adjoint=True)
        self.tally.passes += 1
        return self.affine.rmatmat(U)

    def across(self, U: Array) -> Array:
        # Where columns of sparse rows are at hand as rows, products with them need no sums in every lane.
        made = (frame := self.affine) is not None and getattr(getattr(frame.blocks, "_turned", None), "made", False)
        return self.T.matmat(U) if made else self.rmatmat(U)

    def _halves(self, V: Array) -> tuple[Array | None, Array]:
        if (frame := self.affine) is None or not frame.keeps():
            return super()._halves(V)
        self.tally.passes += 1
        half = fresh((self.shape[0], V.shape[1]), frame.precision)
        return half, frame.normal(V, keep=half)

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

    def vector_normal(self) -> Callable[[Any], Any] | None:
        product = None if self.affine is None else vector_normal(self.affine)
        return None if product is None else self.tally.counted(product)

    def at_hand(self) -> bool:
        return self.affine is not None and isinstance(getattr(self.affine.blocks, "X", None), np.ndarray)

    def stately(self) -> bool:
        """Whether the Gram matrix comes from a moment state.

        In memory a wide one is formed faster by tiles, which need the means first; elsewhere reading twice costs more,
        and tiles of float32 products would have to be repaired, as nothing measures what they round: 20,000×2,509 took
        3.6 s by tiles, 1.7 so.
        """
        stats = self.statistics
        if self.shape[1] <= TILE_ABOVE:
            return True
        narrow = stats is not None and np.dtype(stats.precision).itemsize < 8
        return stats is not None and (narrow or not isinstance(stats.blocks, MemoryBlocks))

    def gram_noise(self) -> float | None:
        state = self._moments() if self.stately() else None
        if state is None:
            return self.affine.noise[-1] if self.affine is not None and self.affine.noise else None
        moments, scale, centered = state
        c = moments.unit if scale is None else scale * moments.unit
        # an entry of the matrix of means is rounded in units of itself, as those of the rows are
        added = 0.0 if centered else SHORT_NOISE * 2.0**-53 * moments.weight * _square(moments.mean / moments.unit * c)
        if scale is None and moments.lost is None:
            return float(moments.noise * moments.unit * moments.unit + added)
        stats = self.statistics
        seen = stats.noise_along(np.asarray(c)) if scale is not None and stats is not None and stats.measured else None
        return max(scaled_noise(moments, c), seen or 0.0) + added

    def noise_along(self, V: Array) -> float | None:
        stats = self.statistics
        if stats is None or not stats.measured:
            return None
        state = self._moments() if self.stately() else None
        if state is None or not state[2]:
            return None
        c = np.full(self.shape[1], state[0].unit) if state[1] is None else state[1] * state[0].unit
        return stats.noise_along(V * c[:, None])

    def gram_inflation(self) -> float:
        stated = self.stately() and self._moments() is not None  # a moment state has counted what taking off means cost
        return 0.0 if stated else super().gram_inflation()

    def measured(self) -> float | None:
        return self.affine.noise[-1] if self.affine is not None and self.affine.noise else None

    def gram_dtype(self) -> Any:
        stats = self.statistics
        if not self._of_rows and self.affine is None:
            return super().gram_dtype()
        return np.float64 if stats is None else stats.precision

    def wider(self) -> Operator | None:
        if np.dtype(self.gram_dtype()).itemsize >= 8:
            return None
        stats = self.statistics
        if stats is not None:
            stats.widen()
        return self.at(np.float64)

    def narrowed(self) -> bool:
        stats = self.statistics
        if stats is None or np.dtype(stats.precision).itemsize < 8:
            return True
        from ritz.data.passes.faint import narrowed  # which most fits do without

        return self.xp is np and narrowed(stats)

    def _faintly(self, stats: Statistics, k: int, *, centered: bool, scaled: bool) -> bool:
        """By a sample of the rows below."""
        if self.xp is not np or np.dtype(stats.precision).itemsize >= 8:
            return False
        from ritz.data.passes.faint import faint  # which most fits do without

        return faint(stats, k, centered=centered, scaled=scaled)

    def _roughly(self, stats: Statistics, k: int, *, centered: bool, scaled: bool) -> Rough | None:
        """By a pass in float32 over the rows below, which learns their statistics."""
        if self.xp is not np:
            return None
        from ritz.data.passes.rough import rough_gram  # which most fits do without

        before = stats.passes
        found = rough_gram(stats, k, centered=centered, scaled=scaled)
        self.tally.passes += stats.passes - before
        return found

    def _statistics(self) -> Statistics | None:
        """The statistics of the rows at the bottom."""
        return self.statistics

    def frobenius2(self) -> float | None:
        """‖A‖²_F from the column statistics of the rows, or by a pass over them where those do not tell."""
        state = self._columns()
        if state is None:
            return self._square
        column, scale, centered = state
        if scale is None and column.unit == 1:
            told = self.__dict__.get("_told")
            if told is None or told[0] is not column:  # asked for a dozen times
                total = float(column.squares.sum() + (0.0 if centered else column.weight * _square(column.mean)))
                told = self.__dict__["_told"] = column, total
            return float(told[1])
        c = np.full(self.shape[1], column.unit) if scale is None else scale * column.unit
        squares = column.squares if centered else column.squares + column.weight * np.square(column.mean / column.unit)
        return float(np.sum(squares * np.square(c)))

    @property
    def _square(self) -> float | None:
        attributes = self.__dict__
        if "_squared" not in attributes:
            self.tally.passes += self.affine is not None
            attributes["_squared"] = None if self.affine is None else self.affine.square()
        return attributes["_squared"]  # type: ignore[no-any-return]

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


class Rows(Framed):
    """Rows of a table, read block by block; ``statistics`` remembers what passes have learned."""

    _of_rows = True

    def __init__(self, X: Any, statistics: Statistics | None = None, precision: Any = np.float64) -> None:
        blocks = statistics.blocks if statistics is not None else MemoryBlocks(X)
        super().__init__(blocks.shape, precision)
        self.X = X
        self.blocks, self.precision = blocks, np.dtype(precision).type
        place = getattr(blocks, "place", None) if getattr(blocks, "computes", False) else None
        if place is not None:
            self.xp, self.device = place.xp, place.device
        self.statistics: Statistics = statistics or Statistics(blocks)
        self.tally = Tally()

    def _frame(self) -> Affine:
        if self.xp is np:
            return Affine(self.blocks, precision=self.precision)
        from ritz.operators.device.affine import frame_of  # loaded where there is a device

        return frame_of(self.blocks, precision=self.precision)

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        stats = self.statistics
        if stats.weights is not None:
            return None
        before = stats.passes
        moments = stats.moments
        self.tally.passes += stats.passes - before
        return moments, None, False

    def faint(self, k: int, *, scaled: bool = False) -> bool:
        return self._faintly(self.statistics, k, centered=False, scaled=scaled)

    def rough(self, k: int = 1, *, scaled: bool = False) -> Rough | None:
        return self._roughly(self.statistics, k, centered=False, scaled=scaled)

    def key(self) -> int:
        attributes = self.statistics.__dict__  # shared by all precisions of these rows
        if "key" not in attributes:
            self.tally.passes += 1
            attributes["key"] = rows_key(self.blocks)
        return int(attributes["key"])

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        before = self.statistics.passes
        column = self.statistics.column
        self.tally.passes += self.statistics.passes - before
        return column, None, False

    def at(self, dtype: Any) -> Rows:
        if np.dtype(dtype).itemsize < 8 and not FLOAT32[0] <= self.statistics.unit <= FLOAT32[1]:
            return self  # entries that float32 does not hold
        other = type(self)(self.X, self.statistics, dtype)
        other.tally = self.tally
        return other

    def symbol(self) -> str:
        return "X"


class Dense(Rows):
    """A dense matrix ``X`` (n×d) of any real dtype, read only, never copied.

    An array of another library of the array API standard is multiplied there, on its device.

    Parameters
    ----------
    X : array (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> A = op.Dense(X)
    >>> A @ np.array([1.0, 1.0])
    array([ 3.,  7., 14.])
    >>> A.normal(np.eye(2)), A.passes()           # AᵀA in one pass over the rows, the second so far
    (array([[ 35.,  59.],
           [ 59., 101.]]), 2)
    """

    def __new__(cls, X: Any, *_args: Any, **_options: Any) -> Self:
        if cls is not Dense or not is_foreign(X):
            return super().__new__(cls)
        from ritz.operators.matrix import OnDevice

        return cast(Self, super().__new__(OnDevice))


class Sparse(Rows):
    """A CSR matrix ``X`` (n×d), never densified.

    Parameters
    ----------
    X : CSR matrix (n, d)
    statistics : Statistics, optional
        What passes over these rows have learned already.
    precision : dtype
        Of the products.

    Examples
    --------
    >>> import scipy.sparse
    >>> from ritz import operators as op
    >>> X = scipy.sparse.random(1000, 200, density=0.01, format="csr", random_state=0)
    >>> A = op.Centered(op.Sparse(X), X.mean(axis=0).A1)  # 2,000 entries are stored, not 200,000
    >>> A, A.normal(A.to_dense()[:2].T).shape
    ((X − 1μᵀ)  (1000×200, float64), (200, 2))
    """


class Wrapper(Framed):
    """A framed operator around another one."""

    def __init__(self, inner: Operator, shape: tuple[int, int] | None = None) -> None:
        super().__init__(shape or inner.shape, inner.dtype)
        self.inner, self.xp, self.device = inner, inner.xp, inner.device
        self._below = below = inner if isinstance(inner, Framed) else None
        self.tally = Tally() if below is None else below.tally
        self.statistics = None if below is None else below.statistics

    def _inner_frame(self) -> Affine | None:
        return None if self._below is None else self._below.affine

    def _inner_moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        return None if self._below is None else self._below._moments()

    def _inner_columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        return None if self._below is None else self._below._columns()

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        return self._inner_columns()

    def _factor(self) -> float:
        """By how much this wrapper lengthens what it wraps at most."""
        return 1.0

    def inflation(self) -> float:
        """Of the frame, or of what is wrapped."""
        return super().inflation() if self.affine is not None else taken_off(self.inner) * self._factor() ** 2

    def perturbation(self) -> float | None:
        error = self.inner.perturbation()
        return None if error is None else error * self._factor()

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
    if scale is None and moments.unit == 1:
        return G
    c = np.full(len(moments.shift), moments.unit) if scale is None else scale * moments.unit
    return G if bool(np.all(c == 1)) else G * c[:, None] * c
