"""Memory limits: ``"2GB"`` → bytes, and what this process may still use (containers respected)."""

from __future__ import annotations

import re
from pathlib import Path

from ritz._core.errors import ParameterError

__all__ = ["available", "limit", "parse"]

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def parse(memory: object) -> float:
    """Bytes from a number or a text such as ``"500MB"``, ``"2 GiB"``."""
    if isinstance(memory, (int, float)) and not isinstance(memory, bool) and memory > 0:
        return float(memory)
    match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?I?B?)\s*", memory.upper()) if isinstance(memory, str) else None
    if match and match[2] in _UNITS:
        try:
            size = float(match[1]) * _UNITS[match[2]]
        except ValueError:
            size = 0.0
        if size > 0:
            return size
    raise ParameterError(
        "memory must be None, a number of bytes, or a text such as '500MB' or '2GB'",
        received=repr(memory),
        hint="memory='2GB'",
    )


def available() -> float:
    """Bytes that can be used before the machine, or the container, runs out."""
    free = float("inf")
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = float(line.split()[1]) * 1024
    except OSError:
        pass
    for bound, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            free = min(free, float(Path(bound).read_text()) - float(Path(used).read_text()))
        except (OSError, ValueError):
            continue
    return free


def limit(memory: object) -> float:
    """The limit of a fit: what was stated, or half of what is available."""
    return available() / 2 if memory is None else parse(memory)
