"""The groups of columns of an MFA: what each contributes to an axis, and how alike they are (RV)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.report.context import Context
from ritz.report.html import bdi, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART"]

AXES = 10
#: Spread of the shares of the groups in an axis below which none of them leads.
ALIKE = 0.1
#: Rows whose partial points are handed over, and rows whose lines are drawn from the start.
PARTIAL, DRAWN = 400, 12


def _applies(about: Context) -> bool:
    return about.known.about.takes == "groups" and about.k > 0


def _build(about: Context) -> Content:
    model, a = about.model, min(about.k, AXES)
    names = [str(name) for name in model.groups]
    shares = numbers_of(model.group_contributions_)[: len(names), :a]
    drawn = {
        "axes": about.axes[:a],
        "names": names,
        "shares": [few(column) for column in shares.T],
    }
    best = int(shares[:, 0].argmax())
    lead = None
    if about.beyond_chance(0):
        of_it = f": {percent(shares[best, 0])} of it."
        lead = tag("p", f"{about.axes[0]} owes most to the group ", bdi(names[best], 40), of_it)
        if float(np.ptp(shares[:, 0])) < ALIKE:
            lead = tag("p", f"The groups make up {about.axes[0]} in nearly equal parts.")
    rows = [(bdi(name, 40), *[percent(value) for value in shares[g, :5]]) for g, name in enumerate(names)]
    below = details("Contributions as a table", table(("group", *about.axes[:5]), rows, "Contributions of the groups"))
    rv = numbers_of(model.rv_)
    labels = [*names, "whole"][: len(rv)]
    alike = details("How alike the groups are", table(("RV", *labels), [
        (labels[i], *[number(value, 3) for value in rv[i, : len(labels)]]) for i in range(len(labels))
    ], "RV coefficients"))  # fmt: skip
    drawn |= {"places": [few(column) for column in numbers_of(model.group_coordinates_)[: len(names), :a].T],
              "shared": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(a)],
              "partial": _partial(about, names, a)}  # fmt: skip
    charts = [figure("groups", "Contributions of groups to an axis that can be chosen")]
    if a > 1:
        note = tag("p", "Groups by how much of each axis they hold (Lg, from 0 to 1): a group at 1 has the axis as its "
                   "own main direction.")  # fmt: skip
        charts += [
            tag("h3", "The groups"),
            note,
            figure("groups-map", "Groups by their share of two axes", tall="square"),
        ]
    if drawn["partial"] is not None:
        note = tag("p", "Every row as each group alone sees it (partial points), joined to where all groups together "
                   "place it. Long lines are rows on which the groups disagree; lines of the rows on which they "
                   "disagree most are drawn, those of another row when it is pointed at.")  # fmt: skip
        charts += [
            tag("h3", "Partial points"),
            note,
            figure("groups-partial", "Partial points of the rows", tall="tall"),
        ]
    return Content(join(lead, charts, below, alike), drawn)


def _partial(about: Context, names: list[str], a: int) -> dict[str, Any] | None:
    """Coordinates of some rows as each group alone sees them; those on which groups disagree most come first."""
    if a < 2 or about.rows is None or about.sampled or about.known.row_coordinates() is None or not about.of_fit:
        return None
    parts = np.stack([numbers_of(about.model.partial_coordinates_[name])[:, :a] for name in names])  # (G, n, a)
    if parts.shape[1] != len(about.index):
        return None
    F = about.scores[:, :a]
    apart = np.square(parts[:, :, :2] - F[None, :, :2]).sum(axis=(0, 2))
    order = np.argsort(-apart, kind="stable")[:PARTIAL]
    return {"rows": order.tolist(), "drawn": min(DRAWN, len(order)),
            "xy": [[few(parts[g, order, i]) for i in range(a)] for g in range(len(names))]}  # fmt: skip


PART = Part("groups", "Groups of columns", _applies, _build)
