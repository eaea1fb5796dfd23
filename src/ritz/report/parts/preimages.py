"""Back from the feature space: what rows at the ends and in the middle of each component look like.

vectors    pre-images of the means of rows around five quantiles of a component, column by column; a component whose
           pre-images leave the rows by more than their whole range, in any column, is named and not drawn
strings    training rows nearest to these points
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.insight.axes.of_model import scores_of
from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, details, figure, join, number, table, tag
from ritz.report.pack import few, shade
from ritz.report.part import Content, Part
from ritz.report.parts.kernel_maps import numbers_of
from ritz.report.words import listed

__all__ = ["PART"]

#: Components, places along each (quantiles of its scores), columns drawn, neighbours named.
AXES, PLACES, COLUMNS, NEAR = 3, (0.05, 0.25, 0.5, 0.75, 0.95), 20, 3


def _applies(about: Context) -> bool:
    model = about.model
    if not (about.kernel and about.rows is not None and about.k > 0 and getattr(model, "fit_inverse_transform", False)):
        return False
    return getattr(model.kernel_, "takes", "") in ("vectors", "strings", "any") and not hasattr(about.part, "tocsr")


def _build(about: Context) -> Content:
    a = min(AXES, about.offered)
    F = scores_of(about.model, about.part)
    T = np.array([_middle(F, i, place) for i in range(a) for place in PLACES])
    return _vectors(about, T, a) if about.model.kernel_.takes == "vectors" else _nearest(about, T, a)


def _middle(F: Any, i: int, place: float) -> Any:
    """The mean of the rows nearest to a quantile of component i, (k,): a point among rows, not beside them."""
    near = max(3, len(F) // 20)
    order = np.argsort(np.abs(F[:, i] - np.quantile(F[:, i], place)), kind="stable")[:near]
    return F[order].mean(axis=0)


def _vectors(about: Context, T: Any, a: int) -> Content:
    preimages = about.model.preimages(T)
    back = np.asarray(preimages.rows, np.float64).reshape(a, len(PLACES), -1)
    X = numbers_of(about)
    deviation = np.std(X, axis=0)
    units = (back - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    low, high = X.min(axis=0), X.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    far = ((back < low - span) | (back > high + span)).any(axis=(1, 2))
    shown, lost = np.flatnonzero(~far).tolist(), [about.axes[i] for i in np.flatnonzero(far)]
    without = ["Along ", listed(lost), " no pre-image lies near the rows: nothing is drawn there."] if lost else []
    if preimages.guessed is not None and len(preimages.guessed):
        without += [" Where no row is near, the mean of the nearest rows stands for a pre-image."]
    if not shown:
        return Content(tag("p", *without))
    move = np.ptp(units, axis=1)  # (a, d): how far a column moves along a component
    order = {i: np.argsort(-move[i], kind="stable")[:COLUMNS].tolist() for i in shown}
    places = [f"{100 * place:g} %" for place in PLACES]
    shape = about.image_shape
    drawn: dict[str, Any] = {
        "axes": [about.axes[i] for i in shown],
        "places": places,
        "columns": [
            [{"name": clip(about.columns[j], KEPT), "values": few(units[i, :, j], 4)} for j in order[i]] for i in shown
        ],
        "shape": None if shape is None else [int(shape[0]), int(shape[1])],
        "pictures": None if shape is None else [[shade(back[i, p]) for p in range(len(PLACES))] for i in shown],
    }
    first = shown[0]
    most = join(f" Along {about.axes[first]} ", bdi(about.columns[order[first][0]], 40),
                f" moves most: by {number(move[first].max(), 2)} standard deviations.")  # fmt: skip
    lead = tag("p", "The middle of the rows at some places along a component, brought back from the feature space.",
               most if about.beyond_chance(first) else None, " ", *without)  # fmt: skip
    tables = []
    for i in shown:
        rows = [(bdi(about.columns[j], 40), *[number(back[i, p, j], 3) for p in range(len(PLACES))]) for j in order[i]]
        head = ("column", *[f"at {place}" for place in places])
        tables.append(table(head, rows, f"Pre-images along {about.axes[i]}, at quantiles of its scores"))
    pictures = figure("preimages", "Pre-images along the first components")
    return Content(join(lead, pictures, details("Pre-images as tables", *tables)), drawn)


def _nearest(about: Context, T: Any, a: int) -> Content:
    nearest = about.model.neighbours(T, NEAR)
    labels = [clip(item, 60) for item in about.model.X_fit_]
    rows = []
    for i in range(a):
        for p, place in enumerate(PLACES):
            near = [bdi(labels[j], 60) for j in np.asarray(nearest.index)[i * len(PLACES) + p].tolist()]
            between = [piece for q, one in enumerate(near) for piece in (", " if q else "", one)]
            rows.append((f"{about.axes[i]} at {100 * place:g} %", join(*between)))
    lead = tag("p", "Training rows nearest to points along each component: what its two ends look like.")
    return Content(join(lead, table(("point", "nearest rows"), rows, "Nearest training rows", words=2)))


PART = Part("preimages", "Along the components", _applies, _build)
