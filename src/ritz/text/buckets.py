"""Columns by hash, for vocabularies without bounds: column = abs(h(word)) mod m, h = MurmurHash3 of 32 bits, seed 0.

The hash is that of scikit-learn's ``HashingVectorizer``, without signs, so that counts stay counts. The first
``REMEMBERED`` distinct words are kept with their counts, so that a bucket can be named by its most frequent words;
words beyond are counted in their bucket all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz.text.tokens import Tokens, renumbered
from ritz.text.vocabulary import counted_rows

__all__ = ["Buckets", "buckets_of"]

REMEMBERED = 1 << 20
#: Words that name a bucket.
NAMED = 3


class Buckets:
    """Document and global frequencies of m buckets, and words that fall into them."""

    def __init__(self, m: int, df: Any = None, gf: Any = None) -> None:
        self.m = m
        self.df: Any = np.zeros(m, np.int64) if df is None else df
        self.gf: Any = np.zeros(m, np.int64) if gf is None else gf
        self.seen: dict[str, int] = {}

    def copy(self) -> Buckets:
        """The same buckets, to go on from."""
        twin = Buckets(self.m, self.df, self.gf)
        twin.seen = dict(self.seen)
        return twin

    def add(self, tokens: Tokens) -> None:
        """Count the words of texts."""
        counts = np.bincount(tokens.codes, minlength=len(tokens.distinct))
        self._remember(zip(tokens.words, counts.tolist(), strict=True))
        rows = placed(tokens, self.m)
        there = counted_rows(rows.codes, rows.starts, self.m).indices
        self.df = self.df + np.bincount(there, minlength=self.m)
        self.gf = self.gf + np.bincount(rows.codes, minlength=self.m)

    def merged(self, other: Buckets) -> Buckets:
        """The buckets of both."""
        both = Buckets(self.m, self.df + other.df, self.gf + other.gf)
        both.seen = dict(self.seen)
        both._remember(other.seen.items())
        return both

    def known(self) -> dict[str, int]:
        """Bucket of each word that is remembered."""
        words = sorted(self.seen)
        return dict(zip(words, buckets_of(words, self.m).tolist(), strict=True))

    def names(self) -> list[str]:
        """The most frequent words of each bucket; its number where none is remembered."""
        words = sorted(self.seen, key=lambda word: (-self.seen[word], word))
        named: dict[int, list[str]] = {}
        for word, bucket in zip(words, buckets_of(words, self.m).tolist(), strict=True):
            if len(named.setdefault(bucket, [])) < NAMED:
                named[bucket].append(word)
        return ["|".join(named[j]) if j in named else f"bucket {j}" for j in range(self.m)]

    def _remember(self, counted: Any) -> None:
        for word, count in counted:
            if word in self.seen or len(self.seen) < REMEMBERED:
                self.seen[word] = self.seen.get(word, 0) + count


def placed(tokens: Tokens, m: int) -> Tokens:
    """The tokens, numbered by their buckets."""
    return renumbered(tokens, buckets_of(tokens.words, m), None)


def buckets_of(words: Sequence[str], m: int) -> Any:
    """Bucket of each word, int32."""
    from sklearn.utils import murmurhash3_32

    hashes = np.fromiter((murmurhash3_32(word.encode("utf-8"), 0) for word in words), np.int64, len(words))
    return (np.abs(hashes) % m).astype(np.int32)
