"""The small version for notebooks: what the model holds, in one table and a few words, without script or style sheet.

card(model)  →  HTML for ``model._repr_html_``; without rows, so it says what the model alone can tell
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.report.context import Context
from ritz.report.html import Html, join, number, percent, tag
from ritz.report.map_words import map_sentences
from ritz.report.words import axis_words, much

__all__ = ["card"]

#: Components in the table.
SHOWN = 6
FRAME = (
    "font:14px/1.5 system-ui,sans-serif;max-width:46em;border-left:3px solid #0072B2;padding:.2em 0 .2em 1em;"
    "margin:.3em 0"
)
BAR = "display:inline-block;height:.7em;background:#0072B2;vertical-align:baseline"
CELL = "text-align:left;padding:.15em 1em .15em 0;border:0"


def card(model: Any) -> str:
    """A fitted model in a few lines."""
    about = Context(model, alone=True)  # a notebook cell must not wait for rows
    head = tag("div", tag("b", about.method), f" · {about.n:,} rows · {about.components(about.k)}")
    told = join(*map_sentences(about)) if about.maps else much(about)
    return tag("div", head, tag("div", told), _table(about), _foot(about), style=FRAME)


def _table(about: Context) -> Html | None:
    if not about.k:
        return None
    if not about.known.tells_shares:
        return _eigenvalues(about)
    top = float(np.max(about.shares, initial=0.0)) or 1.0
    rows = []
    for i in range(min(about.k, SHOWN)):
        share = float(about.shares[i])
        bar = tag("span", style=f"{BAR};width:{max(0.0, 8 * share / top):.2f}em")
        words = axis_words(about, i) if about.linear or about.correspondence else None
        rows.append(tag("tr", tag("td", about.axes[i], style=CELL), tag("td", bar, " ", percent(share), style=CELL),
                        tag("td", _rest(words, about.axes[i]), style=CELL)))  # fmt: skip
    more = about.k - SHOWN
    tail = tag("tr", tag("td", f"… {more:,} more", colspan=3, style=CELL)) if more > 0 else None
    return tag("table", rows, tail, style="border-collapse:collapse;margin:.4em 0")


def _eigenvalues(about: Context) -> Html:
    """Of axes without shares."""
    values, gaps, measure = about.known.values, about.known.gaps, about.known.about.measure
    rows = [
        tag("tr", tag("td", about.axes[i], style=CELL), tag("td", f"{measure} {number(values[i], 4)}", style=CELL),
            tag("td", f"gap to the next {number(gaps[i], 2)}", style=CELL))
        for i in range(min(about.k, SHOWN))
    ]  # fmt: skip
    return tag("table", rows, style="border-collapse:collapse;margin:.4em 0")


def _rest(words: Html | None, name: str) -> Html | None:
    """The words without the name of the axis, which stands in the first cell."""
    return None if words is None else Html(words.replace(tag("b", name), Html(""), 1).strip())


def _foot(about: Context) -> Html | None:
    certificate, plan = getattr(about.model, "certificate_", None), getattr(about.model, "plan_", None)
    if certificate is None or plan is None:
        return None
    proved = int(np.count_nonzero(certificate.labelled))
    more = "ritz.report(model, X, 'report.html') tells more."
    words = f"{proved} of {len(certificate.values)} eigenvalues proved; solver {plan.solver}. {more}"
    return tag("div", join(words), style="opacity:.75")
