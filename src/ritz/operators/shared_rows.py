"""Products of one vector with sparse rows that are shared out among threads.

    X = (X₁; …; X_m) by rows,    b = Xv − c = (Xᵢv − c)ᵢ,    Xᵀb = Σ Xᵢᵀbᵢ        X (n×d), m lanes with as many entries

Rows of the first product are nobody else's; of the second every lane has a sum of its own, and these are added in the
order of the lanes. What is left is what the lanes take to begin, so few entries are multiplied by one of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ritz._core.threads import lane_count, run_lanes
from ritz.data.passes.sparse.products import normal, tools

__all__ = ["SharedRows", "equal_entries", "shared_rows"]

#: Stored entries, and of a column in the mean, from which lanes share a product with one vector. Milliseconds of the
#: wall on two cores of SVD(5) and PCA(5) by one lane and by two, columns divided by √j: 20,000×5,000 with 3·10⁵ 38 and
#: 45, 44 and 60; 50,000×10,000 with 5·10⁵ 64 and 60, 66 and 64, with 10⁶ 86 and 97, 82 and 69; 100,000×20,000 with 10⁶
#: 108 and 83, 116 and 92; 200,000×20,000 with 4·10⁶ 320 and 221, 315 and 222; 5,000×200,000 with 10⁶ 148 and 180, 197
#: and 216.
SHARED, COLUMN = 1_000_000, 32


class SharedRows:
    """CSR rows and the lanes that multiply them."""

    def __init__(self, X: Any, data: Any, lanes: int) -> None:
        self.X, self.data = X, data
        self.spans = [(i, *span) for i, span in enumerate(equal_entries(X, lanes))]
        self.sums = [np.empty(X.shape[1], data.dtype) for _ in self.spans]
        self.fused = [normal(X.indptr[a : b + 1], X.indices, data) for _, a, b in self.spans]

    def gather(self, v: Any, out: Any, first: Any = 0) -> None:
        """``out ← first + X v``, a number for every row."""
        run_lanes(lambda span: self._gathered(span, v, out, first), self.spans)

    def scatter(self, b: Any, out: Any, first: Any = 0) -> None:
        """``out ← first + Xᵀ b``, a number for every column."""
        run_lanes(lambda span: self._scattered(span, b), self.spans)
        self._added(out)
        if first:
            out += first

    def both(self, v: Any, c: Any, across: Any, along: Any) -> bool:
        """``across ← X v − c`` and ``along ← Xᵀ across``; True, for it is done."""

        def lane(span: tuple[int, int, int]) -> None:
            i, a, b = span
            fused = self.fused[i]
            if fused is None or not fused(v, c, across[a:b], self.sums[i]):
                self._gathered(span, v, across, -c)
                self._scattered(span, across)

        run_lanes(lane, self.spans)
        self._added(along)
        return True

    def _gathered(self, span: tuple[int, int, int], v: Any, out: Any, first: Any) -> None:
        _, a, b = span
        rows, X = out[a:b], self.X
        rows.fill(first)
        tools.csr_matvec(b - a, X.shape[1], X.indptr[a : b + 1], X.indices, self.data, v, rows)

    def _scattered(self, span: tuple[int, int, int], b: Any) -> None:
        i, first, last = span
        own, X = self.sums[i], self.X
        own.fill(0)
        tools.csc_matvec(X.shape[1], last - first, X.indptr[first : last + 1], X.indices, self.data, b[first:last], own)

    def _added(self, out: Any) -> None:
        np.copyto(out, self.sums[0])
        for more in self.sums[1:]:
            out += more


def equal_entries(X: Any, lanes: int) -> list[tuple[int, int]]:
    """First row and the one after the last of every lane, that share CSR entries as evenly as rows allow."""
    ends = np.searchsorted(X.indptr, np.linspace(0, int(X.indptr[-1]), lanes + 1)[1:-1])
    return list(pairwise([0, *(int(end) for end in ends), X.shape[0]]))


def shared_rows(X: Any, data: Any) -> SharedRows | None:
    """The lanes of CSR rows with entries ``data``; None where one lane is enough."""
    lanes, least = lane_count(), max(SHARED, COLUMN * X.shape[1])
    return SharedRows(X, data, lanes) if lanes > 1 and len(data) >= least and X.shape[0] >= lanes else None
