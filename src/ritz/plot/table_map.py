"""Maps of the correspondence family: rows and columns of a table in one plane.

    symmetric          rows F, columns G           distances within a side are χ² distances; between sides, directions
    row-principal      rows F, columns D_c^-½ V    a row is the barycentre of the columns it is made of
    column-principal   rows F Λ^-½, columns G      and the other way round
    contribution       rows F, columns V           the square of a column's coordinate is its contribution to the axis

The area of a point grows with its contribution to the two axes, its opacity with its cos² in their plane: what is large
made the map, what is faint is not shown well by it. One unit is as long on either axis.

Greenacre, M. (2013). Contribution biplots. Journal of Computational and Graphical Statistics 22(1):107–122.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import InputError, ParameterError
from ritz.methods.correspondence_results import CorrespondenceResults
from ritz.plot.labels import write_names
from ritz.plot.style import COLUMN, FAINT, MARKERS, PALETTE, chosen, dark, one_axes

__all__ = ["map"]

SCALINGS = ("symmetric", "row-principal", "column-principal", "contribution")
#: Areas of points, in points², without any contribution and with all of an axis; and of rows too many to name.
SMALL, LARGE, DOT = 14.0, 420.0, 6.0
#: Opacity of a point that the plane does not show at all.
FAINTEST = 0.22
#: Rows beyond this many are dots without a name, unless names are asked for.
NAMED = 80
#: Names that find room; of more points, those that contribute most get theirs.
MOST = 150


@dataclass(frozen=True)
class Side:
    """The points of one side, ready to be drawn."""

    xy: NDArray[np.float64]  # (m, 2)
    weight: NDArray[np.float64]  # (m,) mean contribution to the two axes
    quality: NDArray[np.float64]  # (m,) cos² in the plane
    names: list[str]
    shape: int  # of PALETTE and MARKERS


def map(
    model: Any, *, scaling: str = "symmetric", components: Any = (0, 1), rows: Any = True, columns: Any = True,
    names: Any = "auto", most: int = MOST, legend: bool = True, ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the map of a fitted CA, MCA, FAMD or MFA.

    Parameters
    ----------
    model : fitted CA, MCA, FAMD or MFA
    scaling : "symmetric", "row-principal", "column-principal" or "contribution"
    components : two ints
        Axes, counted from 0.
    rows, columns : bool or list of labels
        Draw a side, or these of its points only.
    names : "auto", "rows", "columns", True or False
        Which sides are named; "auto" names columns, and rows where there are at most 80.
    most : int
        Names at most; the points that contribute most come first.
    legend : bool
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
    """
    _check(model, scaling, names)
    which = chosen(components, len(model.eigenvalues_))
    if len(which) != 2:
        raise ParameterError("a map has two axes", received=repr(components), hint="components=(0, 1)")
    sides = {}
    if rows is not False:
        sides["rows"] = _picked(_rows(model, which, scaling), rows, "rows")
    if columns is not False and model.components_.shape[1] > _numbers(model):
        sides["columns"] = _picked(_columns(model, which, scaling), columns, "columns")
    ax = one_axes(ax, size=(COLUMN, 0.85 * COLUMN))
    for line in (ax.axhline, ax.axvline):
        line(0, color=FAINT, linewidth=0.5, alpha=0.6, zorder=1)
    for title, side in sides.items():
        _points(ax, side, title, arrows=title == "columns" and scaling == "contribution", many=_many(title, side))
    ax.set(xlabel=_axis(model, which[0]), ylabel=_axis(model, which[1]))
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.1)
    if legend and len(sides) > 1:
        _legend(ax, list(sides.values()), list(sides))
    _write(ax, [side for title, side in sides.items() if _named(title, side, names)], most)
    return ax


# the two sides


def _rows(model: Any, which: list[int], scaling: str) -> Side:
    try:
        F = model._row_coordinates()
    except AttributeError as error:
        raise InputError(
            "a map of rows needs a table that was fitted in memory", received="a model without its rows",
            hint="map(model, rows=False) draws the columns",
        ) from error  # fmt: skip
    xy = model._row_standard_coordinates() if scaling == "column-principal" else F
    labels = vars(model).get("_row_labels")
    names = [str(label) for label in (range(len(F)) if labels is None else labels)]
    return _side(xy, model._row_contributions(), model._row_cos2(), names, which, 0)


def _columns(model: Any, which: list[int], scaling: str) -> Side:
    if scaling == "contribution":
        xy = np.asarray(model.components_.T)
    elif scaling == "row-principal":
        xy = model._column_standard_coordinates()
    else:
        xy = model._column_coordinates()
    labels = model._column_labels()
    names = [_short(str(label)) for label in (range(len(xy)) if labels is None else labels)]
    side = _side(xy, model._column_contributions(), model._column_cos2(), names, which, 1)
    return _take(side, np.arange(_numbers(model), len(side.names))) if _numbers(model) else side


def _numbers(model: Any) -> int:
    """Leading columns that are numbers: they have correlations, which have no place among distances."""
    encoder = getattr(model, "_encoder", None)
    return 0 if encoder is None else int(encoder.p)


def _short(label: str) -> str:
    """``work=Not.work`` is ``Not.work``: a level that names its variable needs no other name."""
    variable, equals, level = label.partition("=")
    return level if equals and variable.lower() in level.lower() else label


def _side(xy: Any, share: Any, cos2: Any, names: list[str], which: list[int], shape: int) -> Side:
    plane = np.asarray(xy, np.float64)[:, which]
    weight = np.nan_to_num(np.asarray(share, np.float64)[:, which].mean(axis=1))
    quality = np.clip(np.nan_to_num(np.asarray(cos2, np.float64)[:, which].sum(axis=1)), 0.0, 1.0)
    side = Side(plane, weight, quality, names, shape)
    known = np.flatnonzero(np.isfinite(plane).all(axis=1))  # an empty row has no place
    return side if len(known) == len(plane) else _take(side, known)


def _take(side: Side, places: Any) -> Side:
    held = [side.names[int(i)] for i in places]
    return Side(side.xy[places], side.weight[places], side.quality[places], held, side.shape)


def _picked(side: Side, wanted: Any, title: str) -> Side:
    if wanted is True:
        return side
    labels = [str(label) for label in wanted]
    lost = [label for label in labels if label not in side.names]
    if lost:
        raise ParameterError(f"{title} takes labels of the map", received=", ".join(_quoted(lost)))
    return _take(side, [side.names.index(label) for label in labels])


def _quoted(labels: list[str]) -> list[str]:
    return [repr(label) for label in labels[:5]] + (["…"] if len(labels) > 5 else [])


# ink


def _many(title: str, side: Side) -> bool:
    return title == "rows" and len(side.names) > NAMED


def _points(ax: Any, side: Side, title: str, *, arrows: bool, many: bool) -> None:
    color, marker = PALETTE[side.shape], MARKERS[2 * side.shape]
    alpha = FAINTEST + (1 - FAINTEST) * side.quality
    area = SMALL + LARGE * side.weight if not many else DOT + 0.3 * LARGE * side.weight
    if arrows:
        for (x, y), opacity in zip(side.xy, alpha, strict=True):
            ax.plot([0, x], [0, y], color=color, linewidth=0.9, alpha=float(opacity), zorder=2)
    ax.scatter(*side.xy.T, s=area, c=color, marker=marker, alpha=alpha, linewidths=0.4, edgecolors="white",
               label=title, zorder=2 if many else 3)  # fmt: skip


def _named(title: str, side: Side, names: Any) -> bool:
    if names == "auto":
        return not _many(title, side)
    return bool(names is True or names == title)


def _write(ax: Any, sides: list[Side], most: int) -> None:
    """Names of the points that contribute most, both sides at once: they make way for each other."""
    every = [(side.weight[i], side.xy[i], side.names[i], dark(PALETTE[side.shape])) for side in sides
             for i in range(len(side.names))]  # fmt: skip
    every.sort(key=lambda one: (-one[0], one[2]))
    held = every[:most]
    if held:
        size = 8.0 if len(held) <= 60 else 6.5
        write_names(ax, np.array([one[1] for one in held]), [one[2] for one in held],
                    colors=[one[3] for one in held], size=size)  # fmt: skip


def _axis(model: Any, i: int) -> str:
    return f"axis {i + 1} ({100 * float(model.explained_inertia_ratio_[i]):.3g} % of inertia)"


def _legend(ax: Any, sides: list[Side], titles: list[str]) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], linestyle="", marker=MARKERS[2 * side.shape], color=PALETTE[side.shape], markersize=6)
        for side in sides
    ]
    ax.legend(marks, titles, loc="best", frameon=False, handletextpad=0.2)


def _check(model: Any, scaling: str, names: Any) -> None:
    if not isinstance(model, CorrespondenceResults):
        raise ParameterError(
            "map draws models of the correspondence family", received=type(model).__name__,
            hint="ritz.plot.scores(model, X) draws the rows of other models",
        )  # fmt: skip
    check_is_fitted(model)
    if scaling not in SCALINGS:
        raise ParameterError(f"scaling must be one of {', '.join(SCALINGS)}", received=repr(scaling))
    if names not in ("auto", "rows", "columns", True, False):
        raise ParameterError("names must be 'auto', 'rows', 'columns', True or False", received=repr(names))
