"""Memory limits: ``"2GB"`` → bytes, and what a reader may take; ``allowance.py`` says what is left."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ritz._core.allowance import allowance
from ritz._core.errors import ParameterError

__all__ = ["LITTLE", "SMALL_TABLE", "available", "limit", "parse", "stated", "within"]

#: Bytes that are taken without asking what is left, where no limit was stated.
LITTLE = 1 << 20
#: Bytes of a table whose route is chosen without asking: what its fit adds is a few times as much at most, and asking
#: takes 0.45 ms of processor time, where 2,000×100 is fitted in 1.6 ms and 100×3,000 in 3.
SMALL_TABLE = 1 << 22
#: Seconds for which what is available is not asked again: a dozen files of /proc and /sys cost more than a small fit.
FRESH = 0.1
_known: tuple[int, float, float] = (-1, 0.0, 0.0)  # process, bytes, when

_STATED: ContextVar[float | None] = ContextVar("ritz_memory", default=None)

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def parse(memory: object) -> float:
    """Bytes from a number or a text such as ``"500MB"``, ``"2 GiB"``."""
    if isinstance(memory, (int, float)) and not isinstance(memory, bool) and memory > 0:
        return float(memory)
    match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?I?B?)\s*", memory.upper()) if isinstance(memory, str) else None
    if match and match[2] in _UNITS:
        try:
            size = float(match[1]) * _UNITS[match[2]]
        except ValueError:
            size = 0.0
        if size > 0:
            return size
    raise ParameterError(
        "memory must be None, a number of bytes, or a text such as '500MB' or '2GB'",
        received=repr(memory),
        hint="memory='2GB'",
    )


def available() -> float:
    """Bytes that can be used before the machine, a container, a job or a scope runs out, ``FRESH`` seconds ago."""
    global _known
    process, left, since = _known
    now = time.monotonic()
    if process != os.getpid() or now - since > FRESH:
        left = allowance()
        _known = (os.getpid(), left, now)
    return left


def limit(memory: object) -> float:
    """The limit of a fit: what was stated, or half of what is available."""
    return available() / 2 if memory is None else parse(memory)


@contextmanager
def within(allowed: float) -> Iterator[None]:
    """State the limit of a reader, for everything that is opened inside."""
    token = _STATED.set(allowed)
    try:
        yield
    finally:
        _STATED.reset(token)


def stated() -> float:
    """The limit of the reader that runs, or that of a call without one."""
    allowed = _STATED.get()
    return limit(None) if allowed is None else allowed
