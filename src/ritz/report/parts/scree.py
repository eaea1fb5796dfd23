"""How many components: shares, what noise would reach, and every rule with its answer and its weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.report.context import Context
from ritz.report.html import Html, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.text_words import chance_words
from ritz.report.words import numbers_of, scree_words

__all__ = ["PART"]

#: Components on the scree plot.
SHOWN = 30


def _applies(about: Context) -> bool:
    return about.k > 0 and about.known.tells_shares and (about.known.certified or not about.maps)


def _build(about: Context) -> Content:
    ranks = about.ranks
    shares, noise = _spectrum(about)
    rules = [] if ranks is None else [
        {"name": name, "k": ranks[name].k, "weight": round(ranks[name].weight, 4), "why": ranks[name].why}
        for name in ranks if ranks[name].k is not None and ranks[name].group != "budget"
    ]  # fmt: skip
    drawn = {
        "shares": few(shares),
        "kept": about.k,
        "axes": [about.axes[i] if i < about.k else str(i + 1) for i in range(len(shares))],
        "whole": "sizes of all eigenvalues" if about.whole == "Σ|λ|" else about.whole,
        "noise": None if noise is None else few(noise),
        "rules": sorted(rules, key=lambda rule: (rule["k"], rule["name"])),
        "consensus": None if ranks is None or not rules else ranks.consensus,
    }
    if about.texts:
        return _of_texts(about, drawn)
    words = scree_words(about)
    lead = [tag("p", word) for word in words]
    return Content(join(lead, figure("scree", " ".join(words)), _tables(about, drawn)), drawn)


def _of_texts(about: Context, drawn: dict[str, Any]) -> Content:
    """Topics against those of random documents."""
    words = chance_words(about)
    chance = about.chance
    if chance is not None and not chance.sampled:
        drawn["noise"] = [chance.bound**2 / (float(about.model.total_) or 1.0)] * len(drawn["shares"])
    lead = [tag("p", word) for word in words]
    body = join(lead, figure("scree", " ".join(words)), _tables(about, drawn))
    return Content(body, drawn, "How many topics")


def _spectrum(about: Context) -> tuple[np.ndarray, np.ndarray | None]:
    """Shares of all components that are known, and what noise reaches."""
    ranks, shares = about.ranks, about.shares
    if ranks is None or "parallel" not in ranks or ranks["parallel"].k is None:
        return shares[:SHOWN], None
    curve = ranks["parallel"].curve
    k, value, line = (np.asarray(x) if x is not None else None for x in (curve.k, curve.value, curve.threshold))
    if k is None or value is None or line is None or len(k) == 0 or k[0] != 1:
        return shares[:SHOWN], None
    if len(value) > len(shares) and np.allclose(value[: len(shares)], shares, rtol=1e-3, atol=1e-6):
        shares = value
    return shares[:SHOWN], line[: min(len(line), len(shares), SHOWN)]


def _tables(about: Context, drawn: dict[str, Any]) -> Html:
    sums = np.cumsum([share or 0.0 for share in drawn["shares"]])
    noise = drawn["noise"] or []
    rows = [
        (name, percent(share), percent(sums[i]), percent(noise[i]) if i < len(noise) else "–")
        for i, (name, share) in enumerate(zip(drawn["axes"], drawn["shares"], strict=True))
    ]
    shares = details("Shares as a table", table((about.component, "share", "cumulated", "noise"), rows, "Shares"))
    shares = join(shares, _rates(about))
    if about.ranks is None:
        return shares
    lines = []
    for name in about.ranks:
        one = about.ranks[name]
        why = join(one.why, tag("br") if one.caution else "", tag("small", one.caution) if one.caution else "")
        lines.append((name, why, "–" if one.k is None else f"{one.k}", number(one.weight, 2) if one.weight else "–"))
    rules = table(("rule", "why", "k", "weight"), lines, "Rules for the number of components", words=2)
    return join(shares, details("What every rule says, and when not to believe it",
                                tag("ul", [tag("li", reason) for reason in about.ranks.reasons]), rules))  # fmt: skip


def _rates(about: Context) -> Html | None:
    """Benzécri's and Greenacre's rates of an MCA, whose own shares are too small."""
    if about.known.about.takes != "categories":
        return None
    if not all(hasattr(about.model, name) for name in ("benzecri_", "greenacre_")):  # one variable has no pairs
        return None
    benzecri, greenacre = (numbers_of(getattr(about.model, name)) for name in ("benzecri_", "greenacre_"))
    lines = [
        (about.axes[i], percent(about.shares[i]), number(benzecri[i, 0], 4), percent(benzecri[i, 1] / 100),
         percent(greenacre[i, 1] / 100))
        for i in range(min(len(benzecri), len(greenacre), about.k))
    ]  # fmt: skip
    if not lines:
        return None
    note = tag("p", "Shares of an MCA are too small, because much of its inertia is each variable with itself. The "
               "corrected inertias count what pairs of variables have in common: Benzécri's rates are shares of their "
               "sum, Greenacre's of all that pairs of different variables hold.", class_="note")  # fmt: skip
    head = (about.component, "share", "corrected inertia", "Benzécri", "Greenacre")
    return details("Benzécri's and Greenacre's rates", note, table(head, lines, "Corrected inertias and rates"))


PART = Part("scree", "How many components", _applies, _build)
