"""``ZᵀZ V`` of sparse rows in short chains of sums, rows turned for the sake of W and sums that are longer than caches.

    B = D_r (X W − 1 dᵀ − o (1ᵀW)),    total ← total + XᵀD_r B         W = D_c V (d×l),  d = Wᵀs

A block of rows is stored by its columns first (``laid.py``). Columns with few entries are added where the sums of the
blocks before stand, so few that LAG blocks make no long chain; the others in short chains of their own. Long rows are
cut by multiplying one band of columns after the other. Groups of 16 columns of the sums lie apart, each from end to
end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.compensated import LAG, settle
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.sparse.products import csc_matvecs, csr_matvecs
from ritz.data.passes.sparse.sums import LONG, SHORT, Short, cuts_of
from ritz.operators.lane import Lane

if TYPE_CHECKING:
    from ritz.operators.affine import Affine

__all__ = ["Turned", "turned_normal"]

#: Columns of a group.
GROUP = 16
#: Entries of a column in a block up to which they are added to what is there.
FEW = LONG // LAG
#: Bands of columns at most: sums over rows that are longer are cut piece by piece instead.
BANDS = 16


class Grouped(Lane):
    """Sums of one lane, (groups, d, GROUP)."""

    def __init__(self, d: int, width: int) -> None:
        super().__init__(0, 0, turned=True)
        groups = -(-width // GROUP)
        self.total, self.low = (np.zeros((groups, d, GROUP)) for _ in range(2))  # type: ignore[assignment]
        self.sums, self.sums_low, self.tail, self.tail_low = (np.zeros(groups * GROUP) for _ in range(4))
        self.width = width

    def done(self) -> None:
        """A block has been added."""
        self.count += 1
        if self.count % LAG == 0:
            for total, low in zip(self.total, self.low, strict=True):
                settle(total, low)

    def summed(self) -> Any:
        """The total with what rounding took, (d, width)."""
        out = np.empty((self.total.shape[1], self.width))
        for g, (total, low) in enumerate(zip(self.total, self.low, strict=True)):
            some = slice(g * GROUP, min((g + 1) * GROUP, self.width))
            np.add(total[:, : some.stop - some.start], low[:, : some.stop - some.start], out=out[:, some])
        return out


class Turned:
    """A block of CSR rows by its columns."""

    def __init__(self, rows: Any) -> None:
        columns = rows.tocsc().T  # (d, r), by rows
        self.columns, self.edges = columns, _bands(rows, columns)
        self.across = None if self.edges is not None else Short(columns, cuts_of(columns))

    @cached_property
    def _parts(self) -> tuple[Any, Any, Short]:
        """Columns with few entries, which columns have many, and these."""
        columns, lengths = self.columns, np.diff(self.columns.indptr)
        many = lengths > FEW
        own = np.repeat(many, lengths)
        few = _some(columns, ~own, np.where(many, 0, lengths))
        return few, np.flatnonzero(many), Short(_some(columns, own, lengths[many]))

    def times(self, W: Any) -> Any:
        """``x W``."""
        if self.across is not None:
            return self.across.adjoint(W)
        x, r, l = self.columns, self.columns.shape[1], W.shape[1]
        total = None
        for a, b in pairwise(self.edges or ()):
            part = np.zeros((r, l))
            csc_matvecs(r, b - a, l, x.indptr[a : b + 1], x.indices, x.data, W[a:b].ravel(), part.ravel())
            total = part if total is None else np.add(total, part, out=total)
        return total if total is not None else np.zeros((r, l))

    def add(self, B: Any, low: Any) -> None:
        """``low += xᵀ B``; low (d, l) contiguous."""
        (few, many, along), B = self._parts, np.ascontiguousarray(B)
        d, r = few.shape
        csr_matvecs(d, r, B.shape[1], few.indptr, few.indices, few.data, B.ravel(), low.ravel())
        if len(many):
            low[many] += along.times(B)


def _bands(rows: Any, columns: Any) -> list[int] | None:
    """First columns of bands in which no row has more than LONG entries; None where that takes many of them."""
    bands, longest = 1, int(np.diff(rows.indptr).max(initial=0))
    if longest > LONG:
        bands = -(-longest // (LONG - SHORT))
    while bands <= BANDS:
        edges = np.searchsorted(columns.indptr, np.arange(1, bands) * columns.nnz // bands).tolist()
        edges = [0, *edges, columns.shape[0]]
        ends = columns.indptr[edges].tolist()
        if bands == 1 or all(_most(columns.indices[a:b]) <= LONG for a, b in pairwise(ends)):
            return edges
        bands *= 2
    return None


def _most(indices: Any) -> int:
    """How often the number that occurs most often does."""
    return int(np.bincount(indices, minlength=1).max())


def _some(columns: Any, own: Any, lengths: Any) -> Any:
    """Some entries of CSR rows, in rows of these lengths."""
    kept = type(columns)((len(lengths), columns.shape[1]), dtype=columns.dtype)
    kept.data, kept.indices = columns.data[own], columns.indices[own]
    kept.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(columns.indices.dtype)
    return kept


def turned_normal(frame: Affine, blocks: MemoryBlocks, W: Array, drop: Array | None, keep: Array | None) -> Grouped:
    """The sums of ``ZᵀZ V`` for W and drop of ``frame._right(V)``; ``keep`` (n, l) is filled with ``Z V``."""
    width = W.shape[1]
    groups = [_group(W, drop, first) for first in range(0, width, GROUP)]

    def step(lane: Grouped, block: Block) -> None:
        turned = Turned(frame._rows(lane.scratch, block))
        for g, (part, off) in enumerate(groups):
            some = slice(g * GROUP, (g + 1) * GROUP)
            B = frame._finish(turned.times(part), block, off, part)
            if keep is not None:
                keep[block.rows, some] = B[:, : min(width, some.stop) - some.start]
            scaled = frame._weighted(B, block)
            turned.add(scaled, lane.low[g])
            frame._count(lane, scaled, block, some)
        lane.done()

    lane = blocks.map_reduce(lambda: Grouped(W.shape[0], width), step)
    for name in ("sums", "sums_low", "tail", "tail_low"):
        setattr(lane, name, getattr(lane, name)[:width])
    return lane


def _group(W: Array, drop: Array | None, first: int) -> tuple[Array, Array | None]:
    """Some columns of W and of what is taken off, filled up with zeros."""
    part = np.zeros((W.shape[0], GROUP))
    some = W[:, first : first + GROUP]
    part[:, : some.shape[1]] = some
    if drop is None:
        return part, None
    off = np.zeros(GROUP)
    off[: some.shape[1]] = drop[first : first + GROUP]
    return part, off
