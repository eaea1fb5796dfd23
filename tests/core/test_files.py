"""Locks, temporary files of dead processes, and files that appear together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import ritz._core.lock as lock
import ritz._core.together as together
from ritz._core.atomic import replacing, sweep
from ritz._core.errors import FileError
from ritz._core.journal import discard, journaling
from ritz._core.together import Together, finish, recorded
from ritz._core.visible import visible

HOLDER = """
import sys, time
from pathlib import Path
from ritz._core.lock import locked
from ritz._core.atomic import open_temporary
folder = Path(sys.argv[1])
with locked(folder / ".j" / "lock", folder):
    file, name = open_temporary(folder / "x.csv")
    file.write(b"half"); file.flush()
    print(name.name, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of a folder and writes to a temporary file there."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        process.temporary = process.stdout.readline().strip()
        yield process
        process.kill()


def held(folder):
    return lock.locked(folder / ".j" / "lock", folder)


def test_a_lock_names_its_process_and_ends_with_it(tmp_path, holder):
    with pytest.raises(FileError, match=rf"to be free; received a fit that writes to it \(process {holder.pid}, since"):
        held(tmp_path).__enter__()
    sweep(tmp_path)
    assert (tmp_path / holder.temporary).exists(), "what a process is writing is not taken away"
    holder.kill()
    holder.wait()
    assert (tmp_path / ".j/lock").exists()
    with held(tmp_path):
        pass
    (tmp_path / ".mine.tmp").write_text("")
    sweep(tmp_path)
    assert os.listdir(tmp_path) == [".mine.tmp"]


def test_without_locks_of_the_system_the_process_is_looked_for(tmp_path, holder, monkeypatch):
    monkeypatch.setattr(lock, "try_lock", lambda handle: None)
    with pytest.raises(FileError, match=f"process {holder.pid}"):
        held(tmp_path).__enter__()
    holder.kill()
    holder.wait()
    with held(tmp_path):
        pass
    for words in ("", "[]", '{"pid": 1, "host": "elsewhere"}', '{"pid": "x"}'):
        (tmp_path / ".j").mkdir(exist_ok=True)
        (tmp_path / ".j/lock").write_text(words)
        with held(tmp_path):
            pass


def test_a_new_file_never_takes_the_place_of_one_that_has_come(tmp_path):
    with (
        pytest.raises(FileError, match="a file that was written there in the meantime"),
        replacing(tmp_path / "a", fresh=True),
    ):
        (tmp_path / "a").write_text("mine")
    assert (tmp_path / "a").read_text() == "mine"
    with replacing(tmp_path / "b", fresh=True) as file:
        file.write(b"new")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def staged(folder):
    files = Together(folder)
    for name in ("one", "two", "last"):
        files.open(name).write(f"new {name}".encode())
    return files


def contents(folder):
    return {name: (folder / name).read_text() for name in sorted(os.listdir(folder))}


OLD = {"last": "old last", "one": "old one", "stale": "old stale"}
NEW = {name: f"new {name}" for name in ("last", "one", "two")}


@pytest.fixture
def old(tmp_path):
    for name, text in OLD.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_files_appear_together(old):
    files = staged(old)
    files.sync()
    assert {name: text for name, text in contents(old).items() if not name.startswith(".")} == OLD
    files.commit(["stale"])
    assert contents(old) == NEW


def test_a_renaming_that_fails_is_taken_back(old):
    (old / "two").mkdir()
    (old / "two/mine").write_text("mine")
    files = staged(old)
    with pytest.raises(OSError, match="in the way"):
        files.commit(["stale"])
    files.discard()
    assert (old / "two/mine").read_text() == "mine"
    assert {name: (old / name).read_text() for name in OLD} == OLD
    assert sorted(os.listdir(old)) == sorted([*OLD, "two"])


@pytest.mark.parametrize("renamed", range(8))
def test_a_renaming_that_was_killed_is_finished(old, monkeypatch, renamed):
    left, rename = [renamed], os.rename

    def mortal(a, b):
        if left[0] == 0:
            os._exit(9)
        left[0] -= 1
        rename(a, b)

    child = os.fork()
    if child == 0:
        monkeypatch.setattr(together.os, "rename", mortal)
        staged(old).commit(["stale"])
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    pairs = recorded(old)
    assert (status, pairs is None) == ((9, False) if renamed < 6 else (0, True))
    sweep(old)  # takes nothing away while there is something to finish
    if pairs is not None:
        finish(old, pairs, ["stale"])
    sweep(old)
    assert contents(old) == NEW


def test_signals_wait_until_all_files_have_their_names(old, monkeypatch):
    rename = os.rename

    def interrupted(a, b):
        os.kill(os.getpid(), signal.SIGINT)
        rename(a, b)

    monkeypatch.setattr(together.os, "rename", interrupted)
    files, before = staged(old), signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            files.commit(["stale"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert contents(old) == NEW


OTHERS = [
    "", "{}", '{"format": "ritz commit 1", "files": [["x", "y"]]}',
    '{"format": "ritz commit 1", "files": [[".a.0123456789abcdef.ritz.tmp", "../y"]]}',
]  # fmt: skip


@pytest.mark.parametrize("words", OTHERS)
def test_a_record_of_others_is_not_followed(tmp_path, words):
    (tmp_path / ".commit").write_text(words)
    assert recorded(tmp_path) is None


def test_a_journal_goes_with_the_file_of_a_lane_that_was_killed_before_it_wrote(tmp_path):
    place = tmp_path / ".journal"
    with journaling(place, {"fit": 1}, keep=True):
        pass
    (place / ".pass-0-lane-1.ritz.0123456789abcdef.ritz.tmp").write_text("")
    discard(place)
    assert not place.exists()


def test_what_steers_a_terminal_is_spelled_out():
    assert visible("a\x1b[2J\r\x9b\u202e\x07\u2028é→\n\tß") == "a\\x1b[2J\\x0d\\x9b\\u202e\\x07\\u2028é→\n\tß"
    assert str(FileError("no \x1b", received="\x9b", hint="\u202e")) == "no \\x1b; received \\x9b\nhint: \\u202e"


def test_a_file_that_was_just_begun_is_not_taken_for_a_dead_one(tmp_path):
    young = tmp_path / ".x.0123456789abcdef.ritz.tmp"
    young.write_text("")
    sweep(tmp_path)
    assert young.exists()
    sweep(tmp_path, alone=True)
    assert not young.exists()
    young.write_text("")
    os.utime(young, (time.time() - 60, time.time() - 60))
    sweep(tmp_path)
    assert not young.exists()
