"""Which columns of a table are for what.

    used            what takes part in the axes, and the identifiers that name rows
    weights         how often a row counts         supplementary   placed among the axes, without part in them
    color           what points are coloured by; it takes part like any other column

Names are given once for each option, with commas between, as a range ``first..last`` or with ``*`` and ``?``.
A column that really has such a name is meant by it.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz._core.memory import limit
from ritz.data.formats.scratch import from_scratch
from ritz.data.tables.read import read
from ritz.data.tables.table import EAGER_SHARE, Table
from ritz.data.words import ALIKE, shorten
from ritz.report.origin import Origin
from ritz.spectral.plan import size_words

__all__ = ["Parts", "dropping", "expand", "naming_marks", "open_table", "parts_of", "read_options", "within_reach"]

KINDS = {"drop": "drop", "ids": "identifier", "categorical": "categorical", "numeric": "numeric"}
#: Memory that loads a table and fits it, in times of its numbers and bytes beside them.
WHOLE_TIMES, WHOLE_LEAST = 16.0, 1e6
LOADED_TIMES = 1.02  # of what a table takes: its size is told in three digits
SHORT = 0.6  # of names of a few letters: hew is hue
#: Usual marks of missing values that columns of real tables have as levels.
MARKS_OF_LEVELS = ("?", "-", ".", "None", "NA", "N/A", "n/a", "missing", "NULL", "null")
SPELLED = {"drop": "--drop", "ids": "--id", "categorical": "--categorical", "numeric": "--numeric"}


@dataclass(frozen=True)
class Parts:
    """A table with what its columns are for."""

    whole: Table
    used: Table  # columns that may take part, and identifiers
    weights: str | None = None
    color: str | None = None
    supplementary: list[str] = field(default_factory=list)
    chosen: bool = False  # whether the user named the columns
    dropped: tuple[str, ...] = ()  # columns whose gaps cost a row, where some did

    def weight(self) -> np.ndarray | None:
        """The weights (n,) of the rows."""
        if self.weights is None:
            return None
        return np.asarray(self.whole.select([self.weights])[:, 0], np.float64)

    def facts(self) -> dict[str, Any]:
        """For the manifest and ``--json``."""
        return {
            "identifiers": [name for name, kind in self.used.kinds.items() if kind == "identifier"],
            "weights": self.weights,
            "color": self.color,
            "supplementary": self.supplementary,
        }


def open_table(path: Path, how: dict[str, Any], **options: Any) -> Table:
    """Read a table as the user says; names in one text with commas between are taken apart where no column has it."""
    text = _text(how)
    said = {option: list(how.get(option) or ()) for option in KINDS}
    options = {**options, "memory": limit(options.get("memory"))}  # one command has one limit: stated, or half of all
    found: dict[str, str] = {}

    def kinds(names: list[str]) -> dict[str, str]:
        found.update(_kinds(said, names, path.name))
        return dict(found)

    table = read(path, **text, **options, kinds=kinds if any(said.values()) else None)
    piped = from_scratch(path)
    table.origin = Origin(path.name if piped else str(path), read_options(how), found, piped=piped)
    return table


def read_options(how: dict[str, Any]) -> dict[str, Any]:
    """What the user said of the text of a file, as ``ritz.read`` takes it."""
    return {name: value for name, value in _text(how).items() if value not in (None, False, [])}


def _text(how: dict[str, Any]) -> dict[str, Any]:
    own = (*KINDS, "na", "keep_na", "coerce", "image_shape")
    text = {name: value for name, value in how.items() if name not in own}
    text |= {**_marks(how.get("na"), how.get("keep_na")), "coerce": bool(how.get("coerce"))}
    return text | {"image_shape": image_shape(how.get("image_shape"))}


def image_shape(text: str | None) -> tuple[int, int] | None:
    """``64x64`` as height and width."""
    if text is None:
        return None
    sides = re.fullmatch(r"\s*(\d{1,6})\s*[x×,]\s*(\d{1,6})\s*", text)
    if sides is None or not int(sides[1]) or not int(sides[2]):
        raise ParameterError("--image-shape is a height and a width", received=repr(text), hint="--image-shape 64x64")
    return int(sides[1]), int(sides[2])


def _marks(na: Sequence[str] | None, keep: Sequence[str] | None) -> dict[str, Any]:
    """``--na`` replaces the usual marks of missing values, ``--keep-na`` takes one away from them."""
    from ritz.data.formats.text.dialect import MISSING_MARKS

    usual = [mark for mark in MISSING_MARKS if mark]
    unknown = [mark for mark in keep or () if mark not in usual]
    if unknown:
        raise ParameterError(
            f"--keep-na is for the usual marks of missing values: {', '.join(usual)}",
            received=f"--keep-na {unknown[0]}",
            hint="leave it out: other texts are values unless --na names them",
        )  # fmt: skip
    if na:
        return {"missing": list(na), "keep": [mark for mark in usual if mark not in na]}
    return {"missing": None, "keep": list(keep) if keep else None}


@contextmanager
def within_reach(table: Table) -> Iterator[None]:
    """Have an error about the memory limit name the least that would do: a small table can be loaded as a whole."""
    try:
        yield
    except MemoryLimitError as error:
        least = getattr(error, "least", None)
        decoded = table.decoded if table.lazy else None
        if least is None or decoded is None:
            raise
        needed = WHOLE_TIMES * float(decoded) + WHOLE_LEAST
        if needed >= least:
            raise
        hint = f"allow memory='{size_words(needed).replace(' ', '')}' or more, which holds the whole table"
        raise type(error)(error.expected, received=f"{error.received} in pieces", hint=hint) from error


def dropping(table: Table, words: str) -> str:
    """Words that offer ``--missing drop``; for a table that is read in pieces they say what memory loads it."""
    if not table.lazy:
        return words
    if table.decoded is None or not table.repeatable:
        return "leave those rows out of the file"
    size = size_words(LOADED_TIMES * float(table.decoded) / EAGER_SHARE).replace(" ", "")
    return f"{words} of a table in memory, which --memory {size} loads"


@contextmanager
def naming_marks(table: Table, *, drops: bool = True) -> Iterator[None]:
    """Have an error about missing values say which texts were taken for missing, and how to go on without them."""
    try:
        yield
    except InputError as error:
        if not re.search(r"NaN|\bmissing\b", f"{error.expected} {error.received}"):
            raise
        hint, way = error.hint or "", dropping(table, "--missing drop leaves out those rows")
        if drops:
            hint = hint.replace("drop those rows or columns", way).replace("drop those rows", way)
            hint = hint if way in hint else f"{hint}; {way}" if hint else way
        ways = [hint] if hint else []
        marks = [mark for mark in table.marks if mark in MARKS_OF_LEVELS]
        if marks:
            every = " and ".join(repr(mark) for mark in table.marks)
            ways.append(f"{every} counted as missing: --keep-na {shlex.quote(marks[0])} keeps {marks[0]} as a value")
        raise type(error)(error.expected, received=error.received, hint="; ".join(ways)) from error


def _kinds(said: dict[str, list[str]], names: list[str], source: str) -> dict[str, str]:
    """``kinds=`` of ``ritz.read``; a column is said to be one thing."""
    from ritz.data.formats.columns import SOFTLY

    kinds: dict[str, tuple[str, str]] = {}
    for option, texts in said.items():
        rest = [text for text in texts if option != "categorical" or text != "all" or "all" in names]
        for name in _expanded(SPELLED[option], rest, names, source):
            if name in kinds and kinds[name][0] != option:
                raise ParameterError(
                    "a column cannot both be dropped and name the rows" if {option, kinds[name][0]} == {"drop", "ids"}
                    else "a column can have one role only",
                    received=f"{SPELLED[kinds[name][0]]} {name} and {SPELLED[option]} {name}",
                    hint="leave out one of them",
                )  # fmt: skip
            kinds[name] = (option, KINDS[option])
    out = {name: kind for name, (_, kind) in kinds.items()}
    if "all" in said["categorical"] and "all" not in names:
        return {**dict.fromkeys(names, SOFTLY), **out}
    return out


def parts_of(
    table: Table, *, columns: Sequence[str] | None = None, weights: str | None = None, color: str | None = None,
    supplementary: Sequence[str] | None = None,
) -> Parts:  # fmt: skip
    """Find the columns that the user names, and leave the others in peace."""
    further = expand("--supplementary", supplementary, table)
    weight = expand("--weights", [weights], table)[0] if weights else None
    tint = expand("--color", [color], table)[0] if color else None
    if weight is not None and table.kinds[weight] not in ("numeric", "constant") and not _of_all(table, weight):
        column = next(one for one in table.columns if one.name == weight)
        raise InputError(
            "expected numbers in the column of --weights", received=f"{weight!r} ({column.reason})",
            hint="name a column that says how often each row counts",
        )  # fmt: skip
    if weight in further:
        raise ParameterError(
            "a column cannot both hold weights and be supplementary",
            received=f"{weight!r} for both",
            hint="leave out one of them",
        )
    wanted = expand("--columns", columns, table) if columns else None
    out = {weight, *further}
    kept = [
        one.name
        for one in table.columns
        if one.name not in out and (wanted is None or one.name in wanted or one.kind == "identifier")
    ]
    used = table.narrowed(kept) if len(kept) < len(table.columns) else table
    if wanted is not None:
        used = _meant(used, wanted)
    return Parts(table, used, weight, tint, further, wanted is not None)


def _of_all(table: Table, name: str) -> bool:
    """Whether numbers are categories only because all columns are said to be."""
    from ritz.data.formats.columns import SOFTLY

    return table.said.get(name) == SOFTLY and name in table.readable_as_numbers


def _meant(table: Table, wanted: list[str]) -> Table:
    """Identifiers that count 1, 2, 3 and are named as columns to use are numbers."""
    numbers = table.readable_as_numbers
    same = copy(table)
    same.columns = tuple(
        replace(one, kind="numeric", reason="")
        if one.name in wanted and one.kind == "identifier" and one.name in numbers
        else one
        for one in table.columns
    )
    return same


def expand(option: str, texts: Sequence[str] | None, table: Table) -> list[str]:
    """Names of columns that are meant, in the order in which they are named."""
    return _expanded(option, texts or (), table.names, table.source)


def _expanded(option: str, texts: Sequence[str], names: list[str], source: str) -> list[str]:
    chosen: dict[str, None] = {}
    for text in texts:
        meant = [text] if text in names else [name.strip() for name in text.split(",") if name.strip()]
        if not meant and option in ("--columns", "--target"):  # elsewhere no name means no column
            raise InputError(f"expected names of columns for {option}", received=repr(text),
                             hint=f"the table has {shorten([repr(one) for one in names])}")  # fmt: skip
        for name in meant:
            chosen |= dict.fromkeys(_matches(option, name, names, source))
    return list(chosen)


def _matches(option: str, name: str, names: list[str], source: str) -> list[str]:
    if name in names:
        return [name]
    first, dots, last = name.partition("..")
    if dots and first in names and last in names:
        i, j = sorted((names.index(first), names.index(last)))
        return names[i : j + 1]
    if any(mark in name for mark in "*?"):
        matching = [one for one in names if fnmatch.fnmatchcase(one, name)]
        if matching:
            return matching
    loose = [one for one in names if one.strip().lower() == name.lower()]
    close = loose or difflib.get_close_matches(name, names, n=1, cutoff=ALIKE if len(name) > 4 else SHORT)
    raise InputError(
        f"expected a column {name!r} for {option}",
        received=f"columns {shorten([repr(one) for one in names])}",
        hint=f"did you mean {close[0]!r}?"
        if close
        else f"check the names in the first line of {source or 'the table'}",
    )
