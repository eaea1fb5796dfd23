"""Care for the worker that runs a task: its memory, its cores, its caller's floating-point settings.

tasks inside ≤ GATE_SHARE of the memory limit, by what their accumulators and buffers hold; one is always let in
BLAS threads of a task = cores of the worker / threads of the worker, one where Dask set ``OMP_NUM_THREADS=1``
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ritz._core.blas import limited_blas
from ritz._core.threads import lane_count

__all__ = ["careful", "tell"]

#: Share of a worker's memory limit that accumulators and buffers of running tasks may take together.
GATE_SHARE = 0.4


@contextmanager
def careful(allocated: float, errors: Any) -> Iterator[None]:
    """Within the memory of the worker, with its share of BLAS threads and the caller's floating-point settings.

    ``allocated``: bytes that the task will allocate; ``errors``: what ``numpy.geterr`` gave the caller.
    """
    worker = _worker()
    threads, memory = 1, float("inf")  # without a worker: a local scheduler with a thread a core
    if worker is not None:
        threads = max(1, lane_count() // max(1, worker.state.nthreads))
        memory = float(worker.memory_manager.memory_limit or "inf")
    with _gate.admit(allocated, GATE_SHARE * memory), limited_blas(threads), np.errstate(**errors):
        yield


def tell(topic: str, rows: int) -> None:
    """Say that ``rows`` more rows are done, to whoever listens."""
    worker = _worker()
    if worker is not None:
        worker.log_event(topic, rows)


def _worker() -> Any | None:
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


class _Gate:
    """Lets tasks in while what they hold together stays within a budget; the first one always."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nobody is inside, as in a process that was just forked."""
        self._free, self._held, self._inside = threading.Condition(), 0.0, 0

    @contextmanager
    def admit(self, allocated: float, budget: float) -> Iterator[None]:
        with self._free:
            self._free.wait_for(lambda: self._inside == 0 or self._held + allocated <= budget)
            self._held, self._inside = self._held + allocated, self._inside + 1
        try:
            yield
        finally:
            with self._free:
                self._held, self._inside = self._held - allocated, self._inside - 1
                self._free.notify_all()


_gate = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_gate.reset)
