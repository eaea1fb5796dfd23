"""What this process may still use before somebody stops it: the machine, its control groups, Slurm, its own limits.

    left = min over bounds of (bound − used)

    machine          MemAvailable of /proc/meminfo
    control groups   memory.max and memory.high (version 2), memory.limit_in_bytes (version 1) of this process's
                     group and of every group above it: containers, systemd scopes and slices, the steps of a Slurm job
    Slurm            SLURM_MEM_PER_NODE, SLURM_MEM_PER_CPU × processors, SLURM_MEM_PER_GPU × accelerators, in MB
    ulimit -v        the address space, less what is mapped already

What a group uses is counted without the pages of files that the kernel would drop at once (``inactive_file``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

__all__ = ["allowance"]

#: Version 1 writes "no limit" as the largest whole number of pages.
UNLIMITED = 2.0**62
MEGABYTE = 2.0**20  # Slurm's


def allowance(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> float:
    """Bytes that can still be used; ``root`` and ``environ`` are those of this process unless a test says otherwise."""
    environ = os.environ if environ is None else environ
    resident = _status(root, "VmRSS")
    bounds = [_machine(root), *_groups(root), *(bound - resident for bound in _slurm(environ))]
    if root == Path("/"):
        bounds += _address_space(_status(root, "VmSize"))
    return max(0.0, min(bounds))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _status(root: Path, key: str) -> float:
    """A size of this process, in bytes; 0 where nothing tells."""
    for line in _lines(root / "proc/self/status"):
        if line.startswith(f"{key}:"):
            return float(line.split()[1]) * 1024
    return 0.0


def _machine(root: Path) -> float:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return float(line.split()[1]) * 1024
    try:  # not Linux: all there is
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")


# --- control groups ----------------------------------------------------------------------------------------


def _groups(root: Path) -> Iterator[float]:
    """What the group of this process, and each one above it, leaves."""
    for folder, kind in _folders(root, tuple(_lines(root / "proc/self/cgroup"))):
        yield from _left(folder, kind)


@lru_cache(maxsize=8)
def _folders(root: Path, groups: tuple[str, ...]) -> list[tuple[Path, str]]:
    """Folders of the groups that a process is in, each once; they are looked up again when it has been moved."""
    mounts, folders = _mounts(root), {}
    for line in groups:
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        kind = "cgroup2" if number == "0" and not names else "memory" if "memory" in names.split(",") else ""
        for top, folder in mounts.get(kind, []):
            for group in _upwards(path, top):
                if (folder / group).is_dir():
                    folders[folder / group] = kind
    return list(folders.items())


def _mounts(root: Path) -> dict[str, list[tuple[str, Path]]]:
    """Where groups can be looked up: the group at the top of each mount, and its folder."""
    mounts: dict[str, list[tuple[str, Path]]] = {}
    for line in _lines(root / "proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(), after.split()
        if len(fields) < 5 or not kinds or kinds[0] not in ("cgroup", "cgroup2"):
            continue
        kind = kinds[0] if kinds[0] == "cgroup2" else "memory" if "memory" in kinds[-1].split(",") else ""
        mounts.setdefault(kind, []).append((fields[3], root / fields[4].lstrip("/")))
    if not mounts:
        mounts["cgroup2"] = [("/", root / "sys/fs/cgroup")]
        mounts["memory"] = [("/", root / "sys/fs/cgroup/memory")]
    return mounts


def _upwards(path: str, top: str) -> Iterator[str]:
    """A group and those above it, relative to the group at the top of a mount.

    A container may see its group under another name than the mount has (``/../..``, a name of the host): then the mount
    itself is the group.
    """
    try:
        inside = PurePosixPath(path).relative_to(top)
    except ValueError:
        inside = PurePosixPath(path.lstrip("/"))
    if ".." in inside.parts:
        inside = PurePosixPath()
    yield str(inside)
    yield from (str(parent) for parent in inside.parents)


def _left(folder: Path, kind: str) -> Iterator[float]:
    """What the bounds of one group leave; nothing where it has none."""
    names = ("memory.max", "memory.high") if kind == "cgroup2" else ("memory.limit_in_bytes",)
    bounds = [bound for bound in (_number(folder / name) for name in names) if bound is not None and bound < UNLIMITED]
    if not bounds:
        return
    used = _number(folder / ("memory.current" if kind == "cgroup2" else "memory.usage_in_bytes")) or 0.0
    droppable = {"inactive_file", "total_inactive_file"}
    cached = [float(f[1]) for f in map(str.split, _lines(folder / "memory.stat")) if len(f) == 2 and f[0] in droppable]
    yield min(bounds) - max(0.0, used - max(cached, default=0.0))


def _number(path: Path) -> float | None:
    lines = _lines(path)
    return float(lines[0]) if lines and lines[0].strip().isdigit() else None


# --- Slurm, ulimit -----------------------------------------------------------------------------------------


def _slurm(environ: Mapping[str, str]) -> Iterator[float]:
    """Bytes that a Slurm job may take on this node, as it was asked for; 0 stands for all of the node."""
    cpus = _first(environ, "SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_PER_TASK") or 1.0
    gpus = _first(environ, "SLURM_GPUS_ON_NODE") or 1.0
    for name, times in (("SLURM_MEM_PER_NODE", 1.0), ("SLURM_MEM_PER_CPU", cpus), ("SLURM_MEM_PER_GPU", gpus)):
        size = _first(environ, name)
        if size:
            yield size * times * MEGABYTE


def _first(environ: Mapping[str, str], *names: str) -> float | None:
    """The number that the first of some variables begins with: ``4(x2),3`` is 4; ``8G`` is 8192."""
    for name in names:
        match = re.match(r"\s*(\d+)\s*([KMGT]?)", environ.get(name, ""), re.IGNORECASE)
        if match:
            return float(match[1]) * {"K": 2.0**-10, "G": 2.0**10, "T": 2.0**20}.get(match[2].upper(), 1.0)
    return None


def _address_space(mapped: float) -> Iterator[float]:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    if soft != resource.RLIM_INFINITY:
        yield float(soft) - mapped
