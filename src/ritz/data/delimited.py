"""CSV and its relatives, read whole: the parts are in ``dialect`` (how fields are cut), ``text_rows`` (where rows
begin), ``text_scan`` (what columns hold), ``numbers`` and ``text_dates`` (text as a person reads it).

    path  →  TextFile  →  scan  →  pyarrow.Table
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ritz.data.dialect import Dialect, TextOptions, sniff
from ritz.data.header import unique_names
from ritz.data.text_file import TextFile
from ritz.data.text_scan import load, scan

__all__ = ["Dialect", "line_of", "read_delimited", "sniff", "unique_names"]


def read_delimited(path: Path, header: bool | None = None) -> tuple[Any, Dialect, tuple[str, ...]]:
    """Read a delimited text file to a pyarrow.Table as it is written, with its dialect and notes."""
    file = TextFile(path, TextOptions(header=header))
    found = scan(file, keep=True, readings=False)
    notes = found.notes if file.dialect.encoding not in ("utf8", "utf-16") else ()
    return load(found), file.dialect, (*file.dialect.notes, *notes)


def line_of(path: Path, dialect: Dialect, row: int) -> int | None:
    """Give the line of the file, from 1, that holds a row, from 0; None where fields may hold line ends."""
    if dialect.quoted:
        return None
    return scan(TextFile(path, TextOptions(header=dialect.header is not None)), keep=False).line(row)
