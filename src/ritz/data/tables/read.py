"""Anything with rows and columns to a table: files, folders, frames, arrays, queries, batches.

    read(path or object)  →  Table, in memory where it is small or a quarter of the stated limit holds it,
                             else where it lies

A Table without a stated limit is loaded by the first fit whose own limit holds it four times.

The content of a file decides, not its ending: ``PAR1`` is Parquet, ``\\x93NUMPY`` an array, ``ARROW1`` an Arrow file,
well-known other formats are refused by name, and all else is read as delimited text. Nothing is ever unpickled, and
nothing is mapped into memory.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ritz._core.errors import FileError, ParameterError, RitzError
from ritz._core.memory import limit, within
from ritz._core.progress import Progress, using
from ritz._core.warn import one_call
from ritz.data.formats.files import unreadable
from ritz.data.tables.objects import is_anndata, source_of
from ritz.data.tables.table import EAGER_SHARE, Column, Table
from ritz.data.words import ALIKE, counted, shorten

__all__ = ["read"]

#: Bytes up to which a table is loaded where no limit is stated, and that looking at its columns may take.
EAGER_BYTES, LOOK_BYTES = 8e6, 16e6

# First bytes of what people drop here by mistake, with the way out.
FOREIGN = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet (.xlsx, .ods)", "save the sheet as CSV, or unpack the archive"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet (.xls)", "save the sheet as CSV"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x89PNG", "a PNG picture", "give a table of numbers"),
    (b"\xff\xd8\xff", "a JPEG picture", "give a table of numbers"),
    (b"\xff\xff\xff\xff", "an Arrow stream", "write it as a file: pyarrow.ipc.new_file, or as Parquet"),
    (b"FEA1", "a Feather file of version 1", "write it as Feather version 2 or as Parquet"),
    (b"\x80\x04", "a Python pickle", "Ritz never unpickles; save the table as Parquet or CSV"),
    (b"\x80\x05", "a Python pickle", "Ritz never unpickles; save the table as Parquet or CSV"),
    (b"\x93RITZ", "a Ritz model or state", "give the table it was fitted on"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"ORC", "an ORC file", "write it as Parquet: pyarrow.orc.read_table, pyarrow.parquet.write_table"),
    (b"Obj\x01", "an Avro file", "write it as Parquet"),
)
TABLES = {".csv", ".tsv", ".txt", ".npy", ".npz", ".h5ad", ".arrow", ".feather"}
ZARR = ("zarr.json", ".zarray", ".zgroup")


@one_call()
def read(
    source: Any,
    *,
    header: bool | None = None,
    memory: Any = None,
    kinds: Mapping[str, str] | Callable[[list[str]], Mapping[str, str]] | None = None,
    layer: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    skip: int | None = None,
    coerce: bool = False,
    like: Mapping[str, Any] | None = None,
    progress: Progress | bool | None = None,
) -> Table:
    """Read a table from a file, a folder, a frame, an array, a query, or batches of rows.

    Parameters
    ----------
    source : path or object
        CSV and its relatives (also packed: ``.csv.gz``), Parquet (a file, a folder, hive partitions), Arrow and Feather
        files, ``.npy``, ``.npz`` with one array or a sparse matrix, ``.h5ad`` and zarr where their libraries are there;
        pandas, polars and Arrow frames, arrays, sparse matrices; polars LazyFrames, pyarrow Datasets, DuckDB relations;
        any iterable of batches. An iterator of batches can be read once only.
    header : bool or None
        Whether the first line of a text file names the columns; None finds out, and ``notes`` says what was found.
    memory : str, int or None
        Memory limit, such as ``"2GB"``. A table that takes more than a quarter of it stays where it is and is read in
        pieces: the numbers are the same. Without it only small tables are loaded at once; a larger one is loaded by
        the first fit whose limit allows it.
    kinds : mapping or callable, optional
        What columns are, where the table would be misread: ``{"zip": "categorical", "year": "numeric"}``;
        ``"drop"`` leaves a column out. A function gets the names of all columns and gives such a mapping.
    layer : str, optional
        Layer of an AnnData store to read instead of X.
    delimiter, decimal, thousands, encoding : str, optional
        How a text file is written; found out without them.
    missing : sequence of str, optional
        Texts of a text file that count as missing beside the usual marks, such as ``["-99"]``.
    keep : sequence of str, optional
        Usual marks of missing values that are values here, such as ``["None"]``.
    skip : int, optional
        Lines before the header of a text file; found out without it.
    coerce : bool
        Whether values that are no numbers become missing in columns that are nearly all numbers; otherwise such a
        column is set aside, and the values are named.
    like : mapping, optional
        ``written`` of another Table: a text file is read as that one was, unless that cannot be. Its entry ``kinds``,
        if there is one, holds as ``kinds`` does for those columns that are there.
    progress : None, bool or callable
        Looking at a long file takes time: None shows a bar on a terminal, False nothing; a function of an event is
        called instead, and stops by returning False.

    Returns
    -------
    Table
        With the kind of every column and the number of missing values.

    Raises
    ------
    FileError
        When there is no such file, or it holds no table, or no rows.

    Examples
    --------
    >>> import ritz
    >>> from importlib.resources import files
    >>> wine = ritz.read(files("ritz") / "data/samples/wine.csv")
    >>> wine.n_rows, wine.names[:4]
    (178, ['cultivar', 'alcohol', 'malic_acid', 'ash'])
    >>> with open("shops.csv", "w") as file:
    ...     for line in ("shop;turnover;kind", "A17;1.204,50;old", "B02;987,00;new", "C40;n/a;old", "D11;2.310,20;new"):
    ...         print(line, file=file)
    >>> shops = ritz.read("shops.csv")            # the delimiter and the decimal comma are found out
    >>> shops.kinds, shops.missing
    ({'shop': 'identifier', 'turnover': 'numeric', 'kind': 'categorical'}, {'turnover': 1})
    """
    if isinstance(source, Table):
        return source
    allowed, eager = limit(memory), EAGER_BYTES if memory is None else EAGER_SHARE * limit(memory)
    text: dict[str, Any] = {"header": header, "delimiter": delimiter, "decimal": decimal, "thousands": thousands}
    text |= {"encoding": encoding, "missing": missing, "keep": keep, "skip": skip}
    with using(progress, "read"), within(allowed):
        if not isinstance(source, (str, os.PathLike)):
            _no_options(**text, layer=None if is_anndata(source) else layer)
            found = _Found(source_of(source, EAGER_SHARE * allowed, layer))
            return _table(found, _both(found, like, kinds), memory, eager, coerce)
        try:
            look = LOOK_BYTES if memory is None else EAGER_SHARE * allowed
            more = {"coerce": coerce, **_followed(like)}
            found = _from_path(Path(source), text, more, layer, eager, look)
            return _table(found, _both(found, like, kinds), memory, eager, coerce)
        except OSError as error:
            if isinstance(error, RitzError):
                raise
            raise unreadable(source, error) from error


@dataclasses.dataclass(frozen=True)
class _Found:
    """A source, and what the reader has to say about it."""

    source: Any
    name: str = ""
    notes: tuple[str, ...] = ()
    reasons: Mapping[str, str] = dataclasses.field(default_factory=dict)
    line: Callable[[int], int | None] | None = None
    strays: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    marks: tuple[str, ...] = ()
    written: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def judged(self, column: Column) -> Column:
        """A column with what the reader knows of it: why it is text, and which of its values are no numbers."""
        if column.name not in self.reasons:
            return column
        found = self.strays.get(column.name)
        first, count = ((), 0) if found is None else (found.first, found.count)
        return dataclasses.replace(
            column, kind="text", reason=self.reasons[column.name], strays=first, stray_count=count
        )


def _followed(like: Mapping[str, Any] | None) -> dict[str, Any]:
    """How another file was written, as options of a text file."""
    return {} if not like else {"decimal_like": like.get("decimal"), "readings": like.get("columns") or {}}


def _both(found: _Found, like: Mapping[str, Any] | None, kinds: Any) -> Mapping[str, str] | None:
    """What the user says of columns, and what was said of another table, as far as it has the same columns."""
    before = (like or {}).get("kinds") or {}
    source = found.source
    if callable(kinds):
        fields = getattr(source, "fields", None)
        kinds = kinds([*source.label_names, *source.names] if fields is None else [field.name for field in fields])
    if not before:
        return cast(Mapping[str, str] | None, kinds)
    there = {*source.names, *source.label_names}
    return {**{name: kind for name, kind in before.items() if name in there}, **(kinds or {})}


def _table(opened: _Found, kinds: Mapping[str, str] | None, memory: Any, eager: float, coerce: bool) -> Table:
    """Load what is small enough, and say what the columns are."""
    from ritz.data.formats.columns import judge, said
    from ritz.data.formats.load import load
    from ritz.data.formats.matrix import MemoryMatrix
    from ritz.data.formats.memory import ArrowTable, coerced

    source, forced = said(opened.source, kinds)
    in_memory = isinstance(source, (ArrowTable, MemoryMatrix))
    if not in_memory and source.repeatable and source.decoded <= eager:
        source = load(source)
    dropped = [repr(name) for name, kind in (kinds or {}).items() if kind == "drop"]
    notes = (*opened.notes, f"left out, as you said: {shorten(dropped)}") if dropped else opened.notes
    shared = [repr(field.name) for field in getattr(source, "fields", ()) if field.shared]
    if shared:
        notes = (*notes, f"some columns share a name; a number was added: {shorten(shared)}")
    _require_no_strays(opened, forced)
    columns = [column if column.name in forced else opened.judged(column) for column in judge(source, forced)]
    if coerce and isinstance(source, ArrowTable) and (strays := [c.name for c in columns if c.strays]):
        source, more = coerced(source, strays)
        notes, columns = (*notes, *more), judge(source, forced)
    stated = None if memory is None else limit(memory)
    return Table(
        columns, source, source=opened.name, notes=notes, line=opened.line, memory=stated, forced=forced,
        marks=opened.marks, written=opened.written,
    )  # fmt: skip


def _require_no_strays(opened: _Found, forced: Mapping[str, str]) -> None:
    """Refuse columns that are to be numbers and hold other values, each with its line."""
    meant = [name for name in opened.strays if forced.get(name) == "numeric"]
    if meant:
        from ritz.data.tables.strays import stray_error

        line = opened.line
        columns = [opened.judged(Column(name, "text")) for name in meant]
        raise stray_error(columns, opened.name, lambda row: f"line {line(row)}" if line else f"row {row}")


def _no_options(**options: Any) -> None:
    """Refuse options that mean nothing for what is read."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ParameterError(
            f"{given[0]} is for {'AnnData stores' if given[0] == 'layer' else 'text files'} only",
            received=f"{given[0]}={options[given[0]]!r} for something else",
            hint=f"leave out {given[0]}=",
        )


def _from_path(
    path: Path, text: dict[str, Any], more: dict[str, Any], layer: str | None, eager: float, look: float
) -> _Found:
    """A source for a file or folder."""
    if path.is_dir():
        _no_options(**text)
        # "." and ".." are no names.
        source, notes = _from_folder(path, layer)
        return _Found(source, path.resolve().name, notes)
    start = _first_bytes(path)
    if start.startswith(b"\x89HDF"):
        from ritz.data.formats.anndata import open_h5ad

        _no_options(**text)
        return _Found(open_h5ad(path, layer), path.name)
    _no_options(layer=layer)
    binary = _from_binary(path, start)
    if binary is not None:
        _no_options(**text)
        return _Found(binary, path.name)
    return _from_text(path, {**text, **more}, eager, look)


def _from_binary(path: Path, start: bytes) -> Any:
    """A source for a file of a format with marks of its own; None for text."""
    if start.startswith(b"\x93NUMPY"):
        from ritz.data.formats.npy import NpySource

        return NpySource(path)
    if start.startswith(b"PAR1"):
        from ritz.data.formats.parquet import ParquetSource

        return ParquetSource([path])
    if start.startswith(b"ARROW1"):
        from ritz.data.formats.ipc import IpcSource

        return IpcSource(path)
    if start.startswith(b"PK\x03\x04"):
        from ritz.data.formats.npz import is_npz, open_npz

        if is_npz(path):
            return open_npz(path)
    for magic, what, hint in FOREIGN:
        if start.startswith(magic):
            raise FileError(f"expected a CSV, Parquet, Arrow or array table at {path}", received=what, hint=hint)
    return None


def _from_text(path: Path, text: dict[str, Any], eager: float, look: float) -> _Found:
    from ritz.data.formats.memory import ArrowTable
    from ritz.data.formats.text.read import TextOptions, read_text

    pieces = read_text(path, TextOptions(**text), memory=eager, look=look)
    source = ArrowTable(pieces.values, files=[path]) if pieces.source is None else pieces.source
    return _Found(
        source, path.name, pieces.notes, pieces.reasons, pieces.line, pieces.strays, pieces.marks, pieces.written
    )


def _from_folder(path: Path, layer: str | None) -> tuple[Any, tuple[str, ...]]:
    """A source for a folder, and which of its files are read where there are others."""
    if any((path / name).exists() for name in ZARR):
        from ritz.data.formats.anndata import open_zarr

        return open_zarr(path, layer), ()
    from ritz.data.formats.parquet import ParquetSource, parquet_files
    from ritz.data.formats.parquet_folder import other_files

    _no_options(layer=layer)
    files = parquet_files(path)
    if not files:
        raise FileError(
            f"expected a file at {path}, or a folder of Parquet files",
            received="a folder without any",
            hint=_inside(path),
        )
    others = [str(other.relative_to(path)) for other in other_files(path)]
    used = shorten([str(file.relative_to(path)) for file in files])
    notes = (f"{counted(len(files), 'Parquet file')} of the folder: {used}; ignored: {shorten(others)}",)
    return ParquetSource(files, path), notes if others else ()


def _inside(folder: Path) -> str:
    """Suggest a table in a folder that is none."""
    tables = sorted(entry for entry in folder.iterdir() if TABLES & set(entry.suffixes) and entry.is_file())
    return f"give one table inside it, such as {tables[0]}" if tables else "give one table"


def _first_bytes(path: Path) -> bytes:
    if path.is_fifo() or (path.name == "-" and not path.exists()):
        raise FileError(
            "expected a file, which can be read more than once", received=f"a stream, {path}",
            hint="write it to a file first: … > table.csv",
        )  # fmt: skip
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError as error:
        raise FileError(f"{path} does not exist", hint=_near(path)) from error
    except (OSError, ValueError) as error:  # a name that no file can have
        raise unreadable(path, error) from error
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
