"""Which columns are categories and which are numbers; what is not plain is asked about, never guessed.

texts, truth values, declared categories   →  categories
numbers                                    →  numbers where the method takes them; else an error that asks
a Table                                    →  what its kinds say; the rest is set aside with a warning
``categorical``                            →  names that are categories whatever they hold; "all": every column
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ritz._core.errors import ColumnsSetAside, InputError, ParameterError
from ritz._core.warn import warn
from ritz.data.tables.table import Table
from ritz.data.words import ALIKE, counted, grouped, shorten

__all__ = ["Choice", "choose"]

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


def choose(
    names: Sequence[str],
    kind: Callable[[str], str],
    *,
    categorical: Any = None,
    numbers: bool,
    columns: Sequence[str] | None = None,
    table: Table | None = None,
    named: bool = True,
) -> Choice:
    """Say what each column is.

    Parameters
    ----------
    names, kind
        The columns, and what each one holds (``category``, ``integer``, ``number``, ``other``).
    categorical : None, "all" or sequence of names (places, where columns have no names)
        Columns that are categories whatever they hold.
    numbers
        Whether the method takes numbers.
    columns
        The only columns to use.
    table
        The Table that they belong to, whose kinds and reasons count.
    named
        Whether columns are known by name.
    """
    used = list(names) if columns is None else [_known(name, names, named) for name in columns]
    asked = _asked(categorical, used, named)
    if table is not None:
        return _from_table(table, used, kind, asked, categorical == "all", numbers, columns is not None)
    kinds = {name: "category" if name in asked else kind(name) for name in used}
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
    kinds, other = {}, []
    for name in used:
        said = table.kinds[name]
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
