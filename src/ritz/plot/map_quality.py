"""How far a map can be trusted: pictures of what ``ritz.insight`` measures.

trust            curves over the number of neighbours: maps side by side, and what chance would keep
coranking        how often the r-th neighbour became the s-th, as multiples of chance
shepard          distances of pairs of rows against their distances on the map
distortion       the map, coloured by what became of each row's neighbourhood
neighbourhoods   maps with other numbers of neighbours, side by side, each with its quality
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.warn import unsaid
from ritz.data.words import describe, nearest
from ritz.insight.calls import asked
from ritz.insight.embedding.coranking import coranking as coranked
from ritz.insight.embedding.procrustes import procrustes
from ritz.insight.embedding.quality import EmbeddingQuality, embedding_quality
from ritz.insight.embedding.shepard import Shepard
from ritz.insight.embedding.shepard import shepard as paired
from ritz.methods.fitted import capabilities_of
from ritz.plot.groups import groups_of, scatter
from ritz.plot.style import DIVERGING, FAINT, PALETTE, SEQUENTIAL, one_axes, panels

__all__ = ["coranking", "distortion", "neighbourhoods", "shepard", "trust"]

Floats = NDArray[np.float64]

MEASURES = ("lcmc", "overlap", "trustworthiness", "continuity", "r_nx")
#: What a row can be coloured by, with the words beside the scale.
OF_ROWS = {
    "false": "neighbours on the map that are none in the data",
    "missing": "neighbours in the data that are none on the map",
    "kept": "neighbours that stayed, share",
    "stretch": "log₂ of how much it is stretched",
}
#: Cells of a picture of ranks along one side.
CELLS = 40


@asked
def trust(
    qualities: Any, measure: str = "lcmc", *, chance: bool = True, legend: bool = True, ax: Any = None
) -> Any:  # fmt: skip
    """Draw what a map keeps over the number of neighbours, and what rows placed at random would.

    Parameters
    ----------
    qualities : result of ``ritz.insight.embedding_quality``, or a dict of names and such results
        Maps of the same rows are drawn side by side.
    measure : "lcmc", "overlap", "trustworthiness", "continuity" or "r_nx"
    chance : bool
        Draw what chance would reach.
    legend : bool
        Name the maps.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> maps = {"PCA": ritz.PCA(2), "Laplacian": ritz.LaplacianEigenmaps(2, n_neighbors=25)}
    >>> measured = {name: insight.embedding_quality(X, one.fit_transform(X), 30) for name, one in maps.items()}
    >>> ax = ritz.plot.trust(measured)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['PCA', 'Laplacian', 'chance']
    """
    if measure not in MEASURES:
        raise ParameterError(f"measure must be one of {', '.join(MEASURES)}", received=repr(measure),
                             hint=f"measure={nearest(measure, MEASURES)!r}")  # fmt: skip
    named = dict(qualities) if isinstance(qualities, Mapping) else {"": qualities}
    wrong = next((one for one in named.values() if not isinstance(one, EmbeddingQuality)), None)
    if wrong is not None or not named:
        raise ParameterError("expected the result of embedding_quality, or a dict of them", received=describe(wrong),
                             hint="trust(ritz.insight.embedding_quality(X, Y, 50))")  # fmt: skip
    ax = one_axes(ax)
    for i, (name, one) in enumerate(named.items()):
        ax.plot(one.curve["k"], one.curve[measure], color=PALETTE[i % len(PALETTE)], linewidth=1.8, label=name or None)
        if one.standard_errors is not None and measure in one.standard_errors:
            error = 2 * one.standard_errors[measure]
            ax.fill_between(one.curve["k"], one.curve[measure] - error, one.curve[measure] + error, alpha=0.15,
                            color=PALETTE[i % len(PALETTE)], linewidth=0)  # fmt: skip
    if chance:
        first = next(iter(named.values()))
        ax.plot(first.curve["k"], first.chance(measure), color=FAINT, linewidth=1.2, linestyle="--", label="chance")
    words = {"lcmc": "LCMC: neighbours kept beyond chance", "overlap": "share of neighbours kept",
             "r_nx": "neighbours kept, 0 by chance and 1 at best"}  # fmt: skip
    ax.set(xlabel="neighbours", ylabel=words.get(measure, measure))
    if legend and (len(named) > 1 or chance):
        ax.legend(frameon=False)
    return ax


@asked
def coranking(X: Any, Y: Any = None, *, metric: Any = "euclidean", cells: int = CELLS, ax: Any = None) -> Any:
    """Draw how often the r-th neighbour among the rows became the s-th on the map.

    Parameters
    ----------
    X, Y : rows and their coordinates, as of ``ritz.insight.coranking``; or its result alone
    metric : as of :class:`ritz.Neighbours`
    cells : int
        Cells along one side, at most; colours are multiples of what chance would give, on a logarithmic scale.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> ax = ritz.plot.coranking(X, ritz.PCA(2).fit_transform(X))
    >>> ax.get_xlabel()
    'rank on the map'
    """
    Q = np.asarray(X if Y is None else coranked(X, Y, metric=metric))
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or len(Q) < 2:
        raise InputError("a co-ranking matrix is square", received=f"shape {Q.shape}",
                         hint="coranking(X, Y), or coranking(ritz.insight.coranking(X, Y))")  # fmt: skip
    edges = np.unique(np.linspace(0, len(Q), min(int(cells), len(Q)) + 1).round().astype(np.intp))
    sums = np.add.reduceat(np.add.reduceat(Q, edges[:-1], axis=0), edges[:-1], axis=1)
    width = np.diff(edges).astype(np.float64)
    expected = Q.sum() * np.outer(width, width) / len(Q) ** 2
    with np.errstate(divide="ignore"):
        times = np.log2(np.maximum(sums / np.where(expected > 0, expected, 1), 2.0**-10))
    ax = one_axes(ax, size=(4.6, 4.0))
    most = float(np.log2(len(width)))
    mesh = ax.pcolormesh(edges, edges, times, cmap=DIVERGING, vmin=-most, vmax=most, rasterized=True)
    ax.plot([0, len(Q)], [0, len(Q)], color=FAINT, linewidth=0.6)
    ax.set(xlabel="rank on the map", ylabel="rank among the rows", aspect="equal")
    ax.invert_yaxis()
    bar = ax.figure.colorbar(mesh, ax=ax, fraction=0.046, pad=0.02, label="times chance, log₂")
    bar.outline.set_visible(False)
    return ax


@asked
def shepard(
    X: Any, Y: Any = None, *, metric: Any = "euclidean", pairs: int = 2000, random_state: int = 0, ax: Any = None
) -> Any:
    """Draw the Shepard diagram: distances of pairs of rows against their distances on the map.

    Parameters
    ----------
    X, Y : rows and their coordinates, as of ``ritz.insight.shepard``; or its result alone
    metric, pairs, random_state
        As of ``ritz.insight.shepard``.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> ax = ritz.plot.shepard(X, ritz.PCA(2).fit_transform(X))
    >>> ax.get_title(loc="left")[:16]
    'correlation 1.00'
    """
    found = X if isinstance(X, Shepard) else paired(X, Y, pairs, metric=metric, random_state=random_state)
    ax = one_axes(ax, size=(4.6, 4.0))
    ax.scatter(found.before, found.after, s=5, color=PALETTE[0], alpha=0.4, linewidths=0, rasterized=True)
    ax.set(xlabel="distance of the rows", ylabel="distance on the map", xlim=(0, None), ylim=(0, None))
    ax.set_title(f"correlation {found.correlation:.2f}, of ranks {found.rank_correlation:.2f}", loc="left")
    return ax


@asked
def distortion(
    Y: Any, quality: EmbeddingQuality, of: str = "false", *, components: Any = (0, 1), legend: bool = True,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw a map with every row coloured by what became of its neighbourhood.

    Parameters
    ----------
    Y : (n, p) coordinates, or a fitted model with ``embedding_``
    quality : result of ``ritz.insight.embedding_quality`` for these coordinates
    of : "false", "missing", "kept" or "stretch"
        1 − trustworthiness of a row, 1 − its continuity, the share of its neighbours that stayed, or by what factor
        its neighbourhood was stretched.
    components : two ints
        Which axes, counted from 0.
    legend : bool
        Draw the scale.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> Y = ritz.PCA(2).fit_transform(X)
    >>> ax = ritz.plot.distortion(Y, insight.embedding_quality(X, Y), of="missing")
    >>> ax.get_title(loc="left")
    'missing: neighbours in the data that are none on the map'
    """
    if of not in OF_ROWS:
        raise ParameterError(f"of must be one of {', '.join(OF_ROWS)}", received=repr(of),
                             hint=f"of={nearest(of, tuple(OF_ROWS))!r}")  # fmt: skip
    values = {
        "false": 1 - quality.rows_trustworthiness, "missing": 1 - quality.rows_continuity,
        "kept": quality.rows_overlap, "stretch": np.log2(np.maximum(quality.rows_stretch, 2.0**-10)),
    }[of]  # fmt: skip
    placed = np.asarray(getattr(Y, "embedding_", Y), np.float64)
    if placed.ndim != 2 or len(placed) != quality.n or placed.shape[1] <= max(components):
        raise InputError(f"coordinates of the {quality.n:,} rows that were measured", received=f"shape {placed.shape}")
    xy = placed[:, list(components)]
    ax = one_axes(ax)
    grey = np.ones(len(xy), bool)
    grey[quality.rows] = False
    size = 26 if len(xy) <= 150 else 14 if len(xy) <= 1000 else 6
    if grey.any():
        ax.scatter(*xy[grey].T, s=0.6 * size, color=FAINT, alpha=0.3, linewidths=0)
    top = float(np.abs(values).max(initial=0.0)) or 1.0
    kind = {"cmap": DIVERGING, "vmin": -top, "vmax": top} if of == "stretch" else {"cmap": SEQUENTIAL}
    drawn = ax.scatter(*xy[quality.rows].T, c=values, s=size, edgecolors=FAINT if of == "stretch" else "white",
                       linewidths=0.3, **kind)  # fmt: skip
    if legend:
        ax.figure.colorbar(drawn, ax=ax, fraction=0.046, pad=0.02).outline.set_visible(False)
    ax.set_title(f"{of}: {OF_ROWS[of]}", loc="left")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    return ax


@asked
def neighbourhoods(
    model: Any, X: Any, sizes: Sequence[int] = (5, 10, 20), *, color: Any = None, k: int | None = None, ax: Any = None
) -> NDArray[Any]:
    """Draw what each number of neighbours does to a map, side by side, each with the LCMC of its picture.

    Parameters
    ----------
    model : estimator with ``n_neighbors`` and ``fit_transform``
        Fitted or not; clones of it are fitted.
    X : rows
        What ``fit`` takes; distances are those of the model's ``metric``.
    sizes : numbers of neighbours
        Later maps are turned onto the first, so that the same rows lie at the same side.
    color : array-like (n,)
        As of :func:`ritz.plot.scores`; the place along the first axis of the first map if absent.
    k : int, optional
        Neighbours that the pictures are measured with, the same for all.
    ax : as many Axes as sizes
        Where to draw; a new figure if not given.

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> axes = ritz.plot.neighbourhoods(ritz.Isomap(2), X, (25, 40))
    >>> axes[0].get_title()[:8]
    'k = 25, '
    """
    from sklearn.base import clone

    if "n_neighbors" not in getattr(model, "get_params", dict)():
        raise ParameterError("expected an estimator with n_neighbors", received=type(model).__name__,
                             hint="neighbourhoods(ritz.Isomap(2), X)")  # fmt: skip
    pictures = panels(len(sizes), ax)
    first: Floats | None = None
    for picture, size in zip(pictures, sizes, strict=True):
        with unsaid():
            fitted = clone(model).set_params(n_neighbors=int(size))
            Y = np.asarray(fitted.fit_transform(X), np.float64)
        there = np.asarray(np.isfinite(Y).all(axis=1))
        lcmc = _lcmc(fitted, X, Y, there, k)
        if first is None:
            first = Y
        else:
            both = there & np.isfinite(first).all(axis=1)
            moved = procrustes(first[both], Y[both])
            Y = moved.scale * np.nan_to_num(Y) @ moved.rotation + moved.translation
        shade = first[:, 0].argsort().argsort().astype(np.float64) if color is None else color
        here = groups_of(shade, len(Y))
        scatter(picture, np.where(there[:, None], Y, np.nan)[:, :2], here, size=9 if len(Y) > 300 else 16, bar=False)
        picture.set(xticks=[], yticks=[], title=f"k = {int(size)}, LCMC {lcmc}")
        picture.set_aspect("equal", adjustable="datalim")
        picture.margins(0.08)
    return pictures


def _lcmc(fitted: Any, X: Any, Y: Floats, there: NDArray[np.bool_], k: int | None) -> str:
    """The LCMC of a picture, of rows as the distances of the model see them."""
    known = capabilities_of(fitted)
    rows = X if known is None else known.compared(X)
    if not there.all():
        return "–"
    quality = embedding_quality(rows, Y, k, metric=getattr(fitted, "metric", "euclidean"))
    return f"{quality.lcmc:.2f}"
