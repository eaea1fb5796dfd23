"""Ritz beside dask-ml's PCA on one local Dask cluster.

    python -m bench.dask [--rows 400000] [--columns 200] [--workers 3]

Both get the same array, already held by the workers of the same cluster, and are timed in turn; the best of several
runs counts. Right or wrong is judged by NumPy: eigenvalues of the covariance, formed about the mean in float64.

    speed      rows with 10 strong directions, k = 10, float64; dask-ml with its default and with its exact solver
    D4         white noise: the leading variances of dask-ml's default stay far below the truth
    offset     float32 rows about a mean of 1e6, where means summed in float32 are off by more than the spread
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import ritz
from ritz.data.engines.dask.blocks import DaskBlocks

K = 10


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=400_000)
    options.add_argument("--columns", type=int, default=200)
    options.add_argument("--workers", type=int, default=3)
    options.add_argument("--repeat", type=int, default=3)
    chosen = options.parse_args()

    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore", UserWarning)
    with (
        LocalCluster(chosen.workers, threads_per_worker=1, dashboard_address=":0", memory_limit="3GB") as cluster,
        Client(cluster),
    ):
        speed(chosen.rows, chosen.columns, chosen.repeat)
        white_noise()
        offset()


def speed(n: int, d: int, repeat: int) -> None:
    import dask.array as da
    from distributed import wait

    chunk = max(1, n // 16)
    strength = np.concatenate([2.0 ** -np.arange(K), np.full(d - K, 1e-3)]) if d > K else np.ones(d)
    X = (da.random.default_rng(0).standard_normal((n, d), chunks=(chunk, d)) * strength).persist()
    wait(X)
    print(f"{n:,} × {d:,} float64 in {X.numblocks[0]} chunks, held by the workers; k = {K}")
    contestants: dict[str, Callable[[], Any]] = {"Ritz": lambda: ritz.PCA(K).fit(DaskBlocks(X))}
    contestants |= {f"dask-ml, svd_solver={solver!r}": _dask_ml(X, solver) for solver in ("auto", "full")}
    truth = _truth(X.compute())
    times: dict[str, list[float]] = {name: [] for name in contestants}
    errors: dict[str, float] = {}
    for _ in range(repeat):
        for name, fit in contestants.items():
            start = time.perf_counter()
            model = fit()
            times[name].append(time.perf_counter() - start)
            errors[name] = float(np.max(np.abs(model.explained_variance_ - truth[:K])) / truth[0])
    best = {name: min(seconds) for name, seconds in times.items()}
    for name, seconds in best.items():
        ratio = "" if name == "Ritz" else f"   Ritz is {seconds / best['Ritz']:.1f}× as fast"
        print(f"  {name:32} {seconds:7.2f} s   error {errors[name]:.1e}·λ₁{ratio}")


def white_noise() -> None:
    """D4 of the peers' defects: the hardest case for few random vectors and no iterations."""
    import dask.array as da

    rows = np.random.default_rng(1).standard_normal((1200, 600))
    _beside(
        "D4, white noise 1,200 × 600, top 5 variances as a share of the truth", rows, da.from_array(rows, (300, 600))
    )


def offset() -> None:
    import dask.array as da

    wide = np.random.default_rng(2).standard_normal((20_000, 5)) * [5, 4, 3, 2, 1] + 1e6
    rows = wide.astype(np.float32)
    title = "offset, 20,000 × 5 float32 about a mean of 1e6, variances as a share of the truth"
    _beside(title, rows, da.from_array(rows, (5_000, 5)))


def _beside(title: str, rows: np.ndarray, X: Any) -> None:
    k, truth = 5, _truth(rows)
    print(title)
    fits = {"Ritz": ritz.PCA(k).fit(DaskBlocks(X)), "dask-ml": _dask_ml(X, "auto", k)()}
    for name, model in fits.items():
        print(f"  {name:32} " + " ".join(f"{share:.6f}" for share in model.explained_variance_ / truth[:k]))


def _dask_ml(X: Any, solver: str, k: int = K) -> Callable[[], Any]:
    from dask_ml.decomposition import PCA

    return lambda: PCA(n_components=k, svd_solver=solver, random_state=0).fit(X)


def _truth(rows: np.ndarray) -> np.ndarray:
    """Variances of the principal components, decreasing."""
    rows = rows.astype(np.float64, copy=False)
    Z = rows - rows.mean(axis=0)
    return np.linalg.eigvalsh(Z.T @ Z / (len(Z) - 1))[::-1]


if __name__ == "__main__":
    main()
