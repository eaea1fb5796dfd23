"""A small file that declares a giant table is refused, or read within the memory limit: nothing is made of it."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ritz.testing.faults._patience import run

__all__ = ["check"]

LIMIT = "100MB"
GIANT = 10**9
PATIENCE = 180  # seconds for all files together, on a quiet machine


def check(folder: Path) -> list[str]:
    """Read each file in a process of its own, which measures what it adds and must end with an error of Ritz."""
    paths = [*_archives(folder), *_text(folder), *_arrow(folder), *_stores(folder)]
    program = Path(__file__).with_name("declared_sizes_program.py")
    command = [sys.executable, str(program), LIMIT, *map(str, paths)]
    try:
        done = run(command, PATIENCE)
    except subprocess.TimeoutExpired:
        return ["reading had not ended after some minutes"]
    findings = [line.removeprefix("finding: ") for line in done.stdout.splitlines() if line.startswith("finding: ")]
    looked = done.stdout.count("looked at ")
    if looked < len(paths):
        ended = f"the program ended with status {done.returncode} at {paths[looked].name}: {done.stderr.strip()[-300:]}"
        findings.append(ended)
    return findings


def _npy(shape: tuple[int, ...], dtype: str = "<f8", data: bytes = b"") -> bytes:
    """An array file whose header says more than it holds."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def _archives(folder: Path) -> Iterator[Path]:
    def archive(name: str, **members: bytes) -> Path:
        path = folder / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for member, data in members.items():
                file.writestr(f"{member}.npy", data)
        return path

    def array(values: Any) -> bytes:
        file = io.BytesIO()
        np.save(file, np.asarray(values))
        return file.getvalue()

    yield archive("shape.npz", X=_npy((GIANT, 100)))
    yield archive("wide.npz", X=_npy((1, GIANT), "|b1"))
    yield archive("zeros.npz", X=_npy((1 << 25, 8), "|b1", bytes(1 << 28)))
    for kind, shape in (("csr", (1, GIANT)), ("csc", (GIANT, 1)), ("coo", (GIANT, GIANT))):
        members = {"format": array(kind.encode()), "shape": array(shape), "data": array([1.0])}
        members |= {"row": array([0]), "col": array([0])} if kind == "coo" else {"indices": array([0])}
        members |= {} if kind == "coo" else {"indptr": array([0, 1])}
        yield archive(f"{kind}.npz", **members)
    (folder / "shape.npy").write_bytes(_npy((GIANT, 100)))
    yield folder / "shape.npy"
    (folder / "negative.npy").write_bytes(_npy((-5, -7)))
    yield folder / "negative.npy"
    with (folder / "wide.npy").open("wb") as file:  # a file that is one hole
        file.write(_npy((1, GIANT), "|i1"))
        file.truncate(file.tell() + GIANT)
    yield folder / "wide.npy"


def _text(folder: Path) -> Iterator[Path]:
    with gzip.open(folder / "commas.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(3):
            file.write(b"," * (1 << 22) + b"\n")
    yield folder / "commas.csv.gz"
    with gzip.open(folder / "line.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"a,b\n1,2\n3,4\n5,6\n7,8\n")
        for _ in range(128):
            file.write(b"7" * (1 << 20))
    yield folder / "line.csv.gz"
    with gzip.open(folder / "field.csv.gz", "wb", compresslevel=1) as file:
        file.write(b'a,b\n1,"')
        for _ in range(128):
            file.write(b"x" * (1 << 20))
    yield folder / "field.csv.gz"


def _arrow(folder: Path) -> Iterator[Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = pa.ListArray.from_arrays(pa.array([0, 1 << 24], pa.int32()), pa.array(np.zeros(1 << 24, np.float32)))
    pq.write_table(pa.table({"emb": lists}), folder / "lists.parquet")
    yield folder / "lists.parquet"
    wide = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(1 << 24, bool)), 1 << 24)
    pq.write_table(pa.table({"emb": wide}), folder / "wide.parquet")
    yield folder / "wide.parquet"
    schema = pa.schema([("emb", pa.list_(pa.bool_(), 1 << 24))])
    with pa.ipc.new_file(folder / "wide.arrow", schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(pa.table({"emb": wide}))
    yield folder / "wide.arrow"


def _stores(folder: Path) -> Iterator[Path]:
    try:
        h5py = import_module("h5py")
    except ImportError:
        return

    def store(name: str, write: Any) -> Path:
        with h5py.File(folder / name, "w") as file:
            file.create_group("obs").attrs["_index"] = "i"
            write(file)
        return folder / name

    def csr(file: Any) -> None:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (2, 10**12)
        group["data"], group["indices"], group["indptr"] = [1.0], [0], [0, 1, 1]

    def ends(file: Any) -> None:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (10**12, 3)
        group["data"], group["indices"] = [1.0], [0]
        group.create_dataset("indptr", shape=(10**12 + 1,), dtype="i8", chunks=(1024,))

    def names(file: Any) -> None:
        file.create_dataset("X", shape=(3, GIANT), dtype="f4", chunks=(1, 1024))
        file.create_group("var").attrs["_index"] = "i"
        file["var"].create_dataset("i", shape=(GIANT,), dtype=h5py.string_dtype(), chunks=(1024,))

    chunked: dict[str, Any] = {"dtype": "f8", "chunks": (1, 1024)}
    yield store("tall.h5ad", lambda file: file.create_dataset("X", shape=(10**14, 1024), **chunked))
    yield store("names.h5ad", names)
    yield store("csr.h5ad", csr)
    yield store("ends.h5ad", ends)
    yield store(
        "chunk.h5ad",
        lambda file: file.create_dataset("X", shape=(4, 4), maxshape=(None, None), dtype="f8", chunks=(20_000, 20_000)),
    )
    try:
        zarr = import_module("zarr")
    except ImportError:
        return
    zarr.create_array(str(folder / "wide.zarr"), shape=(GIANT, GIANT), chunks=(1024, 1024), dtype="f8")
    yield folder / "wide.zarr"
    zarr.create_array(str(folder / "tall.zarr"), shape=(10**14, 4), chunks=(1024, 4), dtype="f8")
    yield folder / "tall.zarr"
    zarr.create_array(str(folder / "chunk.zarr"), shape=(4, 4), chunks=(1 << 17, 1 << 17), dtype="f8")
    yield folder / "chunk.zarr"
