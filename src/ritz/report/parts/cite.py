"""How to cite: the library, and the paper behind the method."""

from __future__ import annotations

from ritz import __version__
from ritz.report.context import Context
from ritz.report.html import join, tag
from ritz.report.part import Content, Part, always

__all__ = ["PART"]

BIBTEX = """@software{{ritz,
  title   = {{Ritz: component analysis whose answers carry their proof}},
  author  = {{{{The Ritz developers}}}},
  version = {{{version}}}
}}"""


def _build(about: Context) -> Content:
    own = f"The Ritz developers, Ritz: component analysis whose answers carry their proof, version {__version__}."
    paper = about.known.about.paper
    items = [tag("li", own), tag("li", paper) if paper else None]
    return Content(join(tag("ul", items), tag("pre", tag("code", BIBTEX.format(version=__version__)))))


PART = Part("cite", "How to cite", always, _build)
