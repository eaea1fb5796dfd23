"""A table that can be read once, as the Gram matrix of its centred rows: one product is all it ever gives.

    M = Σ w(x − μ)(x − μ)ᵀ (d×d),      M V in one pass over batches b, μ not known before              O(d·l) numbers

    batch   mean m_b, weight w_b,  Y_b = Z_bᵀ(w Z_b V),  Z_b about m_b
    joined  δ = m_b − μ,  Y ← Y + Y_b + δ(δᵀV)·w w_b/(w + w_b),  μ ← μ + δ·w_b/(w + w_b)                     [Chan83]

Every batch is taken about its own mean, so neither a large mean nor one that drifts costs digits. Sparse batches stay
sparse: Y_b = X_bᵀ(w X_b V) − w_b m_b(m_bᵀV). The trace is added up on the way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.linalg import Array
from ritz.operators.base import Operator

__all__ = ["Once"]

Floats = NDArray[np.float64]


class Once(Operator):
    """``M`` of batches that pass by.

    Parameters
    ----------
    batches
        Rows (dense or CSR) and their weights, or None for weights of one.
    d
        Columns.
    center
        Whether rows are taken about their mean, or about zero.
    """

    symmetric = True
    positive = True

    def __init__(self, batches: Iterable[tuple[Any, Floats | None]], d: int, *, center: bool) -> None:
        super().__init__((d, d), np.float64)
        self._batches, self.center = batches, center
        self.rows, self.weight = 0, 0.0
        self.shift, self.offset = np.zeros(d), np.zeros(d)  # mean = shift + offset
        self._total, self._sparse, self._passes = 0.0, False, 0

    def _matmat(self, V: Array) -> Array:
        if self._passes:
            raise InputError(
                "rows that can be read again: one pass over them did not decide how many components there are",
                received="an iterator of batches that was read",
                hint="give a number: n_components=50, or pass a list of batches or a file",
            )
        self._passes = 1
        V = np.asarray(V, np.float64)
        Y = np.zeros(V.shape)
        for rows, weights in self._batches:
            if rows.shape[0]:
                Y += self._sparse_batch(rows, weights, V) if hasattr(rows, "indptr") else self._batch(rows, weights, V)
        return Y

    def _batch(self, rows: Any, weights: Floats | None, V: Floats) -> Floats:
        x = np.asarray(rows, np.float64)
        w = np.ones(len(x)) if weights is None else weights
        mass = float(np.sum(w))
        if not self.center:
            self._count(x, mass, float(w @ np.einsum("ij,ij->i", x, x)))
            return np.asarray(x.T @ (w[:, None] * (x @ V)))
        if self.rows == 0:
            self.shift = w @ x / mass
        z = x - self.shift
        mean = w @ z / mass
        z -= mean
        left = w @ z / mass  # what rounding left of the mean
        z -= left
        joined = self._join(mean + left, mass, V)
        self._count(x, mass, float(w @ np.einsum("ij,ij->i", z, z)))
        return np.asarray(z.T @ (w[:, None] * (z @ V)) + joined)

    def _sparse_batch(self, rows: Any, weights: Floats | None, V: Floats) -> Floats:
        x = rows.astype(np.float64)
        w = np.ones(x.shape[0]) if weights is None else weights
        mass, self._sparse = float(np.sum(w)), True
        squares = float(w @ np.asarray(x.multiply(x).sum(axis=1)).ravel())
        Y = np.asarray(x.T @ (w[:, None] * np.asarray(x @ V)))
        if not self.center:
            self._count(x, mass, squares)
            return Y
        mean = np.asarray(x.T @ w).ravel() / mass
        joined = self._join(mean - self.shift, mass, V)
        self._count(x, mass, max(squares - mass * float(mean @ mean), 0.0))
        return np.asarray(Y - np.outer(mass * mean, mean @ V) + joined)

    def _join(self, mean: Floats, mass: float, V: Floats) -> Floats:
        """What lies between the mean of a batch and that of the rows before it."""
        gap = mean - self.offset if self.rows else np.zeros_like(mean)
        share = mass / (self.weight + mass)
        self.offset = self.offset + gap * share if self.rows else mean
        self._total += float(gap @ gap) * self.weight * share
        return np.outer(gap * (self.weight * share), gap @ V)

    def _count(self, rows: Any, mass: float, squares: float) -> None:
        self.rows, self.weight = self.rows + int(rows.shape[0]), self.weight + mass
        self._total += squares

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def key(self) -> int:
        """None of the data: they are read once. What a sketch claims rests on the trace, not on its start."""
        return 0

    def passes(self) -> int:
        return self._passes

    def trace(self) -> float | None:
        return self._total if self._passes else None

    def inflation(self) -> float:
        mean = self.shift + self.offset
        return float(self.weight * (mean @ mean)) if self._sparse and self.center else 0.0

    def symbol(self) -> str:
        return "S"
