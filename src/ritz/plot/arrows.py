"""Columns as arrows: among the rows, or within the circle of correlations.

biplot   rows R, columns s·C,  R Cᵀ ≈ the table [Gab71]     one stretch s for all columns: where a row falls along an
                                                           arrow, compared with the other rows, is not changed by it
circle   correlations with two components                  length² = cos² in their plane: an arrow that reaches the
                                                           circle is shown wholly
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import ParameterError
from ritz.data.tables.frames import row_labels
from ritz.insight.axes.biplot import biplot as coordinates
from ritz.insight.axes.loadings import structure
from ritz.insight.axes.of_model import column_labels
from ritz.insight.axes.supplementary import supplementary as placed
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of
from ritz.plot.groups import column_of, groups_of, scatter
from ritz.plot.labels import write_names
from ritz.plot.shares import labels_of
from ritz.plot.style import COLUMN, FAINT, INK, PALETTE, axis_label, chosen, dark, one_axes

__all__ = ["biplot", "circle"]

Floats = NDArray[np.float64]

#: How far the longest arrow of a biplot reaches, in units of the farthest row.
REACH = 0.9
#: Names of columns that find room; of more, those with the longest arrows get theirs.
MOST = 60
#: Places along an arrow that names keep clear of, in units of its length.
SHAFT = np.linspace(0.4, 0.95, 8)
#: Rows beyond this many are drawn small.
MANY = 150


@asked
def biplot(
    model: Any, X: Any, *, scaling: str = "form", components: Any = (0, 1), color: Any = None, names: Any = None,
    most: int = MOST, legend: bool = True, ax: Any = None,
) -> Any:  # fmt: skip
    """Draw rows as points and columns as arrows.

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA, FactorAnalysis, CA, MCA, FAMD or MFA
    X : what ``transform`` takes
    scaling : "form", "covariance" or "symmetric"
        True distances between rows, true correlations between columns, or something between; factors have the
        covariance scaling.
    components : two ints
        Which, counted from 0.
    color : array-like (n,) or the name of a column of X
        A kind or an amount for each row.
    names : sequence of str, True, or the name of a column of X
        Names of rows; True: those of the frame.
    most : int
        Names of columns at most; the longest arrows come first.
    legend : bool
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> ax = ritz.plot.biplot(ritz.PCA(2, scale=True).fit(X), X)
    >>> ax.get_xlabel()
    'component 1 (73 %)'
    >>> [text.get_text() for text in ax.texts if text.get_text()][:2]  # columns are arrows
    ['sepal width (cm)', 'sepal length (cm)']
    """
    placement = coordinates(model, X, scaling=scaling)
    rows, columns = _numbers(placement.rows), _numbers(placement.columns)
    which = _two(components, rows.shape[1])
    xy, arrows = rows[:, which], columns[:, which]
    groups = groups_of(column_of(X, color, len(xy), "color"), len(xy))
    ax = one_axes(ax, size=(COLUMN, 0.85 * COLUMN))
    _cross(ax)
    scatter(ax, xy, groups, size=22 if len(xy) <= MANY else 9, bar=legend)
    longest = float(np.max(np.hypot(*arrows.T), initial=0.0))
    stretch = REACH * float(np.max(np.hypot(*xy.T), initial=0.0)) / longest if longest > 0 else 1.0
    ends = arrows * stretch
    labels = column_labels(model)
    ax.set(xlabel=axis_label(model, which[0]), ylabel=axis_label(model, which[1]))
    _finish(ax, ends, 0.1)
    _arrows(ax, ends, INK)  # no colour of a kind of rows
    _written(ax, ends, labels, most, extra=_row_names(X, names, xy))
    if legend and len(groups.names) > 1:
        ax.legend(frameon=False, handletextpad=0.2)
    return ax


@asked
def circle(
    model: Any, X: Any = None, *, components: Any = (0, 1), supplementary: Any = None, most: int = MOST, ax: Any = None
) -> Any:
    """Draw the circle of correlations: columns by their correlations with two components.

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA or FactorAnalysis, or FAMD or MFA with columns of numbers
    X : rows of the fit, optional
        Needed for ``supplementary``, and where the model did not keep how much its columns vary.
    components : two ints
        Which, counted from 0.
    supplementary : frame or array of numbers, optional
        Further columns for the rows X, drawn dashed.
    most : int
        Names at most; the longest arrows come first.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> X = load_wine(as_frame=True).data
    >>> ax = ritz.plot.circle(ritz.PCA(2, scale=True).fit(X), most=5)
    >>> ax.get_aspect(), ax.get_ylabel()          # an arrow that reaches the circle is a column without loss
    (1.0, 'component 2 (19.2 %)')
    """
    check_is_fitted(model)
    values, labels = _columns(model, X)
    which = _two(components, values.shape[1])
    ends = values[:, which]
    ax = one_axes(ax, size=(0.75 * COLUMN, 0.75 * COLUMN))
    _cross(ax)
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=FAINT, linewidth=0.8, zorder=1)
    ax.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    ax.set(xlabel=axis_label(model, which[0]), ylabel=axis_label(model, which[1]))
    varying = np.atleast_1d(np.isfinite(ends).all(axis=1))  # a constant column has no correlation
    ends, labels = ends[varying], [label for label, there in zip(labels, varying, strict=True) if there]
    _arrows(ax, ends, PALETTE[0])
    further = None
    if supplementary is not None:
        if X is None:
            raise ParameterError("supplementary columns need the rows", received="X=None", hint="circle(model, X, …)")
        measured, numbers = _beside(model, X, supplementary)
        more = numbers[:, which]
        _arrows(ax, more, PALETTE[1], dashed=True)
        further = (more, measured, dark(PALETTE[1]))
    _written(ax, ends, labels, most, color=PALETTE[0], extra=further)
    return ax


def _beside(model: Any, X: Any, further: Any) -> tuple[list[str], Floats]:
    """Names and correlations of columns that took no part."""
    if fitted_of(model).space != "table":
        extra = placed(model, X, further)
        return extra.measurements, _numbers(extra.correlations)
    found = model.supplementary_columns(further, rows=X)
    names, values = labels_of(found), _numbers(found)
    kept = [j for j, name in enumerate(names) if "=" not in name]
    return [names[j] for j in kept], values[kept]


def _columns(model: Any, X: Any) -> tuple[Floats, list[str]]:
    """Correlations of the columns with the axes, (d, k), and their names; of FAMD and MFA those of the numbers."""
    fitted = fitted_of(model)
    names = column_labels(model)
    if fitted.space == "table" and fitted.encoder() is not None and fitted.number_columns():
        p = fitted.number_columns()
        return fitted.result("column_coordinates_")[:p], [str(name) for name in (names or range(p))][:p]
    values = _numbers(structure(model, X))
    return values, [str(name) for name in (names or range(len(values)))]


def _two(components: Any, k: int) -> list[int]:
    which = chosen(components, k)
    if len(which) != 2:
        raise ParameterError("a plane has two components", received=repr(components), hint="components=(0, 1)")
    return which


def _numbers(result: Any) -> Floats:
    """The numbers of a result, whatever library holds it."""
    if isinstance(result, np.ndarray):
        return result
    import narwhals as nw

    frame = nw.from_native(result, eager_only=True)
    wanted = [name for name in frame.columns if name not in ("row", "column", "variable", "category")]
    return frame.select(wanted).to_numpy()


def _row_names(X: Any, names: Any, xy: Floats) -> tuple[Floats, list[str], str] | None:
    labels = row_labels(X) if names is True else column_of(X, None if names is False else names, len(xy), "names")
    return None if labels is None else (xy, [str(name) for name in labels], FAINT)


def _cross(ax: Any) -> None:
    for line in (ax.axhline, ax.axvline):
        line(0, color=FAINT, linewidth=0.5, alpha=0.6, zorder=1)


def _finish(ax: Any, ends: Floats, margin: float) -> None:
    """Room for the arrows: they are annotations, which Axes do not count."""
    ax.update_datalim(ends)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(margin)
    ax.autoscale_view()


def _arrows(ax: Any, ends: Floats, color: str, *, dashed: bool = False) -> None:
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9,
             "linestyle": "--" if dashed else "-"}  # fmt: skip
    for end in ends:
        ax.annotate("", end, xytext=(0, 0), arrowprops=style, annotation_clip=False, zorder=3)


def _written(
    ax: Any, ends: Floats, labels: list[str] | None, most: int, *, color: str = INK,
    extra: tuple[Floats, list[str], str] | None = None,
) -> None:  # fmt: skip
    """Names of the longest arrows, and of what else is there, all at once: they make way for each other."""
    every = [str(j) for j in range(len(ends))] if labels is None else [str(label) for label in labels]
    order = np.argsort(-np.hypot(*ends.T), kind="stable")[:most]
    points, names, tints = ends[order], [every[j] for j in order], [dark(color)] * len(order)
    if extra is not None:
        points, names = np.concatenate([points, extra[0]]), names + extra[1]
        tints = tints + [extra[2]] * len(extra[1])
    if not names:
        return
    drawn = ends if extra is None or extra[2] == FAINT else np.concatenate([ends, extra[0]])
    shafts = (drawn[:, None] * SHAFT[:, None]).reshape(-1, 2)  # names keep off arrows
    write_names(ax, points, names, colors=tints, size=8.0, avoid=shafts)
