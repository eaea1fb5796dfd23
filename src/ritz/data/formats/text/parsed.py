"""What one look at a text file has parsed, kept in a file without a name: later passes do not parse again.

    piece k  →  record batches, each at [offset, offset + length)  →  read back by position, from any thread

Parsing is the larger part of a pass over text: 200,000×20 numbers take 0.20 s of one core to parse and 0.02 s to read
back. The file lies where temporary files do, has no name, and so is gone with the process however that ends. Nothing is
kept where the folder is memory (tmpfs) or has little room, nor when the disk is full: the text is parsed again then.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["ParsedPieces", "folder_for"]

#: Bytes of free disk for a byte of text: a digit and a delimiter may become a number of 8 bytes.
ROOM = 8.0
#: Text below this is parsed again in less time than it takes to ask for the disk.
LEAST_TEXT = 1 << 20
MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")
MOUNTS = Path("/proc/mounts")


class ParsedPieces:
    """Record batches of pieces on disk."""

    def __init__(self, folder: str) -> None:
        with tempfile.TemporaryFile(dir=folder) as file:
            self._handle = os.dup(file.fileno())
        self._end = 0
        self._pieces: dict[int, tuple[Any, list[tuple[int, int]]]] = {}

    def add(self, key: int, table: Any) -> bool:
        """Keep what was parsed of a piece; False where the disk takes no more."""
        places = []
        try:
            for batch in table.to_batches():
                data = memoryview(batch.serialize())
                places.append((self._end, len(data)))
                while data:
                    written = os.pwrite(self._handle, data, self._end)
                    self._end, data = self._end + written, data[written:]
        except OSError:
            return False
        self._pieces[key] = table.schema, places
        return True

    def types(self, key: int) -> dict[str, Any] | None:
        """Types of the columns of a piece as it was parsed; None where it was not kept."""
        if key not in self._pieces:
            return None
        schema = self._pieces[key][0]
        return dict(zip(schema.names, schema.types, strict=True))

    def batches(self, key: int, names: Sequence[str]) -> Iterator[Any]:
        """Columns of a piece, in the order of ``names``."""
        import pyarrow as pa

        schema, places = self._pieces[key]
        for offset, length in places:
            # Mapped, and not copied: pages that leave memory with the batch.
            first = offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
            pages = mmap.mmap(self._handle, offset - first + length, offset=first, access=mmap.ACCESS_READ)
            yield pa.ipc.read_record_batch(pa.py_buffer(pages)[offset - first :], schema).select(list(names))

    def close(self) -> None:
        """Give the room back."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def __del__(self) -> None:
        self.close()


def folder_for(size: int) -> str | None:
    """A folder on a disk with room for what is parsed of ``size`` bytes of text."""
    if size < LEAST_TEXT or not hasattr(os, "preadv"):
        return None
    for folder in dict.fromkeys((tempfile.gettempdir(), "/var/tmp")):
        try:
            if not _in_memory(folder) and shutil.disk_usage(folder).free >= ROOM * size:
                return folder
        except OSError:
            continue
    return None


def _in_memory(folder: str) -> bool:
    """Whether files there take memory; not where the system does not tell."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    path = os.path.realpath(folder)
    mounts = [words[1:3] for line in lines if len(words := line.split()) > 2]
    at = [(len(point), kind) for point, kind in mounts if path == point or path.startswith(point.rstrip("/") + "/")]
    return bool(at) and max(at)[1] in MEMORY_FILE_SYSTEMS
