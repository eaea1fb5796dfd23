"""Records of delimited text, one by one, with fields of any length.

Python's reader stops at fields of 131,072 characters unless it is told otherwise, and it is told so for the whole
process: the limit is lifted while records are read and put back afterwards, counted, so that readers may run side by
side.
"""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

__all__ = ["records"]

LONGEST = (1 << 31) - 1  # what a C long holds everywhere
TOGETHER = 64  # records that are read at a time, at most

_lock = threading.Lock()
_depth = 0
_before = 0


@contextmanager
def _any_length() -> Iterator[None]:
    global _depth, _before
    with _lock:
        if _depth == 0:
            _before = csv.field_size_limit(LONGEST)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                csv.field_size_limit(_before)


def records(text: str, delimiter: str) -> Iterator[tuple[int, int, list[str]]]:
    """Lines before each record, the line that it ends in, and its fields; blank lines are records without fields."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before, fault, count = 0, None, 1
    while fault is None:
        some: list[tuple[int, list[str]]] = []
        try:
            with _any_length():
                some.extend((reader.line_num, fields) for fields in islice(reader, count))
        except csv.Error as error:
            fault = error  # raised where it stands, behind the records before it
        if fault is None and not some:
            return
        for line, fields in some:
            yield before, line, fields
            before = line
        count = min(2 * count, TOGETHER)
    raise fault
