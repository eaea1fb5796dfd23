"""Functions of the user that Ritz calls in the middle of a fit: they run as if no fit were under way.

A function that watches the progress, a kernel, or an iterator of rows may itself fit a model. That fit must not report
to the watcher that began it (which would fit again, for ever), nor count its passes into the journal of the outer fit,
nor keep its warnings to itself because the outer one gave them before. What a fit hands down to its solvers travels in
context variables; those that are ``hidden`` have their outside value here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["calling_user", "hide_from_user", "users"]

T = TypeVar("T")
_hidden: list[tuple[ContextVar[Any], Any]] = []


def hide_from_user(variable: ContextVar[T], outside: T) -> None:
    """Let ``variable`` have the value ``outside`` in functions of the user."""
    _hidden.append((variable, outside))


@contextmanager
def calling_user() -> Iterator[None]:
    """Call a function of the user inside the block."""
    tokens = [(variable, variable.set(outside)) for variable, outside in _hidden]
    try:
        yield
    finally:
        for variable, token in tokens:
            variable.reset(token)


def users(items: Iterable[T]) -> Iterator[T]:
    """The items of an iterable of the user, whose code runs between them."""
    with calling_user():
        iterator = iter(items)
    while True:
        with calling_user():
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item
