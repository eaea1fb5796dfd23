"""Row blocks whose rows are made while they are read: features of rows, kernel values with landmarks.

    rows 0 … n−1   →   make(start, stop)   →   (stop − start, m) array or CSR

Whatever runs on row blocks runs on these; the n×m table is never held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.data.passes.blocks import MemoryBlocks

__all__ = ["MappedBlocks"]


class _Outline:
    """Shape and dtype of a table that does not exist as a whole."""

    def __init__(self, shape: tuple[int, int], dtype: Any, stored: int) -> None:
        self.shape, self.dtype, self.nnz, self.size = shape, np.dtype(dtype), stored, stored


class MappedBlocks(MemoryBlocks):
    """Row blocks of ``make``.

    Parameters
    ----------
    make
        Gives rows ``start : stop`` as an array or CSR matrix; called from several threads.
    shape, dtype
        Of the whole table.
    stored
        Stored entries of a sparse table; None for dense rows.
    """

    def __init__(
        self, make: Callable[[int, int], Any], shape: tuple[int, int], dtype: Any, stored: int | None = None
    ) -> None:
        n, m = shape
        super().__init__(_Outline(shape, dtype, n * m if stored is None else stored))
        self.make = make
        self._csr = stored is not None
        self.sparse = self.sparse and stored is not None
        if stored is None:
            from ritz.data.passes.blocks import block_rows

            self.rows = block_rows(m)

    def _take(self, start: int, stop: int) -> Any:
        rows = self.make(start, stop)
        return rows.toarray() if self._csr and not self.sparse else rows

    def panel(self, start: int, stop: int, columns: slice) -> Any:
        """A dense panel: some rows of some columns."""
        panel = self.make(start, min(stop, self.shape[0]))[:, columns]
        return np.asarray(panel.toarray() if self._csr else panel)

    def transposed(self) -> MemoryBlocks:
        """Rows that are made while they are read cannot be turned."""
        msg = "rows that are made while they are read cannot be transposed"
        raise TypeError(msg)

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows in a few runs spread over the table."""
        n = self.shape[0]
        runs = min(8, n)
        each = max(1, -(-rows // max(runs, 1)))
        starts = sorted({min(int(i * n / runs), max(n - each, 0)) for i in range(runs)})
        parts = [self._take(start, min(start + each, n)) for start in starts]
        if not self.sparse:
            return np.concatenate(parts) if parts else np.empty((0, self.shape[1]), self.dtype)
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
