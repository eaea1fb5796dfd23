"""What a report says of texts in plain words; of topics nothing that random documents would say as well.

how much      documents, words, and what the topics hold
chance        how many topics are stronger than those of random documents of the same lengths and words
meaning       the words of the first topics, as far as these are more than chance
empty         documents that have no place
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ritz.data.words import counted
from ritz.methods.lsi.topics import common_first
from ritz.report.html import Html, bdi, join, percent, tag

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["chance_words", "text_sentences", "topic_words"]

#: Words of each end of a topic that a sentence names, topics that it names, and the weight beside the heaviest that a
#: named word has.
NAMED, TOPICS, LEAST = 3, 3, 0.5
#: Weight of a sign, squared, below which all words of a topic lie on one side.
ONE_SIDED = 1e-9


def text_sentences(about: Context) -> list[Html]:
    """The answer; fewer sentences where there is nothing to say."""
    every = [_much(about), _beyond(about), _meaning(about), _empty(about)]
    return [sentence for sentence in every if sentence]


def _much(about: Context) -> Html:
    n, d = int(about.model.n_samples_), int(about.model.n_features_in_)
    where = f"In {'' if about.of_fit else 'the '}{counted(n, 'document')}{'' if about.of_fit else ' of the fit'} of "
    where += f"{counted(d, 'different word')}"
    if not about.k:
        return join(f"No topic was kept of {counted(n, 'document')}.")
    total = tag("b", percent(float(np.sum(about.shares))))
    held = f"{about.components(about.k)} hold " if about.k > 1 else "one topic holds "
    first = f"; the first holds {percent(about.shares[0])}" if about.k > 1 else ""
    return join(f"{where}, {held}", total, f" of the {about.whole}{first}.")


def chance_words(about: Context) -> list[str]:
    """How many topics there are, as far as chance tells."""
    if about.chance is None:
        return [f"The share of each topic in the {about.whole}."]
    above, some = about.chance.above, ""
    if about.chance.sampled:
        some = f" (looked at in a sample of {counted(about.chance.documents, 'document')})"
    if above <= 1:
        common = ", which is what documents have in common," if common_first(about.model) else ""
        return [f"No topic beyond the first{common} is stronger than in random documents of"
                f" the same lengths and words{some}: nothing should be read into them."]  # fmt: skip
    every = about.k if not about.chance.sampled else None
    many = f"All {above}" if above == every else f"{above} of {every}" if every else f"{above}"
    line = ", the line," if not about.chance.sampled else ""
    return [f"{many} topics are stronger than what random documents of the same lengths and words reach{line} beyond "
            f"what all documents have in common{some}."]  # fmt: skip


def _beyond(about: Context) -> Html | None:
    if about.chance is None or not about.k:
        return None
    return join(chance_words(about)[0].replace(", the line,", ""))


def _meaning(about: Context) -> Html | None:
    """Words of the first topics that are more than chance."""
    above = 0 if about.chance is None else about.chance.above
    if above < 2:
        return None
    clauses = [words for i in range(min(about.k, above, TOPICS)) if (words := topic_words(about, i)) is not None]
    from ritz.report.words import turning

    return join(
        *[piece for i, words in enumerate(clauses) for piece in ("; " if i else "", words)], ".", turning(about)
    )


def topic_words(about: Context, i: int) -> Html | None:
    """``T2 sets wing and flow against heat``; the first one may be what nearly all documents have in common."""
    topic = about.model.topics(i + 1, words=NAMED)[i]
    name = tag("b", about.axes[i])
    heaviest = max((abs(weight) for _, weight in (*topic.positive, *topic.negative)), default=0.0)
    ends = [
        [bdi(word, 40) for word, weight in end if abs(weight) >= LEAST * heaviest]
        for end in (topic.positive, topic.negative)
    ]
    from ritz.report.words import listed

    v = np.asarray(about.model.components_[i], np.float64)
    one_sided = min(np.sum(np.square(v[v > 0])), np.sum(np.square(v[v < 0]))) <= ONE_SIDED
    if i == 0 and one_sided and common_first(about.model):
        return join(name, " is what documents have in common, ", listed(ends[0] or ends[1]), " first of all")
    if ends[0] and ends[1]:
        return join(name, " sets ", listed(ends[0]), " against ", listed(ends[1]))
    return join(name, " is led by ", listed(ends[0] or ends[1])) if ends[0] or ends[1] else None


def _empty(about: Context) -> Html | None:
    empty = len(about.model.empty_)
    if not empty:
        return None
    verb = "has" if empty == 1 else "have"
    return join(f"{counted(empty, 'document')} {verb} no known word: no search finds {'it' if empty == 1 else 'them'}.")
