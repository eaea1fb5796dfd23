"""Who makes an axis, and whom it shows: the 20 largest contributions and cos² of columns and rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import RitzError
from ritz.insight.axes.contributions import column_contributions, column_cos2, contributions, cos2
from ritz.report.context import Context
from ritz.report.html import KEPT, Html, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART"]

Floats = NDArray[np.float64]

#: Points shown for an axis, axes that can be chosen, and points of a side that are all handed over.
SHOWN, AXES, ALL = 20, 10, 400


def _applies(about: Context) -> bool:
    return (about.linear or about.correspondence) and about.k > 0 and about.image_shape is None


def _build(about: Context) -> Content:
    a = min(about.k, AXES)
    sides = [side for side in (_columns(about, a), _rows(about, a)) if side is not None]
    drawn = {
        "axes": about.axes[:a],
        "values": few(np.maximum(about.shares[:a], 0)),
        "sides": [_data(side, a) for side in sides],
    }
    lead = tag("p", "A contribution is the share of an axis that a point makes: large ones say what the axis is about. "
               "A cos² is the share of a point that an axis shows: points with a small one are not where they seem "
               "to be. The line is what each would contribute if all did alike.")  # fmt: skip
    below = [_table(about, side, min(2, a)) for side in sides]
    label = f"The {SHOWN} largest contributions or cos² on an axis that can be chosen"
    return Content(join(lead, figure("contributions", label), below), drawn)


def _columns(about: Context, a: int) -> dict[str, Any] | None:
    try:
        share = numbers_of(column_contributions(about.model))[:, :a]
    except RitzError:
        return None
    what = "columns" if about.linear else about.pieces
    return {"what": what, "names": about.columns, "share": share, "cos2": _column_cos2(about, a)}


def _column_cos2(about: Context, a: int) -> Floats | None:
    needs = about.linear and not about.known.keeps_spread
    if about.known.rotates_all or (needs and (about.rows is None or not about.of_fit)):
        return None
    try:
        return np.asarray(numbers_of(column_cos2(about.model, about.part if needs else None))[:, :a], np.float64)
    except RitzError:
        return None


def _rows(about: Context, a: int) -> dict[str, Any] | None:
    if about.rows is None or about.sampled or not about.measurable or not about.of_fit or about.weighted:
        return None
    try:
        share = numbers_of(contributions(about.model, about.part))[:, :a]
        seen = None if about.known.rotates_all else numbers_of(cos2(about.model, about.part))[:, :a]
    except RitzError:
        return None
    names = [about.row_name(i) for i in range(len(share))]
    return {"what": "rows", "names": names, "share": share, "cos2": seen}


def _chosen(side: dict[str, Any], a: int) -> NDArray[np.intp]:
    """All points, or those among the largest on some axis."""
    if len(side["names"]) <= ALL:
        return np.arange(len(side["names"]))
    lists = [values[:, i] for values in (side["share"], side["cos2"]) if values is not None for i in range(a)]
    return np.unique(np.concatenate([np.argsort(-np.nan_to_num(one), kind="stable")[:SHOWN] for one in lists]))


def _data(side: dict[str, Any], a: int) -> dict[str, Any]:
    kept = _chosen(side, a)
    return {
        "what": side["what"],
        "total": len(side["names"]),
        "all": len(kept) == len(side["names"]),
        "names": [clip(side["names"][j], KEPT) for j in kept],
        "share": [few(side["share"][kept, i]) for i in range(a)],
        "cos2": None if side["cos2"] is None else [few(side["cos2"][kept, i]) for i in range(a)],
    }


def _table(about: Context, side: dict[str, Any], plane: int) -> Html:
    order = np.argsort(-np.nan_to_num(side["share"][:, :plane]).sum(axis=1), kind="stable")[:SHOWN]
    head = ["point"]
    for i in range(plane):
        head += [about.axes[i], *(["cos²"] if side["cos2"] is not None else [])]
    rows = []
    for j in order.tolist():
        cells: list[Any] = [bdi(side["names"][j], 40)]
        for i in range(plane):
            cells.append(percent(side["share"][j, i]))
            cells += [number(side["cos2"][j, i], 2)] if side["cos2"] is not None else []
        rows.append(tuple(cells))
    what = side["what"]
    count = f"The {SHOWN} largest" if len(side["names"]) > SHOWN else "Contributions"
    caption = f"{count} of the {what}: contributions and cos²"
    return details(f"{what.capitalize()} as a table", table(head, rows, caption))


PART = Part("contributions", "Contributions and cos²", _applies, _build)
