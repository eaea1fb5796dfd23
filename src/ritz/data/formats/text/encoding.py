"""From the first bytes of a file to text: UTF-8 unless a mark, zeros between the letters, or its bytes say otherwise.

byte order mark  →  UTF-8, UTF-16        every other byte zero  →  UTF-16        not UTF-8  →  Windows-1252, Latin-1
"""

from __future__ import annotations

from pathlib import Path

from ritz._core.errors import FileError
from ritz.data.formats.files import damaged
from ritz.data.words import cut

__all__ = ["decode", "not_a_table", "single_byte", "single_byte_note"]

#: What endings of files that are no text promise.
BINARY = {
    ".parquet": "Parquet file", ".pq": "Parquet file", ".npy": "array file", ".npz": ".npz archive",
    ".arrow": "Arrow file", ".feather": "Arrow file", ".h5ad": ".h5ad file",
}  # fmt: skip

BOMS = ((b"\xef\xbb\xbf", "utf8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def decode(sample: bytes, path: Path, told: str | None, complete: bool) -> tuple[str, str, tuple[str, ...]]:
    """Text without its byte order mark, the encoding, and a note where it is not UTF-8."""
    guess = next((name for bom, name in BOMS if sample.startswith(bom)), None)
    if told is not None:
        name = "utf8" if told.lower().replace("-", "").replace("_", "") in ("utf8", "utf8sig") else told
        return _strict(sample, name, path, complete).lstrip("\ufeff"), name, ()
    if guess is None and b"\0" in sample:
        guess = _wide(sample)
        if guess is None:
            raise _binary(path)
    if guess in ("utf-16", "utf-16-le", "utf-16-be"):
        text = sample[: len(sample) // 2 * 2].decode(guess, errors="replace")
        return text.lstrip("\ufeff"), guess, (f"the text is not UTF-8; read as {guess}",)
    try:
        return _strict(sample, "utf8", path, complete).lstrip("\ufeff"), "utf8", ()
    except FileError:
        encoding = single_byte(sample)
        return sample.decode(encoding), encoding, (single_byte_note(encoding),)


def _binary(path: Path) -> FileError:
    """The error for bytes that begin like no format: a damaged file where the ending promises one of bytes."""
    promised = BINARY.get(path.suffix.lower())
    if promised is not None:
        return damaged(path, promised, "a file that does not begin like one")
    return not_a_table(path, "binary content", "give a table as text, Parquet or .npy")


def single_byte(data: bytes) -> str:
    """Windows-1252, or Latin-1 where a byte has no meaning in it."""
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def single_byte_note(encoding: str) -> str:
    """Say how bytes that are not UTF-8 are read."""
    name = "Windows-1252, the latin-1 of Windows" if encoding == "cp1252" else encoding
    return f"the text is not UTF-8; read as {name} (encoding= sets another)"


def _strict(sample: bytes, encoding: str, path: Path, complete: bool) -> str:
    for cut_off in range(1 if complete else 4):  # a sample may end inside a character
        try:
            return sample[: len(sample) - cut_off].decode(encoding)
        except UnicodeDecodeError as error:
            fault = error
    line = sample.count(b"\n", 0, fault.start) + 1
    raise FileError(
        f"expected {encoding} text in {path}",
        received=f"byte {sample[fault.start]:#04x} in line {line}",
        hint="leave encoding out to have it found, or try encoding='cp1252'",
    )


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: in mostly Latin text every other byte is zero."""
    even, odd = sample[0:2000:2].count(0), sample[1:2000:2].count(0)
    half = len(sample[:2000]) // 2
    if half >= 4 and odd > 0.7 * half and even == 0:
        return "utf-16-le"
    return "utf-16-be" if half >= 4 and even > 0.7 * half and odd == 0 else None


def not_a_table(path: Path, received: str, hint: str = "") -> FileError:
    """Refuse a file that is not made of rows and fields."""
    return FileError(
        f"expected a table with one row a line in {path}",
        received=cut(" ".join(received.split()), 200),
        hint=hint or "every line needs the same number of fields, separated by comma, semicolon, tab or bar",
    )
