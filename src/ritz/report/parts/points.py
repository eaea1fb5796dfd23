"""The map of the correspondence family: columns, and the rows of a small table, with masses, cos² and contributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.report.context import Context
from ritz.report.html import KEPT, Html, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART", "named_rows"]

#: Points of one side at most, and lines of a table.
MOST, LINES = 300, 120


def _applies(about: Context) -> bool:
    return about.correspondence and about.k > 0


def _build(about: Context) -> Content:
    a = min(about.k, 10)
    sides = [_columns(about, a)]
    if named_rows(about):
        sides.insert(0, _rows(about, a))
    drawn = {
        "axes": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(a)],
        "sides": [side for side, _ in sides],
    }
    plane = min(2, a)
    numbers = "" if about.known.about.takes == "categories" else "; numbers are placed by their correlations"
    lead = tag("p", "Points near each other have similar profiles; the size of a point is its mass, and faint points "
               "are badly shown in this plane (cos²). Distances between a row and a column are not distances."
               if about.known.about.takes == "counts" else
               f"Categories that the same rows share lie near each other{numbers}. "
               "The size of a point is its mass, and faint points are badly shown in this plane (cos²).")  # fmt: skip
    tables = [_table(about, side, rows, plane) for side, rows in sides]
    label = "Map of rows and columns on two axes that can be chosen" if len(sides) > 1 else "Map of the categories"
    return Content(join(lead, figure("points", label, tall="tall"), tables), drawn)


def named_rows(about: Context) -> bool:
    """Whether rows are points to be named: those of a contingency table in memory."""
    fitted = about.known
    counts = fitted.about.takes == "counts" and about.model.n_samples_ <= MOST
    return counts and fitted.row_coordinates() is not None


def _columns(about: Context, a: int) -> tuple[dict[str, Any], Any]:
    model = about.model
    G, cos2 = numbers_of(model.column_coordinates_)[:, :a], numbers_of(model.column_cos2_)[:, :a]
    share = numbers_of(model.column_contributions_)[:, :a]
    mass = np.asarray(model.column_masses_, np.float64).reshape(-1)
    order = np.sort(np.argsort(-share[:, : min(2, a)].sum(axis=1), kind="stable")[:MOST])
    names = [clip(about.columns[j], KEPT) for j in order]
    word = about.pieces
    return _side(word, names, G[order], cos2[order], share[order], mass[order]), (G[order], cos2[order], share[order])


def _rows(about: Context, a: int) -> tuple[dict[str, Any], Any]:
    model = about.model
    F, cos2 = numbers_of(model.row_coordinates_)[:, :a], numbers_of(model.row_cos2_)[:, :a]
    share, mass = numbers_of(model.row_contributions_)[:, :a], np.asarray(model.row_masses_, np.float64).reshape(-1)
    labels = about.known.row_names() or [f"row {i + 1}" for i in range(len(F))]
    return _side("rows", [clip(name, KEPT) for name in labels], F, cos2, share, mass), (F, cos2, share)


def _side(what: str, names: list[str], xy: Any, cos2: Any, share: Any, mass: Any) -> dict[str, Any]:
    def each(values: Any) -> list[Any]:
        return [few(column) for column in values.T]

    return {"what": what, "names": names, "xy": each(xy), "cos2": each(cos2), "shares": each(share), "mass": few(mass)}


def _table(about: Context, side: dict[str, Any], points: Any, plane: int) -> Html:
    F, cos2, share = points
    head = ["point", "mass"]
    for i in range(plane):
        head += [about.axes[i], "contribution", "cos²"]
    rows = []
    for j in range(min(len(F), LINES)):
        figures = [
            text for i in range(plane) for text in (number(F[j, i]), percent(share[j, i]), number(cos2[j, i], 2))
        ]
        rows.append((bdi(side["names"][j], 40), percent(side["mass"][j]), *figures))
    what = side["what"]
    return details(
        f"{what.capitalize()} as a table", table(head, rows, f"Coordinates, contributions and cos² of the {what}")
    )


PART = Part("points", "The map", _applies, _build)
