"""Files to tables: CSV and its relatives, Parquet, and NumPy arrays.

    read(path)  →  Table

The content decides, not the ending: ``PAR1`` is Parquet, ``\\x93NUMPY`` an array, well-known other formats
are refused by name, and all else is read as delimited text. An array stays memory-mapped, and nothing is
ever unpickled.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import FileError
from ritz.data.delimited import line_of, read_delimited, unique_names
from ritz.data.kinds import column_kind, matrix_columns
from ritz.data.table import Table
from ritz.data.words import ALIKE

__all__ = ["read"]

# First bytes of what people drop here by mistake, with the way out.
FOREIGN = (
    (
        b"PK\x03\x04",
        "a zip archive or a spreadsheet (.xlsx, .ods)",
        "save the sheet as CSV, or unpack the archive",
    ),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet (.xls)", "save the sheet as CSV"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x89PNG", "a PNG picture", "give a table of numbers"),
    (b"\xff\xd8\xff", "a JPEG picture", "give a table of numbers"),
    (b"\x89HDF", "an HDF5 file", "export the table as Parquet or CSV"),
    (b"ARROW1", "an Arrow IPC (Feather) file", "save it as Parquet: pyarrow.parquet.write_table"),
    (b"\x80\x04", "a Python pickle", "Ritz never unpickles; save the table as Parquet or CSV"),
    (b"\x80\x05", "a Python pickle", "Ritz never unpickles; save the table as Parquet or CSV"),
    (b"\x93RITZ", "a Ritz model or state", "give the table it was fitted on"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
)


def read(path: str | os.PathLike[str], *, header: bool | None = None) -> Table:
    """Read a table from a CSV, TSV, Parquet or .npy file.

    Parameters
    ----------
    path : path
        Compressed text (``.csv.gz``, ``.csv.zst``, ``.csv.bz2``) is unpacked on the way.
    header : bool or None
        Whether the first line of a text file names the columns; None finds out, and ``notes`` says what was found.

    Returns
    -------
    Table
        With the kind of every column and the number of missing values.

    Raises
    ------
    FileError
        When there is no such file, or it holds no table, or no rows.
    """
    path = Path(path)
    start = _first_bytes(path)
    for magic, what, hint in FOREIGN:
        if start.startswith(magic):
            raise FileError(f"expected a CSV, Parquet or .npy table at {path}", received=what, hint=hint)
    if start.startswith(b"\x93NUMPY"):
        return _read_array(path)
    if start.startswith(b"PAR1"):
        return _from_arrow(_read_parquet(path), path, ())
    try:
        values, dialect, notes = read_delimited(path, header)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"could not read {path}: {error}", hint="the file may be damaged") from error
    return _from_arrow(values, path, notes, functools.partial(line_of, path, dialect))


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError as error:
        raise FileError(f"{path} does not exist", hint=_near(path)) from error
    except IsADirectoryError as error:
        raise FileError(f"expected a file at {path}", received="a folder", hint="give one table inside it") from error
    except OSError as error:
        raise FileError(f"could not read {path}: {error.strerror or error}", hint="check its permissions") from error
    if not start:
        raise FileError(f"expected a table at {path}", received="an empty file", hint="check how the file was made")
    return start


def _near(path: Path) -> str:
    """Suggest a file of nearly the same name."""
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    files = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    stem = path.name.split(".")[0]
    same_stem = [name for name in files if name.split(".")[0] == stem]
    # Endings are left out: ".csv" alone would make any two short names alike.
    lower = {name.split(".")[0].lower(): name for name in reversed(files)}
    close = same_stem or [lower[k] for k in difflib.get_close_matches(stem.lower(), lower, n=1, cutoff=ALIKE)]
    if close:
        return f"did you mean {folder / close[0]}?"
    return f"the path is relative to {Path.cwd()}" if not path.is_absolute() else "check the path"


def _read_array(path: Path) -> Table:
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FileError(
            f"expected an array of numbers in {path}",
            received=str(error).splitlines()[0],
            hint="write it again with numpy.save",
        ) from error
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise FileError(
            f"expected rows and columns of real numbers in {path}",
            received=f"shape {X.shape}, dtype {X.dtype}",
            hint="save an array of shape (n_rows, n_columns), e.g. X.reshape(len(X), -1)",
        )
    _require_rows(X.shape[0], X.shape[1], path)
    return Table(matrix_columns(X, [f"x{j}" for j in range(X.shape[1])]), X, source=path.name)


def _read_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise FileError(
            f"expected an undamaged Parquet file at {path}",
            received=str(error).splitlines()[0],
            hint="write the file again",
        ) from error


def _from_arrow(
    values: Any, path: Path, notes: tuple[str, ...], line: Callable[[int], int | None] | None = None
) -> Table:
    import pyarrow as pa

    _require_rows(values.num_rows, values.num_columns, path)
    half = [j for j, f in enumerate(values.schema) if pa.types.is_float16(f.type)]
    for j in half:  # pyarrow computes nothing in half precision
        values = values.set_column(j, values.schema.names[j], values.column(j).cast(pa.float32()))
    if len(set(values.schema.names)) < values.num_columns:
        values = values.rename_columns(unique_names(tuple(values.schema.names)))
    columns = [column_kind(name, values.column(j), first=j == 0) for j, name in enumerate(values.schema.names)]
    return Table(columns, values, source=path.name, notes=notes, line=line)


def _require_rows(rows: int, columns: int, path: Path) -> None:
    if rows == 0 or columns == 0:
        raise FileError(
            f"expected rows and columns in {path}",
            received=f"{rows} rows and {columns} columns",
            hint="check how the file was made",
        )
