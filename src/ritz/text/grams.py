"""n-grams: of words, and of characters.

An n-gram is numbered as a pair, the (n−1)-gram before it and its last word: the key g·V + w is hashed by Arrow, so that
names are only made for the distinct ones. Characters are treated in the same way as the words of their text.

    words     ngrams=(1, 2) of "red cat sat"     red, cat, sat, "red cat", "cat sat"
    char      n characters in a row, anything among them, runs of white space as one space
    char_wb   the same within words between white space, each with a space on both sides
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ritz.text.tokens import Tokens, gathered, joined, rewritten, strings

__all__ = ["character_grams", "word_grams"]

#: Grams that are numbered together: arrays of a few times their number are held at once.
TOGETHER = 1 << 20
_WHITE = re.compile(r"\s\s+")
_SPACES = re.compile(r"\s+")


def word_grams(tokens: Tokens, least: int, most: int) -> Tokens:
    """Runs of ``least`` to ``most`` tokens, their words joined by spaces; shorter ones first in each text."""
    return _grams(tokens, least, most, " ")


def character_grams(texts: Sequence[str], least: int, most: int, *, within_words: bool) -> Tokens:
    """Runs of ``least`` to ``most`` characters of texts that are written as they shall be."""
    if not within_words:
        return _grams(_characters([_WHITE.sub(" ", text) for text in texts]), least, most, "")
    padded = _characters([f" {_SPACES.sub('  ', text.strip())} " if text.strip() else "" for text in texts])
    # Each word has a space on both sides now, so that two spaces in a row stand between words, and nowhere else.
    blank = np.array([word == " " for word in padded.words], bool)[padded.codes]
    between = np.flatnonzero(blank[1:] & blank[:-1]) + 1
    words = np.concatenate([[0], between, [len(blank)]] if len(blank) else [[0]])
    grams = _grams(Tokens(padded.codes, words, padded.distinct), least, most, "", whole=True)
    return Tokens(grams.codes, grams.starts[np.searchsorted(words, padded.starts)], grams.distinct)


def _characters(texts: list[str]) -> Tokens:
    """Each character as a token."""
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    text, codes = "".join(texts), np.empty(int(starts[-1]), np.int32)
    there = np.zeros(sys.maxunicode + 1, bool)
    for i in range(0, len(text), TOGETHER):
        points = np.frombuffer(text[i : i + TOGETHER].encode("utf-32-le", "surrogatepass"), "<u4")
        there[points] = True
        codes[i : i + TOGETHER] = points
    number = (np.cumsum(there) - 1).astype(np.int32)
    for i in range(0, len(codes), TOGETHER):
        codes[i : i + TOGETHER] = number[codes[i : i + TOGETHER]]
    return Tokens(codes, starts, strings([chr(point) for point in np.flatnonzero(there).tolist()]))


def _grams(tokens: Tokens, least: int, most: int, joint: str, *, whole: bool = False) -> Tokens:
    """Grams of all lengths, text by text; ``whole``: a text shorter than a gram is one gram of its own length.

    They are numbered stretch by stretch, and a long text is several stretches: a gram belongs to where it begins.
    """
    words, found, owners = tokens.words, [], []
    for first, last, begin, end in _stretches(tokens.starts):
        rows = _Rows(tokens.codes, tokens.starts[first : last + 1], begin, end)
        found.append(rows.grams(words, least, most, joint, whole))
        owners.append(np.arange(first, last))
    if not found:
        return Tokens(tokens.codes[:0], np.zeros(tokens.n + 1, np.int64), strings([]))
    all_grams = joined(found)
    at = np.searchsorted(np.concatenate(owners), np.arange(tokens.n + 1))
    return Tokens(all_grams.codes, all_grams.starts[at], all_grams.distinct)


def _stretches(starts: Any) -> list[tuple[int, int, int, int]]:
    """Runs of texts of about ``TOGETHER`` tokens and their places; a longer text is cut: (first, last, begin, end)."""
    cuts = np.searchsorted(starts, np.arange(TOGETHER, int(starts[-1]), TOGETHER), side="left")
    edges = np.unique(np.concatenate([[0], cuts, np.maximum(cuts - 1, 0), [len(starts) - 1]])).tolist()
    found = []
    for first, last in pairwise(edges):
        begin, end = int(starts[first]), int(starts[last])
        if last - first == 1 and end - begin > TOGETHER:
            found += [(first, last, a, min(a + TOGETHER, end)) for a in range(begin, end, TOGETHER)]
        else:
            found.append((first, last, begin, end))
    return found


class _Rows:
    """Tokens of some texts, and the stretch of them in which grams begin."""

    def __init__(self, codes: Any, starts: Any, begin: int, end: int) -> None:
        self.codes, self.bounds = codes, np.clip(starts, begin, end)
        lengths = np.diff(self.bounds)
        self.at = np.arange(begin, end)
        self.left = np.repeat(starts[1:], lengths) - self.at  # tokens from here to the end of the text
        self.first = self.at == np.repeat(starts[:-1], lengths)

    def grams(self, words: list[str], least: int, most: int, joint: str, whole: bool) -> Tokens:
        """Grams of ``least`` to ``most`` tokens that begin here."""
        width = max(1, len(words))
        at, left, first, names = self.at, self.left, self.first, words
        codes = self.codes[at].astype(np.int64)
        found: list[tuple[Any, Any]] = []
        known: list[str] = []
        for n in range(1, most + 1):
            if n > 1:
                fits = left >= n
                at, left, first = at[fits], left[fits], first[fits]
                codes, distinct = _numbered(codes[fits] * width + self.codes[at + n - 1])
                names = [f"{names[key // width]}{joint}{words[key % width]}" for key in distinct.tolist()]
            chosen = np.ones(len(at), bool) if n >= least else first & (left == n) & whole
            if chosen.any():
                found.append((at[chosen], codes[chosen] + len(known)))
                known = [*known, *names]
        return _collected(found, self.bounds, known)


def _collected(found: list[tuple[Any, Any]], bounds: Any, names: list[str]) -> Tokens:
    """Grams of several lengths in the order of texts, in a text by length; names that nothing has are left out."""
    counts = [np.diff(np.searchsorted(at, bounds)) for at, _ in found]
    starts = np.zeros(len(bounds), np.int64)
    np.cumsum(sum(counts, start=np.zeros(len(bounds) - 1, np.int64)), out=starts[1:])
    codes = np.zeros(int(starts[-1]), np.int64)
    place = starts[:-1].copy()
    for (_, gram), count in zip(found, counts, strict=True):
        codes[gathered(place, count)] = gram
        place += count
    numbers, distinct = _numbered(codes)
    kept = [names[code] for code in distinct.tolist()]
    grams = Tokens(numbers, starts, strings(kept))
    return rewritten(grams, kept) if len(set(kept)) < len(kept) else grams  # two ways to one name


def _numbered(keys: Any) -> tuple[Any, Any]:
    """Keys numbered in the order in which they first come, as int32, and the distinct keys."""
    import pyarrow as pa

    array = pa.array(keys).dictionary_encode()
    return array.indices.to_numpy(zero_copy_only=False), array.dictionary.to_numpy(zero_copy_only=False)
