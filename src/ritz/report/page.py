"""The page: parts one after the other, their data as JSON, one style and one script.

    <style>  <header>  <nav>  <main> <section id="scree">… </main>  <script type="application/json">…  <script>

The Content-Security-Policy names the style and the script by their SHA-256 and allows nothing else: no request leaves
the page, and text that came from a table could not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from ritz import __version__
from ritz._core.errors import RitzError
from ritz.report.context import Context
from ritz.report.html import Html, as_json, bdi, clip, tag
from ritz.report.pack import exact, few, wide
from ritz.report.part import Content, Part
from ritz.report.parts import PARTS

__all__ = ["page", "rows_data"]

ASSETS = files("ritz.report") / "assets"
STYLE = "report.css"
#: Scripts that parts share, in the order in which they build on each other.
SCRIPTS = (
    "core.js",
    "choice.js",
    "axes.js",
    "labels.js",
    "points.js",
    "density.js",
    "legend.js",
    "plane.js",
    "lasso.js",
    "charts.js",
    "pictures.js",
    "save.js",
)
SUN = "Change between light and dark"


def page(about: Context, further: tuple[Part, ...] = ()) -> str:
    """The whole report as text."""
    shown: list[tuple[Part, Content]] = []
    for part in (*PARTS, *further):
        try:
            if part.applies(about):
                shown.append((part, part.build(about)))
        except RitzError as error:
            about.notes.append(f"{part.title}: {error}")
    style = _read(STYLE)
    script = "\n".join([*map(_read, SCRIPTS), *(_script(part) for part, _ in shown), "Ritz.start();\n"])
    blocks = [_block("rows", rows_data(about))] if about.rows is not None and about.k else []
    blocks += [_block(part.id, content.data) for part, content in shown if content.data is not None]
    head = tag(
        "head", tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"Ritz {__version__}"), tag("title", f"{clip(title(about))} · Ritz"),
        tag("style", Html(style)),
    )  # fmt: skip
    body = tag(
        "body", tag("a", "Skip to the answer", href="#answer", class_="skip"), _header(about),
        tag("div", _contents(shown),
            tag("main", [_section(p, c) for p, c in shown], _left_out(about)), class_="page"),
        tag("noscript", "Charts need JavaScript, which is switched off here; the tables below them do not."),
        _footer(), *blocks, tag("script", Html(script)),
    )  # fmt: skip
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def title(about: Context) -> str:
    """The heading: what the user says, the file of the table, or the method."""
    if about.title:
        return about.title
    source = getattr(about.X, "source", "")
    return source or f"{about.method} of {about.n:,} {about.row}s"


def rows_data(about: Context) -> dict[str, Any]:
    """What all charts of rows share: scores, names and colours."""
    return {
        "n": about.n,
        "index": wide(about.index) if about.sampled else None,
        "count": len(about.index),
        "names": about.row_names,
        "axes": [_axis(about, i) for i in range(about.offered)],
        "scores": [exact(column) for column in about.scores.T],
        "norms": None if about.norms is None else exact(about.norms),
        "sums": None if about.row_sums is None else few(about.row_sums),
        "colours": [colour.data() for colour in about.colours],
    }


def _axis(about: Context, i: int) -> dict[str, Any]:
    """The name of an axis, with its share where it has one."""
    share = {"share": float(about.shares[i])} if about.known.tells_shares else {}
    return {"name": about.axes[i], **share}


def _header(about: Context) -> Html:
    line = f"{about.known.about.title} · {about.n:,} {about.row}s · {about.components(about.k)} kept"
    button = tag("button", tag("span", "◐", aria_hidden="true"), tag("span", SUN, class_="hidden"), type="button",
                 id="theme", title=SUN)  # fmt: skip
    words = tag("div", tag("h1", bdi(title(about), 120)), tag("p", line, class_="line"))
    return tag("header", tag("div", words, button, class_="top"))


def _contents(shown: list[tuple[Part, Content]]) -> Html:
    links = [tag("li", tag("a", content.title or part.title, href=f"#{part.id}")) for part, content in shown]
    return tag("nav", tag("details", tag("summary", "Contents"), tag("ol", links)), aria_label="Contents")


def _section(part: Part, content: Content) -> Html:
    heading = tag("h2", content.title or part.title, id=f"{part.id}-title")
    return tag("section", heading, content.body, id=part.id, aria_labelledby=f"{part.id}-title")


def _left_out(about: Context) -> Html | None:
    if not about.notes:
        return None
    items = [tag("li", _sentence(note)) for note in dict.fromkeys(about.notes)]
    heading = tag("h2", "Left out", id="left-out-title")
    return tag("section", heading, tag("ul", items), id="left-out", aria_labelledby="left-out-title")


def _sentence(note: str) -> str:
    """A note of what failed in one line: the hint of an error stands on a line of its own elsewhere."""
    words = note.replace("\nhint: ", "; ")
    return f"{words[:1].upper()}{words[1:]}."


def _footer() -> Html:
    return tag(
        "footer", tag("p", f"Made by Ritz {__version__}. This page needs no network and sends nothing anywhere.")
    )


def _block(name: str, data: Any) -> Html:
    return tag("script", as_json(data), type="application/json", id=f"data-{name}")


def _script(part: Part) -> str:
    if part.script:
        return part.script
    own = ASSETS / "parts" / f"{part.id}.js"
    return own.read_text(encoding="utf-8") if own.is_file() else ""


def _read(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def hashed(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"

    return (
        f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
