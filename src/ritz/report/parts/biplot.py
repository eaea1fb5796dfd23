"""Rows and columns in one picture: points whose inner products rebuild the table (form scaling: true row distances)."""

from __future__ import annotations

import numpy as np

from ritz.insight.axes.contributions import column_contributions
from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["ARROWS", "PART", "candidates", "chosen_words"]

#: Arrows in a picture, the longest of its plane; columns that are all handed over, and of more those of each axis.
ARROWS, ALL, EACH = 20, 300, 40
#: Arrows beyond which the longest may all point one way; axes and sectors of their planes that are looked at.
WEDGE, PLANES, SECTORS = 60, 5, 36


def _applies(about: Context) -> bool:
    return about.linear and about.rows is not None and about.k > 1 and not about.known.rotates_all and (
        about.image_shape is None)  # fmt: skip


def _build(about: Context) -> Content:
    a = about.offered
    V = np.asarray(about.model.components_, np.float64).T[:, :a]  # (d, a)
    shares = numbers_of(column_contributions(about.model))[:, :a]
    order = candidates(V)
    drawn = {
        "most": ARROWS,
        "names": [clip(about.columns[j], KEPT) for j in order],
        "columns": [few(V[order, i]) for i in range(a)],
        "shares": [few(shares[order, i]) for i in range(a)],
    }
    more = chosen_words(len(V))
    true = about.known.projects and not getattr(about.model, "whiten", False)
    distances = " Distances between rows are true, as far as the plane shows them." if true else ""
    lead = tag("p", "Where a row lies along an arrow tells how much it has of that column, compared with other rows, "
               f"as far as the plane shows it.{distances}{more}")  # fmt: skip
    rows = [
        (bdi(about.columns[j], 40), *[text for i in (0, 1) for text in (number(V[j, i]), percent(shares[j, i]))])
        for j in order[:ALL]
    ]
    head = ("column", *[text for i in (0, 1) for text in (about.axes[i], "contribution")])
    below = details("Arrows as a table", table(head, rows, "Directions of the columns and their contributions"))
    label = "Biplot: rows as points, columns as arrows, on two components that can be chosen"
    return Content(join(lead, figure("biplot", label, tall="tall"), below), drawn)


def candidates(V: np.ndarray) -> np.ndarray:
    """Columns whose arrows may be drawn in a plane: all, or of many those long on an axis or in a direction."""
    if len(V) <= ALL:
        return np.arange(len(V))
    W = np.nan_to_num(V)
    found = [np.argsort(-np.abs(W), axis=0, kind="stable")[:EACH].ravel()]
    first = range(min(PLANES, W.shape[1]))
    for x, y in ((i, j) for i in first for j in first if i < j):
        size, turn = np.hypot(W[:, x], W[:, y]), np.arctan2(W[:, y], W[:, x])
        sector = np.floor((turn + np.pi) / (2 * np.pi) * SECTORS)
        order = np.argsort(-size, kind="stable")
        found.append(order[np.unique(sector[order], return_index=True)[1]])  # the longest of each sector
    return np.unique(np.concatenate(found))


def chosen_words(d: int) -> str:
    """Which arrows are drawn, where not all are."""
    if d <= ARROWS:
        return ""
    which = f"the {ARROWS} longest" if d <= WEDGE else f"the longest in every direction, at most {ARROWS},"
    return f" Of {d:,} arrows {which} are drawn."


PART = Part("biplot", "Rows and columns together", _applies, _build)
