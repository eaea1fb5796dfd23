"""Read a table and fit it within a limit, and print what was added: ``… PATH METHOD LIMIT_MB READ_MB|0``."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import MemoryLimitError, RitzError
from ritz.data.tables.read import read
from ritz.methods.correspondence.famd.famd import FAMD
from ritz.methods.pca import PCA

LOADED = (
    "scipy.linalg", "scipy.sparse.linalg", "scipy.stats", "sklearn.utils.validation", "pyarrow.parquet", "pyarrow.csv",
    "pyarrow.ipc", "pyarrow.compute", "pyarrow.dataset", "threadpoolctl", "pandas", "h5py", "zarr", "ritz.methods.pca",
    "ritz.methods.correspondence.famd.famd", "ritz.data.formats.columns", "ritz.data.formats.parquet",
    "ritz.data.formats.delimited", "ritz.data.encode.stream",
)  # fmt: skip


def status(key: str) -> int:
    """A size of this process in bytes."""
    return int(Path("/proc/self/status").read_text().split(f"{key}:")[1].split()[0]) * 1024


def frame(n: int = 300_000) -> Any:
    """A frame of numbers of two types, and of categories."""
    import pandas as pd

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {
        f"x{j}": rng.standard_normal(n).astype("float32" if j % 2 else "float64") for j in range(30)
    }
    return pd.DataFrame(columns)


def words(X: Any) -> Any:
    """The frame with columns of categories."""
    rng = np.random.default_rng(1)
    levels = np.array([f"level {i}" for i in range(20)], dtype=object)
    return X.assign(**{f"c{j}": levels[rng.integers(0, 20, len(X))] for j in range(6)})


def main(path: str, method: str, limit: str, stated: str) -> None:
    """One read and one fit."""
    for name in LOADED:
        try:
            import_module(name)
        except ImportError:
            continue
    warnings.simplefilter("ignore")
    made = frame() if path.endswith("frame") else None
    made = words(made) if made is not None and method == "FAMD" else made
    memory = int(limit) * 10**6
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    ended = "fitted"
    try:
        X = made if made is not None else read(path, memory=int(stated) * 10**6 or None)
        {"PCA": PCA, "FAMD": FAMD}[method](2, memory=memory).fit(X)
    except MemoryLimitError:
        ended = "MemoryLimitError"
    except RitzError as error:
        ended = f"{type(error).__name__}: {error}".replace("\n", " ")
    print(status("VmHWM") - before, ended)


if __name__ == "__main__":
    main(*sys.argv[1:5])
