"""A block Lanczos chain: an orthonormal basis in which M is known without its image, and where the chain goes on.

    M V = V H + Q R eᵀ        V (p×m),  H = VᵀMV (m×m),  Q (p×l) the next block,  e the columns of the block before it

With Ritz pairs H = YΘYᵀ the residual of the i-th is ‖R y_i‖, y_i the last rows of Y: no product with V is needed. Of
VᵀMQ only the coupling Rᵀ with the block before is not rounding: it is taken off first, and one pass over the basis does
what reorthogonalising twice does otherwise. After a thick restart with Ritz vectors VY it is with all of them:

    M(VY) = (VY)Θ + Q (R y)                                                                        [WS00; GU77]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz._core.linalg import (
    HOST,
    Array,
    Place,
    combine,
    eigh,
    inner,
    norms,
    orth,
    orth_by_squares,
    symmetric,
    to_numpy,
    wide,
)
from ritz._core.tolerance import unit_roundoff

__all__ = ["Chain"]

#: Share of its block below which what is left of a new direction may hold too much of the basis: it is taken off again.
SHORT = 1e-2
#: Round-offs of the largest product below which what is left of a block is nothing: in float64, in float32.
NOTHING = 90.0, 2.0
#: Bytes of the basis that are combined at a time by a restart.
RESTART_BYTES = 1 << 25


class Chain:
    """The basis, M in it, and the block that comes next."""

    def __init__(self, p: int, capacity: int, place: Place = HOST, dtype: Any = np.float64) -> None:
        self.p, self.capacity, self.place, self.m = p, capacity, place, 0
        self.dtype = np.dtype(dtype)
        self._V = place.empty((capacity, p), self.dtype)
        self._H = place.zeros((capacity, capacity))
        self.theta: Array = place.empty((0,))
        self.Y: Array = place.empty((0, 0))
        self._coupled: tuple[int, int, Array] | None = None
        self._R: Array = None
        self._following: Array = None
        self._made: tuple[Array, Array] = None, None  # Y, and the vectors that were made with it
        self._largest = 0.0

    @property
    def V(self) -> Array:
        """The basis, (p, m)."""
        return self.place.xp.matrix_transpose(self._V[: self.m, :])

    def edge(self, last: int) -> float:
        """Where the bulk of what the chain has not found ends: the largest eigenvalue of H in its last columns."""
        some = slice(self.m - last, self.m)
        return float(np.linalg.eigvalsh(to_numpy(self._H[some, some]))[-1])

    def own(self, block: Array) -> Array:
        """A block in the precision of the basis."""
        return self.place.array(block, self.dtype)

    def room(self) -> int:
        """Columns that still fit."""
        return self.capacity - self.m

    def extend(self, Q: Array, W: Array) -> Array:
        """Add the orthonormal block Q with its image W; the next block, with no columns where the chain ends."""
        xp = self.place.xp
        turn = xp.matrix_transpose
        a, b = self.m, self.m + Q.shape[1]
        Q, W = self.own(Q), self.own(W)
        self._V[a:b, :] = turn(Q)
        before = float(xp.max(norms(W)))
        self._largest = max(self._largest, before)
        if self._coupled is not None:
            first, last, B = self._coupled
            W = W - combine(turn(self._V[first:last, :]), self.own(B))
            self._H[first:last, a:b] = B
        own = inner(Q, W)
        W = W - combine(Q, own)
        self.m = b
        rest = inner(self.V, W)
        W = W - combine(self.V, rest)
        self._H[:b, a:b] += wide(rest)
        self._H[a:b, a:b] += wide(own)
        self._H[a:b, a:b] = symmetric(self._H[a:b, a:b])
        self._H[a:b, :a] = turn(self._H[:a, a:b])
        following = self._orthonormal(W, before)
        self._R, self._following = wide(inner(following, W)), following
        self._coupled = (a, b, turn(self._R)) if following.shape[1] else None
        return following

    def _orthonormal(self, W: Array, before: float) -> Array:
        """An orthonormal basis of what is left of a block, orthogonal to V to rounding."""
        narrow = self.dtype.itemsize < 8
        nothing = NOTHING[narrow] * unit_roundoff(self.dtype) * self._largest
        G = symmetric(wide(inner(W, W)))
        if isinstance(W, np.ndarray) and (Q := orth_by_squares(W, G, max(SHORT * before, nothing))) is not None:
            return Q
        omega, E = eigh(G)
        if float(omega[-1]) > max(SHORT * before, nothing) ** 2:
            return orth(W)
        W = combine(W, self.own(E))
        lengths = to_numpy(norms(W))
        count = int(np.count_nonzero(lengths > nothing))  # sorted: what is too short comes last
        return orth(W[:, :count], against=self.V) if count else W[:, :0]

    def following(self) -> Array:
        """The block with which the chain goes on."""
        return self._following

    def begin_anew(self) -> None:
        """Forget the block that came last: what follows is not coupled with it."""
        self._coupled = None

    def ritz(self, top: int | None = None) -> None:
        """Rayleigh–Ritz: ``theta`` and ``Y``, all or the ``top`` leading pairs."""
        few = None if top is None or 5 * top > self.m else top
        if self.Y.shape != (self.m, few or self.m):  # the basis has changed, or more of it is asked for
            self.theta, self.Y = eigh(symmetric(self._H[: self.m, : self.m]), few)

    def residuals(self, k: int) -> Array:
        """Residual norms of the k leading pairs, as the chain implies them."""
        width = self._R.shape[1]
        return norms(self._R @ self.Y[self.m - width : self.m, :k]) if self._R.shape[0] else self.place.zeros((k,))

    def growth(self, k: int) -> float:
        """By how much the k-th Ritz value has grown with the block that came last."""
        before = self.m - self._R.shape[1]
        if before < k:
            return float("inf")
        theta = np.linalg.eigvalsh(to_numpy(symmetric(self._H[:before, :before])))
        return float(self.theta[k - 1]) - float(theta[before - k])

    def vectors(self, k: int) -> Array:
        """The k leading Ritz vectors in float64, (p, k); those that were made before are not made again."""
        of, made = self._made
        first = 0 if of is not self.Y else made.shape[1]
        if first < k:
            more = self._combined(self.Y[:, first:k], wide)
            made = more if not first else self.place.xp.concat([made, more], axis=1)
            self._made = self.Y, made
        return made[:, :k]

    def pairs(self, k: int) -> tuple[Array, Array]:
        """The k leading Ritz vectors in float64 and their images, both (p, k), orthonormal as the basis is."""
        V, (following, y) = self.vectors(k), self.leaving(k)
        if not following.shape[1]:
            return V, V * self.theta[:k]
        image = combine(wide(following), y)
        image += V * self.theta[:k]
        return V, image

    def leaving(self, k: int) -> tuple[Array, Array]:
        """What images of the k leading Ritz vectors have outside of the basis: a block (p, l), and how much (l, k)."""
        return self._following, self._R @ self.Y[self.m - self._R.shape[1] : self.m, :k]

    def _combined(self, Y: Array, made: Callable[[Array], Array]) -> Array:
        """``V Y``, V as ``made`` of it; Y is in that precision."""
        if isinstance(self._V, np.ndarray):
            from ritz._core.long import combine_rows  # by chains alone

            return combine_rows(self._V[: self.m], Y)
        turn, step = self.place.xp.matrix_transpose, max(16, RESTART_BYTES // (8 * self.p))
        parts = (slice(first, min(first + step, self.m)) for first in range(0, self.m, step))
        return sum(combine(made(turn(self._V[some, :])), Y[some, :]) for some in parts)

    def restart(self, keep: int) -> None:
        """Keep the ``keep`` leading Ritz vectors only; the next block is coupled with all of them."""
        xp = self.place.xp
        Y = self.own(self.Y[:, :keep])
        kept = self._combined(Y, self.own)
        if self._coupled is not None:
            width = self._R.shape[1]
            self._coupled = (0, keep, xp.matrix_transpose(self._R @ self.Y[self.m - width : self.m, :keep]))
        self._V[:keep, :] = xp.matrix_transpose(kept)
        self.m, self._made = keep, (None, None)
        self._H[:, :] = 0.0
        for i in range(keep):
            self._H[i, i] = self.theta[i]
        self.theta, self.Y = self.theta[:keep], self.place.eye(keep)
