"""Deviations of row profiles from a centre, without the rounding of the profiles.

    Dᵢⱼ = Nᵢⱼ/Nᵢ. − cⱼ = (Nᵢⱼ − Nᵢ.cⱼ)/Nᵢ.        (n, d) in row blocks;  c (d,) near the column masses, in float64

A profile is rounded to u·x, which is more than all of its deviation where rows and columns are nearly independent. Here
the product Nᵢ.cⱼ is formed without error (Dekker 1971: p + e = Nᵢ.cⱼ) from row totals in two parts, so that

    |D̂ − D| ≤ 4u·|D| + 8u²·(x + c)        entry by entry,  u = 2⁻⁵³

Every row is divided by a power of two first, so counts may lie anywhere in the range of float64. A row of zeros has no
profile: its deviations are zero, and its weight is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.data.passes.blocks import Block, MemoryBlocks, RowBlocks, are_blocks
from ritz.data.passes.integers import as_float
from ritz.data.passes.profiles import DerivedBlocks, checked_counts

__all__ = ["ENTRY_ERROR", "ENTRY_FLOOR", "DeviationBlocks", "deviations", "in_deviations", "row_parts"]

Floats = NDArray[np.float64]

#: Rounding of a deviation or of a sparse profile, the rounding of its weight and of the metric aside, in units of u.
ENTRY_ERROR = 6 * 2.0**-53
#: What is left where a deviation vanishes, in shares of √(rᵢcⱼ).
ENTRY_FLOOR = 16 * 2.0**-106
#: Veltkamp's constant: it splits a float64 number into two halves of 26 bits.
HALVES = 2.0**27 + 1
#: Totals of integers up to this have products with both halves of a mass that are exact.
SMALL_TOTAL = 2.0**26
#: Entries that are computed at once: some buffers of this size stay in the caches.
PIECE = 1 << 15
#: Entries above which threads are worth their start.
LANES_ABOVE = 1 << 18
#: Bytes of a dense copy of a well-filled sparse table, and of any sparse table; above that its profiles are taken.
DENSE_COPY, SMALL_COPY = 1 << 30, 1 << 21
#: Magnitudes whose products with a mass have error terms in range.
PLAIN = (2.0**-300, 2.0**300)


def in_deviations(N: Any) -> bool:
    """Whether a table is analysed by its deviations: a dense or small one is; a sparse one would be filled."""
    if are_blocks(N):
        return not N.sparse
    if isinstance(N, np.ndarray):
        return True
    return bool(8.0 * N.shape[0] * N.shape[1] <= (SMALL_COPY if MemoryBlocks(N).sparse else DENSE_COPY))


def deviations(N: Any, centre: Floats, totals: Floats | None = None) -> Any:
    """Deviations of the row profiles from ``centre``: an array, or row blocks; ``totals`` of the rows where known."""
    if are_blocks(N):
        return DeviationBlocks(N, centre)
    n, d = N.shape
    out = np.empty((n, d))
    rows = max(1, PIECE // max(1, d))
    counts = isinstance(N, np.ndarray) and N.dtype.kind in "iu"
    small = counts and totals is not None and 0 < float(np.min(totals)) <= float(np.max(totals)) <= SMALL_TOTAL

    high, low = _halves(centre)

    def work(firsts: range) -> None:
        buffer = np.empty((rows if small else 0, d))
        for first in firsts:
            go_on()
            block = N[first : first + rows]
            if small and totals is not None:
                R, D = totals[first : first + rows, None], out[first : first + rows]
                np.multiply(R, low, out=buffer[: len(D)])
                _of_counts(block, R, high, buffer[: len(D)], D)
                continue
            block = as_float(
                np.asarray(block.toarray() if hasattr(block, "toarray") else block),
                "the table of counts",
                "",
            )
            out[first : first + rows] = _deviations(block, centre)

    lanes = lane_count() if n * d >= LANES_ABOVE else 1
    run_lanes(work, [range(i * rows, n, lanes * rows) for i in range(lanes)])
    return out


def row_parts(N: Floats) -> tuple[Floats, Floats]:
    """Totals of the rows as float64 numbers and what these lack, (n,) each."""
    total = N.sum(axis=1)
    if float(np.max(total, initial=0.0)) < 2.0**53 and np.array_equal(N, np.rint(N)):
        return total, np.zeros_like(total)
    terms, lost = N, np.zeros(len(N))
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        a, b = terms[:, :half], terms[:, half : 2 * half]
        s = a + b
        added = s - a
        lost = lost + ((a - (s - added)) + (b - added)).sum(axis=1)
        terms = s if terms.shape[1] % 2 == 0 else np.concatenate([s, terms[:, -1:]], axis=1)
    top = terms[:, 0] if terms.shape[1] else total
    rounded = top + lost
    return rounded, lost - (rounded - top)


def _deviations(N: Floats, c: Floats) -> Floats:
    """Of some rows of counts, dense."""
    size = np.max(N, axis=1, initial=0.0)
    there = size > 0
    if not bool(np.all(there)) or not PLAIN[0] <= float(np.min(size, initial=1.0)) <= float(np.max(size)) <= PLAIN[1]:
        N = _brought_to_one(N, np.where(there, size, 1.0))
    R, low = row_parts(N)
    R = np.where(there, R, 1.0)
    r1, r2 = _halves(R[:, None])
    c1, c2 = _halves(c)
    if not np.any(r2) and not np.any(low):  # totals of at most 27 bits: both products are exact
        p = r1 * c1
        np.subtract(N, p, out=p)
        p -= r1 * c2
        p /= r1
        p[~there] = 0.0
        return p
    p = R[:, None] * c
    e = r1 * c1
    e -= p
    e += r1 * c2
    e += r2 * c1
    e += r2 * c2
    e += low[:, None] * c
    np.subtract(N, p, out=p)  # without error within a factor of two; relative to itself otherwise
    p -= e
    p /= R[:, None]
    if not bool(np.all(there)):
        p[~there] = 0.0
    return p


def _of_counts(N: NDArray[Any], R: Floats, high: Floats, low: Floats, out: Floats) -> None:
    """Of rows of integers with totals R of at most 26 bits, none of them zero: (N − R·high − low)/R, low = R·c₂."""
    np.multiply(R, high, out=out)
    np.subtract(N, out, out=out)
    out -= low
    out /= R


def _brought_to_one(N: Floats, size: Floats) -> Floats:
    """Every row divided by a power of two, so that its largest count lies in [½, 1)."""
    _, exponent = np.frexp(size)
    half = exponent // 2  # in two steps: 2^-exponent itself may leave the range
    return np.asarray(np.ldexp(np.ldexp(N, -half[:, None]), (half - exponent)[:, None]))


def _halves(x: Floats) -> tuple[Floats, Floats]:
    high = x * HALVES
    high = high - (high - x)
    return high, x - high


class DeviationBlocks(DerivedBlocks):
    """Another table's blocks as deviations of the row profiles from a centre."""

    def __init__(self, inner: RowBlocks, centre: Floats) -> None:
        super().__init__(inner)
        self.centre = centre

    def _changed(self, block: Block) -> Block:
        checked_counts(block.values, block.start)
        return Block(deviations(np.asarray(block.values), self.centre), block.start)
