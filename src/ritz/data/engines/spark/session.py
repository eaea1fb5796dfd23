"""The way to Spark: jobs that can be watched and cancelled, and plain words when they fail.

    run(job)     in a thread of its own, under a tag of its own: progress is told meanwhile, Ctrl-C cancels what runs
    told(error)  an error of Ritz inside a worker as itself; one of Spark as :class:`ClusterError`

Nothing of Spark is imported before a DataFrame was handed in.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ritz._core import errors as words
from ritz._core.errors import RitzError
from ritz._core.progress import track
from ritz.data.engines.refused import ClusterError

__all__ = ["Work", "told"]

T = TypeVar("T")

#: Seconds between two looks at the progress hook and at Spark's stages.
LOOK_SECONDS = 0.2


class Work:
    """What is asked of one Spark session.

    Parameters
    ----------
    frame
        A DataFrame of the session.
    """

    def __init__(self, frame: Any) -> None:
        self.session = frame.sparkSession
        self.context = self.session.sparkContext

    def run(self, job: Callable[[], T], title: str, tasks: int = 0, nbytes: int = 0) -> T:
        """The result of ``job``; of a pass over the rows, ``tasks`` and ``nbytes`` are told as they are done."""
        tag, done = f"ritz-{uuid.uuid4().hex[:12]}", threading.Event()
        result: list[Any] = []
        failed: list[BaseException] = []

        def work() -> None:
            try:
                with self._tagged(tag, title):
                    result.append(job())
            except BaseException as error:  # noqa: BLE001  raised again where it was asked for
                failed.append(error)
            finally:
                done.set()

        thread = self._thread(work)
        try:
            with track("reading", total=1.0) as step:
                told_so_far = 0.0
                while not done.wait(LOOK_SECONDS):
                    share = min(1.0, self._finished(tag) / tasks) if tasks else 0.0
                    more = max(0.0, share - told_so_far)
                    told_so_far += more
                    step(more, passes=more, bytes=int(more * nbytes))
                rest = 1.0 - told_so_far if tasks and not failed else 0.0
                step(rest, passes=rest, bytes=int(rest * nbytes))
        except BaseException:
            with suppress(Exception):  # a session that is gone has nothing left to cancel
                self.context.cancelJobsWithTag(tag)
            raise
        finally:
            if done.is_set():
                thread.join()
        if failed:
            raise told(failed[0])
        return result[0]

    def _thread(self, work: Callable[[], None]) -> threading.Thread:
        """A thread that has the caller's pool and properties of Spark."""
        from pyspark import InheritableThread

        thread = InheritableThread(target=work, daemon=True)
        thread.start()
        return thread

    @contextmanager
    def _tagged(self, tag: str, title: str) -> Iterator[None]:
        self.context.addJobTag(tag)
        self.context.setJobDescription(f"Ritz: {title}")
        try:
            yield
        finally:
            with suppress(Exception):
                self.context.removeJobTag(tag)

    def _finished(self, tag: str) -> int:
        """Tasks that are done in all jobs of a tag."""
        with suppress(Exception):  # progress is told as well as may be, and never ends a fit
            tracker = self.context._jsc.sc().statusTracker()
            store = self.context._jsc.sc().statusStore()
            jobs = [store.job(i) for i in tracker.getJobIdsForTag(tag)]
            return sum(int(job.numCompletedTasks()) for job in jobs)
        return 0

    def broadcast(self, value: Any) -> Any:
        """A value that every worker can have."""
        return self.context.broadcast(value)


#: What a worker whose Python is another one lacks.
LACKING = re.compile(r"No module named '([\w.]+)")
#: How an error of Ritz is written at the end of a worker's traceback.
OWN = re.compile(r"ritz\.[\w.]*?(\w+Error|DataChanged|Cancelled): (.*)", re.DOTALL)


def told(error: BaseException) -> BaseException:
    """An error of a job: one that Ritz raised inside a worker as itself, one of Spark in plain words."""
    if isinstance(error, (RitzError, KeyboardInterrupt, FloatingPointError, MemoryError)):
        return error
    text = _text(error)
    if (own := OWN.search(text)) is not None and (kind := getattr(words, own[1], None)) is not None:
        return _rebuilt(kind, own[2])
    if "No module named 'ritz" in text:
        return _caused(
            ClusterError(
                "the executors of a Spark session must have ritz installed",
                received="No module named 'ritz'",
                hint="pack the environment and send it along: spark-submit --archives ritz.tar.gz#environment",
            ),
            error,
        )
    if not type(error).__module__.startswith(("pyspark", "py4j")):
        return error
    if (lacking := LACKING.search(text)) is not None:
        return _caused(
            ClusterError(
                "the executors of a Spark session must run a Python with ritz and what it needs",
                received=f"No module named '{lacking[1]}'",
                hint="set PYSPARK_PYTHON to that Python before the session begins; on one machine: "
                'os.environ["PYSPARK_PYTHON"] = sys.executable',
            ),
            error,
        )
    return _caused(
        ClusterError(
            "the Spark session must stay, and its tasks succeed, until the fit is done",
            received=_reason(text),
            hint="look at the log of the executors; where memory ran out, cut the data into more partitions "
            "or raise spark.executor.memoryOverhead",
        ),
        error,
    )


def _caused(error: ClusterError, cause: BaseException) -> ClusterError:
    error.__cause__ = cause
    return error


def _text(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)
    with suppress(Exception):
        return str(java.toString()) if java is not None else str(error)
    return str(error)


def _reason(text: str) -> str:
    """The line that tells most of a long text of Spark."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"most recent failure|Error: |cancelled|Reason:|shut down", line)]
    return (telling or lines or ["no reason"])[-1][:300]


def _rebuilt(kind: type[RitzError], text: str) -> RitzError:
    """An error from its words: ``expected; received …`` and, on its own line, ``hint: …``."""
    said = re.split(r"\n\s*\n|\n\s+at ", text)[0].strip()
    main, _, hint = said.partition("\nhint: ")
    expected, _, received = main.partition("; received ")
    return kind(expected, received=received or None, hint=hint or None)
