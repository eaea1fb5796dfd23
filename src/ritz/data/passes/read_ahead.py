"""Read-ahead: the next batch is read while this one is computed with.

    reader thread:  read, put   ⇄   queue of one batch   ⇄   lane:  get, compute

At most ``depth`` + 2 batches are held: one being read, ``depth`` waiting, one in use. The reader ends with the
iteration: at its end, on an error, when the iterator is closed or forgotten, and when the interpreter ends.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Generator, Iterable, Iterator
from contextvars import copy_context
from typing import TypeVar

from ritz._core.errors import RitzError

__all__ = ["ahead"]

T = TypeVar("T")
_END = object()

#: Seconds that the end of the interpreter waits for a read that is under way, and Ctrl-C for a reader to begin.
LAST_WAIT = 10.0


def ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """Iterate ``items`` in a thread of its own, ``depth`` of them in advance; errors arrive where they are awaited."""
    waiting: queue.Queue[object] = queue.Queue(maxsize=depth)
    stop, begun, process = threading.Event(), threading.Event(), os.getpid()

    def read() -> None:
        begun.set()
        end: object = _END
        try:
            for item in () if stop.is_set() else items:
                if not _put(waiting, item, stop):
                    return
        except BaseException as error:  # noqa: BLE001 (handed to the lane, which raises it)
            end = _Failure(error)
        finally:
            if isinstance(items, Generator):
                items.close()  # here, where it ran: files are closed when the reading ends, not some time later
        _put(waiting, end, stop)

    # The thread inherits the caller's context: floating-point error handling, the progress hook.
    thread = threading.Thread(target=copy_context().run, args=(read,), name="ritz-read", daemon=True)
    try:  # Ctrl-C may come while the thread starts: it is ended all the same
        try:
            thread.start()
        except RuntimeError:  # no more threads: the system's limit, or the interpreter ends
            begun.set()
            yield from items
            return
        _reading[thread] = stop
        while (item := waiting.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.error
            yield item  # type: ignore[misc]
            if os.getpid() != process:
                raise RitzError(
                    "a process forked while rows are read cannot go on reading: the reader stayed in its parent",
                    hint="begin a fit of its own in the child, or fork before the fit",
                )
    finally:
        stop.set()
        _reading.pop(thread, None)
        if os.getpid() == process and thread is not threading.current_thread():
            _ended(thread, begun)


def _ended(thread: threading.Thread, begun: threading.Event) -> None:
    """Wait for a reader that was told to stop. One that never began has nothing to end: it would read nothing."""
    if begun.wait(LAST_WAIT) and thread.ident is not None:
        thread.join()


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _put(waiting: queue.Queue[object], item: object, stop: threading.Event) -> bool:
    """Hand over an item, unless nobody waits for it any more."""
    while not stop.is_set():
        try:
            waiting.put(item, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False


#: Readers that run, each with what stops it.
_reading: dict[threading.Thread, threading.Event] = {}


def _end_all() -> None:
    """End the readers of iterations that nobody finished, before the libraries they call are taken down."""
    for thread, stop in list(_reading.items()):
        stop.set()
        thread.join(LAST_WAIT)


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reading.clear)
