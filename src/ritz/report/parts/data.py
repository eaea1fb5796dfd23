"""What the data is: rows, columns, missing values, constants, what was set aside and why; every column in a line."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.tables.table import Table
from ritz.data.words import counted, grouped
from ritz.report.colours import column_of
from ritz.report.context import Context
from ritz.report.html import Html, bdi, clip, details, join, number, table, tag
from ritz.report.part import Content, Part, always
from ritz.report.parts.text_data import text_data
from ritz.report.rows import naming_column

__all__ = ["PART"]

#: Columns that have a line of their own, and bars of their small histograms.
LINES, BARS = 60, 18
#: Columns that are named in a list.
NAMED = 8


def _build(about: Context) -> Content:
    if about.texts:
        return text_data(about)
    facts: list[tuple[str, Any]] = [("Rows", _rows_words(about))]
    if about.columns:
        facts += [("Columns", _columns_words(about)), *_prepared(about)]
    lines, gaps, constants = _looked_at(about)
    if gaps:
        none = "no value is missing" + (" among the rows shown" if about.sampled else "")
        facts.append(("Missing", _missing(about, gaps) or none))
    if constants:
        here = " among the rows shown" if about.sampled else ""  # all rows may say otherwise
        names = ", ".join(clip(name, 40) for name in constants[:NAMED])
        facts.append(("Constant", f"{counted(len(constants), 'column')}{here}: {names}{_and_more(constants)}"))
    if isinstance(about.X, Table):
        aside = grouped([(clip(name, 40), why) for name, why in _aside(about)], NAMED)
        facts += [("Set aside", tag("ul", [tag("li", text) for text in aside]))] if aside else []
        facts += [("Reading", note) for note in about.X.notes]
    listed = tag("dl", [join(tag("dt", name), tag("dd", words)) for name, words in facts], class_="facts")
    shown = None
    if lines:
        more = f"; the first {LINES} of {len(gaps):,}" if len(gaps) > LINES else ""
        of = " of the rows shown" if about.sampled else ""
        head = ("column", "values", "mean", "standard deviation", "least", "largest", "missing")
        shown = details("Every column in a line", table(head, lines, f"Columns{of}{more}", words=2))
    return Content(join(listed, shown))


def _looked_at(about: Context) -> tuple[list[Any], dict[str, int], list[str]]:
    """Lines of the first columns, missing values of all by name, and which are constant: one column at a time."""
    lines: list[Any] = []
    gaps: dict[str, int] = {}
    constants: list[str] = []
    for name, values in about.rows.columns(about.part) if about.rows is not None else ():
        if len(lines) < LINES:
            lines.append(_line(name, values))
        gaps[name] = int(np.count_nonzero(_absent(values)))
        constants += [name] if _constant(values) else []
    return lines, gaps, constants


def _rows_words(about: Context) -> str:
    if about.sampled:
        far = ", and the farthest besides" if about.measurable and about.odd is not None else ""
        return (
            f"{about.n:,}; charts show {len(about.index):,} of them, drawn evenly at random{far}{_other_words(about)}"
        )
    return f"{about.n:,}{_other_words(about)}"


def _other_words(about: Context) -> str:
    """Rows that count more than once, or that the model has not seen."""
    words = ""
    if about.weighted and about.known.weight is not None:
        words += f"; with weights, which add up to {number(about.known.weight, 6)}"
    if not about.of_fit:
        words += f"; not those of the fit, which had {counted(int(about.model.n_samples_), 'row')}"
    return words


def _columns_words(about: Context) -> str:
    """Columns that are used: of numbers, and of categories with their levels."""
    d = len(about.columns)
    if not about.correspondence or about.known.about.takes == "counts":
        return f"{d:,} used"
    numbers, words, levels = about.column_counts
    if not words:
        return f"{numbers:,} used, of numbers"
    of_words = f"{counted(words, 'column')} of categories, with {counted(levels, 'level')}"
    return f"{of_words}, used" if not numbers else f"{counted(numbers, 'column')} of numbers and {of_words}, used"


def _prepared(about: Context) -> list[tuple[str, Any]]:
    model = about.model
    if about.correspondence:
        return [("Total inertia", number(model.total_inertia_, 4))]
    if about.maps and getattr(about.model, "spread_", None) is not None:
        return [("Prepared", "divided by their standard deviations")]
    if about.kernel or about.maps:  # which make of the rows what their method says
        return []
    centred = getattr(model, "mean_", None) is not None
    scaled = getattr(model, "scale_", None) is not None
    if not centred:
        return [("Prepared", "as they are: neither centred nor scaled")]
    done = "centred and divided by their standard deviations" if scaled else "centred, in their own units"
    return [("Prepared", done)]


def _aside(about: Context) -> list[tuple[str, str]]:
    used = {str(name) for name in getattr(about.model, "feature_names_in_", ())}
    used |= {str(name) for name in getattr(about.model, "target_names_", ())}
    reasons = {name: why or "not used" for name, why in about.X.set_aside}
    naming = naming_column(about.X) if about.names is None or about.names is True else about.names
    if isinstance(naming, str):
        reasons[naming] = "it names the rows"
    if isinstance(about.supplementary, (list, tuple)):
        reasons |= dict.fromkeys(map(str, about.supplementary), "supplementary: placed among the axes, no part in them")
    return (
        [(name, reasons.get(name, "not used by this model")) for name in about.X.names if name not in used]
        if used
        else []
    )


def _missing(about: Context, found: dict[str, int]) -> str:
    # of all rows where a table was scanned; places: of the rows that stay
    known = isinstance(about.X, Table) and about.X.scanned and about.X.places is None
    gaps = about.X.missing if known else {name: count for name, count in found.items() if count}
    if not gaps:
        return ""
    some = ", ".join(f"{clip(name, 40)} ({count:,})" for name, count in list(gaps.items())[:NAMED])
    shown = " among the rows shown" if about.sampled and not known else ""
    return f"{counted(sum(gaps.values()), 'value')}{shown}: {some}{_and_more(gaps)}"


def _and_more(names: Sized) -> str:
    return f" and {len(names) - NAMED:,} more columns" if len(names) > NAMED else ""


def _array(values: Any) -> NDArray[Any]:
    return column_of(values) if isinstance(values, list) else np.asarray(values)


def _absent(values: Any) -> NDArray[np.bool_]:
    array = _array(values)
    if array.dtype.kind in "fciub":
        return np.isnan(array)
    return np.array([value is None or value != value for value in array.tolist()], bool)


def _constant(values: Any) -> bool:
    array = _array(values)
    return (
        len(array) > 1
        and len({str(value) for value in array[:1000].tolist()}) == 1
        and len(np.unique(array.astype(str))) == 1
    )


def _line(name: str, values: Any) -> tuple[Any, ...]:
    array, absent = _array(values), int(np.count_nonzero(_absent(values)))
    if array.dtype.kind in "fiub" and array.dtype.kind != "b":
        numbers = array[np.isfinite(array.astype(np.float64))].astype(np.float64)
        if len(numbers):
            spread = float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0
            figures = [number(value) for value in (numbers.mean(), spread, numbers.min(), numbers.max())]
            return bdi(name, 40), _bars(_heights(numbers)), *figures, f"{absent:,}"
    words, counts = np.unique(array[~_absent(values)].astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    most = join(f"{len(words):,} levels; most often ", bdi(words[order[0]], 24)) if len(words) else "none"
    return bdi(name, 40), most, "", "", "", "", f"{absent:,}"


def _heights(numbers: NDArray[np.float64]) -> NDArray[np.intp]:
    """Values in each of equally wide bins, whatever their size and however close they lie."""
    low, high = 0.5 * float(numbers.min()), 0.5 * float(numbers.max())  # halves: their difference is a number
    if not high - low > 0:
        return np.array([len(numbers)])
    place = (0.5 * numbers - low) / (high - low) * BARS
    return np.bincount(np.clip(place, 0, BARS - 1).astype(np.intp), minlength=BARS)


def _bars(counts: NDArray[Any]) -> Html:
    """A small histogram; its numbers stand beside it."""
    top = max(int(counts.max(initial=1)), 1)
    bars = [
        tag("rect", x=4 * i, y=round(20 - 20 * count / top, 1), width=3, height=round(20 * count / top, 1))
        for i, count in enumerate(counts.tolist())
    ]
    return tag("svg", bars, viewBox=f"0 0 {4 * len(counts)} 20", class_="bars", aria_hidden="true")


PART = Part("data", "The data", always, _build)
