"""Signals that end the program: SIGTERM and SIGHUP end it as Ctrl-C does.

What was begun is taken away, what may be gone on with is kept, and the exit status is 128 + the signal's number. A
signal that is ignored, as SIGHUP under nohup, stays ignored.
"""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["Ended", "end_cleanly"]

NAMES = ("SIGTERM", "SIGHUP", "SIGBREAK")  # the last one on Windows


class Ended(KeyboardInterrupt):
    """The program was asked to end by a signal."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number
        super().__init__(f"ended by {signal.Signals(number).name}")


def end_cleanly() -> None:
    """Have signals raise Ended in the main thread; a second one does not disturb the first."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _frame: Any) -> None:
    for name in NAMES:
        other = getattr(signal, name, None)
        if other is not None and signal.getsignal(other) is _end:
            signal.signal(other, signal.SIG_IGN)
    raise Ended(number)
