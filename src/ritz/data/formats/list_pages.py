"""Lists of equal length in the pages of a Parquet column, taken where they lie.

    column chunk   =   [dictionary page]  data page …            page   =   header (Thrift), levels, values
    levels         0 1 … 1 0 1 … 1 …  (repetition: a 0 begins a list),   all at their most (definition: none is missing)
    values         numbers one after the other, as they are in memory   →   rows (r, m)

Arrow decodes two levels for every number, which takes most of the time that it needs for embeddings: 3.9 µs a row of
768 float32, and 1.2 µs so. Levels of lists that are all m long return from page to page; they are compared, and decoded
once. Anything else than plain numbers, or a dictionary of them, in lists of that length, without a gap, in pages of
usual size whose checksum is right where they have one, is ``Unlike`` this: then Arrow reads it, or says what is wrong
with it. References: the format's ``parquet.thrift`` and ``Encodings.md``.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Blocks", "ListColumn", "Unlike", "list_column"]

#: Physical types and packings that are read here, by their names in the footer.
DTYPES = {"FLOAT": "<f4", "DOUBLE": "<f8"}
CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "ZSTD": "zstd", "GZIP": "gzip", "BROTLI": "brotli"}
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
HEADER_BYTES = 1 << 13  # of a page, with its statistics, at most
PAGE_BYTES = 1 << 26  # of a page, unpacked, at most: writers make pages of about 1 MB
PATTERNS = 64  # levels of pages that are remembered
HELD = 4  # blocks of one reader: one being filled, one waiting, one in use, one more


class Unlike(Exception):
    """Pages of another kind."""


@dataclass
class ListColumn:
    """One column of lists of ``width`` numbers in a file; what its pages' levels look like is remembered."""

    leaf: int  # its place among the leaves of the schema
    width: int
    dtype: np.dtype[Any]
    most: int  # definition level of a number that is there
    known: set[tuple[int, int, bytes, bytes]] = field(default_factory=set)

    def blocks(self, handle: int, group: Any, rows: int, memory: Blocks) -> Iterator[NDArray[Any]]:
        """The rows of a row group in order, at most ``rows`` at a time, from an open file."""
        total = int(group.num_rows) * self.width
        if total != group.column(self.leaf).num_values:
            raise Unlike
        done, block, at = 0, memory.of(min(rows * self.width, total), self.dtype), 0
        for values in self._pages(handle, group.column(self.leaf), memory):
            if done + len(values) > total:
                raise Unlike
            done, taken = done + len(values), 0
            while taken < len(values):
                count = min(len(values) - taken, len(block) - at)
                block[at : at + count] = values[taken : taken + count]
                at, taken = at + count, taken + count
                if at == len(block):
                    yield block.reshape(-1, self.width)
                    block, at = memory.of(min(rows * self.width, total - done + len(values) - taken), self.dtype), 0
        if done != total:
            raise Unlike

    def _pages(self, handle: int, chunk: Any, memory: Blocks) -> Iterator[NDArray[Any]]:
        """Numbers of one page after the other, to be taken before the next is asked for."""
        first = chunk.dictionary_page_offset if chunk.has_dictionary_page else None
        place = chunk.data_page_offset if first is None else min(first, chunk.data_page_offset)
        end, seen, words = place + chunk.total_compressed_size, 0, None
        unpack = _unpacking(chunk.compression)
        while seen < chunk.num_values:
            start = os.pread(handle, min(HEADER_BYTES, max(0, end - place)), place)
            head, size = _header(start)
            packed, unpacked = _size(head, 3), _size(head, 2)
            if place + size + packed > end or unpacked > PAGE_BYTES:
                raise Unlike
            data = memory.read(handle, packed, place + size)
            if len(data) != packed or (4 in head and zlib.crc32(data) != int(head[4]) & 0xFFFFFFFF):
                raise Unlike
            place += size + packed
            kind = head.get(1)
            if kind == DICTIONARY_PAGE and words is None:
                about = _part(head, 7)
                words = np.array(np.frombuffer(unpack(data, unpacked), self.dtype))  # the page's memory is used again
                if about.get(2) not in (PLAIN, PLAIN_DICTIONARY) or about.get(1) != len(words):
                    raise Unlike
                continue
            if kind == DATA_PAGE:
                about = _part(head, 5)
                count, encoding = _size(about, 1), about.get(2)
                levels, body = self._first_levels(about, unpack(data, unpacked))
            elif kind == DATA_PAGE_V2:
                about = _part(head, 8)
                count, encoding = _size(about, 1), about.get(4)
                levels, body = _second_levels(about, data, unpacked, unpack)
            else:
                raise Unlike
            self._require(count, seen % self.width, *levels)
            yield self._numbers(body, count, encoding, words)
            seen += count

    def _first_levels(self, about: dict[int, Any], data: Any) -> tuple[tuple[bytes, bytes], memoryview]:
        """Levels of a page of the first kind, each with its length before it, and what follows."""
        if about.get(3) != RLE or about.get(4) != RLE:
            raise Unlike
        view, found = memoryview(data), []
        for _ in range(2 if self.most else 1):
            length = int.from_bytes(view[:4], "little")
            if 4 + length > len(view):
                raise Unlike
            found.append(bytes(view[4 : 4 + length]))
            view = view[4 + length :]
        return (found[0], found[1] if self.most else b""), view

    def _require(self, count: int, begun: int, repetition: bytes, definition: bytes) -> None:
        """Refuse levels that are not those of lists of this length; ``begun`` numbers of one came before."""
        key = (count, begun, repetition, definition)
        if key in self.known:
            return
        starts = np.flatnonzero(_hybrid(repetition, count, 1) == 0)
        there = _hybrid(definition, count, self.most.bit_length()) if self.most else np.zeros(count, np.int64)
        if not np.array_equal(starts, np.arange(-begun % self.width, count, self.width)) or np.any(there != self.most):
            raise Unlike
        if len(self.known) >= PATTERNS:
            self.known.clear()
        self.known.add(key)

    def _numbers(self, body: memoryview, count: int, encoding: Any, words: NDArray[Any] | None) -> NDArray[Any]:
        if encoding == PLAIN:
            if len(body) != count * self.dtype.itemsize:
                raise Unlike
            return np.frombuffer(body, self.dtype)
        if encoding not in (PLAIN_DICTIONARY, RLE_DICTIONARY) or words is None or not len(body):
            raise Unlike
        index = _hybrid(bytes(body[1:]), count, body[0])
        if count and int(index.max()) >= len(words):
            raise Unlike
        return words[index]


class Blocks:
    """Memory of one reader for the blocks that it hands out: used again once nobody holds any of it.

    Fresh memory has to be cleared by the system first, which takes a third of the time of filling it. Pages are read
    into one piece that stays in the caches.
    """

    def __init__(self) -> None:
        self.page = bytearray()
        self.held: list[NDArray[Any]] = [np.empty(0)]
        self.free = sys.getrefcount(self.held[0])  # of an array that nothing holds but the list

    def of(self, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """A block of so many numbers."""
        for place in range(len(self.held)):
            if sys.getrefcount(self.held[place]) == self.free and len(self.held[place]) >= size > 0:
                return self.held[place][:size]
        made = np.empty(size, dtype)
        self.held = [*self.held[1 - HELD :], made]
        return made[:]

    def read(self, handle: int, size: int, place: int) -> memoryview:
        """So many bytes of a file, fewer at its end; the next call overwrites them."""
        if not hasattr(os, "preadv"):
            return memoryview(os.pread(handle, size, place))
        if len(self.page) < size:
            self.page = bytearray(size + size // 8)
        view = memoryview(self.page)[:size]
        return view[: os.preadv(handle, [view], place)]


def list_column(meta: Any, name: str, width: int, dtype: Any) -> ListColumn | None:
    """The column of lists called so, where its pages may be taken as they lie; None otherwise."""
    leaves = [j for j in range(meta.num_columns) if meta.schema.column(j).path.split(".")[0] == name]
    if len(leaves) != 1 or not hasattr(os, "pread") or sys.byteorder != "little":
        return None
    leaf = meta.schema.column(leaves[0])
    plain = DTYPES.get(leaf.physical_type)
    if plain is None or np.dtype(plain) != dtype or leaf.max_repetition_level != 1 or width < 1:
        return None
    if any(meta.row_group(g).column(leaves[0]).compression not in CODECS for g in range(meta.num_row_groups)):
        return None
    return ListColumn(leaves[0], width, np.dtype(plain), int(leaf.max_definition_level))


def _unpacking(name: str) -> Any:
    """What unpacks a page: bytes and their number unpacked."""
    import pyarrow as pa

    kind = CODECS[name]
    codec = None if kind is None else pa.Codec(kind)

    def unpack(data: Any, size: int) -> Any:
        if codec is None or not size:
            found = data
        else:
            try:
                found = codec.decompress(data, decompressed_size=size)
            except (pa.ArrowException, OSError) as error:
                raise Unlike from error
        if len(found) != size:
            raise Unlike
        return found

    return unpack


def _second_levels(
    about: dict[int, Any], data: memoryview, unpacked: int, unpack: Any
) -> tuple[tuple[bytes, bytes], memoryview]:
    """Levels of a page of the second kind, which are not packed, and what follows."""
    definition, repetition = _size(about, 5), _size(about, 6)
    both = definition + repetition
    if both > min(len(data), unpacked) or about.get(2) != 0:
        raise Unlike
    rest = data[both:]
    body = unpack(rest, unpacked - both) if about.get(7, True) else rest
    return (bytes(data[:repetition]), bytes(data[repetition:both])), memoryview(body)


# levels and indices


def _hybrid(data: bytes, count: int, bits: int) -> NDArray[np.int64]:
    """``count`` numbers of ``bits`` bits each, in runs of equal ones and in packed groups of eight."""
    if not 0 <= bits <= 24:
        raise Unlike
    out, at, place, width = np.zeros(count, np.int64), 0, 0, (bits + 7) // 8
    packed: list[tuple[int, int, int]] = []  # where in the output, first byte, bytes
    while at < count:
        run, place = _varint(data, place)
        if run & 1:
            length = (run >> 1) * bits
            if place + length > len(data) or not run >> 1:
                raise Unlike
            packed.append((at, place, length))
            at, place = at + 8 * (run >> 1), place + length
        else:
            if place + width > len(data) or not run >> 1:
                raise Unlike
            out[at : at + (run >> 1)] = int.from_bytes(data[place : place + width], "little")
            at, place = at + (run >> 1), place + width
    if packed and bits:
        values = _unpacked(b"".join(data[first : first + length] for _, first, length in packed), bits)
        first = 0
        for start, _, length in packed:
            size = 8 * length // bits
            stop = min(count, start + size)
            out[start:stop] = values[first : first + stop - start]
            first += size
    return out


def _unpacked(data: bytes, bits: int) -> NDArray[np.int64]:
    """Numbers of so many bits, the lowest first: eight of them in as many bytes as they have bits."""
    groups, padded = len(data) // bits, data + bytes(4)
    out = np.empty((groups, 8), np.int64)
    for i in range(8):
        byte, shift = divmod(i * bits, 8)  # four bytes hold it, as it has 24 bits at most
        words = np.ndarray((groups,), "<u4", padded, byte, (bits,))
        np.bitwise_and(words >> np.uint32(shift), np.uint32((1 << bits) - 1), out=out[:, i])
    return out.reshape(-1)


# headers: Thrift, compact protocol


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where the next one is."""
    value = shift = 0
    while place < len(data) and shift <= 63:
        byte = data[place]
        value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
        if byte < 128:
            return value, place
    raise Unlike


def _header(data: bytes) -> tuple[dict[int, Any], int]:
    """Fields of a page header by number, and its bytes."""
    return _struct(data, 0, 0)


def _struct(data: bytes, place: int, depth: int) -> tuple[dict[int, Any], int]:
    fields: dict[int, Any] = {}
    number = 0
    while True:
        if place >= len(data) or depth > 4:
            raise Unlike
        byte, place = data[place], place + 1
        if byte == 0:
            return fields, place
        kind = byte & 15
        if byte >> 4:
            number += byte >> 4
        else:
            number, place = _signed(data, place)
        fields[number], place = _value(data, place, kind, depth)


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):  # a truth value, in the type itself
        return kind == 1, place
    if kind in (4, 5, 6):  # whole numbers of 16, 32 and 64 bits
        return _signed(data, place)
    if kind == 8:  # bytes: ends of statistics, which nobody asks for here
        length, place = _varint(data, place)
        return None, place + length
    if kind == 12:
        return _struct(data, place, depth + 1)
    raise Unlike


def _signed(data: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(data, place)
    return value >> 1 ^ -(value & 1), place


def _size(fields: dict[int, Any], number: int) -> int:
    """A field that holds a size."""
    value = fields.get(number)
    if type(value) is not int or not 0 <= value < 1 << 31:
        raise Unlike
    return value


def _part(fields: dict[int, Any], number: int) -> dict[int, Any]:
    value = fields.get(number)
    if not isinstance(value, dict):
        raise Unlike
    return value
