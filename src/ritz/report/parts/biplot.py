"""Rows and columns in one picture: points whose inner products rebuild the table (form scaling: true row distances)."""

from __future__ import annotations

import numpy as np

from ritz.insight.axes.contributions import column_contributions
from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART"]

#: Arrows at most: the longest of all axes together.
ARROWS = 60


def _applies(about: Context) -> bool:
    return about.linear and about.rows is not None and about.k > 1 and not about.known.rotates_all and (
        about.image_shape is None)  # fmt: skip


def _build(about: Context) -> Content:
    a = about.offered
    V = np.asarray(about.model.components_, np.float64).T[:, :a]  # (d, a)
    shares = numbers_of(column_contributions(about.model))[:, :a]
    order = np.argsort(-np.square(V * np.sqrt(np.maximum(about.shares[:a], 0))).sum(axis=1), kind="stable")[:ARROWS]
    order = np.sort(order)
    drawn = {
        "names": [clip(about.columns[j], KEPT) for j in order],
        "columns": [few(V[order, i]) for i in range(a)],
        "shares": [few(shares[order, i]) for i in range(a)],
    }
    more = f" The {ARROWS} longest of {len(V):,} arrows are drawn." if len(V) > ARROWS else ""
    true = about.known.projects and not getattr(about.model, "whiten", False)
    distances = " Distances between rows are true, as far as the plane shows them." if true else ""
    lead = tag("p", "Where a row lies along an arrow tells how much it has of that column, compared with other rows, "
               f"as far as the plane shows it.{distances}{more}")  # fmt: skip
    rows = [
        (bdi(about.columns[j], 40), *[text for i in (0, 1) for text in (number(V[j, i]), percent(shares[j, i]))])
        for j in order
    ]
    head = ("column", *[text for i in (0, 1) for text in (about.axes[i], "contribution")])
    below = details("Arrows as a table", table(head, rows, "Directions of the columns and their contributions"))
    label = "Biplot: rows as points, columns as arrows, on two components that can be chosen"
    return Content(join(lead, figure("biplot", label, tall="tall"), below), drawn)


PART = Part("biplot", "Rows and columns together", _applies, _build)
