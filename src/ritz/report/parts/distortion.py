"""Which rows have false or missing neighbours: the map, coloured by what happened to each neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.data.words import counted
from ritz.report.context import Context
from ritz.report.html import Html, bdi, details, figure, join, number, percent, table, tag
from ritz.report.map_trust import MapTrust
from ritz.report.pack import shade
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Rows in the table.
SHOWN = 12


def _applies(about: Context) -> bool:
    return about.maps and about.k > 1 and about.trust is not None


def _build(about: Context) -> Content:
    trust = about.trust
    if trust is None:  # applies() has looked
        return Content(Html(""))
    measures = _measures(about, trust)
    label = "The map, each row coloured by what became of its neighbourhood"
    lead = tag("p", _words(trust))
    drawn = {"measures": [{"name": name, "note": note, "values": shade(values)} for name, note, values in measures]}
    return Content(join(lead, figure("distortion", label, tall="tall"), _table(about, trust)), drawn)


def _measures(about: Context, trust: MapTrust) -> list[tuple[str, str, Any]]:
    """What rows can be coloured by, one value for each row that is shown."""
    q = trust.spoken
    measured = trust.there[q.rows]
    every = [
        ("false neighbours", "rows near it on the map that are not near it in the data", 1 - q.rows_trustworthiness),
        ("missing neighbours", "rows near it in the data that are not near it on the map", 1 - q.rows_continuity),
        ("neighbours kept", "share of its nearest rows that are its nearest on the map", q.rows_overlap),
        ("stretch", "log₂ of how much larger than elsewhere its neighbourhood is drawn",
         np.log2(np.maximum(q.rows_stretch, 2.0**-10))),
    ]  # fmt: skip
    shown = [(name, note, _shown(about, measured, values)) for name, note, values in every]
    if trust.steady is not None:
        moved = _shown(about, trust.there, trust.steady.rows_moved)
        shown.append(("unsteady", "how far it moves on maps of other rows, in sizes of the map", moved))
    return shown


def _shown(about: Context, rows: Any, values: Any) -> Any:
    """Values of the rows that are shown; NaN where a row was not measured."""
    whole = np.full(about.n, np.nan)
    whole[rows] = values
    return whole[about.index]


def _words(trust: MapTrust) -> str:
    q = trust.spoken
    false, missing = 1 - q.rows_trustworthiness, 1 - q.rows_continuity
    some = "" if len(q.rows) == q.n else f" of the {len(q.rows):,} rows measured"
    free = float(np.mean((false == 0) & (missing == 0)))
    worst = np.sort(false + missing)[::-1]
    total, tenth = float(worst.sum()), max(1, len(worst) // 10)
    if not total > 0:
        return f"No row{some} has a missing or a false neighbour among its {q.k} nearest."
    share = float(worst[:tenth].sum()) / total
    many = f"{percent(free)} of the rows{some} keep" if free > 0 else f"No row{some} keeps"
    near = "the nearest neighbour" if q.k == 1 else f"all of {q.k} nearest neighbours"
    return (
        f"{many} {near} and {'get' if free > 0 else 'gets'} no false one. The worst tenth of the rows has "
        f"{percent(share)} of all missing and false neighbours, weighed by how far they are out of place."
    )


def _table(about: Context, trust: MapTrust) -> Html:
    q = trust.spoken
    bad = 2 - q.rows_trustworthiness - q.rows_continuity
    order = np.argsort(-bad, kind="stable")[:SHOWN]
    lines = []
    for i in order.tolist():
        row = int(trust.there[q.rows[i]])
        place = int(np.searchsorted(about.index, row))
        there = place < len(about.index) and int(about.index[place]) == row
        name = about.row_name(place) if there else f"row {row:,}"
        lines.append((bdi(name, 40), number(1 - q.rows_trustworthiness[i], 2), number(1 - q.rows_continuity[i], 2),
                      f"{round(q.k * q.rows_overlap[i])} of {q.k}", number(q.rows_stretch[i], 2)))  # fmt: skip
    head = ("row", "false neighbours", "missing neighbours", "neighbours kept", "stretch")
    caption = f"{len(lines)} rows whose neighbourhoods suffer most, by {counted(q.k, 'neighbour')}"
    return details("The rows least to be trusted", table(head, lines, caption))


PART = Part("distortion", "Where the map has false and missing neighbours", _applies, _build)
