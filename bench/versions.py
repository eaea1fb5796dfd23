"""This version beside another one: ``python -m bench.versions REF [--quick] [--only NAME] [--repeat 5]``.

    ratio = best time of this tree / best time of REF, fit by fit

Both run in turns, each in a process of its own that holds the same data, so that what else the machine does falls on
both alike. REF is any commit or tag; it is checked out to a temporary folder. Processor seconds stand beside the
wall's: they bear noise better, and a pass on another thread shows there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent


def _table(n: int, d: int, dtype: str, k: int = 10, **parameters: Any) -> tuple[Any, Any]:
    """A fit of PCA to a table of clear components."""
    import numpy as np

    import ritz

    rng = np.random.default_rng(0)
    W = rng.standard_normal((20, d)) * np.sqrt(1 + 100 / np.arange(1, 21))[:, None]
    X = np.empty((n, d), dtype)
    for i in range(0, n, 10_000):
        rows = len(X[i : i + 10_000])
        X[i : i + 10_000] = rng.standard_normal((rows, 20)) @ W * 0.3 + rng.standard_normal((rows, d)) + 5
    return X, lambda: ritz.PCA(k, **parameters).fit(X)


def _file(kind: str, n: int, d: int) -> tuple[Any, Any]:
    """A fit of PCA to a file of a kind."""
    import numpy as np
    import pandas as pd

    import ritz

    X = _table(n, d, "float32")[0]
    path = Path(tempfile.mkdtemp()) / f"table.{kind}"
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(d)])
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        np.save(path, X)
    return path, lambda: ritz.PCA(5).fit(ritz.read(str(path)))


def _sparse(n: int, d: int, density: float, k: int) -> tuple[Any, Any]:
    import scipy.sparse as sp

    import ritz

    X = sp.random(n, d, density, "csr", random_state=0)
    X.data **= 4
    return X, lambda: ritz.PCA(k).fit(X)


def _kernel(n: int, d: int, dtype: str, k: int) -> tuple[Any, Any]:
    import ritz

    X = _table(n, d, dtype)[0]
    return X, lambda: ritz.KernelPCA(k, kernel="rbf", gamma=1 / (20 * d)).fit(X)


def _counts(n: int, d: int) -> tuple[Any, Any]:
    import numpy as np

    import ritz

    rng = np.random.default_rng(0)
    N = rng.poisson(rng.uniform(1, 20, (n, 1)) * rng.uniform(0.5, 2, (1, d)) * rng.uniform(0.7, 1.4, (n, d)))
    return N, lambda: ritz.CA(5).fit(N)


def _sparse_counts(n: int, d: int, entries: int) -> tuple[Any, Any]:
    import ritz
    from bench.correspondence import counts

    N = counts(n, d, entries)
    return N, lambda: ritz.CA(10).fit(N)


def _answers(n: int) -> tuple[Any, Any]:
    import ritz
    from bench.correspondence import answers

    frame = answers(n)
    return frame, lambda: ritz.MCA(5).fit(frame)


def _bench(name: str) -> tuple[Any, Any]:
    """A case of ``python -m bench``."""
    import ritz
    from bench.cases import cases
    from bench.data import make

    case = next(case for case in cases() if case.name == name)
    X = make(case)
    return X, lambda: ritz.PCA(case.k).fit(X)


def _transform(n: int, d: int) -> tuple[Any, Any]:
    X, fit = _table(n, d, "float32")
    model = fit()
    return X, lambda: model.transform(X)


#: Name to what makes the data and the work, in full and for ``--quick``.
CASES: dict[str, tuple[Any, tuple[Any, ...], Any, tuple[Any, ...]]] = {
    "pca-150x4-f64": (_table, (150, 4, "float64", 2), _table, (150, 4, "float64", 2)),
    "pca-1000x20-f64": (_table, (1_000, 20, "float64", 2), _table, (1_000, 20, "float64", 2)),
    "pca-10000x100-f64": (_table, (10_000, 100, "float64"), _table, (10_000, 100, "float64")),
    "pca-1000000x100-f32": (_bench, ("signal-1000000x100-f32",), _table, (20_000, 50, "float32")),
    "pca-1000000x100-f64": (_bench, ("signal-1000000x100-f64",), _table, (20_000, 50, "float64")),
    "pca-200000x784-f32": (_bench, ("signal-200000x784-f32",), _table, (5_000, 200, "float32")),
    "pca-20000x5000-f32": (_bench, ("signal-20000x5000-f32",), _table, (1_000, 400, "float32")),
    "pca-5000x5000-f64": (_bench, ("signal-5000x5000-f64",), _table, (500, 500, "float64")),
    "pca-2000x50000-f32": (_bench, ("signal-2000x50000-f32",), _table, (200, 2_000, "float32")),
    "pca-slow-10000x4000-f32": (_bench, ("slow-10000x4000-f32",), _table, (800, 600, "float32")),
    "transform-200000x784-f32": (_transform, (200_000, 784), _transform, (5_000, 100)),
    "sparse-100000x3000": (_sparse, (100_000, 3_000, 0.01, 10), _sparse, (5_000, 300, 0.01, 5)),
    "csv-200000x20": (_file, ("csv", 200_000, 20), _file, ("csv", 5_000, 10)),
    "parquet-1000000x20": (_file, ("parquet", 1_000_000, 20), _file, ("parquet", 20_000, 10)),
    "npy-1000000x100": (_file, ("npy", 1_000_000, 100), _file, ("npy", 20_000, 20)),
    "kernel-1000-f64": (_kernel, (1_000, 20, "float64", 10), _kernel, (300, 20, "float64", 5)),
    "kernel-4000-f64": (_kernel, (4_000, 50, "float64", 20), _kernel, (600, 20, "float64", 5)),
    "kernel-10000-f32": (_kernel, (10_000, 256, "float32", 50), _kernel, (800, 20, "float32", 5)),
    "ca-300x200": (_counts, (300, 200), _counts, (300, 200)),
    "ca-20000x100": (_counts, (20_000, 100), _counts, (2_000, 50)),
    "ca-sparse-20000x5000": (_sparse_counts, (20_000, 5_000, 1_000_000), _sparse_counts, (1_000, 300, 10_000)),
    "mca-200000x20": (_answers, (200_000,), _answers, (2_000,)),
}  # fmt: skip


def _serve(name: str, quick: bool) -> None:
    """Do the work of a case whenever a line comes, and answer with its seconds."""
    maker, given = CASES[name][2:] if quick else CASES[name][:2]
    held, work = maker(*given)
    work()
    print(json.dumps({"ready": type(held).__name__}), flush=True)
    for _ in sys.stdin:
        wall, processor, runs = time.perf_counter(), time.process_time(), 0
        while runs == 0 or time.perf_counter() - wall < 0.2:  # short work many times: one run is all noise
            work()
            runs += 1
        seconds = [(time.perf_counter() - wall) / runs, (time.process_time() - processor) / runs]
        print(json.dumps(seconds), flush=True)


def _start(tree: Path, name: str, quick: bool) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", "bench.versions", "--serve", name, *(["--quick"] if quick else [])]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT)])}
    return subprocess.Popen(command, env=here, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ask(worker: subprocess.Popen[str], line: str | None = "go\n") -> Any:
    assert worker.stdin is not None
    assert worker.stdout is not None
    if line is not None:
        worker.stdin.write(line)
        worker.stdin.flush()
    answer = worker.stdout.readline()
    if not answer:
        raise SystemExit("a version ended before it answered; its error stands above")
    return json.loads(answer)


def _compare(name: str, trees: tuple[Path, Path], quick: bool, repeat: int) -> list[list[float]]:
    """Best wall and processor seconds of both trees."""
    workers = [_start(tree, name, quick) for tree in trees]
    try:
        for worker in workers:
            _ask(worker, None)
        times = [[_ask(worker) for worker in workers] for _ in range(repeat)]
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    return [[min(turn[i][j] for turn in times) for j in range(2)] for i in range(2)]


def main(arguments: list[str] | None = None) -> None:
    """Print a line for every case and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ref", nargs="?", default="HEAD~1", help="commit or tag to compare with")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        _serve(given.serve, given.quick)
        return
    names = [name for name in CASES if not given.only or given.only in name]
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        subprocess.run(["git", "worktree", "add", "--detach", "-q", str(other), given.ref], cwd=ROOT, check=True)
        try:
            product, count = 1.0, 0
            print(f"{'case':28}{'this':>10}{given.ref[:10]:>12}{'ratio':>8}{'processor':>12}", flush=True)
            for name in names:
                (mine, own), (theirs, before) = _compare(name, (ROOT, other), given.quick, given.repeat)
                product, count = product * mine / theirs, count + 1
                row = f"{name:28}{mine * 1e3:8.2f}ms{theirs * 1e3:10.2f}ms{mine / theirs:8.3f}{own / before:12.3f}"
                print(row, flush=True)
            if count:
                print(f"{'geometric mean':28}{product ** (1 / count):30.3f}")
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=False)


if __name__ == "__main__":
    main()
