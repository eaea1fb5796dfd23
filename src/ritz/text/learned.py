"""What Counts have learned of documents, and the columns that follow from it.

    state (vocabulary or buckets), number of documents  →  columns: words, document and global frequency

The state grows with every batch; columns are made when they are asked for. Arrays are never changed in place, so a
copy is cheap, and a fit that fails leaves what was known before as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ritz.text.buckets import Buckets
from ritz.text.prune import kept_columns
from ritz.text.tokens import Tokens, bytes_of, strings_of
from ritz.text.vocabulary import Vocabulary

__all__ = ["Columns", "Learned", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Which words get a column, as it was said when the documents were read."""

    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None


class Columns:
    """The columns of a matrix of counts: their frequencies, and their words in Arrow (None for buckets)."""

    def __init__(self, words: Any, kept: Any, df: Any, gf: Any, buckets: Buckets | None = None) -> None:
        self.words, self.kept, self.df, self.gf = words, kept, df, gf
        self._buckets = buckets

    @cached_property
    def names(self) -> list[str]:
        """Word of each column; of a bucket its most frequent words."""
        names: list[str] = self.words.to_pylist() if self._buckets is None else self._buckets.names()
        return names

    @cached_property
    def dictionary(self) -> dict[str, int]:
        """Column of each word."""
        if self._buckets is not None:
            return self._buckets.known()
        return dict(zip(self.words.to_pylist(), range(len(self.df)), strict=True))


class Learned:
    """State, number of documents, and how many of them have no token."""

    def __init__(self, state: Vocabulary | Buckets, limits: Limits, n: int = 0, empty: int = 0) -> None:
        self.state, self.limits, self.n, self.empty = state, limits, n, empty
        self._columns: Columns | None = None

    def saw(self, tokens: Tokens) -> None:
        """Count documents."""
        self.n += tokens.n
        self.empty += int((np.diff(tokens.starts) == 0).sum())

    def add(self, tokens: Tokens) -> None:
        """Count documents and their words."""
        self.saw(tokens)
        self.state.add(tokens)

    def copy(self) -> Learned:
        """The same, to go on from."""
        return Learned(self.state.copy(), replace(self.limits), self.n, self.empty)

    def merged(self, other: Learned) -> Learned:
        """What both have learned."""
        state: Any = self.state
        return Learned(state.merged(other.state), self.limits, self.n + other.n, self.empty + other.empty)

    def columns(self) -> Columns:
        """The columns, made once."""
        if self._columns is None:
            if isinstance(self.state, Buckets):
                self._columns = Columns(None, None, self.state.df, self.state.gf, self.state)
            else:
                words, df, gf = self.state.in_order()
                kept = kept_columns(self.limits, df, gf, self.n)
                if kept is not None:
                    words, df, gf = words.take(kept), df[kept], gf[kept]
                self._columns = Columns(words, kept, df, gf)
        return self._columns

    def record(self) -> dict[str, Any]:
        """Plain numbers and arrays, from which ``from_record`` makes the same."""
        record: dict[str, Any] = {"n_documents": self.n, "n_empty": self.empty}
        if isinstance(self.state, Buckets):
            words = sorted(self.state.seen)
            letters, offsets = bytes_of(words)
            times = np.array([self.state.seen[word] for word in words], np.int64)
            sums = {"df": self.state.df, "gf": self.state.gf, "times": times}
            return record | {"letters": letters, "offsets": offsets} | sums
        words, df, gf = self.state.in_order()
        letters, offsets = bytes_of(words)
        return record | {"letters": letters, "offsets": offsets, "df": df, "gf": gf}

    @classmethod
    def from_record(cls, record: dict[str, Any], limits: Limits, hashing: int | None) -> Learned:
        """What a record holds."""
        words = strings_of(np.asarray(record["letters"], np.uint8), np.asarray(record["offsets"], np.int64))
        df, gf = np.asarray(record["df"], np.int64), np.asarray(record["gf"], np.int64)
        state: Vocabulary | Buckets = Vocabulary(words, df, gf)
        if hashing is not None:
            state = Buckets(hashing, df, gf)
            state.seen = dict(zip(words.to_pylist(), np.asarray(record["times"]).tolist(), strict=True))
        return cls(state, limits, int(record["n_documents"]), int(record["n_empty"]))
