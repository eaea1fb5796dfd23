"""What Spark holds for row blocks, let go of once they are gone."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["Held", "destroyed", "when_gone"]


class Held:
    """A DataFrame that the executors hold for as long as this lives."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        when_gone(self, _unpersisted, frame)


def when_gone(thing: Any, function: Callable[[Any], None], given: Any) -> None:
    """Call a function of ``given`` once ``thing`` is gone, unless the process ends, and the session with it.

    In a thread, which has a connection of its own: this may be in the middle of another call to the JVM.
    """

    def begin() -> None:
        with suppress(RuntimeError):  # the interpreter is ending
            threading.Thread(target=function, args=(given,), daemon=True).start()

    weakref.finalize(thing, begin).atexit = False


def destroyed(broadcasts: list[Any]) -> None:
    """Let the executors forget broadcasts."""
    for one in broadcasts:
        with suppress(Exception):  # a session that is gone has let go of it
            one.destroy()


def _unpersisted(frame: Any) -> None:
    with suppress(Exception):
        frame.unpersist()
