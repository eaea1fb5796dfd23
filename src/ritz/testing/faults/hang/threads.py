"""Ways to hang: fits beside fits, in threads, in children of a process, and in both."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.threads import run_lanes, single_threaded_blas
from ritz.methods.correspondence.ca.ca import CA
from ritz.methods.kernel_pca.kernel_pca import KernelPCA
from ritz.methods.pca import PCA
from ritz.testing.faults.hang.ways import LONG, Findings, fit, outside, rows, same, way

__all__: list[str] = []


@way
def small_beside_large(folder: Path) -> Findings:
    """Eight threads fit small tables of every kind while a large fit is held up in the middle of its pass."""
    inside, finished, late = threading.Event(), threading.Event(), []
    X = rows(400, 8)

    def hold() -> None:
        inside.set()
        if not finished.wait(LONG):
            late.append("small fits waited for the large one")

    counts = np.random.default_rng(0).integers(1, 9, (12, 6))
    small: list[Callable[[], Any]] = [
        fit,
        lambda: fit(scale=True),
        lambda: PCA(0.9).fit(X),
        lambda: PCA("parallel").fit(X),
        lambda: KernelPCA(2, kernel="rbf").fit(X[:50]),
        lambda: CA(2).fit(counts),
        lambda: PCA(2).fit(outside(X)).transform(X),
        lambda: PCA(2).partial_fit(X).components_,
    ]
    table = outside(X, hold)
    large = threading.Thread(target=lambda: PCA(2, scale=True, progress=False).fit(table), daemon=True)
    large.start()
    if not inside.wait(LONG):
        return ["the large fit did not begin"]
    threads = [threading.Thread(target=each, daemon=True) for each in small]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    stuck = sum(thread.is_alive() for thread in threads)
    finished.set()
    large.join(LONG)
    return late + ([f"{stuck} of {len(small)} small fits waited for the large one"] if stuck else [])


def _child(work: Callable[[], object]) -> Callable[[], int | None]:
    """Fork a child that works; the function waits for it: its status, or None where it hangs."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)

    def wait() -> int | None:
        limit = time.monotonic() + LONG
        while time.monotonic() < limit:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None

    return wait


def _ended(status: int | None, what: str) -> Findings:
    return [] if status == 0 else [f"{what} {'hangs' if status is None else f'ends with status {status}'}"]


@way
def fork_beside_fits(folder: Path) -> Findings:
    """Children forked at any moment while other threads fit can fit themselves."""
    X, end = rows(3000, 40), threading.Event()

    def keep_fitting() -> None:
        while not end.is_set():
            PCA(2, solver="krylov", progress=False).fit(X)
            PCA(2, scale=True, progress=False).fit(outside(X, size=500))

    threads = [threading.Thread(target=keep_fitting, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()

    def work() -> None:
        PCA(2, solver="krylov").fit(X)
        PCA(2, scale=True).fit(outside(X, size=500))

    findings: Findings = []
    for _ in range(12):
        time.sleep(0.03)
        findings += _ended(_child(work)(), "a child forked beside running fits")
    end.set()
    for thread in threads:
        thread.join(30)
    return sorted(set(findings))


@way
def fork_in_progress(folder: Path) -> Findings:
    """A child forked by a function that watches the progress, or by a pool in it, can fit; so can the parent."""
    X = rows(400, 8)
    statuses: list[int | None] = []

    def watch(event: Any) -> None:
        if not statuses:
            statuses.append(_child(fit)())
            with multiprocessing.get_context("fork").Pool(1) as pool:
                answer = pool.apply_async(_components)
                try:
                    statuses.append(0 if answer.get(20) == 2 else 1)
                except multiprocessing.TimeoutError:
                    statuses.append(None)

    model = PCA(2, scale=True, progress=watch).fit(outside(X))
    if model.n_components_ != 2:
        return ["another number of components"]
    return [finding for status in statuses for finding in _ended(status, "a child forked in a progress function")]


def _components() -> int:
    return int(fit().n_components_)


@way
def fork_after_lanes(folder: Path) -> Findings:
    """A child forked after lanes, read-ahead and BLAS limits were used can use them."""
    run_lanes(fit, [50, 60, 70])
    PCA(2).fit(outside(rows(400, 8)))

    def work() -> None:
        run_lanes(fit, [50, 60, 70])
        PCA(2).fit(outside(rows(400, 8)))

    findings = _ended(_child(work)(), "a child forked after lanes")
    with single_threaded_blas():
        return findings + _ended(_child(work)(), "a child forked inside a scope of one thread")


@way
def searches(folder: Path) -> Findings:
    """Grid searches in threads and in processes, with pipelines, end."""
    import joblib  # type: ignore[import-untyped]
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = rows(120, 6)
    findings = []
    for backend in ("threading", "loky"):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), PCA()),
            {"pca__n_components": [1, 3]},
            n_jobs=2,
            cv=2,
            error_score="raise",
        )
        with joblib.parallel_backend(backend):
            search.fit(X)
        if search.best_estimator_[-1].n_components_ != search.best_params_["pca__n_components"]:
            findings.append(f"{backend}: another number of components")
    return findings


@way
def partial_fits(folder: Path) -> Findings:
    """Rows added from several threads are all there, and reading results meanwhile does no harm."""
    X = rows(1600, 6)
    model = PCA(2, progress=False)
    parts = [X[i::16] for i in range(16)]
    errors: list[BaseException] = []

    def add(some: list[Any]) -> None:
        try:
            for batch in some:
                model.partial_fit(batch)
                if model.n_samples_ < len(batch):
                    raise ValueError("fewer rows than were just added")
        except BaseException as error:  # noqa: BLE001 (told below)
            errors.append(error)

    threads = [threading.Thread(target=add, args=(parts[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        return [f"partial_fit in threads: {type(errors[0]).__name__}: {errors[0]}"]
    if model.n_samples_ != len(X):
        return [f"{model.n_samples_} of {len(X)} rows are left"]
    return same(model, X, "partial_fit in threads")
