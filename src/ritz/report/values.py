"""Values that stand apart from all others of their column, and the sentences about them.

Rows that err together turn the axes towards themselves, so that no distance from the axes names them; the value itself
does. A row that the distances have named already is not named twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz.insight.outliers.values import ValuesApart, expected_counts, values_apart
from ritz.report.html import Html, bdi, join, number, tag

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["find_values", "row_at", "value_clause", "value_words"]

Floats = NDArray[np.float64]

#: Level for all columns together; entries up to which all columns are looked at; rows and columns that are named.
LEVEL, ENTRIES, ROWS, COLUMNS = 0.05, 2e6, 3, 3


def find_values(about: Context) -> list[ValuesApart]:
    """Of the columns of numbers or counts that the model was fitted to."""
    if about.rows is None or about.texts or float(about.n) * max(1, len(about.columns)) > ENTRIES:
        return []
    names = set(about.columns)
    columns = []
    for name, values in about.rows.columns(about.rows.take(np.arange(about.n))):
        numbers = _numbers(values) if name in names else None
        if numbers is not None and len(numbers) == about.n:
            columns.append((name, numbers))
    return _counts_apart(dict(columns)) if about.known.about.takes == "counts" else values_apart(columns, LEVEL)


def _numbers(values: Any) -> Floats | None:
    """(n,) numbers, nan where there is none; None of columns of something else."""
    try:
        array = np.asarray(values)
        return None if array.dtype == bool else array.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _counts_apart(columns: dict[str, Floats]) -> list[ValuesApart]:
    """Rows may have any total: their counts are compared with what it lets expect."""
    if len(columns) < 2:
        return []
    N = np.nan_to_num(np.column_stack(list(columns.values())))
    if not np.isfinite(N).all() or (N < 0).any():
        return []
    expected = expected_counts(N)
    x = (N - expected) / np.sqrt(np.maximum(expected, 1.0))
    places = {name: j for j, name in enumerate(columns)}
    found = values_apart([(name, x[:, j]) for name, j in places.items()], LEVEL)
    at = [(one.rows, places[one.column]) for one in found]
    return [replace(one, values=N[i, j], expected=expected[i, j]) for one, (i, j) in zip(found, at, strict=True)]


def row_at(about: Context, place: int) -> str:
    """The name of a row, or its number from 1, whether it is shown or not."""
    shown = int(np.searchsorted(about.index, place))
    there = shown < len(about.index) and int(about.index[shown]) == place
    return about.row_name(shown) if there else f"row {place + 1:,}"


def value_clause(about: Context, named: set[int]) -> Html | None:
    """``2 of 20 rows stand apart by height: row 7 (17,100) and row 12 (16,400), all others lie from 151 to 188``.

    ``named``: rows that have been named already.
    """
    found = [one for one in about.values if not set(one.rows.tolist()) <= named]
    if not found:
        return None
    rows = {row for one in found for row in one.rows.tolist()}
    stand = "row stands" if about.n == 1 else "rows stands" if len(rows) == 1 else "rows stand"
    first = join(tag("b", f"{len(rows):,} of {about.n:,} {stand} apart"), " by ", _told(about, found[0]))
    if len(found) == 1:
        return first
    more = [bdi(one.column, 40) for one in found[1:COLUMNS]]
    rest = len(found) - 1 - len(more)
    return join(first, "; also by ", _listed(more), f" and {rest:,} more columns" if rest else "")


def value_words(about: Context) -> Html | None:
    """The same of all columns, one sentence each."""
    if not about.values:
        return None
    told = [join(" By ", _told(about, one), ".") for one in about.values[: 2 * COLUMNS]]
    rest = len(about.values) - len(told)
    return join(
        "Single values stand apart from all others of their column:", *told,
        f" So do values of {rest:,} more columns." if rest else "",
        " Such rows pull the axes towards themselves, which may hide them in the picture; see whether they are errors.",
    )  # fmt: skip


def _told(about: Context, one: ValuesApart) -> Html:
    beside = (
        [""] * len(one.rows) if one.expected is None else [f", about {number(e, 2)} expected" for e in one.expected]
    )
    rows = [
        join(bdi(row_at(about, row), 40), f" ({number(value, 4)}{more})")
        for row, value, more in list(zip(one.rows.tolist(), one.values.tolist(), beside, strict=True))[:ROWS]
    ]
    rest = len(one.rows) - len(rows)
    listed = join(_listed(rows), f" and {rest:,} more") if rest else _listed(rows)
    others = (
        f", where all others lie from {number(one.least, 4)} to {number(one.most, 4)}" if one.expected is None else ""
    )
    return join(bdi(one.column, 40), ": ", listed, others)


def _listed(words: list[Html]) -> Html:
    return join(*[piece for i, word in enumerate(words) for piece in (_before(i, len(words)), word)])


def _before(i: int, count: int) -> str:
    return "" if i == 0 else " and " if i == count - 1 else ", "
