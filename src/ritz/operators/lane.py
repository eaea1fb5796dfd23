"""The sums of one lane of a pass: what ``affine.py`` adds up of its share of the blocks, and how it was rounded.

    total + low ← total + low + zᵀb        float64 sums over blocks keep what rounding takes (``_core/compensated.py``)

Equal blocks would otherwise be rounded the same way every time, as many times as there are blocks. The rounding of the
product of a block is measured on a few blocks, chosen by their mass t = ‖D_c zᵀb‖_F (``data/passes/rounding.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import LAG, add_into, settle
from ritz.data.passes.blocks import Block, fresh
from ritz.data.passes.gram import column_squares, column_sums
from ritz.data.passes.rounding import CHECK_PIECE, PIECE, Watched, better, extrapolate
from ritz.data.passes.sparse import sums as sparse_sums
from ritz.data.passes.thin import Single, Thin

__all__ = ["Lane"]

#: Multiplications of a block below which its sums are formed in short pieces; blocks a lane that are formed anew.
SHORT_PRODUCT, ANEW = 1e6, 3


class Lane(Watched):
    """Sums of one lane.

    ``metric`` (d,): what the sums of every column are multiplied by at last. Rounding is measured in these units: in
    those of the columns, one of large numbers would speak for all.
    """

    SUMS = (
        "total", "low", "count", "sums", "sums_low", "tail", "tail_low", "m", "m_low", "q", "q_low", *Watched.SUMS
    )  # fmt: skip

    def __init__(
        self, rows: int, width: int, turned: bool = False, watch: tuple[int, np.dtype[Any]] | None = None,
        thin: Thin | Single | None = None, metric: NDArray[np.float64] | None = None,
    ) -> None:  # fmt: skip
        # Held as (width, rows): BLAS forms partᵀ rows faster than rowsᵀ part, and sums run along memory. The columns of
        # a wide table are taken the other way round: 94 against 72 Gflop/s a core, float32, 2,000 rows.
        self.turned, self.thin = turned, thin
        self.metric = None if metric is None else metric[:, None]
        shape = (rows, width) if turned else (width, rows)
        self.total, self.low = (np.zeros(shape) if turned else np.zeros(shape).T for _ in range(2))
        self.sums, self.sums_low, self.tail, self.tail_low = (np.zeros(width) for _ in range(4))
        self.m, self.m_low, self.q, self.q_low = (np.zeros(rows) for _ in range(4))
        self.scratch: dict[str, Any] = {}
        self.count = 0
        self.mass = self.mass2 = self.heaviest = 0.0
        self.turn = 0
        self.most, self.probe, self.met, self.met2 = ANEW, np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self.errors: list[NDArray[Any]] = []
        self.alike: list[NDArray[Any]] = []
        self.alike_masses: list[float] = []
        self.repeated = 0.0
        if watch is not None:
            self.watch(rows, *watch)

    def gather(self, product: Any, some: slice = slice(None)) -> None:
        """Add to the total, to ``some`` of its columns: a block has been added with the last of these."""
        self.low[:, some] += product
        if some.stop is not None and some.stop < self.low.shape[1]:
            return
        self.count += 1
        if self.count % LAG == 0:
            settle(self.total, self.low) if self.turned else settle(self.total.T, self.low.T)

    def summed(self) -> Any:
        """The total with what rounding took."""
        return self.total + self.low

    def measured(self) -> float:
        """Bound on the rounding of the products with vectors."""
        return extrapolate(self.errors, self.mass, self.mass2)

    def product(self, rows: Any, B: Any, cuts: Any = 1) -> Any:
        """``rowsᵀ part``; short sums where they are cheap, checked ones otherwise."""
        if self.thin is not None:
            return self.adjoint(rows, B)
        if isinstance(rows, np.ndarray) and rows.dtype.itemsize == 8 and rows.shape[0] > PIECE:
            if float(rows.size) * B.shape[1] <= SHORT_PRODUCT:
                return better(rows, B)
            product = self.adjoint(rows, B)
            mass = float(np.linalg.norm(self._scaled(product)))
            if self.weigh(mass):
                self.errors.append(self._scaled(product - better(rows, B, CHECK_PIECE)) / mass)
            return product
        return self.adjoint(rows, B, cuts)

    def _scaled(self, product: Any) -> Any:
        return product if self.metric is None else product * self.metric

    def adjoint(self, rows: Any, B: Any, cuts: Any = 1) -> Any:
        """``rowsᵀ part`` into a reused buffer: fresh memory for every block would cost more than the product."""
        if not isinstance(rows, np.ndarray):
            return sparse_sums.adjoint(rows, B, cuts)
        shape = (rows.shape[1], B.shape[1]) if self.turned else (B.shape[1], rows.shape[1])
        out = self.scratch.get("adjoint")
        if out is None or out.shape != shape or out.dtype != B.dtype:
            out = self.scratch["adjoint"] = fresh(shape, B.dtype)
        if self.thin is not None:
            product = self.thin.adjoint(rows, B, out)
            return product if self.turned else product.T
        return np.matmul(rows.T, B, out=out) if self.turned else np.matmul(B.T, rows, out=out).T

    def square(self, B: Any, block: Block) -> None:
        """Add ``BᵀB``, whose rounding is measured."""
        out = self.scratch.get("square")
        if out is None:
            out = self.scratch["square"] = np.empty((B.shape[1], B.shape[1]), B.dtype)
        _, first = self.form(B, out)
        if B.dtype.itemsize < 8:
            self.total += out
        else:
            self.gather(out)
        self.look(B, out, first)

    def observe(self, rows: Any, w: NDArray[np.float64] | None) -> None:
        """Add Σwz and Σwz²."""
        if isinstance(rows, np.ndarray):
            weights = None if w is None else w.astype(rows.dtype)
            m, q = column_sums(rows, weights), column_squares(rows, weights)
        else:
            m, q = sparse_sums.sums(rows.astype(np.float64), w)
        add_into(self.m, self.m_low, m)
        add_into(self.q, self.q_low, q)
