"""One lane of a pass that forms moments: m = Σwz, q = Σwz², S = Σwzzᵀ with z = (x − s)/unit.

    dense    blocks are shifted into one reused buffer; S by a symmetric product a block, summed in float64
    sparse   Xᵀ(wX) of a CSR block, in short chains (``sparse/gram.py``); s = 0

Rounding is measured, not assumed (``rounding.py``). Float64 sums over blocks keep what rounding takes (S + S_low), so
the number of blocks does not matter; float32 products are summed in float64, which is as good.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import LAG, add_into, settle
from ritz._core.threads import lane_count
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import (
    BRIEF_ENTRIES,
    FEW_COLUMNS,
    FEW_ENTRIES,
    Block,
    MemoryBlocks,
    RowBlocks,
    csr_rows,
    fresh,
    subtract_row,
    turned_rows,
)
from ritz.data.passes.halves import copied_into
from ritz.data.passes.integers import has_long, subtract
from ritz.data.passes.rounding import FEW_PIECES, GROUP, PIECE, Watched, better, halved, in_pieces, mirrored, upper
from ritz.data.passes.sparse import sums as sparse_sums
from ritz.data.passes.sparse.bands import banded_moments
from ritz.data.passes.sparse.gram import add_gram, mirror

__all__ = [
    "COHERENT",
    "SHORT_SQUAT",
    "SHORT_WORK64",
    "SQUAT",
    "TILE_ABOVE",
    "DensePass",
    "SparsePass",
    "about_mean",
    "column_squares",
    "column_sums",
    "in_short_pieces",
    "ones",
    "squat",
    "taller",
]

#: Multiplications below which sums are always formed in short pieces, and of float64 rows in memory: it costs less than
#: it is worth measuring. Processor ms of a fit, measured and in short pieces, in float64: 5,000×300 30 and 20,
#: 20,000×200 45 and 35, 10,000×500 138 and 91, 50,000×300 171 and 143, 300,000×100 154 and 133, 10,000×1,000 400, 351.
SHORT_WORK, SHORT_WORK64 = 1e8, 1e10
#: Rows of a float32 table in memory for every column up to which it is formed in float64 and in short pieces where many
#: components are wanted, and multiplications: measured float32 products save little there, and lose the small ones.
SQUAT, SHORT_SQUAT = 50, 2e9
#: Measured rounding, in units of u times the trace, above which a pass is repeated in short pieces.
COHERENT = 30.0
#: Bytes of a piece of which only the columns are summed, or whose products are summed in short pieces: it stays in the
#: second-level cache. 10,000×100 in short pieces: 4.2 ms in blocks of 1,024 rows, 5.1 in blocks of 2,048.
LOOK_BYTES, STEPS = 1 << 20, 4
#: Numbers of such a piece that are widened, squared and added up before the next.
PASSED = 1 << 15
#: Columns from which the products of a whole group are formed at a time: zeroing, mirroring and adding d×d numbers then
#: counts more than the caches. Processor ms of a fit, of pieces of LOOK_BYTES and of groups: 1,000×1,000 93 and 67,
#: 2,000×700 74 and 56, 5,000×500 62 and 55, 10,000×400 64 and 62, 5,000×300 20 and 24.
MANY_COLUMNS = 400
#: Rows and bytes of a block whose Gram matrix is formed, at most, for tables of at least TALL_ABOVE columns: mirroring
#: and adding a product costs as much as 100 of its rows. 784 columns: 82e9 multiplications a second and core in blocks
#: of 1,280 rows, 86e9 of 4,096.
TALL_ROWS, TALL_BYTES, TALL_ABOVE = 4096, 16 << 20, 512
#: Rows from which blocks of few columns are taller, 8,192 rows, and how many columns are few where they are stored one
#: after the other. Processor ms before and after: 100,000×20 9.7 and 8.5, stored by columns 15.3 and 8.1; 70,000×50
#: stored by columns 21.6 and 17.6.
MANY_ROWS, TURNED_COLUMNS = 1 << 15, 64
#: Rows more than needed between the columns of a buffer that is laid column after column.
PAD = 16
#: Share of entries above which a sparse block of small integers is multiplied as a dense one, this many rows at a time:
#: a product of r entries a row costs 3.3 ns·r² sparse and 0.016 ns·d² dense (20 questions of 10 answers: 67 and 31 ms).
CROWDED, INTEGER_ROWS = 0.07, 1024
#: Entries that tell, as a rule, whether all are whole numbers.
FIRST = 256
#: Above this many columns the Gram matrix is formed tile by tile, so that lanes do not hold copies of it.
TILE_ABOVE = 2048


class DensePass(Watched):
    """Accumulators and buffer of one lane over dense blocks."""

    OWN = ("m", "m_low", "q", "q_low", "S", "S_low", "blocks")
    SUMS = (*OWN, *Watched.SUMS)

    def __init__(
        self,
        shift: NDArray[Any],
        unit: float,
        weights: NDArray[Any] | None,
        dtype: np.dtype[Any],
        products: bool,
        short: bool = False,
        rows: int = 0,
    ) -> None:
        d = shift.shape[0]
        self.short = short  # sum in short pieces, level by level
        self.shift = shift.astype(dtype)
        self.inverse = dtype.type(1 / unit)
        self.moves = bool(np.count_nonzero(shift))
        self.weights, self.dtype, self.products = weights, dtype, products
        self.m, self.m_low, self.q, self.q_low = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
        self.S: NDArray[np.float64] | None = None
        self.S_low: NDArray[np.float64] | None = None
        self.buffer, self.order = np.empty((0, d), dtype), "C"
        self.product: NDArray[Any] | None = None
        self.squared: NDArray[np.float64] | None = None  # squares of a few rows
        if products and not short:
            self.S, self.product = np.zeros((d, d)), np.empty((d, d), dtype)
            self.S_low = np.zeros((d, d)) if dtype.itemsize == 8 else None
        self.half = short and halved(d)  # S is a triangle, mirrored at the end
        self.blocks = 0
        if short or not products:
            self.SUMS, self.LISTS = self.OWN, ()  # type: ignore[misc]  # nothing to measure
        else:
            self.watch(d, rows, dtype)

    @property
    def nbytes(self) -> int:
        """Bytes that it holds, or will once the first block has begun its sums."""
        return super().nbytes + (16 * len(self.m) ** 2 if self.products and self.S is None else 0)

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        if self.short or not self.products:
            step = self._feed if self.products else self._look
            d = block.values.shape[1]
            rows = max(PIECE, min(STEPS * GROUP, LOOK_BYTES // (8 * d) // PIECE) * PIECE)
            if self.products and d >= MANY_COLUMNS:
                rows = max(rows, GROUP * PIECE)
            if block.values.shape[0] <= rows:
                step(block)
                return
            for first in range(0, block.values.shape[0], rows):
                step(Block(block.values[first : first + rows], block.start + first))
            return
        self._feed(block)

    def _feed(self, block: Block) -> None:
        """Add the products of the rows of a block."""
        z = self._shifted(np.asarray(block.values), block.free)
        w = None if self.weights is None else self.weights[block.rows].astype(self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.blocks:
                add_into(self.m, self.m_low, column_sums(z, w))
            else:
                self.m = column_sums(z, w)  # nothing is rounded in a sum with zeros
            if w is not None:
                z *= np.sqrt(w)[:, None]
            self.blocks += 1
            if self.short:
                self._add(upper(z) if self.half else better(z))
                return
            product, head = self.form(z, self.product)
            self._add(product)
            self.look(z, product, head)

    def _add(self, product: NDArray[Any]) -> None:
        """Add the product of a block: one of short pieces is in memory of its own, and begins the sums."""
        if self.S is None:
            self.S = product
        elif self.S_low is not None:
            self.S_low += product
        elif self.short:
            self.S_low = product
        elif self.S.flags.c_contiguous:  # numbers of two widths are added twice as fast in one row
            flat = self.S.reshape(-1)
            np.add(flat, product.reshape(-1), out=flat)
        else:
            self.S += product
        if self.S_low is not None and self.blocks % LAG == 0:
            settle(self.S, self.S_low)

    def finish(self) -> NDArray[np.float64]:
        """S with all that rounding took from it; only what tells of rounding is held from then on."""
        d = len(self.m)
        S = np.zeros((d, d)) if self.S is None else self.S  # no rows
        if self.S_low is not None:
            S += self.S_low
            self.S_low[...] = 0.0
        self.S = self.S_low = self.product = None
        self.buffer = np.empty((0, d), self.dtype)
        return mirrored(S) if self.half else S

    def _look(self, block: Block) -> None:
        """Add the sums of the columns alone."""
        x = np.asarray(block.values)
        w = None if self.weights is None else self.weights[block.rows].astype(self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            if w is None and self.dtype.itemsize == 8 and x.dtype.kind == "f" and x.strides[0] >= x.strides[1]:
                self._look_through(x)
                return
            z = self._shifted(x)
            add_into(self.m, self.m_low, column_sums(z, w))
            add_into(self.q, self.q_low, column_squares(z, w))

    def _look_through(self, x: NDArray[Any]) -> None:
        """Add the sums of the columns, one short piece after the other while it is in the caches: widened, added up,
        squared and added up again. 1,000×1,000 in float32 0.64 ms of one core, by two sweeps over blocks 0.95.
        """
        m, q = np.zeros(x.shape[1]), np.zeros(x.shape[1])
        rows = min(PIECE, max(16, PASSED // max(1, x.shape[1])))
        if self.squared is None or len(self.squared) < rows:
            self.squared = np.empty((rows, x.shape[1]))
        for first in range(0, x.shape[0], rows):
            z = self._shifted(x[first : first + rows])
            each = ones(PIECE, "d")[: len(z)]
            m += each.dot(z)
            q += each.dot(np.multiply(z, z, out=self.squared[: len(z)]))
        add_into(self.m, self.m_low, m)
        add_into(self.q, self.q_low, q)

    def _shifted(self, x: NDArray[Any], free: bool = False) -> NDArray[Any]:
        if free and x.dtype == self.dtype and x.dtype.kind == "f" and x.flags.writeable and x.flags.forc:
            # Where it lies: 768 columns of float32 take 0.25 µs a row less, for less memory goes through the caches.
            subtract_row(x, self.shift, x)
            if self.inverse != 1:
                x *= self.inverse
            return x
        rows = x.shape[0]
        if not self.moves and x.dtype == self.dtype and x.flags.c_contiguous and self.inverse == 1:
            return x if self.weights is None else x.copy()  # which weights are multiplied into
        order: Literal["C", "F"] = "F" if x.strides[0] < x.strides[1] else "C"  # as the rows lie: nothing is turned
        if self.buffer.shape[0] < rows or self.order != order:
            self.order = order
            # Columns a power of two apart would share few lines of the caches.
            self.buffer = fresh((rows + (PAD if order == "F" else 0), x.shape[1]), self.dtype, order)
        z = self.buffer[:rows]
        if x.dtype.kind in "iu" and has_long(x):
            subtract(x, self.shift, z)
        elif x.dtype.itemsize < self.dtype.itemsize or x.dtype.kind != "f":
            copied_into(z, x)
            if self.moves:
                subtract_row(z, self.shift, z)
        elif x.dtype == self.dtype:
            subtract_row(x, self.shift, z)
        else:
            np.subtract(x, self.shift, out=z, dtype=self.dtype)
        if self.inverse != 1:
            z *= self.inverse
        return z


class SparsePass(Sums):
    """Accumulators of one lane over CSR blocks; the shift is zero, so that zeros stay zeros.

    ``inexact`` counts the blocks that hold other numbers than integers, or weights: without any, all sums are exact.
    """

    SUMS = ("m", "m_low", "q", "q_low", "S", "blocks", "inexact")

    def __init__(
        self,
        shift: NDArray[Any],
        unit: float,
        weights: NDArray[Any] | None,
        dtype: np.dtype[Any],
        products: bool,
        short: bool = False,
        rows: int = 0,
    ) -> None:
        d = shift.shape[0]
        self.unit, self.weights, self.products = unit, weights, products
        self.ENTIRE = FEW_ENTRIES if products else BRIEF_ENTRIES
        self.m, self.m_low, self.q, self.q_low = (np.zeros(d) for _ in range(4))
        self.S = np.zeros((d, d)) if products else None
        self.blocks = self.inexact = 0

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        own = self.unit != 1.0 or self.weights is not None  # entries are changed then
        x = block.values.astype(np.float64, copy=own)
        if self.unit != 1.0:
            x.data /= self.unit
        integers = all(np.array_equal(some, np.rint(some)) for some in (x.data[:FIRST], x.data[FIRST:]))
        self.inexact += self.weights is not None or not integers
        w = None if self.weights is None else self.weights[block.rows]
        if x.nnz < x.shape[0]:  # of so few entries a third of the rows have none
            x, w = sparse_sums.filled_rows(x, w)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.S is not None and w is None and integers and _crowded(x):
                m, S = _integer_gram(x)
                self._add(m, S.diagonal(), S, 1)
                return
            banded = None if self.S is None else banded_moments(x, w)
            if banded is not None:
                self._add(*banded)
                return
            m, q = sparse_sums.sums(x, w)
            add_into(self.m, self.m_low, m)
            add_into(self.q, self.q_low, q)
            if self.S is None:
                return
            if w is not None:
                x.data *= np.repeat(np.sqrt(w), np.diff(x.indptr))
            self.blocks += add_gram(self.S, x)

    def _add(self, m: NDArray[np.float64], q: NDArray[np.float64], S: NDArray[np.float64], added: int) -> None:
        """Add Σwz, Σwz² and Σwzzᵀ of a block, of which so many parts were added one after the other."""
        add_into(self.m, self.m_low, m)
        add_into(self.q, self.q_low, q)
        self.S = S if self.S is None else np.add(self.S, S, out=self.S)
        self.blocks += added

    def finish(self) -> NDArray[np.float64]:
        """S; its diagonal from the sums of squares, whose chains are the longest."""
        S = np.asarray(self.S)
        mirror(S)
        np.fill_diagonal(S, self.q + self.q_low)
        return S

    @property
    def length(self) -> float:
        """What the sum over blocks may add, in units of u: a quarter of their number was seen on equal ones."""
        return self.blocks / 2


def _crowded(x: Any) -> bool:
    """Whether small integers are multiplied faster as a dense block; in float32 every sum of theirs is exact."""
    n, d = x.shape
    small = float(np.max(np.abs(x.data), initial=0.0)) ** 2 * min(n, INTEGER_ROWS) <= 2.0**24
    return small and x.nnz > CROWDED * n * d


def _integer_gram(x: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Σz and Σzzᵀ of small integers, exactly."""
    n, d = x.shape
    m, S = np.zeros(d), np.zeros((d, d))
    buffer, ones = np.empty((min(n, INTEGER_ROWS), d), np.float32), np.ones(min(n, INTEGER_ROWS), np.float32)
    x = x.astype(np.float32)
    for i in range(0, n, INTEGER_ROWS):
        rows = csr_rows(x, i, min(i + INTEGER_ROWS, n))
        z = rows.toarray(out=buffer[: rows.shape[0]])
        m += ones[: z.shape[0]] @ z
        S += z.T @ z
    return m, S


def in_short_pieces(blocks: RowBlocks, precision: Any) -> bool:
    """Whether the Gram matrix of dense rows is formed in short pieces, whose rounding need not be measured."""
    n, d = blocks.shape
    held = isinstance(blocks, MemoryBlocks) and np.dtype(precision).itemsize >= 8
    return float(n) * d * d <= (SHORT_WORK64 if held else SHORT_WORK) and not blocks.sparse


def squat(blocks: RowBlocks) -> bool:
    """Whether these are so few rows of so many columns that float32 products are taken where few are wanted only."""
    n, d = blocks.shape
    return n <= SQUAT * d and float(n) * d * d <= SHORT_SQUAT


def taller(blocks: RowBlocks, itemsize: int, short: bool = False) -> RowBlocks:
    """The same rows in blocks for Gram matrices: tall ones, but several for every lane; from files in any order.

    Where sums are formed in ``short`` pieces, the height of blocks does not matter, but for calls on few columns.
    """
    n, d = blocks.shape
    rows = 0
    if short:
        few = d <= (TURNED_COLUMNS if turned_rows(blocks) else FEW_COLUMNS)
        if few and n >= MANY_ROWS and isinstance(blocks, MemoryBlocks):
            rows = STEPS * GROUP * PIECE
    elif d >= TALL_ABOVE:
        rows = min(TALL_ROWS, TALL_BYTES // (d * itemsize), n // (4 * lane_count())) // 128 * 128
    prepared = getattr(blocks, "for_products", None)
    return blocks if prepared is None else prepared(rows)


def column_sums(z: NDArray[Any], w: NDArray[Any] | None) -> NDArray[Any]:
    """``Σwz`` of a block, summed in short pieces."""
    n = z.shape[0]
    covered = n // PIECE * PIECE
    each = ones(n, z.dtype.char) if w is None else w
    if n <= FEW_PIECES * PIECE and z.dtype == np.float64:  # one call each takes less than laying them out
        some = [each[i : i + PIECE].dot(z[i : i + PIECE]) for i in range(0, max(n, 1), PIECE)]
        return np.asarray(some[0] if len(some) == 1 else sum(some[1:], some[0]))
    rest = each[covered:].dot(z[covered:]).astype(np.float64) if covered < n or not n else None
    if not covered:
        return np.asarray(rest)
    pieces = np.matmul(each[:covered].reshape(-1, 1, PIECE), in_pieces(z[:covered], PIECE))
    total = np.add.reduce(pieces, axis=(0, 1), dtype=np.float64)
    return np.asarray(total if rest is None else rest + total)


@lru_cache(maxsize=4)
def ones(n: int, char: str) -> NDArray[Any]:
    """As many ones; blocks of one pass have the same height, and making them took 9 of the 370 µs of a block."""
    return np.ones(n, char)


def column_squares(z: NDArray[Any], w: NDArray[Any] | None) -> NDArray[Any]:
    """``Σwz²`` of a block, summed in short pieces."""
    covered = z.shape[0] // PIECE * PIECE
    y = z if w is None else z * w[:, None]
    total = np.einsum("ij,ij->j", y[covered:], z[covered:]).astype(np.float64)
    if covered:
        shape = (-1, PIECE, z.shape[1])
        total += np.einsum("pij,pij->pj", y[:covered].reshape(shape), z[:covered].reshape(shape)).sum(
            axis=0, dtype=np.float64
        )
    return total


def about_mean(m: NDArray[np.float64], S: NDArray[np.float64], w: float) -> NDArray[np.float64]:
    """Σwzzᵀ about the mean, (d, d): S − mmᵀ/w."""
    r = m / math.sqrt(w)
    scatter = r[:, None] * r
    np.subtract(S, scatter, out=scatter)  # as symmetric as S, to the last bit
    diagonal = scatter.ravel("K")[:: len(m) + 1]  # a view, in whichever order
    np.maximum(diagonal, 0.0, out=diagonal)
    return scatter
