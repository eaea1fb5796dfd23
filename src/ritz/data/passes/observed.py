"""What is observed of every column of a table with gaps (NaN): counts, means, sums of squares.

    c = Σw·o      μ = s + Σw·o·(x − s)/c      q = Σw·o·(x − μ)²           o = 1 where x is observed, else 0

Blocks are merged by [Chan83]: the means of two pieces and their distance give the sum of squares of both, so that a
mean of 1e8 costs no digits and one pass is enough. Rows and columns with nothing observed, and infinities, are found
on the way and refused by number and by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, RowBlocks
from ritz.data.words import shorten

__all__ = ["Observed", "ObservedSums", "observe", "refuse_empty", "refuse_infinite"]

Vector = NDArray[np.float64]

#: Rows sampled for the shift, and places that a message names.
SAMPLE_ROWS, NAMED = 256, 3


@dataclass(frozen=True)
class Observed:
    """Observed entries of every column; ``mean`` is ``shift + offset``."""

    rows: int  # rows that count
    weight: float  # Σw
    counts: NDArray[np.int64]  # (d,) observed entries
    weights: Vector  # (d,) Σw of the observed entries
    shift: Vector  # (d,) a point near the data
    offset: Vector  # (d,) the mean, seen from there
    squares: Vector  # (d,) Σw(x − μ)²
    least: int = 0  # entries observed in the row that has fewest; 0: not known

    @property
    def mean(self) -> Vector:
        """Means of the observed entries."""
        return self.shift + self.offset

    @property
    def missing(self) -> int:
        """Entries that are missing."""
        return int(self.rows * len(self.counts) - np.sum(self.counts))

    @property
    def share(self) -> float:
        """Missing entries as a share of all."""
        return self.missing / max(1, self.rows * len(self.counts))

    def variance(self) -> Vector:
        """Variance of the observed entries, divisor Σw − 1; 0 where fewer than two are observed."""
        return np.where(self.weights > 1, self.squares / np.maximum(self.weights - 1, 1e-300), 0.0)


class ObservedSums(Sums):
    """Counts, means about the shift and sums of squares of one piece of the table."""

    SUMS = ("rows", "counts", "weight", "offset", "squares", "empties", "infinities", "least")
    LISTS = ("empty", "infinite")

    def __init__(self, shift: Vector, weights: Vector | None = None) -> None:
        d = shift.shape[0]
        self.shift, self.weights = shift, weights
        self.rows = self.empties = self.infinities = 0
        self.least = d
        self.counts = np.zeros(d, np.int64)
        self.weight, self.offset, self.squares = np.zeros(d), np.zeros(d), np.zeros(d)
        self.empty: list[int] = []  # first rows without any value
        self.infinite: list[int] = []  # first infinite entries, as row·d + column

    def feed(self, block: Block) -> None:
        """Add the rows of a block; those of weight zero are absent."""
        x = np.asarray(block.values)
        numbers = np.arange(block.rows.start, block.rows.stop)
        w = None if self.weights is None else self.weights[block.rows]
        if w is not None and not w.all():
            x, numbers, w = x[w > 0], numbers[w > 0], w[w > 0]
        there = ~np.isnan(x) if x.dtype.kind == "f" else np.ones(x.shape, bool)
        self.rows += x.shape[0]
        counts = there.sum(axis=0)
        self.counts += counts
        width = there.sum(axis=1)
        self.least = min(self.least, int(np.min(width, initial=self.least)))
        bare = numbers[width == 0]
        self.empties += len(bare)
        self.empty += [int(i) for i in bare[: NAMED - len(self.empty)]]
        z = np.where(there, x, 0) - np.where(there, self.shift, 0.0)
        sums = z.sum()
        if not np.isfinite(sums):
            self._infinite(z, numbers)
            return
        self._add(z, there, counts.astype(np.float64) if w is None else w @ there, w)

    def _infinite(self, z: NDArray[Any], numbers: NDArray[Any]) -> None:
        at = np.argwhere(np.isinf(z))
        self.infinities += len(at)
        places = [int(numbers[i]) * z.shape[1] + int(j) for i, j in at[:NAMED]]
        self.infinite += places[: NAMED - len(self.infinite)]

    def _add(self, z: Vector, there: NDArray[np.bool_], weight: Vector, w: Vector | None) -> None:
        """Means and squares of a block in two steps, then merged with what is there."""
        safe = np.maximum(weight, 1e-300)
        mean = (z.sum(axis=0) if w is None else w @ z) / safe
        z = np.where(there, z - mean, 0.0)
        left = (z.sum(axis=0) if w is None else w @ z) / safe  # what rounding left of the mean
        squares = np.einsum("ij,ij->j", z if w is None else z * w[:, None], z) - left**2 * weight
        self._join(weight, mean + left, np.maximum(squares, 0.0))

    def _join(self, weight: Vector, offset: Vector, squares: Vector) -> None:
        both = self.weight + weight
        share = weight / np.maximum(both, 1e-300)
        gap = np.where(self.weight > 0, offset - self.offset, 0.0)
        self.squares += squares + gap * gap * self.weight * share
        self.offset[...] = np.where(self.weight > 0, self.offset + gap * share, offset)
        self.weight[...] = both

    def merge(self, other: Self) -> None:
        """Add a later piece of the table."""
        self.rows += other.rows
        self.empties += other.empties
        self.infinities += other.infinities
        self.counts += other.counts
        self.least = min(self.least, other.least)
        self.empty = (self.empty + other.empty)[:NAMED]
        self.infinite = (self.infinite + other.infinite)[:NAMED]
        self._join(other.weight, other.offset, other.squares)


def observe(blocks: RowBlocks, weights: Vector | None = None, names: Sequence[Any] | None = None) -> Observed:
    """Counts, means and squares of the observed entries, by one pass.

    Raises
    ------
    InputError
        A row or a column without any value, an infinite entry, or sparse rows with NaN.
    """
    if blocks.sparse or not isinstance(getattr(blocks, "X", np.empty(0)), np.ndarray):
        return _sparse(blocks, weights, names)
    shift = _shift(blocks)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = blocks.map_reduce(lambda: ObservedSums(shift, weights), _feed)
    d = blocks.shape[1]
    if sums.infinities:
        raise refuse_infinite([divmod(at, d) for at in sums.infinite], sums.infinities, names)
    if sums.empties:
        raise refuse_empty(sums.empty, sums.empties)
    _refuse_columns(sums.counts, names)
    total = float(sums.rows) if weights is None else float(np.sum(weights))
    return Observed(sums.rows, total, sums.counts, sums.weight, shift, sums.offset, sums.squares, sums.least)


def _shift(blocks: RowBlocks) -> Vector:
    """A value near the middle of each column, from sampled rows."""
    sample = np.asarray(blocks.sample(SAMPLE_ROWS), np.float64)
    there = np.isfinite(sample)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(there, sample, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(np.isfinite(middle), middle, 0.0)


def _sparse(blocks: RowBlocks, weights: Vector | None, names: Sequence[Any] | None) -> Observed:
    """Sparse rows: what is not stored is an observed zero, and a stored NaN is refused."""
    sums = blocks.map_reduce(lambda: _StoredSums(blocks.shape[1]), _feed_stored)
    if sums.infinities:
        raise refuse_infinite([divmod(at, blocks.shape[1]) for at in sums.infinite], sums.infinities, names)
    if sums.missing:
        raise InputError(
            "missing values are filled in dense rows only: what a sparse matrix does not store is zero, not missing",
            received=f"a sparse matrix with {sums.missing} stored NaN",
            hint="drop the rows or columns concerned, put numbers there, or make the table dense if memory allows",
        )
    n, d = blocks.shape
    total = float(n) if weights is None else float(np.sum(weights))
    nothing = np.zeros(d)  # nothing is missing, so nobody asks for means
    return Observed(n, total, np.full(d, n, np.int64), np.full(d, total), nothing, nothing, nothing)


class _StoredSums(Sums):
    """NaN and infinity among the stored entries of sparse rows."""

    SUMS, LISTS = ("missing", "infinities"), ("infinite",)

    def __init__(self, d: int) -> None:
        self.d, self.missing, self.infinities = d, 0, 0
        self.infinite: list[int] = []

    def feed(self, block: Block) -> None:
        """Add the rows of a block, CSR or (of a well-filled matrix) dense."""
        x = block.values
        if isinstance(x, np.ndarray):
            self.missing += int(np.count_nonzero(np.isnan(x)))
            at = np.nonzero(np.isinf(x))
        else:
            self.missing += int(np.count_nonzero(np.isnan(x.data)))
            place = np.flatnonzero(np.isinf(x.data))
            at = (np.searchsorted(x.indptr, place, side="right") - 1, x.indices[place])
        self.infinities += len(at[0])
        places = [(block.start + int(i)) * self.d + int(j) for i, j in zip(*at, strict=True)]
        self.infinite += places[: NAMED - len(self.infinite)]


def refuse_empty(rows: Sequence[int], count: int | None = None) -> InputError:
    """The error about rows with nothing observed."""
    count = len(rows) if count is None else count
    shown = ", ".join(f"{i}" for i in rows) + (f" and {count - len(rows)} more" if count > len(rows) else "")
    return InputError(
        "every row must hold at least one value, or there is nothing to place it by",
        received=f"nothing observed in row{'s' if count > 1 else ''} {shown}",
        hint="drop such rows first: X[~numpy.isnan(X).all(axis=1)]; rows count from 0",
    )


def refuse_infinite(places: Sequence[tuple[int, int]], count: int, names: Sequence[Any] | None) -> NonFiniteError:
    """The error about infinite entries, which are not missing values."""
    where = ", ".join(f"row {i} {_column(j, names)}" for i, j in places)
    return NonFiniteError(
        "Input X contains infinity or a value too large, where a number or a missing value (NaN) is expected",
        received=f"{count} such value{'s' if count > 1 else ''}; first at {where}",
        hint="look for overflow or a division by 0, or mark these entries as missing: X[numpy.isinf(X)] = numpy.nan; "
        "rows count from 0",
    )


def _refuse_columns(counts: NDArray[np.int64], names: Sequence[Any] | None) -> None:
    bare = np.flatnonzero(counts == 0)
    if len(bare):
        raise InputError(
            "every column must hold at least one value, or there is nothing to fill it by",
            received=f"nothing observed in {shorten([_column(int(j), names) for j in bare])}",
            hint="drop such columns first: X[:, ~numpy.isnan(X).all(axis=0)]",
        )


def _column(j: int, names: Sequence[Any] | None) -> str:
    return f"column {j}" if names is None else f"column {names[j]!r}"


def _feed(sums: ObservedSums, block: Block) -> None:
    sums.feed(block)


def _feed_stored(sums: _StoredSums, block: Block) -> None:
    sums.feed(block)
