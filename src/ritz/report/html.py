"""HTML that is safe by construction: every text is escaped unless a function of this file made it.

tag("td", "<b>", class_="n")   →   <td class="n">&lt;b&gt;</td>

Names that users bring stand in ``<bdi>``, so that right-to-left text moves nothing around it. Numbers are written with
a true minus sign, shares as ``36.2 %``.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["Html", "as_json", "bdi", "clip", "details", "figure", "join", "number", "percent", "table", "tag"]

VOID = {"meta", "br", "input", "link", "hr", "img", "col"}
#: Characters of a name that are shown, and of one that is kept in the data of a chart.
SHOWN, KEPT = 60, 200
#: Characters that HTML does not allow, each as the sign for one that cannot be shown.
UNSEEN = dict.fromkeys([*range(9), 11, *range(14, 32), *range(127, 160)], "\ufffd")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element; ``class_`` is class, ``aria_label`` aria-label; None and False leave an attribute out."""
    words = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        plain = key.rstrip("_").replace("_", "-")
        words.append(
            f" {plain}" if value is True else f' {plain}="{html.escape(str(value), quote=True).translate(UNSEEN)}"'
        )
    head = f"<{name}{''.join(words)}>"
    return Html(head if name in VOID else f"{head}{join(*children)}</{name}>")


def join(*children: Any) -> Html:
    """Texts and elements one after the other; None is nothing, sequences are flattened."""
    out: list[str] = []
    for child in children:
        if child is None or child is False:
            continue
        if isinstance(child, Html):
            out.append(child)
        elif isinstance(child, (list, tuple)):
            out.append(join(*child))
        else:
            out.append(html.escape(str(child), quote=True).translate(UNSEEN))
    return Html("".join(out))


def clip(name: Any, most: int = SHOWN) -> str:
    """A name that fits; line breaks and tabs become spaces."""
    text = " ".join(str(name).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def bdi(name: Any, most: int = SHOWN) -> Html:
    """A name of the user, cut to what fits, with all of it in the tooltip."""
    text = str(name)
    short = clip(text, most)
    return tag("bdi", short, title=clip(text, 400) if short != text else None)


def number(value: Any, digits: int = 3) -> str:
    """``−0.0123``, ``1,234``, ``1.2e−15``; a dash for what is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    if 1e-4 <= abs(value) < 1e6:
        places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        return f"{value:,.{places}f}".replace("-", "−")
    return f"{value:.{max(digits - 1, 1)}e}".replace("-", "−").replace("e+0", "e").replace("e−0", "e−")


def percent(value: Any) -> str:
    """``36.2 %``, with a space that does not break."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{100 * float(value):.1f}\u00a0%" if value >= 0.0005 or value == 0 else "<\u00a00.1\u00a0%"


def table(head: Sequence[Any], rows: Iterable[Sequence[Any]], caption: str, *, words: int = 1) -> Html:
    """A table whose first column heads its rows; the first ``words`` columns hold text, the others numbers."""
    top = tag("tr", [tag("th", cell, scope="col", class_=None if i < words else "n") for i, cell in enumerate(head)])
    body = [
        tag("tr", [
            tag("th", cell, scope="row") if i == 0 else tag("td", cell, class_=None if i < words else "n")
            for i, cell in enumerate(row)
        ])
        for row in rows
    ]  # fmt: skip
    inside = tag("table", tag("caption", caption), tag("thead", top), tag("tbody", body))
    return tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=caption)


def details(summary: str, *children: Any, open_: bool = False) -> Html:
    """Something to open."""
    return tag("details", tag("summary", summary), *children, open=open_)


def figure(name: str, label: str, *, tall: str = "") -> Html:
    """The place where a script draws a chart; ``label`` says in words what is to be seen."""
    return tag("div", class_=f"chart {tall}".strip(), data_chart=name, role="group", aria_label=label)


def as_json(value: Any) -> Html:
    """JSON that may stand in a script element whatever it holds: no ``<``, no line separators."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be written
    for mark in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Html(text)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")
