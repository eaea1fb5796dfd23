"""The circle of correlations: columns by their correlations with two components; length² is the share that is shown."""

from __future__ import annotations

import numpy as np

from ritz._core.errors import InputError
from ritz.insight.axes.loadings import structure
from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, details, figure, join, number, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART"]

#: Arrows at most.
ARROWS = 80


def _applies(about: Context) -> bool:
    return (
        about.linear and about.k > 1 and (about.known.projects or about.known.rotates_all) and about.image_shape is None
    )


def _build(about: Context) -> Content:
    a = min(about.k, 10)
    needs = not about.known.keeps_spread
    if needs and not about.of_fit:
        raise InputError("correlations are those of the rows of the fit", received="other rows")
    R = numbers_of(structure(about.model, about.part if needs and about.rows is not None else None))[:, :a]
    varying = np.flatnonzero(np.isfinite(R).all(axis=1))
    if not len(varying):
        raise InputError("a circle of correlations needs columns that vary", received="none")
    length = np.square(R[varying]).sum(axis=1)
    order = np.sort(varying[np.argsort(-length, kind="stable")[:ARROWS]])
    drawn = {
        "names": [clip(about.columns[j], KEPT) for j in order],
        "columns": [few(R[order, i]) for i in range(a)],
        "axes": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(a)],
    }
    word = "correlations" if about.known.centered else "cosines"
    best = int(varying[np.argmax(np.square(R[varying, :2]).sum(axis=1))])
    lead = tag("p", f"Columns by their {word} with the {about.component}s. An arrow that reaches the circle is shown "
               "wholly in this plane; arrows that point the same way rise together. In the first plane ",
               bdi(about.columns[best], 40), " is shown best.")  # fmt: skip
    rows = [(bdi(about.columns[j], 40), *[number(value, 3) for value in R[j, :5]]) for j in order]
    below = details(
        "Correlations as a table", table(("column", *about.axes[:5]), rows, f"{word.capitalize()} with the axes")
    )
    label = "Circle of correlations of the columns with two components that can be chosen"
    return Content(join(lead, figure("circle", label, tall="square"), below), drawn)


PART = Part("circle", "Circle of correlations", _applies, _build)
