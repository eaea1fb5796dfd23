"""One after the other: calls that change one object wait for each other, and never for themselves.

    thread 1:  model.partial_fit(A)  ──────┐
    thread 2:      model.partial_fit(B)    └─────────        the same as one after the other, in some order

Locks are kept beside the objects, not in them: an object is pickled, copied and compared as before. A function of the
user that runs inside a call (in any lane of it) holds the object's turn already, and is refused instead of waiting for
itself. A forked child has no locks of threads that stayed in its parent.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ritz._core.callback import hide_from_user
from ritz._core.errors import RitzError

__all__ = ["being_changed", "in_turn"]


@contextmanager
def in_turn(thing: Any, verb: str) -> Iterator[None]:
    """Wait until nobody else changes ``thing``; ``verb`` says in an error what was tried from inside such a change."""
    if id(thing) in _own.get():  # a method that calls the one of its base class
        yield
        return
    if being_changed(thing):
        raise RitzError(
            f"{verb} cannot be called on a model from inside its own partial_fit or solution",
            received=f"a {type(thing).__name__} whose call is under way",
            hint="call it afterwards, or on a copy: copy.deepcopy(model)",
        )
    with _lock_of(thing):
        holding, own = _holding.set(_holding.get() | {id(thing)}), _own.set(_own.get() | {id(thing)})
        try:
            yield
        finally:
            _holding.reset(holding)
            _own.reset(own)


def being_changed(thing: Any) -> bool:
    """Whether a function of the user asks from inside a change of ``thing``."""
    return id(thing) in _holding.get() and id(thing) not in _own.get()


def _lock_of(thing: Any) -> threading.Lock:
    key = id(thing)
    with _guard:
        entry = _locks.get(key)
        if entry is None or entry[0]() is not thing:
            entry = _locks[key] = weakref.ref(thing, lambda _: _locks.pop(key, None)), threading.Lock()
    return entry[1]


def _after_fork() -> None:
    global _guard
    _guard = threading.RLock()
    _locks.clear()


_guard = threading.RLock()
_locks: dict[int, tuple[weakref.ref[Any], threading.Lock]] = {}
_holding: ContextVar[frozenset[int]] = ContextVar("ritz_holding", default=frozenset())
_own: ContextVar[frozenset[int]] = ContextVar("ritz_own", default=frozenset())
hide_from_user(_own, frozenset())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
