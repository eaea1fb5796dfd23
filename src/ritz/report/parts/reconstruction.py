"""What is lost with k components: the share left over, and, where it was measured, the error of entries held out.

left over(k) = 1 − Σ_{i≤k} share_i          held out: cross-validation of the rules ``kfold`` or ``bcv``
"""

from __future__ import annotations

import numpy as np

from ritz.report.context import Context
from ritz.report.html import details, figure, join, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Components on the chart.
SHOWN = 60
#: A share left over that is rounding: all components together hold the whole.
NOTHING = 1e-9
HELD = {"kfold": "entries that were hidden", "bcv": "blocks that were held out"}


def _applies(about: Context) -> bool:
    return about.k > 1 and not about.texts and about.known.space != "embedding" and bool(np.sum(about.shares) > 0)


def _build(about: Context) -> Content:
    left = np.maximum(1 - np.concatenate([[0.0], np.cumsum(about.shares[:SHOWN])]), 0.0)
    held_out = None
    for name, words in HELD.items():
        if about.ranks is not None and name in about.ranks and about.ranks[name].k is not None:
            curve = about.ranks[name].curve
            held_out = {"k": few(curve.k), "value": few(curve.value), "words": words, "best": about.ranks[name].k}
            break
    drawn = {"k": list(range(len(left))), "value": few(left), "held": held_out, "whole": about.whole}
    last = len(left) - 1
    rest = percent(left[-1]) if left[-1] > NOTHING else "nothing"
    words = f"With {about.components(last)} {rest} of the {about.whole} is left over."
    if held_out is not None:
        words += f" {held_out['words'].capitalize()} are predicted best with {about.components(int(held_out['best']))}."
    rows = [(f"{k}", percent(value)) for k, value in enumerate(left)]
    below = details(
        "Error as a table", table(("components", "left over"), rows, f"Share of the {about.whole} left over")
    )
    return Content(join(tag("p", words), figure("reconstruction", words), below), drawn)


PART = Part("reconstruction", "What is lost", _applies, _build)
