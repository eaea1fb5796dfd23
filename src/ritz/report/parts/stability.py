"""Would other rows give the same components? Subspaces found again when rows are drawn with replacement."""

from __future__ import annotations

import numpy as np

from ritz.report.context import Context
from ritz.report.html import details, figure, join, number, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part

__all__ = ["PART"]


def _applies(about: Context) -> bool:
    ranks = about.ranks
    return ranks is not None and "stability" in ranks and ranks["stability"].k is not None and (
        len(ranks["stability"].curve.k) > 0)  # fmt: skip


def _build(about: Context) -> Content:
    one = about.ranks["stability"]
    k, value = np.asarray(one.curve.k), np.asarray(one.curve.value)
    line = float(np.asarray(one.curve.threshold)[0]) if one.curve.threshold is not None else None
    drawn = {"k": few(k), "value": few(value), "line": line}
    weak = k[value < line] if line is not None else k[:0]
    span = "spans" if one.k == 1 else "span"
    words = f"Drawn again 50 times, the first {about.components(one.k)} {span} nearly the same space."
    if one.k == 0:
        words = "Drawn again 50 times, the rows give another first component each time."
    if len(weak) and one.k > weak[0]:
        turning = "components of nearly equal variance turn into each other"
        words += f" {_list(weak[weak < one.k])} of them alone would not: {turning}."
    note = (
        "1: the same space every time; 0: no direction in common. The measure is the mean cos² of the worst direction."
    )
    rows = [(f"{int(a)}", number(b, 3)) for a, b in zip(k, value, strict=True)]
    below = details(
        "Stability as a table", table(("components", "mean cos²"), rows, "How well subspaces are found again")
    )
    return Content(join(tag("p", words), figure("stability", words), tag("p", note, class_="note"), below), drawn)


def _list(values: np.ndarray) -> str:
    words = [str(int(value)) for value in values]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


PART = Part("stability", "Stability", _applies, _build)
