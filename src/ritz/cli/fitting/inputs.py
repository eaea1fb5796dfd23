"""What stands for TABLE on the command line: a file, ``-`` for standard input, a pattern, or several files as one.

    a.csv b.csv 'more/*.csv'  →  read one after the other, each as the first was  →  one table of all rows

Several files must have the same columns, in any order. Their rows are written together to a temporary Parquet file, so
that all that follows reads one file.
"""

from __future__ import annotations

import glob
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, InputError
from ritz.cli.fitting.columns import open_table
from ritz.data.formats.scratch import scratch
from ritz.data.tables.paths import refuse_address
from ritz.data.words import counted, shorten

__all__ = ["Input", "gathered"]

STDIN = "-"
BATCH_ROWS = 1 << 16
#: How a file is read as far as its text goes: nothing of it is left to say of the rows that were read.
OF_TEXT = ("header", "delimiter", "decimal", "thousands", "encoding", "na", "keep_na", "skip", "coerce", "sheet")


@dataclass(frozen=True)
class Input:
    """One path to read, how, and the files that were named."""

    path: Path
    how: dict[str, Any]
    named: list[Path]


def gathered(paths: Sequence[Path], how: dict[str, Any], **options: Any) -> Input:
    """One path for what the user named; ``options`` are those of reading a table."""
    for path in paths:
        refuse_address(path)
    files = [file for path in paths for file in _files(path)]
    if len(files) == 1:
        return Input(files[0], how, files)
    return Input(_together(files, how, options), {**how, **dict.fromkeys(OF_TEXT)}, files)


def _files(path: Path) -> list[Path]:
    text = str(path)
    if text == STDIN and not path.exists():
        if sys.stdin is None or sys.stdin.isatty():
            raise FileError(
                "expected a table on standard input", received="a terminal",
                hint="ritz fit - < table.csv, or the output of another program: … | ritz fit -",
            )  # fmt: skip
        copy = scratch("stdin")
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if copy.stat().st_size == 0:
            raise FileError(
                "expected a table on standard input", received="nothing", hint="check the program before the pipe"
            )
        return [copy]
    if path.exists() or not any(mark in text for mark in "*?["):
        return [path]
    found = sorted(Path(name) for name in glob.glob(text, recursive=True))
    files = [one for one in found if one.is_file()] or found
    if not files:
        raise FileError(
            f"no file matches {text}",
            hint=(
                "check the folder and the pattern" if path.is_absolute() else f"the pattern is relative to {Path.cwd()}"
            ),
        )
    return files


def _together(files: list[Path], how: dict[str, Any], options: dict[str, Any]) -> Path:
    """A Parquet file of the rows of all files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stem = files[0].name.split(".")[0] or "table"
    out = scratch(f"{stem}_and_{len(files) - 1}_more.parquet")
    tables: list[Any] = []
    like: dict[str, Any] = dict(options.pop("like", None) or {})
    for path in files:
        table = open_table(path, {**how, "drop": None, "ids": None, "categorical": None, "numeric": None}, like=like,
                           **options)  # fmt: skip
        _require_alike(path, table, files[0], tables[0] if tables else None)
        strays = [column for column in table.columns if column.strays]
        if strays:
            from ritz.data.tables.strays import stray_error

            raise stray_error(strays, str(path), table.row_name)
        like = like or table.written
        tables.append(table)
    names = tables[0].names
    parts = [[batch.select(names) for batch in table.batches(None, BATCH_ROWS)] for table in tables]
    try:
        schema = pa.unify_schemas([part[0].schema for part in parts], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise _other_types(files, parts) from error
    with pq.ParquetWriter(out, schema) as writer:
        for part in parts:
            for batch in part:
                writer.write_table(batch.cast(schema))
    return out


def _require_alike(path: Path, table: Any, first: Path, before: Any) -> None:
    if before is None or set(table.names) == set(before.names):
        return
    lacks = [repr(name) for name in before.names if name not in table.names]
    more = [repr(name) for name in table.names if name not in before.names]
    told = [f"a file without {shorten(lacks)}"] if lacks else []
    told += [f"{counted(len(more), 'further column')}: {shorten(more)}"] if more else []
    raise InputError(
        f"expected the columns of {first} in {path}, as both are read as one table", received="; ".join(told),
        hint="give files with the same columns",
    )  # fmt: skip


def _other_types(files: list[Path], parts: list[Any]) -> InputError:
    first = parts[0][0].schema
    for path, part in zip(files, parts, strict=True):
        for field in part[0].schema:
            kind = first.field(field.name).type
            if field.type != kind and (str(kind) == "string") != (str(field.type) == "string"):
                return InputError(
                    f"expected values of one kind in column {field.name!r} of all files",
                    received=f"{kind} in {files[0]}, {field.type} in {path}",
                    hint="look at that column of both files, or leave it out of them",
                )
    return InputError("expected files whose columns hold values of one kind", received="columns that differ")
