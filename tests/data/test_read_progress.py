"""Looking at a long file takes time: it is shown, it can be stopped, and it can be told to be silent."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz._core import progress
from ritz._core.errors import Cancelled


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    """A terminal in the place of stderr; in the test itself, as pytest puts its own there after every fixture."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    return stream


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "".join(f"{i % 97},{i % 89}.5\n" for i in range(400_000)))
    return path


@pytest.mark.parametrize("memory", ["8MB", "1GB"])  # in pieces, and in memory
def test_the_scan_of_a_text_file_is_reported_to_its_end(text, memory):
    seen = []
    table = ritz.read(text, memory=memory, progress=seen.append)
    assert table.lazy == (memory == "8MB")
    scan = [event for event in seen if event.stage == "scanning"]
    assert len(scan) >= (4 if table.lazy else 2)
    assert scan[-1].bytes == scan[-1].expected == text.stat().st_size - len("a,b\n")
    assert scan[-1].passes == pytest.approx(1)
    assert not scan[-1].beyond


def test_a_second_look_for_another_encoding_is_a_second_pass(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 600_000 + b"1,\xfc\n")
    seen = []
    ritz.read(path, memory="8MB", progress=seen.append)
    starts = [event for event in seen if event.stage == "scanning" and event.bytes == 0]
    assert len(starts) == 2


def test_a_bar_on_a_terminal_and_none_where_it_is_not_wanted(text, monkeypatch):
    shown = terminal(monkeypatch)
    ritz.read(text, memory="8MB")
    assert "read: scanning, pass 1, " in shown.getvalue()
    assert "of 3 MB" in shown.getvalue()
    shown = terminal(monkeypatch)
    ritz.read(text, memory="8MB", progress=False)
    assert shown.getvalue() == ""


def test_a_scan_can_be_stopped(text):
    with pytest.raises(Cancelled, match=r"read was stopped by its progress function in stage 'scanning'"):
        ritz.read(text, memory="8MB", progress=lambda event: event.bytes < 1_000_000)


def test_packed_text_is_unpacked_aloud(text, tmp_path):
    packed = tmp_path / "long.csv.gz"
    packed.write_bytes(gzip.compress(text.read_bytes(), 1))
    seen = []
    ritz.read(packed, progress=seen.append)
    assert max(event.bytes for event in seen if event.stage == "unpacking") == text.stat().st_size


def test_text_columns_of_parquet_are_looked_at_aloud(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"key": [f"k{i}" for i in range(30_000)], "x": np.arange(30_000) % 7.0}), path)
    seen = []
    assert ritz.read(path, memory="100kB", progress=seen.append).kinds["key"] == "identifier"
    assert max(event.done for event in seen if event.stage.startswith("looking")) == 30_000
    seen.clear()
    ritz.read(path, progress=seen.append)
    assert max(event.done for event in seen if event.stage == "loading rows") == 30_000
