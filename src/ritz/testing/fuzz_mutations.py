"""What can happen to a model file.

    disk        cut short, bits flipped, bytes overwritten, pieces swapped, grown, parts of another file
    harm        the table is changed and every checksum made true again, so that the checks behind them are met:
                lengths, offsets, shapes, dtypes, names that are paths, keys twice, deep nesting, huge numbers, NaN,
                values of other types, values that moved, fields that are gone, arrays with other bytes

``mutate(data, other, rng)`` gives the name of what was done and the bytes; the same for the same generator.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["mutate"]

Rng = np.random.Generator
PREFIX = struct.Struct("<8sII")
#: Bytes from which on a file is not taken apart once more: that would take the memory which is being watched.
LARGE = 300_000

HUGE = [2**31, 2**32 - 1, 2**53, 2**62, 2**63, 2**64, 10**30, 10**400, -1, -(2**63), 0, 1, 3, 0.5, 1e308, -0.0, True]
ODD: list[Any] = [
    None, True, "", "x", "../../etc/passwd", "/etc/shadow", "a\x00b", "os.system", "__import__", [], {}, [[]], -1, 0, 7,
    1.5, 10**20, "nan", {"float": "nan"}, {"float": "inf"}, {"array": "absent"}, {"array": ["x"]}, {"list": 3},
    {"tuple": [1, 2]}, {"dict": []}, {"dtype": "O"}, {"dtype": "<U9"}, {"dtype": "f8,f8"}, {"scalar": ["<f8", "x"]},
    {"scalar": ["O", 1]}, {"record": "Popen", "fields": {}}, {"record": "Moments", "fields": {}},
    {"kernel": {"name": "os.system"}}, {"kernel": {"name": "RBF", "gamma": -1.0}}, {"slice": [0, 10**9, 1]},
    {"csr": {}}, {"names": [1]}, {"names": ["a", "a"]}, {"texts": ["list", "absent"]}, {"time": "yesterday"},
    {"record": "Plan", "fields": {"solver": 1}}, {"kernel": {"name": "Subsequence", "length": 10**8, "decay": 0.5}},
    {"kernel": {"name": "Mismatch", "length": 30, "mismatches": 29}}, {"kernel": {"name": "Callable", "function": "f"}},
    {"kernel": {"name": "Polynomial", "degree": 10**9, "gamma": 1.0, "coef0": 1.0}}, {"python/object": "os.system"},
]  # fmt: skip
DTYPES = [
    "O",
    "<U8",
    "|S8",
    "<c16",
    "<M8[s]",
    "|V8",
    "f8,f8",
    ">f8",
    "<f4",
    "<i8",
    "|b1",
    "<f2",
    "|u1",
    "",
    "x" * 99,
    3,
]


def mutate(data: bytes, other: bytes, rng: Rng) -> tuple[str, bytes]:
    """One mutation; sometimes two, one after the other."""
    kind, out = _one(data, other, rng)
    if rng.random() < 0.15:
        second, out = _one(out, other, rng)
        kind = f"{kind} + {second}" if second != kind else kind
    return kind.split(" + ")[0], out


def _one(data: bytes, other: bytes, rng: Rng) -> tuple[str, bytes]:
    if rng.random() < 0.3:
        name = _pick(rng, list(DISK))
        return name, DISK[name](data, other, rng)
    name = _pick(rng, list(HARM))
    opened = _open(data) if len(data) < LARGE else None
    if opened is None:  # an earlier mutation left no table, or a very large one
        return "flipped", _flipped(data, other, rng)
    return name, HARM[name](*opened, rng)


def _pick(rng: Rng, items: Any) -> Any:
    return items[int(rng.integers(len(items)))]


# --- faults of a disk -------------------------------------------------------------------------------------


def _cut(data: bytes, _other: bytes, rng: Rng) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def _flipped(data: bytes, _other: bytes, rng: Rng) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if out else 0):
        at = int(rng.integers(len(out)))
        out[at] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _overwritten(data: bytes, _other: bytes, rng: Rng) -> bytes:
    at, size = int(rng.integers(len(data) + 1)), int(rng.integers(1, 200))
    filling = rng.bytes(size) if rng.random() < 0.5 else bytes(size)
    return data[:at] + filling + data[at + size :]


def _swapped(data: bytes, _other: bytes, rng: Rng) -> bytes:
    a, b = sorted(int(i) for i in rng.integers(0, len(data) + 1, 2))
    return data[b:] + data[a:b] + data[:a]


def _grown(data: bytes, other: bytes, rng: Rng) -> bytes:
    return data + (bytes(int(rng.integers(1, 5000))) if rng.random() < 0.5 else other)


def _crossed(data: bytes, other: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(min(len(data), len(other)) + 1))
    return data[:at] + other[at:]


def _foreign(data: bytes, _other: bytes, rng: Rng) -> bytes:
    begun = [b"", b"PK\x03\x04", b"\x80\x04\x95", b"\x93NUMPY\x01\x00", b"{}", b"\x1f\x8b\x08", b"\x89HDF\r\n\x1a\n"]
    return _pick(rng, begun) + data[8 * int(rng.integers(2)) :]


DISK: dict[str, Callable[[bytes, bytes, Rng], bytes]] = {
    "cut": _cut, "flipped": _flipped, "overwritten": _overwritten, "swapped": _swapped, "grown": _grown,
    "crossed": _crossed, "foreign": _foreign,
}  # fmt: skip


# --- files that are made, with checksums that fit ---------------------------------------------------------


def _open(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The table and the bytes of the arrays, or None."""
    try:
        length = PREFIX.unpack(data[:16])[2]
        table = json.loads(data[16 : 16 + length])
        ok = isinstance(table, dict) and isinstance(table["arrays"], list) and isinstance(table["header"], dict)
    except (ValueError, KeyError, struct.error, RecursionError):
        return None
    return (table, data[16 + length : -32]) if ok else None


def _made(table: Any, body: bytes, version: int = 1, length: int | None = None) -> bytes:
    """A file with this table and true checksums."""
    try:
        text = table if isinstance(table, bytes) else json.dumps(table).encode()
    except ValueError:  # a number of more digits than Python writes
        text = b'{"n": ' + b"9" * 5000 + b"}"
    text += b" " * (-(16 + len(text)) % 64)
    size = len(text) if length is None else length
    data = PREFIX.pack(b"\x93RITZ\r\n\x1a", version & 0xFFFFFFFF, size & 0xFFFFFFFF) + text + body
    return data + hashlib.sha256(data).digest()


def _summed(table: dict[str, Any], body: bytes) -> bytes:
    """The same with the checksum of every array made true."""
    for entry in table["arrays"]:
        if isinstance(entry, dict) and all(type(entry.get(k)) is int for k in ("offset", "nbytes")):
            entry["crc"] = zlib.crc32(body[entry["offset"] : entry["offset"] + max(entry["nbytes"], 0)])
    return _made(table, body)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values inside a JSON value."""
    paths = [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        paths += _places(item, (*path, key))
    return paths


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _spot(table: dict[str, Any], rng: Rng, root: str = "header") -> tuple[Any, Any]:
    """A container and a key in it, somewhere under a root of the table."""
    path = _pick(rng, _places(table[root])[1:] or [()])
    return (_at(table[root], path[:-1]), path[-1]) if path else (table, root)


def _odd_value(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    parent, key = _spot(table, rng)
    parent[key] = _pick(rng, ODD)
    return _made(table, body)


def _huge_number(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    numbers = [p for p in _places(table["header"]) if type(_at(table["header"], p)) in (int, float) and p]
    parent, key = _spot(table, rng)
    if numbers:
        path = _pick(rng, numbers)
        parent, key = _at(table["header"], path[:-1]), path[-1]
    parent[key] = _pick(rng, HUGE)
    return _made(table, body)


def _gone(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    parent, key = _spot(table, rng)
    if isinstance(parent, dict) and rng.random() < 0.3:
        parent[_pick(rng, ["transform", "__class__", "__dict__", "fit", "_map", "../x", "é" * 300])] = parent.pop(key)
    else:
        del parent[key]
    return _made(table, body)


def _moved(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    (a, i), (b, j) = _spot(table, rng), _spot(table, rng)
    a[i], b[j] = b[j], a[i]
    try:
        return _made(table, body)
    except (ValueError, RecursionError):  # a value that came to lie inside itself
        return _made({"kind": "model"}, body)


def _entry(table: dict[str, Any], rng: Rng) -> dict[str, Any]:
    entries = [e for e in table["arrays"] if isinstance(e, dict)] or [{}]
    entry: dict[str, Any] = _pick(rng, entries)
    return entry


def _lengths(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    entry = _entry(table, rng)
    entry[_pick(rng, ["offset", "nbytes", "crc"])] = _pick(rng, HUGE)
    return _summed(table, body) if rng.random() < 0.5 else _made(table, body)


def _shapes(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    entry = _entry(table, rng)
    shape = list(entry.get("shape") or [1])
    way = int(rng.integers(6))
    if way == 0:
        shape = shape[::-1]
    elif way == 1:
        shape = [int(np.prod(shape))] if all(type(s) is int for s in shape) else shape
    elif way == 2:
        shape = [*shape, 1]
    elif way == 3:
        shape[int(rng.integers(len(shape)))] = _pick(rng, HUGE)
    elif way == 4:
        shape = [2**31] * int(rng.integers(1, 40))
    else:
        shape = _pick(rng, [[], [0], [1] * 33, [0, 2**60], "3", None, {"a": 1}, [-1, -1], [1.5]])
    entry["shape"] = shape
    if rng.random() < 0.5:
        plain = isinstance(shape, list) and all(type(s) is int and 0 <= s < 2**62 for s in shape)
        entry["nbytes"] = int(np.prod(shape, dtype=object)) * 8 if plain else entry.get("nbytes", 0)
    return _summed(table, body)


def _dtypes(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    entry = _entry(table, rng)
    entry["dtype"] = _pick(rng, DTYPES)
    if rng.random() < 0.5 and isinstance(entry.get("nbytes"), int):
        size = {"<f4": 4, "|b1": 1, "|u1": 1, "<f2": 2}.get(str(entry["dtype"]), 8)
        entry["shape"] = [entry["nbytes"] // size]
    return _summed(table, body)


def _names(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    entry = _entry(table, rng)
    entry["name"] = _pick(rng, ["../../x", "/etc/passwd", "", "\x00", "C:\\x", "a" * 5000, 3, None, ["x"], "fitted"])
    return _made(table, body)


def _repeated(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    if rng.random() < 0.4:
        table["arrays"].append(dict(_entry(table, rng)))
        return _made(table, body)
    text = json.dumps(table)
    key = _pick(rng, ['"header"', '"kind"', '"arrays"', '"dict"', '"estimator"', '"fitted"'])
    at = text.find(key)
    twice = text[:at] + f"{key}: {json.dumps(_pick(rng, ODD))}, " + text[at:] if at >= 0 else text
    return _made(twice.encode(), body)


def _nested(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    depth = int(rng.integers(30, 100_000)) if rng.random() < 0.7 else int(rng.integers(10, 60))
    left, right = _pick(rng, [("[", "]"), ('{"list": [', "]}"), ('{"dict": {"a": ', "}}"), ('{"a": ', "}")])
    if rng.random() < 0.2:
        right = ""
    parent, key = _spot(table, rng)
    parent[key] = "@@"
    text = json.dumps(table).replace('"@@"', left * depth + "1" + right * depth, 1)
    return _made(text.encode(), body)


def _no_json(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    parent, key = _spot(table, rng)
    parent[key] = "@@"
    odd = ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "01", "nul", "'x'", '"\\ud800"', "1,", "/**/1", "\x00"]
    text = json.dumps(table).replace('"@@"', _pick(rng, odd), 1).encode()
    return _made(text if rng.random() < 0.9 else b"\xff\xfe" + text, body)


def _wide(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    parent, key = _spot(table, rng)
    parent[key] = "@@"
    many = "[" + ",".join([_pick(rng, ["[]", "{}", "0", '""'])] * int(rng.integers(1000, 1_500_000))) + "]"
    return _made(json.dumps(table).replace('"@@"', many, 1).encode(), body)


def _prefix(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    version = _pick(rng, [0, 1, 2, 99, 2**32 - 1])
    length = _pick(rng, [None, 0, 1, 2**31, 2**32 - 1, len(body)])
    if rng.random() < 0.5:
        table["header"][_pick(rng, ["format", "ritz", "estimator", "functions"])] = _pick(rng, [*ODD, 2, 99])
    return _made(table, body, version if rng.random() < 0.5 else 1, length)


def _content(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    """Other numbers in an array: NaN, infinity, zero, places that are not there."""
    entry = _entry(table, rng)
    at, size = entry.get("offset", 0), entry.get("nbytes", 0)
    if not (type(at) is int and type(size) is int and 0 < size <= len(body) - at and at >= 0):
        return _made(table, body)
    out = bytearray(body)
    way = int(rng.integers(4))
    if way == 0:
        out[at : at + size] = rng.bytes(size)
    elif way == 1:
        out[at : at + size] = bytes(size)
    elif way == 2:
        special = struct.pack("<d", _pick(rng, [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324]))
        out[at : at + size] = (special * (size // 8 + 1))[:size]
    else:
        special = struct.pack("<q", int(_pick(rng, [-1, 2**62, 2**31, -(2**63), 10**6])))
        place = at + 8 * int(rng.integers(max(size // 8, 1)))
        out[place : place + min(8, at + size - place)] = special[: min(8, at + size - place)]
    return _summed(table, bytes(out))


def _aliased(table: dict[str, Any], body: bytes, rng: Rng) -> bytes:
    """One array in the place of another: lengths and kinds that do not belong together."""
    refs = [p for p in _places(table["header"]) if p and p[-1] in ("array", "columns")]
    names = [e.get("name") for e in table["arrays"] if isinstance(e, dict)]
    if refs and names:
        path = _pick(rng, refs)
        parent = _at(table["header"], path[:-1])
        if isinstance(parent, dict):
            value = parent.pop(path[-1])
            parent[_pick(rng, ["array", "columns"])] = _pick(rng, names) if rng.random() < 0.8 else value
    return _made(table, body)


HARM: dict[str, Callable[[dict[str, Any], bytes, Rng], bytes]] = {
    "odd value": _odd_value, "huge number": _huge_number, "gone": _gone, "moved": _moved, "lengths": _lengths,
    "shapes": _shapes, "dtypes": _dtypes, "names": _names, "repeated": _repeated, "nested": _nested,
    "no json": _no_json, "wide": _wide, "prefix": _prefix, "content": _content, "aliased": _aliased,
}  # fmt: skip
