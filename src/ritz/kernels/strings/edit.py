"""Levenshtein distances: the least number of insertions, deletions and substitutions that turn s into t.

    D(i, j) = min(D(i − 1, j) + 1, D(i, j − 1) + 1, D(i − 1, j − 1) + [sᵢ ≠ tⱼ])

NearWindows in D differ by −1, 0 or 1, so a column of D is two bit vectors and 64 cells cost a dozen instructions
(Myers, A fast bit-vector algorithm for approximate string matching, 1999; Hyyrö 2003 for strings of several words).
The bit masks of s are made once and used for every t. Without numba rows of D run in NumPy, one string against many.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compiled import compiled
from ritz.kernels.strings.input import Sequences, column_groups, padded

__all__ = ["edit_distances"]

Ints = NDArray[np.int32]


def edit_distances(A: Sequences, B: Sequences, codes: Ints) -> NDArray[np.int64]:
    """Distances (n, m) of all strings of A from all of B, whose symbols in A's alphabet are ``codes``."""
    out = np.empty((len(A), len(B)), dtype=np.int64)
    compiled = _compiled()
    if compiled is None:
        for cols in column_groups(B.offsets, 1):
            offsets = B.offsets[cols.start : cols.stop + 1]
            out[:, cols] = _in_numpy(A, *padded(codes, offsets), np.diff(offsets))
    else:
        words = int(np.max(A.lengths, initial=1) + 63) // 64
        masks = np.zeros((max(len(A.alphabet), 1), max(words, 1)), dtype=np.uint64)
        compiled(A.symbols, A.offsets, codes, B.offsets, masks, out)
    return out


#: `_distance`, compiled; `_loops` finds it here when it is compiled itself.
_compiled_distance: Any = None


@cache
def _compiled() -> Any:
    """The loops as machine code, or None where numba is not installed."""
    global _compiled_distance
    _compiled_distance = compiled(_distance)
    return compiled(_loops)


def _loops(
    s_all: Ints,
    s_offsets: NDArray[np.int64],
    t_all: Ints,
    t_offsets: NDArray[np.int64],
    masks: NDArray[np.uint64],
    out: NDArray[np.int64],
) -> None:
    """All pairs, in the Python that numba compiles; ``masks[c, w]``: where in word w of s the symbol c stands."""
    one = np.uint64(1)
    up = np.empty(masks.shape[1], np.uint64)
    down = np.empty(masks.shape[1], np.uint64)
    for a in range(out.shape[0]):
        s = s_all[s_offsets[a] : s_offsets[a + 1]]
        for i in range(len(s)):
            masks[s[i], i >> 6] |= one << np.uint64(i & 63)
        for b in range(out.shape[1]):
            t = t_all[t_offsets[b] : t_offsets[b + 1]]
            out[a, b] = _compiled_distance(len(s), t, masks, up, down) if len(s) else len(t)
        for i in range(len(s)):
            masks[s[i], i >> 6] = np.uint64(0)


def _distance(length: int, t: Ints, masks: NDArray[np.uint64], up: NDArray[np.uint64], down: NDArray[np.uint64]) -> int:
    """One distance; bit i of ``up`` (``down``) says that D(i + 1, j) is D(i, j) + 1 (− 1)."""
    zero, one, top = np.uint64(0), np.uint64(1), np.uint64(63)
    words = (length + 63) >> 6
    end = np.uint64((length - 1) & 63)
    for w in range(words):
        up[w] = ~zero
        down[w] = zero
    distance = length
    for j in range(len(t)):
        carry_up, carry_down = one, zero
        for w in range(words):
            match = (masks[t[j], w] if t[j] >= 0 else zero) | carry_down
            straight = (((match & up[w]) + up[w]) ^ up[w]) | match | down[w]
            right_up = down[w] | ~(straight | up[w])
            right_down = straight & up[w]
            if w == words - 1:
                distance += int((right_up >> end) & one) - int((right_down >> end) & one)
            next_up, next_down = right_up >> top, right_down >> top
            right_up = (right_up << one) | carry_up
            right_down = (right_down << one) | carry_down
            up[w] = right_down | ~(straight | right_up)
            down[w] = right_up & straight
            carry_up, carry_down = next_up, next_down
    return distance


def _in_numpy(A: Sequences, t: Ints, longest: int, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of D for one s and padded strings t (m, longest); insertions are a running minimum of D(i, j) − j."""
    along = np.arange(longest + 1)
    out = np.empty((len(A), len(t)), dtype=np.int64)
    for a in range(len(A)):
        D = np.repeat(along[None, :], len(t), axis=0)
        for symbol in A.symbols[A.offsets[a] : A.offsets[a + 1]]:
            changed = D[:, :-1] + (t != symbol)
            D += 1
            np.minimum(D[:, 1:], changed, out=D[:, 1:])
            D = np.minimum.accumulate(D - along, axis=1) + along
        out[a] = D[np.arange(len(t)), lengths]
    return out
