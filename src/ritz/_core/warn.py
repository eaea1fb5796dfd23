"""Warnings: each once a call of the user, at the user's line, and none of what Ritz does in between.

    user calls choose_rank  ─ one_call ─┬─ fit            warns: constant column 3        → said, at the user's line
                                        ├─ a second look  warns: constant column 3        → said already
                                        └─ 50 refits  ─ unsaid ─  warn of whatever        → not said

The scope travels in a context variable, so lanes and other threads keep their own: ``warnings.catch_warnings`` changes
the filters of the whole process, and two threads that use it at once leave them changed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

from ritz._core.callback import hide_from_user

__all__ = ["one_call", "unsaid", "warn"]

#: Packages between the user's line and the place that warns.
BETWEEN = frozenset({"ritz", "sklearn", "joblib", "contextlib", "contextvars", "functools", "threading", "concurrent"})


class _Place:
    """A line of the user, as ``warnings.warn_explicit`` wants it."""

    def __init__(self, frame: FrameType) -> None:
        self.file, self.line = frame.f_code.co_filename, frame.f_lineno
        self.module = str(frame.f_globals.get("__name__") or "<unknown>")
        self.registry: dict[Any, Any] = frame.f_globals.setdefault("__warningregistry__", {})


class _Call:
    """One call of the user: where it is, what was said in it, and what is not to be said."""

    def __init__(self, outer: _Call | None = None, unsaid: tuple[type[Warning], ...] = ()) -> None:
        self.place: _Place | None = _users_line() if outer is None else outer.place
        self.said: set[tuple[type[Warning], str]] = set() if outer is None else outer.said
        self.unsaid: tuple[type[Warning], ...] = unsaid if outer is None else (*outer.unsaid, *unsaid)


def warn(text: str, category: type[Warning]) -> None:
    """Warn the user, unless this call has said so already or is a refit of Ritz's own."""
    call = _current.get() or _Call()
    if (category, text) in call.said or issubclass(category, call.unsaid):
        return
    call.said.add((category, text))
    place = call.place
    if place is None:  # no line of the user is on the way: the program itself, or a thread of a pool
        warnings.warn(text, category, stacklevel=2)
        return
    warnings.warn_explicit(text, category, place.file, place.line, place.module, place.registry)


@contextmanager
def one_call() -> Iterator[None]:
    """Say each warning once inside the block; a call inside a call is part of it. Also a decorator of functions."""
    if _current.get() is not None:
        yield
        return
    token = _current.set(_Call())
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def unsaid(*categories: type[Warning]) -> Iterator[None]:
    """Say no warning inside the block, or none of some categories: what is fitted there, the user did not ask for."""
    token = _current.set(_Call(_current.get(), categories or (Warning,)))
    try:
        yield
    finally:
        _current.reset(token)


def _users_line() -> _Place | None:
    """The innermost line that belongs neither to Ritz nor to what calls it for the user."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in BETWEEN:
            return _Place(frame)
        frame = frame.f_back
    return None


_current: ContextVar[_Call | None] = ContextVar("ritz_call", default=None)
hide_from_user(_current, None)
