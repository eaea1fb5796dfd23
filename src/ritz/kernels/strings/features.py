"""Windows of strings as sparse features: the spectrum kernel's φ, exact and without hashing.

    φ_u(s) = number of times the window u (u₁…u_k) occurs in s        k(s, t) = φ(s)·φ(t)

A window over an alphabet of σ symbols is the number Σ uⱼ σ^(k−j), computed for all positions at once; where σ^k does
not fit 62 bits, the window is cut into blocks that do, and pairs of ranks are ranked again (Karp, Miller & Rosenberg,
1972). Distinct windows are found by sorting, so no two of them ever share a column. A vocabulary is fixed by the
strings it was learnt from; windows of new strings that it lacks get columns of their own behind it: they meet nothing
in the old strings, but count in the norm.

Leslie, Eskin & Noble, The spectrum kernel (2002). Shapes: n strings, w windows, m distinct windows, counts (n, m) CSR.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.kernels.strings.input import Kind, Sequences, translate

__all__ = ["Counts", "Windows", "counted", "find_ranks", "ranks", "rolling_words", "row_squares", "window_starts"]

Integers = NDArray[np.int64]

#: The largest number of a window; two such numbers are never multiplied.
LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class Counts:
    """Window counts of n strings: ``matrix`` (n, base size + columns of their own) and ‖φ(s)‖² of each."""

    matrix: Any
    squares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OneLength:
    """The distinct windows of one length, in order; ``tables`` are the sorted words of blocks and pairs of ranks."""

    length: int
    sigma: int
    words: tuple[Integers, ...]
    pairs: tuple[Integers, ...]

    @property
    def size(self) -> int:
        """m, the number of distinct windows."""
        return len(self.pairs[-1] if self.pairs else self.words[0])

    def find(self, symbols: NDArray[np.int32], starts: Integers) -> Integers:
        """The columns of the windows at ``starts``; −1 where a window is unknown. Symbols of −1 are unknown as well."""
        alien = np.concatenate([[0], np.cumsum(symbols < 0)])
        familiar = alien[starts + self.length] == alien[starts]
        symbols = np.maximum(symbols, 0)
        column = np.zeros(len(starts), dtype=np.int64)
        for b, (first, width) in enumerate(_blocks(self.length, self.sigma)):
            rank = find_ranks(self.words[b], rolling_words(symbols, width, self.sigma)[starts + first])
            if b:
                joined = find_ranks(self.pairs[b - 1], np.maximum(column, 0) * len(self.words[b]) + np.maximum(rank, 0))
                rank = np.where((column < 0) | (rank < 0), -1, joined)
            column = rank
        return np.where(familiar, column, -1)

    def letters(self) -> NDArray[np.int64]:
        """Each window as symbol numbers, (m, length)."""
        columns = np.arange(self.size)
        blocks = list(_blocks(self.length, self.sigma))
        letters = np.empty((self.size, self.length), dtype=np.int64)
        for b in reversed(range(len(blocks))):
            if b:
                columns, rank = np.divmod(self.pairs[b - 1][columns], len(self.words[b]))
            else:
                rank = columns
            word, (first, width) = self.words[b][rank], blocks[b]
            for j in reversed(range(first, first + width)):
                word, letters[:, j] = np.divmod(word, self.sigma)
        return letters


@dataclass(frozen=True, eq=False)
class Windows:
    """A vocabulary: the distinct windows of some lengths, length by length, each in the order of the alphabet."""

    kind: Kind
    alphabet: Any
    parts: tuple[OneLength, ...]

    @property
    def size(self) -> int:
        """The number of columns."""
        return sum(windows.size for windows in self.parts)

    @classmethod
    def learn(cls, strings: Sequences, lengths: Iterable[int], dtype: Any) -> tuple[Windows, Counts]:
        """The vocabulary of the strings, and their counts."""
        parts, rows, columns, size = [], [], [], 0
        for length in lengths:
            row, starts = window_starts(strings.offsets, length)
            windows, column = _learn(strings.symbols, length, len(strings.alphabet), starts)
            parts.append(windows)
            rows.append(row)
            columns.append(column + size)
            size += windows.size
        made = cls(strings.kind, strings.alphabet, tuple(parts))
        return made, counted(rows, columns, (len(strings), size), dtype)

    def count(self, strings: Sequences, dtype: Any) -> Counts:
        """Counts of any strings; windows that the vocabulary lacks follow in columns behind it."""
        symbols = translate(strings, self.alphabet, self.kind)
        rows, columns, shift, size = [], [], 0, self.size
        for windows in self.parts:
            row, starts = window_starts(strings.offsets, windows.length)
            column = windows.find(symbols, starts)
            new = column < 0
            column += shift
            if new.any():
                own, extra = _learn(strings.symbols, windows.length, len(strings.alphabet), starts[new])
                column[new] = extra + size
                size += own.size
            rows.append(row)
            columns.append(column)
            shift += windows.size
        return counted(rows, columns, (len(strings), size), dtype)

    def spell(self) -> list[Any]:
        """The windows as strings (or tuples of tokens), in the order of the columns."""
        empty = Sequences(self.kind, np.zeros(0, np.int32), np.zeros(1, np.int64), self.alphabet)
        return [empty.spell(letters) for windows in self.parts for letters in windows.letters()]


def window_starts(offsets: Integers, length: int) -> tuple[Integers, Integers]:
    """Row and first position of every window of the strings, in order."""
    windows = np.maximum(np.diff(offsets) - (length - 1), 0)
    row = np.repeat(np.arange(len(windows)), windows)
    before = np.cumsum(windows) - windows
    return row, np.arange(len(row)) + (offsets[:-1] - before)[row]


def rolling_words(symbols: NDArray[np.int32], width: int, sigma: int) -> Integers:
    """``Σ symbols[i + j] σ^(width − 1 − j)`` for every i, also where a window crosses into the next string."""
    positions = max(len(symbols) - width + 1, 0)
    words = np.zeros(positions, dtype=np.int64)
    for j in range(width):
        words *= sigma
        words += symbols[j : j + positions]
    return words


def ranks(codes: Integers, bound: int) -> tuple[Integers, Integers]:
    """Distinct codes (all < bound) in order, and the rank of each code among them."""
    if bound > max(2**16, 4 * len(codes)):
        table, rank = np.unique(codes, return_inverse=True)
        return table, rank.reshape(-1)
    place = np.zeros(bound, dtype=np.int64)
    place[codes] = 1
    table = np.flatnonzero(place)
    place[table] = np.arange(len(table))
    return table, place[codes]


def find_ranks(table: Integers, codes: Integers) -> Integers:
    """The place of each code in a sorted table, −1 where it has none."""
    if not len(table):
        return np.full(len(codes), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(table, codes), len(table) - 1)
    return np.where(table[place] == codes, place, -1)


def counted(rows: list[Integers], columns: list[Integers], shape: tuple[int, int], dtype: Any) -> Counts:
    """Count equal (row, column) pairs into a CSR matrix."""
    import scipy.sparse as sp

    row, column = (parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in (rows, columns))
    small = max(*shape, len(row)) < 2**31
    index = np.int32 if small else np.int64
    ones = np.ones(len(row), dtype=dtype)
    matrix = sp.coo_matrix((ones, (row.astype(index), column.astype(index))), shape=shape).tocsr()
    matrix.sort_indices()
    return Counts(matrix, row_squares(matrix))


def row_squares(matrix: Any) -> NDArray[np.float64]:
    """Squared norms of the rows of a CSR matrix of counts; sums of whole numbers, hence exact."""
    total = np.concatenate([[0.0], np.cumsum(np.square(matrix.data, dtype=np.float64))])
    return np.diff(total[matrix.indptr])


def _blocks(length: int, sigma: int) -> Iterable[tuple[int, int]]:
    """First position and width of the blocks of a window whose words stay below ``LARGEST``."""
    width = 1
    while width < length and max(sigma, 2) ** (width + 1) <= LARGEST:
        width += 1
    return ((first, min(width, length - first)) for first in range(0, length, width))


def _learn(symbols: NDArray[np.int32], length: int, sigma: int, starts: Integers) -> tuple[OneLength, Integers]:
    """The distinct windows at ``starts``, and the column of each."""
    words: list[Integers] = []
    pairs: list[Integers] = []
    column = np.zeros(len(starts), dtype=np.int64)
    for first, width in _blocks(length, sigma):
        table, rank = ranks(rolling_words(symbols, width, sigma)[starts + first], sigma**width)
        if words:
            joined, rank = ranks(column * len(table) + rank, (int(column.max(initial=0)) + 1) * len(table))
            pairs.append(joined)
        words.append(table)
        column = rank
    return OneLength(length, sigma, tuple(words), tuple(pairs)), column
