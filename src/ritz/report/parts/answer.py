"""The answer: three sentences of plain words (``words.py``), and the figures they rest on."""

from __future__ import annotations

import numpy as np

from ritz.report.context import Context
from ritz.report.html import Html, details, join, number, percent, table, tag
from ritz.report.part import Content, Part, always
from ritz.report.words import sentences

__all__ = ["PART"]

#: Components in the table.
SHOWN = 20


def _build(about: Context) -> Content:
    words = tag("div", [tag("p", sentence) for sentence in sentences(about)], class_="answer")
    return Content(join(words, _table(about)))


def _table(about: Context) -> Html | None:
    if not about.k:
        return None
    values = _values(about)
    if not about.known.tells_shares:
        return _eigenvalues(about, values)
    sums = np.cumsum(about.shares)
    rows = [
        (about.axes[i], number(values[i], 5), percent(about.shares[i]), percent(sums[i]))
        for i in range(min(about.k, SHOWN))
    ]
    more = f", the first {SHOWN}" if about.k > SHOWN else ""
    head = (
        about.component,
        about.known.about.measure
        if about.maps
        else "eigenvalue"
        if about.kernel or about.correspondence
        else about.whole,
        "share",
        "cumulated",
    )
    return details(f"Figures of {_every(about)}{more}", table(head, rows, f"Shares of the {about.whole}"))


def _every(about: Context) -> str:
    many = about.components(about.k)
    return {1: f"the {about.component}", 2: f"both {about.component_plural}"}.get(about.k, f"all {many}")


def _eigenvalues(about: Context, values: np.ndarray) -> Html:
    """Of axes whose eigenvalues are no shares of anything: the gaps between them instead."""
    gaps = about.known.gaps
    rows = [(about.axes[i], number(values[i], 5), number(gaps[i], 2)) for i in range(min(about.k, SHOWN))]
    note = f"An eigenvalue {about.known.about.tells}." if about.known.about.tells else ""
    inside = table((about.component, about.known.about.measure, "gap to the next"), rows, "Eigenvalues and gaps")
    return details(f"Figures of {_every(about)}", tag("p", note, class_="note"), inside)


def _values(about: Context) -> np.ndarray:
    model = about.model
    if about.maps:
        own = getattr(model, "eigenvalues_", None)
        own = getattr(model, "explained_variance_", about.known.values) if own is None else own
        return np.asarray(own, np.float64)
    if about.whole == "sum of squares":
        return np.square(np.asarray(model.singular_values_, np.float64))
    name = "eigenvalues_" if about.kernel or about.correspondence else "explained_variance_"
    return np.asarray(getattr(model, name), np.float64)


PART = Part("answer", "The answer", always, _build)
