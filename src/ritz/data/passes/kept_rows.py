"""The rows themselves as a mergeable state, of tables with fewer rows than columns.

state of n < d rows    X (n×d), w (n)    n·d numbers, not d², and exact: what is merged is fitted as one table
merge                  X_a over X_b      while both together have no more rows than columns
subtract               X_a without X_b   where the rows of X_b are among those of X_a, bit for bit
otherwise              the moment states of both (``moments.py``)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.data.passes.unit import UnitChange

__all__ = ["KeptRows"]


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows of a table in memory, and their weights."""

    table: NDArray[Any]  # (n, d) a copy that belongs to the model, in the dtype and order of what was given
    weights: NDArray[np.float64] | None = None  # (n,)

    @classmethod
    def of(cls, rows: Any, weights: NDArray[np.float64] | None) -> KeptRows:
        """A copy of rows in memory, or on a device."""
        here = rows.to_host() if hasattr(rows, "to_host") else rows
        # rows of few zeros lie on a device as they came, sparse, and are computed with as dense ones
        return cls(here.toarray() if hasattr(here, "toarray") else np.array(here), weights)

    @property
    def rows(self) -> int:
        """Rows that count."""
        return int(self.table.shape[0] if self.weights is None else np.count_nonzero(self.weights))

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.table.shape[1])

    @cached_property
    def moments(self) -> Moments:
        """The moment state of the rows, d×d numbers, formed in float64 when it is first asked for."""
        try:
            return Statistics(blocks_of(self.table), self.weights, rescales=True).moments
        except UnitChange as change:
            rows = blocks_of(change.rows(self.table))
            return Statistics(rows, self.weights, given=change.unit).moments

    @cached_property
    def column(self) -> ColumnStatistics:
        """Means and variances of the columns."""
        try:
            return Statistics(blocks_of(self.table), self.weights, rescales=True).column
        except UnitChange as change:
            return Statistics(blocks_of(change.rows(self.table)), self.weights, given=change.unit).column

    def merged(self, other: KeptRows) -> KeptRows | None:
        """The rows of both; None where they are more than columns, or where one type cannot hold them all."""
        kinds = {self.table.dtype, other.table.dtype}
        alike = len(kinds) == 1 or all(kind.kind == "f" for kind in kinds)
        if self.d != other.d or not alike or len(self.table) + len(other.table) > self.d:
            return None
        table = np.concatenate([self.table, other.table])
        if self.weights is None and other.weights is None:
            return KeptRows(table)
        weights = [np.ones(len(one.table)) if one.weights is None else one.weights for one in (self, other)]
        return KeptRows(table, np.concatenate(weights))

    def without(self, other: KeptRows) -> KeptRows | None:
        """The rows that are not those of ``other``; None where those are not all among them, with their weights."""
        if self.d != other.d or self.table.dtype != other.table.dtype:
            return None
        places: dict[bytes, list[int]] = {}
        for i in reversed(range(len(self.table))):
            places.setdefault(self._mark(i), []).append(i)
        gone = []
        for i in range(len(other.table)):
            found = places.get(other._mark(i))
            if not found:
                return None
            gone.append(found.pop())
        left = np.setdiff1d(np.arange(len(self.table)), gone)
        return KeptRows(self.table[left], None if self.weights is None else self.weights[left])

    def _mark(self, i: int) -> bytes:
        weight = 1.0 if self.weights is None else float(self.weights[i])
        return self.table[i].tobytes() + np.float64(weight).tobytes()

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table, "weights": self.weights}  # what is learned of them is learned again
