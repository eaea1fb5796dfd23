"""Topics of texts as bars of words, and words as points in the plane of two topics.

topics   the heaviest words at both ends of each topic: weights v_ij, Σ_j v_ij² = 1
words    σ_i v_ij of the words that weigh most; documents in the same plane are drawn by ``ritz.plot.scores``
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of
from ritz.methods.lsi.topics import plane_of
from ritz.plot.labels import write_names
from ritz.plot.style import FAINT, INK, PALETTE, chosen, one_axes, panels

__all__ = ["topics", "words"]

#: Topics drawn when nobody says how many.
FIRST = 6


@asked
def topics(model: Any, components: Any = None, *, words: int = 6, ax: Any = None) -> NDArray[Any]:
    """Draw the words of topics as bars, one picture a topic.

    Parameters
    ----------
    model : fitted LSI
    components : int or sequence of int
        How many, or which, counted from 0; the first 6 if not given.
    words : int
        Words of each end of a topic.
    ax : Axes or sequence of Axes
        Where to draw, one for each topic; a new figure if not given.

    Returns
    -------
    ndarray of Axes, one for each topic

    Examples
    --------
    >>> import ritz
    >>> lsi = ritz.LSI(2, weighting="count").fit(["red wine", "white wine", "more wine", "thin wings"])
    >>> [label.get_text() for label in ritz.plot.topics(lsi, words=1)[0].get_yticklabels()]
    ['wine']
    """
    every = _require_texts(model).topics(words=words)
    which = chosen(min(len(every), FIRST) if components is None else components, len(every))
    axes = panels(len(which), ax, high=0.25 + 0.08 * words)
    for one, i in zip(axes, which, strict=True):
        topic = every[i]
        bars = [*topic.positive, *reversed(topic.negative)][::-1]
        places, weights = np.arange(len(bars)), [weight for _, weight in bars]
        one.barh(places, weights, color=[PALETTE[0] if weight >= 0 else PALETTE[1] for weight in weights], height=0.7)
        one.set_yticks(places, [word for word, _ in bars])
        one.tick_params(axis="y", length=0)
        one.axvline(0, color=INK, linewidth=0.6)
        one.set_title(f"topic {i + 1}", loc="left")
        one.set_title(f"{100 * topic.share:.3g} %", loc="right", fontsize="small", color=FAINT)
    return axes


@asked
def words(model: Any, *, components: Any = None, count: int = 60, ax: Any = None) -> Any:
    """Draw the words that weigh most in the plane of two topics.

    Parameters
    ----------
    model : fitted LSI
    components : two ints or names
        Which, counted from 0, or as "T2"; the second and the third if not given where the first is what
        nearly all documents have in common, the first two otherwise.
    count : int
        How many words.
    ax : Axes
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import ritz
    >>> lsi = ritz.LSI(2, weighting="count").fit(["red wine", "white wine", "more wine", "thin wings"])
    >>> ax = ritz.plot.words(lsi, components=(0, 1))
    >>> ax.get_xlabel()
    'topic 1 (50 %)'
    """
    _require_texts(model)
    k = int(model.n_components_)
    which = chosen(plane_of(model) if components is None else components, k)
    if len(which) != 2:
        raise ParameterError("a plane has two topics", received=repr(components), hint="components=(0, 1)")
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ParameterError("count is how many words are drawn", received=repr(count), hint="count=60")
    W = (np.asarray(model.components_)[which] * np.asarray(model.singular_values_)[which, None]).T
    order = np.argsort(-np.square(W).sum(axis=1), kind="stable")[:count]
    names = getattr(model, "feature_names_in_", None)
    ax = one_axes(ax)
    for line in (ax.axhline, ax.axvline):
        line(0, color=FAINT, linewidth=0.5, alpha=0.6, zorder=1)
    ax.scatter(*W[order].T, s=8, color=PALETTE[0], zorder=2)
    shares = fitted_of(model).shares
    labels = [f"topic {i + 1} ({100 * float(shares[i]):.3g} %)" for i in which]
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    write_names(ax, W[order], [f"word {j}" if names is None else str(names[j]) for j in order.tolist()])
    return ax


def _require_texts(model: Any) -> Any:
    fitted = fitted_of(model)
    if fitted.about.takes != "texts":
        fitted.refuse("topics of words", "it is no model of texts", "ritz.LSI().fit(texts) has them")
    return model
