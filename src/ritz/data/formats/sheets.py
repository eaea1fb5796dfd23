"""Sheets of a workbook (.xlsx, .ods), written out as text and read as all text is.

    sheet  →  one line a row, fields in commas  →  titles, units, thousands, typing errors as in any text file

Numbers are written with all their digits, and 1.601 as 1.6010, so that no point can be taken for one between thousands.
Dates are ISO. Formulas are the values that they had when the workbook was saved.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, InputError
from ritz.data.formats.declared import room, too_large
from ritz.data.formats.files import damaged, needs
from ritz.data.formats.scratch import scratch
from ritz.data.words import shorten

__all__ = ["is_workbook", "sheet_as_text"]

ODS = b"application/vnd.oasis.opendocument.spreadsheet"
THREE_DECIMALS = re.compile(r"-?\d{1,3}\.\d{3}")
#: Memory for a cell while it is read and parsed.
CELL_BYTES = 100
#: Cells that are said to repeat beyond this many are empty paper.
MOST_REPEATED = 10_000


def is_workbook(path: Path) -> bool:
    """Whether a zip archive is a workbook."""
    return _kind(path) is not None


def _kind(path: Path) -> str | None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "xl/workbook.xml" in names:
                return "xlsx"
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                return "ods" if archive.read("mimetype").startswith(ODS) else None
    except (zipfile.BadZipFile, OSError, KeyError):
        return None
    return None


def sheet_as_text(path: Path, sheet: str | int | None) -> tuple[Path, str]:
    """A text file of one sheet, and a note that names it and the others."""
    kind = _kind(path)
    try:
        with ExitStack() as opened:
            names, rows_of = _xlsx(path, opened) if kind == "xlsx" else _ods(path)
            chosen = _chosen(path, names, sheet)
            out = scratch(path.name)
            file = opened.enter_context(out.open("w", encoding="utf-8", newline=""))
            written = csv.writer(file, lineterminator="\n")
            cells, empty = 0, 0
            for row in rows_of(chosen):
                fields = [_field(value) for value in row]
                if not any(fields):  # rows below the table are not written
                    empty += 1
                    continue
                for _ in range(empty):
                    file.write("\n")
                empty, cells = 0, cells + len(fields)
                if cells * CELL_BYTES > room():
                    raise too_large(2.0 * cells * CELL_BYTES, path, f"more than {cells:,} cells")
                written.writerow(fields)
    except (FileError, InputError):
        raise
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, EOFError, AttributeError) as error:
        raise damaged(path, "workbook", error) from error
    others = [repr(name) for name in names if name != chosen]
    more = f"; others are {shorten(others)}, which sheet= names" if others and sheet is None else ""
    return out, f"sheet {chosen!r}{more}"


def _chosen(path: Path, names: list[str], sheet: str | int | None) -> str:
    if not names:
        raise FileError(f"expected a sheet in {path}", received="a workbook without any", hint="check the file")
    if sheet is None:
        return names[0]
    if isinstance(sheet, str) and sheet in names:
        return sheet
    number = int(sheet) if str(sheet).isdigit() else 0
    if 1 <= number <= len(names):
        return names[number - 1]
    raise InputError(
        f"expected a sheet {sheet!r} in {path}", received=f"sheets {shorten([repr(name) for name in names])}",
        hint=f"sheet={names[0]!r}, or its number from 1",
    )  # fmt: skip


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
        return f"{text}0" if THREE_DECIMALS.fullmatch(text) else text
    if isinstance(value, dt.datetime):
        return str(value.date()) if value.time() == dt.time() else value.isoformat(sep=" ", timespec="seconds")
    return str(value)


def _xlsx(path: Path, opened: ExitStack) -> tuple[list[str], Any]:
    try:
        import openpyxl
    except ImportError as error:
        raise needs(path, "workbooks", "openpyxl", error) from error
    book = openpyxl.load_workbook(opened.enter_context(path.open("rb")), read_only=True, data_only=True)
    sheets = {sheet.title: sheet for sheet in book.worksheets}

    def rows(name: str) -> Iterator[Iterable[Any]]:
        sheet = sheets[name]
        sheet.reset_dimensions()  # what a file declares of its size is often wrong
        yield from sheet.iter_rows(values_only=True)

    return list(sheets), rows


def _ods(path: Path) -> tuple[list[str], Any]:
    try:
        from odf import opendocument, table
    except ImportError as error:
        raise needs(path, "workbooks of OpenDocument", "odfpy", error) from error
    book = opendocument.load(str(path))
    sheets = {str(one.getAttribute("name")): one for one in book.spreadsheet.getElementsByType(table.Table)}

    def rows(name: str) -> Iterator[Iterable[Any]]:
        for row in sheets[name].getElementsByType(table.TableRow):
            values: list[Any] = []
            for cell in (node for node in row.childNodes if node.qname[1] in ("table-cell", "covered-table-cell")):
                times = int(cell.getAttribute("numbercolumnsrepeated") or 1)
                value = _ods_value(cell)
                values += [value] * (times if value is not None or times <= MOST_REPEATED else 0)
            while values and values[-1] is None:
                values.pop()
            times = int(row.getAttribute("numberrowsrepeated") or 1)
            for _ in range(times if values or times <= MOST_REPEATED else 0):
                yield values

    return list(sheets), rows


def _ods_value(cell: Any) -> Any:
    kind = cell.getAttribute("valuetype") if cell.qname[1] == "table-cell" else None
    if kind in ("float", "percentage", "currency"):
        return float(cell.getAttribute("value"))
    if kind == "boolean":
        return cell.getAttribute("booleanvalue") == "true"
    if kind == "date":
        return str(cell.getAttribute("datevalue")).replace("T", " ").removesuffix(" 00:00:00")
    from odf import teletype

    texts = [teletype.extractText(node) for node in cell.childNodes if node.qname[1] == "p"]
    return "\n".join(texts) if texts else None
