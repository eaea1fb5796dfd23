"""Work on the next items in other threads while the caller looks at one; results come in order.

items  →  up to ``threads`` of them under way  →  results, the first item's first
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order"]

S = TypeVar("S")
T = TypeVar("T")


def in_order(work: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[T]:
    """``map(work, items)`` with up to ``threads`` items under way and one more; an error is raised where its
    result would come. Where no thread begins, the caller works.
    """
    if threads <= 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="ritz-ahead")
    under_way: deque[Future[T]] = deque()
    try:
        for item in items:
            while len(under_way) >= threads + 1:
                yield under_way.popleft().result()
            under_way.append(_begun(pool, work, item))
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begun(pool: ThreadPoolExecutor, work: Callable[[S], T], item: S) -> Future[T]:
    try:
        return pool.submit(work, item)
    except RuntimeError:  # no more threads: the system's limit, or the interpreter ends
        done: Future[T] = Future()
        try:
            done.set_result(work(item))
        except Exception as error:  # noqa: BLE001 (raised where the result is asked for)
            done.set_exception(error)
        return done
