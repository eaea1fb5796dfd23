"""Threads: several lanes of Python threads, each with single-threaded BLAS.

Row blocks are shared out among lanes; NumPy, SciPy's sparse products and BLAS release the interpreter lock. The
BLAS limit is set in one place, counted, and restored when the last lane of the last fit ends, also on error, so
fits may run at the same time in several threads. ``OMP_NUM_THREADS`` and the process's CPU affinity are respected.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

__all__ = ["go_on", "lane_count", "run_lanes", "single_threaded_blas"]

T = TypeVar("T")
S = TypeVar("S")

_lock = threading.Lock()
_depth = 0
_limiter: Any = None
_controller: Any = None


def lane_count() -> int:
    """How many lanes to use: the CPUs this process may run on, at most ``OMP_NUM_THREADS``."""
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not offered on macOS and Windows
        cpus = os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return max(1, min(cpus, int(asked)) if asked.isdigit() and int(asked) > 0 else cpus)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread per caller while the block runs; nested and concurrent uses are counted."""
    global _depth, _limiter, _controller
    with _lock:
        if _depth == 0:
            if _controller is None:
                import scipy.linalg  # noqa: F401  (SciPy brings a BLAS of its own that must be limited as well)
                from threadpoolctl import ThreadpoolController

                _controller = ThreadpoolController()
            _limiter = _controller.limit(limits=1, user_api="blas")
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _limiter.restore_original_limits()
                _limiter = None


def run_lanes(work: Callable[[S], T], shares: Sequence[S]) -> list[T]:
    """``[work(share) for share in shares]``, one thread a share, single-threaded BLAS inside.

    A single share runs in the calling thread and leaves BLAS its own threads. When a lane fails, or the caller is
    interrupted, the others end where they next ask whether to ``go_on``; the error of the first that failed is raised.
    """
    if len(shares) <= 1:
        return [work(share) for share in shares]
    # Lanes inherit the caller's context: floating-point error handling, the progress hook.
    contexts = [copy_context() for _ in shares]
    halt = threading.Event()

    def lane(share: S) -> T:
        _halt.set(halt)
        try:
            return work(share)
        except BaseException:
            halt.set()
            raise

    with single_threaded_blas(), ThreadPoolExecutor(len(shares), thread_name_prefix="ritz") as pool:
        try:
            lanes = [pool.submit(context.run, lane, share) for context, share in zip(contexts, shares, strict=True)]
            wait(lanes, return_when=FIRST_EXCEPTION)
            errors = [error for one in lanes if (error := one.exception()) is not None]
        except BaseException:
            halt.set()
            raise
    if errors:
        raise next((error for error in errors if not isinstance(error, _Halted)), errors[0])
    return [one.result() for one in lanes]


def go_on() -> None:
    """End this lane if another one has failed or the caller was interrupted; asked now and then by what takes long."""
    halt = _halt.get()
    if halt is not None and halt.is_set():
        raise _Halted


class _Halted(Exception):
    """A lane that ended because of another."""


_halt: ContextVar[threading.Event | None] = ContextVar("ritz_halt", default=None)
