"""Matrices in memory: Dense and Sparse rows, arrays of other libraries where they lie, and the identity."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np

from ritz._core.errors import InputError
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array, is_foreign, place_of
from ritz.data.engines.memory.blocks import MemoryBlocks
from ritz.data.passes.keys import rows_key
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.operators.affine import Affine
from ritz.operators.base import Operator
from ritz.operators.framed import Framed, Tally

__all__ = ["Dense", "Identity", "OnDevice", "Rows", "Sparse"]

#: Terms of a sum that another library may add in one go: it may add them one after the other.
LONG = 4096


class Rows(Framed):
    """Rows of a table, read block by block; ``statistics`` remembers what passes have learned."""

    def __init__(self, X: Any, statistics: Statistics | None = None, precision: Any = np.float64) -> None:
        blocks = statistics.blocks if statistics is not None else MemoryBlocks(X)
        super().__init__(blocks.shape, precision)
        self.X = X
        self.blocks, self.precision = blocks, np.dtype(precision).type
        self.statistics = statistics or Statistics(blocks)
        self.tally = Tally()

    def _frame(self) -> Affine:
        return Affine(self.blocks, precision=self.precision)

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        stats = self.statistics
        if stats.weights is not None:
            return None
        before = stats.passes
        moments = stats.moments
        self.tally.passes += stats.passes - before
        return moments, None, False

    def _statistics(self) -> Statistics:
        return self.statistics

    def key(self) -> int:
        held = self.statistics.__dict__  # shared by all precisions of these rows
        if "key" not in held:
            self.tally.passes += 1
            held["key"] = rows_key(self.blocks)
        return int(held["key"])

    def _columns(self) -> tuple[ColumnStatistics, np.ndarray | None, bool] | None:
        before = self.statistics.passes
        column = self.statistics.column
        self.tally.passes += self.statistics.passes - before
        return column, None, False

    def at(self, dtype: Any) -> Rows:
        other = type(self)(self.X, self.statistics, dtype)
        other.tally = self.tally
        return other

    def symbol(self) -> str:
        return "X"


class Dense(Rows):
    """A dense matrix ``X`` (n×d) of any real dtype, read only, never copied.

    An array of another library of the array API standard is multiplied there, on its device.
    """

    def __new__(cls, X: Any, *_args: Any, **_options: Any) -> Self:
        made: Any = super().__new__(OnDevice if cls is Dense and is_foreign(X) else cls)
        return cast(Self, made)


class OnDevice(Dense):
    """A dense matrix of another array library: products are made where it lies, long sums in short pieces."""

    def __init__(self, X: Any, statistics: Statistics | None = None, precision: Any = np.float64) -> None:
        if statistics is not None:
            raise InputError(
                "column statistics are of rows in the memory of the host",
                received=f"an array on {place_of(X)}",
                hint="give means as an array: Centered(Dense(X), mean)",
            )
        Operator.__init__(self, tuple(X.shape), precision)
        self.X, self.tally, self.precision = X, Tally(), np.dtype(precision).type
        self.xp, self.device = place_of(X).xp, place_of(X).device

    @cached_property
    def _held(self) -> Array:
        return self.place.array(self.X, self.dtype)

    def _frame(self) -> None:  # type: ignore[override]
        return None

    def _plain(self, V: Array, adjoint: bool) -> Array:
        self.tally.passes += 1
        A, V = self._held, self.place.array(V, self.dtype)
        A = self.xp.matrix_transpose(A) if adjoint else A
        parts = [
            A[:, i : min(i + LONG, A.shape[1])] @ V[i : min(i + LONG, A.shape[1]), :]
            for i in range(0, A.shape[1], LONG)
        ] or [A @ V]
        while len(parts) > 1:
            parts = [parts[i] + parts[i + 1] if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
        return parts[0]

    def _moments(self) -> None:
        return None

    def _statistics(self) -> None:  # type: ignore[override]
        return None

    def _columns(self) -> None:
        return None

    @cached_property
    def _square(self) -> float:
        self.tally.passes += 1
        wide = self.place.array(self.X, np.float64)
        return float(self.xp.sum(wide * wide))

    def key(self) -> int:
        return Operator.key(self)

    def at(self, dtype: Any) -> OnDevice:
        other = OnDevice(self.X, None, dtype)
        other.tally = self.tally
        return other


class Sparse(Rows):
    """A CSR matrix ``X`` (n×d), never densified."""


class Identity(Operator):
    """``I`` (d×d)."""

    symmetric = True
    positive = True

    def __init__(self, d: int, dtype: Any = np.float64, *, xp: Any = np, device: Any = None) -> None:
        super().__init__((d, d), dtype)
        self.xp, self.device = xp, device

    def _matmat(self, V: Array) -> Array:
        return V

    def _rmatmat(self, U: Array) -> Array:
        return U

    def trace(self) -> float:
        return float(self.shape[0])

    def frobenius2(self) -> float:
        return float(self.shape[0])

    def symbol(self) -> str:
        return "I"
