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
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ritz._core.callback import hide_from_user

__all__ = ["Call", "current", "one_call", "unsaid", "warn"]

#: Packages between the user's line and the place that warns.
BETWEEN = frozenset({"ritz", "sklearn", "joblib", "contextlib", "contextvars", "functools", "threading", "concurrent"})


class _Place:
    """A line of the user, as ``warnings.warn_explicit`` wants it."""

    def __init__(self, frame: FrameType) -> None:
        self.file, self.line = frame.f_code.co_filename, frame.f_lineno
        self.module = str(frame.f_globals.get("__name__") or "<unknown>")
        self.registry: dict[Any, Any] = frame.f_globals.setdefault("__warningregistry__", {})


@dataclass
class Call:
    """One call of the user: the frame it came from, what was said in it, and what is not to be said."""

    frame: FrameType | None
    said: set[tuple[type[Warning], str]] = field(default_factory=set)
    unsaid: tuple[type[Warning], ...] = ()

    @property
    def place(self) -> _Place | None:
        """The line of the user, looked up when something is said."""
        frame = _users_frame(self.frame)
        return None if frame is None else _Place(frame)


def _users_frame(frame: FrameType | None = None) -> FrameType | None:
    """The innermost frame that belongs neither to Ritz nor to what calls it for the user."""
    frame = sys._getframe(1) if frame is None else frame
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in BETWEEN:
        frame = frame.f_back
    return frame


def warn(text: str, category: type[Warning]) -> None:
    """Warn the user, unless this call has said so already or is a refit of Ritz's own."""
    call = current.get() or Call(sys._getframe(1))
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
    if current.get() is not None:
        yield
        return
    token = current.set(Call(_users_frame()))
    try:
        yield
    finally:
        current.reset(token)


@contextmanager
def unsaid(*categories: type[Warning]) -> Iterator[None]:
    """Say no warning inside the block, or none of some categories: what is fitted there, the user did not ask for."""
    outer, more = current.get() or Call(_users_frame()), categories or (Warning,)
    token = current.set(Call(outer.frame, outer.said, (*outer.unsaid, *more)))
    try:
        yield
    finally:
        current.reset(token)


current: ContextVar[Call | None] = ContextVar("ritz_call", default=None)
hide_from_user(current, None)
