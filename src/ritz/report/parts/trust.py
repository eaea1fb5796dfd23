"""How far to trust a map: neighbours kept, beside chance and PCA; ranks, distances, dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.data.words import counted
from ritz.insight.embedding.quality import by_chance
from ritz.report.context import Context
from ritz.report.html import Html, details, figure, join, number, table, tag
from ritz.report.map_trust import MapTrust
from ritz.report.map_words import bends_words, dimension_words
from ritz.report.pack import few
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Measures of the curves, and what they are called.
MEASURES = {
    "lcmc": ("LCMC", "neighbours kept beyond chance"),
    "trustworthiness": ("trustworthiness", "near ones on the map belong there"),
    "continuity": ("continuity", "near ones stayed near"),
}


def _applies(about: Context) -> bool:
    return about.maps and about.trust is not None


def _build(about: Context) -> Content:
    trust = about.trust
    if trust is None:  # applies() has looked
        return Content(Html(""))
    words = [_figures(trust), bends_words(trust), _sampled(trust)]
    lead = [tag("p", word) for word in words if word]
    label = "Curves over the number of neighbours: what the map keeps, what PCA keeps, what chance would keep"
    both = tag("div", _ranks(trust), _pairs(trust), class_="pair")
    body = join(lead, figure("trust", label), _table(trust), both, _dimension(trust))
    return Content(body, _drawn(trust))


def _figures(trust: MapTrust) -> str:
    q, chance = trust.spoken, by_chance(trust.n, trust.k)
    return (
        f"At {counted(q.k, 'neighbour')} the trustworthiness is {number(q.trustworthiness, 3)} and the continuity "
        f"{number(q.continuity, 3)}; 1 is perfect, and rows placed at random have "
        f"{number(float(chance['trustworthiness']), 2)}."
    )


def _sampled(trust: MapTrust) -> str:
    q = trust.quality
    if len(q.rows) == q.n:
        return ""
    errors = q.standard_errors or {}
    sure = max(errors.get("trustworthiness", 0.0), errors.get("continuity", 0.0), errors.get("overlap", 0.0))
    return (
        f"Measured at {len(q.rows):,} of {q.n:,} rows, drawn at random, each against all others; standard errors are "
        f"{number(sure, 1)} or less."
    )


def _drawn(trust: MapTrust) -> dict[str, Any]:
    q, plain = trust.quality, trust.plain
    sizes = q.curve["k"]
    chance = by_chance(q.n, sizes)
    cells, _ = trust.ranks
    pairs = trust.pairs
    return {
        "k": few(sizes),
        "measures": [{"name": name, "key": key, "says": says} for key, (name, says) in MEASURES.items()],
        "map": {key: few(q.curve[key]) for key in MEASURES},
        "plain": None if plain is None else {key: few(plain.curve[key]) for key in MEASURES},
        "chance": {key: few(chance[key]) for key in MEASURES},
        "name": trust.about.known.about.title,
        "plainName": "PCA" if trust.about.columns else "classical scaling",
        "ranks": {"side": len(cells), "values": few(np.log2(np.maximum(cells, 2.0**-6)).ravel(), 3)},
        "pairs": [few(pairs.before, 4), few(pairs.after, 4)],
    }


def _table(trust: MapTrust) -> Html:
    q, plain, chance = trust.spoken, trust.plain_spoken, by_chance(trust.n, trust.k)
    lines = []
    for key, name in (("trustworthiness", "trustworthiness"), ("continuity", "continuity"), ("overlap", "overlap"),
                      ("lcmc", "LCMC")):  # fmt: skip
        error = None if q.standard_errors is None else q.standard_errors.get(key)
        value = number(getattr(q, key), 4) + (f" ± {number(error, 1)}" if error is not None else "")
        other = "–" if plain is None else number(getattr(plain, key), 4)
        lines.append((name, value, other, number(float(chance[key]), 3)))
    lines.append(("Shepard correlation", number(q.shepard, 4), "–" if plain is None else number(plain.shepard, 4), "0"))
    if q.procrustes is not None:
        other = "–" if plain is None or plain.procrustes is None else number(plain.procrustes, 4)
        lines.append(("not explained (Procrustes)", number(q.procrustes, 4), other, "1"))
    head = ("", "this map", "PCA" if trust.about.columns else "classical scaling", "by chance")
    return details(
        f"Figures at {counted(q.k, 'neighbour')}", table(head, lines, f"{counted(q.k, 'neighbour')}, exact ranks")
    )


def _ranks(trust: MapTrust) -> Html:
    _, rows = trust.ranks
    some = "" if rows == trust.n else f" Seen from {rows:,} rows, drawn at random."
    note = (
        "How often the r-th neighbour among the rows (down) became the s-th on the map (across): blue less, red more "
        "often than chance. All on the diagonal would be perfect; above it neighbours are missing, below "
        f"it they are false.{some}"
    )
    return tag("div", tag("h3", "Ranks"), figure("trust-ranks", note), tag("p", note, class_="note"))


def _pairs(trust: MapTrust) -> Html:
    pairs = trust.pairs
    sure = f" ± {number(pairs.error, 1)}" if pairs.error else ""
    along = _geodesic(trust)
    note = (
        f"Distances of {len(pairs.before):,} pairs of rows, and of the same pairs on the map: correlation "
        f"{_two(pairs.correlation)}{sure}, of ranks {_two(pairs.rank_correlation)}.{along}"
    )
    return tag("div", tag("h3", "Distances"), figure("trust-pairs", note), tag("p", note, class_="note"))


def _two(correlation: float) -> str:
    """Two places, so that correlations side by side are alike; a dash for what is not known."""
    return f"{correlation:.2f}".replace("-", "−") if np.isfinite(correlation) else "–"


def _geodesic(trust: MapTrust) -> str:
    if trust.about.known.about.short == "mds":
        return ""
    return " The method does not try to keep these distances."


def _dimension(trust: MapTrust) -> Html | None:
    found = trust.dimension
    if found is None:
        return None
    head = ("estimate", "how", "dimensions", "95 % interval")
    lines = [
        (name, how, number(one.dimension, 3), f"{number(one.low, 3)} to {number(one.high, 3)}")
        for name, how, one in (
            ("TwoNN", "two neighbours", found.twonn), ("maximum likelihood", f"{found.k} neighbours", found.mle),
            ("correlation", "pairs within two radii", found.correlation),
        )
    ]  # fmt: skip
    copies = f"; {found.copies:,} copies left out" if found.copies else ""
    caption = f"{found.n:,} rows{copies}. Intervals are of sampling alone: curvature and edges move estimates, too."
    words = tag("p", dimension_words(trust))
    return join(tag("h3", "Dimensions"), words, details("The estimates", table(head, lines, caption, words=2)))


PART = Part("trust", "How far to trust the map", _applies, _build)
