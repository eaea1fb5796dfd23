"""The order in which levels of a categorical variable are shown.

    declared    an ordered categorical of pandas or polars says it itself
    known       low < medium < high, never < … < always, small < … < large, Monday < …, January < …, and the like
    natural     numbers inside the words count as numbers: 5-10 < 10-20, grade 9 < grade 10, <20 before 20-30, >60 after

Levels without an order come alphabetically, which is what natural order is for words without numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["Declared", "in_order", "ordered_levels"]

#: Scales that people use, from the least to the most; words of one place mean the same.
SCALES = (
    (("none", "no", "never", "not at all"), ("very low",), ("low", "little", "rarely", "seldom", "light", "mild",
     "weak"), ("medium", "moderate", "middle", "average", "sometimes", "normal", "fair"), ("high", "often", "strong",
     "heavy", "severe", "much"), ("very high", "very often", "usually", "extreme", "very strong"), ("always",
     "complete")),
    (("xxs",), ("xs", "extra small"), ("s", "small"), ("m", "medium"), ("l", "large", "big"), ("xl", "extra large"),
     ("xxl",)),
    (("very bad", "very poor", "terrible"), ("bad", "poor"), ("fair", "average", "ok", "neutral"), ("good",),
     ("very good",), ("excellent", "ideal")),
    (("fair",), ("good",), ("very good",), ("premium",), ("ideal",)),
    (("strongly disagree",), ("disagree",), ("neutral", "undecided", "neither"), ("agree",), ("strongly agree",)),
    (("very dissatisfied",), ("dissatisfied",), ("neutral",), ("satisfied",), ("very satisfied",)),
    (("cold",), ("cool",), ("mild",), ("warm",), ("hot",)),
    (("young",), ("middle-aged", "middle"), ("old",)),
    (("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th"), ("fifth", "5th")),
    (("primary",), ("secondary",), ("tertiary",)),
    tuple((day, day[:3]) for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")),
    tuple((month, month[:3]) for month in ("january", "february", "march", "april", "may", "june", "july", "august",
                                           "september", "october", "november", "december")),
    (("spring",), ("summer",), ("autumn", "fall"), ("winter",)),
)  # fmt: skip

_NUMBER = re.compile(r"(\d+(?:[.,]\d+)?)")
#: Marks that say "less than" and "more than" the number that follows, or stands before.
_LESS, _MORE = (
    re.compile(r"^\s*(<|≤|under|below|less than|up to|-(?=\d))", re.I),
    re.compile(r"^\s*(>|≥|\+|over|above|more than)|\+\s*$|\b(or more|and over)\s*$", re.I),
)


class Declared(list[Any]):
    """Values of a column that declares the order of its levels."""

    def __init__(self, values: Iterable[Any], levels: list[str]) -> None:
        super().__init__(values)
        self.levels = levels


def in_order(levels: Iterable[str], declared: list[str] | None = None) -> list[str]:
    """Levels in the order in which a reader expects them."""
    found = list(levels)
    if declared is not None and set(found) <= set(declared):
        return [level for level in declared if level in set(found)]
    words = {level: level.strip().lower().replace("_", " ") for level in found}
    for scale in SCALES:
        place = {word: i for i, same in enumerate(scale) for word in same}
        if len(found) > 1 and all(word in place for word in words.values()):
            return sorted(found, key=lambda level: (place[words[level]], level))
    return sorted(found, key=_natural)


def ordered_levels(column: Any) -> list[str] | None:
    """Levels of an ordered categorical column, as it declares them; None for other columns."""
    if isinstance(column, Declared):
        return column.levels
    dtype = getattr(column, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if categories is None or not (getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"):
        return None
    return [str(level) for level in categories]


def _natural(level: str) -> tuple[Any, ...]:
    """Words as words, numbers as numbers; what is below a number comes before it, what is above it after."""
    pieces = _NUMBER.split(level.casefold())
    if len(pieces) == 1:
        return ((1, level.casefold()), (9, level))
    side = -1 if _LESS.search(level) else 1 if _MORE.search(level) else 0
    head = re.sub(r"^[\s<>≤≥+\-]+|^(under|below|over|above|less than|more than|up to)\s+", "", pieces[0])
    keys: list[Any] = [(0, 0.0, head) if not head else (1, head)]
    if not head:  # a range or a limit: sorted by its first number, limits below and above it around
        keys.append((2, float(pieces[1].replace(",", ".")), side))
        return (*keys, (9, level))
    for i, piece in enumerate(pieces[1:], 1):
        keys.append((2, float(piece.replace(",", ".")), "") if i % 2 else (3, piece))
    return (*keys, (9, level))
