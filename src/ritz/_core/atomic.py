"""Files that appear whole or not at all.

    .name.<random>.ritz.tmp in the same folder  →  flush, fsync  →  os.replace to name  →  fsync of the folder

``os.replace`` is atomic on one file system, hence the same folder. When anything fails, the temporary file is
removed and what was there before stays untouched. A process that is killed leaves its temporary file: the next one
that writes to the folder removes it. It knows it by its name and by its lock, which ended with the process.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ritz._core.errors import FileError
from ritz._core.lock import try_lock

__all__ = ["COMMIT", "TEMPORARY", "open_temporary", "replacing", "sweep", "sync_folder"]

#: How temporary files of Ritz are called; nobody else calls files so.
TEMPORARY = re.compile(r"\.(.*)\.[0-9a-f]{16}\.ritz\.tmp", re.DOTALL)
#: The record of files that are about to be renamed together (``together.py``).
COMMIT = ".commit"
NAME_BYTES = 100  # of the name in it: file systems allow 255 in all
#: Seconds for which a file may be empty and not locked yet; and after which one counts as left behind where there are
#: no locks.
YOUNG, OLD = 2.0, 86_400.0
#: Seconds after which such a file is looked at again.
MOMENT = 0.1

_swept: set[Path] = set()  # folders that this process has looked at


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, fresh: bool = False) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of ``path`` when the block ends without an error.

    ``fresh``: only if there is no such file by then; FileError otherwise.
    """
    path = Path(path)
    try:
        if path.parent not in _swept:
            _swept.add(path.parent)
            sweep(path.parent)
        file, name = open_temporary(path)
    except OSError as error:
        raise _refused(path, error) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "posix":  # its lock is held until it has its name
                _name(name, path, fresh)
        if os.name != "posix":
            _name(name, path, fresh)
        sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _name(temporary: Path, path: Path, fresh: bool) -> None:
    try:
        if not fresh:
            if path.exists():
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
            return
        try:
            os.link(temporary, path)  # which never replaces
        except FileExistsError:
            raise
        except (OSError, NotImplementedError, AttributeError):  # a file system without links
            if os.path.lexists(path):
                raise FileExistsError(0, "there is a file by now") from None
            os.replace(temporary, path)
        else:
            os.unlink(temporary)
    except FileExistsError as error:
        raise FileError(
            f"expected {path} to be absent",
            received="a file that was written there in the meantime",
            hint="choose another name, or overwrite it with --force",
        ) from error
    except OSError as error:
        raise _refused(path, error) from error


def open_temporary(path: Path) -> tuple[BinaryIO, Path]:
    """A new temporary file beside ``path``, locked as long as it is open, and its name."""
    short = path.name.encode("utf8", "surrogateescape")[:NAME_BYTES].decode("utf8", "ignore")
    name = path.parent / f".{short}.{secrets.token_hex(8)}.ritz.tmp"
    # Mode 0666 minus the umask, as open() gives; a temporary file of tempfile would stay private.
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        for _ in range(50):  # whoever looks whether it was left behind holds its lock for a moment
            if try_lock(handle) is not False:
                break
            time.sleep(0.001)
        return cast(BinaryIO, os.fdopen(handle, "wb")), name
    except BaseException:  # a signal that ends the program, before anybody knows the name
        with contextlib.suppress(OSError):
            os.close(handle)
        with contextlib.suppress(OSError):
            name.unlink()
        raise


def sweep(folder: Path, *, alone: bool = False) -> None:
    """Remove the temporary files in a folder whose processes have ended.

    A file that is new and empty may be a moment before its lock. Who works ``alone`` in a folder waits for that moment.
    """
    if (folder / COMMIT).exists():  # temporary files that are complete, and wait for their names
        return
    try:
        entries = [entry for entry in os.scandir(folder) if TEMPORARY.fullmatch(entry.name)]
    except OSError:
        return
    for entry in entries:
        with contextlib.suppress(OSError):
            path = Path(entry.path)
            if not entry.is_file(follow_symlinks=False):
                continue
            gone = _left_behind(path)
            if alone and not gone:
                time.sleep(MOMENT)
                gone = _left_behind(path, young=-math.inf)  # whatever the clocks of the file system say
            if gone:
                os.unlink(path)


def _left_behind(path: Path, young: float = YOUNG) -> bool:
    handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        free, status = try_lock(handle), os.fstat(handle)
    finally:
        os.close(handle)
    age = time.time() - status.st_mtime
    if free is None:
        return age > OLD
    return free and (status.st_size > 0 or age > young)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk."""
    # Some file systems refuse to sync a folder; the files themselves are safe by then.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refused(path: Path, error: OSError) -> FileError:
    return FileError(
        f"expected {path} to be writable",
        received=error.strerror or str(error),
        hint="check that the folder exists and that you may write there",
    )
