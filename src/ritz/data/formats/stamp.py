"""What tells one state of files from another: data that change while they are read are found out.

    stamp = Stamp([path])                     before the first byte is read
    with unchanged(source): …                 after every pass: the same stamp, or DataChanged

A stamp holds, of every file, its size, the times at which its content and its entry last changed (in nanoseconds; the
second cannot be set back by a program), and a digest of some of its pages: on some file systems the times of a file
that is mapped into memory stay as they are while it is written to. Of a folder it holds the list of files as well.

Clocks of file systems tick every few milliseconds. A file that was written within the last tick is waited for: what is
written to it later then bears another time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ritz._core.errors import DataChanged

__all__ = ["Stamp", "named_files", "unchanged"]

#: A clock tick of a file system, and more: 4 ms to 10 ms on Linux, 15 ms on Windows.
TICK = 20_000_000
#: Pages that are looked at: of one file, and of all files together; never less than its two ends.
PAGE, PAGES, ALL_PAGES = 4096, 16, 256

_State = tuple[int, int, int, bytes]


class Stamp:
    """The state of some files, or of the files that ``find`` lists in a folder, at the time of the call."""

    def __init__(self, files: Sequence[Path], folder: Path | None = None, find: Any = None) -> None:
        self.files = [Path(os.path.abspath(file)) for file in files]
        self.folder, self.find = None if folder is None else Path(os.path.abspath(folder)), find
        self.states = [_state(file, self._pages(), settle=True) for file in self.files]

    @classmethod
    def of_folder(cls, folder: Path, find: Callable[[Path], list[Path]]) -> Stamp:
        """Of all files that ``find``, a function of a module, lists."""
        return cls(find(folder), folder, find)

    @property
    def identity(self) -> str:
        """A digest of it, for what must be recognised later."""
        listed = [(str(file), state) for file, state in zip(self.files, self.states, strict=True)]
        return hashlib.blake2b(repr(listed).encode("utf8", "surrogateescape"), digest_size=16).hexdigest()

    def check(self) -> None:
        """Raise DataChanged where the files are not what they were."""
        for file, before in zip(self.files, self.states, strict=True):
            try:
                now = _state(file, self._pages())
            except OSError as error:
                raise _changed(file, error.strerror or str(error)) from error
            if now != before:
                raise _changed(file, _difference(before, now))
        if self.folder is not None and self.find is not None:
            present = {Path(os.path.abspath(file)) for file in self.find(self.folder)}
            other = sorted(present.symmetric_difference(self.files))
            if other:
                raise _changed(
                    self.folder, f"a file that is {'new' if other[0] in present else 'gone'}, {other[0].name}"
                )

    def _pages(self) -> int:
        return max(2, min(PAGES, ALL_PAGES // max(1, len(self.files))))


@contextlib.contextmanager
def unchanged(source: Any) -> Iterator[None]:
    """Read from a source, or from the files of a stamp, in one state of them, or raise DataChanged.

    Errors inside the block may be due to such a change, and it is named instead of them.
    """
    stamp = source if isinstance(source, Stamp) else getattr(source, "stamp", None)
    if not isinstance(stamp, Stamp):
        yield
        return
    try:
        yield
    except DataChanged:
        raise
    except Exception as error:
        try:
            stamp.check()
        except DataChanged as found:
            raise found from error
        raise
    stamp.check()


def named_files(text: str) -> list[Path]:
    """Files whose names stand in quotes or brackets in the text of a query, as far as they can be found."""
    import glob
    import re

    files: dict[Path, None] = {}
    for name in re.findall(r"'([^'\n]+)'|\"([^\"\n]+)\"|\[([^\]\n]+)\]", text):
        for pattern in (one for word in name if word for one in (word, *word.split(", "))):
            with contextlib.suppress(OSError, ValueError):
                paths = glob.glob(pattern, recursive=True) if glob.has_magic(pattern) else [pattern]
                files |= dict.fromkeys(Path(one) for one in paths if Path(one).is_file())
    return list(files)


def _state(file: Path, pages: int, settle: bool = False) -> _State:
    """Size, times and sampled pages of a file; ``settle`` waits for the clock to tick on."""
    status = file.stat()
    age = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns)
    if settle and 0 <= age < TICK:
        time.sleep((TICK - age) / 1e9)
        status = file.stat()
    digest = hashlib.blake2b(digest_size=16)
    if status.st_size:
        with file.open("rb", buffering=0) as opened:
            last = max(0, status.st_size - PAGE)
            for place in sorted({last * i // (pages - 1) for i in range(pages)}):
                opened.seek(place)
                digest.update(opened.read(PAGE))
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, digest.digest()


def _difference(before: _State, now: _State) -> str:
    if before[0] != now[0]:
        return f"{now[0]:,} bytes where there were {before[0]:,}"
    return "other content or another time of change" if before[3] == now[3] else "other content"


def _changed(path: Path, what: str) -> DataChanged:
    return DataChanged(
        f"expected {path} to stay as it is while it is read",
        received=what,
        hint="no result is given for data of two states; read it again once nothing writes to it",
    )
