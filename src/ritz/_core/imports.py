"""Modules that are loaded when one of their names is first read, by one thread at a time.

Python's locks of modules let two threads that load modules of one circle see each other's half-made ones, and
scikit-learn is such a circle: eight threads that read ``ritz.PCA`` first got errors. And a child that is forked while
another thread loads a module waits for ever when it loads that module too, so a fork waits until the loading is done.
"""

from __future__ import annotations

import importlib
import os
import threading
from types import ModuleType

__all__ = ["module_of"]

#: Seconds that a fork waits, at most: a module that waits for the fork itself must not stop both.
LAST_WAIT = 20.0


def module_of(name: str) -> ModuleType:
    """The module of this name."""
    with _lock:
        return importlib.import_module(name)


def _before_fork() -> None:
    _forking.has_lock = _lock.acquire(timeout=LAST_WAIT)


def _in_parent() -> None:
    if _forking.has_lock:
        _lock.release()


def _in_child() -> None:
    global _lock
    _lock = threading.RLock()


_lock = threading.RLock()
_forking = threading.local()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
