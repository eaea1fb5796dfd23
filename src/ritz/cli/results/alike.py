"""Other tables read as the fit read its own, and a word where their numbers lie far from those of the fit.

    manifest:  form     {"decimal": ",", "columns": {"rent": [",", ".", "€"]}}     decimal mark, thousands, affix
               kinds    {"zip": "categorical"}                                     as found, or as the user said
               ranges   {"rent": [532, 2010]}                                      least and greatest number

A short file often can be read in two ways where the long one of the fit could not: 1.601 alone may be anything. What a
file shows beyond doubt goes before what the fit found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ritz.data.formats.text.numbers import Reading
from ritz.data.tables.table import Table
from ritz.data.words import cut

__all__ = ["far_from_fit", "like_of", "reading_facts"]

#: Widths of the range of the fit beyond its ends from which a number is far outside.
FAR = 3.0
SHOWN = 5  # columns that a warning names
MARKS = ("", ".", ",", " ", "'")


def reading_facts(table: Table, columns: Sequence[str]) -> dict[str, Any]:
    """What the manifest keeps of how a table was read."""
    decimal = table.written.get("decimal")
    special = {
        name: [one.decimal, one.thousands, one.affix]
        for name, one in table.written.get("columns", {}).items()
        if one != Reading(decimal or ".")
    }
    used = set(columns)
    ranges = {
        one.name: [one.low, one.high]
        for one in table.columns
        if one.name in used and one.low is not None and one.high is not None
    }
    written = {"decimal": decimal, "columns": special} if decimal else {}
    # A column of categories is one also where the few rows of another table all differ.
    kinds = {one.name: "categorical" for one in table.columns if one.name in used and one.kind == "categorical"}
    return {"form": written, "kinds": {**kinds, **table.said}, "ranges": ranges}


def like_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """``like=`` of ``ritz.read``; a manifest may be anybody's, so that only what makes sense is taken."""
    written: Any = manifest.get("form")
    kinds: Any = manifest.get("kinds")
    like: dict[str, Any] = {"kinds": {n: k for n, k in kinds.items() if isinstance(k, str)}} if _is(kinds) else {}
    if not _is(written) or written.get("decimal") not in (".", ","):
        return like
    decimal = written["decimal"]
    names = manifest.get("columns")
    readings = {str(name): Reading(decimal) for name in names} if isinstance(names, list) else {}
    special: Any = written.get("columns")
    for name, marks in special.items() if _is(special) else ():
        if isinstance(marks, list) and len(marks) == 3 and marks[0] in (".", ",") and marks[1] in MARKS:
            readings[name] = Reading(marks[0], marks[1], cut(str(marks[2]), 20))
    return {**like, "decimal": decimal, "columns": readings}


def far_from_fit(manifest: Mapping[str, Any], table: Table) -> list[str]:
    """Sentences about columns whose numbers lie far outside those of the fit, or all beside them."""
    ranges: Any = manifest.get("ranges")
    told = []
    for one in table.columns if _is(ranges) else ():
        fitted = ranges.get(one.name)
        if one.low is None or one.high is None or not _pair(fitted):
            continue
        low, high = fitted
        width = high - low
        beyond = one.low < low - FAR * width or one.high > high + FAR * width
        beside = one.high < low or one.low > high
        if beyond or (beside and (table.n_rows or 0) > 1):
            told.append(f"{one.name!r} from {one.low:g} to {one.high:g}, in the fit from {low:g} to {high:g}")
    if not told:
        return []
    more = f"; and {len(told) - SHOWN} more columns" if len(told) > SHOWN else ""
    return [
        f"numbers far from those of the fit: {'; '.join(told[:SHOWN])}{more}; if they were read wrongly, --decimal and "
        "--thousands say how they are written"
    ]


def _is(value: Any) -> bool:
    return isinstance(value, dict)


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(end, (int, float)) for end in value)
