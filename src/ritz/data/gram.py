"""One lane of a pass that forms moments: m = Σwz, q = Σwz², S = Σwzzᵀ with z = (x − s)/unit.

    dense    blocks are shifted into one reused buffer; S by a symmetric product a block, summed in float64
    sparse   Xᵀ(wX) of a CSR block; s = 0

Rounding is measured, not assumed: a product of b rows errs by about √b·u, by b·u where the same numbers return in
every row (indicators, repeated rows). The first block of a lane is multiplied a second time, more accurately (float32
in float64, float64 in pieces of 256 rows); the differences Eᵢ and their correlation c, extrapolated over all N blocks,

    ‖ΣE‖ ≲ e·√(N + N²·c),    e = max ‖Eᵢ‖₂,    are the noise that the certificate carries.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import norms
from ritz._core.scratch import fresh
from ritz._core.threads import lane_count
from ritz.data.accumulate import Sums
from ritz.data.blocks import Block, MemoryBlocks, RowBlocks, block_rows, csr_rows
from ritz.data.integers import has_long, subtract
from ritz.data.stream import StreamBlocks

__all__ = [
    "CHECKED_BLOCKS",
    "CHECK_PIECE",
    "COHERENT",
    "PIECE",
    "SHORT_NOISE",
    "SHORT_WORK",
    "TILE_ABOVE",
    "DensePass",
    "SparsePass",
    "along",
    "better",
    "blocks_in",
    "column_squares",
    "column_sums",
    "extrapolate",
    "largest",
    "taller",
]

#: Blocks a lane on which products are checked, rows of a short piece and of a checking one, and the safety factor.
CHECKED_BLOCKS = 2
PIECE = 64
CHECK_PIECE = 256
NOISE_SAFETY = 3.0
#: Multiplications below which sums are always formed in short pieces: it costs less than it is worth measuring.
SHORT_WORK = 1e8
#: Measured rounding, in units of u times the trace, above which a pass is repeated in short pieces.
COHERENT = 30.0
#: Allowance for sums in short pieces, in units of u·λ₁. Seen over 20 draws of 2,048×4: 3 on Gaussian and indicator
#: data, 7 on two values, 11 on identical rows.
SHORT_NOISE = 60.0
#: Bytes of a piece of which only the columns are summed: it stays in the second-level cache.
LOOK_BYTES = 1 << 20
#: Rows and bytes of a block whose Gram matrix is formed, at most, for tables of at least TALL_ABOVE columns: mirroring
#: and adding a product costs as much as 100 of its rows. 784 columns: 82e9 multiplications a second and core in blocks
#: of 1,280 rows, 86e9 of 4,096.
TALL_ROWS, TALL_BYTES, TALL_ABOVE = 4096, 16 << 20, 512
#: Rows more than needed between the columns of a buffer that is laid column after column.
PAD = 16
#: Share of entries above which a sparse block of small integers is multiplied as a dense one, this many rows at a time:
#: a product of r entries a row costs 3.3 ns·r² sparse and 0.016 ns·d² dense (20 questions of 10 answers: 67 and 31 ms).
CROWDED, INTEGER_ROWS = 0.07, 1024
#: Above this many columns the Gram matrix is formed tile by tile, so that lanes do not hold copies of it.
TILE_ABOVE = 2048


class DensePass(Sums):
    """Accumulators and buffer of one lane over dense blocks."""

    SUMS, LISTS = ("m", "q", "S", "blocks"), ("errors",)

    def __init__(
        self,
        shift: NDArray[Any],
        unit: float,
        weights: NDArray[Any] | None,
        dtype: np.dtype[Any],
        products: bool,
        short: bool = False,
    ) -> None:
        d = shift.shape[0]
        self.short = short  # sum in short pieces, level by level
        self.shift = shift.astype(dtype)
        self.inverse = dtype.type(1 / unit)
        self.weights, self.dtype, self.products = weights, dtype, products
        self.m, self.q = np.zeros(d), np.zeros(d)
        self.S = np.zeros((d, d)) if products else None
        self.buffer, self.order = np.empty((0, d), dtype), "C"
        self.product = np.empty((d, d), dtype) if products else None
        self.errors: list[NDArray[Any]] = []
        self.blocks, self.checks = 0, CHECKED_BLOCKS if d <= 512 else 1  # blocks of usual height

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        if self.S is None:
            rows = max(PIECE, LOOK_BYTES // (8 * block.values.shape[1]) // PIECE * PIECE)
            for first in range(0, block.values.shape[0], rows):
                self._look(Block(block.values[first : first + rows], block.start + first))
            return
        z = self._shifted(np.asarray(block.values))
        w = None if self.weights is None else self.weights[block.rows].astype(self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            self.m += column_sums(z, w)
            if w is not None:
                z *= np.sqrt(w)[:, None]
            if self.short:
                self.S += better(z)
                self.blocks += 1
                return
            if len(self.errors) < self.checks and z.shape[0] > PIECE:
                # A block of usual height, whole: half of a structured table (Hadamard) rounds unlike the rest.
                head, z = z[: block_rows(z.shape[1])], z[block_rows(z.shape[1]) :]
                self.errors.append(self._add(head) - better(head, None, CHECK_PIECE))
            if z.shape[0]:
                self._add(z)

    def _look(self, block: Block) -> None:
        """Add the sums of the columns alone."""
        z = self._shifted(np.asarray(block.values))
        w = None if self.weights is None else self.weights[block.rows].astype(self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            self.m += column_sums(z, w)
            self.q += column_squares(z, w)

    def _add(self, z: NDArray[Any]) -> NDArray[Any]:
        """Add ``zᵀz``; what was added."""
        product = np.matmul(z.T, z, out=self.product)
        self.S += product
        self.blocks += blocks_in(z)
        return product

    def _shifted(self, x: NDArray[Any]) -> NDArray[Any]:
        rows = x.shape[0]
        order: Literal["C", "F"] = "F" if x.strides[0] < x.strides[1] else "C"  # as the rows lie: nothing is turned
        if self.buffer.shape[0] < rows or self.order != order:
            self.order = order
            # Columns a power of two apart would share few lines of the caches.
            self.buffer = fresh((rows + (PAD if order == "F" else 0), x.shape[1]), self.dtype, order)
        z = self.buffer[:rows]
        if has_long(x):
            subtract(x, self.shift, z)
        elif x.dtype.itemsize < self.dtype.itemsize or x.dtype.kind != "f":
            np.copyto(z, x, casting="unsafe")
            np.subtract(z, self.shift, out=z)
        else:
            np.subtract(x, self.shift, out=z, dtype=self.dtype)
        if self.inverse != 1:
            z *= self.inverse
        return z


class SparsePass(Sums):
    """Accumulators of one lane over CSR blocks; the shift is zero, so that zeros stay zeros.

    ``inexact`` counts the blocks that hold other numbers than integers, or weights: without any, all sums are exact.
    """

    SUMS, LISTS = ("m", "q", "S", "blocks", "inexact"), ("errors",)

    def __init__(
        self,
        shift: NDArray[Any],
        unit: float,
        weights: NDArray[Any] | None,
        dtype: np.dtype[Any],
        products: bool,
        short: bool = False,
    ) -> None:
        d = shift.shape[0]
        self.unit, self.weights, self.products = unit, weights, products
        self.m, self.q = np.zeros(d), np.zeros(d)
        self.S = np.zeros((d, d)) if products else None
        self.errors: list[NDArray[Any]] = []
        self.blocks = self.inexact = 0

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        x = block.values.astype(np.float64)
        if self.unit != 1.0:
            x.data /= self.unit
        integers = np.array_equal(x.data, np.rint(x.data))
        self.inexact += self.weights is not None or not integers
        w = None if self.weights is None else self.weights[block.rows]
        self.blocks += self.S is not None
        if self.S is not None and w is None and integers and _crowded(x):
            sums, S = _integer_gram(x)
            self.m += sums
            self.q += np.diag(S)
            self.S += S
            return
        ones = np.ones(x.shape[0]) if w is None else w
        self.m += x.T @ ones
        squares = x.copy()
        squares.data *= x.data
        self.q += squares.T @ ones
        if self.S is None:
            return
        if w is not None:
            x.data *= np.repeat(np.sqrt(w), np.diff(x.indptr))
        product = (x.T @ x).tocoo()  # every position once, so that plain fancy indexing adds them all
        self.S[product.coords[0], product.coords[1]] += product.data


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
        part = csr_rows(x, i, min(i + INTEGER_ROWS, n))
        z = part.toarray(out=buffer[: part.shape[0]])
        m += ones[: z.shape[0]] @ z
        S += z.T @ z
    return m, S


def blocks_in(z: NDArray[Any]) -> int:
    """Blocks of usual height that some rows make."""
    return -(-z.shape[0] // block_rows(z.shape[1]))


def taller(blocks: RowBlocks, itemsize: int, short: bool = False) -> RowBlocks:
    """The same rows in blocks for Gram matrices: tall ones, but several for every lane; from files in any order.

    Where sums are formed in ``short`` pieces, the height of blocks does not matter.
    """
    n, d = blocks.shape
    rows = min(TALL_ROWS, TALL_BYTES // (d * itemsize), n // (4 * lane_count())) // 128 * 128
    rows = rows if d >= TALL_ABOVE and not short else 0
    if isinstance(blocks, StreamBlocks):
        return blocks.for_products(rows)
    if not isinstance(blocks, MemoryBlocks) or not isinstance(blocks.X, np.ndarray):
        return blocks
    return MemoryBlocks(blocks.X, rows) if rows > blocks.rows else blocks


def extrapolate(errors: list[NDArray[Any]], blocks: int) -> float:
    """Bound on the error of a sum of ``blocks`` products from the errors of a few of them."""
    if not errors:
        return 0.0
    worst = max(largest(E) if E.shape[0] == E.shape[1] else float(np.max(norms(E))) for E in errors)
    lengths = [float(np.linalg.norm(E)) for E in errors]
    pairs = [(i, j) for i in range(len(errors)) for j in range(i) if lengths[i] > 0 and lengths[j] > 0]
    alike = [float(np.vdot(errors[i], errors[j])) / (lengths[i] * lengths[j]) for i, j in pairs]
    # Independent errors still correlate by chance, by about 1/d.
    c = max(0.0, float(np.mean(alike)) - 1.5 / errors[0].shape[1]) if alike else 1.0
    return NOISE_SAFETY * worst * float(np.sqrt(blocks + blocks * blocks * c))


def along(errors: list[NDArray[Any]], blocks: int, V: NDArray[Any]) -> float:
    """Estimate of ‖VᵀEV‖₂: what rounding does to eigenvalues within span V, far below ‖E‖₂ when k ≪ d."""
    return extrapolate([V.T @ (E @ V) for E in errors], blocks)


def column_sums(z: NDArray[Any], w: NDArray[Any] | None) -> NDArray[Any]:
    """``Σwz`` of a block, summed in short pieces."""
    whole = z.shape[0] // PIECE * PIECE
    ones = np.ones(z.shape[0], z.dtype) if w is None else w
    total = (ones[whole:] @ z[whole:]).astype(np.float64)
    if whole:
        pieces = np.matmul(ones[:whole].reshape(-1, 1, PIECE), z[:whole].reshape(-1, PIECE, z.shape[1]))
        total += pieces.sum(axis=(0, 1), dtype=np.float64)
    return total


def column_squares(z: NDArray[Any], w: NDArray[Any] | None) -> NDArray[Any]:
    """``Σwz²`` of a block, summed in short pieces."""
    whole = z.shape[0] // PIECE * PIECE
    y = z if w is None else z * w[:, None]
    total = np.einsum("ij,ij->j", y[whole:], z[whole:]).astype(np.float64)
    if whole:
        shape = (-1, PIECE, z.shape[1])
        total += np.einsum("pij,pij->pj", y[:whole].reshape(shape), z[:whole].reshape(shape)).sum(
            axis=0, dtype=np.float64
        )
    return total


def better(z: NDArray[Any], b: NDArray[Any] | None = None, piece: int = PIECE) -> NDArray[Any]:
    """``zᵀb`` (``zᵀz``) of a block with less rounding: in float64 and in short pieces, summed level by level."""
    if z.dtype.itemsize < 8:
        piece = z.shape[0]  # float64 sums of float32 numbers are exact enough at any length
        z = z.astype(np.float64)
        b = None if b is None else b.astype(np.float64)
    right = z if b is None else b
    total = np.zeros((z.shape[1], right.shape[1]))
    for first in range(0, z.shape[0], 16 * piece):
        group = np.zeros_like(total)
        for i in range(first, min(first + 16 * piece, z.shape[0]), piece):
            left = z[i : i + piece]
            group += left.T @ (left if b is None else right[i : i + piece])
        total += group
    return total


def largest(E: NDArray[Any]) -> float:
    """Spectral norm of a small symmetric matrix: a few power steps from below, with a margin."""
    v = np.cos(np.arange(E.shape[0]) + 1.0)[:, None]
    size = 0.0
    for _ in range(8):
        norm = float(np.linalg.norm(v))
        if norm == 0:
            return size
        v = E @ (v / norm)
        size = float(np.linalg.norm(v))
    return 1.25 * size
