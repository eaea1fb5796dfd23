"""Pieces of SQL that DuckDB and PostgreSQL read alike: names, texts, numbers, sums.

"a ""b"" c"    'it''s'    1.5e0    (a + b) + (c + d)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ritz._core.errors import ParameterError

__all__ = ["added", "column", "name_of", "number", "text_of", "times"]

#: Numbers below this are zero: databases refuse what is too small for a normal number.
TINY = 1e-300


def name_of(name: str) -> str:
    """A quoted name."""
    _plain(name)
    if not name:
        raise ParameterError("expected columns with names", received="one without", hint="rename it before the fit")
    return '"' + name.replace('"', '""') + '"'


def text_of(text: str) -> str:
    """A quoted text."""
    _plain(text)
    return "'" + text.replace("'", "''") + "'"


def _plain(text: str) -> None:
    if "\x00" in text:
        raise ParameterError("SQL knows no text with a zero byte", received=repr(text[:40]), hint="rename it")


def column(name: str) -> str:
    """A column of the table as a number."""
    return f"CAST(t.{name_of(name)} AS DOUBLE PRECISION)"


def number(value: float) -> str:
    """A number of double precision to the last bit: with an exponent, since DuckDB takes 0.5 for a decimal."""
    value = float(value)
    if not np.isfinite(value):
        raise ParameterError("expected a model of finite numbers", received=repr(value))
    if abs(value) < TINY:
        return "0e0"
    text = repr(value)
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if value < 0 else text


def times(expression: str, weight: float) -> str:
    """A product; a weight of zero still lets NULL through."""
    return f"{expression} * {number(weight)}"


def added(parts: Sequence[str]) -> str:
    """A sum as a balanced tree: parsers dig as deep as its logarithm, and rounding errors grow with that."""
    parts = list(parts)
    if not parts:
        return "0e0"
    while len(parts) > 1:
        parts = [f"({a} + {b})" for a, b in zip(parts[::2], parts[1::2], strict=False)] + parts[len(parts) & ~1 :]
    return parts[0]
