"""One file for a JSON header and named arrays: states, checkpoints and models all use it.

    bytes 0..7    magic  b"\\x93RITZ\\r\\n\\x1a"   (line-ending and text-mode damage shows here)
    bytes 8..11   container version             little-endian uint32
    bytes 12..15  length h of the table         little-endian uint32
    bytes 16..    table: UTF-8 JSON, h bytes    {kind, header, arrays: name, dtype, shape, offset, …}
    64-aligned    raw arrays, little-endian, C order, zero bytes between them
    last 32       SHA-256 of everything before

Nothing in a file is executed, and every length is compared with the size of the file before memory is asked
for, so a damaged or hostile file costs its own size and what its table may hold, and ends in a FileError. The
table is strict JSON: no NaN, no key twice. Numbers that are not finite belong into arrays.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ritz._core.atomic import replacing
from ritz._core.errors import FileError, ParameterError

__all__ = ["pack_container", "read_container", "write_container"]

MAGIC = b"\x93RITZ\r\n\x1a"
VERSION = 1
PREFIX = struct.Struct("<8sII")
ALIGNMENT = 64
DIGEST_BYTES = 32
CHUNK = 1 << 20
TABLE_LIMIT = 64 << 20  # a header is words and small numbers; more than this is damage
DTYPES = frozenset({"|b1", "|i1", "|u1", *(f"<{k}{b}" for k in "iu" for b in (2, 4, 8)), "<f2", "<f4", "<f8"})
TABLE_VALUES = 1_000_000  # in JSON, two bytes can make a list of 80: this many values are at most 80 MB
MAX_DIMENSIONS = 32
LARGEST = 1 << 62


@dataclass(frozen=True)
class _Entry:
    """Where one array lies."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int
    crc: int


def write_container(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write ``header`` (anything JSON can hold) and ``arrays`` to ``path``, whole or not at all.

    Arrays must hold plain numbers or booleans of at most 8 bytes; any memory order and byte order is accepted
    and stored as C order, little-endian.
    """
    with replacing(path) as file:
        pack_container(file, kind, header, arrays)


def pack_container(file: BinaryIO, kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a container to an open file, from front to back."""
    plain = {name: _storable(name, array) for name, array in arrays.items()}
    table, start = _lay_out(kind, header, plain)
    digest = hashlib.sha256()
    position = _emit(file, digest, PREFIX.pack(MAGIC, VERSION, len(table)) + table)
    for entry, array in zip(json.loads(table)["arrays"], plain.values(), strict=True):
        position += _emit(file, digest, bytes(start + entry["offset"] - position))
        position += _emit(file, digest, _raw(array))
    file.write(digest.digest())


def read_container(
    path: str | os.PathLike[str], kind: str | None = None, max_bytes: int | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read and verify a container.

    Parameters
    ----------
    path : path
    kind : str, optional
        What the file must hold, such as ``"model"``; any kind without it.
    max_bytes : int, optional
        Refuse larger files.

    Returns
    -------
    header : dict
    arrays : dict of writable ndarrays
    """
    path = Path(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # to open a pipe is to wait for its writer
            raise FileError(f"expected a file at {path}", received="a pipe or a device", hint="check the path")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if max_bytes is not None and size > max_bytes:
                raise FileError(
                    f"expected {path} to hold at most {max_bytes} bytes",
                    received=f"{size} bytes",
                    hint="raise max_bytes",
                )
            return _read(file, size, path, kind)
    except FileError:
        raise
    except FileNotFoundError as error:
        raise FileError(f"expected a file at {path}", received="nothing there", hint="check the path") from error
    except OSError as error:
        raise FileError(
            f"expected {path} to be readable", received=error.strerror or str(error), hint="check the path"
        ) from error


# --- writing ----------------------------------------------------------------------------------------------


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    plain = np.asarray(array)
    code = plain.dtype.newbyteorder("<").str
    if code not in DTYPES or plain.ndim > MAX_DIMENSIONS:
        raise ParameterError(
            f"array {name!r} of plain numbers or booleans",
            received=f"dtype {plain.dtype}, shape {plain.shape}",
            hint="convert it, e.g. with astype('float64'), or put text into the header",
        )
    # reshape: ascontiguousarray turns a scalar into one dimension.
    return np.ascontiguousarray(plain, dtype=code).reshape(plain.shape)


def _lay_out(kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, int]:
    """Build the table; offsets count from the end of the table, so that its own length does not matter."""
    entries, offset = [], 0
    for name, array in arrays.items():
        entries.append(
            {
                "name": name,
                "dtype": array.dtype.newbyteorder("<").str,
                "shape": list(array.shape),
                "offset": offset,
                "nbytes": array.nbytes,
                "crc": zlib.crc32(_raw(array)),
            }
        )
        offset += _aligned(array.nbytes)
    try:
        content = {"kind": kind, "header": dict(header), "arrays": entries}
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        table = text.encode()
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "a header of JSON values", received=str(error), hint="numbers, text, lists and dictionaries only"
        ) from error
    table += b" " * (_aligned(PREFIX.size + len(table)) - PREFIX.size - len(table))
    return table, PREFIX.size + len(table)


def _emit(file: BinaryIO, digest: Any, data: bytes | memoryview) -> int:
    digest.update(data)
    file.write(data)
    return len(data)


def _raw(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


# --- reading ----------------------------------------------------------------------------------------------


def _read(file: BinaryIO, size: int, path: Path, kind: str | None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    prefix = file.read(PREFIX.size)
    if len(prefix) < PREFIX.size or prefix[:8] != MAGIC:
        raise FileError(f"expected {path} to be a Ritz file", received=_first_bytes(prefix), hint="check the path")
    _, version, length = PREFIX.unpack(prefix)
    if version != VERSION:
        raise FileError(
            f"expected container version {VERSION} in {path}",
            received=f"version {version}",
            hint="install a newer Ritz" if version > VERSION else "copy or write the file again",
        )
    body = size - DIGEST_BYTES
    if length > min(TABLE_LIMIT, body - PREFIX.size):
        raise _damaged(path, f"a table of {length} bytes in a file of {size}")
    _verify_digest(file, body, path)
    file.seek(PREFIX.size)
    table = _parse(file.read(length), path)
    if kind is not None and table["kind"] != kind:
        raise FileError(
            f"expected a file of kind {kind!r} at {path}", received=f"kind {table['kind']!r}", hint="check the path"
        )
    start = PREFIX.size + length
    entries = _entries(table["arrays"], body - start, path)
    return table["header"], {entry.name: _load(file, entry, start, path) for entry in entries}


def _verify_digest(file: BinaryIO, body: int, path: Path) -> None:
    """Read the whole file once in chunks and compare its checksum."""
    digest, left = hashlib.sha256(), body
    file.seek(0)
    while left > 0:
        data = file.read(min(CHUNK, left))
        if not data:
            raise _damaged(path, "a file that ends too early")
        digest.update(data)
        left -= len(data)
    if file.read(DIGEST_BYTES + 1) != digest.digest():
        raise _damaged(path, "a checksum that does not fit the content")


def _parse(data: bytes, path: Path) -> dict[str, Any]:
    # Every value but the first has one of these before it.
    if sum(data.count(sign) for sign in (b",", b":", b"[", b"{")) > TABLE_VALUES:
        raise _damaged(path, f"a table of more than {TABLE_VALUES:,} values")
    try:
        table = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"a table that is no JSON ({type(error).__name__})") from error
    types = {"kind": str, "header": dict, "arrays": list}
    if not isinstance(table, dict) or any(not isinstance(table.get(k), t) for k, t in types.items()):
        raise _damaged(path, "a table without kind, header and arrays")
    return table


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of a JSON text; Python would take the last of two values for one key, other readers the first."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError("a key twice in one object")
    return mapping


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _entries(items: list[Any], room: int, path: Path) -> list[_Entry]:
    """Check the array table against the ``room`` that the file has for arrays."""
    entries = [_entry(item, room, path) for item in items]
    names = [e.name for e in entries]
    if len(set(names)) != len(names):
        raise _damaged(path, "two arrays of the same name")
    end = 0
    for entry in sorted((e for e in entries if e.nbytes), key=lambda e: e.offset):
        if entry.offset < end:
            raise _damaged(path, f"arrays that overlap at {entry.name!r}")
        end = entry.offset + entry.nbytes
    return entries


def _entry(item: Any, room: int, path: Path) -> _Entry:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise _damaged(path, "an array without a name")
    name, dtype, shape = item["name"], item.get("dtype"), item.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise _damaged(path, f"array {name!r} of dtype {str(dtype)[:40]!r}")
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS or not all(_is_count(s) for s in shape):
        raise _damaged(path, f"array {name!r} of shape {str(shape)[:40]}")
    numbers = [item.get(key) for key in ("offset", "nbytes", "crc")]
    if not all(_is_count(v) for v in numbers):
        raise _damaged(path, f"array {name!r} whose position in the file is not a number")
    entry = _Entry(name, dtype, tuple(shape), *[int(v) for v in numbers if v is not None])
    # Zeros count as one: NumPy refuses an empty array whose other sides are astronomical.
    if math.prod(max(s, 1) for s in shape) > LARGEST // 8:
        raise _damaged(path, f"array {name!r} of shape {str(shape)[:40]}")
    if entry.nbytes != math.prod(shape) * np.dtype(dtype).itemsize or entry.offset % ALIGNMENT:
        raise _damaged(path, f"array {name!r} whose length does not fit its shape")
    if entry.offset + entry.nbytes > room:
        raise _damaged(path, f"array {name!r} that ends after the file")
    return entry


def _is_count(value: Any) -> bool:
    """An integer in [0, 2^62]; JSON allows any length, and True is an int in Python."""
    return type(value) is int and 0 <= value <= LARGEST


def _load(file: BinaryIO, entry: _Entry, start: int, path: Path) -> NDArray[Any]:
    array = np.empty(entry.shape, dtype=entry.dtype)
    raw = _raw(array)
    file.seek(start + entry.offset)
    if entry.nbytes and file.readinto(raw) != entry.nbytes:  # type: ignore[attr-defined]
        raise _damaged(path, f"array {entry.name!r} cut short")
    if zlib.crc32(raw) != entry.crc:
        raise _damaged(path, f"array {entry.name!r} with a wrong checksum")
    if entry.dtype == "|b1" and array.size and array.view(np.uint8).max() > 1:
        raise _damaged(path, f"array {entry.name!r} with booleans other than 0 and 1")
    return array


def _damaged(path: Path, received: str) -> FileError:
    return FileError(
        f"expected {path} to be an undamaged Ritz file", received=received, hint="copy or write the file again"
    )


def _first_bytes(prefix: bytes) -> str:
    return "an empty file" if not prefix else f"a file that begins with {prefix[:8].decode('latin-1')!r}"
