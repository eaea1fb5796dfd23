"""Products of dense rows with few columns, cut so small that BLAS takes them by its kernels for small matrices.

    B = X W      (R×c)(c×l), added up over parts of c columns          X (n×d),  W (d×l),  l ≪ d
    BᵀX          (l×R)(R×c), added up over pieces of R rows            R·c·l ≤ 10⁶
    XᵀB          (c×R)(R×l), the same where X is stored by its columns
    X wⱼ, bⱼᵀX   column by column of W, where these are fewer still

A product of a tall matrix with few columns does so little with every number that copying the matrix into the order of
the large kernels takes as long as multiplying it. OpenBLAS has kernels that read matrices as they lie, for processors
with AVX-512 and for products of at most 10⁶ multiplications; on others a product with one vector after the other reads
a piece that stays in the caches in less time than it takes to copy it. Sums run over as few rows as short pieces have
(``rounding.py``), so that cutting rounds no worse than these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.blas import has_small_kernels
from ritz.data.passes.rounding import LONG_PIECE, PIECE

__all__ = ["THIN_BYTES", "Single", "Thin", "thin"]

#: Multiplications that OpenBLAS takes by its small kernels, at most.
MOST = 1e6
#: Columns of W. Processor ms of XᵀXW whole and cut, in float64, 60,000×784: 100 and 44 with 8 columns, 129 and 76 with
#: 16, 255 and 174 with 40, 335 and 295 with 64; 8,000×5,000: 84 and 38, 108 and 66, 209 and 174, 292 and 354; in
#: float32, 20,000×2,000: 39 and 31 with 8, 57 and 43 with 16, 66 and 63 with 24, 96 and 102 with 40. One column is a
#: product of its own kind.
LEAST_COLUMNS, MOST_COLUMNS = 2, {4: 24, 8: 40}
#: Columns of W that are multiplied one by one in float64, at most, where there are no such kernels. Processor ms of
#: XᵀXW at once and so: 1,000×1,000, stored in float32, 3 columns 1.7 and 0.8, 10 2.1 and 2.1; 20,000×300, 5 columns
#: 13.4 and 8.4; 100,000×100, 3 columns 22 and 11; 60,000×784, stored in float32, 3 columns 84 and 55.
ONE_BY_ONE = 5
#: Columns of X from which a piece is worth its calls.
LEAST_SIDE = 64
#: Rows that are summed at once in float32: the blocks of other products have as many.
NARROW_PIECE = 1024
#: Bytes of rows that are multiplied both ways before the next: they stay in the second-level cache.
THIN_BYTES = 1 << 19


def thin(W: NDArray[Any], turned: bool = False) -> Thin | Single | None:
    """How rows are multiplied with the few columns of W; None where BLAS takes all of it as well at once. ``turned``:
    rows that are stored by their columns, as those of a wide table whose columns are taken for rows. Processor ms of
    XXᵀW whole and cut: 400×1,200 1.0 and 0.7 with 14 columns, 300×9,000 5.8 and 3.2 with 8, 1,500×5,000 14.7 and 7.7
    with 8, 40 and 27 with 40."""
    (d, columns), dtype = W.shape, W.dtype
    if dtype.kind != "f" or d < LEAST_SIDE or not LEAST_COLUMNS <= columns <= MOST_COLUMNS.get(dtype.itemsize, 0):
        return None
    if has_small_kernels():
        return Thin(d, columns, dtype, turned)
    return Single(d, columns) if dtype == np.float64 and columns <= ONE_BY_ONE and not turned else None


class Thin:
    """Products of rows with one shape of few columns; one for every lane, for its buffers are used again."""

    def __init__(self, d: int, columns: int, dtype: np.dtype[Any], turned: bool = False) -> None:
        parts = -(-d * columns * PIECE // int(MOST))
        each = -(-d // parts)
        self.parts = [slice(j, min(j + each, d)) for j in range(0, d, each)]
        fitting = int(MOST) // (each * columns)
        self.tall = fitting if parts == 1 else PIECE
        short = LONG_PIECE if dtype.itemsize >= 8 else NARROW_PIECE  # sums over blocks are formed in float64
        self.rows = min(self.tall, short)
        self.more = np.empty((PIECE, columns), dtype)
        self.turned, self.part = turned, np.empty((d, columns) if turned else (columns, d), dtype)

    def times(self, rows: NDArray[Any], W: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
        """``rows W``, (b, l), into ``out``."""
        first, *rest = self.parts
        for i in range(0, rows.shape[0], self.tall):
            some, into = rows[i : i + self.tall], out[i : i + self.tall]
            np.matmul(some[:, first], W[first], out=into)
            for part in rest:
                into += np.matmul(some[:, part], W[part], out=self.more[: len(into)])
        return out

    def adjoint(self, rows: NDArray[Any], B: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
        """``Bᵀ rows``, (l, d), into ``out``; of rows stored by columns ``rowsᵀ B``, (d, l)."""
        for i in range(0, rows.shape[0], self.rows):
            some, left = rows[i : i + self.rows], B[i : i + self.rows]
            into = self.part if i else out
            for part in self.parts:
                if self.turned:
                    np.matmul(some[:, part].T, left, out=into[part])
                else:
                    np.matmul(left.T, some[:, part], out=into[:, part])
            if i:
                out += self.part
        return out


class Single:
    """The same with one column after the other, in float64."""

    def __init__(self, d: int, columns: int) -> None:
        self.part, self.made = np.empty(d), np.empty((columns, 0))

    def times(self, rows: NDArray[Any], W: NDArray[Any], _out: NDArray[Any]) -> NDArray[Any]:
        """``rows W``, (b, l), column after column in memory of its own."""
        if self.made.shape[1] != len(rows):
            self.made = np.empty((W.shape[1], len(rows)))
        for w, into in zip(np.ascontiguousarray(W.T), self.made, strict=True):
            np.dot(rows, w, out=into)
        return self.made.T

    def adjoint(self, rows: NDArray[Any], B: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
        """``Bᵀ rows``, (l, d), into ``out``."""
        for b, into in zip(np.ascontiguousarray(B.T), out, strict=True):
            np.dot(b[:LONG_PIECE], rows[:LONG_PIECE], out=into)
            for i in range(LONG_PIECE, len(rows), LONG_PIECE):
                into += np.dot(b[i : i + LONG_PIECE], rows[i : i + LONG_PIECE], out=self.part)
        return out
