"""What the components of two-dimensional rows look like: fᵢ(x), colour for its value, a line where it is the same.

    fᵢ(x) = transform(x)ᵢ    on a grid of x (g×g),    − blue, 0 white, + red,    fᵢ(x) = 0 drawn thick

On a thick line a component says nothing; rows on its two sides are told apart [SSM98].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz._core.warn import unsaid
from ritz.data.tables.frames import frame_names, frame_to_rows, is_frame
from ritz.insight.calls import asked
from ritz.plot.groups import Groups, column_of, groups_of, scatter
from ritz.plot.style import DIVERGING, FAINT, INK, chosen, panels, share

__all__ = ["component_maps"]

#: Share of the largest map below which a map is nothing but rounding, and is drawn pale.
PALE = 1e-3
#: Components drawn when nobody says how many.
FIRST = 6
#: Room around the rows, as a share of their extent.
MARGIN = 0.12
#: Points beyond this many make a map a cloud: they are drawn smaller.
MANY = 500
#: Lines on either side of 0.
LINES = 5


@asked
def component_maps(
    model: Any,
    X: Any = None,
    *,
    components: Any = None,
    color: Any = None,
    grid: int = 120,
    extent: Any = None,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw fᵢ(x) over the plane, one picture a component.

    Parameters
    ----------
    model : fitted on rows of two columns
        Anything with ``transform``: KernelPCA of vectors, PCA.
    X : array-like or frame (n, 2), optional
        Rows to draw on the maps; the training rows (or landmarks) that a kernel model keeps, if not given.
    components : int or sequence of int
        How many, or which, counted from 0; the first 6 if not given.
    color : array-like (n,) or the name of a column of X
        Kinds of rows, told apart by shape and shade; or an amount.
    grid : int
        Points of the grid along each side.
    extent : (left, right, bottom, top)
        What part of the plane; the rows and a margin if not given.
    ax : Axes or sequence of Axes
        Where to draw, one for each component; a new figure if not given.

    Returns
    -------
    ndarray of Axes, one for each component

    Examples
    --------
    >>> import numpy as np, ritz
    >>> angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> ring = np.c_[np.cos(angle), np.sin(angle)]
    >>> kpca = ritz.KernelPCA(3, kernel="rbf", gamma=1.0).fit(np.vstack([ring, 3 * ring]))
    >>> ritz.plot.component_maps(kpca, grid=40).shape  # one picture a component
    (3,)
    """
    _require_plane(model)
    rows = _rows(model, X)
    where = _extent(extent, rows)
    if isinstance(grid, bool) or not isinstance(grid, (int, np.integer)) or grid < 2:
        raise ParameterError("grid is a number of points along each side, 2 or more", received=repr(grid))
    values = None if rows is None else column_of(X, color, len(rows), "color")
    if rows is None and color is not None:
        raise ParameterError("color belongs to rows", received="no X", hint="component_maps(model, X, color=…)")
    x, y = np.linspace(where[0], where[1], int(grid)), np.linspace(where[2], where[3], int(grid))
    F = _on_grid(model, x, y)
    which = chosen(min(F.shape[2], FIRST) if components is None else components, F.shape[2])
    # A map takes about two thirds of the width of its panel; titles and axes need the rest.
    axes = panels(len(which), ax, high=0.2 + 0.68 * min(max((where[3] - where[2]) / (where[1] - where[0]), 0.3), 2.5))
    groups = None if rows is None else groups_of(values, len(rows))
    names = _names(model, X)
    for one, i in zip(axes, which, strict=True):
        _draw(one, x, y, F[:, :, i], PALE * float(np.max(np.abs(F))))
        if rows is not None and groups is not None:
            _points(one, rows, groups, where)
        one.set_title(f"f{_subscript(i + 1)}(x)", loc="left")
        one.set_title(share(model, i), loc="right", fontsize="small", color=FAINT)
        one.set_xlabel(names[0])
        one.set_ylabel(names[1])
    if ax is None:
        for one in axes:
            one.label_outer()
    return axes


def _draw(ax: Any, x: NDArray[Any], y: NDArray[Any], f: NDArray[Any], least: float) -> None:
    """One map: colours, lines, the zero line, a bar; a map that stays below ``least`` is pale."""
    top = max(float(np.max(np.abs(f))), least) or 1.0
    half = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2  # a pixel is centred on its grid point
    box = (x[0] - half[0], x[-1] + half[0], y[0] - half[1], y[-1] + half[1])
    image = ax.imshow(f, origin="lower", extent=box, cmap=DIVERGING, vmin=-1.1 * top, vmax=1.1 * top,
                      interpolation="bilinear", aspect="equal", zorder=0)  # fmt: skip
    levels = top * np.arange(1, LINES + 1) / (LINES + 0.5)
    for side in (-levels[::-1], levels):
        if np.min(f) <= side[-1] and np.max(f) >= side[0]:
            ax.contour(x, y, f, levels=side, colors=INK, linewidths=0.5, linestyles="solid", alpha=0.45, zorder=1)
    if np.min(f) < 0 < np.max(f):
        ax.contour(x, y, f, levels=[0.0], colors=INK, linewidths=1.8, zorder=2)
    # Inside the Axes' own layout: as high as the map, and nothing of a user's figure moves.
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.03, 0.0, 0.05, 1.0)))
    step = _round(top)
    bar.set_ticks([-step, 0.0, step], labels=[f"−{step:g}", "0", f"{step:g}"])
    bar.ax.set_ylim(-top, top)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize="small")
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))


def _points(ax: Any, rows: NDArray[Any], groups: Groups, where: tuple[float, ...]) -> None:
    inside = (rows >= [where[0], where[2]]).all(axis=1) & (rows <= [where[1], where[3]]).all(axis=1)
    amount = None if groups.amount is None else groups.amount[inside]
    shown = Groups(groups.names, groups.code[inside], amount)
    scatter(ax, rows[inside], shown, size=10 if len(rows) <= MANY else 4, ink=True, bar=False)


def _on_grid(model: Any, x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Scores on the grid, (rows y, columns x, k)."""
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    with unsaid():  # a grid has no names to check; the columns are those of the model, in its order
        F = np.asarray(model.transform(points))
    return F.reshape(len(y), len(x), -1)


def _require_plane(model: Any) -> None:
    check_is_fitted(model)
    d = getattr(model, "n_features_in_", None)
    tags = getattr(model, "__sklearn_tags__", None)
    if tags is not None and tags().input_tags.pairwise:
        received = "one of a precomputed kernel"
    elif d == 2:
        return
    else:
        received = "one of rows that are not vectors" if d is None else f"one of {d} columns"
    raise InputError(
        "component_maps draws functions of the plane: a model of two columns",
        received=received,
        hint="ritz.plot.scores(model, X) draws the rows of any model in the plane of two components",
    )


def _rows(model: Any, X: Any) -> NDArray[np.float64] | None:
    given = getattr(model, "X_fit_", None) if X is None else X
    if given is None:
        return None
    given = frame_to_rows(given) if is_frame(given) else given
    rows = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "fiub":
        raise InputError("X has rows of two columns", received=f"shape {rows.shape}, dtype {rows.dtype}")
    return rows.astype(np.float64)


def _extent(extent: Any, rows: NDArray[np.float64] | None) -> tuple[float, ...]:
    if extent is None:
        if rows is None or not len(rows):
            raise ParameterError("expected the part of the plane to draw", received="neither X nor extent",
                                 hint="component_maps(model, X), or extent=(left, right, bottom, top)")  # fmt: skip
        low, high = rows.min(axis=0), rows.max(axis=0)
        room = np.maximum(MARGIN * (high - low), 1e-3 * max(float(np.max(high - low)), 1e-12))
        (a, c), (b, d) = low - room, high + room
        return float(a), float(b), float(c), float(d)
    edges = np.asarray(extent).reshape(-1)
    numbers = len(edges) == 4 and edges.dtype.kind in "fiu" and np.isfinite(edges).all()
    if not numbers or edges[0] >= edges[1] or edges[2] >= edges[3]:
        raise ParameterError("extent is (left, right, bottom, top), with left < right and bottom < top",
                             received=repr(extent))  # fmt: skip
    return tuple(float(edge) for edge in edges)


def _names(model: Any, X: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None and X is not None and is_frame(X):
        names = frame_names(X)
    return ["x₁", "x₂"] if names is None else [str(name) for name in names]


def _subscript(i: int) -> str:
    return str(i).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _round(top: float) -> float:
    """The largest of 1, 2, 5 · 10ᵖ that is at most ``top``."""
    power = 10.0 ** np.floor(np.log10(top))
    return float(power * max(m for m in (1, 2, 5) if m * power <= top * (1 + 1e-12)))
