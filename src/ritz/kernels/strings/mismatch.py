"""Windows that may differ in a few letters: the mismatch kernel's φ.

    φ_v(s) = number of windows u of s with at most m letters different from v        v ∈ Σ^k

A window with all its letters in Σ is near Σᵢ C(k, i)(σ − 1)ⁱ, i ≤ m, such v; a letter outside Σ differs from every
letter. So φ(s) is a matrix product: counts of the distinct windows (n, u) times their neighbourhoods (u, v) of ones.

Leslie, Eskin, Cohen, Weston & Noble, Mismatch string kernels for discriminative protein classification (2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError, ParameterError
from ritz._core.memory import available
from ritz.kernels.strings.features import (
    LARGEST,
    Counts,
    Integers,
    counted,
    find_ranks,
    ranks,
    rolling_words,
    row_squares,
    window_starts,
)
from ritz.kernels.strings.input import Kind, Sequences, translate

__all__ = ["NearWindows"]

_BYTES = 16  # of an entry while a sparse product is made: value and column, twice


@dataclass(frozen=True, eq=False)
class NearWindows:
    """The windows over Σ that are near some window of the strings it was learnt from, by their codes in order."""

    kind: Kind
    alphabet: Any
    length: int
    mismatches: int
    codes: Integers

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.codes)

    @classmethod
    def learn(
        cls, strings: Sequences, alphabet: Any, length: int, mismatches: int, dtype: Any
    ) -> tuple[NearWindows, Counts]:
        """The vocabulary of the strings over an alphabet, and their features."""
        none = cls(strings.kind, alphabet, length, mismatches, np.zeros(0, np.int64))
        codes, matrix = none._expand(strings, dtype)
        made = cls(strings.kind, alphabet, length, mismatches, codes)
        return made, Counts(matrix, row_squares(matrix))

    def count(self, strings: Sequences, dtype: Any) -> Counts:
        """Features of any strings; columns that the vocabulary lacks follow behind it."""
        import scipy.sparse as sp

        codes, matrix = self._expand(strings, dtype)
        column = find_ranks(self.codes, codes)
        new = column < 0
        column[new] = self.size + np.arange(int(new.sum()))
        shape = (len(strings), self.size + int(new.sum()))
        placed = sp.csr_matrix((matrix.data, column[matrix.indices], matrix.indptr), shape=shape)
        placed.sort_indices()
        return Counts(placed, row_squares(placed))

    def spell(self) -> list[Any]:
        """The windows as strings (or tuples of tokens), in the order of the columns."""
        empty = Sequences(self.kind, np.zeros(0, np.int32), np.zeros(1, np.int64), self.alphabet)
        sigma = len(self.alphabet)
        letters = self.codes[:, None] // sigma ** np.arange(self.length - 1, -1, -1) % sigma
        return [empty.spell(row) for row in letters]

    def _expand(self, strings: Sequences, dtype: Any) -> tuple[Integers, Any]:
        """Codes of all windows near the strings' own, in order, and the features over them."""
        import scipy.sparse as sp

        sigma, k = len(self.alphabet), self.length
        if (sigma + 1) ** k > LARGEST:
            raise ParameterError(
                f"Mismatch numbers windows by 62 bits: at most {_longest(sigma)} letters of an alphabet of {sigma}",
                received=f"length {k}",
                hint="shorter windows, or a smaller alphabet",
            )
        symbols = translate(strings, self.alphabet, self.kind)
        symbols = np.where(symbols < 0, np.int32(sigma), symbols)  # one more letter, which is in no neighbourhood
        row, starts = window_starts(strings.offsets, k)
        own, column = ranks(rolling_words(symbols, k, sigma + 1)[starts], (sigma + 1) ** k)
        _check_memory(len(row) + len(own), sigma, k, self.mismatches)
        windows = counted([row], [column], (len(strings), len(own)), dtype).matrix
        letters = own[:, None] // (sigma + 1) ** np.arange(k - 1, -1, -1) % (sigma + 1)
        near = list(_near(letters, sigma, self.mismatches))
        window = np.concatenate([w for w, _ in near]) if near else np.zeros(0, np.int64)
        codes, place = ranks(np.concatenate([c for _, c in near]) if near else window, sigma**k)
        ones = np.ones(len(place), dtype=dtype)
        matrix = windows @ sp.csr_matrix((ones, (window, place)), shape=(len(own), len(codes)))
        matrix.sort_indices()
        return codes, matrix


def _near(letters: Integers, sigma: int, mismatches: int) -> Iterator[tuple[Integers, Integers]]:
    """Pairs (window, code of a window of Σ^k near it); letter σ is outside Σ and must be replaced."""
    k = letters.shape[1]
    powers = sigma ** np.arange(k - 1, -1, -1)
    outside = letters == sigma
    code = np.where(outside, 0, letters) @ powers
    pattern = outside @ (1 << np.arange(k))
    for each in np.unique(pattern).tolist():
        windows = np.flatnonzero(pattern == each)
        must = [j for j in range(k) if each >> j & 1]
        free = [j for j in range(k) if not each >> j & 1]
        for count in range(min(mismatches - len(must), len(free)) + 1):
            for changed in combinations(free, count):
                yield _replaced(windows, letters[windows], code[windows], must, changed, powers, sigma)


def _replaced(
    windows: Integers,
    letters: Integers,
    code: Integers,
    must: list[int],
    changed: tuple[int, ...],
    powers: NDArray[np.int64],
    sigma: int,
) -> tuple[Integers, Integers]:
    """Any letter of Σ at the places ``must``, another one than now at ``changed``."""
    codes = code[:, None]
    for j in must:
        codes = (codes[:, :, None] + np.arange(sigma) * powers[j]).reshape(len(code), -1)
    for j in changed:
        # Adding 1 … σ − 1 round the alphabet gives every other letter once.
        others = (letters[:, j, None] + np.arange(1, sigma)) % sigma - letters[:, j, None]
        codes = (codes[:, :, None] + others[:, None, :] * powers[j]).reshape(len(code), -1)
    return np.repeat(windows, codes.shape[1]), codes.reshape(-1)


def _longest(sigma: int) -> int:
    length = 1
    while (sigma + 1) ** (length + 1) <= LARGEST:
        length += 1
    return length


def _check_memory(windows: int, sigma: int, length: int, mismatches: int) -> None:
    each = sum(comb(length, i) * (sigma - 1) ** i for i in range(mismatches + 1))
    needed = windows * each * _BYTES
    if needed > available():
        raise MemoryLimitError(
            f"{windows:,} windows with {each:,} neighbours each need up to {needed / 1e9:.1f} GB",
            received=f"{available() / 1e9:.1f} GB",
            hint="fewer mismatches, shorter windows, or the Spectrum kernel",
        )
