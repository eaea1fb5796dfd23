"""The outlier map: how far every row lies in the plane of a model, against how far off it.                    [HRV05]

√T² along, √Q upwards, a cut-off for each; rows beyond one of them have a colour, a shape and their name
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.insight.calls import asked
from ritz.insight.outliers.map import KINDS
from ritz.insight.outliers.map import outlier_map as mapped
from ritz.insight.rows.limits import Limits
from ritz.plot.groups import column_of
from ritz.plot.labels import write_names
from ritz.plot.style import FAINT, INK, MARKERS, PALETTE, WEIGHTS, one_axes

__all__ = ["outlier_map"]

#: Names of rows that find room; of more odd rows, the farthest get theirs.
MOST = 25
#: Rows beyond this many are drawn small.
MANY = 300


@asked
def outlier_map(
    model: Any, X: Any, alpha: float = 0.025, rows: str = "training", *, bounds: Limits | None = None,
    names: Any = None, most: int = MOST, legend: bool = True, ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the outlier map: score distance against orthogonal distance of every row, with cut-offs.

    Parameters
    ----------
    model, X, alpha, rows, bounds
        As for :func:`ritz.insight.outlier_map`.
    names : sequence of str, or the name of a column of X
        Names of the rows; those of the frame, or numbers from 0, if not given.
    most : int
        Names at most; the farthest rows beyond a cut-off come first.
    legend : bool
        Name the kinds of rows.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).standard_normal((100, 5)) * [5, 4, 1, 1, 1]
    >>> X[7, 4] = 12                              # a row far off the plane of the others
    >>> ax = ritz.plot.outlier_map(ritz.RobustPCA(2, method="robpca").fit(X), X, most=1)
    >>> [text.get_text() for text in ax.texts if text.get_text() == "7"]
    ['7']
    """
    distances = mapped(model, X, alpha, rows, bounds=bounds)
    xy = np.column_stack([distances.score_distance, distances.orthogonal_distance])
    code = np.array([KINDS.index(kind) for kind in distances.kind.tolist()], np.intp)
    ax = one_axes(ax)
    for line, cutoff in ((ax.axvline, distances.score_cutoff), (ax.axhline, distances.orthogonal_cutoff)):
        if np.isfinite(cutoff):
            line(cutoff, color=INK, linewidth=0.9, linestyle="--", zorder=1)
    regular = code == 0
    size = 24 if len(xy) <= MANY else 9
    ax.scatter(*xy[regular].T, s=size, color=FAINT, alpha=0.7, edgecolors="white", linewidths=0.3, label=KINDS[0])
    for i in (i for i in (1, 2, 3) if (code == i).any()):
        ax.scatter(*xy[code == i].T, s=1.3 * WEIGHTS[i] * size, color=PALETTE[i - 1], marker=MARKERS[i],
                   edgecolors="white", linewidths=0.3, label=KINDS[i], zorder=3)  # fmt: skip
    ax.set(xlabel="score distance √T², in the plane", ylabel="orthogonal distance √Q, off the plane")
    ax.margins(0.08)
    ax.set(xlim=(0, None), ylim=(0, None))
    if legend:
        ax.legend(frameon=False, handletextpad=0.2)
    given = column_of(X, names, len(xy), "names")
    labels = given if given is not None else distances.names if distances.names is not None else range(len(xy))
    beyond = np.max(xy / np.array([distances.score_cutoff, distances.orthogonal_cutoff]), axis=1, initial=0.0)
    order = [i for i in np.argsort(-beyond, kind="stable").tolist() if not regular[i]][: max(int(most), 0)]
    if order:
        write_names(ax, xy[order], [str(labels[i]) for i in order])
    return ax
