"""Tables of counts among the groups: rows as shares of all their counts, centred table by table.

    nᵢⱼ counts of row i in column j of table t,   nᵢ over all tables,   weights of the rows ∝ nᵢ
    rᵢⱼ = nᵢⱼ/nᵢ,    fⱼ their weighted mean,   f_t = Σ_t fⱼ
    rᵢⱼ − (fⱼ/f_t) Σ_t rᵢⱼ      what the column of a row exceeds the profile of its own table

One table: Σ_t rᵢⱼ = 1, so this is what correspondence analysis centres, and the mean of the rows does it. Several
tables: intra-table correspondence analysis [BP04]; how much of a row is in which table is taken off first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.encode.vocabulary import pooled
from ritz.data.passes.blocks import Accumulator, Block, RowBlocks, are_blocks, blocks_of
from ritz.data.passes.moments import Moments

__all__ = ["Counts", "Tables", "count_totals", "with_shares", "without_counts", "without_place"]

S = TypeVar("S", bound=Accumulator)
Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables of counts: the columns of each, and, where there are several, their profiles (fⱼ/f_t)."""

    places: tuple[Places, ...]
    profiles: tuple[Floats, ...] | None = None

    @property
    def all(self) -> Places:
        """Columns of all tables."""
        return np.concatenate([np.zeros(0, np.intp), *self.places]).astype(np.intp)

    def totals(self, rows: Any) -> Floats:
        """(n,) counts of every row in all tables."""
        return np.asarray(rows[:, self.all].sum(axis=1), np.float64).reshape(-1)

    def shares(self, rows: Any) -> Any:
        """Rows whose counts are shares of all counts; a row without counts stays as it is."""
        totals = self.totals(rows)
        by = np.where(totals > 0, totals, 1.0)
        if isinstance(rows, np.ndarray):
            shares = rows.astype(np.float64)
            shares[:, self.all] /= by[:, None]
            return self._centred(shares)
        shares = rows.copy()
        counts = np.isin(shares.indices, self.all)
        row = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
        shares.data[counts] /= by[row[counts]]
        return shares if self.profiles is None else self._centred(shares.toarray())

    def _centred(self, rows: Floats) -> Floats:
        for columns, profile in zip(self.places, self.profiles or (), strict=False):
            rows[:, columns] -= np.outer(rows[:, columns].sum(axis=1), profile)
        return rows


class Counts:
    """Another table's blocks with shares in place of counts."""

    def __init__(self, inner: RowBlocks, tables: Tables) -> None:
        self.inner, self.tables = inner, tables
        self.shape, self.dtype = inner.shape, np.dtype(np.float64)
        self.sparse = inner.sparse and tables.profiles is None
        self.stored = inner.stored if self.sparse else inner.shape[0] * inner.shape[1]
        self.nbytes = inner.nbytes
        self.names = getattr(inner, "names", None)

    @property
    def reading(self) -> Any:
        """What is known of how fast the rows are read."""
        return getattr(self.inner, "reading", None)

    def _made(self, block: Block) -> Block:
        return Block(self.tables.shares(block.values), block.start)

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block of shares to an accumulator; the accumulators are merged in row order."""
        return self.inner.map_reduce(create, lambda state, block: step(state, self._made(block)))

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i."""
        return self.inner.map_rows(lambda scratch, block: step(scratch, self._made(block)), out)

    def each(self) -> Iterator[Block]:
        """Every block of shares, in row order."""
        return map(self._made, self.inner.each())

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows spread evenly over the table."""
        return self._made(Block(self.inner.sample(rows), 0)).values


def with_shares(rows: Any, tables: Tables) -> Any:
    """Rows in memory, or row blocks, with shares in place of counts."""
    return Counts(rows, tables) if are_blocks(rows) else tables.shares(rows)


def count_totals(rows: Any, names: list[str]) -> Floats:
    """(n,) sums of rows of counts; what is below zero or not a number is refused by its column."""

    def step(_scratch: dict[str, Any], block: Block) -> Any:
        values = np.asarray(block.values if isinstance(block.values, np.ndarray) else block.values.toarray())
        wrong = ~(values >= 0) | ~np.isfinite(values)
        if bool(wrong.any()):
            i, j = (int(at[0]) for at in np.nonzero(wrong))
            raise InputError(
                f"expected counts or other amounts in column {names[j]!r}, which is in a group of frequencies",
                received=f"{values[i, j]:g} in row {block.start + i}",
                hint="leave the group out of frequencies=, or fill what is missing with 0",
            )
        return values.sum(axis=1)[:, None]

    blocks = blocks_of(rows)
    return blocks.map_rows(step, np.empty((blocks.shape[0], 1)))[:, 0]


def without_counts(state: Moments, before: Moments, counts: Places) -> Moments:
    """What a subtraction from ``before`` left; columns of counts of which only rounding is left are empty."""
    left, all_ = (pooled(one, _only(counts, one.d), len(counts)) for one in (state, before))
    gone = counts[left.without_traces(all_).mean == 0]
    places = np.arange(state.d)
    places[gone] = -1
    return pooled(state, places, state.d)


def _only(columns: Places, d: int) -> Places:
    places = np.full(d, -1, np.intp)
    places[columns] = np.arange(len(columns))
    return places


def without_place(points: Floats, coded: Any) -> Floats:
    """Coordinates of rows, none where a row has no place."""
    empty = getattr(coded, "empty", None)
    if empty is not None and bool(np.any(empty)):
        points[empty] = np.nan
    return points
