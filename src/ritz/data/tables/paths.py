"""From a path to a source: which format a file has, by its content, and what its reader has to say.

    file    PAR1 · ARROW1 · \\x93NUMPY · PK (npz, workbook) · HDF · SQLite · DUCK · { or [ (JSON) · all else is text
    folder  zarr, Parquet files, or pictures

Well-known other formats are refused by name, and so are web addresses. Nothing is ever unpickled, and nothing is mapped
into memory.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, ParameterError
from ritz.data.formats.files import unreadable
from ritz.data.tables.table import Column
from ritz.data.words import ALIKE, counted, shorten

__all__ = ["Found", "Ways", "from_path", "no_options", "refuse_address"]

# First bytes of what people drop here by mistake, with the way out.
FOREIGN = (
    (b"PK\x03\x04", "a zip archive, or a damaged spreadsheet (.xlsx, .ods)", "unpack it, or save the sheet anew"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet (.xls)", "save it as .xlsx or as CSV"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x89PNG", "a PNG picture", "give the folder of pictures, or a table of numbers"),
    (b"\xff\xd8\xff", "a JPEG picture", "give the folder of pictures, or a table of numbers"),
    (b"\xff\xff\xff\xff", "an Arrow stream", "write it as a file: pyarrow.ipc.new_file, or as Parquet"),
    (b"FEA1", "a Feather file of version 1", "write it as Feather version 2 or as Parquet"),
    (b"\x80\x04", "a Python pickle", "Ritz never unpickles; save the table as Parquet or CSV"),
    (b"\x80\x05", "a Python pickle", "Ritz never unpickles; save the table as Parquet or CSV"),
    (b"\x93RITZ", "a Ritz model or state", "give the table it was fitted on"),
    (b"ORC", "an ORC file", "write it as Parquet: pyarrow.orc.read_table, pyarrow.parquet.write_table"),
    (b"Obj\x01", "an Avro file", "write it as Parquet"),
)
ADDRESS = re.compile(
    r"(https?|ftps?|s3a?|gs|az|abfss?|hdfs|sftp|ssh|file|jdbc|postgres(?:ql)?|mysql|duckdb|sqlite):/+.*", re.I
)
TABLES = {".csv", ".tsv", ".txt", ".npy", ".npz", ".h5ad", ".arrow", ".feather", ".xlsx", ".ods", ".json", ".jsonl"}
ZARR = ("zarr.json", ".zarray", ".zgroup")


@dataclasses.dataclass(frozen=True)
class Found:
    """A source, and what the reader has to say about it."""

    source: Any
    name: str = ""
    notes: tuple[str, ...] = ()
    reasons: Mapping[str, str] = dataclasses.field(default_factory=dict)
    line: Callable[[int], int | None] | None = None
    strays: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    marks: tuple[str, ...] = ()
    written: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    image: tuple[int, ...] | None = None  # the shape of a picture, where every row is one

    def judged(self, column: Column) -> Column:
        """A column with what the reader knows of it: why it is text, and which of its values are no numbers."""
        if column.name not in self.reasons:
            return column
        found = self.strays.get(column.name)
        first, count = ((), 0) if found is None else (found.first, found.count)
        return dataclasses.replace(
            column, kind="text", reason=self.reasons[column.name], strays=first, stray_count=count
        )


BELONGS = {"layer": "AnnData stores", "sheet": "workbooks, databases and archives of arrays"}


def no_options(**options: Any) -> None:
    """Refuse options that mean nothing for what is read."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ParameterError(
            f"{given[0]} is for {BELONGS.get(given[0], 'text files')} only",
            received=f"{given[0]}={options[given[0]]!r} for something else",
            hint=f"leave out {given[0]}=",
        )


@dataclasses.dataclass(frozen=True)
class Ways:
    """What the user says about a file, beside what is said of a text file."""

    layer: str | None = None  # of an AnnData store
    sheet: str | int | None = None  # of a workbook, a table of a database, an array of an archive
    image_shape: tuple[int, int] | None = None
    eager: float = float("inf")  # bytes that may be loaded at once
    look: float = float("inf")  # bytes that looking at a text file may take
    allowed: float = float("inf")  # bytes that the answer of a query may take


def from_path(path: Path, text: dict[str, Any], more: dict[str, Any], ways: Ways) -> Found:
    """A source for a file or folder."""
    if path.is_dir():
        no_options(**text, sheet=ways.sheet)
        # "." and ".." are no names.
        return dataclasses.replace(_from_folder(path, ways), name=path.resolve().name)
    start = _first_bytes(path)
    if start.startswith(b"\x89HDF"):
        from ritz.data.formats.anndata import open_h5ad

        no_options(**text, sheet=ways.sheet)
        return Found(open_h5ad(path, ways.layer), path.name)
    no_options(layer=ways.layer)
    found = _from_base(path, start, text, more, ways)
    if found is not None:
        return found
    no_options(sheet=ways.sheet)
    binary = _from_binary(path, start)
    if binary is not None:
        no_options(**text)
        image = getattr(binary, "image_shape", None)
        note = () if image is None else (f"every row is a slice of {'×'.join(map(str, image))} numbers",)
        return Found(binary, path.name, note, image=image)
    if _is_json(path):
        from ritz.data.formats.json_rows import json_table
        from ritz.data.formats.memory import ArrowTable

        no_options(**text)
        values, notes = json_table(path)
        return Found(ArrowTable(values, files=[path]), path.name, notes)
    return _from_text(path, {**text, **more}, ways)


def _is_json(path: Path) -> bool:
    from ritz.data.formats.json_rows import begins_like_json

    return begins_like_json(path)


def _from_base(path: Path, start: bytes, text: dict[str, Any], more: dict[str, Any], ways: Ways) -> Found | None:
    """A source for a workbook, a database or an archive of arrays, which hold several tables; None for all else."""
    from ritz.data.formats.memory import ArrowTable

    if start.startswith(b"PK\x03\x04"):
        from ritz.data.formats.npz import is_npz, open_npz
        from ritz.data.formats.sheets import is_workbook, sheet_as_text

        if is_npz(path):
            no_options(**text)
            return Found(open_npz(path, ways.sheet), path.name)
        if not is_workbook(path):
            return None
        no_options(delimiter=text["delimiter"], encoding=text["encoding"])
        written, note = sheet_as_text(path, ways.sheet)
        try:
            found = _from_text(written, {**text, **more, "delimiter": ","}, ways)
        except FileError as error:
            expected = error.expected.replace(str(written), str(path))
            raise FileError(expected, received=error.received, hint=error.hint) from error
        found.source.files.append(path)
        return dataclasses.replace(found, notes=(note, *found.notes))
    if start.startswith(b"SQLite format 3"):
        from ritz.data.formats.database import sqlite_table

        no_options(**text)
        values, name = sqlite_table(path, ways.sheet)
        return Found(ArrowTable(values, files=[path]), path.name, (f"table {name!r} of the database",))
    if start[8:12] == b"DUCK":
        from ritz.data.formats.database import duckdb_table
        from ritz.data.formats.query import from_duckdb

        no_options(**text)
        relation, name = duckdb_table(path, ways.sheet)
        return Found(from_duckdb(relation, ways.allowed), path.name, (f"table {name!r} of the database",))
    return None


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
    for magic, what, hint in FOREIGN:
        if start.startswith(magic):
            raise FileError(f"expected a CSV, Parquet, Arrow or array table at {path}", received=what, hint=hint)
    return None


def _from_text(path: Path, text: dict[str, Any], ways: Ways) -> Found:
    from ritz.data.formats.memory import ArrowTable
    from ritz.data.formats.text.read import TextOptions, read_text

    pieces = read_text(path, TextOptions(**text), memory=ways.eager, look=ways.look)
    source = ArrowTable(pieces.values, files=[path]) if pieces.source is None else pieces.source
    return Found(
        source, path.name, pieces.notes, pieces.reasons, pieces.line, pieces.strays, pieces.marks, pieces.written
    )


def _from_folder(path: Path, ways: Ways) -> Found:
    """A source for a folder, and which of its files are read where there are others."""
    if any((path / name).exists() for name in ZARR):
        from ritz.data.formats.anndata import open_zarr

        return Found(open_zarr(path, ways.layer))
    from ritz.data.formats.images import image_files, open_images
    from ritz.data.formats.parquet import ParquetSource, parquet_files
    from ritz.data.formats.parquet_folder import other_files

    no_options(layer=ways.layer)
    files = parquet_files(path)
    pictures = [] if files else image_files(path)
    beside = [] if not pictures else other_files(path)
    ignored = [str(one.relative_to(path)) for one in beside if one not in set(pictures)]
    if len(pictures) > len(ignored):  # a folder of texts may hold a picture or two
        source, shape, note = open_images(path, pictures, ways.image_shape)
        return Found(source, notes=(note + (f"; ignored: {shorten(ignored)}" if ignored else ""),), image=shape)
    if not files:
        raise FileError(
            f"expected a file at {path}, or a folder of Parquet files or pictures",
            received="a folder without any",
            hint=_inside(path),
        )
    others = [str(other.relative_to(path)) for other in other_files(path)]
    used = shorten([str(file.relative_to(path)) for file in files])
    notes = (f"{counted(len(files), 'Parquet file')} of the folder: {used}; ignored: {shorten(others)}",)
    return Found(ParquetSource(files, path), notes=notes if others else ())


def refuse_address(source: object) -> None:
    """Refuse what names no file of this machine: nothing is fetched from elsewhere."""
    text = str(source)
    if not text:  # which Path takes for the folder of the process
        raise FileError(
            "expected the path of a file or folder", received="an empty one", hint="give the name of a table"
        )
    if ADDRESS.fullmatch(text) is None:
        return
    text = re.sub(r"^(\w+):/+", r"\1://", text)  # a Path has lost a slash
    name = text.rstrip("/").rsplit("/", 1)[-1].partition("?")[0] or "table.csv"
    web = text.lower().startswith(("http", "ftp"))
    way = f"download it first, e.g. curl -L -o {name} '{text}'" if web else f"copy it to this machine first, as {name}"
    raise FileError(
        "expected a file of this machine, as Ritz fetches nothing by itself", received=f"an address, {text}",
        hint=f"{way}, and give the file",
    )  # fmt: skip


def _inside(folder: Path) -> str:
    """Suggest a table in a folder that is none; several ``.txt`` files are rather documents."""
    tables = sorted(entry for entry in folder.iterdir() if TABLES & set(entry.suffixes) and entry.is_file())
    plain = [entry for entry in tables if entry.suffix == ".txt"]
    tables = tables if len(plain) < 2 else [entry for entry in tables if entry.suffix != ".txt"]
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
