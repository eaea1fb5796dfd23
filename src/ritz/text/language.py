"""The language of texts, by the share of its function words among the first tokens.

    share(L) = tokens among the function words of L / all tokens          of the first ``LOOKED_AT`` characters

A language is recognised where its share reaches ``ENOUGH``, from ``LEAST`` tokens on, and of the tokens that tell it
from any other language (those that are function words of one of both) at least ``TIMES`` as many are its own. Code,
numbers, names, texts of several languages and very short texts are of no language: then nothing is assumed of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ritz.text.function_words import function_words, languages
from ritz.text.words import Words

__all__ = ["LOOKED_AT", "Language", "recognise", "rule_of"]

#: Characters that are looked at: a few hundred abstracts.
LOOKED_AT = 1 << 20
#: Tokens without which nothing is said.
LEAST = 30
#: Share of function words from which a language is recognised: titles have 0.3, running text 0.4 to 0.6, code of
#: programs (which has ``for``, ``in``, ``if``, ``not``) 0.1 to 0.2.
ENOUGH = 0.25
#: How many times more tokens must speak for a language than for its nearest neighbour, of those that tell them apart.
TIMES = 4.0
#: Numbers and the like make up more than this share of tables and logs.
MOST_NUMBERS = 0.3


@dataclass(frozen=True)
class Language:
    """What was recognised.

    Attributes
    ----------
    name : str or None
        The language as Snowball calls it; None where none was recognised.
    share : float
        Share of the tokens that are function words of it, or of the nearest one.
    tokens : int
        Tokens that were looked at.
    """

    name: str | None
    share: float
    tokens: int

    def __str__(self) -> str:
        if self.name is None:
            return f"no language recognised among {self.tokens:,} tokens: words are taken as they are"
        return (
            f"{self.name.capitalize()}: {100 * self.share:.0f} % of {self.tokens:,} tokens are its function words; "
            "they are left out, and words are stemmed"
        )


def recognise(texts: Iterable[str]) -> Language:
    """The language of texts, of which the first ``LOOKED_AT`` characters are read.

    Parameters
    ----------
    texts : iterable of str
        In their order.
    """
    looked, left = [], LOOKED_AT
    for text in texts:
        looked.append(text[:left])
        left -= len(looked[-1])
        if left <= 0:
            break
    tokens = Words(pattern=r"[^\W_]+").batch(looked)
    often = np.bincount(tokens.codes, minlength=len(tokens.words)).tolist()
    counts = Counter(dict(zip(tokens.words, often, strict=True)))
    total = counts.total()
    own = {name: sum(counts[word] for word in function_words(name)) for name in languages()}
    ranked = sorted(own, key=lambda name: (-own[name], name))
    best = ranked[0]
    share = own[best] / total if total else 0.0
    numbers = sum(count for word, count in counts.items() if any(map(str.isdigit, word)))
    if total < LEAST or share < ENOUGH or numbers > MOST_NUMBERS * total:
        return Language(None, share, total)
    clear = all(_told_apart(counts, best, other) for other in ranked[1:] if own[other])
    return Language(best if clear else None, share, total)


def rule_of(language: Language) -> Words:
    """The rule for words of a language: without its function words, and stemmed; words as they are without one."""
    if language.name is None:
        return Words()
    stop = "english" if language.name == "english" else sorted(function_words(language.name))
    return Words(stop_words=stop, stem=language.name)


def _told_apart(counts: Counter[str], one: str, other: str) -> bool:
    """Whether the tokens that only one of two languages has speak for ``one``."""
    mine, theirs = function_words(one), function_words(other)
    return sum(counts[word] for word in mine - theirs) >= TIMES * sum(counts[word] for word in theirs - mine)
