"""Words that were seen, with the sums that merge: document frequency and global frequency.

    df(w)   documents in which w occurs          gf(w)   how often w occurs in all of them

Both are sums over documents, so shards are merged by adding them up: whole numbers, and exact. The words are an Arrow
array, never one Python object each; those of new batches wait and are joined by one hash table for many of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz.text.tokens import Tokens, encoded, strings

__all__ = ["Vocabulary", "counted_rows", "unified"]

#: Words that wait before they are joined to those that are known, at the least.
WAITING = 1 << 20


class Vocabulary:
    """Distinct words, and how many documents and places each stands in."""

    def __init__(self, words: Any = None, df: Any = None, gf: Any = None) -> None:
        nothing = np.zeros(0, np.int64)
        self._words = strings([]) if words is None else words
        self._df: Any = nothing if df is None else df
        self._gf: Any = nothing if gf is None else gf
        self._waiting: list[tuple[Any, Any, Any]] = []

    def copy(self) -> Vocabulary:
        """The same words, to go on from."""
        twin = Vocabulary(self._words, self._df, self._gf)
        twin._waiting = list(self._waiting)
        return twin

    def add(self, tokens: Tokens) -> None:
        """Count the words of texts."""
        counts = counted_rows(tokens.codes, tokens.starts, len(tokens.distinct))
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        self._wait(tokens.distinct, df, np.bincount(tokens.codes, minlength=counts.shape[1]))

    def merged(self, other: Vocabulary) -> Vocabulary:
        """The words of both."""
        both = Vocabulary(*self.in_order())
        both._wait(*other.in_order())
        return both

    def in_order(self) -> tuple[Any, Any, Any]:
        """All words, sorted by their code points, with df and gf."""
        import pyarrow.compute as pc

        self._join()
        order = pc.sort_indices(self._words)
        at = order.to_numpy()
        self._words, self._df, self._gf = self._words.take(order), self._df[at], self._gf[at]
        return self._words, self._df, self._gf

    def _wait(self, words: Any, df: Any, gf: Any) -> None:
        self._waiting.append((words, df, gf))
        if sum(len(words) for words, _, _ in self._waiting) > max(WAITING, len(self._words)):
            self._join()

    def _join(self) -> None:
        if not self._waiting:
            return
        everything = [(self._words, self._df, self._gf), *self._waiting]
        numbers, self._words = encoded([words for words, _, _ in everything])
        self._df, self._gf = (
            # Sums of whole numbers below 2^53 are exact in float64.
            np.bincount(numbers, np.concatenate([one[j] for one in everything]), len(self._words)).astype(np.int64)
            for j in (1, 2)
        )
        self._waiting = []


def unified(arrays: Sequence[Any]) -> tuple[list[Any], Any]:
    """Numbers of the words of several arrays among the distinct words of all, int32, and these words."""
    numbers, words = encoded(arrays)
    return np.split(numbers, np.cumsum([len(array) for array in arrays])[:-1]), words


def counted_rows(codes: Any, starts: Any, width: int) -> Any:
    """CSR (n, width) of how often each code occurs in each row; columns in order, none twice."""
    from scipy.sparse import csr_array

    if len(starts) == 2 and len(codes) > width:  # one long document: no sorting, and no room for it
        row = np.zeros(width, np.int64)
        for i in range(0, len(codes), WAITING):  # which would be copied as int64, all at once
            row += np.bincount(codes[i : i + WAITING], minlength=width)
        columns = np.flatnonzero(row).astype(np.int32)
        return csr_array((row[columns].astype(float), columns, np.array([0, len(columns)])), shape=(1, width))
    codes = np.array(codes, np.int32)
    indptr = starts.astype(np.int32) if len(codes) < np.iinfo(np.int32).max else starts
    counts = csr_array((np.ones(len(codes)), codes, indptr), shape=(len(starts) - 1, width))
    counts.sum_duplicates()
    return counts
