"""Tables of a database file: SQLite and DuckDB, opened for reading only.

A file with one table is that table; of several one is named. SQLite stores any value in any column: one that holds
numbers and texts becomes text. Views of DuckDB are not read, as they may lead to other files.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, InputError
from ritz.data.formats.declared import room, too_large
from ritz.data.formats.files import damaged, needs
from ritz.data.words import shorten

__all__ = ["duckdb_table", "sqlite_table"]

BATCH = 10_000
#: Memory for a value of SQLite while columns are made of it.
VALUE_BYTES = 100


def sqlite_table(path: Path, sheet: str | int | None) -> tuple[Any, str]:
    """An Arrow table of one table of a SQLite file, and its name."""
    import pyarrow as pa

    try:
        with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True) as base:
            listed = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
            chosen = _chosen(path, [str(name) for (name,) in listed if not str(name).startswith("sqlite_")], sheet)
            found = base.execute(f'SELECT * FROM "{chosen.replace(chr(34), chr(34) * 2)}"')
            names = [str(one[0]) for one in found.description]
            columns: list[list[Any]] = [[] for _ in names]
            while rows := found.fetchmany(BATCH):
                for values, new in zip(columns, zip(*rows, strict=True), strict=True):
                    values.extend(new)
                if len(columns[0]) * len(names) * VALUE_BYTES > room():
                    raise too_large(2.0 * len(columns[0]) * len(names) * VALUE_BYTES, path, "a larger table")
    except sqlite3.Error as error:
        raise damaged(path, "SQLite database", error) from error
    finally:
        if "base" in locals():
            base.close()
    from ritz.data.formats.text.header import unique_names

    return pa.table([_column(values) for values in columns], names=unique_names(names)), chosen


def _column(values: list[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values]) if float in kinds else pa.array(values)
    if kinds in ({str}, {bytes}):
        return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values])


def duckdb_table(path: Path, sheet: str | int | None) -> tuple[Any, str]:
    """A relation of one table of a DuckDB file, and its name."""
    try:
        import duckdb
    except ImportError as error:
        raise needs(path, "DuckDB files", "duckdb", error) from error
    try:
        base = duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        listed = base.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_oid").fetchall()
        chosen = _chosen(path, [str(name) for (name,) in listed], sheet)
        return base.table(f'"{chosen.replace(chr(34), chr(34) * 2)}"'), chosen
    except duckdb.Error as error:
        raise damaged(path, "DuckDB file", str(error)) from error


def _chosen(path: Path, names: list[str], sheet: str | int | None) -> str:
    shown = shorten([repr(name) for name in names])
    if not names:
        raise FileError(f"expected a table in {path}", received="a database without any", hint="check the file")
    if sheet is None:
        if len(names) == 1:
            return names[0]
        raise InputError(
            f"expected the name of a table of {path}", received=f"{len(names)} tables: {shown}",
            hint=f"sheet={names[0]!r}",
        )  # fmt: skip
    if str(sheet) in names:
        return str(sheet)
    raise InputError(f"expected a table {sheet!r} in {path}", received=f"tables {shown}", hint=f"sheet={names[0]!r}")
