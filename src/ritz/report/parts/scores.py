"""The rows in the plane of two components: hover, colours, axes, zoom, and a lasso that gives a list."""

from __future__ import annotations

from typing import Any

from ritz.methods.lsi.topics import plane_of
from ritz.report.context import Context
from ritz.report.html import Html, bdi, details, figure, join, number, table, tag
from ritz.report.part import Content, Part
from ritz.report.parts.points import named_rows
from ritz.report.row_words import groups_words

__all__ = ["PART"]

#: Rows in the table below the chart.
SHOWN = 50


def _applies(about: Context) -> bool:
    # the map of a small contingency table shows its rows by name
    return about.rows is not None and about.k > 0 and not named_rows(about)


def _build(about: Context) -> Content:
    words = [_sample_words(about), _hidden(about), groups_words(about)]
    lead = [tag("p", word) for word in words if word]
    many = f"{len(about.index):,} {about.row}s"
    label = f"Scatter plot of {many} by their scores on two {about.component}s that can be chosen"
    chart = figure("scores", label, tall="tall")
    first = 0 if about.color is not None or (about.colours and _tells(about)) else None
    begin = list(plane_of(about.model)) if about.texts and about.offered > 2 else None
    title = "The documents" if about.texts else None
    return Content(join(lead, chart, _table(about)), {"colour": first, "axes": begin}, title)


def _tells(about: Context) -> bool:
    """Whether the first column to colour by took no part and has few kinds: groups to look for."""
    one = about.colours[0]
    return not about.uses(one.name) and one.amount is None


def _sample_words(about: Context) -> str | None:
    if not about.sampled:
        return None
    far = " and the farthest rows besides" if about.measurable and about.odd is not None else ""
    return f"{len(about.index):,} of {about.n:,} {about.row}s are shown: a random sample{far}."


def _hidden(about: Context) -> str | None:
    """Documents without a known word lie in the centre."""
    empty = about.model.empty_ if about.texts and about.of_fit else ()
    if not len(empty):
        return None
    return f"{len(empty):,} of them, without a known word, {'lies' if len(empty) == 1 else 'lie'} at zero."


def _table(about: Context) -> Html:
    shown = min(SHOWN, len(about.index))
    axes = min(about.offered, 5)
    rows: list[tuple[Any, ...]] = [
        (bdi(about.row_name(i), 40), *[number(value, 4) for value in about.scores[i, :axes]]) for i in range(shown)
    ]
    caption = f"Scores of the first {shown} of {about.n:,} {about.row}s" if shown < about.n else (
        f"Scores of all {about.row}s")  # fmt: skip
    return details("Scores as a table", table((about.row, *about.axes[:axes]), rows, caption))


PART = Part("scores", "The rows", _applies, _build)
