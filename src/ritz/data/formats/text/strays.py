"""Values that are no numbers in a column of numbers: which ones, where, and how the others are read.

    12.5, 13.1, 12..9, 14.0    →    point decimals, one stray: '12..9' in row 2

The scan keeps a reading only while all values fit it, so one typing error leaves none. A column of which most values
look like numbers is therefore read once more, and of all readings the one that fits most values is taken. If it fits
fewer than ``MOSTLY_NUMBERS``, the column is text, as 1.5 beside 1,5 in equal parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ritz.data.formats.text.columns import MOSTLY_NUMBERS, ColumnScan, Strays
from ritz.data.formats.text.numbers import Reading, clean, common_affix

__all__ = ["find_strays"]

SAMPLE = 1000  # values that tell the affix
SHOWN = 5  # strays that are remembered


def find_strays(column: ColumnScan, pieces: Iterator[tuple[int, Any]]) -> None:
    """Look at all texts of a column, in pieces with their first rows, and note down what is no number."""
    texts = [(row, clean(values, column.options.marks)) for row, values in pieces]
    some: list[str] = []
    for _, values in texts:
        some += values.drop_null().slice(0, SAMPLE - len(some)).to_pylist()
        if len(some) >= SAMPLE:
            break
    readings = column.candidates(common_affix(some))
    counts = [sum(_fit(reading, values) for _, values in texts) for reading in readings]
    best = max(range(len(readings)), key=lambda j: (counts[j], -j))
    present = sum(len(values) - values.null_count for _, values in texts)
    wrong = _first(readings[best], texts)
    if counts[best] >= max(2, MOSTLY_NUMBERS * present):
        column.strays = Strays(present - counts[best], tuple(wrong), readings[best])
    elif counts[best]:
        column.mixed = next(text for text in some if re.match(readings[best].pattern, text)), wrong[0][0]


def _fit(reading: Reading, values: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(pc.match_substring_regex(values, reading.pattern)).as_py() or 0)


def _first(reading: Reading, texts: list[tuple[int, Any]]) -> list[tuple[str, int]]:
    import pyarrow.compute as pc

    out: list[tuple[str, int]] = []
    for row, values in texts:
        wrong = pc.indices_nonzero(pc.fill_null(pc.invert(pc.match_substring_regex(values, reading.pattern)), False))
        out += [(str(values[at].as_py()), row + at) for at in wrong.slice(0, SHOWN - len(out)).to_pylist()]
        if len(out) >= SHOWN:
            break
    return out
