"""Delimited text for ``ritz.read``: a table in memory, or a source where it would not fit.

read_text(path, options)  →  TextPieces: values or source, notes, reasons, line
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ritz._core.errors import DoubtfulReading, FileCutOff, FileError
from ritz._core.warn import warn
from ritz.data.formats.stamp import unchanged
from ritz.data.formats.text.columns import Strays, is_number
from ritz.data.formats.text.dialect import TextOptions
from ritz.data.formats.text.file import TextFile
from ritz.data.formats.text.numbers import Reading
from ritz.data.formats.text.scan import SPAN_BYTES, Scanned, load, scan

__all__ = ["TextOptions", "TextPieces", "read_text"]

GROWTH = 2.0  # memory for a byte of text: a number of 6 characters and its delimiter becomes 8 bytes, and both are held


@dataclass(frozen=True)
class TextPieces:
    """What a Table is built from: ``values`` (pyarrow.Table) or ``source``, one of them None."""

    values: Any
    source: Any
    notes: tuple[str, ...] = ()
    #: why columns that look like numbers are text, by name
    reasons: dict[str, str] = field(default_factory=dict)
    #: the line of the file that holds a row, or None
    line: Callable[[int], int | None] | None = None
    #: values that are no numbers, by column
    strays: dict[str, Strays] = field(default_factory=dict)
    #: the texts that were taken for missing
    marks: tuple[str, ...] = ()
    #: decimal mark and readings of columns
    written: dict[str, Any] = field(default_factory=dict)


def read_text(
    path: Path,
    options: TextOptions | None = None,
    *,
    memory: float | None = None,
    look: float | None = None,
    span_bytes: int | None = None,
) -> TextPieces:
    """Read delimited text.

    Parameters
    ----------
    path : Path
        Packed text is recognised by its content and unpacked.
    options : TextOptions
        What the user says about the file.
    memory : float
        Bytes that the table may take; a larger one stays outside as a ``DelimitedSource``. Without it, all is read.
    look : float
        Bytes that looking at the file may take; ``memory`` without it.
    span_bytes : int
        Bytes of text that are parsed at a time; a tenth of ``look`` without it, 1 to 32 MB: up to five pieces are held
        as they were parsed.
    """
    try:
        file = TextFile(path, options)
        if file.cut:
            warn(f"{path} may be cut off: its last line has no end, and {file.cut}", FileCutOff)
        if span_bytes is None:
            look = memory if look is None else look
            span_bytes = SPAN_BYTES if look is None else int(min(SPAN_BYTES, max(1 << 20, look / 10)))
        if memory is not None and GROWTH * file.text.size > memory:
            return _outside(file, span_bytes)
        with unchanged(file.seen):
            scanned = scan(file, span_bytes, keep=True)
            values = load(scanned)
        return _pieces(values, None, scanned, (*file.notes, *scanned.notes))
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"could not read {path}: {error.strerror or error}", hint="the file may be damaged, or not yours to read"
        ) from error


def _outside(file: TextFile, span_bytes: int) -> TextPieces:
    from ritz.data.formats.delimited import DelimitedSource

    source = DelimitedSource(file, span_bytes=span_bytes)
    return _pieces(None, source, source.scanned, source.notes)


def _pieces(values: Any, source: Any, scanned: Scanned, notes: tuple[str, ...]) -> TextPieces:
    for doubt in scanned.doubts:
        warn(f"{scanned.file.path.name}: {doubt}", DoubtfulReading)
    return TextPieces(
        values, source, notes, scanned.reasons, scanned.line, scanned.strays, scanned.marks, written(scanned)
    )


def written(scanned: Scanned) -> dict[str, Any]:
    """How the file is written, so that another one is read alike."""
    dialect = scanned.file.dialect
    readings = {form.name: form.form for form in scanned.forms if isinstance(form.form, Reading)}
    plain = [form.name for form in scanned.forms if form.form is None and is_number(form.type)]
    columns = readings | {name: Reading(dialect.decimal) for name in plain}
    return {"decimal": dialect.decimal, "columns": columns}
