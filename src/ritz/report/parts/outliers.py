"""Which rows are odd: distance in the plane (T²) against distance off it (Q), with limits, and a list of odd rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import RitzError
from ritz.insight.outliers.map import KINDS
from ritz.insight.rows.blame import blame
from ritz.report.context import Context
from ritz.report.findings import ALPHA, FDR
from ritz.report.html import Html, bdi, details, figure, join, number, table, tag
from ritz.report.pack import codes, exact
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Rows in the list, and columns blamed for each.
LISTED, BLAMED = 20, 2


def _applies(about: Context) -> bool:
    return about.rows is not None and about.k > 0 and about.odd is not None


def _build(about: Context) -> Content:
    odd = about.odd
    if odd is None:  # applies() has looked
        return Content(Html(""))
    place = about.index if odd.all_rows else np.arange(len(odd.inside))
    mask = np.zeros(len(odd.inside), bool) if odd.outliers is None else odd.outliers.mask
    limits = [float(np.sqrt(x)) if np.isfinite(x) and x > 0 else None for x in (odd.bounds.t2, odd.bounds.spe)]
    drawn = {
        "inside": exact(np.sqrt(np.maximum(odd.inside[place], 0.0))),
        "off": exact(np.sqrt(np.maximum(odd.off[place], 0.0))),
        "limits": limits,
        "odd": codes(mask[place]),
    }
    counts = np.bincount(odd.beyond, minlength=4)
    words = [_limits_words(about, counts), _found_words(about)]
    label = " ".join(words)
    body = join(
        [tag("p", word) for word in words], figure("outliers", label, tall="tall"), _list(about), _counts(counts)
    )
    return Content(body, drawn)


def _limits_words(about: Context, counts: Any) -> str:
    odd = about.odd
    n = len(odd.inside) if odd is not None else 0
    first = ""
    if odd is not None and odd.components != about.k:
        first = f" The model keeps everything, so rows are judged by its first {about.components(odd.components)}."
    sample = "" if odd is None or odd.all_rows else f" Only the {n:,} rows that are shown were judged."
    expected = f"If nothing were wrong, about {100 * ALPHA:g} % of the rows would lie beyond each limit."
    if odd is not None and not odd.limited:
        return f"There are too few rows for limits.{first}{sample}"
    return f"{int(counts[1:].sum()):,} of {n:,} rows lie beyond a limit. {expected}{first}{sample}"


def _found_words(about: Context) -> str:
    odd = about.odd.outliers if about.odd is not None else None
    if odd is None:
        limited = about.odd is not None and about.odd.limited
        return "Rows beyond a limit are not all odd: some must be, by chance." if limited else "No row is called odd."
    count = len(odd.rows)
    which = "No row is" if not count else "1 row is" if count == 1 else f"{count:,} rows are"
    return f"{which} odd at a false discovery rate of {100 * FDR:g} % ({odd.notes[0]})."


def _list(about: Context) -> Html | None:
    """The odd rows, the oddest first, and the columns to blame."""
    odd = about.odd
    if odd is None:
        return None
    order = odd.outliers.rows if odd.outliers is not None else odd.farthest(LISTED)
    order = np.asarray(order, np.intp)[:LISTED]
    if not len(order):
        return None
    position = {int(row): i for i, row in enumerate(about.index.tolist())} if odd.all_rows else None
    blamed = _blamed(about, order) if odd.all_rows else {}
    rows = []
    for row in order.tolist():
        shown = row if position is None else position.get(row)
        name = about.row_name(shown) if shown is not None else f"row {row + 1:,}"
        p = number(odd.outliers.p_values[row], 2) if odd.outliers is not None else "–"
        rows.append(
            (
                bdi(name, 40),
                blamed.get(row, ""),
                number(np.sqrt(odd.inside[row])),
                number(np.sqrt(max(odd.off[row], 0))),
                p,
            )
        )
    head = ("row", "because of" if blamed else "", "in the plane", "off the plane", "p")
    title = "Odd rows, the oddest first" if odd.outliers is not None else "The farthest rows"
    return table(head, rows, title, words=2)


def _blamed(about: Context, order: Any) -> dict[int, Html]:
    """The columns that made a row odd."""
    odd = about.odd
    if about.kernel or about.rows is None or odd is None:
        return {}
    try:
        parts = np.asarray(blame(odd.model, about.rows.take(np.sort(order)), "combined"))
    except RitzError:
        return {}
    out = {}
    for row, values in zip(np.sort(order).tolist(), parts, strict=True):
        top = np.argsort(-values, kind="stable")[:BLAMED]
        names = [bdi(about.columns[j], 30) for j in top.tolist() if values[j] > 0]
        out[row] = join(*[piece for i, name in enumerate(names) for piece in (", " if i else "", name)])
    return out


def _counts(counts: Any) -> Html:
    rows = [(name, f"{int(count):,}") for name, count in zip(KINDS, counts, strict=True)]
    return details("Rows of each kind", table(("kind", "rows"), rows, "Rows within and beyond the limits"))


PART = Part("outliers", "Odd rows", _applies, _build)
