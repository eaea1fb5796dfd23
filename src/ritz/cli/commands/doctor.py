"""``ritz doctor``: what Ritz finds on this machine, and whether it works."""

from __future__ import annotations

from typing import Any

from ritz.cli.terminal.command import Answer, command
from ritz.cli.terminal.console import FAILED

__all__ = ["doctor"]

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow", "narwhals", "threadpoolctl", "rich", "typer")
#: Optional libraries: the module, the extra that brings it, what it is for.
EXTRAS = (
    ("matplotlib", "plot", "figures (--figures, ritz.plot)"),
    ("dask", "dask", "clusters (--engine) and Dask collections"),
    ("pyspark", "spark", "Spark DataFrames"),
    ("numba", "fast", "faster distances, string kernels and products of sparse tables"),
    ("h5py", "cells", ".h5ad files"),
    ("zarr", "zarr", "zarr stores"),
    ("duckdb", "duckdb", "DuckDB relations"),
    ("onnx", "", "ritz export --to onnx"),
    ("onnxruntime", "", "running exported models"),
    ("pandas", "", "pandas frames"),
    ("polars", "", "polars frames"),
    ("torch", "gpu", "tensors and graphics processors (device='cuda', --device)"),
    ("triton", "gpu", "the fused kernels of graphics processors"),
)
SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NO_COLOR")


@command()
def doctor() -> Answer:
    """Show versions, BLAS, threads, memory, graphics processors and extras, and try a small fit."""
    import os
    import platform
    import sys

    from ritz import __version__
    from ritz._core.memory import available
    from ritz._core.threads import lane_count

    ok, words = _try()
    facts = {
        "ritz": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "blas": _blas(),
        "cores": os.cpu_count(),
        "lanes": lane_count(),
        "memory_available": int(available()),
        "gpu": _gpu(),
        "extras": [
            {"library": name, "version": _version(name), "extra": extra or None, "for": use}
            for name, extra, use in EXTRAS
        ],
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "ok": ok,
        "trial": words,
    }
    return Answer(facts, lambda: _show(facts), code=0 if ok else FAILED)


def _version(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _blas() -> list[dict[str, Any]]:
    import numpy as np
    import scipy.linalg
    import threadpoolctl

    scipy.linalg.eigh(np.eye(2))  # libraries are asked about once they are loaded

    return [
        {"library": one.get("internal_api"), "version": one.get("version"), "threads": one.get("num_threads")}
        for one in threadpoolctl.threadpool_info()
    ]


def _gpu() -> list[str]:
    """Graphics processors that torch can use, with their memory; none without torch."""
    from ritz._core.device import device_memory, devices, place_for

    sizes = [device_memory(place_for(f"cuda:{i}")) for i in range(len(devices()))]
    return [
        f"{name} (cuda:{i}), {free / 1e9:.0f} of {total / 1e9:.0f} GB free"
        for i, (name, (free, total)) in enumerate(zip(devices(), sizes, strict=True))
    ]


def _try() -> tuple[bool, str]:
    """A fit of known spectrum, checked by its certificate."""
    import numpy as np

    from ritz.methods.pca import PCA

    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((200, 5)) - 0.0)[0]
    X = (Q - Q.mean(axis=0)) @ np.diag([5.0, 4.0, 3.0, 2.0, 1.0])
    model = PCA(3, progress=False).fit(X)
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3] ** 2 / 199
    gap = float(np.max(np.abs(model.explained_variance_ - truth)) / truth[0])
    ok = bool(model.verify(X)) and gap < 1e-12
    return ok, f"a fit of 200 × 5 numbers and its certificate: {'right' if ok else 'WRONG'} (off by {gap:.0e})"


def _show(facts: dict[str, Any]) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    from ritz.cli.terminal.console import put, stdout

    lines = Grid.grid(padding=(0, 2))
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column(overflow="fold")
    lines.add_row("ritz", Text(f"{facts['ritz']}, Python {facts['python']} on {facts['system']}"))
    lines.add_row("libraries", Text(", ".join(f"{name} {version}" for name, version in facts["libraries"].items())))
    for one in facts["blas"]:
        threads = f"{one['threads']} thread{'' if one['threads'] == 1 else 's'}"
        lines.add_row("blas", Text(f"{one['library']} {one['version'] or ''}".strip() + f", {threads}"))
    lines.add_row("threads", Text(f"{facts['cores']} cores, {facts['lanes']} lanes for reading and computing"))
    lines.add_row("memory", Text(f"{facts['memory_available'] / 1e9:.1f} GB available"))
    lines.add_row("gpu", Text(", ".join(facts["gpu"]) or "none"))
    for one in facts["extras"]:
        install = f": pip install '{'ritz[' + one['extra'] + ']' if one['extra'] else one['library']}'"
        lines.add_row("extra", Text(f"{one['library']} {one['version'] or 'not installed'}, for {one['for']}"
                                    + ("" if one["version"] else install)))  # fmt: skip
    for name, value in facts["settings"].items():
        lines.add_row("setting", Text(f"{name}={value}"))
    lines.add_row("trial", Text(facts["trial"], style="green" if facts["ok"] else "bold red"))
    put(stdout(), lines)
