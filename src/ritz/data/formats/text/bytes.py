"""The bytes of a text file, readable anywhere: the file itself, or its unpacked, re-encoded copy.

    plain UTF-8 or one byte a character  →  the file
    .gz .bz2 .zst .lz4 .xz, UTF-16, …    →  UTF-8 in memory up to a limit, beyond it in a file without a name

The first bytes decide what is packed, not the ending. A file without a name goes with the process, however it ends.
"""

from __future__ import annotations

import codecs
import errno
import io
import lzma
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError
from ritz._core.memory import stated
from ritz._core.progress import track, using

__all__ = ["TextBytes", "open_packed", "open_text", "stamp"]

PACKED = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bz2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xfd7zXZ", "xz"),
)
#: one byte a character and ASCII below 128, so that delimiters and line ends can be found in the bytes
BYTEWISE = ("utf8", "cp1252", "latin-1", "ascii")
PIECE = 1 << 22
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)
KEPT = 64 << 20  # unpacked bytes held in memory before a temporary file is used
KEPT_SHARE = 16  # or this part of the memory limit: a buffer that grows is copied, and then handed out as one more


def stamp(path: Path) -> tuple[int, int]:
    """Size and time of change: what tells one state of a file from another."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


class TextBytes:
    """Bytes that any number of threads read at once; the file behind them is closed with the object."""

    def __init__(self, size: int, *, data: bytes | None = None, handle: int | None = None) -> None:
        self.size, self._data, self._handle = size, data, handle
        self._lock = threading.Lock()
        if handle is not None:
            weakref.finalize(self, os.close, handle)

    def read(self, start: int, stop: int) -> bytes:
        """Bytes ``start : stop``; fewer where the file has become shorter."""
        if self._handle is None:
            return (self._data or b"")[start:stop]
        if hasattr(os, "pread"):
            return _pread(self._handle, start, stop)
        with self._lock:
            os.lseek(self._handle, start, os.SEEK_SET)
            with os.fdopen(os.dup(self._handle), "rb") as file:
                return file.read(stop - start)


def _pread(handle: int, start: int, stop: int) -> bytes:
    """One call may give less than was asked for (Linux stops at 2 GB)."""
    out = os.pread(handle, stop - start, start)
    while out and len(out) < stop - start:
        more = os.pread(handle, stop - start - len(out), start + len(out))
        if not more:
            break
        out += more
    return out


def open_packed(path: Path) -> tuple[Any, str]:
    """A stream of the unpacked bytes, and the name of the packing or nothing."""
    import pyarrow as pa

    with path.open("rb") as file:
        start = file.read(6)
    kind = next((name for magic, name in PACKED if start.startswith(magic)), "")
    if kind == "xz":
        return lzma.open(path, "rb"), kind
    return pa.input_stream(str(path), compression=kind or None), kind


def open_text(path: Path, encoding: str, kept: float | None = None) -> TextBytes:
    """Bytes of a text file that can be cut at its line ends: unpacked, and in UTF-8 where they were wide."""
    kept = min(KEPT, stated() / KEPT_SHARE) if kept is None else kept
    stream, kind = open_packed(path)
    with stream:
        if not kind and encoding in BYTEWISE:
            return TextBytes(path.stat().st_size, handle=os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
        with using(None, "read"):
            return _copy(_pieces(stream, path, encoding), path, kept)


def _pieces(stream: Any, path: Path, encoding: str) -> Iterator[bytes]:
    """Unpacked bytes in order, re-encoded where one character is not one byte."""
    decoder = None if encoding in BYTEWISE else codecs.getincrementaldecoder(encoding)()
    done = 0
    try:
        with track("unpacking") as advance:
            while piece := stream.read(PIECE):
                done += len(piece)
                advance(1, bytes=len(piece))
                yield piece if decoder is None else decoder.decode(piece).encode()
        if decoder is not None:
            yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise FileError(
            f"expected {encoding} text in {path}",
            received=f"bytes that are not {encoding} text, after {done} bytes",
            hint="the file may be cut off; encoding= names another encoding",
        ) from error
    except FileError:
        raise
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(
            f"expected an undamaged packed file at {path}",
            received=f"{str(error).splitlines()[0] if str(error) else 'its end'}, after {done:,} unpacked bytes",
            hint="the file may be cut off; copy it again",
        ) from error


def _copy(pieces: Iterator[bytes], path: Path, kept: float) -> TextBytes:
    buffer = io.BytesIO()
    for piece in pieces:
        buffer.write(piece)
        if buffer.tell() > kept:
            return _spill(buffer, pieces, path)
    return TextBytes(buffer.tell(), data=buffer.getvalue())


def _spill(buffer: io.BytesIO, pieces: Iterator[bytes], path: Path) -> TextBytes:
    """Go on in a file without a name."""
    size = 0
    try:
        with tempfile.TemporaryFile() as file:
            size += file.write(buffer.getbuffer())
            for piece in pieces:
                size += file.write(piece)
            file.flush()
            return TextBytes(size, handle=os.dup(file.fileno()))
    except OSError as error:
        if isinstance(error, FileError) or error.errno not in FULL:
            raise
        raise FileError(
            f"expected room for the unpacked text of {path} in {tempfile.gettempdir()}",
            received=f"{error.strerror} after {size / 1e6:,.0f} MB",
            hint="set TMPDIR to a folder with more room, or unpack the file yourself",
        ) from error
