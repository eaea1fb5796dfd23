"""Scores to a file, batch by batch: Parquet, Arrow, CSV or .npy, by the ending of its name.

    identifiers, PC1, …, PCk        one line a row, in the order of the table

The file is written under a temporary name and renamed when it is complete; where anything fails (a full disk, an
error while reading, Ctrl-C) what was there before stays and nothing new appears.
"""

from __future__ import annotations

import contextlib
import errno
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ritz._core.atomic import replacing
from ritz._core.errors import FileError

__all__ = ["ENDINGS", "RowWriter", "disk_errors", "row_writer", "rows_to"]

ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".arrow", ".feather", ".npy")
#: Bytes of the header of an array file: its length is fixed so that the number of rows can be filled in at the end.
NPY_HEADER = 128
#: Rows of a row group, in bytes of scores.
GROUP_BYTES = 64 << 20

#: Takes a batch of scores (r, k) and its identifiers, a pyarrow.Table of r rows or None.
RowWriter = Callable[[np.ndarray, Any], None]


@contextlib.contextmanager
def row_writer(path: str | Path, names: Sequence[str], dtype: Any, *, fresh: bool = False) -> Iterator[RowWriter]:
    """Open ``path`` for rows of numbers with these column names; it appears when the block ends without an error.

    ``fresh``: only if there is no such file by then.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in ENDINGS:
        raise FileError(
            f"expected a file name that ends in one of {', '.join(ENDINGS)}",
            received=path.name,
            hint=f"write to {path.stem}.parquet",
        )
    if path.is_dir():
        raise FileError(
            f"expected a file name at {path}", received="a folder", hint=f"write to {path / 'scores.parquet'}"
        )
    with disk_errors(path), replacing(path, fresh=fresh) as file, rows_to(file, kind, names, dtype) as add:
        yield add


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Say in words what the system says of a disk."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> FileError:
    """The error in words, with the file it is about and a hint that follows its cause."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or "No space left" in str(error):
        hint = "free some space or write elsewhere; nothing was left behind"
        return FileError(f"expected room to write {path}", received="a full disk", hint=hint)
    why = error.strerror or str(error)
    if isinstance(error, IsADirectoryError):
        at = error.filename or path
        return FileError(f"expected a file at {at}", received="a folder", hint="move that folder, or write elsewhere")
    hint = {
        errno.EACCES: "change the permissions of the folder, or write elsewhere",
        errno.EPERM: "change the permissions of the folder, or write elsewhere",
        errno.EROFS: "write to a file system that can be written",
        errno.ENOENT: "make the folder first, or write elsewhere",
        errno.ENOTDIR: "a file stands where a folder is expected; write elsewhere",
        errno.ENAMETOOLONG: "choose a shorter name",
    }.get(error.errno or 0, "write elsewhere")
    return FileError(f"expected {path} to be writable", received=why, hint=f"{hint}; nothing was left behind")


def rows_to(file: BinaryIO, ending: str, names: Sequence[str], dtype: Any, rows: int | None = None) -> Any:
    """A context that gives a ``RowWriter`` to an open file; ``ending`` is one of ENDINGS.

    An array file begins with its number of rows: give it where the file cannot be written from the front again.
    """
    if ending == ".npy":
        return _npy(file, len(names), np.dtype(dtype), rows)
    opened = {".csv": _text, ".tsv": _text, ".arrow": _ipc, ".feather": _ipc}.get(ending, _parquet)
    return opened(file, list(names), np.dtype(dtype), "\t" if ending == ".tsv" else ",")


def _arrow(names: list[str], scores: np.ndarray, labels: Any) -> Any:
    """A batch as an Arrow table: identifiers, then scores."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    if labels is not None:
        columns = {name: labels.column(name) for name in labels.schema.names if name not in set(names)}
    return pa.table(columns | {name: np.ascontiguousarray(scores[:, j]) for j, name in enumerate(names)})


def _parquet(file: BinaryIO, names: list[str], dtype: np.dtype[Any], _: str) -> Any:
    import pyarrow.parquet as pq

    def opened(schema: Any) -> Any:
        # Scores hardly repeat: dictionaries would only cost time.
        labels = [name for name in schema.names if name not in set(names)]
        return pq.ParquetWriter(file, schema, use_dictionary=labels, compression="zstd", compression_level=1)

    return _batches(names, dtype, opened, row_group_size=max(1, GROUP_BYTES // (dtype.itemsize * max(1, len(names)))))


def _ipc(file: BinaryIO, names: list[str], dtype: np.dtype[Any], _: str) -> Any:
    import pyarrow as pa

    return _batches(names, dtype, lambda schema: pa.ipc.new_file(file, schema))


@contextlib.contextmanager
def _batches(
    names: list[str], dtype: np.dtype[Any], opened: Callable[[Any], Any], **options: Any
) -> Iterator[RowWriter]:
    """Batches as Arrow tables to a writer, which is opened by the first of them and closed at the end."""
    writer: Any = None
    schema: Any = None

    def add(scores: np.ndarray, labels: Any) -> None:
        nonlocal writer, schema
        table = _arrow(names, scores, labels)
        if writer is None:
            schema, writer = table.schema, opened(table.schema)
        writer.write_table(table.cast(schema), **options)

    try:
        yield add
        if writer is None:
            add(np.empty((0, len(names)), dtype), None)
    finally:
        if writer is not None:
            with contextlib.suppress(OSError) if _failing() else contextlib.nullcontext():
                writer.close()


@contextlib.contextmanager
def _text(file: BinaryIO, names: list[str], dtype: np.dtype[Any], delimiter: str) -> Iterator[RowWriter]:
    import pyarrow.csv as pc

    first = True

    def add(scores: np.ndarray, labels: Any) -> None:
        nonlocal first
        options = pc.WriteOptions(include_header=first, delimiter=delimiter, quoting_style="needed")
        pc.write_csv(_arrow(names, scores, labels), file, options)
        first = False

    yield add
    if first:
        add(np.empty((0, len(names)), dtype), None)


@contextlib.contextmanager
def _npy(file: BinaryIO, width: int, dtype: np.dtype[Any], announced: int | None) -> Iterator[RowWriter]:
    rows = 0
    file.write(_npy_header(dtype, (announced or 0, width)))

    def add(scores: np.ndarray, _labels: Any) -> None:
        nonlocal rows
        file.write(np.ascontiguousarray(scores, dtype).tobytes())
        rows += scores.shape[0]

    yield add
    if rows != (announced or 0):
        file.seek(0)
        file.write(_npy_header(dtype, (rows, width)))


def _npy_header(dtype: np.dtype[Any], shape: tuple[int, int]) -> bytes:
    """The header of an array file in format 1.0, filled up to a fixed length."""
    words = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape}, }}"
    body = words.ljust(NPY_HEADER - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body.encode("latin-1")


def _failing() -> bool:
    """Whether an error is on its way: closing a writer on a full disk must not hide it."""
    import sys

    return sys.exc_info()[0] is not None
