"""Components after a rotation: loadings of every column, and what each rotated component accounts for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.insight.axes.rotate import Rotation, rotate
from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART"]

#: Components that can be chosen, columns drawn for each, and columns in the table.
AXES, COLUMNS, LINES = 10, 24, 200


def _applies(about: Context) -> bool:
    return about.rotation is not None and about.linear and about.k > 1


def _build(about: Context) -> Content:
    found: Rotation = about.rotation if isinstance(about.rotation, Rotation) else rotate(about.model, about.rotation)
    L = numbers_of(found.loadings)
    names = _names(found, L.shape[1])
    a, squares = min(L.shape[1], AXES), np.square(L)
    total = squares.sum(axis=0)
    shares = np.divide(squares, total, out=np.zeros_like(squares), where=total > 0)
    order = np.argsort(-np.abs(L), axis=0, kind="stable")[:COLUMNS]
    drawn = {
        "axes": names[:a],
        "shares": few(found.variance_ratio[:a]),
        "even": 1 / len(L),
        "total": len(L),
        "columns": [
            [{"name": clip(about.columns[j], KEPT), "loading": float(L[j, i]), "share": float(shares[j, i])}
             for j in order[:, i]]
            for i in range(a)
        ],
    }  # fmt: skip
    sums = percent(float(np.sum(found.variance_ratio)))
    lead = tag("p", f"The {about.components(L.shape[1])} after a {found.method} rotation. They span the same space and "
               f"account for {sums} of the {about.whole} together, as before; each is made of fewer columns, and none "
               f"is the direction of largest variance any more.{_oblique(found)}")  # fmt: skip
    rows = [(bdi(about.columns[j], 40), *[number(value, 3) for value in L[j, :a]]) for j in range(min(len(L), LINES))]
    rows.append(("share", *[percent(value) for value in found.variance_ratio[:a]]))
    below = details(
        "Rotated loadings as a table", table(("column", *names[:a]), rows, f"Loadings after {found.method}")
    )
    label = "Loadings of the columns on a rotated component that can be chosen"
    return Content(join(lead, figure("rotation", label), below), drawn)


def _oblique(found: Rotation) -> str:
    phi = np.abs(found.factor_correlations - np.eye(len(found.matrix)))
    return f" They are correlated, at most {number(float(phi.max()), 2)}." if phi.max() > 1e-8 else ""


def _names(found: Rotation, k: int) -> list[str]:
    columns: Any = getattr(found.loadings, "columns", None)
    return [str(name) for name in columns][-k:] if columns is not None else [f"RC{i + 1}" for i in range(k)]


PART = Part("rotation", "After a rotation", _applies, _build)
