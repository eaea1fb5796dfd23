"""Modules that are loaded when one of their names is first read, by one thread at a time.

Python's locks of modules let two threads that load modules of one circle see each other's half-made ones, and
scikit-learn is such a circle: eight threads that read ``ritz.PCA`` first got errors.
"""

from __future__ import annotations

import importlib
import os
import threading
from types import ModuleType

__all__ = ["module_of"]


def module_of(name: str) -> ModuleType:
    """The module of this name."""
    with _lock:
        return importlib.import_module(name)


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
