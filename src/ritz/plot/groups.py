"""Colours from values: a few kinds of rows, or an amount.

    kinds      words, booleans, or up to 8 whole numbers: a colour and a shape each, in the order of their values;
               of many the ten largest, and one for all others
    an amount  other numbers: one scale, with a bar beside the picture

Rows without a value (None, NaN) belong to no kind and are grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.tables.frames import frame_names, is_frame, is_missing
from ritz.data.tables.levels import in_order, ordered_levels
from ritz.data.tables.table import Table
from ritz.plot.style import FAINT, INK, MARKERS, PALETTE, SEQUENTIAL, WEIGHTS

__all__ = ["Groups", "column_of", "groups_of", "scatter", "tint"]

#: Whole numbers with at most this many values are kinds, not amounts.
FEW = len(PALETTE)
#: Kinds beyond this many share one name: nobody can tell so many apart.
MOST_KINDS = 10
#: The code of rows without a value.
NONE = -1


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows in kinds (``names`` and a code for each row), or with an amount each (``amount``)."""

    names: list[str]
    code: NDArray[np.intp]  # (n,)
    amount: NDArray[np.float64] | None = None  # (n,)
    other: int | None = None  # the kind that holds all that are too small to be named


def column_of(X: Any, values: Any, n: int, what: str) -> Any:
    """One value a row: those given, or the column of X that they name. None stays None."""
    if values is None:
        return None
    if isinstance(values, str):
        if isinstance(X, Table):
            column = X.labels(values)
        elif is_frame(X) and values in frame_names(X):
            column = X[values]
        else:
            raise InputError(
                f"{what}={values!r} names a column of X",
                received="a frame without this column" if is_frame(X) else type(X).__name__,
                hint=f"pass the values themselves: {what}=labels",
            )
    else:
        column = values
    column = column if isinstance(column, list) else np.asarray(column)
    if len(column) != n or np.ndim(column) != 1:
        raise InputError(f"{what} has one value for each of {n} rows", received=f"shape {np.shape(column)}")
    return column


def groups_of(values: Any, n: int) -> Groups:
    """Kinds or amounts of rows; one nameless kind without values."""
    if values is None:
        return Groups([""], np.zeros(n, np.intp))
    array = np.asarray(values)
    if array.dtype.kind == "f" or (array.dtype.kind in "iu" and len(np.unique(array)) > FEW):
        return Groups([], np.where(np.isnan(array), NONE, 0), array.astype(np.float64))
    there = np.array([not is_missing(value) and value == value for value in array.tolist()], bool)
    words = np.array([str(value) for value in array[there].tolist()]) if array.dtype.kind == "O" else array[there]
    names, which = np.unique(words, return_inverse=True)
    code = np.full(n, NONE)
    code[there] = which.reshape(-1)
    if array.dtype.kind in "iu":
        return Groups([str(name) for name in names.tolist()], code)
    levels = [str(name) for name in names.tolist()]
    order = in_order(levels, ordered_levels(values))
    place = np.array([order.index(level) for level in levels] + [NONE])
    return _few(order, place[code])


def _few(names: list[str], code: NDArray[np.intp]) -> Groups:
    """All kinds, or of many the ten largest and one for all others, in grey."""
    if len(names) <= MOST_KINDS:
        return Groups(names, code)
    size = np.bincount(code[code >= 0], minlength=len(names))
    kept = np.sort(np.argsort(-size, kind="stable")[:MOST_KINDS])
    fresh = np.full(len(names) + 1, MOST_KINDS)
    fresh[kept], fresh[-1] = np.arange(MOST_KINDS), NONE
    return Groups([*(names[i] for i in kept), f"{len(names) - MOST_KINDS} others"], fresh[code], other=MOST_KINDS)


def scatter(ax: Any, xy: NDArray[Any], groups: Groups, *, size: float, ink: bool = False, bar: bool = True) -> None:
    """Draw rows, (n, 2), each kind as one collection with its name as label; rows of no kind are grey dots.

    ``ink``: dark, white and grey shapes that stand out on a coloured ground. ``bar``: the scale of an amount, beside
    the picture.
    """
    none = groups.code == NONE
    if none.any():
        ax.scatter(*xy[none].T, facecolors=FAINT, marker="o", s=0.6 * size, edgecolors="white", linewidths=0.3,
                   zorder=2.5)  # fmt: skip
    if groups.amount is not None:
        drawn = ax.scatter(*xy[~none].T, c=groups.amount[~none], cmap=SEQUENTIAL, s=size, edgecolors="white",
                           linewidths=0.3, zorder=3)  # fmt: skip
        if bar:
            ax.figure.colorbar(drawn, ax=ax, fraction=0.046, pad=0.02).outline.set_visible(False)
        return
    fills = (INK, "white", "#8A8A8A", "#FFD84D")
    for i, name in enumerate(groups.names):
        fill = fills[i % len(fills)] if ink else FAINT if i == groups.other else tint(i)
        edge = ("white" if fill == INK else INK) if ink else "white"
        shape = (i + i // FEW) % FEW
        ax.scatter(*xy[groups.code == i].T, facecolors=fill, marker=MARKERS[shape], s=WEIGHTS[shape] * size,
                   edgecolors=edge, linewidths=0.5 if ink else 0.3, label=name or None, zorder=3)  # fmt: skip


def tint(code: int) -> str:
    """The colour of a kind."""
    return FAINT if code == NONE else PALETTE[code % FEW]
