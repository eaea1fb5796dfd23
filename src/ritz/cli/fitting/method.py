"""Which method suits a table, and why, in one sentence.

    numbers                                          →  pca
    named rows of whole numbers, none negative       →  ca       if columns are of one order of magnitude
    two categories and a column ``count`` or ``n``   →  ca       of the table that the list stands for
    categories                                       →  mca
    numbers and two or more columns of categories    →  famd     if these are a fifth of the columns or more
    texts                                            →  kpca     by the Spectrum kernel

Whole numbers are numbers. A single column of categories beside numbers is a label, as in most tables that people have:
it colours the picture and stays out of the axes, and the sentence says how to let it take part.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.tables.table import LISTED, RAGGED, Table
from ritz.data.words import counted, shorten

__all__ = ["Choice", "choose_method", "is_text", "label_of", "string_column"]

LABELS = 0.2  # share of the columns up to which categories are labels
ALIKE = 100.0  # column totals of a table of counts differ by no more than this factor
MOST_ROWS = 10_000  # of a table of counts: a longer list of whole numbers is one of observations
#: Different values up to which whole numbers may be codes (a scale of 0 to 10 has 11), and rows for each of them.
CODES, ROWS_A_CODE = 11, 3
LONGEST_OPTION = 60  # characters of names that are worth pasting
COUNT_NAME = re.compile(r"(n|counts?|freq|freqs|frequency|frequencies|number|weights?)", re.IGNORECASE)
STRING_NAME = re.compile(r"(seq|sequence|string|smiles|text|word|dna|rna|protein|peptide)s?", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """A method and the reason; ``counts``, ``strings`` and ``color`` are columns that it found for itself."""

    method: str
    why: str
    counts: str | None = None
    strings: str | None = None
    color: str | None = None
    weights: str | None = None


def choose_method(table: Table, *, weighted: bool = False) -> Choice:
    """Look at the kinds of the columns, and at the numbers where counts are possible."""
    kinds = table.kinds
    numbers = [name for name, kind in kinds.items() if kind == "numeric"]
    words = [name for name, kind in kinds.items() if kind == "categorical"]
    if numbers and not words:
        return _of_numbers(table, numbers)
    if numbers:
        return _mixed(table, numbers, words, weighted)
    _require_even_lists(table)
    texts = _texts(table)
    if len(words) >= 2 or (words and not texts):
        what = f"{counted(len(words), 'column')} of categories and none of numbers"
        return Choice("mca", f"{what}: multiple correspondence analysis")
    if texts:
        _refuse_numbers(table)
        return _of_texts(table, texts, words)
    return Choice("pca", "columns of numbers are looked for")  # which fails in words of its own


def _require_even_lists(table: Table) -> None:
    """Refuse lists of different lengths where no other column holds numbers: one row must not decide the method."""
    uneven = [one for one in table.columns if one.reason.startswith(RAGGED)]
    if uneven:
        raise InputError(
            f"expected a numeric column in {table.source or 'the table'}",
            received="; ".join(f"{one.name!r}, {one.reason}" for one in uneven[:3]),
            hint="make the lists equally long: an embedding has as many numbers in every row; or leave the column out: "
            f"--drop {shlex.quote(uneven[0].name)}",
        )


def _refuse_numbers(table: Table) -> None:
    """Texts that hold numbers are no strings to be compared letter by letter, unless the user says so."""
    meant = [one for one in table.columns if one.reason.startswith(("text that holds", "numbers that are wri"))]
    if meant:
        lists = any(one.reason.startswith(LISTED) for one in meant)
        raise InputError(
            f"expected a column of numbers or of categories in {table.source or 'the table'}",
            received="; ".join(f"{one.name!r}, {one.reason}" for one in meant[:3]),
            hint="give every number a column of its own, or write a Parquet file with lists in place of texts; "
            "--method kpca compares them as strings"
            if lists
            else "write the numbers of a column in one way, with one sign; --method kpca compares them as strings",
        )


def label_of(table: Table) -> str | None:
    """A column of categories to colour points by: the only one, or the one with the fewest levels."""
    words = [(one.reason, one.name) for one in table.columns if one.kind == "categorical"]
    return min(words, key=lambda one: _levels(one[0]))[1] if words else None


def _levels(reason: str) -> int:
    match = re.search(r"\d+", reason)
    return int(match[0]) if match else 1 << 30


def _of_numbers(table: Table, numbers: list[str]) -> Choice:
    names = [name for name, kind in table.kinds.items() if kind == "identifier"]
    if len(names) == 1 and names[0] not in table.readable_as_numbers and _are_counts(table, numbers):
        return Choice(
            "ca",
            f"rows named by {names[0]} and whole numbers, none negative, look like a table of counts: correspondence "
            "analysis; --method pca takes them as measurements",
        )
    why = f"{counted(len(numbers), 'column')} of numbers: principal component analysis"
    return Choice("pca", why + _other_readings(table, numbers))


def _other_readings(table: Table, numbers: list[str]) -> str:
    """What whole numbers may mean beside measurements: counts, or codes of categories; and how to say so."""
    ends = {one.name: (one.low, one.high) for one in table.columns if one.low is not None and one.high is not None}
    whole = [name for name in numbers if name in ends and _whole(table, name) and ends[name][0] >= 0]
    spans = {name: ends[name][1] - ends[name][0] for name in whole}
    codes = [name for name in whole if spans[name] < CODES and (table.n_rows or 0) >= ROWS_A_CODE * (spans[name] + 1)]
    out = ""
    if codes:
        named = "all" if len(codes) == len(numbers) else _joined(codes, table.names)
        words = shorten([repr(name) for name in codes], 3)
        option = named if len(named) <= LONGEST_OPTION else "COL,COL"
        out += f"; {words}: whole numbers of few values; if they are codes, --categorical {shlex.quote(option)}"
    if len(whole) == len(numbers) > 2 and len(codes) < len(whole) and 2 < (table.n_rows or 0) <= MOST_ROWS:
        out += "; whole numbers, none negative: if they are counts, --method ca"
    return out


def _joined(names: list[str], every: list[str]) -> str:
    """The names with commas between, or the range ``first..last`` where they stand side by side."""
    start = every.index(names[0])
    side_by_side = len(names) > 2 and every[start : start + len(names)] == names
    return f"{names[0]}..{names[-1]}" if side_by_side else ",".join(names)


def _are_counts(table: Table, numbers: list[str]) -> bool:
    """Whole numbers, none negative, no column of another order of magnitude."""
    if table.lazy or len(numbers) < 3 or not 3 <= (table.n_rows or 0) <= MOST_ROWS or table.missing:
        return False
    X = table.select(numbers)
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "iuf" or not bool(np.all(np.isfinite(X))):
        return False
    if bool(np.any(X < 0)) or bool(np.any(np.floor(X) != X)) or not all(_whole(table, name) for name in numbers):
        return False
    totals = np.sum(X, axis=0, dtype=np.float64)
    return bool(np.min(totals) > 0) and float(np.max(totals) / np.min(totals)) <= ALIKE


def _whole(table: Table, name: str) -> bool:
    """Whether the file itself holds whole numbers, or yes and no: 3.0 is a measurement."""
    import pyarrow.types as pt

    kind = table.type_of(name)
    return kind is not None and bool(pt.is_integer(kind) or pt.is_boolean(kind))


def _mixed(table: Table, numbers: list[str], words: list[str], weighted: bool) -> Choice:
    counts = [name for name in numbers if COUNT_NAME.fullmatch(name.strip())]
    if len(words) >= 2 and len(numbers) == 1 and counts and not weighted and _natural(table, counts[0]):
        if len(words) == 2:
            return Choice(
                "ca", f"{words[0]} and {words[1]} with their counts in {counts[0]}: correspondence analysis of the "
                "table that the list stands for", counts=counts[0],
            )  # fmt: skip
        return Choice(
            "mca", f"{len(words)} columns of categories with counts in {counts[0]}: multiple correspondence analysis, "
            f"each row {counts[0]} times", weights=counts[0],
        )  # fmt: skip
    if len(words) > 1 and len(words) >= LABELS * (len(words) + len(numbers)):
        what = f"{counted(len(numbers), 'column')} of numbers and {len(words)} of categories"
        return Choice("famd", f"{what}: factor analysis of mixed data; --method pca takes the numbers only")
    name = label_of(table)
    labels = shorten([repr(one) for one in words], 3)
    stay = f"{labels} holds categories and stays" if len(words) == 1 else f"{labels} hold categories and stay"
    return Choice(
        "pca", f"{counted(len(numbers), 'column')} of numbers: principal component analysis; {stay} out of the axes "
        f"(--method famd lets categories take part){_other_readings(table, numbers)}", color=name,
    )  # fmt: skip


def _natural(table: Table, name: str) -> bool:
    """Whether a column holds whole numbers, none negative."""
    if table.lazy or not _whole(table, name) or name in table.missing:
        return False
    return bool(np.min(table.select([name])) >= 0)


def _texts(table: Table) -> list[str]:
    """Columns of strings: texts, and identifiers that are no numbers."""
    numbers = table.readable_as_numbers
    return [one.name for one in table.columns if one.kind in ("text", "identifier") and one.name not in numbers
            and is_text(table, one.name)]  # fmt: skip


def is_text(table: Table, name: str) -> bool:
    """Whether a column holds strings."""
    import pyarrow.types as pt

    kind: Any = table.type_of(name)
    return kind is not None and (pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def string_column(table: Table) -> str:
    """The column of strings that is meant: by its name, or the one with the longest texts."""
    texts = _texts(table) or [one.name for one in table.columns if is_text(table, one.name)]
    if not texts:
        raise InputError(
            f"expected a column of strings in {table.source or 'the table'}",
            received=f"columns {shorten([f'{one.name!r} ({one.kind})' for one in table.columns])}",
            hint="a kernel of numbers, such as --kernel rbf, takes columns of numbers",
        )
    named = [name for name in texts if STRING_NAME.fullmatch(name.strip())]
    return named[0] if named else max(texts, key=lambda name: _length(table, name))


def _of_texts(table: Table, texts: list[str], words: list[str]) -> Choice:
    chosen = string_column(table)
    other = f"; --columns names another one of {shorten(texts)}" if len(texts) > 1 else ""
    return Choice(
        "kpca", f"strings in {chosen}: kernel principal component analysis with the Spectrum kernel{other}",
        strings=chosen, color=words[0] if words else None,
    )  # fmt: skip


def _length(table: Table, name: str) -> float:
    some = next(iter(table.batches([name], 1000))).column(0).to_pylist()
    return float(np.mean([len(str(value or "")) for value in some]))
