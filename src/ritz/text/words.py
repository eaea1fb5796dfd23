"""The rule that turns a text into tokens.

    text  →  one spelling  →  words (runs of letters, marks and digits)  →  stop words out  →  stems  →  n-grams

What a letter is, and how texts are spelled, says ``characters.py``. Words of one letter are left out, as in
scikit-learn (what remains of "don't" and "x = y"). Runs of scripts that are written without spaces (Chinese, Japanese,
Thai and their kin) become character bigrams, a common baseline for them, and characters of Han, which are words by
themselves, count alone as well: a query of one finds the texts that hold it [NR99]. Stop words and stems are looked up
once for each distinct word, never for each token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from ritz._core.errors import InputError, ParameterError
from ritz.data.words import describe, nearest
from ritz.text.characters import is_unspaced, written
from ritz.text.grams import character_grams, word_grams
from ritz.text.stems import known, stemmer, stop_words
from ritz.text.tokens import Tokens, pattern_tokens, rewritten, selected, word_tokens

__all__ = ["KINDS", "Words"]

KINDS = ("word", "char", "char_wb")
#: Distinct words whose stems are remembered from one batch to the next.
REMEMBERED = 1 << 20


class Words:
    """The rule that turns a text into tokens.

    Parameters
    ----------
    lowercase : bool
        Whether texts are turned to lower case.
    pattern : str, optional
        A regular expression that finds the words instead of the rule for Unicode words; with one group, what is in
        the group. Words of one letter stay then, and scripts without spaces are left to the expression.
    stop_words : None, "english" or list of str
        Words that are left out, before stems are taken.
    stem : str, optional
        Language whose Snowball stemmer is applied, such as ``"english"``; needs the extra ``text``.
    ngrams : (int, int)
        Shortest and longest runs of words, or of characters, that are counted.
    kind : {"word", "char", "char_wb"}
        Runs of words; of characters; of characters within words, with a space on both sides.
    accents : bool
        Whether accents are taken off: ``café`` is ``cafe`` then. Otherwise words stay as they are written.

    Examples
    --------
    >>> import ritz
    >>> ritz.text.Words().tokens("The ﬂutter of thin wings: naïve, 3D, x!")
    ['the', 'flutter', 'of', 'thin', 'wings', 'naïve', '3d']
    >>> ritz.text.Words(stop_words="english", ngrams=(1, 2)).tokens("flutter of the wings")
    ['flutter', 'wings', 'flutter wings']
    >>> ritz.text.Words().tokens("東京タワー and Bangkok")
    ['東', '東京', '京', '京タ', 'タワ', 'ワー', 'and', 'bangkok']
    """

    def __init__(
        self,
        lowercase: bool = True,
        pattern: str | None = None,
        stop_words: Any = None,
        stem: str | None = None,
        ngrams: tuple[int, int] = (1, 1),
        kind: str = "word",
        accents: bool = False,
    ) -> None:
        self.lowercase = bool(lowercase)
        self.pattern = pattern
        self.stop_words = _kept(stop_words)
        self.stem = stem
        self.ngrams = _checked_range(ngrams)
        self.kind = kind
        self.accents = bool(accents)
        self._check()
        self._ready: _Ready | None = None

    def tokens(self, text: str) -> list[str]:
        """The tokens of one text, in order.

        Parameters
        ----------
        text : str
            Any text; an empty one has no tokens.
        """
        if not isinstance(text, str):
            raise InputError("expected a text", received=describe(text), hint="tokens takes one str at a time")
        return self.batch([text]).listed()

    def batch(self, texts: Sequence[str]) -> Tokens:
        """Tokens of many texts at once.

        Parameters
        ----------
        texts : list of str
            The texts, none of them missing.
        """
        ready = self._made_ready()
        least, most = self.ngrams
        if self.kind != "word":
            spelled = [self._written(text) for text in texts]
            return character_grams(spelled, least, most, within_words=self.kind == "char_wb")
        if ready.find is not None:
            tokens = pattern_tokens(texts, lambda text: ready.find(self._written(text)))  # type: ignore[misc]
        else:
            tokens = word_tokens(texts, lowercase=self.lowercase, accents=self.accents)
        tokens = ready.finished(tokens)
        return tokens if self.ngrams == (1, 1) else word_grams(tokens, least, most)

    def parameters(self) -> dict[str, Any]:
        """The parameters as a plain dictionary: ``Words(**parameters)`` is the same rule."""
        stop = self.stop_words
        return {
            "lowercase": self.lowercase,
            "pattern": self.pattern,
            "stop_words": list(stop) if isinstance(stop, tuple) else stop,
            "stem": self.stem,
            "ngrams": list(self.ngrams),
            "kind": self.kind,
            "accents": self.accents,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        standard = _STANDARD
        given = [f"{name}={value!r}" for name, value in self.parameters().items() if value != standard[name]]
        return f"Words({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        return self.parameters()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _written(self, text: str) -> str:
        return written(text, lowercase=self.lowercase, accents=self.accents)

    def _made_ready(self) -> _Ready:
        ready = self._ready
        if ready is None:
            ready = self._ready = _Ready(self, self._written)
        return ready

    def _check(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                f"kind must be one of {', '.join(map(repr, KINDS))}",
                received=repr(self.kind),
                hint=f"kind={nearest(self.kind, KINDS)!r}",
            )
        if self.stem is not None:
            known(self.stem)
        stop_words(self.stop_words)
        if self.kind != "word" and (self.stem or self.stop_words or self.pattern):
            raise ParameterError(
                "stop_words, stem and pattern are for kind='word'",
                received=f"kind={self.kind!r}",
                hint="leave them out, or count words",
            )
        if self.pattern is not None:
            _compiled(self.pattern)


class _Ready:
    """What a rule needs while it runs: the stemmer, the stop words as they are spelled, stems known by now."""

    def __init__(self, rule: Words, spell: Any) -> None:
        self.find = None if rule.pattern is None else _compiled(rule.pattern).findall
        self.stop = frozenset(spell(word) for word in stop_words(rule.stop_words))
        self.stem = stemmer(rule.stem)
        self.memory: dict[str, str | None] = {}
        self.lock = Lock()

    def finished(self, tokens: Tokens) -> Tokens:
        """Tokens without stop words and words that are too short, the others as their stems."""
        short = self._short(tokens.distinct) if self.find is None else np.zeros(len(tokens.distinct), bool)
        if self.stem is None and not self.stop:
            return selected(tokens, ~short)
        words = tokens.words
        with self.lock:  # stemmers have a state of their own
            if len(self.memory) > REMEMBERED:
                self.memory = {}  # another thread may still read the old one
            memory = self.memory
            for word in words:
                if word not in memory:
                    memory[word] = None if word in self.stop else word if self.stem is None else self.stem(word)
        return rewritten(
            tokens, [None if out else memory[word] for word, out in zip(words, short.tolist(), strict=True)]
        )

    def _short(self, distinct: Any) -> Any:
        """Which words have one character only, and are not of a script without spaces."""
        import pyarrow.compute as pc

        short = np.array(pc.less(pc.utf8_length(distinct), 2), bool)
        for j in np.flatnonzero(short).tolist():
            short[j] = not is_unspaced(distinct[j].as_py())
        return short


def _compiled(pattern: Any) -> re.Pattern[str]:
    try:
        found = re.compile(pattern)
        if found.groups > 1 or not isinstance(found.pattern, str):
            raise ParameterError("pattern may have one group at most, which is the word", received=repr(pattern))
    except (re.error, TypeError) as error:
        hint = r"pattern=r'[^\s]+' takes everything between spaces"
        raise ParameterError(
            f"pattern must be a regular expression: {error}", received=repr(pattern), hint=hint
        ) from error
    return found


def _kept(chosen: Any) -> Any:
    """A list of stop words in one order, so that rules with the same words are equal."""
    if chosen is None or isinstance(chosen, str):
        return chosen
    return tuple(sorted(stop_words(chosen)))


def _checked_range(ngrams: Any) -> tuple[int, int]:
    try:
        least, most = (int(n) for n in ngrams)
    except (TypeError, ValueError):
        least, most = 0, 0
    if not 1 <= least <= most:
        raise ParameterError(
            "ngrams must be two whole numbers, shortest and longest, from 1 on",
            received=repr(ngrams),
            hint="ngrams=(1, 2)",
        )
    return least, most


_STANDARD = Words().parameters()
