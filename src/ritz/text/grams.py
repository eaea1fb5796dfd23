"""n-grams: of words, and of characters.

An n-gram is numbered as a pair, the (n−1)-gram before it and its last word: the key g·V + w is hashed by Arrow, so that
names are only made for the distinct ones. Characters are treated in the same way as the words of their text.

    words     ngrams=(1, 2) of "red cat sat"     red, cat, sat, "red cat", "cat sat"
    char      n characters in a row, anything among them, runs of white space as one space
    char_wb   the same within words between white space, each with a space on both sides
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz.text.tokens import Tokens, gathered, strings

__all__ = ["character_grams", "word_grams"]

_WHITE = re.compile(r"\s\s+")


def word_grams(tokens: Tokens, least: int, most: int) -> Tokens:
    """Runs of ``least`` to ``most`` tokens, their words joined by spaces; shorter ones first in each text."""
    return _grams(tokens, least, most, " ")


def character_grams(texts: Sequence[str], least: int, most: int, *, within_words: bool) -> Tokens:
    """Runs of ``least`` to ``most`` characters of texts that are written as they shall be."""
    if not within_words:
        return _grams(_characters([_WHITE.sub(" ", text) for text in texts]), least, most, "")
    words = [text.split() for text in texts]
    counts = np.array([len(found) for found in words], np.int64)
    padded = _characters([f" {word} " for found in words for word in found])
    grams = _grams(padded, least, most, "", whole=True)
    ends = np.concatenate([[0], np.cumsum(counts)])
    return Tokens(grams.codes, grams.starts[ends], grams.distinct)


def _characters(texts: list[str]) -> Tokens:
    """Each character as a token."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    codes, distinct = _numbered(points.astype(np.int64))
    return Tokens(codes, starts, strings([chr(point) for point in distinct.tolist()]))


def _grams(tokens: Tokens, least: int, most: int, joint: str, *, whole: bool = False) -> Tokens:
    """Grams of all lengths, text by text; ``whole``: a text shorter than a gram is one gram of the next length."""
    words = tokens.words
    width = max(1, len(words))
    lengths = np.diff(tokens.starts)
    at = np.arange(len(tokens.codes), dtype=np.int64)  # where the grams of this length begin
    left = np.repeat(tokens.starts[1:], lengths) - at  # tokens from there to the end of the text
    codes, names = tokens.codes.astype(np.int64), words
    found: list[tuple[Any, Any, int]] = []
    all_names: list[str] = []
    for n in range(1, most + 1):
        if n > 1:
            fits = left >= n
            at, left, codes = at[fits], left[fits], codes[fits]
            codes, distinct = _numbered(codes * width + tokens.codes[at + n - 1])
            names = [f"{names[key // width]}{joint}{words[key % width]}" for key in distinct.tolist()]
        if n >= least:
            found.append((at, codes + len(all_names), n))
            all_names = [*all_names, *names]
        elif whole:  # a text of n characters that has no gram of any length is one itself
            short = (left == n) & (at == np.repeat(tokens.starts[:-1], lengths)[at])
            found.append((at[short], codes[short] + len(all_names), n))
            all_names = [*all_names, *names]
    return _collected(found, tokens.starts, all_names)


def _collected(found: list[tuple[Any, Any, int]], starts: Any, names: list[str]) -> Tokens:
    """Grams of several lengths in the order of texts, in a text by length; names that nothing has are left out."""
    counts = [np.diff(np.searchsorted(at, starts)) for at, _, _ in found]
    total = np.sum(counts, axis=0) if counts else np.zeros(len(starts) - 1, np.int64)
    out = np.zeros(len(starts), np.int64)
    np.cumsum(total, out=out[1:])
    codes = np.zeros(int(out[-1]), np.int64)
    place = out[:-1].copy()
    for (_, gram, _), count in zip(found, counts, strict=True):
        codes[gathered(place, count)] = gram
        place += count
    dense, distinct = _numbered(codes)
    kept = [names[code] for code in distinct.tolist()]
    if len(set(kept)) < len(kept):  # two ways to one name
        ids: dict[str, int] = {}
        dense = np.array([ids.setdefault(name, len(ids)) for name in kept], np.int32)[dense]
        kept = list(ids)
    return Tokens(dense, out, strings(kept))


def _numbered(keys: Any) -> tuple[Any, Any]:
    """Keys numbered in the order in which they first come, as int32, and the distinct keys."""
    import pyarrow as pa

    array = pa.array(keys).dictionary_encode()
    return array.indices.to_numpy(zero_copy_only=False), array.dictionary.to_numpy(zero_copy_only=False)
