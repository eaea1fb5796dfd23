"""Topics: the words that make a component, at both of its ends.

component i:  v_i (d),  words with the largest v_ij  →  one end;  with the smallest v_ij < 0  →  the other end

Σ_j v_ij² = 1, so v_ij² is the share of word j in the topic. Of a correspondence analysis it is the contribution of the
word to the inertia of the axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.tabular import Tabular

__all__ = ["Topic", "Topics", "common_first", "plane_of", "topics_of"]

#: Topics that are printed of many.
PRINTED = 20
#: Digits to which weights of words are equal: words that occur in the same documents come in alphabetical order.
DIGITS = 10
#: The first topic is what documents have in common where so large a share of them has so large a part of its length in
#: it, on one side.
MOST, PART = 0.9, 0.05


@dataclass(frozen=True)
class Topic:
    """One component in words.

    Attributes
    ----------
    number : from 1
    value : singular value
    share : of the sum of squares (of the inertia for ``method="ca"``)
    positive, negative : tuples of (word, weight), the heaviest first
    """

    number: int
    value: float
    share: float
    positive: tuple[tuple[str, float], ...]
    negative: tuple[tuple[str, float], ...]

    @property
    def words(self) -> list[str]:
        """Words of both ends, the heaviest first."""
        both = sorted((*self.positive, *self.negative), key=lambda item: -abs(item[1]))
        return [word for word, _ in both]

    def __str__(self) -> str:
        lines = [f"topic {self.number}: singular value {self.value:.4g}, share {100 * self.share:.1f} %"]
        for sign, end in (("+", self.positive), ("−", self.negative)):
            if end:
                lines.append(f"  {sign} " + ", ".join(f"{word} {abs(weight):.2f}" for word, weight in end))
        return "\n".join(lines)


class Topics(Tabular, tuple[Topic, ...]):
    """Topics in the order of their singular values."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Topic]:
        return super().__iter__()

    def __repr__(self) -> str:
        lines = [str(topic) for topic in self[:PRINTED]]
        if len(self) > PRINTED:
            lines.append(f"… {len(self) - PRINTED} more")
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        lines = [(one, word, weight) for one in self for word, weight in (*one.positive, *one.negative)]
        return {
            "topic": [one.number for one, _, _ in lines], "singular_value": [one.value for one, _, _ in lines],
            "share": [one.share for one, _, _ in lines], "word": [word for _, word, _ in lines],
            "weight": [weight for _, _, weight in lines],
        }  # fmt: skip


def topics_of(model: Any, n_topics: int | None, words: int) -> Topics:
    """The first components of a fitted model in ``words`` words for each end."""
    k = model.n_components_
    number = k if n_topics is None else n_topics
    for name, value in (("n_topics", number), ("words", words)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
            raise ParameterError(f"{name} must be a whole number from 0 on", received=repr(value))
    names = getattr(model, "feature_names_in_", None)
    names = [f"word {j}" for j in range(model.n_features_in_)] if names is None else names
    shares = model.fitted(model).shares
    found = []
    for i in range(min(int(number), k)):
        v = np.asarray(model.components_[i], np.float64)
        ends = [_end(v, sign, names, int(words)) for sign in (1.0, -1.0)]
        found.append(Topic(i + 1, float(model.singular_values_[i]), float(shares[i]), ends[0], ends[1]))
    return Topics(found)


def common_first(model: Any) -> bool:
    """Whether the first topic is what nearly all documents have in common.

    Entries of WWᵀ are not negative, so its first eigenvector has one sign; where subjects share no word it is zero for
    the documents of all but one. An axis of a correspondence analysis tells documents apart, the first one most.
    """
    E = np.asarray(model.embedding_)
    if model.method == "ca" or not E.shape[1]:
        return False
    sizes = np.sqrt(np.einsum("ij,ij->i", E, E, dtype=np.float64))
    there = sizes > 0
    parts = E[there, 0] / sizes[there]
    return bool(there.any()) and max(np.mean(parts > PART), np.mean(parts < -PART)) >= MOST


def plane_of(model: Any) -> tuple[int, int]:
    """The two topics that a map begins with: those that tell documents apart, the first of them."""
    return (1, 2) if model.n_components_ > 2 and common_first(model) else (0, 1)


def _end(v: Any, sign: float, names: Any, words: int) -> tuple[tuple[str, float], ...]:
    """The heaviest words of one sign; of equal weight in the order of their columns."""
    there = np.flatnonzero(sign * v > 0.5 * 10.0**-DIGITS)  # below is rounding
    best = there[np.lexsort((there, -np.round(sign * v[there], DIGITS)))][:words]
    return tuple((str(names[j]), float(v[j])) for j in best)
