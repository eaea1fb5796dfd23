"""Words for messages: what an object is, in one line that never prints its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

__all__ = ["ALIKE", "counted", "cut", "describe", "grouped", "nearest", "percent", "shorten",
           "spelled"]  # fmt: skip

ALIKE = 0.75  # similarity from which "did you mean" helps more than it puzzles
SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SHOWN = 5  # names listed in a message before "and 12 more"
GROUPS = 8  # reasons told one by one; of more, those of one kind are told together
PARTICULAR = re.compile(r": |, such as ")  # before it the kind of a reason, behind it what is said of one column


def shorten(words: list[str], shown: int = SHOWN) -> str:
    """Join words with commas and cut a long list to its first few and a count."""
    text = ", ".join(words[:shown])
    return text if len(words) <= shown else f"{text} and {len(words) - shown} more"


def counted(number: int, what: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def percent(share: float, digits: int = 0) -> str:
    """``36 %``, ``36.25 %``: a share in the hundred, with a space as all figures here have it."""
    return f"{100 * share:.{digits}f} %"


def spelled(number: int) -> str:
    """``five``, ``ten``; figures from eleven on."""
    return SMALL[number] if number < len(SMALL) else f"{number:,}"


def grouped(items: Sequence[tuple[str, str]], shown: int = SHOWN) -> list[str]:
    """Names and the reason that they share, one text a reason: ``a, b and 12 more (an identifier)``."""
    if len({reason for _, reason in items}) > GROUPS:
        kinds = {reason: _kind(reason) for _, reason in items}
        several = {kind for kind in kinds.values() if len({r for r, k in kinds.items() if k == kind}) > 1}
        items = [(name, kinds[reason] if kinds[reason] in several else reason) for name, reason in items]
    names: dict[str, list[str]] = {}
    for name, reason in items:
        names.setdefault(reason, []).append(name)
    return [f"{shorten(listed, shown)} ({reason})" for reason, listed in names.items()]


def _kind(reason: str) -> str:
    return "always the same value" if reason.startswith("always ") else PARTICULAR.split(reason, maxsplit=1)[0]


def nearest(word: Any, allowed: Sequence[str]) -> str:
    """The allowed word that was meant, whatever its case; the first one where none is near."""
    return next(iter(get_close_matches(str(word).lower(), allowed, 1)), allowed[0])


def describe(X: Any) -> str:
    """Say in a few words what was handed in."""
    kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}".removeprefix("builtins.")
    shape, dtype = getattr(X, "shape", None), getattr(X, "dtype", None)
    if isinstance(shape, tuple):
        return f"{kind} of shape {shape}" + (f" and dtype {dtype}" if dtype is not None else "")
    if isinstance(X, (list, tuple)):
        return f"{kind} of length {len(X)}"
    return f"{kind} {cut(repr(X))}" if isinstance(X, (str, bytes, int, float, complex)) else kind


def cut(text: str, limit: int = 40) -> str:
    """Cut a long text and mark the cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
