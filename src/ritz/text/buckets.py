"""Columns by hash, for vocabularies without bounds: column = abs(h(word)) mod m, h = MurmurHash3 of 32 bits, seed 0.

The hash is that of scikit-learn's ``HashingVectorizer``, without signs, so that counts stay counts. The first
``REMEMBERED`` distinct words are kept with their counts, so that a bucket can be named by its most frequent words;
words beyond are counted in their bucket all the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.text.tokens import Tokens
from ritz.text.vocabulary import counted_rows

__all__ = ["Buckets"]

REMEMBERED = 1 << 20
#: Words that name a bucket.
NAMED = 3


class Buckets:
    """Document and global frequencies of m buckets, and words that fall into them."""

    def __init__(self, m: int) -> None:
        self.m = m
        self.df = np.zeros(m, np.int64)
        self.gf = np.zeros(m, np.int64)
        self.seen: dict[str, int] = {}

    def __len__(self) -> int:
        return self.m

    def buckets(self, words: list[str]) -> Any:
        """Bucket of each word, int32."""
        from sklearn.utils import murmurhash3_32

        hashes = np.fromiter(
            (murmurhash3_32(word.encode("utf-8", "surrogatepass"), 0) for word in words), np.int64, len(words)
        )
        return (np.abs(hashes) % self.m).astype(np.int32)

    def numbers_of(self, tokens: Tokens) -> Any:
        """Bucket of each word of texts; the words are remembered."""
        counts = np.bincount(tokens.codes, minlength=len(tokens.words)).tolist()
        for word, count in zip(tokens.words, counts, strict=True):
            if word in self.seen or len(self.seen) < REMEMBERED:
                self.seen[word] = self.seen.get(word, 0) + count
        return self.buckets(tokens.words)

    def add(self, tokens: Tokens) -> None:
        """Count the words of texts."""
        numbers = self.numbers_of(tokens)
        codes = numbers[tokens.codes] if len(numbers) else tokens.codes
        counts = counted_rows(codes, tokens.starts, self.m)
        self.add_sums(np.arange(self.m), np.bincount(counts.indices, minlength=self.m), counts.sum(axis=0))

    def add_sums(self, numbers: Any, df: Any, gf: Any) -> None:
        """Add sums of buckets."""
        self.df[numbers] += np.asarray(df, np.int64).ravel()
        self.gf[numbers] += np.asarray(gf).ravel().astype(np.int64)

    def merged(self, other: Buckets) -> Buckets:
        """The buckets of both."""
        both = Buckets(self.m)
        both.df, both.gf = self.df + other.df, self.gf + other.gf
        both.seen = dict(self.seen)
        for word, count in other.seen.items():
            if word in both.seen or len(both.seen) < REMEMBERED:
                both.seen[word] = both.seen.get(word, 0) + count
        return both

    def in_order(self) -> tuple[list[str], Any]:
        """Buckets are in order as they are."""
        return [], np.arange(self.m)

    def known(self) -> dict[str, int]:
        """Bucket of each word that is remembered."""
        words = sorted(self.seen)
        return dict(zip(words, self.buckets(words).tolist(), strict=True))

    def names(self) -> list[str]:
        """The most frequent words of each bucket; its number where none is remembered."""
        words = sorted(self.seen, key=lambda word: (-self.seen[word], word))
        named: dict[int, list[str]] = {}
        for word, bucket in zip(words, self.buckets(words).tolist(), strict=True):
            if len(named.setdefault(bucket, [])) < NAMED:
                named[bucket].append(word)
        return ["|".join(named[j]) if j in named else f"bucket {j}" for j in range(self.m)]
