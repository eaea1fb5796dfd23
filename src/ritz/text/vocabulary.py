"""Words that were seen, with the sums that merge: document frequency and global frequency.

    df(w)   documents in which w occurs          gf(w)   how often w occurs in all of them

Both are sums over documents, so shards are merged by adding them up: whole numbers, and exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz.text.tokens import Tokens

__all__ = ["Vocabulary", "counted_rows"]


class Vocabulary:
    """Distinct words in the order in which they came, and how many documents and places each stands in."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self._df = np.zeros(0, np.int64)
        self._gf = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def df(self) -> Any:
        """Document frequency of each word, int64."""
        return self._df[: len(self.ids)]

    @property
    def gf(self) -> Any:
        """Global frequency of each word, int64."""
        return self._gf[: len(self.ids)]

    def numbers(self, words: Sequence[str]) -> Any:
        """Number of each word, int32; words that are new get the next ones."""
        ids = self.ids
        found = np.fromiter((ids.setdefault(word, len(ids)) for word in words), np.int32, len(words))
        if len(ids) > len(self._df):
            more = np.zeros(max(len(ids), 2 * len(self._df)) - len(self._df), np.int64)
            self._df, self._gf = np.concatenate([self._df, more]), np.concatenate([self._gf, more])
        return found

    def numbers_of(self, tokens: Tokens) -> Any:
        """Number of each word of texts."""
        return self.numbers(tokens.words)

    def add(self, tokens: Tokens) -> None:
        """Count the words of texts."""
        numbers = self.numbers_of(tokens)
        counts = counted_rows(tokens.codes, tokens.starts, len(tokens.words))
        self.add_sums(numbers, np.bincount(counts.indices, minlength=len(numbers)), counts.sum(axis=0))

    def add_sums(self, numbers: Any, df: Any, gf: Any) -> None:
        """Add sums of words, each of which comes once."""
        self._df[numbers] += np.asarray(df, np.int64).ravel()
        self._gf[numbers] += np.asarray(gf).ravel().astype(np.int64)

    def merged(self, other: Vocabulary) -> Vocabulary:
        """The words of both."""
        both = Vocabulary()
        for one in (self, other):
            both.add_sums(both.numbers(list(one.ids)), one.df, one.gf)
        return both

    def in_order(self) -> tuple[list[str], Any]:
        """All words sorted by their code points, and the number of each."""
        words = sorted(self.ids)
        return words, np.fromiter((self.ids[word] for word in words), np.int64, len(words))


def counted_rows(codes: Any, starts: Any, width: int) -> Any:
    """CSR (n, width) of how often each code occurs in each row; columns in order, none twice."""
    from scipy.sparse import csr_array

    codes = np.array(codes, np.int32 if width <= np.iinfo(np.int32).max else np.int64)
    indptr = starts.astype(np.int32) if len(codes) < np.iinfo(np.int32).max else starts
    counts = csr_array((np.ones(len(codes)), codes, indptr), shape=(len(starts) - 1, width))
    counts.sum_duplicates()
    return counts
