"""Tokens of many batches, until the words are known and the matrix can be made.

four bytes a token  →  columns in order  →  CSR, made in pieces of rows
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.text.tokens import Tokens
from ritz.text.vocabulary import counted_rows

__all__ = ["Gathered"]

#: Tokens that are sorted at once.
TOGETHER = 1 << 21


class Gathered:
    """Codes of the tokens of all documents so far."""

    def __init__(self) -> None:
        self._codes: list[Any] = []
        self._starts: list[Any] = []
        self._unseen: list[Any] = []

    def add(self, tokens: Tokens, numbers: Any) -> None:
        """Take the tokens of a batch; ``numbers`` says which number each of its words has, −1 for none."""
        codes = numbers[tokens.codes] if len(numbers) else np.zeros(0, np.int32)
        starts = tokens.starts
        if len(numbers) and numbers.min() < 0:
            kept = codes >= 0
            before = np.zeros(len(codes) + 1, np.int64)
            np.cumsum(kept, out=before[1:])
            self._unseen.append(np.diff(starts) - np.diff(before[starts]))
            codes, starts = codes[kept], before[starts]
        else:
            self._unseen.append(np.zeros(len(starts) - 1, np.int64))
        self._codes.append(codes)
        self._starts.append(starts)

    def lengths(self) -> Any:
        """Tokens of each document that have a number."""
        return np.concatenate([np.zeros(0, np.int64), *(np.diff(starts) for starts in self._starts)])

    def unseen(self) -> Any:
        """Tokens of each document that have none."""
        return np.concatenate([np.zeros(0, np.int64), *self._unseen])

    def matrix(self, order: Any, width: int) -> Any:
        """CSR (n, width) of the counts; ``order`` gives the number that stands in each column. Forgets the tokens."""
        from scipy.sparse import csr_array

        column = None
        if order is not None:
            column = np.zeros(width, np.int32)
            column[order] = np.arange(width, dtype=np.int32)
        n = sum(len(starts) - 1 for starts in self._starts)
        values, indices, lengths = [], [], [np.zeros(1, np.int64)]
        for i in range(len(self._codes)):
            codes, starts = self._codes[i], self._starts[i]
            self._codes[i] = None
            for first, last in _spans(starts):
                piece = codes[starts[first] : starts[last]]
                counts = counted_rows(
                    piece if column is None else column[piece], _from_zero(starts, first, last), width
                )
                values.append(counts.data)
                indices.append(counts.indices)
                lengths.append(np.diff(counts.indptr).astype(np.int64))
        indptr = np.cumsum(np.concatenate(lengths))
        small = indptr[-1] < np.iinfo(np.int32).max
        data = np.concatenate([np.zeros(0), *values])
        values.clear()
        columns = np.concatenate([np.zeros(0, np.int32 if small else np.int64), *indices])
        indices.clear()
        matrix = csr_array((data, columns, indptr.astype(np.int32) if small else indptr), shape=(n, width))
        matrix.has_canonical_format = True
        return matrix


def _from_zero(starts: Any, first: int, last: int) -> Any:
    return starts[first : last + 1] - starts[first]


def _spans(starts: Any) -> list[tuple[int, int]]:
    """Runs of rows of about ``TOGETHER`` tokens."""
    cuts = np.searchsorted(starts, np.arange(TOGETHER, int(starts[-1]), TOGETHER), side="left")
    edges = np.unique(np.concatenate([[0], cuts, [len(starts) - 1]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
