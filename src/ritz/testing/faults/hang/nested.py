"""Ways to hang: a fit inside a fit, called by a function of the user that the outer one calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import RitzError
from ritz._core.journal import journaling
from ritz.methods.kernel_pca.kernel_pca import KernelPCA
from ritz.methods.pca import PCA
from ritz.testing.faults.hang.ways import LONG, Batches, Findings, fit, outside, rows, same, way

__all__: list[str] = []


@way
def fit_in_progress(folder: Path) -> Findings:
    """A function that watches the progress fits models, of every kind of route."""
    X, calls, findings = rows(400, 8), [], []

    def watch(event: Any) -> None:
        calls.append(event)
        fit()
        PCA(0.9, scale=True).fit(X)
        PCA(2).fit(outside(X))

    routes = {
        "outside memory": lambda: PCA(2, progress=watch).fit(outside(X)),
        "krylov": lambda: PCA(2, solver="krylov", progress=watch).fit(X),
        "lanczos": lambda: PCA(2, solver="lanczos", progress=watch).fit(X),
    }
    for name, made in routes.items():
        calls.clear()
        findings += same(made(), X, name)
        if not calls:
            findings.append(f"{name}: the function was never called")
    KernelPCA(2, kernel="rbf", solver="lanczos", progress=watch).fit(X)
    return findings


@way
def fit_in_kernel(folder: Path) -> Findings:
    """A kernel that is a function fits a model."""

    def kernel(x: Any, y: Any) -> float:
        return float(x @ y) + 0.0 * fit().n_components_

    X = rows(12, 3)
    model = KernelPCA(2, kernel=kernel).fit(X)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:2] ** 2
    return [] if np.allclose(model.eigenvalues_, values, rtol=1e-6) else ["another spectrum"]


@way
def fit_in_rows(folder: Path) -> Findings:
    """An iterator of rows, and an object that becomes weights, fit models when they are asked."""

    class Weights:
        def __len__(self) -> int:
            return 400

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(400, dtype) * fit().n_components_ / 2

    X = rows(400, 8)
    findings = same(PCA(2).fit(outside(X, fit)), X, "batches")
    findings += same(PCA(2).fit(iter(Batches(X, fit))), X, "an iterator")
    return findings + same(PCA(2).fit(X, sample_weight=Weights()), X, "weights")


@way
def fit_in_journal(folder: Path) -> Findings:
    """A fit inside one that keeps a journal leaves the journal alone."""
    X, passes = rows(400, 8), []

    def watch(event: Any) -> None:
        PCA(2, progress=False).fit(outside(rows(100, 3)))

    for progress in (False, watch):
        with journaling(folder / "journal", {"of": "this fit"}) as journal:
            PCA(2, progress=progress, solver="krylov").fit(outside(X))
        passes.append(journal._pass)
    return [] if passes[0] == passes[1] else [f"{passes[1] + 1} passes in the journal instead of {passes[0] + 1}"]


def _lazy(X: Any, inside: Callable[[], object]) -> Any:
    import dask
    import dask.array as da

    def block(start: int) -> Any:
        inside()
        return X[start : start + 100]

    parts = [da.from_delayed(dask.delayed(block)(i), (100, X.shape[1]), X.dtype) for i in range(0, len(X), 100)]
    return da.concatenate(parts)


@way
def fit_in_dask_threads(folder: Path) -> Findings:
    """Tasks of a collection fit models, plain ones and ones of a collection, while the collection is fitted."""
    import dask

    X = rows(400, 8)
    inner = _lazy(rows(200, 4), lambda: None)
    findings = []
    for name, inside in (("a table", fit), ("a collection", lambda: PCA(2).fit(inner))):
        with dask.config.set(scheduler="threads", num_workers=2):
            findings += same(PCA(2).fit(_lazy(X, inside)), X, f"{name} in a task")
    return findings


@way
def fit_in_dask_cluster(folder: Path) -> Findings:
    """The same on a cluster inside this process, whose only worker has one thread."""
    try:
        from distributed import Client
    except ImportError:
        return []
    X, inner = rows(400, 8), rows(200, 4)

    def nested() -> None:
        PCA(2).fit(_lazy(inner, lambda: None))

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        findings = same(PCA(2).fit(_lazy(X, fit)), X, "a table in a task")
        findings += same(PCA(2).fit(_lazy(X, nested)), X, "a collection in a task")
        done = client.submit(nested, pure=False)
        findings += [] if done.result(timeout=LONG) is None else ["a task that fits a collection did not end"]
    return findings


@way
def results_in_progress(folder: Path) -> Findings:
    """A function that watches a fit reads what the model holds, or adds rows to it: an answer or an error, no hang."""
    X = rows(400, 8)
    seen: list[Any] = []

    def watch(event: Any) -> None:
        seen.extend(getattr(model, name, None) for name in ("components_", "n_samples_", "certificate_"))
        repr(model)
        try:
            model.partial_fit(X)
        except RitzError:
            seen.append("refused")

    model = PCA(2, solver="lanczos", progress=watch)
    model.fit(outside(X))
    model.partial_fit(X)
    seen.clear()
    components = model.components_
    if not seen:
        return ["the function was never called"]
    return [] if components.shape == (2, 8) else ["another shape"]
