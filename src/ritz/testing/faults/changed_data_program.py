"""A fit whose table is multiplied by ten when some batches have been read: ``… changed_data_program CASE``.

Prints the largest variance as its last line, or ends as the program does on an error.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ritz.testing.faults.changed_data import FACTOR, LIMIT, MORE

BEFORE, EVENTS = 5, 2  # batches that are read, and events of progress, before the change


def main(case: str) -> None:
    """Make the table, have it changed, fit."""
    X = np.load("source.npy")
    if case == "memmap":
        _mapped(X)
        return
    path, change, options = _table(case, X)
    _meddle(change)
    words = ["fit", str(path), "-k", "2", "--no-scale", "--no-report", "-o", "out", "-q", *options]
    sys.argv[1:] = words
    try:
        runpy.run_module("ritz", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise
    manifest = json.loads(Path("out/manifest.json").read_text())
    print(manifest["components"][0]["variance"])


def _table(case: str, X: np.ndarray) -> tuple[Path, Callable[[], None], list[str]]:
    """Where the table lies, what changes it, and options of the fit."""
    kind = case.split("-")[0]
    path = Path({"parquet-folder": "parts", "krylov": "t.npy"}.get(case, f"t.{kind}"))
    options = ["--scores", "none", "--memory", LIMIT]
    if case == "krylov":
        options = ["--scores", "none", "--memory", MORE, "--solver", "krylov"]
    if case == "parquet-folder":
        path.mkdir()
        for i, piece in enumerate(np.split(X, 4)):
            _write(path / f"{i}.parquet", piece)
        return path, lambda: _replace(path / "3.parquet", FACTOR * np.split(X, 4)[3]), options
    _write(path, X)
    if case in ("npy", "krylov"):
        return path, lambda: _in_place(path, X), options
    if case == "npy-times-set-back":
        return path, lambda: _in_place(path, X, back=True), options
    if case == "parquet":
        return path, lambda: _replace(path, FACTOR * X, whole=False), options
    return path, lambda: _replace(path, FACTOR * X), options


def _meddle(change: Callable[[], None]) -> None:
    """Call ``change`` once, after some batches."""
    from ritz.data.engines.stream.blocks import StreamBlocks

    read_batches, left = StreamBlocks._batches, [BEFORE]

    def batches(self: Any, spans: Any, begin: int) -> Iterator[Any]:
        for one in read_batches(self, spans, begin):
            left[0] -= 1
            if left[0] == 0:
                change()
            yield one

    StreamBlocks._batches = batches  # type: ignore[method-assign]


def _mapped(X: np.ndarray) -> None:
    """An array that is mapped from a file, and changed there by another map while Krylov iterates."""
    from ritz._core.errors import RitzError
    from ritz.methods.pca import PCA

    _write(Path("t.npy"), X)
    seen = [0]

    def progress(event: Any) -> None:
        seen[0] += 1
        if seen[0] == EVENTS:
            other = np.load("t.npy", mmap_mode="r+")
            other[len(X) // 3 :] *= FACTOR
            other.flush()

    model = PCA(2, solver="krylov", progress=progress)
    try:
        model.fit(np.load("t.npy", mmap_mode="r"))
    except RitzError as error:
        sys.exit(str(error))
    print(float(model.explained_variance_[0]))


def _in_place(path: Path, X: np.ndarray, back: bool = False) -> None:
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size - X.nbytes // 2)
        file.write((FACTOR * X[len(X) // 2 :]).tobytes())
    if back:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace(path: Path, X: np.ndarray, whole: bool = True) -> None:
    """Another file in the place of this one, or its bytes in this one."""
    other = path.with_name(f"other{path.suffix}")
    _write(other, X)
    if whole:
        os.replace(other, path)
        return
    with path.open("r+b") as file:
        file.write(other.read_bytes())
        file.truncate()
    other.unlink()


def _write(path: Path, X: np.ndarray) -> None:
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    if path.suffix == ".npy":
        np.save(path, X)
        return
    table = pa.table({f"x{j}": column for j, column in enumerate(X.T)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=5000, compression="none", use_dictionary=False)
    elif path.suffix == ".csv":
        pc.write_csv(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=5000)


if __name__ == "__main__":
    main(sys.argv[1])
