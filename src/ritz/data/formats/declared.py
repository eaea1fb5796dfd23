"""What a file says of its size, weighed before anything is made of it.

    columns   d names, and what is known of each         ≤ memory limit
    rows      n / 1,024 spans at most, or row ends       ≤ memory limit
    packed    bytes declared / bytes stored              ≤ MOST_PACKED

A kilobyte can declare a billion columns. A name and what is known of a column take hundreds of bytes, so a declared
width is the cheapest way to exhaust memory, and no codec packs numbers that say anything a hundred thousand times.
"""

from __future__ import annotations

import os
from pathlib import Path

from ritz._core.errors import FileError, MemoryLimitError
from ritz._core.memory import stated
from ritz.data.words import counted

__all__ = [
    "COLUMN_BYTES", "MOST_PACKED", "require_columns", "require_packed", "require_rows", "room", "stored_bytes",
    "too_large",
]  # fmt: skip

#: A name (60), a Column (64), its places in lists and dictionaries: 310 bytes a column were seen for 10⁶ columns.
COLUMN_BYTES = 400
#: A span of 1,024 rows or more.
SPAN_BYTES = 200
#: The densest codec of those read here, zstd, writes 128 KB of one value in 4 bytes: 32,768 times. None packs more.
MOST_PACKED = 100_000
#: Sizes that are never weighed: no run takes less.
LEAST = 16 << 20
#: Declared bytes that need no look at what is stored.
SMALL = 64 << 20


def room() -> float:
    """Bytes that a table may take, judged by what is declared of it."""
    return max(stated(), LEAST)


def require_columns(d: int, where: object, each: float = COLUMN_BYTES) -> None:
    """Refuse more columns than the memory limit can name, at ``each`` bytes a column."""
    needed = d * each
    if needed > LEAST and needed > stated():
        raise too_large(needed, where, f"{counted(d, 'column')}, whose names and kinds must fit into memory")


def require_rows(n: int, where: object, row_bytes: float = SPAN_BYTES / 1024) -> None:
    """Refuse more rows than the memory limit has ``row_bytes`` for."""
    needed = n * row_bytes
    if needed > LEAST and needed > stated():
        raise too_large(needed, where, f"{counted(n, 'row')}, each of which takes {row_bytes:.2g} bytes of memory")


def too_large(needed: float, where: object, what: str) -> MemoryLimitError:
    """The error for a table that no memory limit like the stated one holds."""
    allowed = stated()
    return MemoryLimitError(
        f"expected a table at {where} that fits into a memory limit of {allowed / 1e6:,.0f} MB",
        received=what,
        hint=f"memory='{-int(-needed // 10**6):d}MB' would do; if the table is not so large, its file is damaged",
    )


def require_packed(declared: float, path: Path, what: str) -> None:
    """Refuse declared sizes that no codec reaches: nearly all of such a table is not there."""
    if declared <= SMALL or declared <= MOST_PACKED * stored_bytes(path, declared / MOST_PACKED):
        return
    raise FileError(
        f"expected the numbers of {what} in {path}",
        received=f"{declared / 1e6:,.0f} MB declared in a file of {stored_bytes(path, float('inf')) / 1e6:,.3f} MB",
        hint="nearly nothing of it was written: write the file again",
    )


def stored_bytes(path: Path, enough: float) -> float:
    """Bytes of a file, or of the files of a folder until they are ``enough``."""
    if not path.is_dir():
        return float(path.stat().st_size)
    total = 0.0
    for folder, _, names in os.walk(path):
        for name in names:
            total += os.lstat(os.path.join(folder, name)).st_size
            if total >= enough:
                return total
    return total
