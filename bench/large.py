"""Ten million embeddings: ``python -m bench.large [--rows N] [--memory 2GB] [--keep]``.

    10,000,000×768 float16, made block by block   →   ritz fit -k 128   →   ritz transform to scores.npy

15 GB of rows and 5 GB of scores on disk; fewer rows where that does not fit. Also here, for ``bench/stream.py``: making
large files, running the program and measuring what it adds to resident memory, steps in processes of their own.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["bytes_read", "fit", "make", "make_parquet", "program", "room", "row_blocks", "scratch", "step"]

ROOT = Path(__file__).resolve().parent.parent
SEED, ROWS, RANK = 20240607, 4096, 100
#: Free bytes that a file must leave, in units of its own.
SPARE = 3.0

# steps in processes of their own

RUN = "import importlib, json, sys; module, name, options = sys.argv[1:]; \
print(json.dumps(getattr(importlib.import_module(module), name)(**json.loads(options))))"


def step(function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """``function(**options)`` in a process of its own; both ways as JSON."""
    module = getattr(sys.modules[function.__module__], "__spec__").name  # noqa: B009 (also right for __main__)
    command = [sys.executable, "-c", RUN, module, function.__name__, json.dumps(options, default=str)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{function.__name__} {options} failed:\n{done.stdout}{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@contextmanager
def scratch(keep: bool = False) -> Iterator[Path]:
    """A folder for large files: in ``TMPDIR``, else under ``build/``."""
    above = Path(os.environ.get("TMPDIR") or ROOT / "build")
    above.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="ritz-bench-", dir=above))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def room(folder: Path, size: float, spare: float = SPARE) -> str | None:
    """Why a file of ``size`` bytes is not written, or None."""
    free = shutil.disk_usage(folder).free
    return None if free >= spare * size else f"needs {spare * size / 1e9:.1f} GB of disk, {free / 1e9:.1f} GB are free"


# large files


def row_blocks(columns: int, dtype: str, mean: float = 5.0) -> Callable[[int, int], np.ndarray]:
    """Rows of block ``i``: RANK components with variances 1 + 100/j, unit noise, column means of size ``mean``.

    A block depends on its number alone, so a shorter file is the beginning of a longer one.
    """
    kind = np.dtype(np.float64 if dtype == "float64" else np.float32)
    rng = np.random.default_rng([SEED, columns])
    rank = min(RANK, columns // 2)
    V, _ = np.linalg.qr(rng.standard_normal((columns, rank)))
    mix = (np.sqrt(1 + 100 / np.arange(1, rank + 1))[:, None] * V.T).astype(kind)
    centre = (mean * rng.standard_normal(columns)).astype(kind)

    def block(i: int, count: int) -> np.ndarray:
        generator = np.random.default_rng([SEED, columns, i])
        Z = generator.standard_normal((ROWS, columns), dtype=kind)[:count]
        Z += (generator.standard_normal((ROWS, rank), dtype=kind) @ mix)[:count]
        Z += centre
        return Z.astype(dtype, copy=False)

    return block


def make(path: str, rows: int, columns: int, dtype: str, mean: float = 5.0) -> dict[str, Any]:
    """An array file, written by two threads block by block; never more than a few blocks in memory."""
    from numpy.lib import format as npy
    from threadpoolctl import threadpool_limits

    block, begin = row_blocks(columns, dtype, mean), time.perf_counter()
    head = io.BytesIO()
    fields = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (rows, columns)}
    npy.write_array_header_1_0(head, fields)
    width = columns * np.dtype(dtype).itemsize
    with open(path, "wb", buffering=0) as file:
        file.write(head.getvalue())

        def work(start: int) -> None:
            view = memoryview(block(start // ROWS, min(ROWS, rows - start))).cast("B")
            at = len(head.getvalue()) + start * width
            while view:
                done = os.pwrite(file.fileno(), view, at)
                view, at = view[done:], at + done

        with threadpool_limits(1), ThreadPoolExecutor(2) as pool:
            for _ in pool.map(work, range(0, rows, ROWS)):
                pass
    return {"seconds": time.perf_counter() - begin, "bytes": rows * width}


def make_parquet(path: str, kind: str, groups: int, group: int, columns: int) -> dict[str, Any]:
    """Row groups of the same rows: a column for every number, or one column of lists."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    block, writer = row_blocks(columns, "float32"), None
    pieces = -(-group // ROWS)
    for g in range(groups):
        rows = np.concatenate([block(g * pieces + i, min(ROWS, group - i * ROWS)) for i in range(pieces)])
        if kind == "embedding":
            chunk = pa.table({"emb": pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), columns)})
        else:
            chunk = pa.table({f"x{j}": rows[:, j] for j in range(columns)})
        writer = writer or pq.ParquetWriter(path, chunk.schema)
        writer.write_table(chunk, row_group_size=group)
    if writer is not None:
        writer.close()
    return {"bytes": Path(path).stat().st_size}


# the program


def program(words: list[str], limit: str) -> dict[str, Any]:
    """``ritz WORDS`` with everything imported before: seconds, resident memory added, bytes read."""
    for name in ("ritz.cli.fitting.job", "pyarrow.csv", "pyarrow.parquet", "scipy.linalg", "sklearn.base"):
        importlib.import_module(name)
    from bench.busy import Neighbours
    from bench.worker import _reset_peak, _status
    from ritz._core.memory import limit as size_of
    from ritz.cli.main import app

    out = io.StringIO()
    before, exact = _reset_peak()
    read, others, begin, cpu = bytes_read(), Neighbours(), time.perf_counter(), time.process_time()
    with redirect_stdout(out):
        try:
            app(words)
        except SystemExit as end:
            if end.code:
                raise
    seconds = time.perf_counter() - begin
    return {
        "seconds": seconds,
        "cpu": time.process_time() - cpu,
        "added": _status("VmHWM") - before if exact else None,
        "limit": size_of(limit),
        "read": None if read is None else bytes_read() - read,
        "others": others.cores(),
        "facts": json.loads(out.getvalue()),
    }


def bytes_read() -> Any:
    """Bytes that this process has asked the system for (Linux; None elsewhere)."""
    try:
        return int(Path("/proc/self/io").read_text().split()[1])
    except OSError:
        return None


def fit(path: Path, output: Path, k: int, limit: str) -> dict[str, Any]:
    """``ritz fit`` without scores: what :func:`program` tells, variances, passes, the widest relative enclosure."""
    words = ["fit", str(path), "-k", str(k), "--no-scale", "--scores", "none", "--memory", limit, "-o", str(output)]
    run = step(program, words=[*words, "--force", "--json"], limit=limit)
    facts = run.pop("facts")
    values = [one["variance"] for one in facts["components"]]
    widths = [one["variance_error"] / one["variance"] for one in facts["components"]]
    plan = facts["plan"]
    route = f"{plan['solver']}, {plan['precision']}"
    return {**run, "variances": values, "passes": plan["passes"], "route": route, "enclosure": max(widths)}


# ten million embeddings


def measure(folder: Path, rows: int, columns: int, k: int, limit: str) -> list[str]:
    """Make, fit, transform; what is printed."""
    path, scores = folder / "embeddings.npy", folder / "scores.npy"
    made = step(make, path=path, rows=rows, columns=columns, dtype="float16", mean=0.5)
    size = made["bytes"]
    print(f"{rows:,}×{columns} float16, {size / 1e9:.2f} GB, made in {made['seconds']:.1f} s", flush=True)
    fitted = fit(path, folder / "fit", k, limit)
    lines = [f"{'':<16} {'seconds':>8} {'rows/s':>10} {'passes':>7} {'bytes read':>11} {'added':>9} {'limit':>9}"]
    lines.append(_line("ritz fit", fitted, rows, size, str(fitted["passes"])))
    print(*lines, sep="\n", flush=True)
    words = ["transform", str(folder / "fit" / "model.ritz"), str(path), "-o", str(scores), "--memory", limit, "--json"]
    moved = step(program, words=words, limit=limit)
    lines.append(_line("ritz transform", moved, rows, size, "1"))
    print(lines[-1], flush=True)
    values = fitted["variances"]
    told = [
        f"fit: {fitted['route']}; largest enclosure {fitted['enclosure']:.1e} of its eigenvalue, "
        f"λ₁ {values[0]:.6g}, λ_{k} {values[-1]:.6g}",
        f"transform: {scores.stat().st_size / 1e9:.2f} GB of scores, {_spread(scores, values):.1e} largest relative "
        "difference between a score's variance and its eigenvalue",
    ]
    print(*told, sep="\n")
    return lines + told


def _line(name: str, run: dict[str, Any], rows: int, size: float, passes: str) -> str:
    from bench.busy import BUSY

    added = "?" if run["added"] is None else f"{run['added'] / 1e6:.0f} MB"
    read = "?" if run["read"] is None else f"{run['read'] / size:.2f}×"
    busy = f"  busy: others {run['others']:.1f} cores" if run["others"] > BUSY else ""
    return (
        f"{name:<16} {run['seconds']:>8.1f} {rows / run['seconds']:>10,.0f} {passes:>7} {read:>11} "
        f"{added:>9} {run['limit'] / 1e6:>6.0f} MB{busy}"
    )


def _spread(scores: Path, values: list[float]) -> float:
    """Scores must have the variances that the fit told: both passes saw the same rows."""
    Z = np.load(scores, mmap_mode="r")
    n, total, squares = len(Z), 0.0, 0.0
    for start in range(0, n, 1 << 16):
        part = Z[start : start + (1 << 16)].astype(np.float64)
        total, squares = total + part.sum(axis=0), squares + np.einsum("ij,ij->j", part, part)
    variances = (squares - total * total / n) / (n - 1)
    return float(np.max(np.abs(variances / np.asarray(values) - 1)))


def main(arguments: list[str] | None = None) -> int:
    """Run; the exit status is 0 when everything ran."""
    parser = argparse.ArgumentParser(prog="python -m bench.large", description="Ten million embeddings.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=768)
    parser.add_argument("-k", type=int, default=128)
    parser.add_argument("--memory", default="2GB", help="limit of both commands")
    parser.add_argument("--keep", action="store_true", help="leave the files where they are")
    chosen = parser.parse_args(arguments)
    with scratch(chosen.keep) as folder:
        row = 2 * chosen.columns + 4 * chosen.k  # on disk: the row, and its scores
        rows = min(chosen.rows, int(0.9 * shutil.disk_usage(folder).free / row))
        if rows < chosen.rows:
            print(f"{rows:,} of {chosen.rows:,} rows: {room(folder, chosen.rows * row / 0.9, 1)}")
        measure(folder, rows, chosen.columns, chosen.k, chosen.memory)
        if chosen.keep:
            print(f"kept: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
