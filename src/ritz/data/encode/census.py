"""One look at a table: which levels occur, how often, and where numbers lie.

    level → Σw       missing → Σw and the first row        number → Σx, different values up to ``FEW`` of an integer

    census(rows 0 … a) ⊕ census(rows a … n) = census(rows 0 … n)

What is kept grows with the number of levels, never with the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.encode.choice import Choice
from ritz.data.encode.codes import Coded
from ritz.data.encode.vocabulary import MISSING, Variable, Vocabulary, reserved, sorted_levels
from ritz.data.tables.summaries import DISTINCT

__all__ = ["FEW", "Census"]

#: Different values up to which a column of integers looks like categories.
FEW = 10


@dataclass
class _Tally:
    """What is known of one categorical column."""

    counts: dict[str, float] = field(default_factory=dict)
    kind: str = ""
    order: dict[str, None] = field(default_factory=dict)
    missing: float = 0.0
    first: int | None = None  # row of the first missing answer

    def update(self, coded: Coded, weights: NDArray[np.float64] | None, start: int) -> None:
        counts = np.bincount(coded.codes + 1, weights, minlength=len(coded.levels) + 1)
        if counts[0] > 0:
            gone = coded.codes < 0 if weights is None else (coded.codes < 0) & (weights > 0)
            self._lacks(float(counts[0]), start + int(np.argmax(gone)))
        self._take(dict.fromkeys(coded.order), coded.kind if coded.levels else "")
        for level, count in zip(coded.levels, counts[1:].tolist(), strict=True):
            if count > 0:
                self.counts[level] = self.counts.get(level, 0.0) + count

    def merge(self, later: _Tally, rows: int) -> None:
        if later.first is not None:
            self._lacks(later.missing, rows + later.first)
        self._take(later.order, later.kind)
        for level, count in later.counts.items():
            self.counts[level] = self.counts.get(level, 0.0) + count

    def _lacks(self, weight: float, row: int) -> None:
        self.missing += weight
        self.first = row if self.first is None else self.first

    def _take(self, order: dict[str, None], kind: str) -> None:
        self.order |= order
        if kind:
            self.kind = kind if self.kind in ("", kind) else "text"


class Census:
    """What a table holds in the columns of a choice."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.rows, self.weight = 0, 0.0
        self._tallies = {name: _Tally() for name in choice.categorical}
        self._sums = np.zeros((2, len(choice.numeric)))  # Σx and how many
        self._values: dict[str, set[float] | None] = {name: set() for name in choice.numeric}

    def update(self, columns: Any, weights: NDArray[np.float64] | None = None) -> None:
        """Take in the next rows: columns in memory and their weights."""
        columns.look(self.choice.categorical)
        for name, tally in self._tallies.items():
            tally.update(columns.coded(name), weights, self.rows)
            if len(tally.counts) > DISTINCT:
                raise _too_many(name)
        for j, name in enumerate(self.choice.numeric):
            self._number(j, name, columns, weights)
        self.rows += columns.rows
        self.weight += float(columns.rows) if weights is None else float(np.sum(weights))

    def _number(self, j: int, name: str, columns: Any, weights: NDArray[np.float64] | None) -> None:
        values = columns.numbers(name)
        values = values[np.isfinite(values) if weights is None else np.isfinite(values) & (weights > 0)]
        with np.errstate(over="ignore"):
            self._sums[:, j] += float(np.sum(values)), len(values)
        seen = self._values[name]
        if seen is None or columns.kind(name) != "integer":
            self._values[name] = None
        else:
            some = seen.union(np.unique(values)[: FEW + 1].tolist())
            self._values[name] = some if len(some) <= FEW else None

    def merge(self, later: Census) -> None:
        """Take in the census of later rows."""
        for name, tally in self._tallies.items():
            tally.merge(later._tallies[name], self.rows)
            if len(tally.counts) > DISTINCT:
                raise _too_many(name)
        self._sums += later._sums
        for name, seen in later._values.items():
            mine = self._values[name]
            more = None if mine is None or seen is None else mine | seen
            self._values[name] = more if more is not None and len(more) <= FEW else None
        self.rows, self.weight = self.rows + later.rows, self.weight + later.weight

    # what was found

    @property
    def few(self) -> tuple[str, ...]:
        """Columns of integers with so few different values that they may be categories."""
        return tuple(name for name, seen in self._values.items() if seen and len(seen) <= FEW)

    @property
    def missing(self) -> dict[str, tuple[float, int]]:
        """Columns that lack answers: how many, and the first row."""
        return {name: (t.missing, t.first) for name, t in self._tallies.items() if t.first is not None}

    def shift(self) -> NDArray[np.float64]:
        """(p,) near the mean of every numeric column: taking it off is exact for values within a factor of 2."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self._sums[0] / np.maximum(self._sums[1], 1.0)
        return np.where(np.isfinite(mean), mean, 0.0)

    def vocabulary(self, own: bool) -> Vocabulary:
        """The levels that occur; ``own``: missing answers are a level of their own."""
        return Vocabulary(tuple(_variable(name, tally, own) for name, tally in self._tallies.items()))


def _variable(name: str, tally: _Tally, own: bool) -> Variable:
    counts = dict(tally.counts)
    if own and MISSING in counts:
        raise reserved(name, MISSING, "missing='category' gives to missing answers", "missing='exclude'")
    if own and tally.missing > 0:
        counts[MISSING] = tally.missing
    kind, order = tally.kind or "text", tuple(tally.order)
    levels = sorted_levels(counts, kind, order)
    return Variable(name, levels, np.asarray([counts[level] for level in levels], np.float64), kind, order)


def _too_many(name: str) -> InputError:
    return InputError(
        f"expected categories in column {name!r}",
        received=f"more than {DISTINCT:,} different values",
        hint="leave out columns that identify rows, or take levels together first",
    )
