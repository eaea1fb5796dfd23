"""The circle of correlations: columns by their correlations with two components; length² is the share that is shown."""

from __future__ import annotations

import numpy as np

from ritz._core.errors import InputError
from ritz.insight.axes.loadings import structure
from ritz.report.context import Context
from ritz.report.html import KEPT, Html, bdi, clip, details, figure, join, number, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.parts.biplot import ARROWS, candidates, chosen_words
from ritz.report.words import numbers_of

__all__ = ["PART"]


def _applies(about: Context) -> bool:
    if about.k < 2 or about.image_shape is not None:
        return False
    if about.correspondence:  # numbers among categories, or beside them
        further = about.further
        return _numbers(about) > 0 or (further is not None and len(further.numbers) > 0)
    return about.linear and (about.known.projects or about.known.rotates_all)


def _numbers(about: Context) -> int:
    return about.known.number_columns() if about.known.encoder() is not None else 0


def _correlations(about: Context, a: int) -> np.ndarray:
    """(d, a) of the columns of the fit with the axes."""
    if about.correspondence:
        return np.asarray(numbers_of(about.model.column_coordinates_)[: _numbers(about), :a], np.float64)
    needs = not about.known.keeps_spread
    if needs and not about.of_fit:
        raise InputError("correlations are those of the rows of the fit", received="other rows")
    return numbers_of(structure(about.model, about.part if needs and about.rows is not None else None))[:, :a]


def _build(about: Context) -> Content:
    a = min(about.k, 10)
    R = _correlations(about, a)
    varying = np.flatnonzero(np.isfinite(R).all(axis=1))
    further = about.further if about.further is not None and len(about.further.numbers) else None
    if not len(varying) and further is None:
        raise InputError("a circle of correlations needs columns that vary", received="none")
    order = varying[candidates(R[varying])] if len(varying) else varying
    drawn = {
        "most": ARROWS,
        "further": None
        if further is None
        else {"names": further.numbers, "columns": [few(further.correlations[:, i]) for i in range(a)]},
        "names": [clip(about.columns[j], KEPT) for j in order],
        "columns": [few(R[order, i]) for i in range(a)],
        "axes": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(a)],
    }
    word = "correlations" if about.known.centered else "cosines"
    axes = about.components(2).partition(" ")[2]
    lead = tag("p", f"Columns by their {word} with the {axes}. An arrow that reaches the circle is shown "
               "wholly in this plane; arrows that point the same way rise together.", _best(about, R, varying),
               chosen_words(len(varying)),
               " Dashed arrows are columns that took no part in the axes." if further is not None else "")  # fmt: skip
    rows = [(bdi(about.columns[j], 40), *[number(value, 3) for value in R[j, :5]]) for j in order]
    if further is not None:
        rows += [(join(bdi(name, 40), " (took no part)"), *[number(value, 3) for value in further.correlations[j, :5]])
                 for j, name in enumerate(further.numbers)]  # fmt: skip
    below = details(
        "Correlations as a table", table(("column", *about.axes[:5]), rows, f"{word.capitalize()} with the axes")
    )
    label = "Circle of correlations of the columns with two components that can be chosen"
    return Content(join(lead, figure("circle", label, tall="square"), below), drawn)


def _best(about: Context, R: np.ndarray, varying: np.ndarray) -> Html | None:
    if not len(varying):
        return None
    best = int(varying[np.argmax(np.square(R[varying, :2]).sum(axis=1))])
    return join(" In the first plane ", bdi(about.columns[best], 40), " is shown best.")


PART = Part("circle", "Circle of correlations", _applies, _build)
