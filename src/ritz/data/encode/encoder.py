"""Rows of categories and numbers as rows of numbers, always in the same columns.

    row   (x₁ … x_p | a₁ … a_J)   →   (x − shift | z₁ … z_K),     z = 1 in the column of every answer, 0 elsewhere

    missing       error · category: a level of its own · exclude: no column, z = 0 in its block
                  regularized: shares of the levels, from what the fit expects of the other answers (``fill.py``)
    unseen        error · ignore: the block is the mean p · missing: as a missing answer
                  supplementary: z − p of the known answers times J/J_known, the mean elsewhere
    rare          levels of a smaller share, where a variable has several, are its one level "(other)"
    exclude       levels without a column: specific MCA [LR10]

Everything is fixed when it is learned, so a row is encoded in the same way alone and among others. Σw of every level is
kept, hence p = counts/Σw. Rows are CSR with p + J entries each; a table that is mostly full is handed out dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.lazy import cached_property
from ritz.data.encode.codes import encode
from ritz.data.encode.columns import opened
from ritz.data.encode.fill import Fill
from ritz.data.encode.openings import Choice
from ritz.data.encode.vocabulary import MISSING, OTHER, Census, Vocabulary, label, pooled, reserved
from ritz.data.passes.moments import Moments
from ritz.data.words import shorten

__all__ = ["UNSEEN_WAYS", "Active", "Encoder"]

Floats = NDArray[np.float64]

UNSEEN_WAYS = ("error", "ignore", "missing", "supplementary")


@dataclass(frozen=True, eq=False)
class Active:
    """The columns of the indicator that are used."""

    places: NDArray[np.intp]  # of every level of the vocabulary; −1: excluded
    labels: list[str]
    counts: Floats  # Σw of every column
    owners: NDArray[np.intp]  # the variable of every column


@dataclass(frozen=True, eq=False)
class Encoder:
    """What was learned of a table's columns.

    Parameters
    ----------
    numeric
        Columns of numbers.
    shift
        (p,) taken off them before they are stored, so that sparse rows keep their digits under large means.
    vocabulary
        Variables and every level that occurred.
    weight
        Σw of the rows learned from.
    missing, rare, exclude
        As on top.
    columns
        Names of all columns of the table learned from.
    named
        Whether those came with the table; otherwise columns are found by their place.
    few
        Columns of integers with few different values, taken as numbers.
    fill
        What missing numbers and answers are filled in by, where they are.
    """

    numeric: tuple[str, ...]
    shift: Floats
    vocabulary: Vocabulary
    weight: float
    missing: str = "error"
    rare: float | None = None
    exclude: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    named: bool = True
    few: tuple[str, ...] = ()
    fill: Fill | None = None

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        categorical: Any = None,
        numbers: bool = False,
        missing: str = "error",
        rare: float | None = None,
        exclude: Sequence[str] = (),
        weights: Floats | None = None,
        columns: Sequence[str] | None = None,
    ) -> Encoder:
        """Look at a table once.

        Parameters
        ----------
        X : frame, Table, array, list of rows, Dask frame, or what ``opened`` made of one
            Give the opened one to ``learn`` and to ``rows``: columns in memory are then coded once.
        categorical, numbers, columns
            As in ``choose``.
        missing, rare, exclude
            As on top.
        weights : (n,), optional
            Rows of weight zero are not looked at.
        """
        table = opened(X)
        choice = table.choose(categorical=categorical, numbers=numbers, columns=columns)
        census = table.census(choice, weights)
        if missing == "error":
            _complete(census, table)
        encoder = cls(
            choice.numeric, census.shift(), census.vocabulary(missing == "category"), census.weight, missing, rare,
            tuple(exclude), tuple(table.names), table.named, census.few,
        )  # fmt: skip
        return encoder.checked()

    def checked(self) -> Encoder:
        """The encoder itself, after a look at what is excluded."""
        self.distinct().active  # noqa: B018  names that are not there raise
        return self

    def distinct(self) -> Encoder:
        """The encoder itself, after a look at its names: no two columns may have the same."""
        for variable in self.vocabulary.variables:
            if self.rare is not None and OTHER in variable.place:
                raise reserved(variable.name, OTHER, f"rare={self.rare} gives to rare levels", "rare=None")
        names = [*self.numeric, *self.vocabulary.labels]
        if len(set(names)) < len(names):
            raise _same_names(self.numeric, self.vocabulary)
        return self

    # columns

    @property
    def names(self) -> list[str]:
        """Columns of the table that are read: numbers, then categories."""
        return [*self.numeric, *self.vocabulary.names]

    @property
    def p(self) -> int:
        """Number of numeric columns."""
        return len(self.numeric)

    @property
    def d(self) -> int:
        """Number of columns of an encoded row."""
        return self.p + len(self.active.labels)

    @property
    def labels(self) -> list[str]:
        """Names of the columns of an encoded row."""
        return [*self.numeric, *self.active.labels]

    @cached_property
    def active(self) -> Active:
        """The columns of the indicator, after pooling and without what is excluded."""
        words = self.vocabulary
        together = self.pooled
        levels = [OTHER if i in together.get(v.name, ()) else i for v in words.variables for i in v.levels]
        columns: dict[tuple[int, str], float] = {}
        for j, level, count in zip(words.owners.tolist(), levels, words.counts.tolist(), strict=True):
            columns[j, level] = columns.get((j, level), 0.0) + count
        # OTHER comes last in its variable, wherever the first rare level stood.
        order = sorted(columns, key=lambda key: (key[0], key[1] == MISSING, key[1] == OTHER))
        names = {label(words.variables[j].name, level): (j, level) for j, level in order}
        gone = {names[name] for name in self._excluded(list(names))}
        kept = [key for key in order if key not in gone]
        place = {key: i for i, key in enumerate(kept)}
        places = [place.get((j, level), -1) for j, level in zip(words.owners.tolist(), levels, strict=True)]
        return Active(
            np.asarray(places, np.intp),
            [label(words.variables[j].name, level) for j, level in kept],
            np.asarray([columns[key] for key in kept], np.float64),
            np.asarray([j for j, _ in kept], np.intp),
        )

    @cached_property
    def pooled(self) -> dict[str, tuple[str, ...]]:
        """Rare levels that are one level of their variable; a single one keeps its name."""
        if self.rare is None:
            return {}
        by_variable = {}
        for variable in self.vocabulary.variables:
            rare = [variable.levels[i] for i in np.flatnonzero(variable.counts < self.rare * self.weight)]
            own = [level for level in rare if self.missing != "category" or level != MISSING]
            if len(own) > 1:
                by_variable[variable.name] = tuple(own)
        return by_variable

    def _excluded(self, names: list[str]) -> list[str]:
        unknown = [name for name in self.exclude if name not in names]
        if unknown:
            self.vocabulary.find(unknown)  # raises, unless the level was pooled
            raise InputError(
                f"expected levels to exclude that are still there, not {unknown[0]!r}",
                received=f"rare={self.rare}, which makes it part of {OTHER}",
                hint=f"exclude {label(unknown[0].split('=')[0], OTHER)!r}, or lower rare",
            )
        return list(self.exclude)

    @property
    def mean(self) -> Floats:
        """(K,) shares p of the active columns of the indicator."""
        return self.active.counts / self.weight if self.fill is None else self.fill.mean[self.p :]

    # rows

    def rows(self, X: Any, *, unseen: str | None = "error", memory: Any = None, absent: Any = None) -> Any:
        """Encoded rows: CSR or ndarray (n, d), or row blocks for what stays outside memory.

        ``unseen``: what to do with levels that were not seen; None for the rows that were learned from.
        ``absent``: (n,) rows that nobody asks about, so that they may hold anything.
        """
        return opened(X).encoded(self, unseen, memory, absent)

    def encode(self, columns: Any, unseen: str | None = "error", start: int = 0, absent: Any = None) -> Any:
        """CSR (n, d) of columns in memory; ``start`` is the number of the first row, for messages."""
        return encode(self, columns, unseen, start, absent)

    def gaps(self, columns: Any) -> NDArray[np.bool_]:
        """(n, J) which answers of columns in memory are missing."""
        absent = [columns.coded(name).codes < 0 for name in self.vocabulary.names]
        return np.column_stack(absent) if absent else np.zeros((columns.rows, 0), bool)

    def number_gaps(self, columns: Any) -> NDArray[np.bool_]:
        """(n, p) which numbers of columns in memory are missing."""
        absent = [np.isnan(columns.numbers(name)) for name in self.numeric]
        return np.column_stack(absent) if absent else np.zeros((columns.rows, 0), bool)

    # moment states

    def widened(self, state: Moments, vocabulary: Vocabulary) -> Moments:
        """A state over this encoder's vocabulary as one over a larger one; levels that are new have count zero."""
        places = np.concatenate([np.arange(self.p), self.p + self.vocabulary.places_in(vocabulary)]).astype(np.intp)
        return pooled(state, places, self.p + vocabulary.K)

    def narrowed(self, state: Moments) -> Moments:
        """A state over all levels as one over the active columns: rare ones added up, excluded ones left out."""
        at = self.active.places
        places = np.concatenate([np.arange(self.p), np.where(at < 0, -1, self.p + at)]).astype(np.intp)
        return pooled(state, places, self.d)

    def whole(self) -> Encoder:
        """The encoder with a column for every level: what a mergeable state is held in."""
        return replace(self, rare=None, exclude=())

    @property
    def is_whole(self) -> bool:
        """Whether every level has its column."""
        return bool(np.array_equal(self.active.places, np.arange(self.vocabulary.K)))

    def lifted(self, state: Moments) -> Moments:
        """The state of encoded rows as that of the columns themselves: the shift put back, without rounding."""
        return _moved(state, np.concatenate([self.shift, np.zeros(state.d - self.p)]))

    def lowered(self, state: Moments) -> Moments:
        """The inverse of ``lifted``."""
        return _moved(state, -np.concatenate([self.shift, np.zeros(state.d - self.p)]))

    def union(self, other: Encoder) -> Encoder:
        """The encoder of both tables; parameters and shift are this one's."""
        vocabulary, _, _ = self.vocabulary.union(other.vocabulary)
        return replace(self, vocabulary=vocabulary, weight=self.weight + other.weight).distinct()

    def difference(self, other: Encoder) -> Encoder:
        """The encoder without the rows of ``other``."""
        vocabulary, _, _ = self.vocabulary.difference(other.vocabulary)
        return replace(self, vocabulary=vocabulary, weight=self.weight - other.weight)

    def renamed(self, columns: Sequence[str]) -> Encoder:
        """The encoder for a table whose columns have other names, in the same order."""
        other = dict(zip(self.columns, columns, strict=True))
        variables = tuple(replace(variable, name=other[variable.name]) for variable in self.vocabulary.variables)
        # What is excluded is named by labels, which stay: so columns are taken over and not found again.
        model = replace(
            self, numeric=tuple(other[name] for name in self.numeric), vocabulary=Vocabulary(variables),
            columns=tuple(columns),
        )  # fmt: skip
        model.__dict__["active"] = self.active
        return model

    def choice(self) -> Choice:
        """The columns that are read."""
        return Choice(self.numeric, tuple(self.vocabulary.names))


def _moved(state: Moments, by: Floats) -> Moments:
    total = state.shift + by
    high = total - state.shift
    rest = (state.shift - (total - high)) + (by - high)  # what rounding took: Knuth's two-sum
    return replace(state, shift=total, offset=state.offset + rest)


def _same_names(numeric: Sequence[str], words: Vocabulary) -> InputError:
    owners: dict[str, str] = {name: f"column {name!r}" for name in numeric}
    for variable in words.variables:
        for level in variable.levels:
            name, place = label(variable.name, level), f"level {level!r} of column {variable.name!r}"
            if name in owners:
                return InputError(
                    f"expected one column for each name, not two for {name!r}",
                    received=f"{owners[name]} and {place}",
                    hint=f"rename the column {variable.name!r}, or the level",
                )
            owners[name] = place
    raise AssertionError("names that are all different")


def _complete(census: Census, table: Any) -> None:
    """Refuse missing answers."""
    if not census.missing:
        return
    names = [repr(name) for name in census.missing]
    each = [f"{name} ({count:g})" for name, (count, _) in zip(names, census.missing.values(), strict=True)]
    total = sum(count for count, _ in census.missing.values())
    first = table.row_name(min(row for _, row in census.missing.values()))
    listed = f" in {len(names)} columns: {shorten(each)}; the first" if len(names) > 1 else ", the first"
    raise InputError(
        f"expected an answer in every row of column{'s' if len(names) > 1 else ''} {shorten(names)}",
        received=f"{total:g} missing{listed} in {first}",
        hint=(
            "missing='regularized' fills these gaps and those in numbers by the other columns; None and NaN are missing"
            if census.gaps
            else "missing='category' makes them a level of their own, missing='exclude' gives them no column, "
            "missing='regularized' fills them in by the other answers; None and NaN are missing"
        ),
    )
