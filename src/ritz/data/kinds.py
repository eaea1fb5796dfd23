"""What a column of a file is: numbers, categories, text, an identifier, dates, or the same value all over.

    numbers and booleans          → numeric, unless constant or an identifier
    integers, all different       → identifier if the name says so (``id``, ``no.``, no name), or if the first
                                    column counts 0, 1, 2, … for ten rows or more
    text of numbers with signs    → text: "$1,000.50" and "5%" are for the user to turn into numbers
    text, few different values    → categorical   (at most 20, or a tenth of the rows)
    text, all different           → identifier if short, else text

Rules of thumb, so each one leaves a reason that is shown to the user.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ritz.data.table import Column
from ritz.data.words import cut

__all__ = ["column_kind", "matrix_columns"]

FEW_VALUES = 20
FEW_SHARE = 0.1
MANY_ROWS = 10  # fewer rows may count up by chance
LONG_TEXT = 40  # characters; identifiers are shorter
MOSTLY_NUMBERS = 0.8
CHECKED_VALUES = 1000  # distinct texts looked at for stray text among numbers
SIGNED = re.compile(r"[-+]?[$€£¥]\s?[-+]?\d[\d,.' ]*|[-+]?\d[\d,.' ]*\s?[$€£¥%]")
IDENTIFIER_NAME = re.compile(r"(^|[\s_.-])(id|idx|index|key|uuid|guid|row|rownames?|nr|no|number)\.?$", re.IGNORECASE)


def column_kind(name: str, values: Any, *, first: bool) -> Column:
    """Look at a pyarrow ChunkedArray and say what it is; ``first`` marks the leftmost column."""
    import pyarrow.types as pt

    kind = values.type
    if pt.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    missing = _count_missing(values)
    present = len(values) - missing
    if present == 0:
        return Column(name, "constant", missing, "no values")
    if pt.is_boolean(kind) or pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind):
        return _number(name, values, missing, first)
    if pt.is_temporal(kind):
        return Column(name, "date", missing, "dates or times")
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        return _words(name, values, missing)
    return Column(name, "text", missing, f"values of type {kind}")


def matrix_columns(X: np.ndarray, names: list[str], block_entries: int = 1 << 20) -> list[Column]:
    """Describe the columns of a plain array (n, d) in one pass over blocks of rows."""
    n, d = X.shape
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    missing = np.zeros(d, dtype=np.int64)
    step = max(1, block_entries // max(d, 1))
    for i in range(0, n, step):
        block = X[i : i + step]
        if X.dtype.kind == "f":
            missing += np.isnan(block).sum(axis=0)
        low = np.fmin(low, np.fmin.reduce(block, axis=0))
        high = np.fmax(high, np.fmax.reduce(block, axis=0))
    columns = []
    for name, count, a, b in zip(names, missing.tolist(), low, high, strict=True):
        if count == n or a == b:
            reason = "no values" if count == n else f"always {a:g}"
            columns.append(Column(name, "constant" if n > 1 else "numeric", count, reason if n > 1 else ""))
        else:
            columns.append(Column(name, "numeric", count))
    return columns


def _count_missing(values: Any) -> int:
    import pyarrow.compute as pc
    import pyarrow.types as pt

    nan = pc.sum(pc.is_nan(values)).as_py() if pt.is_floating(values.type) else 0
    return int(values.null_count + (nan or 0))


def _number(name: str, values: Any, missing: int, first: bool) -> Column:
    import pyarrow.compute as pc
    import pyarrow.types as pt

    ends = pc.min_max(values).as_py()
    low, high = ends["min"], ends["max"]
    rows = len(values)
    if rows > 1 and low == high:
        return Column(name, "constant", missing, f"always {low:g}" if not isinstance(low, bool) else f"always {low}")
    named = not name or IDENTIFIER_NAME.search(name) is not None
    counting = first and rows >= MANY_ROWS and low in (0, 1) and high - low == rows - 1
    if pt.is_integer(values.type) and not missing and rows > 2 and (named or counting):
        distinct = pc.count_distinct(values).as_py() == rows
        if distinct and (named or _rises_by_one(values)):
            return Column(name, "identifier", missing, "an identifier: every row has its own")
    return Column(name, "numeric", missing)


def _rises_by_one(values: Any) -> bool:
    return bool((np.diff(values.to_numpy()) == 1).all())


def _words(name: str, values: Any, missing: int) -> Column:
    import pyarrow.compute as pc

    distinct = pc.unique(values.drop_null())
    present, u = len(values) - missing, len(distinct)
    stray = _stray_text(distinct[:CHECKED_VALUES].to_pylist())
    if stray is not None:
        return Column(name, "text", missing, f"text among numbers, such as {cut(stray)!r}")
    signs = _signs(distinct[:CHECKED_VALUES].to_pylist())
    if signs:
        example = cut(distinct[0].as_py())
        return Column(name, "text", missing, f"text that holds numbers with {signs}, such as {example!r}")
    if u == 1 and present > 1:
        return Column(name, "constant", missing, f"always {cut(distinct[0].as_py())!r}")
    if u == present:
        longest = pc.max(pc.utf8_length(distinct)).as_py()
        if longest <= LONG_TEXT:
            return Column(name, "identifier", missing, "an identifier: every row has its own")
        return Column(name, "text", missing, "text")
    if u <= max(FEW_VALUES, FEW_SHARE * present):
        return Column(name, "categorical", missing, f"categories: {u} different values")
    return Column(name, "text", missing, f"text: {u} different values")


def _stray_text(distinct: list[str]) -> str | None:
    """Return a value that is no number when nearly all others are numbers."""
    others = [text for text in distinct if not _is_number(text)]
    if not others or len(distinct) - len(others) < max(2, MOSTLY_NUMBERS * len(distinct)):
        return None
    return others[0]


def _signs(distinct: list[str]) -> str:
    """Name the signs when nearly all values are numbers beside a sign of money or a per cent sign."""
    found = [text for text in distinct if SIGNED.fullmatch(text.strip())]
    if len(found) < MOSTLY_NUMBERS * len(distinct):
        return ""
    seen = {sign for text in found for sign in text if sign in "$€£¥%"}
    return "$ or %" if seen <= {"$", "%"} else " or ".join(sorted(seen))


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False
