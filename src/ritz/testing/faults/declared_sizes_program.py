"""Read files within a limit and say what each one added to resident memory: ``… LIMIT PATH …``."""

from __future__ import annotations

import resource
import sys
import warnings
from importlib import import_module
from pathlib import Path

from ritz._core.errors import RitzError
from ritz._core.memory import parse
from ritz.data.tables.read import read
from ritz.methods.pca import PCA

LOADED = (
    "numpy", "scipy.sparse", "scipy.linalg", "sklearn.utils.validation", "pyarrow.parquet", "pyarrow.csv",
    "pyarrow.ipc", "pyarrow.compute", "ritz.methods.pca", "ritz.data.formats.columns", "ritz.data.formats.parquet",
    "ritz.data.formats.text.read", "h5py", "zarr", "threadpoolctl",
)  # fmt: skip
#: Address space that a program may take beyond what it has, so that a fault here does not stop the machine.
ROOM = 12 << 30


def status(key: str) -> int:
    """A size of this process in bytes."""
    return int(Path("/proc/self/status").read_text().split(f"{key}:")[1].split()[0]) * 1024


def look(path: str, limit: str) -> str:
    """A finding, or nothing."""
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = read(path, memory=limit)
            PCA(1, memory=limit).fit(table)
        ended = "it was read"
    except RitzError as error:
        ended = f"{type(error).__name__}"
    except BaseException as error:  # noqa: BLE001 (any other end is a finding)
        return f"{Path(path).name}: {type(error).__name__}: {str(error)[:200]}"
    added = status("VmHWM") - before
    if added > parse(limit):
        return f"{Path(path).name}: {added / 1e6:,.0f} MB were added within {limit} ({ended})"
    return ""


if __name__ == "__main__":
    for name in LOADED:
        try:
            import_module(name)
        except ImportError:
            continue
    size = status("VmSize") + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    for path in sys.argv[2:]:
        finding = look(path, sys.argv[1])
        if finding:
            print(f"finding: {finding}")
        print(f"looked at {path}", flush=True)
