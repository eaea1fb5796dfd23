"""Ways to hang: lanes and readers that go on although nobody waits for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ritz._core.errors import Cancelled
from ritz._core.progress import track
from ritz._core.threads import run_lanes
from ritz.methods.kernel_pca.kernel_pca import KernelPCA
from ritz.methods.pca import PCA
from ritz.testing.faults._patience import run
from ritz.testing.faults.hang.ways import LONG, Findings, fit, outside, rows, same, way

__all__: list[str] = []


def _interrupted(work: Callable[[], object], ready: threading.Event, what: str) -> Findings:
    """Send Ctrl-C once ``ready``; the work must end, and no thread be left."""
    before = set(threading.enumerate())

    def send() -> None:
        ready.wait(LONG)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        work()
    except KeyboardInterrupt:
        sender.join()
        left = [thread.name for thread in threading.enumerate() if thread not in before]
        return [f"{what}: threads {left} are left"] if left else []
    sender.join()
    return [f"{what}: Ctrl-C was lost"]


@way
def interrupts(folder: Path) -> Findings:
    """Ctrl-C ends lanes and read-ahead at the next block, and leaves no thread."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a program begun in the background may ignore Ctrl-C
    os.environ["OMP_NUM_THREADS"] = "2"
    ready = threading.Event()

    def kernel(x: Any, y: Any) -> float:
        if threading.current_thread() is not threading.main_thread():
            ready.set()
        time.sleep(2e-4)
        return float(x @ y)

    findings = _interrupted(lambda: KernelPCA(2, kernel=kernel).fit(rows(1200, 3)), ready, "a kernel in lanes")

    reading = threading.Event()

    def slow() -> None:
        reading.set()
        time.sleep(0.02)

    table = outside(rows(3000, 3), slow, size=1)
    findings += _interrupted(lambda: PCA(2).fit(table), reading, "rows that are read ahead")
    if run_lanes(lambda share: share, [1, 2, 3]) != [1, 2, 3]:
        findings.append("lanes after an interrupt gave something else")
    return findings


@way
def fit_in_signal_handler(folder: Path) -> Findings:
    """A signal comes at any moment of fits in the main thread, and its handler fits.

    The next one comes some time after a handler has ended: on a slow machine handlers would interrupt each other.
    """
    X, handled = rows(3000, 20), []

    def handle(number: int, frame: Any) -> None:
        handled.append(fit().n_components_)
        if len(handled) < 25:
            signal.setitimer(signal.ITIMER_REAL, 0.013)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    findings: Findings = []
    while len(handled) < 25:
        findings += same(PCA(2, solver="krylov").fit(X), X, "krylov")
        findings += same(PCA(2, scale=False).fit(outside(X, size=500)), X, "outside memory")
    signal.signal(signal.SIGALRM, before)
    return findings


@way
def errors_in_lanes(folder: Path) -> Findings:
    """An error in a lane ends the others and shows where it came from; a cancelled fit ends all lanes."""

    def failing(share: int) -> None:
        with track("lane") as step:
            for i in range(100_000):
                step()
                if share == 0 and i == 5:
                    raise ZeroDivisionError("of lane 0")
                time.sleep(1e-3)

    findings = []
    try:
        run_lanes(failing, [0, 1, 2])
    except ZeroDivisionError as error:
        if "failing" not in [frame.name for frame in traceback.extract_tb(error.__traceback__)]:
            findings.append("the traceback does not show the function that failed")
    stops = []

    def stop(event: Any) -> bool | None:
        stops.append(event)
        return False if len(stops) == 20 else None

    def counting(share: int) -> None:
        for _ in range(100_000):
            step()
            time.sleep(1e-3)

    try:
        with track("lanes", hook=stop) as step:
            run_lanes(counting, [0, 1, 2])
        findings.append("the fit was not cancelled")
    except Cancelled:
        pass
    left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    return findings + ([f"threads {left} are left"] if left else [])


# fresh interpreters


def _program(text: str, what: str) -> Findings:
    """Run a program; it must end by itself, with status 0 and without a word on stderr."""
    try:
        done = run([sys.executable, "-c", text], quiet=40.0)
    except subprocess.TimeoutExpired as late:
        return [f"{what}: had not ended after {late.timeout:.0f} s"]
    if done.returncode or done.stderr:
        return [f"{what}: status {done.returncode}, {done.stderr.strip()[-300:]}"]
    return []


@way
def names_from_threads(folder: Path) -> Findings:
    """Eight threads that load the library for the first time all get the same objects."""
    text = """
import threading
go, found = threading.Event(), []
def load(i):
    go.wait()
    import ritz
    names = sorted(ritz.__all__, key=lambda name: hash((name, i)))
    found.append({name: getattr(ritz, name) for name in names if name not in ("plot", "testing")})
threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]
[thread.start() for thread in threads]
go.set()
[thread.join() for thread in threads]
assert len(found) == 8 and all(each[name] is found[0][name] for each in found for name in each)
"""
    return _program(text, "names from eight threads")


@way
def ends_of_interpreters(folder: Path) -> Findings:
    """The interpreter ends although an iteration that reads ahead was not; a fit at its end still works."""
    left = """
import time
from ritz.data.passes.read_ahead import ahead
def slow():
    for i in range(10**6):
        time.sleep(1e-3)
        yield i
kept = ahead(slow())
next(kept)
"""
    late = """
import atexit, numpy, sys
from ritz import PCA, read
X = numpy.random.default_rng(0).standard_normal((3000, 40))
def last():
    assert PCA(2, solver="krylov").fit(X).n_components_ == 2
    assert PCA(2).fit(read([X[:1500], X[1500:]], memory=1000)).n_components_ == 2
atexit.register(last)
"""
    return _program(left, "an iteration that was left") + _program(late, "a fit at the end")
