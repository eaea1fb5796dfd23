"""Read-ahead: the next batch is read while this one is computed with.

    reader thread:  read, put   ⇄   queue of one batch   ⇄   lane:  get, compute

At most ``depth`` + 2 batches are held: one being read, ``depth`` waiting, one in use.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from contextvars import copy_context
from typing import TypeVar

__all__ = ["ahead"]

T = TypeVar("T")
_END = object()


def ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """Iterate ``items`` in a thread of its own, ``depth`` of them in advance; errors arrive where they are awaited."""
    waiting: queue.Queue[object] = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def read() -> None:
        end: object = _END
        try:
            for item in items:
                if not _put(waiting, item, stop):
                    return
        except BaseException as error:  # noqa: BLE001 (handed to the lane, which raises it)
            end = _Failure(error)
        _put(waiting, end, stop)

    # The thread inherits the caller's context: floating-point error handling, the progress hook.
    thread = threading.Thread(target=copy_context().run, args=(read,), name="ritz-read", daemon=True)
    thread.start()
    try:
        while (item := waiting.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.error
            yield item  # type: ignore[misc]
    finally:
        stop.set()
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
