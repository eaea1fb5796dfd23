"""Row groups of Parquet to rows, within a stated number of bytes.

    whole   some columns of a row group at a time  →  rows (r, d) of that row group        2·r·d + one slice of columns
    pages   all columns at once, page by page      →  a batch                              d open columns, their pages
    spill   some columns at a time                 →  tiles in a temporary file  →  batch  one slice of columns, a batch

An open column holds its dictionary, a page as it is stored and as it is decoded: several times what its numbers take,
and for row groups of usual size as much as all of its numbers. So columns are not opened together unless they are few:
a row group is turned into rows slice by slice, and one too large for that takes the way over a file. Lists are single
columns with many pages and are read page by page.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import FileError
from ritz.data.formats.pack import DECODE_BYTES, column_numbers, pack_arrays, pack_columns
from ritz.data.passes.blocks import fresh

__all__ = ["BUFFER_BYTES", "OPEN_COLUMNS", "Chunk", "Way", "chosen_way", "chunk_of", "put_tile", "spilled", "whole"]

#: Columns of a slice at most (a cache line of float32), and the bytes that decoding a slice may take.
SLICE_COLUMNS, SLICE_BYTES = 16, 128 << 20
#: More columns than these are never opened together: with 768 it took over twice the time of slices, with 100 the same.
OPEN_COLUMNS = 128
BUFFER_BYTES = 1 << 18  # read ahead of an open column
PAGE_BYTES = 1 << 20  # of a page, where the writer did as most do; the footer does not say
#: What Arrow's allocator keeps beyond what is in use: half as much again was seen for pages, twice for slices.
SPARE, SLICE_SPARE = 1.5, 2.0

Slice = Callable[[Sequence[int]], Sequence[Any]]


@dataclass(frozen=True)
class Chunk:
    """The largest column of the largest row group."""

    stored: float  # bytes in the file
    plain: float  # uncompressed
    dictionary: float  # of that, its dictionary
    decoded: float  # as numbers

    @property
    def cost(self) -> float:
        """Bytes to decode it as a whole: as stored, uncompressed, the dictionary's entries, numbers and their copy."""
        return SLICE_SPARE * (self.stored + self.plain + self.dictionary + 2 * self.decoded)

    @property
    def open(self) -> float:
        """Bytes while it is decoded page by page."""
        page = min(PAGE_BYTES, self.plain)
        return SPARE * (min(BUFFER_BYTES, self.stored) + 2 * (min(PAGE_BYTES, self.dictionary) + page))


def chunk_of(group: Any, places: Sequence[int], itemsize: int) -> Chunk:
    """The sizes of the largest of some columns of a row group."""
    stored = plain = dictionary = decoded = 0.0
    for j in places:
        chunk = group.column(j)
        packed, unpacked = float(chunk.total_compressed_size), float(chunk.total_uncompressed_size)
        begin = chunk.dictionary_page_offset
        words = 0.0 if begin is None else (chunk.data_page_offset - begin) * max(1.0, unpacked / max(1.0, packed))
        stored, plain = max(stored, packed), max(plain, unpacked)
        dictionary, decoded = max(dictionary, min(words, unpacked)), max(decoded, float(chunk.num_values) * itemsize)
    return Chunk(stored, plain, dictionary, decoded)


@dataclass(frozen=True)
class Way:
    """How rows are read, and the bytes that one lane takes for it, the batches it hands out included."""

    name: str
    columns: int  # of a slice
    held: float


def chosen_way(chunk: Chunk, columns: int, block: float, batch: float, *, lists: float, room: float, two: bool) -> Way:
    """The fastest way within ``room`` bytes, or else the one that takes least.

    ``block`` and ``batch`` are the bytes of a row group and of a batch as rows, ``lists`` those of the levels that
    lists in a batch have beside their numbers; ``two`` says that there is another row group to read ahead.
    """
    pages = Way("pages", columns, columns * chunk.open + SPARE * (lists + 5 * max(batch, DECODE_BYTES)))
    if lists:
        return pages
    slice_room = max(chunk.cost, min(SLICE_BYTES, room / 4))
    most = int(max(1, min(SLICE_COLUMNS, columns, slice_room // max(1.0, chunk.cost))))
    blocks = Way("whole", most, (2 if two else 1) * block + most * chunk.cost)
    spill = Way("spill", most, most * chunk.cost + 4 * batch)
    if blocks.held <= room or blocks.held <= spill.held:
        return blocks
    if columns <= OPEN_COLUMNS and pages.held <= room:
        return pages
    return min(pages, spill, key=lambda way: way.held) if columns <= OPEN_COLUMNS and spill.held > room else spill


def whole(
    read: Slice, dtypes: Sequence[Any], dtype: np.dtype[Any], shape: tuple[int, int], width: int,
    order: Literal["C", "F"] = "C",
) -> NDArray[Any]:  # fmt: skip
    """Rows ``shape`` that ``read`` gives by columns, ``width`` of them at a time."""
    n, d = shape
    out = fresh((n, d), dtype, order)
    for first in range(0, d, width):
        at = range(first, min(d, first + width))
        pack_columns(read(at), [dtypes[j] for j in at], out[:, first : first + len(at)])
    return out


def spilled(
    read: Slice, dtypes: Sequence[Any], dtype: np.dtype[Any], shape: tuple[int, int], width: int, rows: int
) -> Iterator[NDArray[Any]]:
    """The same rows in batches of ``rows``, by way of a temporary file that has no name.

    It holds, for every batch, one tile (rows, width) after another.
    """
    n, d = shape
    rows = min(rows, n)
    tile = np.empty(rows * min(d, width), dtype=dtype)
    with tempfile.TemporaryFile() as file:
        for first in range(0, d, width):
            at = range(first, min(d, first + width))
            columns = [column_numbers(values, dtypes[j]) for j, values in zip(at, read(at), strict=True)]
            for start in range(0, n, rows):
                r = min(rows, n - start)
                panel = tile[: r * len(at)].reshape(r, len(at))
                pack_arrays([values[start : start + r] for values in columns], panel)
                put_tile(file, (start * d + r * first) * dtype.itemsize, panel, n * d)
            del columns
        for start in range(0, n, rows):
            r = min(rows, n - start)
            out = fresh((r, d), dtype)
            file.seek(start * d * dtype.itemsize)
            for first in range(0, d, width):
                count = min(width, d - first)
                panel = tile[: r * count].reshape(r, count)
                file.readinto(panel.reshape(-1).view(np.uint8).data)
                out[:, first : first + count] = panel
            yield out


def put_tile(file: Any, place: int, tile: NDArray[Any], numbers: int) -> None:
    """Write a tile of rows to its place in a temporary file that holds ``numbers`` numbers in the end."""
    try:
        file.seek(place)
        file.write(tile.reshape(-1).view(np.uint8).data)
        file.flush()
    except OSError as error:
        raise FileError(
            f"expected room for {numbers * tile.itemsize / 1e6:,.0f} MB in {tempfile.gettempdir()}",
            received=str(error),
            hint="a row group larger than the memory limit is turned into rows there: make room, set TMPDIR, raise the "
            "limit, or write the file with smaller row groups",
        ) from error
