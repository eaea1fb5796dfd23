"""The error for values that are no numbers in columns that are nearly all numbers.

A typing error must not decide which method is fitted, nor whether a column takes part: the values are named with their
lines, and the user says whether they are gaps, or the column is one of categories, or is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ritz._core.errors import InputError
from ritz.data.tables.table import Column
from ritz.data.words import counted, cut, shorten

__all__ = ["stray_error"]

WAYS = (
    "coerce=True makes them missing; if the column holds categories: kinds={name: 'categorical'}; to leave it out: "
    "kinds={name: 'drop'}"
)


def stray_error(columns: Sequence[Column], source: str, row_name: Callable[[int], str]) -> InputError:
    """Name what is no number, column by column, and the ways to go on."""
    names = shorten([repr(column.name) for column in columns])
    told = "; ".join(_told(column, row_name) for column in columns[:5])
    told += f"; and {len(columns) - 5} more columns" if len(columns) > 5 else ""
    first = columns[0].name
    again = [row_name(row) for text, row in columns[0].strays if row is not None and text == first]
    if again and all(any(text == one.name for text, _ in one.strays) for one in columns):
        hint = f"{again[0]} repeats the header: take it out; coerce=True makes its values missing"
    else:
        hint = WAYS.replace("name:", f"{first!r}:")
    return InputError(
        f"expected numbers in {names} of {source or 'the table'}, as in most rows", received=told, hint=hint
    )


def _told(column: Column, row_name: Callable[[int], str]) -> str:
    shown = [repr(cut(text)) + ("" if row is None else f" in {row_name(row)}") for text, row in column.strays]
    more = column.stray_count - len(shown)
    rest = f" and {more} more" if more > 0 else ""
    return f"{counted(column.stray_count, 'other value')} in {column.name!r}: {', '.join(shown)}{rest}"
