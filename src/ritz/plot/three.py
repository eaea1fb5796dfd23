"""Rows in three dimensions: z = transform(x), drawn as (zᵢ, zⱼ, zₖ), one unit as long on every axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import ParameterError
from ritz._core.warn import one_call
from ritz.methods.fitted import fitted_of
from ritz.plot.groups import column_of, groups_of, tint
from ritz.plot.style import COLUMN, MARKERS, SEQUENTIAL, axis_label, chosen, house

__all__ = ["space"]


@one_call()
def space(
    model: Any, X: Any, *, components: Any = (0, 1, 2), color: Any = None, view: tuple[float, float] = (20.0, -60.0),
    legend: bool = True, ax: Any = None,
) -> Any:  # fmt: skip
    """Draw rows on three components.

    Parameters
    ----------
    model : fitted, with ``transform``
    X : rows
    components : three ints or names
        Which, counted from 0, or as "PC1".
    color : array-like (n,) or the name of a column of X
        A kind or an amount for each row.
    view : (elevation, azimuth) in degrees
    legend : bool
    ax : three-dimensional Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes3D

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> ax = ritz.plot.space(ritz.PCA(3).fit(X), X)
    >>> ax.get_zlabel()
    'component 3 (1.71 %)'
    """
    check_is_fitted(model)
    Z = np.asarray(fitted_of(model).scores(X), np.float64)
    which = chosen(components, Z.shape[1])
    if len(which) != 3:
        raise ParameterError("a space has three components", received=repr(components), hint="components=(0, 1, 2)")
    if ax is not None and not hasattr(ax, "get_zlim"):
        raise ParameterError(
            "ax takes three-dimensional Axes", received=type(ax).__name__,
            hint="fig, ax = plt.subplots(subplot_kw={'projection': '3d'})",
        )  # fmt: skip
    groups = groups_of(column_of(X, color, len(Z), "color"), len(Z))
    if ax is None:
        import matplotlib.pyplot as plt

        with house():
            ax = plt.subplots(figsize=(0.85 * COLUMN, 0.75 * COLUMN), subplot_kw={"projection": "3d"})[1]
    xyz, size = Z[:, which], 18 if len(Z) <= 500 else 5
    if groups.amount is not None:
        ax.scatter(*xyz.T, c=groups.amount, cmap=SEQUENTIAL, s=size)
    else:
        for i, name in enumerate(groups.names):
            there = groups.code == i
            ax.scatter(*xyz[there].T, color=tint(i), marker=MARKERS[i % len(MARKERS)], s=size, label=name or None)
    ax.set_xlabel(axis_label(model, which[0]))
    ax.set_ylabel(axis_label(model, which[1]))
    ax.set_zlabel(axis_label(model, which[2]))
    ax.set_aspect("equal")
    ax.view_init(*view)
    if legend and len(groups.names) > 1:
        ax.legend(frameon=False)
    return ax
