"""Would other rows give the same components? Rows are drawn again with replacement and decomposed again.

bootstrap    intervals of the shares, and angles between a component and those of the draws    PCA, SVD, CA, MCA
maps         maps of some of the rows laid on the map of all; neighbours of rows drawn again       maps of rows
subspaces    the rule ``stability``: how well the span of the first k is found again           other methods
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.insight.bootstrap.bootstrap import bootstrap
from ritz.report.context import Context
from ritz.report.findings import DRAW, WIDE, same_rows
from ritz.report.html import details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.parts.steady import of_maps
from ritz.report.row_words import draw_words, span_words

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
        draws = _resampled(about, k)
    k = min(k, len(draws.angles))
    low, high = (np.asarray(getattr(draws.shares, side), np.float64)[:k] for side in ("low", "high"))
    angles = np.asarray(draws.angles, np.float64)[:k]
    drawn = {
        "axes": about.axes[:k],
        "shares": [few(about.shares[:k]), few(low), few(high)],
        "angles": [few(angles[:, 0]), few(angles[:, 1])],
        "apart": np.asarray(draws.separated, bool)[:k].tolist(),
        "whole": about.whole,
    }
    words = draw_words(about, draws, angles, DRAWS)
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


def _resampled(about: Context, k: int) -> Any:
    """A bootstrap of k components, or of as many as draws of few rows can tell."""
    try:
        return bootstrap(about.model, about.table, DRAWS, n_components=k)
    except ParameterError:
        return bootstrap(about.model, about.table, DRAWS)


# subspaces


def _spans(about: Context) -> Content:
    one = about.ranks["stability"]
    k, value = np.asarray(one.curve.k), np.asarray(one.curve.value)
    line = float(np.asarray(one.curve.threshold)[0]) if one.curve.threshold is not None else None
    drawn = {"k": few(k), "value": few(value), "line": line}
    words = span_words(about, k, value, line)
    note = (
        "1: the same space every time; 0: no direction in common. The measure is the mean cos² of the worst direction."
    )
    rows = [(f"{int(a)}", number(b, 3)) for a, b in zip(k, value, strict=True)]
    below = details(
        "Stability as a table", table(("components", "mean cos²"), rows, "How well subspaces are found again")
    )
    return Content(join(tag("p", words), figure("stability", words), tag("p", note, class_="note"), below), drawn)


PART = Part("stability", "Stability", _applies, _build)
