"""Variables by how closely they go with two axes: r² of numbers, η² of categorical ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.methods.fitted import fitted_of
from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, details, figure, join, number, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART"]

AXES, MOST = 10, 200


def _applies(about: Context) -> bool:
    return about.k > 1 and about.correspondence and about.known.about.takes != "counts"


def _build(about: Context) -> Content:
    a = min(about.k, AXES)
    sides = _own(about, a)
    if about.further is not None:
        squares = np.square(about.further.correlations[:, :a])
        ratios = about.further.eta2[:, :a]
        sides.append(("numbers that took no part", about.further.numbers, squares, True))
        sides.append(("categories that took no part", about.further.variables, ratios, True))
    sides = [side for side in sides if len(side[1])]
    drawn = {
        "axes": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(a)],
        "sides": [
            {"what": what, "names": [clip(name, KEPT) for name in names], "xy": [few(values[:, i]) for i in range(a)],
             "further": further}
            for what, names, values, further in sides
        ],
    }  # fmt: skip
    lead = tag("p", "Squared correlations of numbers with the axes, and correlation ratios η² of categorical "
               "variables: the share of an axis' variance that lies between the categories. A variable at the "
               "right goes closely with the axis across, one at the top with the axis up.")  # fmt: skip
    lines = [
        (bdi(name, 40), what, *[number(value, 3) for value in values[j, :5]])
        for what, names, values, _ in sides
        for j, name in enumerate(names)
    ]
    head = ("variable", "what", *about.axes[: min(a, 5)])
    below = details("Variables as a table", table(head, lines, "r² and η² with the axes", words=2))
    label = "Variables by how closely they go with two axes that can be chosen"
    return Content(join(lead, figure("relations", label, tall="square"), below), drawn)


def _own(about: Context, a: int) -> list[tuple[str, list[str], Any, bool]]:
    """The variables of the fit: numbers first, categorical ones after them."""
    model = about.model
    if about.known.about.takes == "categories":
        held = model.eta2_
        return [("categorical variables", _labels(held), numbers_of(held)[:MOST, :a], False)]
    held, p = model.variable_coordinates_, fitted_of(model).number_columns()
    names, values = _labels(held), numbers_of(held)[:, :a]
    return [("numbers", names[:p][:MOST], values[:p][:MOST], False),
            ("categorical variables", names[p:][:MOST], values[p:][:MOST], False)]  # fmt: skip


def _labels(held: Any) -> list[str]:
    if isinstance(held, np.ndarray):
        return [f"variable {j + 1}" for j in range(len(held))]
    if hasattr(held, "index"):
        return [str(name) for name in held.index]
    import narwhals as nw

    frame = nw.from_native(held, eager_only=True)
    return [str(name) for name in frame[frame.columns[0]].to_list()]


PART = Part("relations", "Variables and axes", _applies, _build)
