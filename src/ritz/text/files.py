"""Documents of files: a folder of texts, one text, lines of JSON.

A folder is every text file below it, in the order of their paths. What looks binary in its first bytes (zero bytes, or
more than a tenth of control characters) is set aside with a ``FilesSetAside`` warning; hidden files (a dot in front)
are not looked at. Packed files (.gz .xz .bz2 .zst) are read through. Bytes that are not UTF-8 are read as Windows-1252,
and of pages (.html) only what a reader sees is taken; ``notes`` says so.
"""

from __future__ import annotations

import codecs
import io
import json
import lzma
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ritz._core.errors import DataChanged, FileError, FilesSetAside, InputError
from ritz._core.warn import warn
from ritz.data.formats.text.bytes import open_packed, stamp
from ritz.data.words import counted, describe, grouped, shorten
from ritz.text.collection import BATCH, Documents
from ritz.text.markup import is_page, seen

__all__ = ["Files", "Lines", "files_below", "text_fields"]

#: Bytes at the beginning of a file by which its encoding is found, and whether it is binary.
LOOK = 1 << 16
#: Share of control characters from which a file is binary.
CONTROLS = 0.1
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)


class _Known(NamedTuple):
    path: Path
    encoding: str
    stamp: tuple[int, int]


class Files(Documents):
    """Each file is a document."""

    def __init__(
        self, paths: Sequence[Path], names: Sequence[str], where: str, encoding: str | None, *, batch: int = BATCH
    ) -> None:
        super().__init__(where, batch=batch)
        self._known: list[_Known] = []
        self.names = []
        aside: list[tuple[str, str]] = []
        foreign: list[str] = []
        for path, name in zip(paths, names, strict=True):
            try:
                found = _encoding_of(path, encoding)
            except OSError as error:
                aside.append((name, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
                continue
            if isinstance(found, _Binary):
                aside.append((name, found.reason))
                continue
            if found in ("cp1252", "latin-1") and encoding is None:
                foreign.append(name)
            self._known.append(_Known(path, found, stamp(path)))
            self.names.append(name)
        self.set_aside = aside
        if foreign:
            text = f"not UTF-8, read as Windows-1252 (encoding= sets another): {shorten(foreign)}"
            self.notes = (f"{counted(len(foreign), 'file')} {text}",)
        pages = sum(is_page(known.path) for known in self._known)
        if pages:
            self.notes = (*self.notes, f"{counted(pages, 'page')} of HTML read without tags, scripts and styles")
        if aside and self._known:
            warn(f"{counted(len(aside), 'file')} of {where} set aside: {'; '.join(grouped(aside))}", FilesSetAside)
        if not self._known:
            raise FileError(
                f"expected text files in {where}",
                received="none" if not aside else f"only {'; '.join(grouped(aside))}",
                hint="give the folder that holds the texts, or encoding= where they have another one",
            )

    @property
    def n_documents(self) -> int | None:
        """How many files there are."""
        return len(self._known)

    def check_unchanged(self) -> None:
        """Raise where a file is not what it was."""
        for known in self._known:
            _require_same(known.path, known.stamp)

    def items(self) -> Iterator[Any]:
        """The text of each file."""
        return map(_read, self._known)

    def texts_of(self, rows: Sequence[int]) -> list[str]:
        """The text of several files again."""
        for row in rows:
            if not 0 <= row < len(self._known):
                raise self._no_row(row)
        return [_read(self._known[row]) for row in rows]


class Lines(Documents):
    """Each line of a file is a JSON object, one field of it the text."""

    def __init__(self, path: Path, field: str, encoding: str | None, *, batch: int = BATCH) -> None:
        super().__init__(f"field {field!r} of {path.name}", batch=batch)
        self._path, self._field = path, field
        self._encoding = encoding or "utf-8-sig"
        self._stamp = stamp(path)

    def check_unchanged(self) -> None:
        """Raise where the file is not what it was."""
        _require_same(self._path, self._stamp)

    def items(self) -> Iterator[Any]:
        """The field of each line; empty lines are passed over."""
        if stamp(self._path) != self._stamp:
            raise _changed(self._path)
        try:
            with _opened(self._path, self._encoding) as lines:
                for number, line in enumerate(lines, 1):
                    if not line.isspace():
                        yield self._field_of(line, number)
        except (UnicodeDecodeError, EOFError, lzma.LZMAError) as error:
            raise FileError(f"expected lines of JSON in {self._path}", received=str(error)) from error

    def _field_of(self, line: str, number: int) -> Any:
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(
                f"expected one JSON object a line in {self._path.name}",
                received=f"line {number}: {error}",
                hint="a .txt file is one document; for a table give .csv or .parquet",
            ) from None
        if not isinstance(record, dict):
            raise InputError(f"expected a JSON object in line {number} of {self._path.name}", received=describe(record))
        if self._field not in record:
            raise InputError(
                f"expected the field {self._field!r} in line {number} of {self._path.name}",
                received=f"the fields {shorten([repr(name) for name in record])}",
                hint="text= names the field of the text",
            )
        return record[self._field]


def text_fields(path: Path, encoding: str | None) -> list[str]:
    """Fields of the first line of JSON that hold texts; none where it cannot be read."""
    try:
        with _opened(path, encoding or "utf-8-sig") as lines:
            record = json.loads(next((line for line in lines if not line.isspace()), "{}"))
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        return []
    return [str(name) for name, value in record.items() if isinstance(value, str)] if isinstance(record, dict) else []


def files_below(folder: Path) -> tuple[list[Path], list[str]]:
    """Files below a folder in the order of their paths, and their names relative to it; hidden ones are left out."""
    found: list[tuple[str, Path]] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(place) / name
            if not name.startswith(".") and (path.is_file() or path.is_symlink()):  # a link to nothing is told
                found.append((path.relative_to(folder).as_posix(), path))
    found.sort()
    return [path for _, path in found], [name for name, _ in found]


class _Binary(NamedTuple):
    reason: str


def _encoding_of(path: Path, told: str | None) -> str | _Binary:
    """The encoding of a text file by its first bytes, or why it is none."""
    stream, _ = open_packed(path)
    with stream:
        try:
            start = bytes(stream.read(LOOK))
        except (OSError, EOFError, lzma.LZMAError) as error:
            return _Binary(f"a damaged packed file: {error}")
    kind = next((what for magic, what in _MAGIC if start.startswith(magic)), None)
    if kind is not None:
        return _Binary(kind)
    if told is not None:
        return told if _decodes(start, told) else _Binary(f"not {told} text")
    bom = next((name for mark, name in _BOMS if start.startswith(mark)), None)
    if bom is not None:
        return bom if _decodes(start, bom) else _Binary("binary")
    if b"\0" in start or len(_CONTROL.findall(start)) > CONTROLS * len(start):
        return _Binary("binary")
    if _decodes(start, "utf-8"):
        return "utf-8"
    return "cp1252" if _decodes(start, "cp1252") else "latin-1"


def _decodes(start: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(start, final=len(start) < LOOK)
    except UnicodeDecodeError:
        return False
    return True


def _read(known: _Known) -> str:
    """The text of a file; what its encoding cannot read behind the first bytes becomes U+FFFD."""
    try:
        if stamp(known.path) != known.stamp:
            raise _changed(known.path)
        stream, _ = open_packed(known.path)
        with stream:
            data = stream.read()
    except FileNotFoundError as error:
        raise _changed(known.path) from error
    except (EOFError, lzma.LZMAError) as error:
        raise FileError(f"expected an undamaged packed file at {known.path}", received=str(error)) from error
    text = bytes(data).decode(known.encoding, "replace")
    return seen(text) if is_page(known.path) else text


def _require_same(path: Path, before: tuple[int, int]) -> None:
    try:
        same = stamp(path) == before
    except OSError:
        same = False
    if not same:
        raise _changed(path)


def _changed(path: Path) -> DataChanged:
    return DataChanged(
        f"{path} changed after it was first looked at", hint="read the documents again: ritz.text.documents(path)"
    )


def _opened(path: Path, encoding: str) -> Any:
    stream, kind = open_packed(path)
    if kind:
        return io.TextIOWrapper(io.BufferedReader(stream, 1 << 20), encoding=encoding)
    stream.close()
    return path.open(encoding=encoding)
