"""Outliers: distance in the plane (Hotelling's T²) against distance off it (Q), with limits, and a list of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import RitzError
from ritz.insight.outliers.map import KINDS
from ritz.insight.rows.blame import blame
from ritz.report.context import Context
from ritz.report.html import Html, bdi, details, figure, join, number, table, tag
from ritz.report.pack import codes, exact
from ritz.report.part import Content, Part
from ritz.report.row_words import found_words, limits_words
from ritz.report.rows import TableRows
from ritz.report.values import value_words

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
        "beyond": codes(odd.beyond[place] > 0),  # decided here: a row on a limit is not beyond it, rounding included
    }
    counts = np.bincount(odd.beyond, minlength=4)
    words = [limits_words(about), found_words(about)]
    label, apart = " ".join(words), value_words(about)
    body = join(
        [tag("p", word) for word in words],
        tag("p", apart) if apart else None,
        figure("outliers", label, tall="tall"),
        _list(about),
        _counts(counts),
    )
    return Content(body, drawn)


def _list(about: Context) -> Html | None:
    """The outliers, the farthest first, and the columns to blame."""
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
    title = "Outliers, the farthest first" if odd.outliers is not None else "The farthest rows"
    return table(head, rows, title, words=2)


def _blamed(about: Context, order: Any) -> dict[int, Html]:
    """The columns that made a row an outlier."""
    odd = about.odd
    if about.kernel or about.rows is None or odd is None:
        return {}
    try:
        parts = np.asarray(blame(odd.model, _taken(about, np.sort(order)), "combined"))
    except RitzError:
        return {}
    out = {}
    for row, values in zip(np.sort(order).tolist(), parts, strict=True):
        top = np.argsort(-values, kind="stable")[:BLAMED]
        names = [bdi(about.columns[j], 30) for j in top.tolist() if values[j] > 0]
        out[row] = join(*[piece for i, name in enumerate(names) for piece in (", " if i else "", name)])
    return out


def _taken(about: Context, order: Any) -> Any:
    """Rows by their numbers, from those that are shown where they are among them: a table is not read again."""
    rows = about.rows
    if isinstance(rows, TableRows) and about.sampled and np.isin(order, about.index).all():
        rows, order = TableRows(about.part, len(about.index), about.model), np.searchsorted(about.index, order)
    return rows.take(order) if rows is not None else None


def _counts(counts: Any) -> Html:
    rows = [(name, f"{int(count):,}") for name, count in zip(KINDS, counts, strict=True)]
    return details("Rows of each kind", table(("kind", "rows"), rows, "Rows within and beyond the limits"))


PART = Part("outliers", "Outliers", _applies, _build)
