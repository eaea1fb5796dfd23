"""What kernel components look like over two columns: fᵢ(x) as colours, a line where it is zero.

With more than two columns, the two that the first components follow most closely are varied, the others stay at their
medians.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.warn import unsaid
from ritz.insight.axes.of_model import scores_of
from ritz.report.context import Context
from ritz.report.html import KEPT, bdi, clip, figure, join, percent, tag
from ritz.report.pack import few, shade
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Components, grid points a side, and rows drawn on top.
MAPS, GRID, ROWS = 6, 64, 400
MARGIN = 0.08
#: Share of the largest map below which a map is nothing but rounding, and is drawn pale.
PALE = 1e-3


def _applies(about: Context) -> bool:
    vectors = about.kernel and getattr(about.model.kernel_, "takes", "") == "vectors"
    return vectors and about.rows is not None and about.k > 0 and len(about.columns) >= 2 and not _sparse(about)


def _sparse(about: Context) -> bool:
    return hasattr(about.part, "tocsr")


def _build(about: Context) -> Content:
    X = numbers_of(about)
    a, b = _pair(about, X)
    middle = np.median(X, axis=0)
    low, high = X.min(axis=0), X.max(axis=0)
    room = MARGIN * np.where(high > low, high - low, 1.0)
    x = np.linspace(low[a] - room[a], high[a] + room[a], GRID)
    y = np.linspace(low[b] - room[b], high[b] + room[b], GRID)
    points = np.tile(middle, (GRID * GRID, 1))
    points[:, a], points[:, b] = np.tile(x, GRID), np.repeat(y, GRID)
    with unsaid():  # a grid has no names to check; its columns are those of the model, in its order
        F = scores_of(about.model, points.astype(X.dtype))[:, :MAPS]
    shown = np.unique(np.linspace(0, len(X) - 1, min(ROWS, len(X))).astype(np.intp))
    reach = np.abs(about.scores[:, : F.shape[1]]).max(axis=0, initial=0.0)
    reach = np.maximum(reach, PALE * float(reach.max(initial=0.0)))  # rounding is no picture
    drawn = {
        "grid": GRID,
        "x": [float(x[0]), float(x[-1])],
        "y": [float(y[0]), float(y[-1])],
        "names": [clip(about.columns[a], KEPT), clip(about.columns[b], KEPT)],
        "maps": [
            {
                "name": f"{about.axes[i]}, {percent(about.shares[i])}",
                "values": shade(F[:, i]),
                "reach": float(reach[i]) if i < len(reach) else 0.0,
            }
            for i in range(F.shape[1])
        ],
        "rows": [few(X[shown, a], 4), few(X[shown, b], 4)],
    }
    rest = len(about.columns) - 2
    other = (
        f" The other {rest:,} column{'s' if rest > 1 else ''} stay{'' if rest > 1 else 's'} at the median."
        if rest
        else ""
    )
    lead = tag("p", "The value of each component over ", bdi(about.columns[a], 40), " and ", bdi(about.columns[b], 40),
               f". It is zero on the dark line; rows on its two sides are told apart.{other}")  # fmt: skip
    return Content(join(lead, figure("kernel_maps", f"Maps of {F.shape[1]} components over two columns")), drawn)


def numbers_of(about: Context) -> Any:
    """The rows that are shown as numbers, (m, d)."""
    from ritz.methods.kernel_pca.input import new_rows

    return np.asarray(new_rows(about.model, about.part))


def _pair(about: Context, X: Any) -> tuple[int, int]:
    """The two columns that the first two components follow most closely."""
    if X.shape[1] == 2:
        return 0, 1
    F = about.scores[:, :2]
    Z = X - X.mean(axis=0)
    size = np.sqrt(np.square(Z).sum(axis=0))[:, None] * np.sqrt(np.square(F - F.mean(axis=0)).sum(axis=0))
    r = np.abs(np.divide(Z.T @ (F - F.mean(axis=0)), size, out=np.zeros_like(size), where=size > 0))
    first = int(np.argmax(r[:, 0]))
    rest = r[:, -1].copy()
    rest[first] = -1.0
    a, b = sorted((first, int(np.argmax(rest))))
    return a, b


PART = Part("kernel_maps", "Maps of the components", _applies, _build)
