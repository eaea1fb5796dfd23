"""A folder of Parquet files as one table: which files, the keys in the names of their folders, that they agree.

sales/year=2024/month=1/part-0.parquet   →   columns of the file, and year = 2024, month = 1 in every row
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ritz._core.errors import FileError
from ritz.data.formats.arrow import Field

__all__ = ["other_files", "parquet_files", "partitions", "require_same"]

ENDINGS = {".parquet", ".pq", ".parq"}


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files in a folder and its sub-folders, in the order of their names; hidden ones are left out."""
    return [path for path in _visible(folder) if path.suffix.lower() in ENDINGS]


def other_files(folder: Path) -> list[Path]:
    """Files beside the Parquet files of a folder that are no part of its table; hidden ones are not meant."""
    return [path for path in _visible(folder) if path.suffix.lower() not in ENDINGS]


def _visible(folder: Path) -> list[Path]:
    paths = (path for path in folder.rglob("*") if not any(x[0] in "._" for x in path.relative_to(folder).parts))
    return sorted(path for path in paths if path.is_file())


def partitions(files: Sequence[Path], root: Path | None) -> tuple[list[dict[str, Any]], list[Field]]:
    """Keys of ``key=value`` folders below ``root``: one dictionary a file, and their fields."""
    import pyarrow as pa

    raw = [
        {k: unquote(v) for k, _, v in (folder.partition("=") for folder in path.relative_to(root).parts[:-1]) if v}
        if root is not None
        else {}
        for path in files
    ]
    names = list(raw[0]) if raw else []
    for path, keys in zip(files, raw, strict=True):
        if list(keys) != names:
            raise FileError(
                f"expected partition folders {names or 'none'} for {path}, as for {files[0]}",
                received=str(list(keys) or "none"),
                hint="give a folder whose files lie equally deep",
            )
    fields, typed = [], [dict[str, Any]() for _ in files]
    for name in names:
        values = [None if keys[name] == "__HIVE_DEFAULT_PARTITION__" else keys[name] for keys in raw]
        integers = all(v is None or (v.lstrip("-").isdigit() and str(int(v)) == v) for v in values)
        fields.append(Field(name, pa.int64() if integers else pa.string(), -1, complete=None not in values))
        for typed_keys, value in zip(typed, values, strict=True):
            typed_keys[name] = int(value) if integers and value is not None else value
    return typed, fields


def require_same(first: Any, here: Path, other: Any, there: Path) -> None:
    """Refuse a file whose columns differ, by name and type, from those of the first."""
    for name in first.names:
        if name not in other.names:
            raise _disagree(here, there, f"no column {name!r}")
    for name in other.names:
        if name not in first.names:
            raise _disagree(here, there, f"another column, {name!r}")
    for a, b in zip(first, other, strict=True):
        if a.name != b.name:
            raise _disagree(here, there, f"column {b.name!r} where {a.name!r} was expected")
        if a.type != b.type:
            raise _disagree(here, there, f"column {a.name!r} of type {b.type} instead of {a.type}")


def _disagree(here: Path, there: Path, what: str) -> FileError:
    return FileError(
        f"expected {there} to have the same columns as {here}",
        received=what,
        hint="write the files with one schema, or read them one by one",
    )
