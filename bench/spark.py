"""Ritz beside pyspark.ml.feature.PCA on one local Spark, and what one pass costs through Spark and through Dask.

    python -m bench.spark [--rows 200000] [--columns 100] [--cores 2]
    python -m bench.spark --rates [--rows 60000]

Both get the same column of vectors, held by the same executors, and are timed in turn; the best of several runs counts.
Right or wrong is judged by NumPy: eigenvalues of the covariance, formed about the mean in float64.

    speed      rows with 10 strong directions, k = 10
    offset     rows about a mean of 1e7, where a covariance that is not formed about the mean loses its digits
    rates      one pass over float32 embeddings of 768 entries in Parquet files, by one core: rows a second of processor
               time (the JVM and its Python workers together; the worker of Dask), which other programs hardly change
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import ritz

K, WIDE = 10, 768


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=None)
    options.add_argument("--columns", type=int, default=100)
    options.add_argument("--cores", type=int, default=2)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--rates", action="store_true")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    if chosen.rates:
        rates(chosen.rows or 60_000, chosen.repeat)
        return
    with session(chosen.cores) as spark:
        n, d = chosen.rows or 200_000, chosen.columns
        beside(spark, f"{n:,} × {d:,}, k = {K}", n, d, 0.0, chosen.repeat)
        beside(spark, "offset, 20,000 × 5 about a mean of 1e7, k = 3", 20_000, 5, 1e7, 1)


@contextmanager
def session(cores: int) -> Iterator[Any]:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").appName("bench")
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g", "spark.log.level": "ERROR",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


# beside MLlib


def beside(spark: Any, title: str, n: int, d: int, mean: float, repeat: int) -> None:
    from pyspark.ml.feature import PCA
    from pyspark.ml.functions import array_to_vector

    k = min(K, d - 2)
    strength = np.concatenate([2.0 ** -np.arange(k), np.full(d - k, 1e-2)])
    rows = np.random.default_rng(0).standard_normal((n, d)) * strength + mean
    with tempfile.TemporaryDirectory() as folder:
        written(rows, Path(folder))
        frame = spark.read.parquet(folder).select(array_to_vector("e").alias("features")).persist()
        frame.count()
        print(f"{title}; {frame.rdd.getNumPartitions()} partitions, held by the executors")
        contestants: dict[str, Callable[[], Any]] = {
            "Ritz": lambda: ritz.PCA(k).fit(frame),
            "pyspark.ml": lambda: PCA(k=k, inputCol="features", outputCol="z").fit(frame),
        }
        best, found = dict.fromkeys(contestants, np.inf), {}
        for _ in range(repeat):
            for name, fit in contestants.items():
                start = time.perf_counter()
                found[name] = fit()
                best[name] = min(best[name], time.perf_counter() - start)
        frame.unpersist()
    Z = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(Z.T @ Z / (n - 1))
    values, vectors = values[::-1], vectors[:, ::-1][:, :k]
    shares = {
        "Ritz": (found["Ritz"].explained_variance_ratio_, found["Ritz"].components_.T),
        "pyspark.ml": (found["pyspark.ml"].explainedVariance.toArray(), found["pyspark.ml"].pc.toArray()),
    }
    for name, (share, axes) in shares.items():
        error = float(np.max(np.abs(share - values[:k] / values.sum())))
        sine = float(ritz.testing.largest_sine(axes, vectors))
        ratio = "" if name == "Ritz" else f"   Ritz is {best[name] / best['Ritz']:.1f}× as fast"
        print(f"  {name:12} {best[name]:7.2f} s   error of the shares {error:.1e}, of the axes {sine:.1e}{ratio}")


def written(rows: np.ndarray, folder: Path, parts: int = 8) -> None:
    """Rows as a column of lists in Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, some in enumerate(np.array_split(rows, parts)):
        ends = np.arange(0, some.size + 1, some.shape[1], dtype=np.int32)
        lists = pa.ListArray.from_arrays(ends, some.ravel())
        pq.write_table(pa.table({"e": lists}), folder / f"{i}.parquet", use_dictionary=False, compression="zstd")


# rates


def rates(n: int, repeat: int) -> None:
    rows = np.random.default_rng(0).standard_normal((n, WIDE), dtype=np.float32)
    rows *= np.float32(0.9) ** np.arange(WIDE, dtype=np.float32) + np.float32(0.01)
    with tempfile.TemporaryDirectory() as folder:
        written(rows, Path(folder))
        del rows
        print(f"one pass over {n:,} × {WIDE} float32 in Parquet: rows a second of processor time, best of {repeat}")
        for solver, what, fits in (("moments", "moment state", repeat), ("krylov", "product with a block", 1)):
            print(f"  {what:22} Spark {spark_rate(folder, n, solver, fits):10,.0f}", end="", flush=True)
            print(f"   Dask {dask_rate(folder, n, solver, fits):10,.0f}", flush=True)


class Passes:
    """The last pass of a fit: what it costs in seconds of processor time, measured by ``used``."""

    def __init__(self, blocks: Any, used: Callable[[], float]) -> None:
        self.costs: list[tuple[str, float]] = []
        inner = blocks.map_reduce

        def timed(create: Any, step: Any) -> Any:
            name, start = type(create()).__name__, used()
            total = inner(create, step)
            self.costs.append((name, used() - start))
            return total

        blocks.map_reduce = timed

    def best(self, solver: str) -> float:
        costs = [cost for name, cost in self.costs if (name == "Lane") == (solver == "krylov") and name != "_Margins"]
        return min(costs)


def spark_rate(folder: str, n: int, solver: str, repeat: int) -> float:
    from ritz.data.engines.spark.blocks import SparkBlocks

    with session(1) as spark:
        blocks = SparkBlocks(spark.read.parquet(folder))
        passes = Passes(blocks, lambda: family(int(spark.sparkContext._jvm.ProcessHandle.current().pid())))
        for _ in range(repeat):
            ritz.PCA(K, solver=solver, tol=1e-3).fit(blocks)
        return n / passes.best(solver)


def dask_rate(folder: str, n: int, solver: str, repeat: int) -> float:
    from distributed import Client, LocalCluster

    from ritz.data.engines.dask.blocks import DaskBlocks

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="4GB") as cluster,
        Client(cluster) as client,
    ):
        source, columns = ritz.read(folder, memory="300MB").source_for()
        blocks = DaskBlocks.from_source(source, client, columns)
        (worker,) = client.run(os.getpid).values()
        passes = Passes(blocks, lambda: family(worker))
        for _ in range(repeat):
            ritz.PCA(K, solver=solver, tol=1e-3).fit(blocks)
        return n / passes.best(solver)


def family(pid: int) -> float:
    """Seconds of processor time of a process and all that it began."""
    ticks, parents = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        one = int(place.parent.name)
        parents[one], ticks[one] = int(fields[1]), sum(map(int, fields[11:15]))
    kin, more = {pid}, True
    while more:
        more = {one for one, parent in parents.items() if parent in kin} - kin
        kin |= more
    return sum(ticks[one] for one in kin if one in ticks) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
