"""Files that appear whole or not at all.

    .name.<random>.tmp in the same folder  →  flush, fsync  →  os.replace to name  →  fsync of the folder

``os.replace`` is atomic on one file system, hence the same folder. When anything fails, the temporary file is
removed and what was there before stays untouched.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ritz._core.errors import FileError

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of ``path`` when the block ends without an error."""
    path = Path(path)
    try:
        # Mode 0666 minus the umask, as open() gives; a temporary file of tempfile would stay private.
        name = path.parent / f".{path.name[:100]}.{secrets.token_hex(8)}.tmp"
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise _refused(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())
        try:
            if path.exists():
                shutil.copymode(path, name)
            os.replace(name, path)
        except OSError as error:
            raise _refused(path, error) from error
        _sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _sync_folder(folder: Path) -> None:
    # Some file systems refuse to sync a folder; the file itself is safe by then.
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
