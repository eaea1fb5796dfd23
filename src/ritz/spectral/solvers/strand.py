"""A Lanczos chain of single vectors on the host: ``chain.py`` for a block of one column, without what blocks need.

    M V = V H + β q eᵀ        V (p×m),  H = VᵀMV (m×m, tridiagonal until a restart),  residual of the i-th pair |β y_mi|

A product of sparse rows with one vector takes a quarter of one with eight, and few pairs need few vectors: where a step
costs little, what else is done in it counts. One vector sees an eigenvalue once: whether another was missed is
looked for at the end (``missed.py``), and where the chain ends before it has found enough, a block takes over.

What rounding leaves of the basis in a new vector, ω_j = ‖V_{j−1}ᵀq_j‖, grows by the same recurrence as the chain:

    β_{j+1} ω_{j+1} ≤ ‖T‖ ω_j + β_j ω_{j−1} + u‖T‖

In float64 the basis is taken off two vectors in succession where that bound has come to ``leak``, and the bound is held
against what was left then; H is M in an orthonormal basis of the same space to rounding as long as ω ≤ √u.
                                                                                               [WS00; Parlett98; S84]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ritz._core.linalg import Array, eigh, symmetric
from ritz._core.tolerance import unit_roundoff
from ritz._core.tridiagonal import largest_value, tridiagonal_pairs

__all__ = ["LEAK", "Strand"]

#: Share of its image below which what is left of a vector may hold too much of the basis: it is taken off again.
SHORT = 1e-2
#: Round-offs of the longest image below which what is left of a vector is nothing, in float64 and in float32: the chain
#: has ended. Rows of rank three and ten, 500×3,000 to 1,300×700, leave 300 to 13,000 of those of float32 after two
#: columns more than their rank, and less than 0.1 after three; noise of 4e-5·θ₁ beside them is 670. A block that takes
#: over takes longer: 900×1,600, σ = 0.8^j, k = 24, 108 and 60 ms of one core.
NOTHING = 1e3, 24.0
#: What is left of the basis in a new vector, as bounded, from which it is taken off, and what that leaves in turn. Of
#: 60 sparse tables of 10,000 to 180,000 entries what was measured then is at most 0.05 of the bound, 0.25 to 0.58 of
#: vectors have the basis taken off. Processor µs of a step so, and where all have: 3,000×3,000 with 90,000 Gaussian
#: entries, k = 20, 175 and 235; 3,000×1,200 with 14,000 of tf-idf, k = 10, 44 and 48.
LEAK, LEFT = 1e-10, 4e-15
#: VᵀV has what is left of the basis in a vector on both sides of its diagonal.
SIDES = math.sqrt(2.0)
#: Columns that H has room for at first.
ROOM = 64
#: Bytes of the basis that are combined at a time.
PART_BYTES = 1 << 25


class Strand:
    """The basis, M in it, and the vector that comes next."""

    def __init__(
        self, product: Callable[[Any], Any], p: int, capacity: int, dtype: Any, outside: Any = None, leak: float = 0.0
    ) -> None:  # fmt: skip
        """``outside`` (j, p): orthonormal rows that the chain stays orthogonal to, which come first in the basis;
        ``leak``: how much of the basis may be left in a vector of float64, of every one of which it is taken off else.
        """
        self.first = 0 if outside is None else len(outside)
        self.p, self.capacity, self.m, self.dtype = p, capacity + self.first, self.first, np.dtype(dtype)
        self._product = product
        self._V = np.empty((self.capacity, p), self.dtype)
        if outside is not None:
            self._V[: self.first] = outside
        self._H = np.zeros((0, 0))
        self._next = np.empty(p, self.dtype)
        self._coupled: Any = None  # what is known of M q: along the vector before, or along all of a restart
        self._beta = self.longest = 0.0
        self._nothing = NOTHING[self.dtype.itemsize < 8] * unit_roundoff(self.dtype)
        self.ended = False  # whether it has met an invariant space
        self._chained = True  # whether H is tridiagonal: no restart has come
        self._leak = leak
        self._seldom = self.dtype == np.float64 and leak > 0  # whether the basis is taken off some vectors alone
        self._leaks, self._again, self._norm, self._bound = (LEFT, LEFT), True, 0.0, 0.0
        self.lost = 0.0  # ‖VᵀV − I‖_F, beside rounding, from above
        self.theta: Array = np.empty(0)
        self.Y: Array = np.empty((0, 0))

    def begin(self, g: Any) -> float:
        """Begin with a vector of any length; how long it is outside of what the chain stays orthogonal to."""
        for _ in range(2 if self.first else 0):
            g = g - (self._V[: self.first] @ g) @ self._V[: self.first]
        length = float(np.linalg.norm(g))
        self._next[:] = g / length
        return length

    def extend(self) -> bool:
        """One more column; False where the chain has ended: it has met an invariant space."""
        m, V = self.m, self._V
        if m >= len(self._H):
            self._widen()
        v, H = V[m], self._H
        v[:] = self._next
        w = self._product(v)
        if self._coupled is None:
            along = v.dot(w)
            w -= along * v
        elif isinstance(self._coupled, float):  # with the vector before: the two at once
            both = V[m - 1 : m + 1]
            parts = both.dot(w)
            w -= parts.dot(both)
            along = parts[1]
            H[m - 1, m] = H[m, m - 1] = self._coupled
        else:
            w -= self._coupled.dot(V[:m])
            along = v.dot(w)
            w -= along * v
            H[:m, m] = H[m, :m] = self._coupled
        own = float(along)
        self.m = m = m + 1
        if self._seldom and self.first:  # M has more in it along these than rounding
            outside = V[: self.first]
            w -= outside.dot(w).dot(outside)
        length = math.sqrt(w.dot(w))
        self.longest = max(self.longest, abs(own), length)
        if not self._seldom or self._leaking(abs(own), length):
            own, length = self._cleaned(w, own, length)
        H[m - 1, m - 1] = own
        self._beta = length
        np.divide(w, self.dtype.type(length if length > 0 else 1.0), out=self._next)
        self._coupled = float(self.dtype.type(length))
        self.ended = not length > self._nothing * self.longest
        return not self.ended

    def _leaking(self, own: float, length: float) -> bool:
        """Whether too much of the basis may be left in the next vector, or was in the one before, by the recurrence."""
        before, last = self._leaks
        self._norm = max(self._norm, own + self._beta + length)  # ‖T‖ by its rows
        grown = (self._norm * (last + LEFT) + self._beta * before) / length if length > 0 else math.inf
        if not self._again and grown <= self._leak:
            self._leaks = last, grown
            self.lost = math.hypot(self.lost, SIDES * grown)
            return False
        self._leaks, self._again, self._bound = (last, LEFT), not self._again, grown
        return True

    def _cleaned(self, w: Any, own: float, length: float) -> tuple[float, float]:
        """Take what is left of the basis off w; α and the length of w then."""
        basis, size = self._V[: self.m], length
        for turn in range(2):
            rest = basis.dot(w)
            w -= rest.dot(basis)
            own += float(rest[-1])
            if turn == 0 and self._seldom and size > 0:
                left = rest[self.first : -2]  # along the last two it is rounding of α and β
                self._measured(math.sqrt(left.dot(left)) / size)
            before, length = length, math.sqrt(w.dot(w))
            if length > SHORT * before:
                break
        return own, length

    def _measured(self, found: float) -> None:
        """Hold what was left of the basis in a vector against its bound; where that is none, no vector is spared again,
        and each that was may have as much beside what was counted."""
        if found > self._bound:
            self._seldom, self.lost = False, math.hypot(self.lost, SIDES * math.sqrt(self.m) * found)

    def _widen(self) -> None:
        m = len(self._H)
        H = np.zeros((min(max(2 * self.m, ROOM), self.capacity),) * 2)
        H[:m, :m] = self._H
        self._H = H

    def ritz(self, top: int | None = None) -> None:
        """Rayleigh–Ritz: ``theta`` and ``Y``, all or the ``top`` leading pairs."""
        few = None if top is None or 5 * top > self.m or self._chained else top
        if self.Y.shape == (self.m, few or self.m):  # neither has the basis changed, nor is more of it asked for
            return
        H = self._H[: self.m, : self.m]
        self.theta, self.Y = tridiagonal_pairs(H) if self._chained else eigh(H, few)

    def last(self) -> tuple[float, float]:
        """α of the last column of a tridiagonal H, and β, how long the next vector was."""
        return float(self._H[self.m - 1, self.m - 1]), self._beta

    def trace(self) -> float:
        """The sum of all Ritz values."""
        return float(np.trace(self._H[: self.m, : self.m]))

    def edge(self, last: int) -> float:
        """Where the bulk of what the chain has not found ends: α + 2β of the last columns of a tridiagonal H."""
        alpha, beta = np.diag(self._H)[self.m - last : self.m], np.diag(self._H, 1)[self.m - last : self.m - 1]
        return float(np.mean(alpha)) + 2 * float(np.mean(beta))

    def largest(self) -> float:
        """The largest Ritz value outside of what the chain stays orthogonal to."""
        H = self._H[self.first : self.m, self.first : self.m]
        return largest_value(H) if self._chained else float(np.linalg.eigvalsh(H)[-1])

    def residuals(self, k: int) -> Any:
        """Residual norms of the k leading pairs, as the chain implies them."""
        return self._beta * np.abs(self.Y[self.m - 1, :k])

    def vectors(self, k: int) -> Array:
        """The k leading Ritz vectors in float64, (p, k)."""
        return self._combined(np.float64, k)

    def pairs(self, k: int) -> tuple[Array, Array]:
        """The k leading Ritz vectors in float64 and their images, both (p, k), orthonormal as the basis is."""
        V, (following, y) = self.vectors(k), self.leaving(k)
        return V, V * self.theta[:k] + following.astype(np.float64) * y

    def leaving(self, k: int) -> tuple[Array, Array]:
        """What images of the k leading Ritz vectors have outside of the basis: a vector (p, 1), and how much (1, k)."""
        return self._next[:, None], (self._beta * self.Y[self.m - 1, :k])[None, :]

    def settled(self, many: int) -> tuple[Array, Array, Array]:
        """Rows that are orthonormal to float64 and span the leading Ritz vectors, (many, p), the Ritz values in their
        span, (many,), and the squares of their residuals, (many,).

        Of the basis B (m×p) in float32 only G = BBᵀ is formed in float64. With YᵀGY = CᵀC and U = YC⁻¹ the rows are
        Q = UᵀB, and MBᵀ = BᵀH + β q eᵀ gives M in them and the residual R = BᵀZ + qw, w = β eᵀU, from inner products
        alone. Z and w are small themselves, so that RᵀR loses no digits. A basis in float64 is orthonormal to a few
        hundred roundings and to what it has ``lost``, which is less than products with long sums are off by, or counted
        as they are: U = Y, and R = qw.
        """
        m, first = self.m, self.first
        if self.dtype == np.float64 and not first:
            rows = np.ascontiguousarray(self.Y[:, :many].T) @ self._V[:m]
            return rows, self.theta[:many], np.square(self.residuals(many))
        B = np.asarray(self._V[first:m], np.float64)
        H, along = self._H[first:m, first:m], np.asarray(B @ self._next, np.float64)
        G = symmetric(B @ B.T)
        Y = self.Y[:, :many]
        C = np.linalg.cholesky(symmetric(Y.T @ G @ Y)).T
        U = np.linalg.solve(C.T, Y.T).T
        w = self._beta * U[-1]
        inside = symmetric(U.T @ (G @ (H @ U)) + np.multiply.outer(U.T @ along, w))
        Z = H @ U - U @ inside
        mixed = np.multiply.outer(Z.T @ along, w)
        length = float(self._next.astype(np.float64) @ self._next)
        square = Z.T @ G @ Z + mixed + mixed.T + length * np.multiply.outer(w, w)
        theta, Y = eigh(inside)
        return U.T @ B, theta, np.maximum(np.sum(Y * (symmetric(square) @ Y), axis=0), 0.0)

    def _combined(self, dtype: Any, k: int) -> Array:
        step = max(16, PART_BYTES // (8 * self.p))
        Y = np.ascontiguousarray(self.Y[:, :k].T, dtype)
        parts = (slice(first, min(first + step, self.m)) for first in range(0, self.m, step))
        total = np.zeros((k, self.p), dtype)
        for some in parts:
            total += Y[:, some] @ self._V[some].astype(dtype, copy=False)
        return total.T

    def restart(self, keep: int) -> None:
        """Keep the ``keep`` leading Ritz vectors only; the next vector is coupled with all of them."""
        coupling = self._beta * self.Y[self.m - 1, :keep]
        self._V[:keep] = self._combined(self.dtype, keep).T
        self._coupled = coupling.astype(self.dtype)
        self._H[:, :] = 0.0
        self._H[np.arange(keep), np.arange(keep)] = self.theta[:keep]
        self.m, self.theta, self.Y = keep, self.theta[:keep], np.eye(keep)
        self._chained = self._seldom = False
