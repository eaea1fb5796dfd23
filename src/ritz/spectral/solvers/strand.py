"""A Lanczos chain of single vectors on the host: ``chain.py`` for a block of one column, without what blocks need.

    M V = V H + β q eᵀ        V (p×m),  H = VᵀMV (m×m, tridiagonal until a restart),  residual of the i-th pair |β y_mi|

A product of sparse rows with one vector takes a quarter of one with eight, and few pairs need few vectors: where a step
costs little, what else is done in it counts. One vector sees an eigenvalue once: whether another was missed is
looked for at the end (``missed.py``), and where the chain ends early, a block takes over.            [WS00; Parlett98]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ritz._core.linalg import Array, eigh
from ritz._core.random import gaussian_rows
from ritz._core.threads import single_threaded_blas
from ritz._core.tolerance import unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.constants import FINISH_SPARE, MAX_RESTARTS, lanczos_columns
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.climbing import Climbed, due, holds
from ritz.spectral.solvers.krylov import RANGE32, worst_residual

__all__ = ["Strand", "climb_strand"]

#: Share of its image below which what is left of a vector may hold too much of the basis: it is taken off again.
SHORT = 1e-2
#: Round-offs of the longest image below which what is left of a vector is nothing: the chain has ended.
NOTHING = 1e3
#: Columns beyond k at the first look.
FIRST = 6
#: Columns that H has room for at first.
ROOM = 64
#: Bytes of the basis that are combined at a time.
PART_BYTES = 1 << 25


class Strand:
    """The basis, M in it, and the vector that comes next."""

    def __init__(self, product: Callable[[Any], Any], p: int, capacity: int, dtype: Any) -> None:
        self.p, self.capacity, self.m, self.dtype = p, capacity, 0, np.dtype(dtype)
        self._product = product
        self._V = np.empty((capacity, p), self.dtype)
        self._H = np.zeros((0, 0))
        self._next = np.empty(p, self.dtype)
        self._coupled: Any = None  # (first column, coefficients) of M q in the basis that are known
        self._beta = self._longest = 0.0
        self.theta: Array = np.empty(0)
        self.Y: Array = np.empty((0, 0))

    def begin(self, g: Any) -> None:
        """Begin with a vector of any length."""
        self._next[:] = g / np.linalg.norm(g)

    def extend(self) -> bool:
        """One more column; False where the chain has ended: it has met an invariant space."""
        m, V = self.m, self._V
        if m == len(self._H):
            self._widen()
        v = V[m]
        v[:] = self._next
        w = self._product(v)
        if self._coupled is not None:
            first, known = self._coupled
            w -= known @ V[first:m] if first < m - 1 else known[0] * V[first]
            self._H[first:m, m] = self._H[m, first:m] = known
        own = float(v @ w)
        w -= self.dtype.type(own) * v
        self.m = m = m + 1
        size = math.sqrt(w @ w)
        self._longest = max(self._longest, abs(own), size)
        length = size
        for _ in range(2):
            rest = V[:m] @ w
            w -= rest @ V[:m]
            own += float(rest[-1])
            before, length = length, math.sqrt(w @ w)
            if length > SHORT * before:
                break
        self._H[m - 1, m - 1] = own
        self._beta = length
        if not length > NOTHING * unit_roundoff(self.dtype) * self._longest:
            return False
        np.divide(w, self.dtype.type(length), out=self._next)
        self._coupled = m - 1, np.full(1, length, self.dtype)
        return True

    def _widen(self) -> None:
        m = len(self._H)
        H = np.zeros((min(max(2 * m, ROOM), self.capacity),) * 2)
        H[:m, :m] = self._H
        self._H = H

    def ritz(self, top: int | None = None) -> None:
        """Rayleigh–Ritz: ``theta`` and ``Y``, all or the ``top`` leading pairs."""
        few = None if top is None or 5 * top > self.m else top
        self.theta, self.Y = eigh(self._H[: self.m, : self.m], few)

    def residuals(self, k: int) -> Any:
        """Residual norms of the k leading pairs, as the chain implies them."""
        return self._beta * np.abs(self.Y[self.m - 1, :k])

    def vectors(self, k: int) -> Array:
        """The k leading Ritz vectors in float64, (p, k)."""
        return self._combined(np.float64, k)

    def pairs(self, k: int) -> tuple[Array, Array]:
        """The k leading Ritz vectors in float64 and their images, both (p, k), orthonormal as the basis is."""
        V = self.vectors(k)
        return V, V * self.theta[:k] + self._next.astype(np.float64)[:, None] * (self._beta * self.Y[self.m - 1, :k])

    def _combined(self, dtype: Any, k: int) -> Array:
        step = max(16, PART_BYTES // (8 * self.p))
        Y = np.ascontiguousarray(self.Y[:, :k].T, dtype)
        parts = (slice(first, min(first + step, self.m)) for first in range(0, self.m, step))
        return sum(Y[:, some] @ self._V[some].astype(dtype, copy=False) for some in parts).T

    def restart(self, keep: int) -> None:
        """Keep the ``keep`` leading Ritz vectors only; the next vector is coupled with all of them."""
        coupling = self._beta * self.Y[self.m - 1, :keep]
        self._V[:keep] = self._combined(self.dtype, keep).T
        self._coupled = 0, coupling.astype(self.dtype)
        self._H[:, :] = 0.0
        self._H[np.arange(keep), np.arange(keep)] = self.theta[:keep]
        self.m, self.theta, self.Y = keep, self.theta[:keep], np.eye(keep)


def climb_strand(
    A: Operator, problem: SpectralProblem, dtype: type, target: float, amplified: bool, advance: Callable[[int], None]
) -> Climbed | None:
    """A chain whose k leading residuals are below ``target``·θ₁; None where a block has to do it."""
    p, k, product = A.shape[0], problem.k, A.vector_product()
    capacity = lanczos_columns(p, k, np.dtype(dtype).itemsize)
    if product is None or k + FIRST >= p or capacity < k + 4 * FIRST:
        return None
    chain = Strand(product, p, capacity, dtype)
    chain.begin(gaussian_rows(problem.start, 101, 0, p, 1)[:, 0])
    keep = min(k + (capacity - k) // 2, capacity - 3 * FIRST)
    steps, broken, at, seen = 0, 0, k + FIRST, (0, np.inf)
    narrow = dtype is np.float32
    with single_threaded_blas():
        while True:
            goes_on = chain.extend()
            steps += 1
            advance(1)
            if not goes_on or chain.m >= p:
                return None
            if steps == 1 and narrow and not RANGE32[0] <= chain._longest <= RANGE32[1]:
                return Climbed(chain, steps, 0, held=False)
            full = chain.m >= capacity
            if not full and chain.m < at:
                continue
            chain.ritz(keep if full else k + FINISH_SPARE)
            if narrow and not holds(A, chain.theta, problem.tol):
                return Climbed(chain, steps, 0, held=False)
            worst = worst_residual(chain.residuals(k), chain.theta, amplified)
            if problem.watch is not None:
                problem.watch.look(steps, chain.m, worst, lambda: chain.vectors(k + 1))
            if worst <= target or broken > MAX_RESTARTS:
                return Climbed(chain, steps, 0)
            at, seen = due(chain.m, worst, seen, target), (chain.m, worst)
            if full:
                chain.restart(keep)
                broken += 1
                at, seen = chain.m + (capacity - chain.m) // 2, (0, np.inf)
