"""Matrices in memory: Dense and Sparse rows, and the identity."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.arrays import Array
from ritz.data.engines.memory.blocks import MemoryBlocks
from ritz.data.keys import rows_key
from ritz.data.moments import Moments
from ritz.data.statistics import ColumnStatistics, Statistics
from ritz.operators.affine import Affine
from ritz.operators.base import Cost, Operator
from ritz.operators.framed import Framed, Tally

__all__ = ["Dense", "Identity", "Rows", "Sparse"]


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
    """A dense matrix ``X`` (n×d) of any real dtype, read only, never copied."""


class Sparse(Rows):
    """A CSR matrix ``X`` (n×d), never densified."""


class Identity(Operator):
    """``I`` (d×d)."""

    symmetric = True
    positive = True

    def __init__(self, d: int, dtype: Any = np.float64) -> None:
        super().__init__((d, d), dtype)

    def _matmat(self, V: Array) -> Array:
        return V

    def _rmatmat(self, U: Array) -> Array:
        return U

    def trace(self) -> float:
        return float(self.shape[0])

    def frobenius2(self) -> float:
        return float(self.shape[0])

    def cost(self) -> Cost:
        return Cost(0.0, 0.0, 0.0)

    def symbol(self) -> str:
        return "I"
