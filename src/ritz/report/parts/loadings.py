"""What components are made of: loadings column by column, with their contributions."""

from __future__ import annotations

import numpy as np

from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import axes_words

__all__ = ["PART"]

#: Components that can be chosen, columns drawn for each, and columns in the table.
AXES, COLUMNS, LINES = 10, 24, 100


def _applies(about: Context) -> bool:
    return about.linear and about.k > 0 and (about.image_shape is None or len(about.columns) <= 2 * COLUMNS)


def _build(about: Context) -> Content:
    L, a = about.loadings, min(about.k, AXES)
    squares = np.square(L)
    total = squares.sum(axis=0)
    shares = np.divide(squares, total, out=np.zeros_like(squares), where=total > 0)
    order = np.argsort(-np.abs(L), axis=0, kind="stable")[:COLUMNS]
    drawn = {
        "axes": about.axes[:a],
        "shares": few(about.shares[:a]),
        "even": 1 / len(L),
        "columns": [
            [{"name": clip(about.columns[j], KEPT), "loading": float(L[j, i]), "share": float(shares[j, i])}
             for j in order[:, i]]
            for i in range(a)
        ],
        "total": len(L),
    }  # fmt: skip
    words = axes_words(about, min(a, 5))
    lead = tag("ul", [tag("li", word) for word in words], class_="plain") if words else None
    deviation = "standard deviation" if about.known.centered else "root mean square"
    meant = ": component times the " + deviation + " of its scores" if not about.known.rotates_all else " on a factor"
    note = tag("p", f"A bar is the loading of a column{meant}"
               + (", the correlation of the column with the scores" if _correlations(about) else "")
               + ". Percentages are contributions: squared loadings as shares of the component.",
               class_="note")  # fmt: skip
    chosen = np.argsort(-shares[:, : min(2, a)].sum(axis=1), kind="stable")[:LINES]
    head = ("column", *[text for i in range(min(a, 5)) for text in (about.axes[i], "share")])
    rows = [
        (
            bdi(about.columns[j], 40),
            *[text for i in range(min(a, 5)) for text in (number(L[j, i]), percent(shares[j, i]))],
        )
        for j in sorted(chosen.tolist())
    ]
    more = f"{LINES} of {len(L):,} columns" if len(L) > LINES else "all columns"
    below = details("Loadings as a table", table(head, rows, f"Loadings and contributions of {more}"))
    return Content(join(lead, figure("loadings", f"Loadings of the columns on a {about.component} that can be chosen"),
                        note, below), drawn)  # fmt: skip


def _correlations(about: Context) -> bool:
    return about.known.turns and getattr(about.model, "scale_", None) is not None


PART = Part("loadings", "What components are made of", _applies, _build)
