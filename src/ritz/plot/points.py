"""Rows in the plane of two components.

z = transform(x)    drawn as (zᵢ, zⱼ)    one unit is as long on either axis: distances on paper are those of the plane
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz.insight.calls import asked
from ritz.insight.rows.ellipse import ellipse
from ritz.methods.fitted import fitted_of
from ritz.plot.groups import Groups, column_of, groups_of, scatter, tint
from ritz.plot.labels import write_names
from ritz.plot.style import FAINT, INK, axis_label, chosen, dark, one_axes

__all__ = ["scores"]

#: Rows beyond this many are drawn small, and beyond ten times as many as dots.
MANY = 300


@asked
def scores(
    model: Any,
    X: Any = None,
    *,
    components: Any = (0, 1),
    color: Any = None,
    names: Any = None,
    ellipses: str | None = None,
    centers: bool = False,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw rows in the plane of two components.

    Parameters
    ----------
    model : fitted
        Anything with ``transform``.
    X : what ``transform`` takes
        The rows; those of the fit, if not given, where a model of a kernel or of texts keeps them.
    components : two ints or names
        Which, counted from 0, or as "PC1".
    color : array-like (n,) or the name of a column of X
        Kinds of rows (words, booleans, a few whole numbers): a colour and a shape each; or an amount. None: grey.
    names : sequence of str, or the name of a column of X
        Written beside the points, where there is room.
    ellipses : None, "rows" or "means"
        Around each kind: where a further row of it would lie, or where its mean would lie in other data (95 %,
        :func:`ritz.insight.ellipse`).
    centers : bool
        Mark the mean of each kind, and name it.
    legend : bool
        Name the kinds; draw the scale of an amount.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> names = iris.target.map(dict(enumerate(iris.target_names)))
    >>> ax = ritz.plot.scores(ritz.PCA(2).fit(iris.data), iris.data, color=names, ellipses="rows")
    >>> sorted(text.get_text() for text in ax.get_legend().get_texts())
    ['setosa', 'versicolor', 'virginica']
    """
    check_is_fitted(model)
    Z = _plane(model, X)
    which = chosen(components, Z.shape[1])
    if len(which) != 2:
        raise ParameterError("a plane has two components", received=repr(components), hint="components=(0, 1)")
    xy = Z[:, which]
    groups = groups_of(column_of(X, color, len(xy), "color"), len(xy))
    written = column_of(X, names, len(xy), "names")
    ax = one_axes(ax)
    _cross(ax)
    size = 26 if len(xy) <= MANY / 2 else 14 if len(xy) <= 3 * MANY else 8 if len(xy) <= 10 * MANY else 3
    scatter(ax, xy, groups, size=size, bar=legend)
    if ellipses is not None:
        _rings(ax, model, X, groups, which, ellipses)
    if centers and groups.amount is None and len(groups.names) > 1:
        _centers(ax, xy, groups)
    ax.set(xlabel=axis_label(model, which[0]), ylabel=axis_label(model, which[1]))
    # "datalim": the frame stays as it is and shows more of the plane, so pictures side by side keep one height.
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    if legend and len(groups.names) > 1:
        ax.legend(frameon=False, handletextpad=0.2)
    if written is not None:
        write_names(ax, xy, [str(name) for name in written], colors=_tints(groups))
    return ax


def _plane(model: Any, X: Any) -> NDArray[Any]:
    if X is None and fitted_of(model).space == "table":
        return fitted_of(model).result("row_coordinates_")
    if X is None and (fitted_of(model).space == "embedding" or fitted_of(model).about.takes == "texts"):
        return np.asarray(fitted_of(model).row_coordinates())
    if X is None:
        X = getattr(model, "X_fit_", None)
        if X is None:
            raise InputError(
                "expected rows to draw", received="no X", hint="scores(model, X): this model keeps no rows"
            )
    fitted = fitted_of(model)
    return np.asarray(model.transform(X)) if fitted.places_new_rows else fitted.scores(X)


def _rings(ax: Any, model: Any, X: Any, groups: Groups, which: list[int], of: str) -> None:
    """An ellipse around each kind, in its colour."""
    if X is None or groups.amount is not None or of not in ("rows", "means"):
        raise ParameterError(
            "ellipses must be 'rows' or 'means', around the kinds that the rows X are coloured by",
            received=repr(of),
            hint="scores(model, X, color=labels, ellipses='rows')",
        )
    labels = [None if code < 0 else int(code) for code in groups.code]
    for code, ring in ellipse(model, X, np.array(labels, object), of=of, components=(which[0], which[1])).items():
        color = INK if len(groups.names) < 2 else tint(code)
        ax.plot(*ring.path().T, color=color, linewidth=1.3, zorder=2)


def _centers(ax: Any, xy: NDArray[Any], groups: Groups) -> None:
    """The mean of each kind, in its colour."""
    for code, name in enumerate(groups.names):
        there = groups.code == code
        if there.any():
            x, y = xy[there].mean(axis=0)
            ax.scatter(x, y, s=110, marker="X", color=tint(code), edgecolors="white", linewidths=1.0, zorder=4)
            ax.annotate(
                name, (x, y), xytext=(7, 7), textcoords="offset points", fontsize=9, color=dark(tint(code)), zorder=5
            )


def _cross(ax: Any) -> None:
    """Where each component is 0."""
    for line in (ax.axhline, ax.axvline):
        line(0, color=FAINT, linewidth=0.5, alpha=0.6, zorder=1)


def _tints(groups: Groups) -> list[str] | None:
    return None if len(groups.names) < 2 else [dark(tint(int(code))) for code in groups.code]
