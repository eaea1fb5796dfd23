"""How a text file is cut into fields: found from its beginning, or said by the user.

    sample (256 KB, or some lines)  →  encoding, lines before the header, delimiter, decimal mark, header

A delimiter (comma, semicolon, tab, bar; where none of them cuts, one space, tilde or caret, if many fields are numbers)
is scored by how many lines it cuts into the same number (≥ 2) of fields, then by the share of fields that are numbers.
A control character that cuts all lines alike comes first, unless one of those finds more numbers. ``sep=;`` names it.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

from ritz._core.errors import FileError, ParameterError
from ritz.data.formats.text.encoding import decode, not_a_table
from ritz.data.formats.text.header import beginning, fit_names, is_header, unique_names, units_below
from ritz.data.formats.text.numbers import Reading, count_loose, decimal_mark, is_loose
from ritz.data.formats.text.records import records
from ritz.data.words import cut, shorten

__all__ = ["MISSING_MARKS", "SAMPLE_BYTES", "Dialect", "TextOptions", "sniff"]

SAMPLE_BYTES = 1 << 18
SAMPLE_LINES = 200
CELLS = 2000  # of a line that are looked at, at most, to tell numbers from words
DELIMITERS = ("\t", ";", "|", ",")
#: Marks that databases write where a comma may stand in a field: what stands for nothing else, and what may.
CONTROLS = tuple(chr(code) for code in range(1, 32) if chr(code) not in "\t\n\v\f\r\x1a\x1b")
SELDOM = ("~", "^")
SPACE_SHARE = 0.3  # of fields that are numbers, from which lines cut at spaces are a table and not prose
MISSING_MARKS = ("", "?", "-", ".", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None", "missing")
SEP_LINE = re.compile(r'"?sep=(\\t|.)"?', re.IGNORECASE)


@dataclass(frozen=True)
class TextOptions:
    """What the user says about a text file; None is found out.

    ``missing`` are texts that count as missing beside the usual marks, ``keep`` are usual marks that do not.
    ``coerce`` makes what is no number missing in columns that are nearly all numbers. ``decimal_like`` and ``readings``
    are how another file was written, by column, which is followed unless this file cannot be read so.
    """

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    missing: Sequence[str] | None = None
    keep: Sequence[str] | None = None
    skip: int | None = None
    coerce: bool = False
    decimal_like: str | None = None
    readings: Mapping[str, Reading] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _one_character("delimiter", self.delimiter, "delimiter=';'")
        _one_character("thousands", self.thousands, "thousands='.'")
        if self.decimal not in (None, ".", ","):
            raise ParameterError("decimal must be '.' or ','", received=repr(self.decimal), hint="decimal=','")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ParameterError(
                "decimal and thousands must differ", received=f"{self.decimal!r} for both", hint="give only one of them"
            )
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise ParameterError(
                    "encoding must be one that Python knows",
                    received=repr(self.encoding),
                    hint="encoding='utf-8', 'cp1252' or 'utf-16'",
                ) from None
        for name, marks, example in (("missing", self.missing, "-99"), ("keep", self.keep, "None")):
            if isinstance(marks, str) or not all(isinstance(mark, str) for mark in marks or ()):
                raise ParameterError(
                    f"{name} must be a list of texts", received=repr(marks), hint=f"{name}=['{example}']"
                )
        if self.skip is not None and (isinstance(self.skip, bool) or self.skip < 0):
            raise ParameterError("skip must be a number of lines", received=repr(self.skip), hint="skip=2")

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts that count as missing."""
        return _marks_of(tuple(self.keep or ()), tuple(self.missing or ()))


@lru_cache(64)
def _marks_of(keep: tuple[str, ...], missing: tuple[str, ...]) -> tuple[str, ...]:
    kept = set(keep) - {""}
    return tuple(dict.fromkeys([*(mark for mark in MISSING_MARKS if mark not in kept), *missing]))


@dataclass(frozen=True)
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
    newline: str = "\n"
    notes: tuple[str, ...] = ()  # what was decided about delimiter, lines before the header, encoding
    sure: bool = False  # values were found that show which mark is the decimal one
    surplus: bool = False  # every line ends in a delimiter, behind which nothing stands


def sniff(sample: bytes, path: Path, options: TextOptions | None = None, complete: bool | None = None) -> Dialect:
    """Find the dialect from the first bytes of a file; ``complete`` says whether they are all of it."""
    options = options or TextOptions()
    complete = len(sample) < SAMPLE_BYTES if complete is None else complete
    text, encoding, notes = decode(sample, path, options.encoding, complete)
    text, skip, said, more = _sep_line(text)
    notes += more
    text, skip = _skipped(text, options.skip or 0, path), skip + (options.skip or 0)
    _refuse_markup(text, path)
    cut_by = lru_cache(None)(partial(_records, text, complete=complete))
    delimiter = options.delimiter or said or _delimiter(text, path, complete, cut_by)
    numbered = list(cut_by(delimiter))
    if not any(any(field.strip() for field in fields) for _, fields in numbered):
        raise FileError(f"expected rows in {path}", received="an empty file", hint="check how the file was made")
    width = _width(numbered)
    start, names, more = beginning(numbered, width, look=options.header is not False)
    notes += more
    if options.header is not False and units_below(numbered, start, width):
        before, fields = numbered.pop(start + 1)
        notes += (f"line {skip + before + 1} left out, which holds units: {cut(', '.join(fields), 40)!r}",)
    body = [fields for _, fields in numbered[start + 1 :]] or [names]
    names, surplus, more = fit_names(names, body, width)
    notes += more
    if not (is_header([names, *body]) if options.header is None else options.header):
        names = []
        body = [fields for _, fields in numbered[start:]]
    first = numbered[start][0] if not names else _line_after(numbered, start, text, delimiter)
    decimal, sure = decimal_mark(itertools.chain(*body), delimiter)
    if options.decimal_like is not None and not sure:
        decimal = options.decimal_like
    decimal = options.decimal or _other(options.thousands) or decimal
    dialect = Dialect(
        delimiter,
        decimal,
        encoding,
        tuple(names) or None,
        width,
        skip + first,
        '"' in text,
        options.header is not None,
        _newline(text),
        sure=sure,
        surplus=surplus,
    )
    return replace(dialect, notes=(*notes, *_told(dialect, options, said, sure)))


# --- text to records ---------------------------------------------------------------------------------------


def _sep_line(text: str) -> tuple[str, int, str | None, tuple[str, ...]]:
    """Take off a first line such as ``sep=;``, which spreadsheets write to name the delimiter."""
    line, end, rest = _first_line(text)
    match = SEP_LINE.fullmatch(line.strip())
    if match is None or not end:
        return text, 0, None, ()
    said = "\t" if match[1] == "\\t" else match[1]
    return rest, 1, said, (f"the first line, {line.strip()}, names the delimiter",)


def _skipped(text: str, lines: int, path: Path) -> str:
    """The text without its first lines."""
    for _ in range(lines):
        _, end, text = _first_line(text)
        if not end:
            raise ParameterError(
                f"skip must leave rows in {path}", received=f"skip={lines}", hint="leave skip= out to have titles found"
            )
    return text


def _first_line(text: str) -> tuple[str, str, str]:
    match = re.search(r"\r\n|\n|\r", text)
    return (text, "", "") if match is None else (text[: match.start()], match[0], text[match.end() :])


def _newline(text: str) -> str:
    """What ends the lines, whatever stands inside quotes; ``\\r\\n`` ends in ``\\n``."""
    bare = re.sub(r'"[^"]*"', "", text) if '"' in text else text
    return "\r" if "\r" in bare and "\n" not in bare else "\n"


def _refuse_markup(text: str, path: Path) -> None:
    start = text.lstrip()
    if start[:1] in {"<", "{"} or re.match(r"\[\s*\{", start):
        raise not_a_table(path, f"a file that begins with {cut(_first_line(start)[0].strip(), 30)!r}")


def _records(text: str, delimiter: str, complete: bool = True) -> list[tuple[int, list[str]]]:
    """The first records, each with the number of lines before it; blank lines are none."""
    out = []
    try:
        for before, _, fields in records(text, delimiter):
            if len(fields) > 1 or (fields and fields[0].strip()):
                out.append((before, fields))
            if len(out) > SAMPLE_LINES:
                return out
    except csv.Error:
        pass  # what came before it decides
    return out if complete or len(out) < 2 else out[:-1]  # the last one is cut in its middle


def _delimiter(text: str, path: Path, complete: bool, cut_by: Callable[[str], list[tuple[int, list[str]]]]) -> str:
    def rows_by(mark: str) -> list[list[str]]:
        return [fields for _, fields in cut_by(mark)]

    if not cut_by(","):
        raise FileError(f"expected rows in {path}", received="an empty file", hint="check how the file was made")
    scores = {mark: _score(rows_by(mark)) if mark in text else UNCUT for mark in DELIMITERS}
    best = max(DELIMITERS, key=lambda mark: scores[mark])
    control = _seldom(text, complete, CONTROLS, 0.0)
    if control is not None and not _cuts_better(rows_by(best), rows_by(control)):
        return control
    if scores[best][0] > 0.0:
        return best
    seldom = _seldom(text, complete, SELDOM, SPACE_SHARE)
    if seldom is not None:
        return seldom
    share, numbers, _ = _score(rows_by(" "))
    bare = re.sub(r'"[^"]*"', '""', text)  # what stands in quotes sets no columns apart, line breaks in it among it
    runs = re.search(r"[^\s\"]  +[^\s\"]", bare) is not None
    if share > 0.9 and numbers >= SPACE_SHARE and not runs:
        return " "
    lines = [line for line in re.split(r"[\r\n]+", bare) if line.strip()][:SAMPLE_LINES]
    if sum(" " in line.strip() for line in lines) > len(lines) / 2 or len(lines) == 1:
        if runs and re.search(r"\d  +[-+\d.]", bare):
            raise not_a_table(path, "columns set apart by several spaces", RUNS_HINT)
        raise not_a_table(path, f"lines without a delimiter, such as {cut(lines[0].strip())!r}")
    return ","


def _seldom(text: str, complete: bool, marks: Sequence[str], least: float) -> str | None:
    """One of the marks that few files use, which cuts nearly all lines and the first of them alike, into fields with
    numbers among them or into three and more: ``2~4`` below the name of one column is a value."""
    for mark in marks:
        if mark in text:
            rows = [fields for _, fields in _records(text, mark, complete)]
            share, numbers, width = _score(rows)
            if share > 0.9 and len(rows[0]) == width and (numbers >= least or width > 2):
                return mark
    return None


def _cuts_better(common: list[list[str]], control: list[list[str]]) -> bool:
    """Whether a common delimiter cuts all lines alike into more numbers, or as many and more fields: the control
    character then stands inside a field."""
    share, *better = _score(common)
    return share > 0.9 and len(common[0]) == better[1] and better > list(_score(control)[1:])


RUNS_HINT = "put one delimiter between the columns, e.g. tr -s ' ' ';' < old.txt > new.csv"


#: The score of a mark that is nowhere.
UNCUT = (0.0, 0.0, 1)


def _score(rows: list[list[str]]) -> tuple[float, float, int]:
    """Share of lines of the commonest width, share of numbers below the first line, width."""
    body = rows[1:] or rows
    width, count = max(Counter(map(len, body)).items(), key=lambda item: (item[1], item[0]))
    if width < 2:
        return UNCUT
    cells = [field for fields in body for field in fields[:: max(1, len(fields) // CELLS)]]
    return count / len(body), count_loose(cells) / len(cells), width


def _width(rows: list[tuple[int, list[str]]]) -> int:
    """The commonest number of fields, taken below the first line where there are lines enough."""
    counts = Counter(len(fields) for _, fields in (rows[1:] or rows))
    return max(counts.items(), key=lambda item: (item[1], item[0]))[0]


def _line_after(here: list[tuple[int, list[str]]], start: int, text: str, delimiter: str) -> int:
    """Lines before the record that follows the header; the header itself may run over several lines."""
    if start + 1 < len(here):
        return here[start + 1][0]
    return next((line for _, line, fields in records(text, delimiter) if fields == here[start][1]), 0)


def _one_character(name: str, value: str | None, example: str) -> None:
    if value is not None and (not isinstance(value, str) or len(value) != 1 or value in '"\r\n'):
        raise ParameterError(f"{name} must be one character", received=repr(value), hint=example)


def _other(thousands: str | None) -> str | None:
    return {",": ".", ".": ","}.get(thousands or "")


AS_DATA = "(header=False takes it as data)"
SPOKEN = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space", "~": "tilde", "^": "caret"}
SPOKEN |= {mark: f"the control character 0x{ord(mark):02X}" for mark in CONTROLS}


def _told(dialect: Dialect, options: TextOptions, said: str | None, sure: bool) -> list[str]:
    """Notes on header, delimiter and decimal mark."""
    notes = _header_notes(dialect)
    if dialect.delimiter != "," and options.delimiter is None and said is None:
        notes.append(f"fields are separated by {SPOKEN.get(dialect.delimiter, repr(dialect.delimiter))}")
    if dialect.decimal == "," and options.decimal is None and options.thousands is None:
        way = "" if sure else " (thousands=',' takes the commas as separators of thousands)"
        notes.append(f"the decimal mark is a comma{way}")
    return notes


def _header_notes(dialect: Dialect) -> list[str]:
    if dialect.header is None:
        why = "as asked, the first line is" if dialect.told else "no header: the first line holds numbers, so it is"
        way = "" if dialect.told else " (header=True takes it as names)"
        return [f"{why} taken as data{way}; columns are named x0, x1, …"]
    notes = []
    names = dialect.header[: dialect.width - dialect.surplus]
    numbers = [name for name in names if is_loose(name)]
    if numbers and not dialect.told:
        counts = len(numbers) == len(names)
        what = "numbers the columns" if counts else f"holds numbers that look like names ({numbers[0]}, …)"
        notes.append(f"the first line, {names[0]} … {names[-1]}, {what}, so it is the header {AS_DATA}")
    if len({name for name in names if name}) < sum(map(bool, names)):
        notes.append("some columns share a name; a number was added")
    called = [repr(new) for name, new in zip(names, unique_names(names), strict=True) if not name]
    if called:
        notes.append(f"columns without a name are called {shorten(called)}")
    return notes
