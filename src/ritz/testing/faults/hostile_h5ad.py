"""A store that names other files as its own numbers or names gets none of them: .h5ad and zarr, in every known way."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import RitzError
from ritz.data.tables.read import read

__all__ = ["check"]

SECRET = np.arange(4096.0, 4136.0)  # 10 rows, 4 columns
ROWS, COLUMNS = 10, 4


def check(folder: Path) -> list[str]:
    """Make stores that reach out of themselves, and see that none is read."""
    (folder / "secret.bin").write_bytes(SECRET.tobytes())
    findings: list[str] = []
    for what, path in [*_h5(folder), *_zarr(folder)]:
        outcome = _told(path)
        if outcome:
            findings.append(f"{what}: {outcome}")
    return findings


def _told(path: Path) -> str:
    """What was read of a store that must be refused; nothing if it was."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = read(path)
            matrix = table.numeric()[0]
            values = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
            names = [*table.names, *(str(label) for label in table.labels(table.names[0]))]
    except RitzError:
        return ""
    except Exception as error:  # noqa: BLE001 (any other error is a finding)
        return f"{type(error).__name__}: {error}"
    leaked = bool(np.isin(values, SECRET).any()) or any(str(int(SECRET[0])) in name for name in names)
    return "numbers or names of another file were read" if leaked else "it was read as if nothing were the matter"


# --- HDF5 --------------------------------------------------------------------------------------------------


def _h5(folder: Path) -> list[tuple[str, Path]]:
    try:
        h5py = import_module("h5py")
    except ImportError:
        return []
    secret = folder / "secret.bin"
    with h5py.File(folder / "other.h5", "w") as other:
        other["X"] = SECRET.reshape(ROWS, COLUMNS)
        other["names"] = np.array([f"{v:.0f}" for v in SECRET[:COLUMNS]], dtype="S8")
        other["rows"] = np.array([f"{v:.0f}" for v in SECRET[:ROWS]], dtype="S8")
        other["data"], other["indices"] = SECRET, np.tile(np.arange(COLUMNS), ROWS)
        other["group/X"] = SECRET.reshape(ROWS, COLUMNS)
    layout = h5py.VirtualLayout(shape=(ROWS, COLUMNS), dtype="f8")
    layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "X", shape=(ROWS, COLUMNS))

    def link(name: str) -> Any:
        return h5py.ExternalLink(str(folder / "other.h5"), name)

    def external(file: Any, place: str, shape: tuple[int, ...], dtype: str = "f8") -> None:
        file.create_dataset(place, shape=shape, dtype=dtype, external=[(str(secret), 0, secret.stat().st_size)])

    def soft(file: Any) -> None:
        file["out"] = link("group")
        file["X"] = h5py.SoftLink("/out/X")

    def names(file: Any, group: str, target: Any) -> None:
        file["X"] = np.ones((ROWS, COLUMNS))
        file.require_group(group).attrs["_index"] = "i"
        file[f"{group}/i"] = target

    def csr(file: Any, outside: bool) -> None:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (ROWS, COLUMNS)
        group["indices"] = np.tile(np.arange(COLUMNS), ROWS)
        group["indptr"] = np.arange(0, SECRET.size + 1, COLUMNS)
        if outside:
            group["data"] = link("data")
        else:
            external(group, "data", (SECRET.size,))

    ways: dict[str, Callable[[Any], Any]] = {
        "external storage": lambda file: external(file, "X", (ROWS, COLUMNS)),
        "external storage as text": lambda file: external(file, "X", (ROWS, COLUMNS), "u1"),
        "external link": lambda file: file.__setitem__("X", link("X")),
        "virtual dataset": lambda file: file.create_virtual_dataset("X", layout),
        "soft link through an external group": soft,
        "external link to the names of the columns": lambda file: names(file, "var", link("names")),
        "external link to the names of the rows": lambda file: names(file, "obs", link("rows")),
        "external storage of CSR numbers": lambda file: csr(file, False),
        "external link to CSR numbers": lambda file: csr(file, True),
    }
    made = []
    for number, (what, write) in enumerate(ways.items()):
        path = folder / f"{number}.h5ad"
        with h5py.File(path, "w") as file:
            file.create_group("obs")
            write(file)
        made.append((f".h5ad with {what}", path))
    return made


# --- zarr --------------------------------------------------------------------------------------------------


def _zarr(folder: Path) -> list[tuple[str, Path]]:
    try:
        zarr = import_module("zarr")
    except ImportError:
        return []
    shape: dict[str, Any] = {"shape": (ROWS, COLUMNS), "chunks": (ROWS, COLUMNS), "dtype": "f8"}
    chunk = zarr.create_array(str(folder / "chunk.zarr"), zarr_format=2, compressors=None, **shape)
    chunk[:] = 1.0
    (folder / "chunk.zarr" / "0.0").unlink()
    os.symlink(folder / "secret.bin", folder / "chunk.zarr" / "0.0")

    group = zarr.open_group(str(folder / "group.zarr"), mode="w", zarr_format=2)
    group.create_group("obs")
    elsewhere = zarr.create_array(str(folder / "elsewhere.zarr"), zarr_format=2, compressors=None, **shape)
    elsewhere[:] = SECRET.reshape(ROWS, COLUMNS)
    os.symlink(folder / "elsewhere.zarr", folder / "group.zarr" / "X")

    codec = zarr.create_array(str(folder / "codec.zarr"), zarr_format=2, compressors=None, **shape)
    codec[:] = SECRET.reshape(ROWS, COLUMNS)
    told = json.loads((folder / "codec.zarr" / ".zarray").read_text())
    (folder / "codec.zarr" / ".zarray").write_text(json.dumps({**told, "compressor": {"id": "pickle"}}))
    return [
        ("zarr with a chunk that is a link", folder / "chunk.zarr"),
        ("zarr with a folder that is a link", folder / "group.zarr"),
        ("zarr with a codec that unpickles", folder / "codec.zarr"),
    ]
