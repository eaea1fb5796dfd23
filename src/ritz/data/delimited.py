"""CSV and its relatives: the dialect is guessed from the beginning of the file, the rest is left to pyarrow.

    sample (256 KB)  →  encoding, delimiter among , ; tab |, decimal mark, header line  →  pyarrow.csv

A delimiter is scored by how many lines it cuts into the same number (≥ 2) of fields, then by the share of
fields that are numbers. With ``;``, tab or ``|`` the decimal mark may be a comma. A first line of numbers
alone is data, unless it counts the columns (0 … d−1, 1 … d) or rises through years and the lines below do not.
A header that is one field short names all columns but the first (R's ``write.table``).
"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

from ritz._core.errors import FileError
from ritz.data.words import cut

__all__ = ["Dialect", "line_of", "read_delimited", "sniff", "unique_names"]

SAMPLE_BYTES = 1 << 18
SAMPLE_LINES = 200
DELIMITERS = ("\t", ";", "|", ",")
MISSING_MARKS = [
    "",
    "?",
    "-",
    ".",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "NaN",
    "nan",
    "-nan",
    "NULL",
    "null",
    "None",
    "missing",
]
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(r"\d{1,9}")
FIRST_YEAR, LAST_YEAR = 1900, 2100
NUMBER_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
SPOKEN = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How a text file is cut into fields."""

    delimiter: str
    decimal: str
    encoding: str
    header: tuple[str, ...] | None  # None where the first line is data
    width: int
    skip: int  # lines before the data
    quoted: bool  # fields may hold line ends; pyarrow then reads on one thread
    told: bool = False  # the user said whether there is a header


def read_delimited(path: Path, header: bool | None = None) -> tuple[Any, Dialect, tuple[str, ...]]:
    """Read a delimited text file to a pyarrow.Table, with its dialect and notes on what had to be guessed."""
    import pyarrow as pa

    with pa.input_stream(str(path), compression="detect") as stream:
        sample = stream.read(SAMPLE_BYTES)
    dialect = sniff(sample, path, header)
    try:
        table = _parse(path, dialect)
        if dialect.encoding == "utf8" and any(pa.types.is_binary(kind) for kind in table.schema.types):
            # Text that is not UTF-8 behind the sample comes out as bytes; one byte a character cannot fail.
            dialect = dataclasses.replace(dialect, encoding="latin-1")
            table = _parse(path, dialect)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _not_a_table(path, str(error)) from error
    return table, dialect, _notes(dialect)


def sniff(sample: bytes, path: Path, header: bool | None = None) -> Dialect:
    """Guess the dialect from the first bytes of a file; ``header`` is the user's word or None."""
    told = header is not None
    text, encoding = _decode(sample, path)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(sample) == SAMPLE_BYTES:
        lines = lines[:-1]  # cut in its middle
    lines = lines[:SAMPLE_LINES]
    if not lines:
        raise FileError(f"expected rows in {path}", received="an empty file", hint="check how the file was made")
    if lines[0].lstrip()[:1] in {"<", "{"} or lines[0].lstrip()[:2] == "[{":
        raise _not_a_table(path, f"a file that begins with {cut(lines[0].strip(), 30)!r}")
    best, fields = max(((d, _fields(lines, d)) for d in DELIMITERS), key=lambda pair: _score(*pair))
    if _score(best, fields)[0] == 0.0:
        best, fields = ",", [[line.strip().strip('"')] for line in lines]
        if sum(" " in line.strip() for line in lines) > len(lines) / 2 or len(lines) == 1:
            raise _not_a_table(path, f"lines without a delimiter, such as {cut(lines[0])!r}")
    decimal = _decimal(best, fields[1:] or fields)
    width = Counter(len(row) for row in fields[1:] or fields).most_common(1)[0][0]
    names: Any = tuple(field.strip() for field in fields[0])
    if len(names) == width - 1 and len(fields) > 2:
        names = ("", *names)
    if (header is None and all(_numeric(name, best) for name in names) and not _counts(fields)) or header is False:
        names = None
    blank = len(text) - len(text.lstrip("\r\n"))
    skip = len(text[:blank].splitlines()) + (names is not None)
    return Dialect(best, decimal, encoding, names, width, skip, '"' in text, told)


def _counts(fields: list[list[str]]) -> bool:
    """Whether the first line numbers the columns, or gives them years, and the lines below do not go on so."""
    first, *body = (_whole(row) for row in fields)
    if first is None or len(first) < 2 or not body or first in body:  # names do not come again below
        return False
    if first in (list(range(len(first))), list(range(1, len(first) + 1))):
        return not all(row is not None and _steps(row) == {1} for row in body)
    return _years(first) and not all(row is not None and _years(row) for row in body)


def _whole(row: list[str]) -> list[int] | None:
    cells = [field.strip() for field in row]
    return [int(cell) for cell in cells] if all(WHOLE.fullmatch(cell) for cell in cells) else None


def _steps(row: list[int]) -> set[int]:
    return {b - a for a, b in itertools.pairwise(row)}


def _years(row: list[int]) -> bool:
    return row[0] >= FIRST_YEAR and row[-1] <= LAST_YEAR and min(_steps(row), default=0) > 0


def line_of(path: Path, dialect: Dialect, row: int) -> int | None:
    """Give the line of the file, from 1, that holds a row, from 0; None where fields may hold line ends."""
    import pyarrow as pa

    if dialect.quoted:
        return None
    with pa.input_stream(str(path), compression="detect") as stream:
        encoding = "utf-8-sig" if dialect.encoding == "utf8" else dialect.encoding
        text = io.TextIOWrapper(cast(Any, stream), encoding=encoding, errors="replace")
        for number, line in enumerate(text, 1):
            if number > dialect.skip and line.strip("\r\n"):
                if row == 0:
                    return number
                row -= 1
    return None


def _decode(sample: bytes, path: Path) -> tuple[str, str]:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return sample[: len(sample) // 2 * 2].decode("utf-16", errors="replace"), "utf-16"
    if b"\0" in sample:
        raise _not_a_table(path, "binary content")
    if sample.startswith(b"\xef\xbb\xbf"):
        return sample[3:].decode("utf-8", errors="replace"), "utf8"
    for cut_off in range(min(4, len(sample) + 1)):  # a sample may end inside a character
        try:
            return sample[: len(sample) - cut_off].decode("utf-8"), "utf8"
        except UnicodeDecodeError:
            if len(sample) < SAMPLE_BYTES:
                break
    return sample.decode("latin-1"), "latin-1"


def _fields(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return [[line] for line in lines]


def _score(delimiter: str, fields: list[list[str]]) -> tuple[float, float, int]:
    """Share of lines of the commonest width, share of numbers below the first line, width."""
    body = fields[1:] or fields
    width, count = Counter(len(row) for row in body).most_common(1)[0]
    if width < 2:
        return 0.0, 0.0, 1
    cells = [field for row in body for field in row]
    return count / len(body), sum(_numeric(c, delimiter) for c in cells) / len(cells), width


def _numeric(field: str, delimiter: str) -> bool:
    text = field.strip()
    return bool(NUMBER.fullmatch(text) or (delimiter != "," and NUMBER_COMMA.fullmatch(text)))


def _decimal(delimiter: str, fields: list[list[str]]) -> str:
    if delimiter == ",":
        return "."
    cells = [field.strip() for row in fields for field in row]
    commas = sum("," in c and NUMBER_COMMA.fullmatch(c) is not None for c in cells)
    points = sum("." in c and NUMBER.fullmatch(c) is not None for c in cells)
    return "," if commas > points else "."


def _parse(path: Path, dialect: Dialect) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pc

    names = dialect.header or tuple(f"x{j}" for j in range(dialect.width))
    with pa.input_stream(str(path), compression="detect") as stream:
        return pc.read_csv(
            stream,
            read_options=pc.ReadOptions(
                column_names=unique_names(names),
                skip_rows=dialect.skip,
                encoding=dialect.encoding,
            ),
            parse_options=pc.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=dialect.quoted),
            convert_options=pc.ConvertOptions(
                null_values=MISSING_MARKS, strings_can_be_null=True, decimal_point=dialect.decimal
            ),
        )


def unique_names(names: tuple[str, ...]) -> list[str]:
    """Give nameless columns a position and repeated names a number."""
    taken: set[str] = set()
    out = []
    for j, name in enumerate(names):
        base = name or ("row" if j == 0 else f"x{j}")
        unique, k = base, 2
        while unique in taken:
            unique, k = f"{base}_{k}", k + 1
        taken.add(unique)
        out.append(unique)
    return out


def _notes(dialect: Dialect) -> tuple[str, ...]:
    notes = []
    if dialect.header is None:
        why = "as asked, the first line is" if dialect.told else "no header: the first line holds numbers, so it is"
        way = "" if dialect.told else " (header=True takes it as names)"
        notes.append(f"{why} taken as data{way}; columns are named x0, x1, …")
    elif not dialect.told and all(_numeric(name, dialect.delimiter) for name in dialect.header):
        ends = f"{dialect.header[0]} … {dialect.header[-1]}"
        notes.append(
            f"the first line, {ends}, numbers the columns, so it is the header (header=False takes it as data)"
        )
    elif len(set(dialect.header)) < len(dialect.header):
        notes.append("some columns share a name; a number was added")
    if dialect.delimiter != ",":
        notes.append(f"fields are separated by {SPOKEN[dialect.delimiter]}")
    if dialect.decimal == ",":
        notes.append("the decimal mark is a comma")
    if dialect.encoding != "utf8":
        notes.append(f"the text is not UTF-8; read as {dialect.encoding}")
    return tuple(notes)


def _not_a_table(path: Path, received: str) -> FileError:
    text = " ".join(received.split())
    return FileError(
        f"expected a table with one row a line in {path}",
        received=cut(text, 200),
        hint="every line needs the same number of fields, separated by comma, semicolon, tab or bar",
    )
