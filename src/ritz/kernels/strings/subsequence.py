"""Subsequences with gaps: the dynamic program of the gap-weighted subsequence kernel.

    K_p(s, t) = Σ_u Σ_{i: s[i] = u} Σ_{j: t[j] = u} λ^(span(i) + span(j))        u ∈ Σ^p

With K'₀ = 1 and, for l = 1 … p − 1 and every prefix (Lodhi et al., Text classification using string kernels, 2002),

    K''_l(i, j) = λ K''_l(i, j − 1) + [sᵢ = tⱼ] K'_{l−1}(i − 1, j − 1)
    K'_l(i, j)  = λ K'_l(i − 1, j) + K''_l(i, j)            K_p = λ^(2p) Σ_{sᵢ = tⱼ} K'_{p−1}(i − 1, j − 1)

The factor λ² of each matched pair is taken out of the recursion, so that it neither underflows nor is multiplied p
times; all terms are positive, so nothing cancels. Between two matches a row of K'' is a multiple of powers of λ, so
rows are updated by vectors from match to match, and symbols of s that t lacks are skipped: they only widen gaps.
Time O(p |s| |t|), memory O(p |t|). Without numba the same sums run in NumPy, one string
against many: a row of K'' is then a linear filter.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compiled import compiled
from ritz._core.threads import lane_count, run_lanes
from ritz.kernels.strings.input import Sequences, column_groups, padded

__all__ = ["ALL", "OWN", "UPPER", "own_values", "scale", "subsequence_tile"]

Ints = NDArray[np.int32]

#: Which pairs a call is for.
ALL, UPPER, OWN = 0, 1, 2


def subsequence_tile(
    A: Sequences, B: Sequences, codes: Ints, length: int, decay: float, which: int = ALL
) -> NDArray[np.float64]:
    """``K_p / λ^(2p)`` of the strings of A with those of B, whose symbols in A's alphabet are ``codes``.

    ``which``: ALL pairs (n, m); the UPPER triangle and its mirror image, where A and B are equal; each string's OWN
    value only, (n, 1).
    """
    out = np.zeros((len(A), 1 if which == OWN else len(B)))
    compiled = _compiled()
    if compiled is not None:
        compiled(A.symbols, A.offsets, codes, B.offsets, len(A.alphabet), length, decay, which, out)
    elif which == OWN:
        for i in range(len(A)):
            alone = A[i : i + 1]
            out[i] = _in_numpy(alone, *padded(alone.symbols, alone.offsets), length, decay)
    else:
        for cols in column_groups(B.offsets, length):
            offsets = B.offsets[cols.start : cols.stop + 1]
            out[:, cols] = _in_numpy(A, *padded(codes, offsets), length, decay)
    return out


def own_values(strings: Sequences, length: int, decay: float) -> NDArray[np.float64]:
    """``K_p(s, s) / λ^(2p)`` of every string, in lanes."""
    out = np.zeros(len(strings))
    lanes = min(lane_count(), max(len(strings), 1))
    _compiled()  # once, not in every lane

    def work(lane: int) -> None:
        share = strings[np.arange(lane, len(strings), lanes)]
        out[lane::lanes] = subsequence_tile(share, share, share.symbols, length, decay, OWN)[:, 0]

    run_lanes(work, list(range(lanes)))
    return out


#: `_pair`, compiled; `_loops` finds it here when it is compiled itself.
_compiled_pair: Any = None


@cache
def _compiled() -> Any:
    """The loops as machine code, or None where numba is not installed."""
    global _compiled_pair
    _compiled_pair = compiled(_pair)
    return compiled(_loops)


def _loops(
    s_all: Ints,
    s_offsets: NDArray[np.int64],
    t_all: Ints,
    t_offsets: NDArray[np.int64],
    sigma: int,
    p: int,
    decay: float,
    which: int,
    out: NDArray[np.float64],
) -> None:
    """The pairs of a tile, in the Python that numba compiles."""
    longest = 1
    for i in range(len(s_offsets) - 1):
        longest = max(longest, s_offsets[i + 1] - s_offsets[i])
    for i in range(len(t_offsets) - 1):
        longest = max(longest, t_offsets[i + 1] - t_offsets[i])
    powers = decay ** np.arange(longest + 1)
    heads = np.zeros((2, sigma), np.int64)  # first place of each symbol in t, and the pair for which that holds
    follow = np.empty(longest, np.int64)
    prefix = np.empty((p, longest))
    pair = 0
    for a in range(len(s_offsets) - 1):
        s = s_all[s_offsets[a] : s_offsets[a + 1]]
        for c in range(a if which == UPPER else 0, out.shape[1]):
            b = a if which == OWN else c
            t = t_all[t_offsets[b] : t_offsets[b + 1]]
            if len(s) < p or len(t) < p:
                continue
            pair += 1
            # One order for (s, t) and (t, s), so that both sums are rounded alike.
            swap = len(t) < len(s)
            if len(s) == len(t):
                for i in range(len(s)):
                    if s[i] != t[i]:
                        swap = t[i] < s[i]
                        break
            first, second = (t, s) if swap else (s, t)
            out[a, c] = _compiled_pair(first, second, p, powers, heads, follow, prefix, pair)
            if which == UPPER:
                out[c, a] = out[a, c]


def _pair(
    s: Ints,
    t: Ints,
    p: int,
    powers: NDArray[np.float64],
    heads: NDArray[np.int64],
    follow: NDArray[np.int64],
    prefix: NDArray[np.float64],
    pair: int,
) -> float:
    """``K_p / λ^(2p)`` of one pair; ``prefix[l, j]`` is K'_l(i, j + 1), l ≥ 1, for the last i whose symbol t has."""
    n = len(t)
    for j in range(n - 1, -1, -1):
        c = t[j]
        if c >= 0:
            follow[j] = heads[0, c] if heads[1, c] == pair else -1
            heads[0, c], heads[1, c] = j, pair
    for l in range(1, p):
        for j in range(n):
            prefix[l, j] = 0.0
    total = 0.0
    before = -1
    for i in range(len(s)):
        if s[i] < 0 or heads[1, s[i]] != pair:
            continue
        first = heads[0, s[i]]
        past, now = powers[i - before - 1], powers[i - before]  # K'(i − 1, ·) and λ K'(i − 1, ·) from prefix
        before = i
        m = first
        while m >= 0:
            total += 1.0 if p == 1 else prefix[p - 1, m - 1] * past if m > 0 else 0.0
            m = follow[m]
        for l in range(p - 1, 0, -1):
            for j in range(first):
                prefix[l, j] *= now
            run = 0.0  # K''_l(i, ·) at the last match; until the next one it only fades
            last = m = first
            while m >= 0:
                inner = 1.0 if l == 1 else prefix[l - 1, m - 1] * past if m > 0 else 0.0
                run = run * powers[m - last] + inner
                last, m = m, follow[m]
                for j in range(last, m if m >= 0 else n):
                    prefix[l, j] = prefix[l, j] * now + run * powers[j - last]
    return total


def _in_numpy(A: Sequences, t: Ints, longest: int, p: int, decay: float) -> NDArray[np.float64]:
    """The same numbers without numba: each string s of A against padded strings t (m, longest) at once."""
    from scipy.signal import lfilter

    out = np.zeros((len(A), len(t)))
    if not longest:
        return out
    for a in range(len(A)):
        K = np.zeros((p, len(t), longest + 1))  # K'_l(i − 1, j), j = 0 … longest
        K[0] = 1.0
        total = np.zeros(t.shape)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by its value
            for symbol in A.symbols[A.offsets[a] : A.offsets[a + 1]]:
                match = t == symbol
                total += np.where(match, K[p - 1, :, :-1], 0.0)
                for l in range(p - 1, 0, -1):
                    K[l] *= decay
                    K[l, :, 1:] += lfilter([1.0], [1.0, -decay], np.where(match, K[l - 1, :, :-1], 0.0), axis=1)
            # One by one: the sum does not depend on how far t was padded.
            out[a] = np.cumsum(total, axis=1)[:, -1]
    return out


def scale(length: int, decay: float) -> float:
    """λ^(2p), what the recursion leaves out."""
    return math.pow(decay, 2 * length)
