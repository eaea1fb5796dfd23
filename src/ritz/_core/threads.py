"""Threads: several lanes of Python threads, each with single-threaded BLAS.

Row blocks are shared out among lanes; NumPy, SciPy's sparse products and BLAS release the interpreter lock. A lane
whose work nobody waits for any more ends at its next ``go_on()``: after Ctrl-C, after a cancelled fit, after an error.
How many threads BLAS may use is set in ``blas.py``. ``OMP_NUM_THREADS`` and the process's CPU affinity are respected.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextvars import Context, ContextVar, copy_context
from typing import Any, Generic, TypeVar

from ritz._core.blas import single_threaded_blas
from ritz._core.errors import Cancelled, RitzError

__all__ = ["STOP", "go_on", "lane_count", "run_lanes", "single_threaded_blas"]

T = TypeVar("T")
S = TypeVar("S")

#: Seconds between two looks whether this is still the process that began the lanes.
LOOK = 5.0


def lane_count() -> int:
    """How many lanes to use: the CPUs this process may run on, at most ``OMP_NUM_THREADS``."""
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not offered on macOS and Windows
        cpus = os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return max(1, min(cpus, int(asked)) if asked.isdigit() and int(asked) > 0 else cpus)


def run_lanes(work: Callable[[S], T], shares: Sequence[S]) -> list[T]:
    """``[work(share) for share in shares]``, one thread a share, single-threaded BLAS inside.

    A single share runs in the calling thread and leaves BLAS its own threads. Of several errors the one of the first
    share is raised, as one after the other would.
    """
    if len(shares) <= 1:
        return [work(share) for share in shares]
    outer, process = STOP.get(), os.getpid()
    lanes = [_Lane(work, share, _Stop(outer)) for share in shares]
    with single_threaded_blas():
        try:
            for i, lane in enumerate(lanes):
                lane.start(after=lanes[i + 1 :], all_lanes=lanes)
            for lane in lanes:
                lane.wait(process)
        except BaseException:  # Ctrl-C: the lanes end at their next block
            _ask(lanes)
            for lane in lanes:
                lane.wait(process)
            raise
    error = next((lane.error for lane in lanes if lane.error and not isinstance(lane.error, _Stopped)), None)
    if error is not None:
        for lane in lanes:
            lane.error = None  # a traceback that leads to itself would keep what the lanes hold in memory
        try:
            raise error
        finally:
            del error
    go_on()
    return [lane.result for lane in lanes]


def go_on() -> None:
    """End this lane here if nobody waits for it any more; called between blocks of work."""
    stop = STOP.get()
    if stop is not None and stop.asked_for():
        raise _Stopped


class _Stopped(BaseException):
    """A lane that was asked to stop; never seen outside of ``run_lanes``."""


class _Stop:
    """Whether a lane was asked to stop, or the lane that it is part of."""

    __slots__ = ("asked", "outer")

    def __init__(self, outer: _Stop | None) -> None:
        self.asked, self.outer = False, outer

    def asked_for(self) -> bool:
        return self.asked or (self.outer is not None and self.outer.asked_for())


class _Lane(Generic[S, T]):
    """One share of the work in a thread of its own."""

    result: T

    def __init__(self, work: Callable[[S], T], share: S, stop: _Stop) -> None:
        self.work, self.share, self.stop = work, share, stop
        self.error: BaseException | None = None
        # Lanes inherit the caller's context: floating-point error handling, the progress hook.
        self.context: Context = copy_context()
        self.thread: threading.Thread | None = None
        self.begun = self.ended = False
        self.running = threading.Lock()  # held while the lane works; cheaper than an event
        self.running.acquire()

    def start(self, after: Sequence[_Lane[S, T]], all_lanes: Sequence[_Lane[S, T]]) -> None:
        self.thread = threading.Thread(target=self.context.run, args=(self._run, after, all_lanes), name="ritz-lane")
        self.begun = True
        try:
            self.thread.start()
        except RuntimeError:  # no more threads: the system's limit, or the interpreter ends
            self.thread = None
            self.context.run(self._run, after, all_lanes)

    def wait(self, process: int) -> None:
        """Until the lane has ended. Joining alone will not do: in Python 3.11 Ctrl-C makes a join take it for ended."""
        if not self.begun:
            return
        while not self.ended and not self.running.acquire(timeout=LOOK):
            if self.thread is not None and self.thread.ident is None:
                return  # Ctrl-C came before the thread began; if it does yet, it ends at once
            if os.getpid() != process:
                raise RitzError(
                    "a process forked in the middle of a fit cannot go on with its parent's fit",
                    hint="begin a fit of its own in the child, or fork before the fit",
                )
        if self.thread is not None:
            self.thread.join()

    def _run(self, after: Sequence[_Lane[S, T]], all_lanes: Sequence[_Lane[S, T]]) -> None:
        STOP.set(self.stop)
        try:
            go_on()
            self.result = self.work(self.share)
        except BaseException as error:  # noqa: BLE001 (raised again where the lanes are awaited)
            self.error = error
            # Lanes before this one go on: their error would be the one to raise. A wish to stop concerns all.
            stop_all = isinstance(error, Cancelled) or not isinstance(error, Exception)
            _ask(all_lanes if stop_all else after)
        finally:
            self.ended = True
            self.running.release()


def _ask(lanes: Sequence[_Lane[Any, Any]]) -> None:
    for lane in lanes:
        lane.stop.asked = True


#: Of a lane, whether it was asked to stop; None outside of lanes.
STOP: ContextVar[_Stop | None] = ContextVar("ritz_stop", default=None)
