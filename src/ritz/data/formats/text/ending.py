"""How a text file ends: a last line without its end may be cut off, and then its last value is another one.

    …,0.7182⏎ …,0.5772⏎ …,0.31          full of numbers, and wrong

Nothing in the file can prove it. A line that lacks fields is refused where it is read; all else is a note, and a
warning where the last value does not look like those above it.
"""

from __future__ import annotations

import re

from ritz.data.formats.text.bytes import TextBytes

__all__ = ["open_end"]

TAIL_BYTES = 1 << 16
#: Lines above that must agree before a shorter last value is a sign.
SOME_LINES = 8
#: Sizes that copies are cut at: whole sectors of a disk.
SECTOR = 512
BROKEN = re.compile(rb"[-+]|.*\d[.,]|.*\d[eE][-+]?")

NOTE = "the last line has no end: if the file was cut off, its last value is not complete"


def open_end(text: TextBytes, start: int, stop: int, newline: str, delimiter: str, packed: bool) -> tuple[str, str]:
    """A note on a last line that has no end, and what makes it look cut off; nothing where there is none."""
    if stop - start < 2 or text.read(stop - 1, stop) in (b"\n", b"\r"):
        return "", ""
    tail = text.read(max(start, stop - TAIL_BYTES), stop)
    *above, last = tail.split(newline.encode())
    above = [line.rstrip(b"\r") for line in above[stop - start > TAIL_BYTES :] if line.strip()]
    if not above:
        return "", ""
    mark = delimiter.encode()
    value, others = last.rsplit(mark, 1)[-1].strip(), [line.rsplit(mark, 1)[-1].strip() for line in above]
    if not value and all(others):
        return NOTE, "its last value is empty, and no other is"
    if BROKEN.fullmatch(value) and not any(map(BROKEN.fullmatch, others)):
        return NOTE, f"its last value is {value.decode('utf8', 'replace')!r}"
    if len(others) >= SOME_LINES and len(value) < min(map(len, others)):
        return NOTE, f"its last value, {value.decode('utf8', 'replace')!r}, is shorter than all above it"
    if not packed and text.size % SECTOR == 0:
        return NOTE, f"the file has {text.size:,} bytes, a multiple of {SECTOR}"
    return NOTE, ""
