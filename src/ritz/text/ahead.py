"""Work on the next items in other threads while the caller looks at one; results come in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["ahead"]

S = TypeVar("S")
T = TypeVar("T")


def ahead(work: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[T]:
    """``map(work, items)`` with up to ``threads`` items under way; an error is raised where its result would come."""
    source = iter(items)
    first = list(zip(range(2), source, strict=False))
    if threads <= 1 or len(first) < 2:
        for _, item in first:
            yield work(item)
        yield from map(work, source)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="ritz-text")
    try:
        waiting: deque[Future[T]] = deque(pool.submit(work, item) for _, item in first)
        for item in source:
            while len(waiting) > threads:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, item))
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
