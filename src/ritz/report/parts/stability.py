"""Would other rows give the same components? Rows are drawn again with replacement and decomposed again.

bootstrap    intervals of the shares, and angles between a component and those of the draws    PCA, SVD, CA, MCA
maps         maps of some of the rows laid on the map of all; neighbours of rows drawn again       maps of rows
subspaces    the rule ``stability``: how well the span of the first k is found again           other methods
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.insight.bootstrap.bootstrap import bootstrap
from ritz.report.context import Context
from ritz.report.findings import DRAW, NOTHING, WIDE, same_rows
from ritz.report.html import Html, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.parts.steady import of_maps

__all__ = ["PART"]

#: Draws, and components that are looked at.
DRAWS, AXES = 200, 10


def _applies(about: Context) -> bool:
    if about.maps:
        return about.trust is not None and about.trust.steady is not None
    return about.k > 0 and not about.texts and (_drawable(about) or _spanned(about))


def _drawable(about: Context) -> bool:
    """Whether rows can be drawn again, and the draws be afforded."""
    drawn = about.known.resamples is not None and about.known.stands_on_rows
    possible = drawn and getattr(about.model, "missing", "error") == "error"
    small = float(about.n) * max(1, len(about.columns)) <= DRAW and min(about.n, len(about.columns)) <= WIDE
    return possible and small and same_rows(about) and about.n >= 5 and not about.sampled


def _spanned(about: Context) -> bool:
    ranks = about.ranks
    asked = ranks is not None and "stability" in ranks and ranks["stability"].k is not None
    return asked and len(ranks["stability"].curve.k) > 0


def _build(about: Context) -> Content:
    if about.maps:
        return of_maps(about)
    return _drawn(about) if _drawable(about) else _spans(about)


# intervals and angles


def _drawn(about: Context) -> Content:
    k = min(about.k, AXES)
    with np.errstate(over="ignore", invalid="ignore"):  # errors of variances are fourth powers; shares need none
        draws = bootstrap(about.model, about.table, DRAWS, n_components=k)
    low, high = (np.asarray(getattr(draws.shares, side), np.float64)[:k] for side in ("low", "high"))
    angles = np.asarray(draws.angles, np.float64)[:k]
    drawn = {
        "axes": about.axes[:k],
        "shares": [few(about.shares[:k]), few(low), few(high)],
        "angles": [few(angles[:, 0]), few(angles[:, 1])],
        "apart": np.asarray(draws.separated, bool)[:k].tolist(),
        "whole": about.whole,
    }
    words = _draw_words(about, draws, angles)
    what = "counts" if about.known.resamples == "counts" else "rows"
    note = (
        f"Left: the share of each {about.component} with its 95\u00a0% interval. Right: the angle between it and that "
        f"of {what} drawn again, from the median to what 95\u00a0% of the draws stay below; hollow where it is known "
        "only together with its neighbours: the angle is then that of their space."
    )
    rows = [
        (about.axes[i], percent(about.shares[i]), f"{percent(low[i])} to {percent(high[i])}",
         f"{number(angles[i, 0], 2)}°", f"{number(angles[i, 1], 2)}°")
        for i in range(k)
    ]  # fmt: skip
    head = (about.component, "share", "95 % interval", "angle, median", "angle, 95 %")
    below = details("Stability as a table", table(head, rows, f"{DRAWS} draws of the {what}"))
    body = join(tag("p", words), figure("stability", words), tag("p", note, class_="note"), below)
    return Content(body, drawn)


def _draw_words(about: Context, draws: Any, angles: Any) -> str:
    """Which components stand by themselves; an angle is that of the group where a component has no own."""
    alone = [
        about.axes[i] for group in draws.groups if group.separated for i in group.components
        if i < about.k and about.shares[i] > NOTHING
    ]  # fmt: skip
    first = next(group for group in draws.groups if 0 in group.components)
    last = min(max(first.components), about.k - 1)
    who = about.axes[0] if last == 0 else f"The space of {about.axes[0]} to {about.axes[last]}"
    turn = f"{who} turns by {number(angles[0, 0], 2)}° or less in half of {DRAWS} draws"
    if len(alone) == min(about.k, AXES):
        return f"{turn}. Every {about.component} shown means something by itself."
    if not alone and len(draws.groups) == 1:
        return f"{turn}. {_together(about, first.open)}"
    if not alone:
        return f"{turn}. No {about.component} means something by itself: only groups of them are found again."
    alone_words = "means something by itself" if len(alone) == 1 else "mean something by themselves"
    return f"{turn}. {_list(alone)} {alone_words}; the others turn into each other."


def _together(about: Context, is_open: bool) -> str:
    """Of components that are one group: nothing tells one of them from another, and maybe not from the next either."""
    if about.k == 1:
        return f"{about.axes[0]} cannot be told from the next {about.component}, which was left out."
    beyond = ", nor from those that were left out" if is_open else ""
    return (
        f"No {about.component} means something by itself: the {about.components(about.k)} cannot be told from each "
        f"other{beyond}."
    )


# subspaces


def _spans(about: Context) -> Content:
    one = about.ranks["stability"]
    k, value = np.asarray(one.curve.k), np.asarray(one.curve.value)
    line = float(np.asarray(one.curve.threshold)[0]) if one.curve.threshold is not None else None
    drawn = {"k": few(k), "value": few(value), "line": line}
    words = _span_words(about, k, value, line)
    note = (
        "1: the same space every time; 0: no direction in common. The measure is the mean cos² of the worst direction."
    )
    rows = [(f"{int(a)}", number(b, 3)) for a, b in zip(k, value, strict=True)]
    below = details(
        "Stability as a table", table(("components", "mean cos²"), rows, "How well subspaces are found again")
    )
    return Content(join(tag("p", words), figure("stability", words), tag("p", note, class_="note"), below), drawn)


def _span_words(about: Context, k: Any, value: Any, line: float | None) -> Html:
    kept = about.ranks["stability"].k
    if kept == 0:
        first = f" (mean cos² {number(value[0], 2)})" if len(value) and k[0] == 1 else ""
        return join(f"Drawn again 50 times, the rows do not give the same first {about.component} again{first}.")
    span = "spans" if kept == 1 else "span"
    words = f"Drawn again 50 times, the first {about.components(kept)} {span} nearly the same space."
    weak = k[(value < line) & (k < kept)] if line is not None else k[:0]
    if len(weak):
        turning = f"those of nearly equal {about.whole} turn into each other"
        words += f" The first {_list([str(int(one)) for one in weak], 'or')} alone do not: {turning}."
    return join(words)


def _list(words: list[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" {last} " + words[-1]


PART = Part("stability", "Stability", _applies, _build)
