"""Standard output and standard error that cannot be written: a full disk behind ``> file``, a closed descriptor.

An error of standard output carries the name of no file, and what could not be written may be gone from its buffer. So
the program writes through a file that gives its errors a name, by which they are told from those of other files. A
stream that has failed is led to nowhere, or Python would complain of it once more at its end.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

from ritz._core.errors import FileError

__all__ = ["printed", "ready", "silenced", "speechless", "unwritten"]

NAME = "standard output"


class _Named(io.FileIO):
    """Standard output whose errors say that they are its own."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), NAME) from error


def ready() -> None:
    """Streams that show a question mark for what a terminal does not know, and none that is missing."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the program runs
    if sys.stdout is None:  # closed by the caller: whoever writes to it is told so
        sys.stdout = _opened(os.open(os.devnull, os.O_RDONLY), "utf-8")
    elif isinstance(sys.stdout, io.TextIOWrapper):
        with contextlib.suppress(OSError, ValueError):
            sys.stdout = _opened(sys.stdout.fileno(), sys.stdout.encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="replace")


def _opened(descriptor: int, encoding: str) -> io.TextIOWrapper:
    raw = _Named(descriptor, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, line_buffering=raw.isatty())


def printed(text: str) -> None:
    """Print to standard output, now and not at the end of the program."""
    print(text, flush=True)


def speechless(error: BaseException) -> bool:
    """Whether an error says that standard output cannot be written."""
    return isinstance(error, OSError) and error.filename == NAME


def silenced() -> None:
    """Lead standard output to nowhere."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        sys.stdout.flush()


def unwritten(error: OSError, wrote: Any = None) -> FileError:
    """What to say when standard output cannot be written; ``wrote`` is a file or a folder that is complete."""
    silenced()
    kept = f"; {wrote} is complete" if wrote is not None else ""
    return FileError(
        f"{NAME} could not be written: {error.strerror}{kept}",
        hint="send standard output to a file or a program that can take it",
    )
