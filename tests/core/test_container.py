"""A container gives back what went in, and nothing that was damaged."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import tracemalloc

import numpy as np
import pytest

from ritz._core.container import ALIGNMENT, DTYPES, MAGIC, PREFIX, VERSION, read_container, write_container
from ritz._core.errors import FileError, ParameterError

HEADER = {"n": 3, "name": "Weißwein", "nested": {"a": [1.5, None, True]}}
ARRAYS = {
    "values": np.arange(6.0).reshape(2, 3),
    "mask": np.array([True, False]),
    "empty": np.empty((0, 4), "f4"),
}


@pytest.fixture
def path(tmp_path):
    write_container(tmp_path / "a.ritz", "model", HEADER, ARRAYS)
    return tmp_path / "a.ritz"


def table_of(data):
    length = PREFIX.unpack(data[: PREFIX.size])[2]
    return json.loads(data[PREFIX.size : PREFIX.size + length]), data[PREFIX.size + length : -32]


def forged(table, body, *, version=VERSION, magic=MAGIC, length=None):
    """A file with the given table and a checksum that fits, as an attacker would write it."""
    text = json.dumps(table).encode() if not isinstance(table, bytes) else table
    data = struct.pack("<8sII", magic, version, len(text) if length is None else length) + text + body
    return data + hashlib.sha256(data).digest()


def test_gives_back_header_and_arrays(path):
    header, arrays = read_container(path, kind="model")
    assert header == HEADER
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].flags.writeable
        np.testing.assert_array_equal(arrays[name], array, strict=True)


@pytest.mark.parametrize("code", sorted(DTYPES))
def test_every_allowed_dtype_and_order(tmp_path, code):
    base = (np.arange(24) % 2).reshape(2, 3, 4).astype(code)
    forms = {"C": base, "F": np.asfortranarray(base), "view": base[:, ::-1, ::2], "scalar": base[0, 0, 1]}
    forms["swapped"] = base.astype(base.dtype.newbyteorder(">"))
    write_container(tmp_path / "x", "k", {}, forms)
    for name, array in read_container(tmp_path / "x")[1].items():
        assert array.dtype.str == code
        assert array.shape == forms[name].shape
        np.testing.assert_array_equal(array, forms[name])


def test_nan_payloads_and_signed_zero_survive(tmp_path):
    x = np.array([np.nan, -0.0, np.inf, 5e-324])
    write_container(tmp_path / "x", "k", {}, {"x": x})
    assert read_container(tmp_path / "x")[1]["x"].tobytes() == x.tobytes()


def test_arrays_lie_aligned_and_the_file_is_plain_json_and_bytes(path):
    data = path.read_bytes()
    table, body = table_of(data)
    start = len(data) - 32 - len(body)
    assert start % ALIGNMENT == 0
    for entry in table["arrays"]:
        assert entry["offset"] % ALIGNMENT == 0
        raw = body[entry["offset"] : entry["offset"] + entry["nbytes"]]
        assert raw == ARRAYS[entry["name"]].tobytes()
    assert b"pickle" not in data


def test_same_content_gives_the_same_bytes(path, tmp_path):
    write_container(tmp_path / "b", "model", HEADER, ARRAYS)
    assert (tmp_path / "b").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("bad", [np.array(["a"]), np.array([{}], dtype=object), np.array([1j]), np.zeros(1, "M8[s]")])
def test_only_plain_numbers_are_written(tmp_path, bad):
    with pytest.raises(ParameterError, match=r"(?s)array 'x' of plain numbers.*received dtype.*hint"):
        write_container(tmp_path / "x", "k", {}, {"x": bad})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("header", [{"a": {1, 2}}, {"a": np.float64}, {"a": "\ud800"}])
def test_only_json_headers_are_written(tmp_path, header):
    with pytest.raises(ParameterError, match=r"(?s)a header of JSON values.*hint"):
        write_container(tmp_path / "x", "k", header, {})
    assert os.listdir(tmp_path) == []


# --- whole or not at all ----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_litter(path, monkeypatch, step):
    before = path.read_bytes()

    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        write_container(path, "model", {}, {"x": np.ones(1000)})
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_an_interrupt_leaves_no_litter(path, monkeypatch):
    def fail(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        write_container(path, "model", {}, {})
    assert os.listdir(path.parent) == [path.name]


def test_missing_folder(tmp_path):
    with pytest.raises(FileError, match=r"(?s)to be writable; received No such file.*hint: check that the folder"):
        write_container(tmp_path / "no" / "x", "k", {}, {})


def test_permissions_are_those_of_an_ordinary_file(path, tmp_path):
    (tmp_path / "plain").write_text("")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    path.chmod(0o640)
    write_container(path, "model", {}, {})
    assert path.stat().st_mode & 0o777 == 0o640


# --- what the reader refuses ------------------------------------------------------------------------------


def test_missing_folder_kind_size_version_and_foreign_files(path, tmp_path):
    with pytest.raises(FileError, match=r"(?s)a file at .*nothing there\nhint"):
        read_container(tmp_path / "none")
    with pytest.raises(FileError, match=r"(?s)to be readable; received .*\nhint"):
        read_container(tmp_path)
    with pytest.raises(FileError, match=r"(?s)of kind 'state'.*received kind 'model'\nhint"):
        read_container(path, kind="state")
    with pytest.raises(FileError, match=r"(?s)at most 100 bytes.*received \d+ bytes\nhint: raise max_bytes"):
        read_container(path, max_bytes=100)
    assert read_container(path, max_bytes=path.stat().st_size)[0] == HEADER
    path.write_bytes(forged({}, b"", version=2))
    with pytest.raises(FileError, match=r"(?s)container version 1.*received version 2\nhint: install a newer"):
        read_container(path)
    for content, word in ((b"", "an empty file"), (b"a,b\n1,2\n" * 9, "begins with 'a,b")):
        path.write_bytes(content)
        with pytest.raises(FileError, match=f"(?s)to be a Ritz file; received .*{word}.*hint"):
            read_container(path)


def test_every_truncation_is_noticed(path):
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FileError, match="hint: "):
            read_container(path)
    path.write_bytes(data + b"\0")
    with pytest.raises(FileError, match="undamaged"):
        read_container(path)


def test_every_byte_is_covered_by_the_checksum(path):
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="hint: "):
            read_container(path)


ENTRY = {"name": "x", "dtype": "<f8", "shape": [2], "offset": 0, "nbytes": 16, "crc": 0}
FORGERIES = {
    "dtype object": {"dtype": "|O"},
    "dtype text": {"dtype": "<U4"},
    "dtype big-endian": {"dtype": ">f8"},
    "dtype list": {"dtype": [["a", "<f8"]]},
    "dtype None": {"dtype": None},
    "shape negative": {"shape": [-2]},
    "shape huge": {"shape": [1 << 60], "nbytes": 1 << 63},
    "shape beyond": {"shape": [1 << 40], "nbytes": 1 << 43},
    "shape endless": {"shape": [10**400]},
    "shape empty but endless": {"shape": [0, 1 << 61, 1 << 61], "nbytes": 0},
    "shape float": {"shape": [2.0]},
    "shape bool": {"shape": [True, 2]},
    "shape text": {"shape": "22"},
    "shape deep": {"shape": [1] * 64 + [2]},
    "offset negative": {"offset": -64},
    "offset beyond": {"offset": 1 << 40},
    "offset odd": {"offset": 8},
    "offset text": {"offset": "0"},
    "nbytes short": {"nbytes": 8},
    "nbytes None": {"nbytes": None},
    "crc wrong": {"crc": 1},
    "name number": {"name": 3},
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES.keys())
def test_forged_tables_with_a_right_checksum_are_refused_before_memory_is_asked_for(tmp_path, change):
    table = {"kind": "k", "header": {}, "arrays": [ENTRY | change]}
    (tmp_path / "x").write_bytes(forged(table, bytes(64)))
    tracemalloc.start()
    with pytest.raises(FileError, match=r"(?s)undamaged Ritz file; received .*hint: "):
        read_container(tmp_path / "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ({"kind": "k", "header": {}, "arrays": [ENTRY, ENTRY]}, "two arrays of the same name"),
        ({"kind": "k", "header": {}, "arrays": [ENTRY, ENTRY | {"name": "y"}]}, "overlap at 'y'"),
        ({"kind": "k", "header": {}, "arrays": [3]}, "without a name"),
        ({"kind": 3, "header": {}, "arrays": []}, "without kind"),
        ({"kind": "k", "header": [], "arrays": []}, "without kind"),
        ([], "without kind"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"1" * 5_000, "no JSON|without kind"),
    ],
)
def test_forged_structures(tmp_path, table, word):
    (tmp_path / "x").write_bytes(forged(table, bytes(64)))
    with pytest.raises(FileError, match=word):
        read_container(tmp_path / "x")


def test_table_longer_than_the_file(tmp_path):
    for length in (10_000, 0xFFFFFFFF):
        (tmp_path / "x").write_bytes(forged({}, bytes(64), length=length))
        with pytest.raises(FileError, match=f"a table of {length} bytes"):
            read_container(tmp_path / "x")


def test_booleans_other_than_0_and_1_are_refused(tmp_path):
    import zlib

    entry = ENTRY | {"dtype": "|b1", "nbytes": 2, "crc": zlib.crc32(b"\x07\x01")}
    table = {"kind": "k", "header": {}, "arrays": [entry]}
    (tmp_path / "x").write_bytes(forged(table, b"\x07\x01" + bytes(62)))
    with pytest.raises(FileError, match="booleans other than"):
        read_container(tmp_path / "x")


def test_fuzzed_files_end_in_file_error_or_the_same_content(path):
    """Random cuts, doublings, swaps and byte noise, half of them with the checksum made right again."""
    data, rng = path.read_bytes(), np.random.default_rng(7)
    refused = 0
    for trial in range(600):
        damaged = bytearray(data[:-32])
        for _ in range(int(rng.integers(1, 5))):
            i, j = sorted(int(v) for v in rng.integers(0, len(damaged), size=2))
            match int(rng.integers(5)):
                case 0:
                    damaged[i] = int(rng.integers(256))
                case 1:
                    del damaged[i : min(j, i + 16)]
                case 2:
                    damaged[i:i] = damaged[i : min(j, i + 32)]
                case 3:
                    damaged[i : i + 1] = str(int(rng.integers(1 << 62))).encode()
                case 4:
                    damaged[i : min(j, i + 8)] = b"-9999999"[: min(j, i + 8) - i]
        whole = bytes(damaged)
        whole += hashlib.sha256(whole).digest() if trial % 2 else data[-32:]
        path.write_bytes(whole)
        try:
            header, arrays = read_container(path)
        except FileError as error:
            refused += "hint: " in str(error)
        else:
            assert trial % 2 or whole == data  # only a forged checksum lets a change through, in names or header
            assert isinstance(header, dict)
            assert sum(a.nbytes for a in arrays.values()) <= len(whole)
    assert refused > 300
