"""The way to a Dask cluster, and plain words when it is not there.

    dask://host:port   →   a client of the scheduler at tcp://host:port, within seconds or not at all

Dask is an extra and is imported inside functions only. Errors of a cluster become :class:`ClusterError`, which is a
ConnectionError; an error that Ritz raised inside a task comes out as itself.
"""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ritz._core.errors import ParameterError, RitzError
from ritz._core.progress import Step, track
from ritz.data.engines.refused import ClusterError

__all__ = [
    "ClusterError",
    "Watch",
    "collected",
    "connect",
    "current_client",
    "free_memory",
    "require_dask",
]

#: Seconds to wait for a scheduler, for the first worker, and for workers to come back when all are gone.
CONNECT_SECONDS, WORKER_SECONDS, ABSENT_SECONDS = 4.0, 10.0, 60.0
#: Seconds between two looks at the progress hook and the workers.
LOOK_SECONDS = 0.5

LOCAL_SCHEDULERS = ("threads", "threading", "sync", "synchronous", "single-threaded", "processes", "multiprocessing")


def require_dask() -> Any:
    """The dask package, or an error that names the extra."""
    try:
        import dask
        import dask.delayed
    except ImportError as error:
        raise ParameterError(
            "Dask collections and dask:// engines need the package dask",
            received=f"an installation without it ({error})",
            hint="pip install 'ritz[dask]'",
        ) from error
    return dask


def connect(address: str, timeout: float = CONNECT_SECONDS) -> Any:
    """A client of the scheduler at ``dask://host:port``; it does not become the default client.

    Raises
    ------
    ClusterError
        After about ``timeout`` seconds without a scheduler; after a few more with a scheduler but no worker.
    """
    require_dask()
    try:
        from distributed import Client
    except ImportError as error:
        raise ParameterError(
            "a dask:// engine needs the package distributed",
            received="an installation without it",
            hint="pip install 'ritz[dask]'",
        ) from error
    target = _target(address)
    try:
        client = Client(target, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"a Dask scheduler must answer at {address}",
            received=f"no answer within {timeout:g} s ({type(error).__name__})",
            hint="look whether it runs (`dask scheduler`), on this host and port, and whether a firewall lies between",
        ) from error
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError as error:
        client.close()
        raise ClusterError(
            f"the Dask scheduler at {address} must have workers",
            received=f"none within {WORKER_SECONDS:g} s",
            hint=f"start some: `dask worker {target}`",
        ) from error
    return client


def _target(address: str) -> str:
    """``dask://host:port`` as Dask writes it; tcp://, tls:// and others pass as they are."""
    from distributed.comm.registry import backends

    scheme, separator, rest = address.partition("://")
    if not separator or not rest.strip("/") or scheme not in ("dask", *backends):
        raise ParameterError(
            "an engine is written dask://host:port",
            received=repr(address),
            hint="for example dask://localhost:8786; `dask scheduler` prints its address",
        )
    if scheme != "dask":
        return address
    host = rest.rstrip("/")
    return f"tcp://{host}" if ":" in host else f"tcp://{host}:8786"


def current_client() -> Any | None:
    """The default client of this process, unless a local scheduler was asked for by Dask's configuration."""
    if "distributed" not in sys.modules:
        return None
    import dask
    from distributed import default_client

    if dask.config.get("scheduler", None) in LOCAL_SCHEDULERS:
        return None
    try:
        return default_client()
    except ValueError:
        return None


def free_memory(client: Any) -> float:
    """Bytes that the workers of a cluster have left, by their own limits; infinite where one has no limit."""
    total = 0.0
    for worker in _workers(client).values():
        limit = worker.get("memory_limit") or 0
        if not limit:
            return float("inf")
        total += max(0.0, float(limit) - float(worker.get("metrics", {}).get("memory", 0)))
    return total


@dataclass
class Watch:
    """How far a pass is, as its tasks tell: its name, and the rows and bytes of the whole table."""

    name: str
    rows: int
    nbytes: int
    heard: int = 0
    told: float = 0.0

    def listen(self, event: Any) -> None:
        """Count the rows of a finished task; a task that ran twice is told twice."""
        self.heard += int(event[1])

    def advance(self, step: Step, *, done: bool = False) -> None:
        """Tell the progress hook what came since; the hook may stop the fit here."""
        full = 1.0 if self.rows else 0.0
        share = (full if done else min(full, self.heard / max(1, self.rows))) - self.told
        self.told += share
        step(share, passes=share, bytes=int(share * self.nbytes))


def collected(client: Any, tasks: list[Any], take: Callable[[int, Any], None], watch: Watch) -> None:
    """Run tasks on a cluster and hand each result to ``take(index, result)`` as it arrives.

    Results are let go as soon as they were taken. Whatever ends the wait early cancels what still runs.
    """
    import dask

    if client.status in ("closed", "closing"):
        raise _lost("a client that is closed", "connect again, then fit again")
    if watch.rows:
        client.subscribe_topic(watch.name, watch.listen)
    # What a pass ships (vectors, weights) is meant to be in the graph: there it survives the loss of any worker.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        waiting = dict(enumerate(client.compute(tasks)))
    try:
        ready: queue.SimpleQueue[int] = queue.SimpleQueue()
        for i, future in waiting.items():
            future.add_done_callback(lambda _, i=i: ready.put(i))
        del future
        with _thread_lent(), track("reading", total=1.0) as step:
            seen = time.monotonic()
            while waiting:
                done = _soon(ready)
                if done is None:
                    seen = _still_there(client, seen)
                else:
                    take(done, _result(waiting[done]))
                    del waiting[done]  # the last reference: the workers let the result go
                    seen = time.monotonic()
                watch.advance(step, done=not waiting)
    finally:
        # A connection that is gone has nothing left to clean up, and must not hide why.
        with suppress(OSError, RuntimeError, TimeoutError, ValueError):
            if waiting and client.status == "running":
                client.cancel(list(waiting.values()))
            if watch.rows and client.status == "running":
                client.unsubscribe_topic(watch.name)


@contextmanager
def _thread_lent() -> Iterator[None]:
    """A task that waits for other tasks lends its thread to them: a worker with one thread would wait for ever."""
    from distributed import rejoin, secede

    try:
        secede()
    except (ValueError, AttributeError, LookupError):  # no task, or its thread is lent already
        yield
        return
    try:
        yield
    finally:
        rejoin()


def _soon(ready: queue.SimpleQueue[int]) -> int | None:
    """Which task is done next, or None after a moment without one."""
    try:
        return ready.get(timeout=LOOK_SECONDS)
    except queue.Empty:
        return None


def _result(future: Any) -> Any:
    """The result of a finished future; an error of Ritz as itself, one of the cluster in plain words."""
    from distributed.scheduler import KilledWorker

    try:
        return future.result()
    except RitzError as error:
        own = error
    except KilledWorker as error:
        worker = getattr(error.last_worker, "address", error.last_worker)
        raise _lost(
            f"workers that died over the same task again and again, the last at {worker}",
            "look at the worker's log; if memory ran out, cut the data into smaller partitions or give workers more",
        ) from error
    except CancelledError as error:
        raise _lost("the work was cancelled: the scheduler was restarted, or closed") from error
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "ritz":
            raise
        raise ClusterError(
            "the workers of a cluster must have ritz installed",
            received=str(error),
            hint="install the same version of ritz on every worker",
        ) from error
    # Outside of the handler, without the frames of the worker: the message says all there is to know.
    raise own.with_traceback(None) from None


def _still_there(client: Any, seen: float) -> float:
    """When workers were last seen; an error when they have been gone for too long."""
    if client.status in ("closed", "closing"):
        raise _lost("the connection to the scheduler was closed")
    if _workers(client):
        return time.monotonic()
    if time.monotonic() - seen > ABSENT_SECONDS:
        raise _lost(f"no worker for {ABSENT_SECONDS:g} s", "start workers again, then fit again")
    return seen


def _workers(client: Any) -> dict[str, Any]:
    """What the scheduler says of its workers."""
    import inspect

    try:
        # Newer versions list five workers unless asked for all of them.
        everyone = {"n_workers": -1} if "n_workers" in inspect.signature(client.scheduler_info).parameters else {}
        return dict(client.scheduler_info(**everyone).get("workers", {}))
    except (OSError, TimeoutError, ValueError):
        return {}


def _lost(received: str, hint: str = "look whether scheduler and workers still run, then fit again") -> ClusterError:
    return ClusterError("the Dask cluster must stay until the fit is done", received=received, hint=hint)
