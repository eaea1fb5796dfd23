"""Locks that end with their process: on a folder that is written to, and on temporary files while they are written.

    try_lock(handle)  →  True: ours; False: another process holds it; None: this system or file system has no such locks
    with locked(file, folder): …      a file, open and locked, that says who works in a folder

The system drops a lock when its process ends, however it ends, so a lock file that was left behind never blocks. Where
there are no such locks, the process that the file names is looked for instead.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # all others
    msvcrt = None  # type: ignore[assignment]

__all__ = ["locked", "try_lock"]

BEYOND = 1 << 30  # where Windows locks a byte: what is locked there cannot be read by others


def try_lock(handle: int) -> bool | None:
    """Lock an open file without waiting."""
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return None
        return True
    if msvcrt is not None:
        try:
            os.lseek(handle, BEYOND, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True
    return None


@contextlib.contextmanager
def locked(path: Path, folder: Path) -> Iterator[None]:
    """Hold ``path``, the lock of ``folder``, inside the block; FileError names the process that holds it already.

    The file and, where nothing else is in it, the folder that it lies in are made for the block and go with it.
    """
    handle = _acquired(path, folder)
    try:
        words = {"pid": os.getpid(), "host": socket.gethostname(), "since": int(time.time()), "started": _started()}
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps(words).encode())
        yield
    finally:
        with contextlib.suppress(OSError):
            if fcntl is None:  # Windows removes no open files
                os.close(handle)
            path.unlink(missing_ok=True)
            if fcntl is not None:
                os.close(handle)
            path.parent.rmdir()


def _acquired(path: Path, folder: Path) -> int:
    while True:
        path.parent.mkdir(exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except FileNotFoundError:  # its holder removed the folder in this moment
            continue
        try:
            ours = try_lock(handle)
            if ours is None:
                ours = not _alive(_holder(path))
            if not ours:
                raise _busy(folder, _holder(path))
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), os.stat(path)):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its holder removed it between the opening and the locking: there is another by now


def _holder(path: Path) -> dict[str, Any]:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _alive(owner: dict[str, Any]) -> bool:
    """Whether the process that a lock file names runs, on this machine; what cannot be known does not block."""
    pid = owner.get("pid")
    if type(pid) is not int or pid <= 0 or pid == os.getpid() or owner.get("host") != socket.gethostname():
        return False
    if os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass
    except OSError:
        return False
    return owner.get("started") == _started(pid)


def _started(pid: int | None = None) -> int | None:
    """When a process began, in ticks of Linux: numbers of processes are used again."""
    try:
        text = Path(f"/proc/{os.getpid() if pid is None else pid}/stat").read_text()
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _busy(folder: Path, owner: dict[str, Any]) -> FileError:
    pid, since = owner.get("pid"), owner.get("since")
    who = f"process {pid}" if type(pid) is int else "another process"
    if type(owner.get("host")) is str and owner["host"] != socket.gethostname():
        who += f" on {owner['host']}"
    if type(since) is int and 0 < since < 1 << 40:
        who += time.strftime(", since %Y-%m-%d %H:%M:%S", time.localtime(since))
    return FileError(
        f"expected {folder} to be free",
        received=f"a fit that writes to it ({who})",
        hint="wait until it has ended, or choose another folder with -o",
    )
