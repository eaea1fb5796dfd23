"""Tokens of many batches, until the words are known and the matrix can be made.

four bytes a token  →  columns in order  →  CSR, made in pieces of rows

``spill`` sends the tokens to files of a temporary folder from then on, and the matrix with them (``shards.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz._core.in_order import in_order
from ritz._core.threads import lane_count
from ritz.text.shards import Folder, Shards
from ritz.text.tokens import Tokens
from ritz.text.vocabulary import WAITING, Vocabulary, counted_rows, unified

__all__ = ["Gathered"]

#: Tokens that are sorted at once.
TOGETHER = 1 << 20
#: Bytes that a waiting word takes until it is joined to the others, with the table of its hashes.
WORD_BYTES = 100.0


class Gathered:
    """Codes of the tokens of all documents so far, and the distinct words of batches that are not joined yet."""

    def __init__(self) -> None:
        self.folder: Folder | None = None
        self._room = 0.0
        self._codes: list[Any] = []
        self._starts: list[Any] = []
        self._words: list[Any] = []  # what is known, then one array for each of the last batches

    def add(self, tokens: Tokens) -> None:
        """Take the tokens of a batch."""
        self._codes.append(tokens.codes)
        self._starts.append(tokens.starts)
        if self.folder is not None and not self._words:
            self._write()

    def add_words(self, tokens: Tokens) -> None:
        """Take the tokens of a batch together with its words, which are joined later."""
        self.add(tokens)
        self._words = self._words or [tokens.distinct.slice(0, 0)]
        self._words.append(tokens.distinct)
        waiting = max(WAITING, len(self._words[0])) if self.folder is None else self._room / WORD_BYTES
        if sum(map(len, self._words[1:])) > waiting or self._held() > self._room > 0:
            self.join()
            self._write()

    def spill(self, room: float) -> None:
        """From now on hold about ``room`` bytes of tokens and waiting words, and the rest in files."""
        self.folder, self._room = Folder(), room
        self.join()
        self._write()

    def _held(self) -> float:
        return float(sum(codes.nbytes for codes in self._codes if isinstance(codes, np.ndarray)))

    def _write(self) -> None:
        """Send tokens to files."""
        if self.folder is not None:
            for i, codes in enumerate(self._codes):
                if isinstance(codes, np.ndarray):
                    self._codes[i] = self.folder.write(np.asarray(codes, np.int32))

    def join(self) -> Any:
        """Number the words of all batches alike; gives the distinct words."""
        if len(self._words) > 1:
            waiting = len(self._words) - 1
            numbers, words = unified(self._words)
            for i, new in enumerate(numbers[1:], len(self._codes) - waiting):
                self._codes[i] = new[self._codes[i]] if len(new) else self._codes[i]
            self._words = [words]
        return self._words[0] if self._words else None

    def with_vocabulary(self) -> tuple[Any, Vocabulary]:
        """CSR of the counts of all words, sorted, and the vocabulary that they are."""
        import pyarrow.compute as pc

        words = self.join()
        if words is None:
            return self.matrix(None, 0), Vocabulary()
        order = pc.sort_indices(words)
        column = np.zeros(len(words), np.int32)
        column[order.to_numpy()] = np.arange(len(words), dtype=np.int32)
        counts = self.matrix(column, len(words))
        df = np.zeros(len(words), np.int64)
        gf = np.zeros(len(words), np.int64)
        for rows in counts.rows() if isinstance(counts, Shards) else [counts]:
            df += np.bincount(rows.indices, minlength=len(words))
            gf += np.bincount(rows.indices, rows.data, len(words)).astype(np.int64)
        return counts, Vocabulary(words.take(order), df, gf)

    def lengths(self) -> Any:
        """Tokens of each document."""
        return np.concatenate([np.zeros(0, np.int64), *(np.diff(starts) for starts in self._starts)])

    def matrix(self, column: Any, width: int) -> Any:
        """CSR (n, width) of the counts; ``column`` of each number, None where they are the same. Forgets the tokens."""
        from scipy.sparse import csr_array

        if self.folder is not None:
            return self._shards(column, width)
        n = sum(len(starts) - 1 for starts in self._starts)
        values, indices, lengths = [], [], [np.zeros(1, np.int64)]
        for counts in in_order(lambda piece: _counts_of(piece, column, width), self._pieces(), lane_count()):
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

    def _shards(self, column: Any, width: int) -> Shards:
        """The counts in files, some batches of tokens to each."""
        shards = Shards(self.folder or Folder(), width)
        for piece in self._pieces():
            shards.add(_counts_of(piece, column, width))
        return shards.closed()

    def _pieces(self) -> Iterator[tuple[Any, Any]]:
        """Codes and starts of some rows at a time; a batch is forgotten when the next one begins."""
        for i, starts in enumerate(self._starts):
            codes, self._codes[i] = self._codes[i], None
            if not isinstance(codes, np.ndarray):
                path, kind = codes
                codes = np.fromfile(path, kind)
                path.unlink()
            for first, last in _spans(starts):
                yield codes[starts[first] : starts[last]], starts[first : last + 1] - starts[first]


def _counts_of(piece: tuple[Any, Any], column: Any, width: int) -> Any:
    codes, starts = piece
    return counted_rows(codes if column is None else column[codes], starts, width)


def _spans(starts: Any) -> list[tuple[int, int]]:
    """Runs of rows of about ``TOGETHER`` tokens."""
    cuts = np.searchsorted(starts, np.arange(TOGETHER, int(starts[-1]), TOGETHER), side="left")
    edges = np.unique(np.concatenate([[0], cuts, [len(starts) - 1]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
