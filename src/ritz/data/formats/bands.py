"""Rows of a chunked array of two dimensions, within a stated number of bytes.

    chunks (c × e)  →  band of c rows, all chunks side by side (c × d)  →  batches of rows

    whole   a band in memory, whole chunks of columns after others        2 bands, some chunks while they are unpacked
    spill   a band in a temporary file without a name, chunk by chunk     some chunks, 4 batches

A chunk is unpacked as one, so a band is read as one, and the least that can be done is to hold one chunk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.formats.arrow import views
from ritz.data.formats.parquet_rows import put_tile
from ritz.data.formats.source import HELD_BATCHES
from ritz.data.passes.blocks import fresh

__all__ = ["UNPACKING", "Bands", "Layout"]

#: Chunks that are unpacked in one call, in bytes: many small ones cost more calls than memory.
CALL_BYTES = 8 << 20
#: What a chunk takes while it is unpacked: as stored, unpacked, and copied or turned.
UNPACKING = 3.0

Read = Callable[[int, int, int, int], NDArray[Any]]  # rows start : stop, columns first : last


@dataclass(frozen=True)
class Layout:
    """Shape and chunks of an array; ``rows`` of a chunk are 1 where rows can be read one by one."""

    d: int
    itemsize: int  # of a number handed out
    stored: int  # of a number in the store
    rows: int
    columns: int

    @property
    def chunk(self) -> float:
        """Bytes of a chunk."""
        return float(self.rows * self.columns * self.stored) if self.rows > 1 or self.columns < self.d else 0.0


@dataclass(frozen=True)
class Bands:
    """How an array is read within ``room`` bytes a lane."""

    layout: Layout
    room: float

    @property
    def width(self) -> int:
        """Columns that are read in one call: whole chunks."""
        layout = self.layout
        if not layout.chunk:
            return layout.d
        # A call takes whole chunks, however few of their rows are used.
        most = max(1, int(min(CALL_BYTES, self.room / 4 / UNPACKING) // layout.chunk))
        return min(layout.d, most * layout.columns)

    @property
    def unpacking(self) -> float:
        """Bytes that one call takes beside what it gives."""
        chunks = -(-self.width // max(1, self.layout.columns))
        return UNPACKING * chunks * self.layout.chunk

    def held(self, rows: int, width: int) -> float:
        """Bytes that one lane takes, the batches that it hands out included: of ``width`` of the columns."""
        batch = float(rows * self.layout.itemsize)
        chosen = HELD_BATCHES * batch * width if width < self.layout.d else 0.0
        return self._bands(rows) + chosen if self._whole(rows, chosen) else self._spill(rows) + chosen

    def _step(self, rows: int) -> int:
        return max(1, rows // self.layout.rows) * self.layout.rows

    def _bands(self, rows: int) -> float:
        layout, step = self.layout, self._step(rows)
        count = HELD_BATCHES if step <= rows else 2.0
        copied = layout.stored if layout.stored != layout.itemsize else 0
        return step * layout.d * (count * layout.itemsize + copied) + self.unpacking

    def _spill(self, rows: int) -> float:
        layout = self.layout
        tile = float(layout.rows * min(layout.d, self.width) * layout.itemsize)
        return self.unpacking + 2 * tile + 4.0 * rows * layout.d * layout.itemsize

    def _whole(self, rows: int, chosen: float) -> bool:
        bands = self._bands(rows)
        return bands + chosen <= self.room or bands <= self._spill(rows)

    def batches(self, read: Read, start: int, stop: int, rows: int, dtype: np.dtype[Any], width: int) -> Iterator[Any]:
        """Rows ``start : stop`` in batches of at most ``rows``, row after row."""
        layout, step = self.layout, self._step(rows)
        chosen = HELD_BATCHES * float(rows * layout.itemsize) * width if width < layout.d else 0.0
        all_columns = self._whole(rows, chosen)
        for first in range(start, stop, step):
            last = min(stop, first + step)
            if all_columns:
                out = fresh((last - first, layout.d), dtype)
                for a in range(0, layout.d, self.width):
                    b = min(layout.d, a + self.width)
                    out[:, a:b] = read(first, last, a, b)
                yield from views(out, rows, 2 if step > rows else 1)
            else:
                yield from self._spilled(read, first, last, rows, dtype)

    def _spilled(self, read: Read, first: int, last: int, rows: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
        n, d = last - first, self.layout.d
        rows = min(rows, n)
        with tempfile.TemporaryFile() as file:
            for a in range(0, d, self.width):
                b = min(d, a + self.width)
                band = read(first, last, a, b)
                for start in range(0, n, rows):
                    r = min(rows, n - start)
                    tile = np.ascontiguousarray(band[start : start + r], dtype=dtype)
                    put_tile(file, (start * d + r * a) * dtype.itemsize, tile, n * d)
                del band
            for start in range(0, n, rows):
                r = min(rows, n - start)
                out = fresh((r, d), dtype)
                file.seek(start * d * dtype.itemsize)
                for a in range(0, d, self.width):
                    b = min(d, a + self.width)
                    tile = np.empty((r, b - a), dtype)
                    file.readinto(tile.reshape(-1).view(np.uint8).data)
                    out[:, a:b] = tile
                yield out
