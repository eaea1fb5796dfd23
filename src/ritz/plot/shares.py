"""Who makes an axis, whom it shows, and which variables go with it.

contributions   the largest contributions or cos² of columns or rows, as bars      line: all alike, 1/d or 1/n
variables       r² of numbers and η² of categorical variables with two axes        in the square from 0 to 1
group_map       groups of columns of an MFA by their share of two axes (Lg)        in the same square
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import ParameterError
from ritz._core.warn import one_call
from ritz.data.tables.frames import row_labels
from ritz.insight.arguments import component_numbers
from ritz.insight.axes.contributions import column_contributions, column_cos2
from ritz.insight.axes.contributions import contributions as row_contributions
from ritz.insight.axes.contributions import cos2 as row_cos2
from ritz.insight.axes.of_model import axis_names, column_labels
from ritz.methods.fitted import fitted_of
from ritz.plot.labels import write_names
from ritz.plot.style import COLUMN, FAINT, MARKERS, PALETTE, axis_label, chosen, dark, one_axes

__all__ = ["contributions", "group_map", "variables"]

Floats = NDArray[np.float64]

#: Bars of a picture.
MOST = 20


@one_call()
def contributions(
    model: Any, X: Any = None, *, of: str = "columns", what: str = "contribution", components: Any = (0,),
    most: int = MOST, ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the largest contributions to an axis, or cos² on it, as bars.

    Parameters
    ----------
    model : fitted PCA, SVD, CA, MCA, FAMD, MFA or a relative
    X : rows, as ``transform`` takes them
        Needed for rows, and for cos² of columns where the model did not keep how much they vary.
    of : "columns" or "rows"
    what : "contribution" or "cos2"
    components : int, name, or list of such
        One axis, or several together: contributions are then weighed by the axes' variances.
    most : int
        Bars at most.
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
    >>> ax = ritz.plot.contributions(ritz.PCA(2, scale=True).fit(X), most=3)
    >>> [text.get_text() for text in ax.get_yticklabels()]  # the largest on top; the line is 1/13
    ['flavanoids', 'total_phenols', 'od280/od315_of_diluted_wines']
    """
    check_is_fitted(model)
    if of not in ("columns", "rows"):
        raise ParameterError("of must be 'columns' or 'rows'", received=repr(of), hint="of='columns'")
    if what not in ("contribution", "cos2"):
        raise ParameterError("what must be 'contribution' or 'cos2'", received=repr(what), hint="what='cos2'")
    if of == "rows" and X is None:
        raise ParameterError(
            "contributions of rows need the rows", received="X=None", hint="contributions(model, X, …)"
        )
    names = axis_names(model, fitted_of(model).k)
    which = component_numbers(components, names)
    values, labels = _values(model, X, of, what)
    weights = np.asarray(fitted_of(model).shares, np.float64)[which]
    many = what == "contribution" and len(which) > 1
    one = values[:, which] @ (weights / weights.sum()) if many else values[:, which].sum(axis=1)
    order = np.argsort(-np.nan_to_num(one), kind="stable")[:most]
    ax = one_axes(ax, size=(0.8 * COLUMN, 0.24 * max(len(order), 4) + 0.8))
    place = np.arange(len(order))
    ax.barh(place, 100 * one[order], 0.72, color=PALETTE[0])
    ax.set_yticks(place, [labels[j] for j in order])
    ax.invert_yaxis()
    where = " and ".join(names[i] for i in which)
    ax.set_xlabel(f"contribution to {where}, %" if what == "contribution" else f"cos² on {where}, %")
    if what == "contribution":
        ax.axvline(100 / len(one), color=PALETTE[1], linewidth=1.0, linestyle="--")
    return ax


def _values(model: Any, X: Any, of: str, what: str) -> tuple[Floats, list[str]]:
    if of == "rows":
        found = row_contributions(model, X) if what == "contribution" else row_cos2(model, X)
        values, labels = numbers_of(found), row_labels(X)
        return values, [str(name) for name in (range(1, len(values) + 1) if labels is None else labels)]
    found = column_contributions(model) if what == "contribution" else column_cos2(model, X)
    values, names = numbers_of(found), column_labels(model)
    return values, [str(name) for name in (range(1, len(values) + 1) if names is None else names)]


def numbers_of(result: Any) -> Floats:
    """The numbers of a result, whatever library holds it."""
    if isinstance(result, np.ndarray):
        return result
    import narwhals as nw

    frame = nw.from_native(result, eager_only=True)
    wanted = [name for name in frame.columns if name not in ("row", "column", "variable", "category", "group")]
    return frame.select(wanted).to_numpy()


@one_call()
def variables(
    model: Any, *, components: Any = (0, 1), supplementary: Any = None, rows: Any = None, ax: Any = None
) -> Any:
    """Draw variables by how closely they go with two axes: r² of numbers, η² of categorical ones.

    Parameters
    ----------
    model : fitted MCA, FAMD or MFA
    components : two ints
        Axes, counted from 0.
    supplementary : frame of further columns, which ``supplementary_columns`` takes; optional
    rows : rows of the fit, where the model did not keep them
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, ritz
    >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
    >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
    >>> ax = ritz.plot.variables(ritz.MCA(2).fit(tea))
    >>> sorted(text.get_text() for text in ax.texts)
    ['kind', 'sugar', 'where']
    """
    fitted = fitted_of(model)
    if fitted.space != "table" or fitted.about.takes == "counts":
        fitted.refuse("picture of variables", hint="ritz.plot.circle(model) draws columns of numbers")
    held = model.eta2_ if fitted.about.takes == "categories" else model.variable_coordinates_
    values, names = numbers_of(held), labels_of(held)
    which = chosen(components, values.shape[1])
    if len(which) != 2:
        raise ParameterError("a plane has two components", received=repr(components), hint="components=(0, 1)")
    p = 0 if fitted.about.takes == "categories" else fitted.number_columns()
    kinds = [("numbers", values[:p], names[:p]), ("categorical variables", values[p:], names[p:])]
    if supplementary is not None:
        given = {} if rows is None else {"rows": rows}
        eta2 = model.supplementary_columns(supplementary, "eta2", **given)
        kinds.append(("took no part", numbers_of(eta2), labels_of(eta2)))
    return _square(model, [kind for kind in kinds if len(kind[2])], which, ax)


@one_call()
def group_map(model: Any, *, components: Any = (0, 1), ax: Any = None) -> Any:
    """Draw the groups of columns of an MFA by how much of two axes each holds.

    Parameters
    ----------
    model : fitted MFA
    components : two ints
        Axes, counted from 0.
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
    >>> parts = {"sepal": list(X.columns[:2]), "petal": list(X.columns[2:])}
    >>> ax = ritz.plot.group_map(ritz.MFA(2, groups=parts).fit(X))
    >>> sorted(text.get_text() for text in ax.texts)
    ['petal', 'sepal']
    """
    fitted = fitted_of(model)
    if fitted.about.takes != "groups":
        fitted.refuse("picture of groups", hint="ritz.MFA(groups={name: columns}) has groups")
    held = model.group_coordinates_
    values = numbers_of(held)
    which = chosen(components, values.shape[1])
    if len(which) != 2:
        raise ParameterError("a plane has two components", received=repr(components), hint="components=(0, 1)")
    return _square(model, [("groups", values, labels_of(held))], which, ax)


def _square(model: Any, kinds: list[tuple[str, Floats, list[str]]], which: list[int], ax: Any) -> Any:
    """Points between 0 and 1 with their names."""
    ax = one_axes(ax, size=(0.75 * COLUMN, 0.75 * COLUMN))
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set(xlabel=axis_label(model, which[0]), ylabel=axis_label(model, which[1]))
    ax.grid(color=FAINT, alpha=0.15, linewidth=0.6)
    points, names, tints = [], [], []
    for i, (title, values, labels) in enumerate(kinds):
        xy = values[:, which]
        ax.scatter(*xy.T, s=30, color=PALETTE[i], marker=MARKERS[i], label=title, zorder=3, clip_on=False)
        points.append(xy)
        names += labels
        tints += [dark(PALETTE[i])] * len(labels)
    if len(kinds) > 1:
        ax.legend(frameon=False, handletextpad=0.2)
    write_names(ax, np.concatenate(points), names, colors=tints, size=8.0)
    return ax


def labels_of(held: Any) -> list[str]:
    """Names of the rows of a result."""
    if isinstance(held, np.ndarray):
        return [str(i + 1) for i in range(len(held))]
    if hasattr(held, "index"):
        return [str(name) for name in held.index]
    import narwhals as nw

    frame = nw.from_native(held, eager_only=True)
    return [str(name) for name in frame[frame.columns[0]].to_list()]
