"""What all file formats share: identity of files, and words for damaged ones."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError
from ritz.data.formats.stamp import Stamp
from ritz.data.words import counted

__all__ = ["damaged", "file_identity", "needs", "require_shape", "unreadable"]


def file_identity(stamp: Stamp | None, *more: Any) -> str:
    """A digest of the state of files and of whatever else tells data apart."""
    words = f"{None if stamp is None else stamp.identity}\0{more!r}"
    return hashlib.blake2b(words.encode("utf8", "surrogateescape"), digest_size=16).hexdigest()


def damaged(path: Path, what: str, error: BaseException | str) -> FileError:
    """The error for a file that begins like a format and does not go on like it, or cannot be read at all."""
    if isinstance(error, (PermissionError, FileNotFoundError)):
        return unreadable(path, error)
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return FileError(
        f"expected an undamaged {what} at {path}",
        received=lines[0],
        hint="write the file again, or copy it again if it came from elsewhere",
    )


def unreadable(path: object, error: OSError | ValueError) -> FileError:
    """The error for a file that the system does not hand out."""
    reason = getattr(error, "strerror", None) or str(error)
    hint = "check the path" if isinstance(error, (FileNotFoundError, ValueError)) else "check its permissions"
    return FileError(f"could not read {path}: {reason}", hint=hint)


def needs(path: object, what: str, package: str, error: ImportError) -> FileError:
    """The error for a format whose library is not installed."""
    return FileError(
        f"expected the package {package}, which reads {what}, to open {path}",
        received=str(error),
        hint=f"pip install {package}",
    )


def require_shape(n: int | None, d: int, where: object) -> None:
    """Refuse tables without rows or columns."""
    if n == 0 or d == 0:
        raise FileError(
            f"expected rows and columns in {where}",
            received=f"{counted(n or 0, 'row')} and {counted(d, 'column')}",
            hint="check how the file was made",
        )
