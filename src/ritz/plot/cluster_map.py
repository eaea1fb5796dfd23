"""Clusters of rows: Ward's tree, cut where the clusters are, and the rows in the plane of two components.

tree      height = inertia gained by keeping two branches apart, on a root scale      dashed: where it is cut
clusters  rows in the colours of their clusters, centres named
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.warn import one_call
from ritz.data.words import counted
from ritz.insight.clusters.clusters import Clusters
from ritz.methods.fitted import fitted_of
from ritz.plot.groups import Groups, column_of, scatter, tint
from ritz.plot.labels import write_names
from ritz.plot.style import COLUMN, FAINT, INK, PALETTE, axis_label, chosen, dark, one_axes

__all__ = ["clusters", "tree"]

#: Leaves up to which they are named.
NAMED = 60


@one_call()
def tree(found: Clusters, *, names: Any = None, ax: Any = None) -> Any:
    """Draw Ward's tree, with a line where it is cut.

    Parameters
    ----------
    found : the result of ``ritz.insight.clusters``
    names : sequence of str, optional
        Names of the rows, written below up to 60 of them.
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
    >>> found = ritz.insight.clusters(ritz.PCA(2, scale=True).fit(X), X)
    >>> ax = ritz.plot.tree(found)
    >>> ax.get_ylabel()
    'inertia gained, root scale'
    """
    _require(found)
    from scipy.cluster.hierarchy import dendrogram

    Z = found.tree.copy()
    Z[:, 2] = np.sqrt(np.maximum.accumulate(Z[:, 2]))
    gains = np.sqrt(found.gains)
    high = gains[found.k - 2] if found.k > 1 else gains[0] * 1.1
    low = gains[found.k - 1] if found.k - 1 < len(gains) else 0.0
    ax = one_axes(ax, size=(COLUMN, 0.5 * COLUMN))
    n = len(Z) + 1
    labels = None if names is None or n > NAMED or found.gathered else [str(name) for name in names]
    dendrogram(Z, ax=ax, labels=labels, no_labels=labels is None, color_threshold=0, above_threshold_color=INK,
               leaf_rotation=90, leaf_font_size=7)  # fmt: skip
    for lines in ax.collections:
        lines.set_linewidth(0.9)
    ax.axhline((high + low) / 2, color=PALETTE[1], linestyle="--", linewidth=1.0)
    ax.text(1.0, (high + low) / 2, counted(found.k, "cluster"), transform=ax.get_yaxis_transform(), ha="right",
            va="bottom", fontsize=8, color=FAINT)  # fmt: skip
    ax.set_ylabel("inertia gained, root scale")
    return ax


@one_call()
def clusters(
    found: Clusters,
    model: Any,
    X: Any,
    *,
    components: Any = (0, 1),
    names: Any = None,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw rows in the plane of two components, in the colours of their clusters.

    Parameters
    ----------
    found : the result of ``ritz.insight.clusters``
    model : the model that it was found on
    X : the rows
    components : two ints
        Axes, counted from 0.
    names : sequence of str, or the name of a column of X
        Written beside the points, where there is room.
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
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> ax = ritz.plot.clusters(ritz.insight.clusters(pca, X), pca, X)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['cluster 1', 'cluster 2', 'cluster 3']
    """
    _require(found)
    Z = np.asarray(fitted_of(model).scores(X), np.float64)
    which = chosen(components, Z.shape[1])
    if len(which) != 2:
        raise ParameterError("a plane has two components", received=repr(components), hint="components=(0, 1)")
    if len(Z) != len(found.labels):
        raise ParameterError(
            f"the clusters are those of {len(found.labels):,} rows",
            received=f"{len(Z):,} rows",
            hint="pass the same rows",
        )
    xy = Z[:, which]
    groups = Groups([f"cluster {g + 1}" for g in range(found.k)], found.labels - 1)
    written = column_of(X, names, len(xy), "names")
    ax = one_axes(ax)
    for line in (ax.axhline, ax.axvline):
        line(0, color=FAINT, linewidth=0.5, alpha=0.6, zorder=1)
    scatter(ax, xy, groups, size=24 if len(xy) <= 300 else 8)
    centres = np.array([xy[found.labels == g + 1].mean(axis=0) for g in range(found.k)])
    for g, centre in enumerate(centres):
        ax.scatter(*centre, s=110, marker="X", color=tint(g), edgecolors="white", linewidths=1.0, zorder=4)
    ax.set(xlabel=axis_label(model, which[0]), ylabel=axis_label(model, which[1]))
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    if legend:
        ax.legend(frameon=False, handletextpad=0.2)
    if written is not None:
        write_names(ax, xy, [str(name) for name in written], colors=[dark(tint(int(code))) for code in groups.code])
    return ax


def _require(found: Any) -> None:
    if not isinstance(found, Clusters):
        raise ParameterError(
            "expected the result of ritz.insight.clusters", received=type(found).__name__,
            hint="found = ritz.insight.clusters(model, X)",
        )  # fmt: skip
