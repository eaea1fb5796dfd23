"""Words for messages: what an object is, in one line that never prints its numbers."""

from __future__ import annotations

from typing import Any

__all__ = ["ALIKE", "cut", "describe", "shorten"]

ALIKE = 0.75  # similarity from which "did you mean" helps more than it puzzles
SHOWN = 5  # names listed in a message before "and 12 more"


def shorten(words: list[str], shown: int = SHOWN) -> str:
    """Join words with commas and cut a long list to its first few and a count."""
    text = ", ".join(words[:shown])
    return text if len(words) <= shown else f"{text} and {len(words) - shown} more"


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
