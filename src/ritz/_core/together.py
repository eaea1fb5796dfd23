"""Files of one folder that appear together: all new or all old.

    temporary files, written and synced  →  a record of them (.commit)  →  what they replace or make stale moved out of
    the way  →  renamed, in order  →  the record and what was moved out of the way removed

An error on the way puts back what was there. A process that is killed leaves the record, and ``finish`` ends the
renaming: by then all files are complete and on the disk. Signals that end the program wait until it is done.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ritz._core.atomic import COMMIT, TEMPORARY, open_temporary, replacing, sync_folder

__all__ = ["Together", "finish", "recorded"]

FORMAT = "ritz commit 1"


class Together:
    """Opens files of a folder under temporary names; ``commit`` gives them their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, tuple[BinaryIO, Path]] = {}

    def open(self, name: str) -> BinaryIO:
        """A new file that is to be called ``name``; names are given in the order of these calls."""
        file, path = open_temporary(self.folder / name)
        self._open[name] = (file, path)
        return file

    def sync(self) -> None:
        """Have all that was written on the disk: from here on a full disk does no harm."""
        for file, _ in self._open.values():
            file.flush()
            os.fsync(file.fileno())

    def commit(self, stale: Sequence[str] = ()) -> None:
        """Give the files their names, and remove those that are ``stale``."""
        self.sync()
        pairs = [(path.name, name) for name, (_, path) in self._open.items()]
        words = json.dumps({"format": FORMAT, "files": pairs})
        with _undisturbed():
            with replacing(self.folder / COMMIT) as record:
                record.write(words.encode("utf8", "surrogateescape"))
            if os.name != "posix":  # Windows renames no open files
                self._close()
            try:
                _rename(self.folder, pairs, stale)
            finally:
                (self.folder / COMMIT).unlink(missing_ok=True)
            sync_folder(self.folder)
            self._close()

    def discard(self) -> None:
        """Remove what was written."""
        self._close()
        for _, path in self._open.values():
            with contextlib.suppress(OSError):
                path.unlink()

    def _close(self) -> None:
        for file, _ in self._open.values():
            with contextlib.suppress(OSError):  # a full disk: what is left in the buffer cannot be written
                file.close()


def recorded(folder: Path) -> list[tuple[str, str]] | None:
    """Names (temporary, own) of files whose renaming was broken off; None where none was."""
    try:
        words = json.loads((folder / COMMIT).read_text(encoding="utf8", errors="surrogateescape"))
        pairs = [(str(temporary), str(name)) for temporary, name in words["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    sound = all(TEMPORARY.fullmatch(a) and Path(b).name == b and b not in ("", ".", "..") for a, b in pairs)
    return pairs if words["format"] == FORMAT and sound else None


def finish(folder: Path, pairs: Sequence[tuple[str, str]], stale: Sequence[str]) -> None:
    """Finish a renaming that was broken off."""
    with _undisturbed():
        _rename(folder, [(a, b) for a, b in pairs if (folder / a).is_file()], stale)
        (folder / COMMIT).unlink(missing_ok=True)
        sync_folder(folder)


def _rename(folder: Path, pairs: Sequence[tuple[str, str]], stale: Sequence[str]) -> None:
    moved: list[tuple[Path, Path]] = []
    named: list[tuple[Path, Path]] = []
    try:
        for name in (*stale, *(name for _, name in pairs)):
            path = folder / name
            if path.is_dir() and not path.is_symlink():
                raise IsADirectoryError(errno.EISDIR, "a folder of this name is in the way", str(path))
            if os.path.lexists(path):
                aside = folder / f".{name[:50]}.{secrets.token_hex(8)}.ritz.tmp"
                os.rename(path, aside)
                moved.append((aside, path))
        modes = {path: aside for aside, path in moved}
        for temporary, name in pairs:
            old = modes.get(folder / name)
            if old is not None and old.is_file() and not old.is_symlink():
                shutil.copymode(old, folder / temporary)
            os.rename(folder / temporary, folder / name)
            named.append((folder / temporary, folder / name))
    except BaseException:
        for before, after in reversed(named):
            with contextlib.suppress(OSError):
                os.rename(after, before)
        for aside, path in reversed(moved):
            with contextlib.suppress(OSError):
                os.rename(aside, path)
        raise
    for aside, _ in moved:
        with contextlib.suppress(OSError):
            aside.unlink()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let signals that end the program wait until the block is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, Any]] = []
    names = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    handlers = {int(number): signal.getsignal(number) for number in names if number is not None}
    # What is ignored stays so, and what was not set by Python cannot be set back.
    before: dict[int, Any] = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in before:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number, frame in came[:1]:
        before[number](number, frame)
