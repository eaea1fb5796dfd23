"""One text file: its dialect, its bytes, and pieces of it parsed by pyarrow.

    bytes of whole rows  →  UTF-8  →  pyarrow.csv (types found, or given)  →  pyarrow.Table

Every error names the file and, where it can be found, the line.
"""

from __future__ import annotations

import csv
import lzma
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError
from ritz.data.formats.declared import require_columns, room, too_large
from ritz.data.formats.stamp import Stamp
from ritz.data.formats.text.bytes import BYTEWISE, open_packed, open_text, stamp
from ritz.data.formats.text.dialect import SAMPLE_BYTES, TextOptions, sniff
from ritz.data.formats.text.ending import open_end
from ritz.data.formats.text.header import unique_names
from ritz.data.formats.text.records import records
from ritz.data.formats.text.rows import NotUtf8, Piece, cut_rows, empty_end, skip_lines
from ritz.data.words import counted, cut

__all__ = ["SURPLUS", "TextFile"]

SURPLUS = "\x00surplus"  # the field behind a delimiter at the end of a line
BOM = b"\xef\xbb\xbf"
CONVERSION = re.compile(r"Row #(\d+): CSV conversion error to \w+: invalid value '(.*)'", re.DOTALL)
BLOCK_BYTES = 1 << 20  # parsed at a time: stays in the caches
#: The same where other pieces are parsed beside it: larger record batches are looked at and read back in fewer calls.
#: Read and fit of 200,000×20 numbers, ms of the clock on two cores: 169, 158, 145 and 142 with ½, 1, 2 and 4 MB.
BESIDE_BYTES = 4 << 20
WIDE = 500  # columns from which types are told to pyarrow where the first line shows them
#: Lines that must end in a sample: a header, and rows enough to compare with it.
SAMPLE_ENDS = 4
#: Memory for a byte of the sample: its text, and 60 bytes for a field of a few characters.
SAMPLE_COST = 32
DELIMITERS = (b",", b";", b"\t", b"|", b" ")
#: What a column of text takes at most while it is read, fitted and reported, whatever it holds: what Arrow's reader of
#: text needs for it, which it gives back later, and its array, summaries and names. 12.4 kB were seen for 10,000
#: columns and 13.4 for 30,000; Arrow alone took 13.6 and, for 100,000 columns, 14.9.
COLUMN_BYTES = 20_000


class TextFile:
    """A delimited text file and how it is read."""

    def __init__(self, path: Path, options: TextOptions | None = None) -> None:
        self.path, self.options = path, options or TextOptions()
        self.stamp, self.seen = stamp(path), Stamp([path])
        sample, complete = _sample(path)
        self.dialect = sniff(sample, path, self.options, complete)
        width = self.dialect.width
        require_columns(width, path, COLUMN_BYTES)
        given = self.dialect.header or tuple(f"x{j}" for j in range(width))
        self.fields = unique_names(given)  # one a field; the columns are those with a value behind them
        if self.dialect.surplus:
            self.fields[-1] = SURPLUS
        self.names = [name for name in self.fields if name != SURPLUS]
        self.encoding = self.dialect.encoding
        self._open()

    def _open(self) -> None:
        self.text = open_text(self.path, self.encoding)
        if self.encoding not in BYTEWISE:
            self.encoding = "utf8"  # the copy is
        self.start = skip_lines(self.text, self.dialect.skip)
        self.stop, empty = self.text.size, 0
        if len(self.fields) > 1 and self.dialect.delimiter != " ":
            self.stop, empty = empty_end(self.text, self.start, self.dialect.delimiter)
        lines = "line" if empty == 1 else "lines"
        self.notes = (*self.dialect.notes, *[f"{empty} empty {lines} at the end left out"][: min(empty, 1)])
        self.cut = ""
        if not empty:
            packed = self.text.size != self.stamp[0]
            end = self.start, self.stop, self.dialect.newline, self.dialect.delimiter, packed
            note, self.cut = open_end(self.text, *end)
            self.notes += (note,) if note else ()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "text": None, "encoding": self.dialect.encoding}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def pieces(self, size: int) -> Iterator[tuple[Piece, bytes]]:
        """Whole rows, about ``size`` bytes at a time."""
        return cut_rows(
            self.text,
            self.start,
            self.stop,
            self.dialect.skip + 1,
            delimiter=self.dialect.delimiter,
            newline=self.dialect.newline,
            size=size,
            utf8=self.encoding == "utf8",
            path=self.path,
        )

    def require_unchanged(self) -> None:
        """Refuse a file that is not the one that was looked at."""
        if stamp(self.path) != self.stamp:
            raise FileError(
                f"{self.path} has changed since it was first read",
                hint="read it again with ritz.read once nothing writes to it",
            )

    def read(self, piece: Piece) -> bytes:
        """The bytes of a piece that was cut before."""
        self.require_unchanged()
        data = self.text.read(piece.start, piece.stop)
        if len(data) < piece.stop - piece.start:
            raise FileError(f"{self.path} became shorter while it was read", hint="read it again once it is complete")
        return data

    def parse(
        self,
        data: bytes,
        piece: Piece,
        *,
        types: dict[str, Any] | None = None,
        columns: Sequence[str] | None = None,
        marks: Sequence[str] | None = None,
        likely: dict[str, Any] | None = None,
        alone: bool = False,
    ) -> Any:
        """Parse a piece to a pyarrow.Table; types are found where they are not given.

        ``likely`` are types that are tried first, as pieces before had them: finding them costs 0.08 ms a column.
        ``alone``: by the calling thread alone, beside others that parse other pieces.
        """
        import pyarrow as pa

        if types is None and columns is None and marks is None:
            sure = self._decimals(data)
            try:
                if sure or likely:
                    return self._parsed(data, piece, sure or likely, None, None, whole=bool(sure), alone=alone)
            except pa.ArrowInvalid:
                pass  # a word further down, or a line that does not fit: found by looking at every type
        try:
            return self._parsed(data, piece, types, columns, marks, alone=alone)
        except pa.ArrowInvalid as error:
            raise self.explained(error, data, piece) from error

    def _parsed(
        self,
        data: bytes,
        piece: Piece,
        types: dict[str, Any] | None,
        columns: Sequence[str] | None,
        marks: Sequence[str] | None,
        whole: bool = False,
        alone: bool = False,
    ) -> Any:
        """Block by block, or as a whole where a row is longer than a block."""
        import pyarrow as pa
        import pyarrow.csv as pc

        text = self._utf8(data)
        all_at_once = len(data) + 1 << 1
        if not whole:
            try:
                block = BESIDE_BYTES if alone else BLOCK_BYTES
                how = self._how(piece, types, columns, marks, block, threads=not alone)
                return pc.read_csv(pa.BufferReader(text), **how)
            except pa.ArrowInvalid as error:
                if "straddling" not in str(error):  # a row longer than the block
                    raise
        how = self._how(piece, types, columns, marks, all_at_once, threads=not alone)
        return pc.read_csv(pa.BufferReader(text), **how)

    def _decimals(self, data: bytes) -> dict[str, Any]:
        """Columns of a wide piece whose first field is a decimal fraction: no other type than float64 holds them.

        Finding that out takes pyarrow 0.08 ms a column: 12 rows of 30,000 columns 2.2 s, and 0.3 s where it is told.
        """
        if len(self.fields) < WIDE:
            return {}
        import pyarrow as pa

        line = data[: max(0, data.find(self.dialect.newline.encode()))].rstrip(b"\r\n")
        cells = line.split(self.dialect.delimiter.encode())
        if b'"' in line or not line.isascii() or len(cells) != len(self.fields):
            return {}
        mark = re.escape(self.dialect.decimal.encode())
        fraction = re.compile(rb"-?\d{1,15}" + mark + rb"\d{1,15}(?:[eE]-?\d{1,2})?")
        return {name: pa.float64() for name, cell in zip(self.fields, cells, strict=True) if fraction.fullmatch(cell)}

    def stream(self, data: bytes, piece: Piece, types: dict[str, Any], columns: Sequence[str]) -> Iterator[Any]:
        """Parse a piece to record batches of the given types, on the calling thread."""
        import pyarrow as pa
        import pyarrow.csv as pc

        size = max(BLOCK_BYTES, 0 if not piece.wrapped else len(data) + 1 << 1)
        try:
            reader = pc.open_csv(
                pa.BufferReader(self._utf8(data)), **self._how(piece, types, columns, None, size, threads=False)
            )
            yield from reader
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise self.explained(error, data, piece) from error
            yield from self.parse(data, piece, types=types, columns=columns).to_batches()

    def _how(
        self,
        piece: Piece,
        types: dict[str, Any] | None,
        columns: Sequence[str] | None,
        marks: Sequence[str] | None,
        block: int,
        threads: bool,
    ) -> dict[str, Any]:
        import pyarrow.csv as pc

        words = [("true", "True", "TRUE"), ("false", "False", "FALSE")]  # 0 and 1 are numbers
        return {
            "read_options": pc.ReadOptions(
                column_names=self.fields, block_size=min(block, (1 << 31) - 1), use_threads=threads
            ),
            "parse_options": pc.ParseOptions(delimiter=self.dialect.delimiter, newlines_in_values=piece.wrapped),
            "convert_options": pc.ConvertOptions(
                null_values=list(self.options.marks if marks is None else marks),
                strings_can_be_null=True,
                decimal_point=self.dialect.decimal,
                true_values=list(words[0]),
                false_values=list(words[1]),
                column_types=types or {},
                include_columns=list(columns or []),
            ),
        }

    def _utf8(self, data: bytes) -> bytes:
        if data.isascii():
            return data
        if self.encoding == "utf8":  # pyarrow takes a mark off, also one that stands in the middle of the file
            return BOM + data if data.startswith(BOM) else data
        try:
            return data.decode(self.encoding).encode()
        except UnicodeDecodeError as error:
            raise NotUtf8(data) from error

    def records(self, data: bytes) -> Iterator[tuple[int, int, list[str]]]:
        """Records of a piece, slowly: lines before it, its last line, its fields. Blank lines are none."""
        text = data.decode("utf8" if self.encoding == "utf8" else self.encoding, errors="replace")
        for before, last, fields in records(text, self.dialect.delimiter):
            if fields:
                yield before, last, fields

    def line(self, piece: Piece, row: int) -> int | None:
        """The line of the file, from 1, that holds a row of a piece, from 0."""
        try:
            for i, (before, _, _) in enumerate(self.records(self.text.read(piece.start, piece.stop))):
                if i == row:
                    return piece.line + before
        except csv.Error:
            pass
        return None

    def explained(self, error: Exception, data: bytes, piece: Piece) -> FileError:
        """Name the line that does not fit."""
        width, end = len(self.fields), self.dialect.newline.encode()
        lines = data.count(end)
        try:
            for before, _, fields in self.records(data):
                if len(fields) != width and not (self.dialect.surplus and not "".join(fields[width - 1 :])):
                    return self.ragged(piece.line + before, fields, last=before == lines and not data.endswith(end))
        except csv.Error:
            pass
        value = CONVERSION.search(str(error))
        if value is not None:  # types were given because all values fitted them before
            line = self.line(piece, int(value[1]) - 1)
            return FileError(
                f"expected a number in line {line} of {self.path}",
                received=repr(cut(value[2])),
                hint="the file has changed since it was first read; read it again with ritz.read",
            )
        return FileError(
            f"expected a table with one row a line in {self.path}",
            received=cut(" ".join(str(error).split()), 200),
            hint="every line needs the same number of fields, separated by comma, semicolon, tab or bar",
        )

    def ragged(self, line: int, fields: Sequence[str], last: bool = False) -> FileError:
        """The error for a line with another number of fields."""
        width = len(self.names)
        shown = cut(self.dialect.delimiter.join(fields), 60)
        hint = "every line needs the same number of fields; put a field that holds the delimiter in double quotes"
        if last and len(fields) < width:
            hint = "the last line has no end: the file seems to be cut off"
        return FileError(
            f"expected a table with one row a line in {self.path}",
            received=f"line {line}: Expected {counted(width, 'column')}, got {len(fields)}: {shown!r}",
            hint=hint,
        )


def _sample(path: Path) -> tuple[bytes, bool]:
    """The beginning of a file: some lines of it, however long they are; and whether it is all of it."""
    stream, kind = open_packed(path)
    most = max(float(SAMPLE_BYTES), room() / SAMPLE_COST)
    try:
        with stream:
            sample = bytes(stream.read(SAMPLE_BYTES))
            complete = len(sample) < SAMPLE_BYTES
            while not complete and _line_count(sample) < SAMPLE_ENDS:
                if len(sample) >= most:
                    what = f"lines of more than {len(sample) / 1e6:,.1f} MB"
                    raise too_large(_least(stream, sample), path, what)
                more = bytes(stream.read(len(sample)))
                complete = len(more) < len(sample)
                sample += more
            return sample, complete
    except (OSError, EOFError, lzma.LZMAError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"expected an undamaged {kind or 'text'} file at {path}",
            received=str(error).splitlines()[0] if str(error) else "its end",
            hint="the file may be cut off; copy it again",
        ) from error


def _least(stream: Any, sample: bytes) -> float:
    """Bytes that hold the sample and its columns; what is left of the sample is counted without being kept."""
    length, ends, piece, width = 0, 0, sample, 0
    while piece and ends < SAMPLE_ENDS:
        if not ends:
            first = re.split(rb"[\r\n]", piece, maxsplit=1)[0]
            width += max(first.count(mark) for mark in DELIMITERS)
        length, ends = length + len(piece), ends + _line_count(piece)
        piece = bytes(stream.read(SAMPLE_BYTES))
    return max(2.0 * SAMPLE_COST * length, COLUMN_BYTES * (width + 1.0))


def _line_count(data: bytes) -> int:
    """Lines that end in these bytes, at least; a wide encoding has its line ends among zeros."""
    return max(data.count(b"\n"), data.count(b"\r"))
