"""Where the rows of a text file begin: cuts at line ends outside quotes, found in one look at the bytes.

    bytes  →  pieces [offset, offset'), each a number of whole rows, with the line each begins in

Without quotes a cut is the last line end of a piece. With quotes it is the last line end with an even number of quotes
before it, provided that every odd quote opens a field and every even one closes it; where a quote stands inside a
field (5" pipe), the quoted fields are found one by one. This is how pyarrow's parser sees quotes: they mean something
at the beginning of a field only, and two of them inside are one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ritz._core.errors import FileError
from ritz.data.formats.declared import room, too_large
from ritz.data.formats.text.bytes import TextBytes

__all__ = ["NotUtf8", "Piece", "cut_rows", "empty_end", "last_cut", "skip_lines"]

LINE_END = re.compile(rb"\r\n|\n|\r")
QUOTE = 34
TAIL_BYTES = 1 << 16
#: Memory for a byte of a row that is longer than all else: its bytes, what is parsed of them, a copy of each.
ROW_COST = 6


class NotUtf8(Exception):
    """The bytes are not UTF-8 after all; ``data`` are those around."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data


@dataclass(frozen=True)
class Piece:
    """Bytes ``start : stop`` of a text file: whole rows, the first in line ``line`` (from 1)."""

    start: int
    stop: int
    line: int
    wrapped: bool  # a field in it holds a line end


def skip_lines(text: TextBytes, lines: int) -> int:
    """Offset behind the byte order mark and so many lines."""
    at = 3 if text.read(0, 3) == b"\xef\xbb\xbf" else 0
    step, left = 1 << 16, lines
    while left:
        data = text.read(at, at + step)
        ends = [match.end() for match in LINE_END.finditer(data)]
        last = at + len(data) >= text.size
        if not last and ends and ends[-1] == len(data):  # the other half of \r\n may follow
            ends.pop()
        if len(ends) >= left:
            return at + ends[left - 1]
        if last:
            return text.size
        at, left = at + (ends[-1] if ends else 0), left - len(ends)
        step = step if ends else 2 * step
    return at


def empty_end(text: TextBytes, start: int, delimiter: str) -> tuple[int, int]:
    """Where the last line with a value ends, and how many lines without one follow (spreadsheets leave them)."""
    begin = max(start, text.size - TAIL_BYTES)
    tail = text.read(begin, text.size)
    rows = tail.splitlines(keepends=True)[begin > start :]  # the first may have lost its beginning
    gone, lines = 0, 0
    for row in reversed(rows):
        if row.strip(b" \r\n" + delimiter.encode()) or b'"' in tail:
            break
        gone, lines = gone + len(row), lines + (delimiter.encode() in row)
    return (text.size - gone, lines) if lines else (text.size, 0)


def cut_rows(
    text: TextBytes, start: int, end: int, line: int, *, delimiter: str, newline: str, size: int, utf8: bool, path: Path
) -> Iterator[tuple[Piece, bytes]]:
    """Pieces of bytes ``start : end``, each of about ``size``, with their bytes; ``line`` is the first's number."""
    ask = size
    while start < end:
        data = text.read(start, _likely_cut(text, start, min(start + ask, end), end, newline))
        final = start + len(data) >= end
        if not data:
            raise FileError(f"{path} became shorter while it was read", hint="read it again once it is complete")
        stop, wrapped, is_open = last_cut(data, delimiter, newline)
        if final:
            if is_open is not None:
                raise _unclosed(path, line + line_ends(data[:is_open]))
            stop = len(data)
        if stop == 0:  # a row longer than the piece
            if ROW_COST * ask > room():
                raise too_large(2.0 * ROW_COST * ask, path, f"a line of more than {ask / 1e6:,.1f} MB, line {line}")
            ask *= 2
            continue
        rows = data if stop == len(data) else data[:stop]
        _check(rows, utf8, path, line)
        yield Piece(start, start + stop, line, wrapped), rows
        line += line_ends(rows)
        start, ask = start + stop, size


def _likely_cut(text: TextBytes, start: int, stop: int, end: int, newline: str) -> int:
    """Behind the last line end before ``stop``: where no quotes say otherwise, what is read up to there stays whole."""
    if stop >= end:
        return stop
    first = max(start, stop - TAIL_BYTES)
    found = text.read(first, stop).rfind(newline.encode())
    return stop if found < 0 else first + found + 1


def line_ends(data: bytes) -> int:
    """How many lines end in these bytes, be it with \\n, \\r or \\r\\n."""
    count = int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))
    return count if b"\r" not in data else count + data.count(b"\r") - data.count(b"\r\n")


def last_cut(data: bytes, delimiter: str, newline: str) -> tuple[int, bool, int | None]:
    """End of the last whole row; whether a field holds a line end; where a field opens that does not close."""
    end = newline.encode()
    if data.find(b'"') < 0:
        return data.rfind(end) + 1, False, None
    values = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(values == QUOTE)
    ends = np.flatnonzero(values == end[0])
    if _regular(values, quotes, delimiter):
        inside = np.searchsorted(quotes, ends) % 2 == 1
        is_open = int(quotes[-1]) if quotes.size % 2 else None
    else:
        opening, closing, is_open = _quoted_fields(data, delimiter)
        at = np.searchsorted(opening, ends) - 1
        inside = (at >= 0) & (ends < closing[np.maximum(at, 0)]) if opening.size else np.zeros(ends.size, bool)
    outside = ends[~inside]
    # pyarrow ends rows at \r and at \n, so the one that does not end rows here may lie inside a field.
    lone = b"\n" in data if newline == "\r" else data.count(b"\r") != data.count(b"\r\n")
    return (int(outside[-1]) + 1 if outside.size else 0), lone or bool(inside.any()), is_open


def _regular(values: np.ndarray, quotes: np.ndarray, delimiter: str) -> bool:
    """Whether every odd quote stands where a field begins and every even one where a field ends."""
    edge = np.zeros(256, bool)
    edge[[QUOTE, 10, 13, *delimiter.encode()]] = True
    opening, closing = quotes[0::2], quotes[1::2]
    before = values[opening[opening > 0] - 1]
    after = values[closing[closing < values.size - 1] + 1]
    # A quote beside a quote is one half of a pair; the pair must touch, which the neighbour says.
    return bool(edge[before].all() and edge[after].all())


def _quoted_fields(data: bytes, delimiter: str) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Where quoted fields begin and end, one by one."""
    edge = re.escape(delimiter.encode()) + rb"\r\n"
    field = re.compile(rb"(?:(?<=[" + edge + rb'])|\A)"[^"]*+(?:""[^"]*+)*+("?)')
    fields = [(match.start(), match.end(), match[1]) for match in field.finditer(data)]
    is_open = fields[-1][0] if fields and not fields[-1][2] else None
    return np.array([f[0] for f in fields], np.int64), np.array([f[1] for f in fields], np.int64), is_open


def _check(data: bytes, utf8: bool, path: Path, line: int) -> None:
    if (at := data.find(b"\0")) >= 0:
        raise FileError(
            f"expected text in {path}",
            received=f"a zero byte in line {line + line_ends(data[:at])}",
            hint="the file may be damaged, or be binary",
        )
    if utf8 and not data.isascii():
        try:
            codecs.utf_8_decode(data, "strict", True)
        except UnicodeDecodeError as error:
            raise NotUtf8(data) from error


def _unclosed(path: Path, line: int) -> FileError:
    return FileError(
        f"expected every quote to be closed in {path}",
        received=f"a field that opens with a quote in line {line} and never ends",
        hint="the file may be cut off, or the quote is meant as a character: write it twice inside quotes",
    )
