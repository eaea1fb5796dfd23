"""Variables and their levels: what a categorical table can say, and one look at a table that finds them.

    variable j      levels l₁ … l_Kⱼ, in order          Σ Kⱼ = K columns of the indicator
    column          "variable=level"                     counts (K,): Σw of the rows that give this answer

    union           A ∪ B, with the places of A's and of B's columns in it       counts add
    difference      A ∖ B: counts are taken off, and levels that nobody gives any more are gone

    census          level → Σw      missing → Σw and the first row      number → Σx, different values up to ``FEW``
                    census(rows 0 … a) ⊕ census(rows a … n) = census(rows 0 … n)

Levels are texts. Their order is the declared one where a column has declared categories; otherwise numbers and truth
values keep theirs and all else is sorted by text, so that the order never depends on the order of the rows. What a
census keeps grows with the number of levels, never with the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MergeError
from ritz._core.lazy import cached_property
from ritz.data.passes.moments import Moments
from ritz.data.tables.summaries import DISTINCT
from ritz.data.words import shorten

if TYPE_CHECKING:
    from ritz.data.encode.codes import Coded
    from ritz.data.encode.openings import Choice

__all__ = ["MISSING", "OTHER", "Census", "Variable", "Vocabulary", "label", "pooled", "reserved", "sorted_levels"]

#: The level of answers that are missing, where they are one of their own, and that of rare levels taken together.
MISSING, OTHER = "(missing)", "(other)"
#: Σw of a level below this share of what it was before is what rounding left of zero.
GONE = 1e-12
#: Different values up to which a column of integers looks like categories.
FEW = 10

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def label(variable: str, level: str) -> str:
    """The name of a column of the indicator."""
    return f"{variable}={level}"


def reserved(variable: str, level: str, whose: str, instead: str) -> InputError:
    """The refusal of a level that is spelled like one that the analysis makes."""
    return InputError(
        f"expected no level {level!r} in column {variable!r}, because that is the name that {whose}",
        received="rows with this answer",
        hint=f"rename the level before the fit, or use {instead}",
    )


def sorted_levels(levels: Iterable[str], kind: str, order: Sequence[str] = ()) -> tuple[str, ...]:
    """Levels in their order: declared ones first, as declared, then numbers by size and texts by letter."""
    place = {level: i for i, level in enumerate(order)}

    def key(level: str) -> tuple[bool, int, float, str]:
        number = float(level) if kind == "number" and level not in (MISSING, OTHER) else 0.0
        return level in (MISSING, OTHER), place.get(level, len(place)), number, level

    return tuple(sorted(set(levels), key=key))


@dataclass(frozen=True, eq=False)
class Variable:
    """A categorical column.

    Parameters
    ----------
    name
        Of the column.
    levels
        Texts of the levels that occur, in order.
    counts
        Σw of every level.
    kind
        ``text``, ``truth`` or ``number``: what the texts stand for.
    order
        Declared categories, whether they occur or not; none where none were declared.
    """

    name: str
    levels: tuple[str, ...]
    counts: Floats
    kind: str = "text"
    order: tuple[str, ...] = ()

    @cached_property
    def place(self) -> dict[str, int]:
        """Where each level stands."""
        return {level: i for i, level in enumerate(self.levels)}

    def union(self, other: Variable) -> Variable:
        """The levels of both, with counts added."""
        kind = self.kind if self.kind == other.kind else "text"
        order = (*self.order, *(level for level in other.order if level not in set(self.order)))
        levels = sorted_levels((*self.levels, *other.levels), kind, order)
        place = {level: i for i, level in enumerate(levels)}
        counts = np.zeros(len(levels))
        for variable in (self, other):
            counts[[place[level] for level in variable.levels]] += variable.counts
        return Variable(self.name, levels, counts, kind, order)

    def difference(self, other: Variable) -> Variable:
        """The counts without those of ``other``; levels that are left with nothing are gone."""
        strange = [label(self.name, level) for level in other.levels if level not in self.place]
        if strange:
            raise _not_part(f"{shorten(strange)}, which this one never saw")
        counts = self.counts.copy()
        counts[[self.place[level] for level in other.levels]] -= other.counts
        slack = GONE * np.maximum(self.counts, 1.0)
        if bool(np.any(counts < -slack)):
            raise _not_part(f"{label(self.name, self.levels[int(np.argmin(counts))])} more often than this one")
        kept = np.flatnonzero(counts > slack)
        return replace(self, levels=tuple(self.levels[i] for i in kept), counts=counts[kept])


def _not_part(received: str) -> MergeError:
    return MergeError(
        "subtract needs a model whose rows are part of this one",
        received=f"a model that has {received}",
        hint="subtract only what was merged or fitted before",
    )


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """All variables, in the order of the table."""

    variables: tuple[Variable, ...]

    @property
    def J(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def K(self) -> int:
        """Number of levels of all variables together."""
        return int(self.offsets[-1])

    @cached_property
    def offsets(self) -> Places:
        """(J + 1,) where the columns of each variable begin."""
        return np.cumsum([0, *(len(variable.levels) for variable in self.variables)]).astype(np.intp)

    @cached_property
    def counts(self) -> Floats:
        """(K,) Σw of every level."""
        return np.concatenate([np.zeros(0), *(variable.counts for variable in self.variables)])

    @cached_property
    def owners(self) -> Places:
        """(K,) the variable of every column."""
        return np.repeat(np.arange(self.J), np.diff(self.offsets))

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return [variable.name for variable in self.variables]

    @cached_property
    def labels(self) -> list[str]:
        """(K,) ``variable=level``."""
        return [label(variable.name, level) for variable in self.variables for level in variable.levels]

    def union(self, other: Vocabulary) -> tuple[Vocabulary, Places, Places]:
        """Both vocabularies as one, and the places of the columns of each in it."""
        self._match(other)
        both = zip(self.variables, other.variables, strict=True)
        joined = Vocabulary(tuple(mine.union(theirs) for mine, theirs in both))
        return joined, self.places_in(joined), other.places_in(joined)

    def difference(self, other: Vocabulary) -> tuple[Vocabulary, Places, Places]:
        """What is left without ``other``, the columns of this one that stay, and where those of ``other`` stand in it.

        So a state of this one's columns is brought to the rest by ``scatter[stay][:, stay]``.
        """
        self._match(other)
        both = zip(self.variables, other.variables, strict=True)
        rest = Vocabulary(tuple(mine.difference(theirs) for mine, theirs in both))
        return rest, rest.places_in(self), other.places_in(self)

    def places_in(self, wider: Vocabulary) -> Places:
        """(K,) where the columns stand in a vocabulary that has them all."""
        return np.asarray(
            [
                wider.offsets[j] + wider.variables[j].place[level]
                for j, variable in enumerate(self.variables)
                for level in variable.levels
            ],
            np.intp,
        )

    def _match(self, other: Vocabulary) -> None:
        if self.names != other.names:
            raise MergeError(
                "both models must have the same columns",
                received=f"{shorten(self.names)} and {shorten(other.names)}",
                hint="fit both on the same columns in the same order",
            )

    def find(self, wanted: Iterable[str]) -> Places:
        """Columns by their labels; unknown ones are an error."""
        place = {name: i for i, name in enumerate(self.labels)}
        places = []
        for name in wanted:
            if name not in place:
                raise _no_level(name, self.labels)
            places.append(place[name])
        return np.asarray(places, np.intp)


def _no_level(name: object, labels: Sequence[str]) -> InputError:
    import difflib

    close = difflib.get_close_matches(str(name), labels, n=1)
    return InputError(
        f"expected a level {name!r}, written variable=level",
        received=f"levels {shorten(list(labels))}",
        hint=f"did you mean {close[0]!r}?" if close else "check the names",
    )


def pooled(state: Moments, places: Places, d: int) -> Moments:
    """The state of the same rows in ``d`` other columns: column j is added to ``places[j]``, −1 leaves it out.

    An error E of the scatter becomes CᵀEC with C the 0/1 matrix of the places, so it grows at most by the largest
    number of columns that are added together.
    """
    kept = np.flatnonzero(places >= 0)
    at = places[kept]
    scatter, shift, offset = np.zeros((d, d)), np.zeros(d), np.zeros(d)
    np.add.at(scatter, (at[:, None], at[None, :]), state.scatter[np.ix_(kept, kept)])
    np.add.at(shift, at, state.shift[kept])
    np.add.at(offset, at, state.offset[kept])
    most = float(np.max(np.bincount(at, minlength=1), initial=1))
    lost = None
    if state.lost is not None:
        lost = np.zeros(d)
        np.add.at(lost, at, state.lost[kept] * most)
    return replace(
        state, shift=shift, offset=offset, scatter=scatter, noise=state.noise * most, lost=lost, scatter_low=None,
        offset_low=None,
    )  # fmt: skip


# one look at a table


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

    @property
    def gaps(self) -> bool:
        """Whether numbers are missing."""
        return bool(np.any(self._sums[1] < self.rows))

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
