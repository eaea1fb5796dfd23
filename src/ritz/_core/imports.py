"""Modules that are loaded when one of their names is first read, by one thread at a time.

Python's locks of modules let two threads that load modules of one circle see each other's half-made ones, and
scikit-learn is such a circle: eight threads that read ``ritz.PCA`` first got errors. And a child that is forked while
another thread loads a module waits for ever when it loads that module too, so a fork waits until the loading is done.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

__all__ = ["alone", "module_of"]

#: Whether this process is the program, in which nobody else's code meets Ritz's estimators (``bases.py``).
alone = False

#: Seconds that a fork waits, at most: a module that waits for the fork itself must not stop both.
LAST_WAIT = 20.0
#: Where the files of Ritz lie, and the file of Python's import in the frames of threads.
HOME, IMPORT = str(Path(__file__).parent.parent) + os.sep, "<frozen importlib._bootstrap>"


def module_of(name: str) -> ModuleType:
    """The module of this name."""
    with _lock:
        return importlib.import_module(name)


def _before_fork() -> None:
    end = time.monotonic() + LAST_WAIT
    while _others_load() and time.monotonic() < end:
        time.sleep(1e-3)


def _others_load() -> bool:
    """Whether another thread loads a module for Ritz: below its import, its stack has a frame of Ritz."""
    own = threading.get_ident()
    for thread, top in sys._current_frames().items():
        frame, loading = (None if thread == own else top), False
        while frame is not None:
            name = frame.f_code.co_filename
            if loading and name.startswith(HOME):
                return True
            loading = loading or name == IMPORT
            frame = frame.f_back
    return False


def _in_child() -> None:
    global _lock
    _lock = threading.RLock()


_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
