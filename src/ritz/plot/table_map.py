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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.data.tables.frames import row_labels
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of
from ritz.plot.groups import Groups, column_of, groups_of, scatter
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


@asked
def map(
    model: Any, *, scaling: str = "symmetric", components: Any = (0, 1), rows: Any = True, columns: Any = True,
    supplementary: Any = None, supplementary_rows: Any = None, color: Any = None, names: Any = "auto",
    labels: str = "auto", most: int = MOST, legend: bool = True, ax: Any = None,
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
    supplementary : frame or array, optional
        Further columns, which ``supplementary_columns`` takes.
    supplementary_rows : frame or array, optional
        Further rows, which ``transform`` takes.
    color : array-like (n,), optional
        A kind or an amount for each row of the fit.
    names : "auto", "rows", "columns", True or False
        Which sides are named; "auto" names columns, and at most 80 rows that have names.
    labels : "auto", "full" or "level"
        Categories as ``variable=level`` or by their level; "auto": by their level where no two are the same.
    most : int
        Names at most; the points that contribute most come first.
    legend : bool
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, ritz
    >>> staff = ["senior manager", "junior manager", "senior staff", "junior staff", "secretary"]
    >>> smokers = pd.DataFrame([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]],
    ...     index=staff, columns=["none", "light", "medium", "heavy"])
    >>> ax = ritz.plot.map(ritz.CA(2).fit(smokers))
    >>> ax.get_xlabel()
    'axis 1 (87.8 % of inertia)'
    """
    _check(model, scaling, names, labels)
    if len(model.eigenvalues_) < 2:
        raise ParameterError("a map needs two axes", received=f"a model with {len(model.eigenvalues_)}",
                             hint="fit with n_components=2 or more, if the table has as many")  # fmt: skip
    which = chosen(components, len(model.eigenvalues_))
    if len(which) != 2:
        raise ParameterError("a map has two axes", received=repr(components), hint="components=(0, 1)")
    sides = _sides(model, which, scaling, rows, columns, labels)
    sides |= _further(model, which, supplementary, supplementary_rows)
    ax = one_axes(ax, size=(COLUMN, 0.85 * COLUMN))
    for line in (ax.axhline, ax.axvline):
        line(0, color=FAINT, linewidth=0.5, alpha=0.6, zorder=1)
    groups = None if color is None or "rows" not in sides else _kinds(color, sides["rows"])
    for title, side in sides.items():
        if title == "rows" and groups is not None:
            scatter(ax, side.xy, groups, size=26.0 if not _many(title, side) else 10.0, bar=legend)
            continue
        _points(ax, side, title, arrows=side.shape == 1 and scaling == "contribution", many=_many(title, side))
    ax.set(xlabel=_axis(model, which[0]), ylabel=_axis(model, which[1]))
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.1)
    if legend and (len(sides) > 1 or groups is not None):
        _legend(ax, sides, groups)
    named = fitted_of(model).row_names() is not None
    _write(ax, [side for title, side in sides.items() if _named(title, side, names, named)], most)
    return ax


# the two sides


def _sides(model: Any, which: list[int], scaling: str, rows: Any, columns: Any, labels: str) -> dict[str, Side]:
    sides = {}
    if rows is not False:
        sides["rows"] = _picked(_rows(model, which, scaling), rows, "rows", model)
    if columns is not False and model.components_.shape[1] > _numbers(model):
        title = "columns" if fitted_of(model).encoder() is None else "categories"
        side = _columns(model, which, scaling)
        full = _picked(side, columns, "columns", model)
        sides[title] = replace(full, names=_labels(full.names, labels))
    return sides


def _further(model: Any, which: list[int], columns: Any, rows: Any) -> dict[str, Side]:
    """Points that took no part in the fit: none of them contributed."""
    sides = {}
    if columns is not None:
        placed = model.supplementary_columns(columns)
        sides["supplementary"] = _placed(placed, which, 3)
    if rows is not None:
        names = row_labels(rows)
        F = np.asarray(model.transform(rows))
        sides["supplementary rows"] = _placed(F, which, 2, None if names is None else [str(name) for name in names])
    return sides


def _placed(coordinates: Any, which: list[int], shape: int, names: list[str] | None = None) -> Side:
    if hasattr(coordinates, "index"):
        names = [str(name) for name in coordinates.index]
    elif hasattr(coordinates, "columns"):  # labels in the first column
        label, *axes = coordinates.columns
        names, coordinates = [str(name) for name in coordinates[label]], coordinates[axes]
    xy = np.asarray(coordinates, np.float64)[:, which]
    labels = names or [str(i) for i in range(len(xy))]
    side = Side(xy, np.full(len(xy), 0.02), np.ones(len(xy)), labels, shape)
    placed = np.flatnonzero(np.isfinite(xy).all(axis=1))
    return side if len(placed) == len(xy) else _take(side, placed)


def _kinds(color: Any, side: Side) -> Groups:
    return groups_of(column_of(None, color, len(side.xy), "color"), len(side.xy))


def _rows(model: Any, which: list[int], scaling: str) -> Side:
    fitted = fitted_of(model)
    F = fitted.row_coordinates()
    if F is None:
        raise InputError(
            "a map of rows needs a table that was fitted in memory", received="a model without its rows",
            hint="map(model, rows=False) draws the columns",
        )  # fmt: skip
    xy = fitted.result("row_standard_coordinates_") if scaling == "column-principal" else F
    labels = fitted.row_names()
    names = [str(label) for label in (range(len(F)) if labels is None else labels)]
    return _side(xy, fitted.result("row_contributions_"), fitted.result("row_cos2_"), names, which, 0)


def _columns(model: Any, which: list[int], scaling: str) -> Side:
    fitted = fitted_of(model)
    if scaling == "contribution":
        xy = np.asarray(model.components_.T)
    else:
        xy = fitted.result("column_standard_coordinates_" if scaling == "row-principal" else "column_coordinates_")
    labels = fitted.column_labels()
    names = [str(label) for label in (range(len(xy)) if labels is None else labels)]
    side = _side(xy, fitted.result("column_contributions_"), fitted.result("column_cos2_"), names, which, 1)
    return _take(side, np.arange(_numbers(model), len(side.names))) if _numbers(model) else side


def _numbers(model: Any) -> int:
    """Leading columns that are numbers: they have correlations, which have no place among distances."""
    return fitted_of(model).number_columns()


def _labels(names: list[str], labels: str) -> list[str]:
    """Categories by their level, all of them, where that is enough to tell them apart."""
    levels = [name.partition("=")[2] or name for name in names]
    if labels == "level" or (labels == "auto" and len(set(levels)) == len(levels)):
        return levels
    return names


def _side(xy: Any, share: Any, cos2: Any, names: list[str], which: list[int], shape: int) -> Side:
    plane = np.asarray(xy, np.float64)[:, which]
    weight = np.nan_to_num(np.asarray(share, np.float64)[:, which].mean(axis=1))
    quality = np.clip(np.nan_to_num(np.asarray(cos2, np.float64)[:, which].sum(axis=1)), 0.0, 1.0)
    side = Side(plane, weight, quality, names, shape)
    placed = np.flatnonzero(np.isfinite(plane).all(axis=1))  # an empty row has no place
    return side if len(placed) == len(plane) else _take(side, placed)


def _take(side: Side, places: Any) -> Side:
    names = [side.names[int(i)] for i in places]
    return Side(side.xy[places], side.weight[places], side.quality[places], names, side.shape)


def _picked(side: Side, wanted: Any, title: str, model: Any) -> Side:
    if wanted is True:
        return side
    labels = [str(label) for label in wanted]
    lost = [label for label in labels if label not in side.names]
    if lost:
        numbers = (fitted_of(model).column_labels() or [])[: _numbers(model)]
        hint = "numbers have correlations with the axes, not places among them: column_coordinates_"
        raise ParameterError(f"{title} takes labels of the map", received=", ".join(_quoted(lost)),
                             hint=hint if title == "columns" and set(lost) & set(numbers) else None)  # fmt: skip
    return _take(side, [side.names.index(label) for label in labels])


def _quoted(labels: list[str]) -> list[str]:
    return [repr(label) for label in labels[:5]] + (["…"] if len(labels) > 5 else [])


# ink


def _many(title: str, side: Side) -> bool:
    return title == "rows" and len(side.names) > NAMED


def _points(ax: Any, side: Side, title: str, *, arrows: bool, many: bool) -> None:
    color, marker = PALETTE[side.shape], MARKERS[2 * side.shape % len(MARKERS)]
    alpha = FAINTEST + (1 - FAINTEST) * side.quality
    area = SMALL + LARGE * side.weight if not many else DOT + 0.3 * LARGE * side.weight
    if arrows:
        for (x, y), opacity in zip(side.xy, alpha, strict=True):
            ax.plot([0, x], [0, y], color=color, linewidth=0.9, alpha=float(opacity), zorder=2)
    ax.scatter(*side.xy.T, s=area, c=color, marker=marker, alpha=alpha, linewidths=0.4, edgecolors="white",
               label=title, zorder=2 if many else 3)  # fmt: skip


def _named(title: str, side: Side, names: Any, rows: bool) -> bool:
    """Whether the points of a side are named; ``rows`` says whether rows have names."""
    if names == "auto":
        return not _many(title, side) and (rows or title != "rows")
    return bool(names is True or names == title or (names == "columns" and title in ("categories", "supplementary")))


def _write(ax: Any, sides: list[Side], most: int) -> None:
    """Names of the points that contribute most, both sides at once: they make way for each other."""
    every = [(side.weight[i], side.xy[i], side.names[i], dark(PALETTE[side.shape])) for side in sides
             for i in range(len(side.names))]  # fmt: skip
    every.sort(key=lambda one: (-one[0], one[2]))
    written = every[:most]
    if written:
        size = 8.0 if len(written) <= 60 else 6.5
        write_names(ax, np.array([one[1] for one in written]), [one[2] for one in written],
                    colors=[one[3] for one in written], size=size)  # fmt: skip


def _axis(model: Any, i: int) -> str:
    return f"axis {i + 1} ({100 * float(model.explained_inertia_ratio_[i]):.3g} % of inertia)"


def _legend(ax: Any, sides: dict[str, Side], groups: Groups | None) -> None:
    from matplotlib.lines import Line2D

    shown = {title: side for title, side in sides.items() if not (title == "rows" and groups is not None)}
    marks = [
        Line2D([], [], linestyle="", marker=MARKERS[2 * side.shape % len(MARKERS)], color=PALETTE[side.shape])
        for side in shown.values()
    ]
    handles, titles = ax.get_legend_handles_labels()
    kinds = [] if groups is None else [(h, t) for h, t in zip(handles, titles, strict=True) if t in groups.names]
    legend = ax.legend([h for h, _ in kinds] + marks, [t for _, t in kinds] + list(shown), loc="best", frameon=False,
                     handletextpad=0.2, title="large: contributes · faint: low cos²")  # fmt: skip
    legend.get_title().set(fontsize=7, color=FAINT)


def _check(model: Any, scaling: str, names: Any, labels: str) -> None:
    fitted = fitted_of(model)
    if fitted.space != "table":
        fitted.refuse("map of rows and columns", hint="ritz.plot.scores(model, X) draws the rows of other models")
    if scaling not in SCALINGS:
        raise ParameterError(f"scaling must be one of {', '.join(SCALINGS)}", received=repr(scaling))
    if labels not in ("auto", "full", "level"):
        raise ParameterError("labels must be 'auto', 'full' or 'level'", received=repr(labels))
    if names not in ("auto", "rows", "columns", True, False):
        raise ParameterError("names must be 'auto', 'rows', 'columns', True or False", received=repr(names))
