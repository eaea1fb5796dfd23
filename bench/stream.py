"""Tables larger than memory, from files: ``python -m bench.stream [--quick] [--only NAME]``.

    memory        a 4 GB array file fitted within 500 MB by the program: peak resident memory, and the right numbers
    npy           throughput from a warm array file beside the fit of the same array in memory
    parquet       throughput from a warm Parquet file beside merely reading it into row-major blocks
    csv           ``ritz.read`` and a fit of a warm CSV file beside pyarrow's parser alone
    incremental   scikit-learn's IncrementalPCA on the same file: seconds and errors
    added         batch by batch with ``partial_fit``: IncrementalPCA, faiss and gensim beside it (``bench/added.py``)
    dask          dask-ml on the same local cluster (``bench/dask.py``)

Every measurement runs in a process of its own, best of several. A line of the table at the end says what was asked for
and whether it was reached.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bench.added import CASES, QUICK_CASES, added_times
from bench.busy import BUSY
from bench.large import ROWS, bytes_read, fit, make, make_parquet, room, row_blocks, scratch, step
from bench.worker import _Timed

__all__ = ["Line", "Sizes", "lines_of", "main", "table"]

ROOT = Path(__file__).resolve().parent.parent
#: Agreement with a float64 truth that is asked of float64 data, in units of λ₁.
AGREE = 1e-10
#: Rows that the plain reader of Parquet handles at a time: no size from 256 to 16,384 was faster by more than 5 %.
TILE = 4096


@dataclass(frozen=True)
class Sizes:
    """Rows of the files, memory limits and repetitions."""

    rows: int = 1_400_000
    memory: str = "500MB"
    rows64: int = 200_000
    memory64: str = "500MB"
    warm: int = 600_000
    parquet: str = "1GB"
    groups: int = 12
    group: int = 32_768
    slow: int = 200_000
    csv: int = 200_000
    columns: int = 768
    few: int = 100  # columns of the narrow Parquet file, with rows for about the same bytes
    k: int = 50
    repeat: int = 3
    dask: int = 400_000


QUICK = Sizes(
    rows=100_000, memory="150MB", rows64=20_000, memory64="100MB", warm=60_000, parquet="300MB",
    groups=4, group=8192, slow=20_000, csv=20_000, repeat=2, dask=40_000,
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of the table; ``reached`` is None where nothing is asked for."""

    what: str
    measured: str
    target: str = ""
    reached: bool | None = None

    def __str__(self) -> str:
        verdict = {None: "", True: "reached", False: "MISSED"}[self.reached]
        return f"{self.what:<52} {self.measured:<66} {self.target:<16} {verdict}".rstrip()


# measurements


def memory(sizes: Sizes, folder: Path) -> list[Line]:
    """A file that the limit does not hold, by the program itself; then float64 rows against the truth."""
    lines = []
    for dtype, rows, limit in (("float32", sizes.rows, sizes.memory), ("float64", sizes.rows64, sizes.memory64)):
        path = folder / f"{dtype}.npy"
        size = rows * sizes.columns * (4 if dtype == "float32" else 8)
        what = f"ritz fit --memory {limit}, {rows:,}×{sizes.columns} {dtype}"
        if reason := room(folder, size):
            lines.append(Line(what, f"skipped: {reason}"))
            continue
        step(make, path=path, rows=rows, columns=sizes.columns, dtype=dtype)
        runs = [fit(path, folder / "fit", sizes.k, limit) for _ in range(sizes.repeat)]
        best = min(runs, key=lambda run: run["seconds"])
        added, allowed = max(run["added"] for run in runs), best["limit"]
        error = step(truth, path=path, k=sizes.k, found=best["variances"])["error"]
        path.unlink()
        told = f"{size / 1e9:.2f} GB in {best['seconds']:.1f} s, {best['passes']} pass, {_read(best, size)}"
        lines += [
            Line(what, told + _busy(best)),
            Line("  resident memory added", _share(added, allowed), "≤ 1.00", added <= allowed),
            _error("  eigenvalues beside a float64 truth", error, AGREE if dtype == "float64" else None),
        ]
    return lines


def npy(sizes: Sizes, folder: Path) -> list[Line]:
    """A warm array file beside the same array in memory."""
    path, n = folder / "warm.npy", sizes.warm
    what = f".npy {n:,}×{sizes.columns} float32, k={sizes.k}"
    if reason := room(folder, n * sizes.columns * 4):
        return [Line(what, f"skipped: {reason}")]
    step(make, path=path, rows=n, columns=sizes.columns, dtype="float32")
    run = step(npy_times, path=path, k=sizes.k, memory=sizes.memory, repeat=sizes.repeat)
    path.unlink()
    file, held = run["file"]["wall"], run["memory"]["wall"]
    told = f"file {n / file:,.0f} rows/s ({file:.2f} s), memory {n / held:,.0f} ({held:.2f} s): {held / file:.2f}"
    return [
        Line(what, told + _busy(run), "≥ 0.70", held / file >= 0.7),
        Line("  route", f"file {run['file_route']}; memory {run['memory_route']}"),
        Line("  processor seconds", f"file {run['file']['cpu']:.2f}, memory {run['memory']['cpu']:.2f}"),
        _error("  eigenvalues, file beside memory", run["difference"]),
    ]


def parquet(sizes: Sizes, folder: Path) -> list[Line]:
    """A warm Parquet file beside merely reading it, for columns of numbers and for an embedding column."""
    lines = []
    wide, narrow = sizes.columns, sizes.few
    for kind, d in (("columns", wide), ("columns", narrow), ("embedding", wide)):
        group = sizes.group * wide // d
        n = sizes.groups * group
        target = 0.5 if kind == "embedding" else 0.8
        what = f"Parquet {n:,}×{d} float32, " + ("an embedding column" if kind == "embedding" else "scalar columns")
        if reason := room(folder, n * d * 4):
            lines.append(Line(what, f"skipped: {reason}"))
            continue
        path = folder / f"{kind}.parquet"
        step(make_parquet, path=path, kind=kind, groups=sizes.groups, group=group, columns=d)
        run = step(
            parquet_times, path=path, kind=kind, k=min(sizes.k, d // 2), memory=sizes.parquet, repeat=sizes.repeat
        )
        path.unlink()
        fit, plain = run["fit"]["wall"], run["plain"]["wall"]
        told = f"fit {n / fit:,.0f} rows/s ({fit:.2f} s), reading {n / plain:,.0f} ({plain:.2f} s): {plain / fit:.2f}"
        sum_of = f"sums alone {run['sums']['wall']:.2f} s: reading and sums after each other "
        lines += [
            Line(what, f"{told}{_busy(run)}", f"≥ {target:.2f}", plain / fit >= target),
            Line("  what both cores must do", sum_of + f"{plain / (plain + run['sums']['wall']):.2f}"),
            Line("  processor seconds", ", ".join(f"{one} {run[one]['cpu']:.2f}" for one in ("fit", "plain", "sums"))),
            *([] if run["read"] is None else [Line("  bytes read by the fit", f"{run['read']:.2f} times the file")]),
        ]
    return lines


def csv(sizes: Sizes, folder: Path) -> list[Line]:
    """A warm CSV file of 20 columns beside pyarrow's parser, which finds the types as well and keeps the table."""
    path, n = folder / "rows.csv", sizes.csv
    step(make_csv, path=path, rows=n)
    run = step(csv_times, path=path, repeat=3 * sizes.repeat)
    path.unlink()
    fit, alone = run["fit"], run["alone"]
    ratio = alone["wall"] / fit["wall"]
    told = f"read and fit {fit['wall']:.2f} s, pyarrow alone {alone['wall']:.2f} s: {ratio:.2f}{_busy(run)}"
    cpu = f"read and fit {fit['cpu']:.2f}, pyarrow alone {alone['cpu']:.2f}: {alone['cpu'] / fit['cpu']:.2f}"
    return [Line(f"CSV {n:,}×20", told, "≥ 0.70", ratio >= 0.7), Line("  processor seconds", cpu)]


def incremental(sizes: Sizes, folder: Path) -> list[Line]:
    """IncrementalPCA at its default batch size, from the mapped file."""
    path, n = folder / "slow.npy", sizes.slow
    what = f"IncrementalPCA {n:,}×{sizes.columns} float32, k={sizes.k}"
    if reason := room(folder, n * sizes.columns * 4):
        return [Line(what, f"skipped: {reason}")]
    step(make, path=path, rows=n, columns=sizes.columns, dtype="float32")
    run = step(incremental_times, path=path, k=sizes.k, memory=sizes.memory64, repeat=sizes.repeat)
    path.unlink()
    ours, theirs = run["ritz"]["wall"], run["sklearn"]["wall"]
    told = f"ritz {ours:.2f} s, scikit-learn {theirs:.2f} s: {theirs / ours:.1f}×{_busy(run)}"
    return [
        Line(what, told, "≥ 10×", theirs >= 10 * ours),
        _error("  eigenvalues of Ritz beside a float64 truth", run["ritz_error"]),
        _error("  eigenvalues of IncrementalPCA", run["sklearn_error"]),
    ]


def dask(sizes: Sizes, _: Path) -> list[Line]:
    """The measurement of ``bench/dask.py``, whole, and its ratios."""
    missing = [name for name in ("distributed", "dask_ml") if importlib.util.find_spec(name) is None]
    if missing:
        return [Line("dask-ml", f"skipped: {', '.join(missing)} is not installed")]
    command = [sys.executable, "-m", "bench.dask", "--rows", str(sizes.dask), "--repeat", str(sizes.repeat)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout, flush=True)
    found = re.findall(r"^ *(dask-ml, .*?)  +([\d.]+) s.*Ritz is ([\d.]+)×", done.stdout, re.MULTILINE)
    return [Line(f"{name}", f"{s} s, Ritz {ratio}× as fast", "≥ 3×", float(ratio) >= 3) for name, s, ratio in found]


def added(sizes: Sizes, _: Path) -> list[Line]:
    """Streams that are added batch by batch."""
    lines = []
    for d, rows, count in QUICK_CASES if sizes.slow < Sizes.slow else CASES:
        run = step(added_times, d=d, rows=rows, count=count, k=10, repeat=1 if d * count > 60_000 else sizes.repeat)
        ours, theirs = run["ritz"], run["IncrementalPCA"]
        ratio = ours["cpu"] / theirs["cpu"]
        told = f"ritz {ours['cpu']:.2f} s, IncrementalPCA {theirs['cpu']:.2f} s: {ratio:.2f} of its time"
        lines.append(Line(f"partial_fit {count}×{rows:,}×{d:,}, k=10", told, "≤ 1.20", ratio <= 1.2))
        errors = ", ".join(f"{name} {one['error']:.1e}" for name, one in run.items())
        lines.append(Line("  largest relative error of a variance", errors))
        held = ", ".join(f"{name} {run[name]['bytes'] / 1e6:.0f} MB" for name in ("ritz", "IncrementalPCA"))
        lines.append(Line("  peak of NumPy's memory, batches included", held))
        more = [f"{name} {one['cpu']:.2f} s" for name, one in run.items() if name not in ("ritz", "IncrementalPCA")]
        lines += [Line("  others", ", ".join(more))] if more else []
    return lines


PARTS: dict[str, Callable[[Sizes, Path], list[Line]]] = {
    "memory": memory, "npy": npy, "parquet": parquet, "csv": csv, "incremental": incremental, "added": added,
    "dask": dask,
}  # fmt: skip


# steps: each runs in a process of its own


def _in_turn(repeat: int, **calls: Callable[[], Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Best times of all calls, which take turns so that a busy moment hits all alike; their last results."""
    times = {name: _Timed() for name in calls}
    results: dict[str, Any] = {}
    for _ in range(repeat):
        for name, call in calls.items():
            results.pop(name, None)
            gc.collect()
            results[name] = times[name].run(call)
    best = {name: int(np.argmin(one.wall)) for name, one in times.items()}
    told: dict[str, Any] = {
        name: {"wall": one.wall[best[name]], "cpu": one.cpu[best[name]]} for name, one in times.items()
    }
    return told | {"others": max(one.others[best[name]] for name, one in times.items())}, results


def _from_file(path: str, k: int, limit: str) -> Any:
    import ritz

    return ritz.PCA(k, memory=limit).fit(ritz.read(path, memory=limit))


def _warm(path: str) -> None:
    """The file into the system's cache, thread pools and imports out of the way."""
    import ritz

    with open(path, "rb", buffering=0) as file:
        buffer = bytearray(16 << 20)
        while file.readinto(buffer):
            pass
    ritz.PCA(2).fit(np.random.default_rng(0).standard_normal((4096, 64), dtype=np.float32))


def truth(path: str, k: int, found: list[float]) -> dict[str, Any]:
    """Error of the variances ``found`` in units of λ₁."""
    from bench.reference import eigenvalue_errors, leading_variances

    return {"error": eigenvalue_errors(np.array(found), leading_variances(np.load(path, mmap_mode="r"), k))[0]}


def npy_times(path: str, k: int, memory: str, repeat: int) -> dict[str, Any]:
    """The file in pieces, and the same array in memory (loading is not counted)."""
    import ritz

    _warm(path)
    X = np.load(path)
    times, models = _in_turn(repeat, file=partial(_from_file, path, k, memory), memory=lambda: ritz.PCA(k).fit(X))
    file, held = (models[name].certificate_ for name in ("file", "memory"))
    routes = {
        f"{name}_route": f"{model.plan_.solver}, {model.certificate_.precision}, {model.certificate_.passes} pass"
        for name, model in models.items()
    }
    return times | routes | {"difference": float(np.max(np.abs(file.values - held.values)) / held.values[0])}


def plain_reading(path: str, kind: str, d: int, see: Callable[[int, np.ndarray], None] = lambda _, __: None) -> None:
    """Merely reading: a thread a core over row groups. Lists are row-major as they lie, columns are copied by tiles."""
    import pyarrow.parquet as pq

    from ritz._core.threads import lane_count

    local = threading.local()

    def work(g: int) -> None:
        if not hasattr(local, "file"):
            local.file, local.block = pq.ParquetFile(path), None
        if kind == "embedding":
            for batch in local.file.iter_batches(TILE, row_groups=[g], use_threads=False):
                see(g, batch.column(0).flatten().to_numpy().reshape(-1, d))
            return
        rows = local.file.metadata.row_group(g).num_rows
        if local.block is None or len(local.block) < rows:
            local.block = np.empty((rows, d), np.float32)
        chunk = local.file.read_row_group(g, use_threads=False)
        parts = [chunk.column(j).to_numpy() for j in range(d)]
        for start, j in product(range(0, rows, TILE), range(d)):
            local.block[start : start + TILE, j] = parts[j][start : start + TILE]
        see(g, local.block[:rows])

    with ThreadPoolExecutor(lane_count()) as pool:
        list(pool.map(work, range(pq.ParquetFile(path).metadata.num_row_groups)))


def parquet_times(path: str, kind: str, k: int, memory: str, repeat: int) -> dict[str, Any]:
    """The fit, merely reading, and the fit's sums alone on as many rows in memory."""
    import pyarrow.parquet as pq

    import ritz

    _warm(path)
    meta = pq.ParquetFile(path).metadata
    n = meta.num_rows
    d = meta.num_columns if kind == "columns" else len(ritz.read(path, memory=memory).numeric_names())
    some = row_blocks(d, "float32")(0, ROWS)
    X = np.tile(some, (-(-n // ROWS), 1))[:n]
    times, _ = _in_turn(
        repeat,
        fit=partial(_from_file, path, k, memory),
        plain=partial(plain_reading, path, kind, d),
        sums=lambda: ritz.PCA(k, solver="moments").fit(X),
    )
    read = bytes_read()
    _from_file(path, k, memory)
    return times | {"read": None if read is None else (bytes_read() - read) / Path(path).stat().st_size}


def make_csv(path: str, rows: int) -> dict[str, Any]:
    """Gaussian numbers with all their digits, twenty a line below their names."""
    import pyarrow as pa
    import pyarrow.csv as pc

    X = np.random.default_rng(0).standard_normal((rows, 20))
    pc.write_csv(pa.table({f"x{j}": X[:, j] for j in range(20)}), path)
    return {"bytes": Path(path).stat().st_size}


def csv_times(path: str, repeat: int) -> dict[str, Any]:
    """Reading and fitting, and pyarrow's parser alone with its defaults."""
    import pyarrow.csv as pc

    import ritz

    _warm(path)
    times, _ = _in_turn(repeat, fit=lambda: ritz.PCA(5).fit(ritz.read(path)), alone=lambda: pc.read_csv(path))
    return times


def incremental_times(path: str, k: int, memory: str, repeat: int) -> dict[str, Any]:
    """Ritz from the file, best of several; IncrementalPCA on the mapped file, once if that takes long."""
    from sklearn.decomposition import IncrementalPCA
    from sklearn.utils import gen_batches

    from bench.reference import eigenvalue_errors, leading_variances

    _warm(path)
    X = np.load(path, mmap_mode="r")

    def batches() -> Any:
        model = IncrementalPCA(k)
        for rows in gen_batches(len(X), 5 * X.shape[1], min_batch_size=k):  # as its own fit does
            model.partial_fit(X[rows])
        return model

    ours, mine = _in_turn(repeat, ritz=partial(_from_file, path, k, memory))
    theirs, other = _in_turn(1 if ours["ritz"]["wall"] > 0.5 else repeat, sklearn=batches)
    exact = leading_variances(X, k)
    errors = {
        "ritz_error": eigenvalue_errors(mine["ritz"].explained_variance_, exact)[0],
        "sklearn_error": eigenvalue_errors(other["sklearn"].explained_variance_, exact)[0],
    }
    return {**ours, **theirs, **errors, "others": max(ours["others"], theirs["others"])}


# words


def _error(what: str, error: float, allowed: float | None = None) -> Line:
    told = f"largest difference {error:.1e}·λ₁"
    return Line(what, told) if allowed is None else Line(what, told, f"≤ {allowed:.0e}·λ₁", error <= allowed)


def _share(added: float, allowed: float) -> str:
    return f"{added / 1e6:.0f} MB of {allowed / 1e6:.0f} MB: {added / allowed:.2f}"


def _read(run: dict[str, Any], size: float) -> str:
    return "" if run["read"] is None else f"{run['read'] / size:.2f} times its bytes read"


def _busy(run: dict[str, Any]) -> str:
    return f" (busy: others {run['others']:.1f} cores)" if run["others"] > BUSY else ""


def lines_of(sizes: Sizes, only: list[str] | None = None) -> list[Line]:
    """All lines of the parts asked for; each part is printed when it is there."""
    lines: list[Line] = []
    with scratch() as place:
        for name, part in PARTS.items():
            if only and name not in only:
                continue
            begin = time.perf_counter()
            found = part(sizes, place)
            print(f"{name}: {time.perf_counter() - begin:.0f} s", *map(str, found), "", sep="\n", flush=True)
            lines += found
    return lines


def table(lines: list[Line]) -> str:
    """The table, and how many targets were reached."""
    head = f"{'':<52} {'measured':<66} {'target':<16}"
    asked = [line for line in lines if line.reached is not None]
    return "\n".join([head.rstrip(), "-" * 148, *map(str, lines), "", f"{sum(bool(one.reached) for one in asked)} of "
                      f"{len(asked)} targets reached"])  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for; the exit status is 0 when all of them ran."""
    parser = argparse.ArgumentParser(prog="python -m bench.stream", description="Tables larger than memory.")
    parser.add_argument("--quick", action="store_true", help="small files: a minute or two")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="some of the parts")
    parser.add_argument("--repeat", type=int, help="runs of each measurement")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="folder of the JSON file")
    chosen = parser.parse_args(arguments)
    sizes = QUICK if chosen.quick else Sizes()
    if chosen.repeat:
        sizes = replace(sizes, repeat=chosen.repeat)
    lines = lines_of(sizes, chosen.only)
    print(table(lines))
    chosen.results.mkdir(parents=True, exist_ok=True)
    when = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path = chosen.results / f"{when}-stream{'-quick' if chosen.quick else ''}.json"
    path.write_text(
        json.dumps({"when": when, "sizes": asdict(sizes), "lines": [asdict(one) for one in lines]}, indent=1)
    )
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
