"""Whole numbers that are not what pyarrow takes them for: names of things, hexadecimal digits, and minus nought.

    a piece as parsed  →  columns with a whole number  →  00123, or 20 digits and more           →  text
                       →  columns of integers          →  0x1F                                   →  text
                                                       →  -0                                     →  float64

A code is whole, so a column of numbers that are all fractions holds none: that is seen in its numbers (``plain.py``).
Of all others the bytes, or the size of the numbers, tell whether to look at the text. pyarrow reads 0x1F as 31
where all numbers of a piece are integers and as a word where one is a fraction, and -0 as 0 or as -0.0: what a column
holds would depend on how the file is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.formats.pack import numbers
from ritz.data.formats.text.columns import first_code, is_number
from ritz.data.formats.text.file import TextFile
from ritz.data.formats.text.plain import Plain
from ritz.data.formats.text.rows import Piece

__all__ = ["with_codes"]

HEXADECIMAL = r"^\s*0[xX]"
NOUGHT = r"^\s*-0\s*$"
LARGE = 2.0**63  # from here on whole numbers do not fit an integer
HEAD = 16  # numbers that tell, as a rule, whether some are whole


def with_codes(file: TextFile, table: Any, data: bytes, piece: Piece, plain: Plain) -> Any:
    """Put text in the place of numbers where one of them is a code, and numbers as they are written otherwise."""
    import pyarrow as pa

    table = _as_written(file, table, data, piece)
    rest = {j for j, kind in enumerate(table.schema.types) if is_number(kind)} - set(plain.at)
    whole = sorted(
        {j for j in rest if any(_any_whole(numbers(chunk)) for chunk in table.column(j).chunks)}.union(
            j for j, found in zip(plain.at, plain.whole.tolist(), strict=True) if found
        )
    )
    if not whole:
        return table
    suspects = whole if _leading_zeros(data, file.dialect.delimiter) else _large(table, whole)
    if not suspects:
        return table
    names = [file.names[j] for j in suspects]
    texts = file.parse(data, piece, types=dict.fromkeys(names, pa.string()), columns=names)
    for j, values in zip(suspects, texts.columns, strict=True):
        if first_code(values.drop_null()):
            table = table.set_column(j, file.names[j], values)
    return table


def _as_written(file: TextFile, table: Any, data: bytes, piece: Piece) -> Any:
    """Put text in the place of integers where one is hexadecimal, and floats where one is -0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = [j for j, kind in enumerate(table.schema.types) if pa.types.is_integer(kind)]
    if not whole:  # nor need the bytes be looked through
        return table
    crossed = (b"x" in data or b"X" in data) and (b"0x" in data or b"0X" in data)
    if not crossed:  # -0 is a nought
        whole = [j for j in whole if any((numbers(chunk) == 0).any() for chunk in table.column(j).chunks)]
    if not whole or not (crossed or _minus_nought(data, file.dialect.delimiter)):
        return table
    names = [file.names[j] for j in whole]
    texts = file.parse(data, piece, types=dict.fromkeys(names, pa.string()), columns=names)
    for j, values in zip(whole, texts.columns, strict=True):
        if pc.any(pc.match_substring_regex(values, HEXADECIMAL)).as_py():
            table = table.set_column(j, file.names[j], values)
        elif pc.any(pc.match_substring_regex(values, NOUGHT)).as_py():
            real = file.parse(data, piece, types={file.names[j]: pa.float64()}, columns=[file.names[j]])
            table = table.set_column(j, file.names[j], real.column(0))
    return table


def _minus_nought(data: bytes, delimiter: str) -> bool:
    """Whether a field may be -0: one that ends there, or in a space, a tab or a quote."""
    ends = (delimiter.encode(), b"\n", b"\r", b'"', b" ", b"\t")
    return b"-0" in data and (data.endswith(b"-0") or any(b"-0" + end in data for end in ends))


def _any_whole(run: NDArray[Any]) -> bool:
    return run.dtype.kind != "f" or any((some == np.rint(some)).any() for some in (run[:HEAD], run[HEAD:]))


def _leading_zeros(data: bytes, delimiter: str) -> bool:
    """Whether a field may begin with a zero before another digit."""
    values = np.frombuffer(data, np.uint8)
    digit = values - np.uint8(48) < 10
    found = (values[:-1] == 48) & digit[1:]
    if len(found) == 0 or found[0]:
        return bool(len(found))
    # Most zeros stand inside a number; those that do not are looked at one by one.
    rest = found[1:]
    rest &= ~digit[:-2]
    if "." not in delimiter:
        rest &= values[:-2] != 46
    if not rest.any():
        return False
    edge = np.zeros(256, bool)
    edge[[34, 10, 13, 32, 43, 45, *delimiter.encode()]] = True
    before = np.flatnonzero(rest)  # of the byte before each zero
    before = before[edge[values[before]]]
    signs = (values[before] == 43) | (values[before] == 45)
    exponents = signs & (before > 0) & ((values[before - 1] | 32) == 101)  # 1.5e-05, 1E+07: no field begins there
    return not bool(exponents.all())


def _large(table: Any, columns: Sequence[int]) -> list[int]:
    """Those of some columns that hold a number of many digits.

    NaN is none, nor is a missing value, whose place in the buffer holds zero.
    """
    import pyarrow.types as pt

    floats = [pt.is_floating(kind) for kind in table.schema.types]
    some = [(j, chunk) for j in columns if floats[j] for chunk in table.column(j).chunks]
    runs = [numbers(chunk) for _, chunk in some]
    if not runs or not (np.abs(np.concatenate(runs)) >= LARGE).any():
        return []
    return sorted({j for (j, _), run in zip(some, runs, strict=True) if (np.abs(run) >= LARGE).any()})
