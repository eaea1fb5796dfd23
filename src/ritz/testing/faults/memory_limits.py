"""A memory limit holds or raises, whatever the table lies in: what a read and a fit add is measured."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ritz.testing.faults._patience import run

__all__ = ["CASES", "check"]

PATIENCE = 300

#: Name of the case: what is read (or made there: ``frame``), method, limit of the fit in MB, limit of the read or None.
CASES: dict[str, tuple[str, str, int, int | None]] = {
    "FAMD of a frame": ("frame", "FAMD", 100, None),
    "PCA of a frame": ("frame", "PCA", 60, None),
    "FAMD of text": ("mixed.csv", "FAMD", 100, 100),
    "PCA of text": ("numbers.csv", "PCA", 60, 60),
    "FAMD of Parquet, read before": ("mixed.parquet", "FAMD", 80, None),
    "PCA of CSR cells": ("cells.h5ad", "PCA", 120, 120),
    "PCA of CSR cells with one long row": ("skewed.h5ad", "PCA", 120, 120),
    "PCA of zarr in large chunks": ("large.zarr", "PCA", 200, 200),
    "PCA of zarr in a few rows": ("large.zarr", "PCA", 60, 60),
    "PCA of dense cells": ("dense.h5ad", "PCA", 80, 80),
    "PCA of an array file, read before": ("rows.npy", "PCA", 60, None),
    "PCA of an archive, read before": ("rows.npz", "PCA", 60, None),
    "PCA of a packed archive, read before": ("packed.npz", "PCA", 60, None),
    "PCA of Parquet, read before": ("rows.parquet", "PCA", 60, None),
    "PCA of one record batch": ("rows.arrow", "PCA", 60, None),
}


def check(folder: Path, cases: tuple[str, ...] = ()) -> list[str]:
    """Run every case, or some, in a process of its own."""
    findings = []
    program = Path(__file__).with_name("memory_limits_program.py")
    for case in cases or CASES:
        what, method, limit, read = CASES[case]
        path = folder / what
        if what != "frame" and not path.exists():
            try:
                MAKE[what](path)
            except ImportError:
                continue
        command = [sys.executable, str(program), str(path), method, str(limit), str(read or 0)]
        try:
            done = run(command, PATIENCE)
        except subprocess.TimeoutExpired as late:
            findings.append(f"{case}: had not ended after {late.timeout:.0f} s")
            continue
        if done.returncode:
            findings.append(f"{case}: ended with status {done.returncode}: {done.stderr.strip()[-300:]}")
            continue
        added, ended = done.stdout.strip().split(maxsplit=1)
        if float(added) > limit * 1e6:
            findings.append(f"{case}: {float(added) / 1e6:,.0f} MB were added within {limit} MB ({ended})")
        elif ended not in ("fitted", "MemoryLimitError"):
            findings.append(f"{case}: {ended}")
    return findings


# --- tables ------------------------------------------------------------------------------------------------


def _numbers(n: int, d: int) -> Any:
    return np.random.default_rng(0).integers(0, 50, (n, d)).astype(np.float64)


def _table(n: int, numbers: int, words: int) -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(0)
    levels = pa.array([f"level {i}" for i in range(20)])
    columns = {f"x{j}": pa.array(rng.standard_normal(n).round(3)) for j in range(numbers)}
    columns |= {f"c{j}": levels.take(pa.array(rng.integers(0, 20, n))) for j in range(words)}
    return pa.table(columns)


def _csv(path: Path, table: Any) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(table, path)


def _parquet(path: Path, table: Any) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path)


def _arrow(path: Path) -> None:
    import pyarrow as pa

    table = _table(400_000, 50, 0)
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _cells(path: Path, skewed: bool) -> None:
    h5py = import_module("h5py")

    n, d, each = 60_000, 300, 60
    rng = np.random.default_rng(0)
    counts = np.full(n, each) if not skewed else np.where(np.arange(n) % 1000 < 100, 6 * each, each // 4)
    ends = np.concatenate([[0], np.cumsum(np.minimum(counts, d))])
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (n, d)
        group["indptr"] = ends
        places = np.concatenate([np.arange(count, dtype=np.int64) for count in np.diff(ends)])
        group.create_dataset("indices", data=places, chunks=(1 << 16,))
        group.create_dataset("data", data=rng.random(len(places)), chunks=(1 << 16,))
        file.create_group("obs")


def _dense(path: Path) -> None:
    h5py = import_module("h5py")

    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=_numbers(100_000, 200), chunks=(2_000, 200), compression="gzip")
        file.create_group("obs")


def _zarr(path: Path) -> None:
    zarr = import_module("zarr")

    array = zarr.create_array(str(path), shape=(120_000, 200), chunks=(40_000, 50), dtype="f8")
    array[:] = _numbers(120_000, 200)


MAKE: dict[str, Callable[[Path], None]] = {
    "mixed.csv": lambda path: _csv(path, _table(200_000, 10, 6)),
    "numbers.csv": lambda path: _csv(path, _table(300_000, 30, 0)),
    "mixed.parquet": lambda path: _parquet(path, _table(400_000, 10, 6)),
    "cells.h5ad": lambda path: _cells(path, False),
    "skewed.h5ad": lambda path: _cells(path, True),
    "large.zarr": _zarr,
    "dense.h5ad": _dense,
    "rows.npy": lambda path: np.save(path, _numbers(100_000, 200)),
    "rows.npz": lambda path: np.savez(path, X=_numbers(100_000, 200)),
    "packed.npz": lambda path: np.savez_compressed(path, X=_numbers(100_000, 100)),
    "rows.parquet": lambda path: _parquet(path, _table(200_000, 100, 0)),
    "rows.arrow": _arrow,
}
