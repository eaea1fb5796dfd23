"""How many neighbours: which numbers connect all rows, and what each does to the map, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.insight.embedding.procrustes import procrustes
from ritz.report.context import Context
from ritz.report.html import Html, details, figure, join, number, table, tag
from ritz.report.map_trust import MapTrust
from ritz.report.pack import exact
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Rows drawn in a small map.
DRAWN = 700
#: Neighbours in a hundred that two maps must differ by for one of them to be called better.
BETTER = 0.02


def _applies(about: Context) -> bool:
    return about.maps and about.trust is not None and about.trust.neighbours is not None


def _build(about: Context) -> Content:
    trust = about.trust
    sizes = None if trust is None else trust.sizes
    if trust is None or sizes is None:
        return Content(Html(""))
    lead = tag("p", _words(trust, sizes))
    maps = _maps(trust)
    chart = figure("choices", "Maps with other numbers of neighbours, side by side") if maps else None
    note = tag("p", "Each map is turned onto the one of this report, and shows the same rows.", class_="note")
    drawn = {"maps": maps, "own": trust.neighbours}
    return Content(join(lead, chart, note if maps else None, _table(trust, sizes)), drawn if maps else None)


def _words(trust: MapTrust, sizes: Any) -> str:
    k, least = trust.neighbours, sizes.connects_k
    some = f" (found among {sizes_rows(trust):,} rows drawn at random)" if sizes_rows(trust) < trust.n else ""
    if least is None:
        words = f"No number of neighbours up to 512 joins all rows{some}; {k} were taken."
    elif k is not None and least > k:
        words = f"{least} neighbours or more join all rows into one graph{some}; the {k} that were taken do not."
    else:
        join_all = "neighbour joins" if least == 1 else "neighbours or more join"
        words = f"{least} {join_all} all rows into one graph{some}; {k} were taken."
    return f"{words} {_quality_words(trust, sizes)}".strip()


def sizes_rows(trust: MapTrust) -> int:
    """Rows that numbers of neighbours were tried on."""
    some = trust.some_rows if not trust.maps else trust.rows
    return int(some.shape[0] if hasattr(some, "shape") else len(some))


def _quality_words(trust: MapTrust, sizes: Any) -> str:
    if not sizes.qualities:
        return ""
    kept, tried = sizes.table["lcmc"], sizes.table["k"].astype(int)
    own = np.flatnonzero(tried == trust.neighbours)
    best = int(np.argmax(kept))
    if not len(own):
        return ""
    mine = float(kept[own[0]])
    if kept[best] - mine <= BETTER:
        return "No other number that was tried keeps clearly more neighbours."
    return (
        f"A graph of {tried[best]} keeps more: {number(trust.k * kept[best], 2)} of {trust.k} neighbours beyond "
        f"chance, where that of {trust.neighbours} keeps {number(trust.k * mine, 2)}."
    )


def _maps(trust: MapTrust) -> list[dict[str, Any]]:
    """Coordinates of some rows on each map, turned onto the map of the report."""
    if trust.p < 2 or not trust.maps:
        return []
    rows = np.arange(trust.n)
    if trust.n > DRAWN:
        rows = np.sort(np.random.default_rng(0).choice(trust.n, DRAWN, replace=False))
    made = []
    for k, Y in sorted(trust.maps.items()):
        there = np.isfinite(Y).all(axis=1)
        if there.sum() < trust.p + 2:
            made.append({"k": k, "x": [], "y": [], "lcmc": None})
            continue
        turned = np.full(Y.shape, np.nan)
        turned[there] = procrustes(trust.Y[there], Y[there]).fitted[:, : trust.p]
        place = list(trust.sizes.table["k"].astype(int)).index(k) if trust.sizes is not None else 0
        kept = float(trust.sizes.table["lcmc"][place]) if trust.sizes is not None else None
        made.append({"k": k, "x": exact(turned[rows, 0]), "y": exact(turned[rows, 1]), "lcmc": kept})
    ranked = np.argsort(np.argsort(trust.Y[rows, 0])) / max(1, len(rows) - 1)
    return [{**one, "shade": exact(ranked)} for one in made]


def _table(trust: MapTrust, sizes: Any) -> Html:
    names = {"k": "neighbours", "components": "components", "largest": "rows in the largest", "mutual": "both ways",
             "radius": "median radius", "dimension": "dimensions", "trustworthiness": "trustworthiness",
             "continuity": "continuity", "lcmc": "LCMC"}  # fmt: skip
    heads = [name for name in names if name in sizes.table]
    lines = [
        tuple(number(float(sizes.table[name][i]), 3) for name in heads) for i in range(len(sizes.table["k"]))
    ]  # fmt: skip
    caption = f"Graphs, and maps measured at {trust.k} neighbours" if sizes.qualities else "Graphs of neighbours"
    return details("Numbers of neighbours side by side", table([names[name] for name in heads], lines, caption))


PART = Part("choices", "How many neighbours", _applies, _build)
