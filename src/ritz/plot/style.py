"""The house style: what every picture has in common.

    PALETTE     eight colours that stay apart for colour-blind readers [Okabe and Ito 2008], darkest on white first
    MARKERS     a shape for each: no picture depends on colour alone; WEIGHTS makes them look equally large
    DIVERGING   − white +, for functions with a sign; SEQUENTIAL for amounts, even in brightness

A figure that Ritz makes is drawn inside ``house()``; Axes that a user brings keep their own fonts, lines and size.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MissingDependency, ParameterError

__all__ = [
    "DIVERGING",
    "FAINT",
    "INK",
    "MARKERS",
    "PALETTE",
    "SEQUENTIAL",
    "WEIGHTS",
    "axis_label",
    "chosen",
    "dark",
    "house",
    "one_axes",
    "panels",
    "share",
]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C7A00", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
#: Areas at which the shapes look equally large.
WEIGHTS = (1.0, 0.8, 1.05, 0.65, 1.05, 1.15, 1.15, 1.15)
DIVERGING, SEQUENTIAL = "RdBu_r", "viridis"
#: Text and outlines.
INK = "#222222"
#: What matters less.
FAINT = "#666666"
#: Width of a text column in inches: figures are drawn at the size at which they are read.
COLUMN = 7.2

_RC = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "figure.facecolor": "white",
    "figure.titlesize": 12,
    "font.size": 10,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "savefig.dpi": 160,
    "text.color": INK,
    "xtick.color": FAINT,
    "xtick.labelsize": 9,
    "ytick.color": FAINT,
    "ytick.labelsize": 9,
}


def house() -> AbstractContextManager[None]:
    """A context in which new figures have the house style: ``with house(): plt.subplots()``.

    Examples
    --------
    >>> import matplotlib.pyplot as plt, ritz
    >>> with ritz.plot.house():                   # a figure of one's own, beside those of Ritz
    ...     figure, ax = plt.subplots()
    >>> ax.spines["top"].get_visible()
    False
    """
    mpl = _matplotlib()
    style: AbstractContextManager[None] = mpl.rc_context(_RC | {"axes.prop_cycle": mpl.cycler(color=PALETTE)})
    return style


def panels(count: int, ax: Any, *, across: int = 3, high: float = 1.0) -> NDArray[Any]:
    """``count`` Axes, (count,): a new figure of at most ``across`` in a row, or those given in ``ax``.

    ``high`` is the height of a panel over its width.
    """
    _matplotlib()
    if ax is not None:
        return _given(ax, count)
    import matplotlib.pyplot as plt

    wide = min(count, across)
    rows = -(-count // wide)
    each = COLUMN / max(wide, 2)
    with house():
        size = (each * wide, each * high * rows)
        grid = plt.subplots(rows, wide, figsize=size, squeeze=False, layout="constrained")[1]
    for spare in grid.flat[count:]:
        spare.remove()
    return np.array(grid.flat[:count])


def one_axes(ax: Any, *, size: tuple[float, float] = (0.75 * COLUMN, 0.6 * COLUMN)) -> Any:
    """The Axes given, or those of a new figure."""
    _matplotlib()
    if ax is not None:
        return _given(ax, 1)[0]
    import matplotlib.pyplot as plt

    with house():
        return plt.subplots(figsize=size, layout="constrained")[1]


def share(model: Any, i: int) -> str:
    """``36.2 %`` of the variance, or nothing where the model does not know."""
    ratio = getattr(model, "explained_variance_ratio_", None)
    ratio = getattr(model, "explained_inertia_ratio_", None) if ratio is None else ratio
    return "" if ratio is None else f"{100 * float(ratio[i]):.3g} %"


def axis_label(model: Any, i: int) -> str:
    """``component 1 (36.2 %)``, counted from 1."""
    percentage = share(model, i)
    return f"component {i + 1} ({percentage})" if percentage else f"component {i + 1}"


def dark(color: str, keep: float = 0.72) -> str:
    """A darker shade of a colour: thin strokes of a light colour cannot be read on white."""
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(keep * channel):02X}" for channel in parts)


def _given(ax: Any, count: int) -> NDArray[Any]:
    from matplotlib.axes import Axes

    axes = list(np.asarray(ax, dtype=object).flat)
    wrong = next((one for one in axes if not isinstance(one, Axes)), None)
    if wrong is not None:
        raise ParameterError("ax takes matplotlib Axes", received=type(wrong).__name__,
                             hint="fig, ax = plt.subplots(); ritz.plot…(model, ax=ax)")  # fmt: skip
    if len(axes) != count:
        raise ParameterError(f"one Axes for each of {count} picture{'s' * (count != 1)}", received=f"{len(axes)}",
                             hint=f"fig, ax = plt.subplots(1, {count})")  # fmt: skip
    return np.array(axes, dtype=object)


def _matplotlib() -> Any:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingDependency(
            "pictures need the package matplotlib",
            received=f"an installation without it ({error})",
            hint="pip install 'ritz[plot]'",
        ) from error
    return mpl


def _number(name: str) -> int:
    """PC1, Dim1 and F1 are 0."""
    digits = name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    return int(digits) - 1 if digits.isdecimal() and digits != name else -1


def chosen(components: Any, k: int) -> list[int]:
    """Columns of scores, counted from 0: those named, as 0 or as "PC1", or the first few."""
    if isinstance(components, (int, np.integer)) and not isinstance(components, bool):
        components = range(int(components))
    if isinstance(components, (list, tuple)):
        components = [_number(one) if isinstance(one, str) else one for one in components]
    which = np.asarray(components)
    if which.ndim != 1 or not len(which) or which.dtype.kind not in "iu" or which.min() < 0 or which.max() >= k:
        raise ParameterError(f"components must be how many of them, or which of 0 … {k - 1}", received=repr(components))
    return [int(i) for i in which]
