"""Would other rows give the same map? What the part on stability says of maps."""

from __future__ import annotations

import numpy as np

from ritz.data.words import counted
from ritz.report.context import Context
from ritz.report.html import Html, bdi, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content

__all__ = ["of_maps"]

#: Share of a map that is not found again up to which it is called steady, and from which on it is another every time.
STEADY, OTHER = 0.05, 0.5
#: Rows in the table.
SHOWN = 10


def of_maps(about: Context) -> Content:
    """Maps of four fifths of the rows, laid on the map of all of them."""
    trust = about.trust
    steady = None if trust is None else trust.steady
    if trust is None or steady is None:
        return Content(Html(""))
    found = trust.found
    first = (
        f"{len(steady.shares)} maps of {steady.drawn:,} of the {trust.n:,} rows, laid on the map of all: "
        f"{percent(steady.share)} of it is not found again (nine in ten draws between {percent(steady.low)} and "
        f"{percent(steady.high)}; {percent(steady.chance)} by chance)."
    )
    words = [first, _verdict(steady.share, steady.high), _neighbours(found), _broken(steady)]
    drawn = {"maps": few(steady.shares), "chance": steady.chance, "median": steady.share}
    note = (
        "One dot for each map of some of the rows: 0 is the same picture, 100\u00a0% nothing in common. Turning, "
        "mirroring and stretching do not count."
    )
    body = join([tag("p", word) for word in words if word], figure("stability", first), tag("p", note, class_="note"),
                _table(about))  # fmt: skip
    return Content(body, drawn)


def _verdict(share: float, high: float) -> str:
    if high <= STEADY:
        return "The map is steady: other rows of this kind would give the same picture."
    if share >= OTHER:
        return "Another map comes out every time: its shape is an accident of these rows."
    if share > STEADY:
        return "The main lines come again, the details do not."
    return ""


def _neighbours(found: object) -> str:
    if found is None:
        return ""
    k, overlap, chance = found.k, found.overlap, found.chance  # type: ignore[attr-defined]
    low, high = found.low, found.high  # type: ignore[attr-defined]
    if k == 1:
        return (
            f"Drawn again with replacement, {percent(overlap)} of the rows keep their nearest neighbour on the map "
            f"(nine in ten draws between {percent(low)} and {percent(high)}; {percent(chance)} by chance)."
        )
    return (
        f"Drawn again with replacement, {number(k * overlap, 2)} of the {k} neighbours of a row on the map are its "
        f"neighbours again (nine in ten draws between {number(k * low, 2)} and {number(k * high, 2)}; "
        f"{number(k * chance, 2)} by chance)."
    )


def _broken(steady: object) -> str:
    broken, failed = steady.broken, steady.failed  # type: ignore[attr-defined]
    words = []
    if broken:
        words.append(f"In {counted(broken, 'draw')} the graph fell into more components.")
    if failed:
        words.append(f"{counted(failed, 'draw')} could not be fitted: {steady.why}.")  # type: ignore[attr-defined]
    return " ".join(words)


def _table(about: Context) -> Html | None:
    trust = about.trust
    if trust is None or trust.steady is None:
        return None
    moved = trust.steady.rows_moved
    seen = np.flatnonzero(np.isfinite(moved))
    order = seen[np.argsort(-moved[seen], kind="stable")[:SHOWN]]
    lines = []
    for i in order.tolist():
        place = int(np.searchsorted(about.index, trust.there[i]))
        there = place < len(about.index) and about.index[place] == trust.there[i]
        lines.append((bdi(about.row_name(place) if there else f"row {trust.there[i]:,}", 40), number(moved[i], 2)))
    caption = f"The {len(lines)} rows that move most, in sizes of the map; the median row moves by "
    caption += number(float(np.median(moved[seen])), 2)
    return details("Rows that move most", table(("row", "moves by"), lines, caption))
