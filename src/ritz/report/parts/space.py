"""Rows in three dimensions: the axes of the plane and one more, turned by the reader."""

from __future__ import annotations

from ritz.report.context import Context
from ritz.report.html import figure, join, percent, tag
from ritz.report.part import Content, Part
from ritz.report.parts.points import named_rows

__all__ = ["PART"]


def _applies(about: Context) -> bool:
    return about.rows is not None and about.offered > 2 and not about.texts and not named_rows(about)


def _build(about: Context) -> Content:
    share = ""
    if about.known.tells_shares:
        whole = "sizes of all eigenvalues" if about.whole == "Σ|λ|" else about.whole
        share = f" The first three hold {percent(float(about.shares[:3].sum()))} of the {whole}."
    lead = tag("p", f"Drag to turn the rows; colours are those chosen above.{share}")
    label = f"The rows on three {about.components(3).partition(' ')[2]} that can be chosen, turned by dragging"
    return Content(join(lead, figure("space", label, tall="tall")), {"axes": about.offered})


PART = Part("space", "Three dimensions", _applies, _build)
