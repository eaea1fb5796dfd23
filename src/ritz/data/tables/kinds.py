"""What a column is: numbers, categories, text, an identifier, dates, or the same value all over.

    numbers and booleans          → numeric, unless constant or an identifier
    integers, all different       → identifier if the name says so (``id``, ``no.``, no name), or if the first
                                    column counts 0, 1, 2, … for ten rows or more
    text of numbers with signs    → text: "$1,000.50" and "5%" are for the user to turn into numbers
    text of lists of numbers      → text: "[0.1, 0.2]", as a CSV file has embeddings; Parquet keeps them as lists
    text, few different values    → categorical   (at most 20, or a tenth of the rows)
    text, all different           → identifier if short, else text

Judged by the column's summary (``summaries.py``), so a table that stays on disk is judged as one in memory. Rules of
thumb, so each one leaves a reason that is shown to the user; ``kinds=`` in ``read`` overrules them.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ritz.data.formats.pack import numpy_dtype
from ritz.data.tables.summaries import DISTINCT, MatrixSummary, Summary
from ritz.data.tables.table import LISTED, RAGGED, Column
from ritz.data.words import cut

__all__ = ["RUNNING", "column_kind", "matrix_columns", "may_identify"]

FEW_VALUES = 20
FEW_SHARE = 0.1
MANY_ROWS = 10  # fewer rows may count up by chance
LONG_TEXT = 40  # characters; identifiers are shorter
SEVERAL_WORDS = 4  # of running text
#: Why such a column is not used as numbers.
RUNNING = "running text"
MOSTLY_NUMBERS = 0.8
SHOWN_STRAYS = 5
CHECKED_VALUES = 1000  # distinct texts looked at for stray text among numbers
SIGNED = re.compile(r"[-+]?[$€£¥]\s?[-+]?\d[\d,.' ]*|[-+]?\d[\d,.' ]*\s?[$€£¥%]")
LIST = re.compile(r"\[\s*[-+]?(?:\d|\.\d|nan)(?:[-+\d.,;eE\s]|nan|None|null)*(?:\]|\w{0,3})")  # long texts are cut
LISTS = 50  # texts looked at for them, which are long
IDENTIFIER_NAME = re.compile(
    r"(^|[\s_.-])(id|idx|index|key|uuid|guid|row|rownames?|nr|no|number|person|participant|respondent|subject|patient)\.?$",
    re.IGNORECASE,
)
OWN = "an identifier: every row has its own"
MORE = f"more than {DISTINCT:,} different values"
OWN_SO_FAR = f"an identifier: {MORE}, and none of the first twice"


def may_identify(name: str, kind: Any, first: bool) -> bool:
    """Whether integers of this name and place may identify rows, so that they must be compared with each other."""
    import pyarrow.types as pt

    return pt.is_integer(kind) and (first or _named(name))


def column_kind(name: str, summary: Summary, *, first: bool) -> Column:
    """Say what a column is; ``first`` marks the leftmost."""
    import pyarrow.types as pt

    kind, missing = summary.type, summary.missing
    if summary.present == 0:
        return Column(name, "constant", missing, "no values")
    if summary.numeric:
        return _number(name, summary, first)
    if pt.is_temporal(kind) or "period" in str(kind):  # those of pandas come as an extension
        return Column(name, "date", missing, "dates or times")
    if len(summary.distinct):
        return _words(name, summary)
    lists = pt.is_list(kind) or pt.is_large_list(kind)
    ragged = lists and numpy_dtype(kind.value_type) is not None
    if ragged and [length for _, length in summary.lengths] == [0]:
        return Column(name, "text", missing, f"values of type {kind}, all of them empty")
    return Column(name, "text", missing, RAGGED + summary.uneven if ragged else f"values of type {kind}")


def matrix_columns(summary: MatrixSummary, names: list[str]) -> list[Column]:
    """Describe the columns of a plain array: numbers, the same ones whether it is loaded or read in pieces.

    Constant columns stay: an array in pieces is not looked at before the fit, where they do no harm.
    """
    ends = zip(names, summary.missing.tolist(), summary.low.tolist(), summary.high.tolist(), strict=True)
    return [
        Column(name, "numeric", count, low=low if low <= high else None, high=high if low <= high else None)
        for name, count, low, high in ends
    ]


def _named(name: str) -> bool:
    return not name or IDENTIFIER_NAME.search(name) is not None


def _number(name: str, summary: Summary, first: bool) -> Column:
    low, high, rows, missing = summary.low, summary.high, summary.rows, summary.missing
    if rows > 1 and low == high:
        always = f"always {low or 0:g}" if not isinstance(low, bool) else f"always {low}"  # -0 is 0
        return Column(name, "constant", missing, always, low=_end(low), high=_end(high))
    if summary.compared and not missing and rows > 2:
        counting = first and rows >= MANY_ROWS and low in (0, 1) and summary.counts
        if counting or (_named(name) and (summary.rises or not summary.distinct.twice)):
            sure = summary.rises or not summary.distinct.more
            return Column(name, "identifier", missing, OWN if sure else OWN_SO_FAR)
    return Column(name, "numeric", missing, low=_end(low), high=_end(high))


def _end(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):  # footers hold ends in types of their own
        return None


def _words(name: str, summary: Summary) -> Column:
    distinct, missing, present = summary.distinct, summary.missing, summary.present
    some = distinct.values[:CHECKED_VALUES].to_pylist()
    stray = _stray_text(some)
    if stray is not None:
        reason = f"text among numbers, such as {cut(stray[0])!r}"
        first = tuple((text, None) for text in stray[:SHOWN_STRAYS])
        return Column(name, "text", missing, reason, strays=first, stray_count=len(stray))
    signs = _signs(some)
    if signs:
        return Column(name, "text", missing, f"text that holds numbers with {signs}, such as {cut(some[0])!r}")
    u = len(distinct)
    if u == 1 and present > 1:
        return Column(name, "constant", missing, f"always {cut(some[0])!r}")
    few = distinct.twice and not distinct.more and u <= max(FEW_VALUES, FEW_SHARE * present)  # such as intervals
    if not few and all(LIST.fullmatch(text.strip()) for text in some[:LISTS]):
        return Column(name, "text", missing, f"{LISTED}, such as {cut(some[0])!r}")
    if not distinct.twice:
        if summary.longest > LONG_TEXT:
            return Column(name, "text", missing, RUNNING if _runs(some) else "text")
        return Column(
            name, "identifier", missing, f"an identifier: {MORE}, none of them twice" if distinct.more else OWN
        )
    if distinct.more:
        return Column(name, "text", missing, f"text: {MORE}")
    if few:
        return Column(name, "categorical", missing, f"categories: {u} different values")
    return Column(name, "text", missing, f"text: {u} different values")


def _runs(values: list[str]) -> bool:
    """Whether half of the values or more hold several words, as sentences do; keys and addresses hold one."""
    return 2 * sum(len(text.split()) >= SEVERAL_WORDS for text in values) >= len(values)


def _stray_text(distinct: list[str]) -> list[str] | None:
    """Return the values that are no numbers when nearly all others are numbers."""
    others = [text for text in distinct if not _is_number(text)]
    if not others or len(distinct) - len(others) < max(2, MOSTLY_NUMBERS * len(distinct)):
        return None
    return others


def _signs(distinct: list[str]) -> str:
    """Name the signs when nearly all values are numbers beside a sign of money or a per cent sign."""
    signed = [text for text in distinct if SIGNED.fullmatch(text.strip())]
    if len(signed) < MOSTLY_NUMBERS * len(distinct):
        return ""
    seen = {sign for text in signed for sign in text if sign in "$€£¥%"}
    return "$ or %" if seen <= {"$", "%"} else " or ".join(sorted(seen))


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False
