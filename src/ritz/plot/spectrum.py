"""How much each component holds, and how sure its numbers are.

scree        share of the variance λⱼ/Σλ against j           with the lines that rules hold it against, or intervals
intervals    loadings of every column, a dot and a bar each   a bar that leaves 0 out has a sure sign
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.data.words import describe
from ritz.insight.arguments import component_numbers
from ritz.insight.axes.of_model import axis_names
from ritz.insight.bootstrap.bootstrap import Bootstrap
from ritz.insight.calls import asked
from ritz.methods.fitted import capabilities_of, require_fitted
from ritz.plot.style import FAINT, INK, PALETTE, one_axes, panels
from ritz.rank.consensus import Ranks

__all__ = ["intervals", "scree"]

Floats = NDArray[np.float64]

#: Components drawn when nobody says how many.
MOST = 20
#: Rules with a line for the share of a component, and how it is drawn.
LINES = {"parallel": "-", "permutation": "--", "broken-stick": ":", "kaiser": "-.", "dpa": (0, (4, 1, 1, 1, 1, 1))}
#: Whose lines are drawn when nobody says.
DRAWN = ("parallel", "permutation", "broken-stick")
#: Columns in a picture of intervals; of more, those with the largest loadings.
COLUMNS = 30


@asked
def scree(found: Any, *, rules: Any = DRAWN, most: int = MOST, ax: Any = None) -> Any:
    """Draw the scree plot: the share of the variance that each component holds.

    Parameters
    ----------
    found : fitted model, or the result of ``ritz.choose_rank`` or ``ritz.insight.bootstrap``
        A model shows the components it has, or their eigenvalues where these are no shares; ``choose_rank`` all of
        them, with the lines of rules and the consensus;
        ``bootstrap`` those of the model with intervals.
    rules : list of names
        Whose lines to draw, of those that were asked: "parallel", "permutation", "broken-stick", "kaiser", "dpa".
    most : int
        Components at most.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> X = load_wine().data
    >>> ax = ritz.plot.scree(ritz.choose_rank(X, scale=True, criteria=["parallel", "broken-stick"]))
    >>> ax.get_ylabel()
    'share of the variance, %'
    """
    fitted = None if isinstance(found, (Ranks, Bootstrap)) else capabilities_of(found)
    if fitted is not None and not fitted.tells_shares:
        require_fitted(found)
        return _eigenvalues(fitted, max(int(most), 1), ax)
    shares, spread = _shares(found)
    shares = shares[: max(int(most), 1)]
    place = np.arange(1, len(shares) + 1)
    kept = found.consensus if isinstance(found, Ranks) else len(shares)
    ax = one_axes(ax)
    ax.bar(place[:kept], 100 * shares[:kept], 0.7, color=PALETTE[0])
    ax.bar(place[kept:], 100 * shares[kept:], 0.7, color="#C9D6DF")
    if spread is not None:
        low, high = (np.abs(100 * (end[: len(shares)] - shares)) for end in spread)
        ax.errorbar(place, 100 * shares, [low, high], fmt="none", ecolor=INK, elinewidth=1.0, capsize=3)
    if isinstance(found, Ranks):
        _lines(ax, found, rules, len(shares))
        ax.set_title(f"{found.consensus} of {len(_curve(found).value)} components by consensus", loc="left")
    ax.set(xlabel="component", ylabel="share of the variance, %", xlim=(0.4, len(shares) + 0.6))
    ax.set_xticks(place if len(place) <= MOST else place[:: len(place) // MOST + 1])
    return ax


def _eigenvalues(fitted: Any, most: int, ax: Any) -> Any:
    """Eigenvalues that are no shares of anything, and a bound on the next one where there is one."""
    values, c = fitted.values[:most], fitted.model.certificate_
    place = np.arange(1, len(values) + 1)
    ax = one_axes(ax)
    ax.vlines(place, 0, values, color=PALETTE[0], linewidth=2, alpha=0.5)
    ax.scatter(place, values, s=30, color=PALETTE[0], zorder=3)
    if len(values) == fitted.k and np.isfinite(fitted.gaps[-1]):
        ax.scatter([len(values) + 1], [c.ceiling], s=30, facecolors="white", edgecolors=FAINT, zorder=3)
        word = "at least" if c.which == "smallest" else "at most"
        ax.annotate(f"the next, {word}", (len(values) + 1, c.ceiling), (0, 7), textcoords="offset points", ha="right",
                    fontsize=9, color=FAINT)  # fmt: skip
    ax.set(xlabel=fitted.about.component, ylabel=f"{fitted.about.measure}, no share of a variance",
           xlim=(0.4, len(values) + 1.6))  # fmt: skip
    ax.set_xticks(place if len(place) <= MOST else place[:: len(place) // MOST + 1])
    ax.margins(y=0.12)
    return ax


def _shares(subject: Any) -> tuple[Floats, tuple[Floats, Floats] | None]:
    """Shares of the components, and the ends of their intervals where there are some."""
    if isinstance(subject, Ranks):
        return np.asarray(_curve(subject).value, np.float64), None
    if isinstance(subject, Bootstrap):
        shares = subject.shares
        return np.asarray(shares.estimate, np.float64), (np.asarray(shares.low), np.asarray(shares.high))
    require_fitted(subject)
    for name in ("explained_variance_ratio_", "explained_inertia_ratio_"):
        if getattr(subject, name, None) is not None:
            return np.asarray(getattr(subject, name), np.float64), None
    capabilities = capabilities_of(subject)
    if capabilities is not None:
        return capabilities.shares, None
    raise ParameterError("expected a model with shares of the variance, or a result of choose_rank or bootstrap",
                         received=describe(subject), hint="scree(ritz.PCA().fit(X))")  # fmt: skip


def _curve(ranks: Ranks) -> Any:
    """The shares of all components, which several rules look at."""
    curve = next((ranks[name].curve for name in LINES if name in ranks and len(ranks[name].curve.k)), None)
    if curve is None:
        raise ParameterError("a scree plot needs a rule that looks at shares", received=", ".join(ranks),
                             hint="choose_rank(X) asks all rules; criteria=['kaiser'] is enough")  # fmt: skip
    return curve


def _lines(ax: Any, ranks: Ranks, rules: Any, shown: int) -> None:
    names = [rules] if isinstance(rules, str) else list(rules)
    unknown = [name for name in names if name not in LINES]
    if unknown:
        raise ParameterError(f"rules with a line are {', '.join(LINES)}", received=repr(unknown[0]),
                             hint="r[name].curve has the statistics of the others")  # fmt: skip
    drawn = False
    for i, name in enumerate(names):
        curve = ranks[name].curve if name in ranks else None
        if curve is None or curve.threshold is None:
            continue
        label = f"{name}: {ranks[name].k}"
        ax.plot(curve.k[:shown], 100 * curve.threshold[:shown], linestyle=LINES[name], color=PALETTE[(i + 1) % 8],
                linewidth=1.6, label=label)  # fmt: skip
        drawn = True
    if drawn:
        ax.legend(title="a component counts above", title_fontsize=9, loc="upper right", frameon=False)


@asked
def intervals(sure: Bootstrap, components: Any = (0,), *, most: int = COLUMNS, ax: Any = None) -> NDArray[Any]:
    """Draw the loadings of every column with their intervals, one picture a component.

    Parameters
    ----------
    sure : result of ``ritz.insight.bootstrap``
    components : list of int or str
        Which, from 0 or by name, 0 or "PC1".
    most : int
        Columns at most; those with the largest loadings come first.
    ax : Axes, or as many as there are components
        Where to draw; a new figure if not given.

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> axes = ritz.plot.intervals(ritz.insight.bootstrap(pca, X, 200), components=["PC1", "PC2"])
    >>> len(axes)
    2
    """
    if not isinstance(sure, Bootstrap):
        raise ParameterError("expected the result of a bootstrap", received=describe(sure),
                             hint="ritz.plot.intervals(ritz.insight.bootstrap(model, X))")  # fmt: skip
    model = sure.model
    loadings = sure.loadings
    bounds = [np.asarray(values, np.float64) for values in (loadings.estimate, loadings.low, loadings.high)]
    axes = axis_names(model, bounds[0].shape[1])
    which = component_numbers(components, axes)
    names = [str(j) for j in getattr(model, "feature_names_in_", range(len(bounds[0])))]
    count = min(len(names), max(int(most), 1))
    pictures = panels(len(which), ax, high=max(0.6, 0.055 * count) * (2 if len(which) < 3 else 3) / 2)
    for picture, i in zip(pictures, which, strict=True):
        order = np.argsort(-np.abs(bounds[0][:, i]), kind="stable")[:count][::-1]
        _bars(picture, [values[order, i] for values in bounds], [names[j] for j in order])
        apart = "" if sure.separated[i] else ", not separated"
        picture.set_title(f"{axes[i]}{apart}", loc="left")
    return pictures


def _bars(ax: Any, numbers: list[Floats], names: list[str]) -> None:
    """Dots with bars, grey where the bar holds 0."""
    value, low, high = numbers
    ax.axvline(0, color=FAINT, linewidth=0.8)
    certain = (low > 0) | (high < 0)
    for mask, color in ((certain, PALETTE[0]), (~certain, "#9AA5AD")):
        place = np.flatnonzero(mask)
        ax.hlines(place, low[mask], high[mask], color=color, linewidth=2)
        ax.scatter(value[mask], place, s=22, color=color, zorder=3)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="loading", ylim=(-0.7, len(names) - 0.3))
