"""Euclidean distances of sparse rows: products of CSR rows as keys, differences of CSR rows as distances.

    ‖xᵢ − xⱼ‖² ≥ (1 − c)(Nᵢ + Nⱼ) − 2ĝᵢⱼ,     c = γ(s + 16),  s the most stored entries of a row

Rows stay sparse and are not centred: the zeros are where they are because rows lie near the origin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.graphs.search.screen import Screen
from ritz.graphs.spaces.base import Space
from ritz.graphs.spaces.euclidean import distance_rounding
from ritz.kernels.rows import product, squares

__all__ = ["SparseRows"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Pairs whose differences are taken at a time.
PAIRS = 1 << 12


class SparseRows(Space):
    """Rows of a CSR matrix."""

    distance, route = "Euclidean distance", "blocks"
    reason = "sparse rows"
    proof = "products in float64 with a bound of their rounding let no neighbour out; distances are differences of rows"

    def __init__(self, X: Any) -> None:
        self.X = X.tocsr().astype(np.float64)
        self.X.sum_duplicates()
        self.n = self.X.shape[0]
        self.rounding = distance_rounding(int(np.diff(self.X.indptr).max(initial=0)) * 2)

    def new(self, X: Any) -> Any:
        """CSR rows."""
        from scipy.sparse import csr_array

        Q = csr_array(X).astype(np.float64)
        Q.sum_duplicates()
        return Q

    def screen(self, Q: Any = None) -> Screen:
        """Products of rows."""
        return _SparseScreen(self.X, self.X if Q is None else Q)

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """Differences in float64."""
        return self.screen().exact(np.asarray(rows), np.asarray(cols), np.zeros(0))


class _SparseScreen(Screen):
    def __init__(self, X: Any, Q: Any) -> None:
        self.X, self.Q, self.m, self.n = X, Q, Q.shape[0], X.shape[0]
        longest = max(int(np.diff(R.indptr).max(initial=0)) for R in (X, Q))
        mu = (longest + 16) * 2.0**-53
        self.rounding = distance_rounding(2 * longest)
        self.c = mu / (1 - mu)
        self.cols = (1 - self.c) * squares(X)
        self.rows = self.cols if Q is X else (1 - self.c) * squares(Q)

    def tile(self, rows: Any, cols: slice) -> Floats:
        keys = product(self.Q[rows], self.X[cols], None)
        keys *= -2.0
        keys += self.cols[cols]
        return keys

    def reach(self, rows: Any, distances: Floats) -> Floats:
        far = np.square(distances * (1 + self.rounding))
        return far - self.rows[rows] + 2.0**-900 + 2.0**-50 * (far + self.rows[rows])

    def inside(self, rows: Any, distances: Floats) -> Floats:
        far, own = np.square(distances * (1 - self.rounding)), self.rows[rows]
        lost = 2.02 * self.c * (own + float(self.cols.max(initial=0.0)))
        return far - own - lost - 2.0**-900 - 2.0**-50 * (far + own)

    def lengths(self, rows: Any, keys: NDArray[Any]) -> Floats:
        return np.sqrt(np.maximum(keys + self.rows[rows][:, None], 0.0))

    def content(self, of: str, rows: Places) -> list[bytes]:
        X = self.Q if of == "rows" else self.X
        said = []
        for i in rows:
            at = slice(X.indptr[i], X.indptr[i + 1])
            there = X.data[at] != 0
            said.append(X.indices[at][there].astype(np.int64).tobytes() + b"|" + X.data[at][there].tobytes())
        return said

    def exact(self, rows: Places, cols: Places, keys: NDArray[Any]) -> Floats:
        out = np.empty(len(rows))
        for start in range(0, len(rows), PAIRS):
            at = slice(start, start + PAIRS)
            gap = self.Q[rows[at]] - self.X[cols[at]]
            gap.data **= 2
            out[at] = np.asarray(gap.sum(axis=1)).reshape(-1)
        return np.sqrt(out)
