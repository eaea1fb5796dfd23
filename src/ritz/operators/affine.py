"""Rows under one affine frame: the pass that all row-wise operators share.

    Z = D_r (X − 1 sᵀ − o 1ᵀ) D_c        X n×d in row blocks;  s (d),  o (n),  D_r (n),  D_c (d)

Centring, scaling and weighting fuse into one frame, so each product is one pass. The shift is taken off the rows
*before* they are multiplied (``s = s_hi + s_lo``: s_hi exactly representable in the working precision, s_lo applied
algebraically), so a mean 1e8 times the spread costs no digits. For sparse rows the whole shift is algebraic:
``Z V = X V − 1 (sᵀV)``. The frame of the transposed table exchanges s with o and D_r with D_c.

One lane of a pass adds up Σzᵀb, Σb and, while learning, Σwz and Σwz² (``lane.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import add_into
from ritz._core.frozen import quick
from ritz._core.linalg import Array, norms
from ritz.data.passes.blocks import Block, MemoryBlocks, RowBlocks, buffer, fresh, subtract_row, turned_rows
from ritz.data.passes.center import full_columns, take_off, take_off_long, wider
from ritz.data.passes.gram import SHORT_WORK64, TILE_ABOVE, column_sums, taller
from ritz.data.passes.halves import copied_into
from ritz.data.passes.integers import has_long
from ritz.data.passes.rounding import PIECE, SHORT_NOISE, better, largest
from ritz.data.passes.sparse import sums as sparse_sums
from ritz.data.passes.statistics import Statistics
from ritz.data.passes.thin import THIN_BYTES, Single, Thin, thin
from ritz.operators import laid
from ritz.operators.lane import Lane
from ritz.operators.loose import loose_normal
from ritz.operators.short import short_rows, short_step, stored_normal
from ritz.operators.squares import frame_square
from ritz.operators.vector import kept

__all__ = ["Affine"]

#: Bytes of a piece of a block that is multiplied at once (20,000×5,000: float64 products run no slower on 128 rows than
#: on 256 and hold half the memory), and for products with few vectors, whose shifted rows are read once.
PIECE_BYTES = 11 << 19


@quick
@dataclass(frozen=True)
class Affine:
    """Blocked products with ``D_r (X − 1sᵀ − o1ᵀ) D_c``."""

    blocks: RowBlocks
    shift: NDArray[np.float64] | None = None  # (d,)
    shift_low: NDArray[np.float64] | None = None  # (d,) what rounding took from the shift
    offset: NDArray[np.float64] | None = None  # (n,)
    row_scale: NDArray[np.float64] | None = None  # (n,)
    col_scale: NDArray[np.float64] | None = None  # (d,)
    precision: Any = np.float64
    offset_low: NDArray[np.float64] | None = None  # (n,)
    noise: list[float] = field(default_factory=list, compare=False)  # measured rounding of products so far
    cuts: dict[int, Any] = field(default_factory=dict, compare=False)  # of CSR blocks, by first row
    held: dict[Any, Any] = field(default_factory=dict, compare=False)  # small CSR blocks in another precision
    loose: bool = False  # whether sums over sparse entries are as long as they come, not cut into short chains
    room: float = 0.0  # bytes that a copy of sparse entries may take for the sake of products

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.blocks.shape

    def transposed(self) -> Affine:
        """The frame of Xᵀ."""
        blocks = self.blocks
        if not isinstance(blocks, MemoryBlocks):
            msg = "rows that are streamed cannot be transposed"
            raise TypeError(msg)
        return Affine(
            blocks.transposed(), self.offset, self.offset_low, self.shift, self.col_scale, self.row_scale,
            self.precision, self.shift_low,
        )  # fmt: skip

    def at(self, dtype: Any) -> Affine:
        """The same frame computing in another precision."""
        return replace(self, precision=np.dtype(dtype).type)

    def loosened(self, room: float = 0.0) -> Affine:
        """The same frame for iterations, whose products tell nothing of their rounding: sparse rows with long sums."""
        return replace(self, noise=[], held={}, loose=True, room=room) if self.blocks.sparse else kept(self, room)

    @property
    def plain(self) -> bool:
        """Whether the rows are an array in memory."""
        return isinstance(self.blocks, MemoryBlocks) and self.blocks.is_array

    # products

    def matmat(self, V: Array, lengths: NDArray[np.float64] | None = None) -> Array:
        """``Z V``, (n, l); ``lengths`` (n,) is filled with ‖z‖² of every row on the way, where rows are dense."""
        out = np.empty((self.shape[0], V.shape[1]), self.precision)
        if self.plain and lengths is None and self.row_scale is None:
            from ritz.operators.placed import placed  # which a fit may do without

            return placed(self, V, out)
        if V.nbytes > sparse_sums.CACHED_BYTES and (filled := short_rows(self, V, out)) is not None:
            return filled
        W, drop = self._right(V)
        tall = laid.turned_blocks(self, W) if W.nbytes >= laid.LEAST and not self.loose else None

        def step(scratch: dict[str, Any], block: Block) -> Any:
            rows, left = self._stored(self._rows(scratch, block), W, drop)
            product = self._finish(_times(scratch, rows, W, self.loose, tall is not None), block, left, W)
            if lengths is not None:
                lengths[block.rows] = self._lengths(rows, block)
            return product

        return (tall or self.blocks).map_rows(step, out)

    def rmatmat(self, U: Array) -> Array:
        """``Zᵀ U``, (d, l), summed in float64."""
        U = np.asarray(U, self.precision)
        if self._has_turned() and U.dtype == np.float64:
            return self.transposed().matmat(U)

        def step(lane: Lane, block: Block) -> None:
            scaled = self._weighted(U[block.rows], block)
            rows = self._rows(lane.scratch, block)
            self._add(lane, lane.adjoint(rows, scaled, self._cuts(block)), scaled, block)

        turned = turned_rows(self.blocks)
        return self._left(self.blocks.map_reduce(lambda: Lane(self.shape[1], U.shape[1], turned), step))

    def _has_turned(self) -> bool:
        """Whether sparse rows that nothing is taken off are at hand by their columns too: no block adds to all sums."""
        plain = self.shift is None and self.offset is None and not self.loose
        return plain and self.blocks.sparse and getattr(getattr(self.blocks, "_turned", None), "made", False)

    def keeps(self) -> bool:
        """Whether ``normal`` can keep ``Z V`` on its way as good as ``matmat`` makes it."""
        plain = not self.blocks.sparse or (self.shift is None and not self.loose)
        return plain and isinstance(self.blocks, MemoryBlocks)

    def normal(self, V: Array, learn: Statistics | None = None, keep: Array | None = None) -> Array:
        """``ZᵀZ V``, (d, l), in one pass; ``learn`` collects column sums; ``keep`` (n, l) takes ``Z V`` (``keeps``)."""
        W, drop = self._right(V)
        if self.loose and learn is None and (product := loose_normal(self, W, drop)) is not None:
            return product
        if learn is None and self.blocks.sparse and (product := stored_normal(self, W, keep)) is not None:
            return product
        large = W.nbytes >= laid.LEAST and learn is None and not self.loose
        if large and (added := laid.turned_sums(self, W, drop, keep)) is not None:
            return self._noted(added, V)
        multiplied = short_step(self, W, drop, keep) if self.blocks.sparse and not self.loose else None
        turned = turned_rows(self.blocks)
        cut = not self.blocks.sparse and thin(W, turned) is not None

        def step(lane: Lane, given: Block) -> None:
            for block in self._pieces(given, THIN_BYTES if cut else PIECE_BYTES):
                rows = self._rows(lane.scratch, block)
                if multiplied is not None:
                    multiplied(lane, rows, block)
                else:
                    B = self._finish(_times(lane.scratch, rows, W, self.loose, cut=lane.thin), block, drop, W)
                    if keep is not None:
                        keep[block.rows] = B
                    scaled = self._weighted(B, block)
                    self._add(lane, lane.product(rows, scaled), scaled, block)
                if learn is not None:
                    lane.observe(rows, None if learn.weights is None else learn.weights[block.rows])

        def create() -> Lane:
            return Lane(self.shape[1], V.shape[1], turned, thin=thin(W, turned) if cut else None, metric=self.col_scale)

        sums = self.blocks.map_reduce(create, step)
        if learn is not None:
            learn.learn(sums.m + sums.m_low, sums.q + sums.q_low)
        return self._noted(sums, V)

    def _noted(self, sums: Lane, V: Array) -> Array:
        """The product; the measured rounding of ZᵀZV for unit vectors is remembered."""
        if not self.loose:
            measured = sums.measured()
            length = float(np.min(norms(np.asarray(V, np.float64)), initial=np.inf)) if measured else 0.0
            self.noise.append(measured / length if length > 0 else measured)
        return self._left(sums)

    def gram(self, W: Array | None) -> Array:
        """``WᵀZᵀZ W``, (p, p), summed in float64 over blocks; without W the Gram matrix of the columns."""
        if W is None:
            return self._whole_gram()
        right, drop = self._right(W)
        p = right.shape[1]

        def formed(scratch: dict[str, Any], block: Block) -> Any:
            B = self._finish(_times(scratch, self._rows(scratch, block), right), block, drop, right)
            return better(B)  # a repair pass must not round in one direction

        only_block = getattr(self.blocks, "whole", None)
        if only_block is not None:  # one block: nothing to add up
            return formed({}, only_block)
        sums = self.blocks.map_reduce(lambda: Lane(p, p), lambda lane, block: lane.gather(formed(lane.scratch, block)))
        return sums.summed()

    def square(self) -> float | None:
        """``‖Z‖²_F`` by one pass, without filling sparse rows; None where it is what is left of much larger sums."""
        return frame_square(self)

    def _whole_gram(self) -> Array:
        """The Gram matrix of all columns; CSR blocks by sparse products and a rank-two correction."""
        d = self.shape[1]
        if self.blocks.sparse:
            from ritz.operators.tiles import sparse_gram

            return sparse_gram(self)
        if d > TILE_ABOVE and isinstance(self.blocks, MemoryBlocks):
            from ritz.operators.tiles import measured_gram, tiled_gram

            self.noise.clear()  # tiles are not checked: the rounding model applies
            return tiled_gram(self) if np.dtype(self.precision).itemsize >= 8 else measured_gram(self)

        n, dtype = self.shape[0], np.dtype(self.precision)
        if float(n) * d * d <= SHORT_WORK64 and dtype.itemsize >= 8:
            return self._short_gram()

        def step(lane: Lane, block: Block) -> None:
            lane.square(self._columns(self._rows(lane.scratch, block), block), block)

        sums = taller(self.blocks, dtype.itemsize).map_reduce(lambda: Lane(d, d, watch=(n, dtype)), step)
        total = sums.summed()
        self.noise.append(sums.noise() if sums.errors else sums.noise() + SHORT_NOISE * 2.0**-53 * largest(total))
        return total

    def _short_gram(self) -> Array:
        """The Gram matrix of a small table, summed in short pieces: it costs less than measuring what rounding does."""

        def formed(scratch: dict[str, Any], block: Block) -> Any:
            return better(self._columns(self._rows(scratch, block), block))

        total, d = getattr(self.blocks, "whole", None), self.shape[1]
        if total is not None:
            total = formed({}, total)
        else:
            step = lambda lane, block: lane.gather(formed(lane.scratch, block))  # noqa: E731
            total = self.blocks.map_reduce(lambda: Lane(d, d), step).summed()
        finite = bool(np.isfinite(total).all())
        self.noise.append(SHORT_NOISE * 2.0**-53 * largest(total) if finite else 0.0)
        return total

    def _columns(self, rows: Any, block: Block, columns: slice = slice(None)) -> Any:
        """Rows of a dense block under the whole frame, restricted to some columns."""
        B = rows
        if self.shift_low is not None:
            B = B - self.shift_low[columns].astype(B.dtype)
        if self.row_scale is not None:
            B = B * self.row_scale[block.rows, None].astype(B.dtype)
        if self.col_scale is not None:
            B = B * self.col_scale[columns].astype(B.dtype)
        return B

    def _lengths(self, rows: Any, block: Block) -> Any:
        """‖z‖² of the rows of a dense block, which are used up where they lie in a buffer."""
        B = rows if self.shift_low is None else rows - self.shift_low.astype(rows.dtype)
        squares = np.square(B, out=None if B is block.values else B)
        metric = np.ones(self.shape[1]) if self.col_scale is None else np.square(self.col_scale)
        lengths = squares @ metric.astype(squares.dtype)
        return lengths if self.row_scale is None else lengths * np.square(self.row_scale[block.rows])

    # pieces of a pass

    def _pieces(self, block: Block, most: int = PIECE_BYTES) -> Iterator[Block]:
        """A block in equal pieces whose copies in the working precision stay small."""
        count, d = block.values.shape
        size = count * d * np.dtype(self.precision).itemsize
        if self.blocks.sparse or size <= most:
            yield block
            return
        fitting = -(-count // -(-size // most))
        rows = fitting // PIECE * PIECE or (PIECE if most in (PIECE_BYTES, THIN_BYTES) else fitting)
        for first in range(0, count, rows):
            yield Block(block.values[first : first + rows], block.start + first)

    def _rows(self, scratch: dict[str, Any], block: Block) -> Any:
        """The rows of a block, shifted, in the working precision; CSR rows as they are."""
        x = block.values
        dtype = np.dtype(self.precision)
        if self.blocks.sparse:
            if x.dtype == dtype:
                return x
            small = getattr(self.blocks, "stored", np.inf) * dtype.itemsize <= sparse_sums.HELD_BYTES
            return (
                sparse_sums.kept(x, dtype, self.held, block.start)
                if small
                else sparse_sums.converted(x, dtype, scratch)
            )
        if self.shift is None and self.offset is None and x.dtype == dtype:
            return x
        z = buffer(scratch, x, dtype)
        offset = None if self.offset is None else self.offset[block.rows]
        low = None if self.offset_low is None else self.offset_low[block.rows]
        if x.dtype.kind in "iu" and has_long(x):
            take_off_long(z, x, self.shift, offset, low)
            return z
        if self.shift is not None and x.dtype.kind == "f" and x.dtype.itemsize >= dtype.itemsize:
            subtract_row(x, self.shift.astype(x.dtype if x.dtype.itemsize > 2 else dtype), z)
        elif self.shift is not None or self.offset is None or not (wider(x, dtype) or x.dtype == dtype):
            copied_into(z, x)
            if self.shift is not None:
                z -= self.shift.astype(dtype)
        if offset is not None:
            take_off(z, x, offset, low, dtype, x if self.shift is None and x.dtype == dtype else z)
        return z

    def _stored(self, rows: Any, W: Array, drop: Array | None) -> tuple[Any, Array | None]:
        """Sparse rows whose full columns have their shift taken off entry by entry, and what is left to subtract."""
        if not self.blocks.sparse or self.shift is None:
            return rows, drop
        full = full_columns(rows, self.shift)
        if full is None:
            return rows, drop
        rows = rows.copy()
        rows.sum_duplicates()  # an entry that comes twice has its shift taken off once
        for shift in (self.shift, self.shift_low):
            if shift is not None:
                rows.data -= np.where(full, shift, 0.0)[rows.indices].astype(rows.dtype)
        rest = np.where(full, 0.0, self.shift if self.shift_low is None else self.shift + self.shift_low)
        return rows, (rest @ np.asarray(W, np.float64)).astype(self.precision)

    def _right(self, V: Array) -> tuple[Array, Array | None]:
        """Column scaling goes into V; what is left of the shift becomes a row to subtract."""
        rest = self.shift if self.blocks.sparse else self.shift_low
        if rest is None and self.col_scale is None:
            return np.ascontiguousarray(V, self.precision), None
        W = np.asarray(V, np.float64)
        if self.col_scale is not None:
            W = W * self.col_scale[:, None]
        if self.blocks.sparse and rest is not None and self.shift_low is not None:
            rest = rest + self.shift_low
        drop = None if rest is None else (rest @ W).astype(self.precision)
        return np.ascontiguousarray(W, self.precision), drop

    def _cuts(self, block: Block) -> Any:
        """How a CSR block is cut for short sums; looked up once."""
        if not self.blocks.sparse or self.loose:
            return 1
        if block.start not in self.cuts:
            self.cuts[block.start] = sparse_sums.cuts_of(block.values)
        return self.cuts[block.start]

    def _add(self, lane: Lane, product: Any, B: Any, block: Block, some: slice = slice(None)) -> None:
        """Add zᵀb, and the sums of b where something is taken off afterwards; of some columns of b."""
        lane.gather(product, some)
        self._count(lane, B, block, some)

    def _count(self, lane: Lane, B: Any, block: Block, some: slice) -> None:
        """Add the sums of b."""
        sparse = self.blocks.sparse
        if (self.shift if sparse else self.shift_low) is not None:
            add_into(lane.sums[some], lane.sums_low[some], column_sums(B, None))
        if sparse and self.offset is not None:
            add_into(lane.tail[some], lane.tail_low[some], column_sums(B, self.offset[block.rows].astype(B.dtype)))

    def _finish(self, B: Any, block: Block, drop: Array | None, W: Array) -> Any:
        if drop is not None:
            B -= drop
        if self.blocks.sparse and self.offset is not None:
            B -= np.outer(self.offset[block.rows], W.sum(axis=0)).astype(B.dtype, copy=False)
        return B if self.row_scale is None else B * self.row_scale[block.rows, None].astype(B.dtype)

    def _weighted(self, vectors: Any, block: Block) -> Any:
        return vectors if self.row_scale is None else vectors * self.row_scale[block.rows, None].astype(vectors.dtype)

    def _left(self, lane: Lane) -> Array:
        return self._taken_off(lane.summed(), lane.sums + lane.sums_low, lane.tail + lane.tail_low)

    def _taken_off(self, total: Array, sums: Any, tail: Any) -> Array:
        """Σzᵀb without what the shift and the offset take off, from Σb and Σ offset·b."""
        rest = self.shift if self.blocks.sparse else self.shift_low
        if self.blocks.sparse and rest is not None and self.shift_low is not None:
            rest = rest + self.shift_low
        if rest is not None:
            total = total - np.outer(rest, sums)
        if self.blocks.sparse and self.offset is not None:
            total = total - tail
        if self.col_scale is not None:
            total = total * self.col_scale[:, None]
        return total


def _times(
    scratch: dict[str, Any], rows: Any, W: Any, loose: bool = False, turned: bool = False,
    cut: Thin | Single | None = None,
) -> Any:  # fmt: skip
    """``rows W`` into a reused buffer; sparse rows by their columns where they are to be ``turned``."""
    if turned:
        return sparse_sums.turned_times(rows, W)
    if not isinstance(rows, np.ndarray):
        return sparse_sums.plain_times(rows, W) if loose else sparse_sums.times(rows, W)
    shape = (rows.shape[0], W.shape[1])
    out = scratch.get("product")
    if out is None or out.shape != shape or out.dtype != W.dtype:
        out = scratch["product"] = fresh(shape, W.dtype)
    return np.matmul(rows, W, out=out) if cut is None else cut.times(rows, W, out)
