"""A table that is opened: what its columns hold, which are categories and which are numbers, and how it is encoded.

    .choose(…)  →  Choice       .census(choice, weights)  →  Census       .encoded(encoder, …)  →  rows or row blocks

    texts, truth values, declared categories   →  categories
    numbers                                    →  numbers where the method takes them; else an error that asks
    a Table                                    →  what its kinds say; the rest is set aside with a warning
    ``categorical``                            →  names that are categories whatever they hold; "all": every column

What is not plain is asked about, never guessed. Columns in memory are opened by ``columns.py``, a Table that stays
outside by ``stream.py``, a collection by its engine.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ritz._core.errors import ColumnsSetAside, InputError, ParameterError
from ritz._core.warn import warn
from ritz.data.encode.vocabulary import Census
from ritz.data.tables.table import Table
from ritz.data.words import ALIKE, counted, grouped, shorten

__all__ = ["Choice", "Opened"]

NUMBERS = "numbers; categorical='all', or a list of names, makes them categories"


@dataclass(frozen=True)
class Choice:
    """Columns that are used, by name, in the order of the table."""

    numeric: tuple[str, ...]
    categorical: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """All of them: numbers, then categories."""
        return [*self.numeric, *self.categorical]


class Opened:
    """Base: names and kinds of the columns, and how they are looked at and encoded."""

    names: list[str]
    named: bool = True  # whether columns are known by name
    table: Table | None = None  # that they belong to, whose kinds and reasons count

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        raise NotImplementedError

    def kind(self, name: str) -> str:
        """What a column holds: ``category``, ``integer``, ``number`` or ``other``."""
        raise NotImplementedError

    def choose(self, *, categorical: Any = None, numbers: bool, columns: Sequence[str] | None = None) -> Choice:
        """Say which columns are categories and which are numbers.

        Parameters
        ----------
        categorical : None, "all" or sequence of names (places, where columns have no names)
            Columns that are categories whatever they hold.
        numbers
            Whether the method takes numbers.
        columns
            The only columns to use.
        """
        names, named = self.names, self.named
        used = list(names) if columns is None else [_known(name, names, named) for name in columns]
        asked = _asked(categorical, used, named)
        if self.table is not None:
            return _from_table(self.table, used, self.kind, asked, categorical == "all", numbers, columns is not None)
        kinds = {name: "category" if name in asked else self.kind(name) for name in used}
        other = [name for name in used if kinds[name] == "other"]
        if other:
            raise InputError(
                "expected columns of categories" + (" or numbers" if numbers else ""),
                received=f"dates or other values in {shorten([repr(name) for name in other])}",
                hint=f"drop them, or count each value as a category: categorical={other[:3]!r}",
            )
        if not numbers:
            _no_numbers([name for name in used if kinds[name] != "category"], bool(asked))
        return _chosen(used, kinds)

    def census(self, choice: Choice, weights: Any = None) -> Census:
        """Look at the columns of a choice."""
        raise NotImplementedError

    def encoded(self, encoder: Any, unseen: str | None, memory: Any, absent: Any = None) -> Any:
        """Encoded rows; ``absent`` ones may hold anything."""
        raise NotImplementedError

    def map_rows(self, encoder: Any, function: Callable[[Any], Any], width: int, unseen: str | None) -> Any:
        """``function`` of the encoded rows, (n, width), as a collection of a lazy engine."""
        raise NotImplementedError

    def held(self, rows: Any) -> float:
        """Bytes that ``encoded`` put in memory for its rows."""
        return 0.0

    def row_name(self, row: int) -> str:
        """Name a row for a message."""
        return f"row {row}" if self.table is None else self.table.row_name(row)

    def fitting(self, encoder: Any) -> Any:
        """The encoder, for columns of these names; a table without the columns of the fit is refused."""
        if self.named and encoder.named:
            absent = [name for name in encoder.names if name not in self.names]
            if absent:
                raise InputError(
                    f"expected the columns of the fit, {shorten([repr(name) for name in encoder.names])}",
                    received=f"a table without {shorten([repr(name) for name in absent])}",
                    hint="give the columns of the fit, by their names",
                )
            return encoder
        if len(self.names) != len(encoder.columns):
            raise InputError(
                f"X has {len(self.names)} features, but the fit is expecting {len(encoder.columns)} features as input",
                received=f"columns {shorten(self.names)}",
                hint="give the columns of the fit, in the same order",
            )
        return encoder if list(encoder.columns) == self.names else encoder.renamed(self.names)


def _chosen(used: Sequence[str], kinds: dict[str, str]) -> Choice:
    numeric = tuple(name for name in used if kinds[name] in ("integer", "number"))
    return Choice(numeric, tuple(name for name in used if kinds[name] == "category"))


def _no_numbers(names: Sequence[str], some: bool) -> None:
    if names:
        raise InputError(
            "expected categories: texts, truth values or a categorical dtype",
            received=f"numbers in {shorten([repr(name) for name in names])}",
            hint=f"if every value is a category, declare it: categorical={list(names[:3])!r}"
            + ("" if some else ", categorical='all', or cast the columns")
            + "; for measurements use ritz.FAMD, or cut them into classes first",
        )


def _asked(categorical: Any, names: Sequence[str], named: bool) -> set[str]:
    if categorical is None:
        return set()
    if isinstance(categorical, str):
        if categorical == "all":
            return set(names)
        raise ParameterError(
            "categorical must be None, 'all' or a list of column names",
            received=repr(categorical),
            hint=f"categorical=[{categorical!r}]",
        )
    try:
        wanted = list(categorical)
    except TypeError:
        raise ParameterError(
            "categorical must be None, 'all' or a list of column names", received=repr(categorical)
        ) from None
    return {_known(name, names, named) for name in wanted}


def _known(name: Any, names: Sequence[str], named: bool) -> str:
    if not named and isinstance(name, int) and -len(names) <= name < len(names):
        return names[name]
    if str(name) in names:
        return str(name)
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=ALIKE)
    raise InputError(
        f"expected a column {name!r}",
        received=f"columns {shorten([repr(column) for column in names])}",
        hint=f"did you mean {close[0]!r}?" if close else "check the name",
    )


def _from_table(
    table: Table, used: Sequence[str], kind: Callable[[str], str], asked: set[str], everything: bool, numbers: bool,
    chosen: bool,
) -> Choice:  # fmt: skip
    """What the kinds of a Table say; what is not used is set aside with its reason."""
    reasons = {column.name: column.reason for column in table.columns}
    kinds, other, told = {}, [], table.kinds
    for name in used:
        said = told[name]
        # A column that somebody names is used, even where it holds one value only: counts may be the same in all rows.
        plain = kind(name) if said == "numeric" or (chosen and said == "constant") else said
        declared = name in asked and (not everything or said in ("numeric", "categorical"))
        if declared or plain in ("category", "categorical"):
            kinds[name] = "category"
        elif plain in ("integer", "number") and numbers:
            kinds[name] = plain
        else:
            kinds[name] = "aside"
            other.append((repr(name), NUMBERS if said == "numeric" else reasons[name]))
    aside = grouped(other, 20)
    if all(what == "aside" for what in kinds.values()):
        raise InputError(
            f"expected a column of categories in {table.source or 'the table'}",
            received=f"{len(used)} columns, none of them used: {shorten(aside)}",
            hint="declare columns of numbers that are categories: categorical='all', or categorical=[…]",
        )
    if aside and chosen:
        raise InputError("expected columns of categories or numbers", received=shorten(aside))
    if aside:
        warn(f"{counted(len(other), 'column')} set aside: {'; '.join(aside)}", ColumnsSetAside)
    return _chosen(used, kinds)
