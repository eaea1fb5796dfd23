"""The rows in the plane of two components: hover, colours, axes, zoom, and a lasso that gives a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.methods.lsi.topics import plane_of
from ritz.report.context import Context
from ritz.report.html import Html, bdi, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.parts.points import named_rows

__all__ = ["PART"]

#: Rows in the table below the chart.
SHOWN = 50


def _applies(about: Context) -> bool:
    # the map of a small contingency table shows its rows by name
    return about.rows is not None and about.k > 0 and not named_rows(about)


def _build(about: Context) -> Content:
    words = [_sample_words(about), _hidden(about), _groups_words(about)]
    lead = [tag("p", word) for word in words if word]
    many = f"{len(about.index):,} {about.row}s"
    label = f"Scatter plot of {many} by their scores on two {about.components(2).partition(' ')[2]} that can be chosen"
    chart = figure("scores", label, tall="tall")
    first = 0 if about.color is not None or (about.colours and _tells(about)) else None
    begin = list(plane_of(about.model)) if about.texts and about.offered > 2 else None
    title = "The documents" if about.texts else None
    drawn = {"colour": first, "axes": begin, "further": _further(about) or None}
    return Content(join(lead, chart, _table(about), _further_table(about)), drawn, title)


def _further(about: Context) -> list[dict[str, Any]]:
    """Categories and rows that took no part, as points among the rows."""
    a, sides = about.offered, []

    def each(values: Any) -> list[Any]:
        return [few(column) for column in values.T[:a]]

    if about.further is not None and len(about.further.levels):
        tests = about.further.v_tests
        sides.append({"kind": "levels", "what": "category that took no part", "names": about.further.levels,
                      "xy": each(about.further.places), "v": None if tests is None else each(tests)})  # fmt: skip
    if about.further_rows is not None:
        sides.append({"kind": "rows", "what": "row that took no part", "names": about.further_rows.names,
                      "xy": each(about.further_rows.places), "v": None})  # fmt: skip
    return sides


def _further_table(about: Context) -> Html | None:
    axes, rows = min(about.offered, 3), []
    if about.further is not None:
        tests = about.further.v_tests
        for j, name in enumerate(about.further.levels):
            cells = [text for i in range(axes) for text in (number(about.further.places[j, i], 3),
                     "–" if tests is None else number(tests[j, i], 3))]  # fmt: skip
            rows.append((bdi(name, 40), "category", *cells))
    if about.further_rows is not None:
        seen = about.further_rows.cos2
        for j, name in enumerate(about.further_rows.names):
            cells = [text for i in range(axes) for text in (number(about.further_rows.places[j, i], 3),
                     "–" if seen is None else number(seen[j, i], 2))]  # fmt: skip
            rows.append((bdi(name, 40), "row", *cells))
    if not rows:
        return None
    head = ("took no part", "what", *[text for i in range(axes) for text in (about.axes[i], "v-test or cos²")])
    caption = "Coordinates; v-tests of categories, cos² of rows"
    return details("What took no part, as a table", table(head, rows, caption, words=2))


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


def _groups_words(about: Context) -> Html | None:
    """How well the kinds of the first column that took no part are told apart."""
    columns = set() if about.rows is None else {name for name, _ in about.rows.columns(about.part)}
    for one in about.colours:
        if about.uses(one.name) and about.color is None:
            continue
        parts = one.between(about.scores)
        if parts is None or not np.isfinite(parts).any():
            continue
        best = int(np.nanargmax(parts))
        own = ", a column that the axes are made of," if one.name in columns and about.uses(one.name) else ""
        along = f"{own} differ most along {about.axes[best]}: "
        return join(f"The {len(one.kinds)} kinds of ", bdi(one.name, 40), along,
                    f"{percent(parts[best])} of its variance lies between them.")  # fmt: skip
    return None


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
