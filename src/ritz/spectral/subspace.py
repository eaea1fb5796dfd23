"""Rayleigh–Ritz on a growing subspace.

    V (p×m) orthonormal,  H = VᵀMV = Y Θ Yᵀ,   Ritz pairs (θ, V y),   residuals  R = (MV) Y − (V Y) Θ

``MV`` is kept, so residuals cost no product with M. A restart replaces V by its leading Ritz vectors. The small
eigenproblem, m³, is solved when somebody looks; a long chain of thin blocks is looked at now and then. Basis vectors
are held as rows: a block of them is contiguous in memory. A ``narrow`` space is held in float32, V alone or with its
image: a quarter or half of the memory, half the time; its residuals are those that the chain of blocks implies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.linalg import HOST, Array, Place, combine, eigh, inner, norms, root, symmetric, to_numpy, wide

__all__ = ["Subspace"]

#: Bytes of basis vectors that are widened to float64 at a time, on the host and on a device.
WIDE_BYTES, WIDE_THERE = 1 << 25, 1 << 29


class Subspace:
    """An orthonormal basis with its image under M."""

    def __init__(
        self, p: int, capacity: int, place: Place = HOST, *, narrow: bool = False, images: bool = True
    ) -> None:
        self.p, self.capacity, self.place, self.m, self.narrow = p, capacity, place, 0, narrow
        self.xp = place.xp
        self._float = np.float32 if narrow else np.float64
        self._V = place.empty((capacity, p), self._float)
        self._MV: Any = place.empty((capacity, p), self._float) if images else None
        self._H = place.zeros((capacity, capacity))
        self.theta: Array = place.empty((0,))
        self.Y: Array = place.empty((0, 0))
        self._last: Array = None
        self._corner: Array = None

    @property
    def V(self) -> Array:
        """The basis, (p, m)."""
        return self.xp.matrix_transpose(self._V[: self.m, :])

    @property
    def MV(self) -> Array:
        """Its image, (p, m)."""
        return self.xp.matrix_transpose(self._MV[: self.m, :])

    def room(self) -> int:
        """Columns that still fit."""
        return self.capacity - self.m

    def extend(self, Q: Array, MQ: Array, *, look: bool = True, rough: bool = False) -> None:
        """Add orthonormal directions Q, orthogonal to the basis, and their images; then Rayleigh–Ritz, if asked.

        ``rough``: MQ is less accurate than the images before, so that VᵀMQ is taken from those, (MV)ᵀQ.
        """
        a, b = self.m, self.m + Q.shape[1]
        turn = self.xp.matrix_transpose
        MQ = self.own(MQ)
        self._V[a:b, :] = turn(self.own(Q))
        if self._MV is not None:
            self._MV[a:b, :] = turn(MQ)
        self.m = b
        corner = inner(self.V, MQ)  # VᵀMQ
        if rough and a:
            before = self.xp.matrix_transpose(self._MV[:a, :])
            corner = self.xp.concat([inner(before, self.own(Q)), corner[a:, :]], axis=0)
        self._last, self._corner = MQ, corner
        corner = self.xp.asarray(corner, dtype=self.xp.float64)
        self._H[:b, a:b] = corner
        self._H[a:b, :b] = turn(corner)
        if look:
            self.look()

    def look(self) -> None:
        """Rayleigh–Ritz: θ and Y of all directions so far."""
        if self.Y.shape[0] != self.m:
            self.theta, self.Y = eigh(symmetric(self._H[: self.m, : self.m]))

    def largest(self) -> float:
        """The largest Ritz value, without vectors."""
        return float(np.linalg.eigvalsh(to_numpy(symmetric(self._H[: self.m, : self.m])))[-1])

    def own(self, block: Array) -> Array:
        """A block in the precision of the basis."""
        return self.place.array(block, self._float)

    def remainder(self) -> Array:
        """``(I − VVᵀ)MQ`` of the block added last: the directions in which a Krylov space goes on, (p, l)."""
        return self._last - combine(self.V, self._corner)

    def chain_residuals(self, rest: Array, k: int) -> Array:
        """Residual norms of the k leading pairs while the space is one chain: ‖rest·y‖, y the last rows of Y.

        Every earlier block is mapped into the space itself, so only the last one leaves it. No long product is needed.
        A thick restart keeps the chain: what leaves the Ritz vectors that are kept lies in the block that follows.
        """
        width = rest.shape[1]
        y = self.Y[self.m - width : self.m, :k]
        square = self.xp.asarray(inner(rest, rest), dtype=self.xp.float64)
        return self.xp.sqrt(self.xp.maximum(self.xp.sum(y * (square @ y), axis=0), self.place.zeros(k)))

    def vectors(self, k: int) -> Array:
        """The k leading Ritz vectors, (p, k)."""
        return self.xp.asarray(combine(self.V, self.own(self.Y[:, :k])), dtype=self.xp.float64)

    def pairs(self, k: int) -> tuple[Array, Array]:
        """The k leading Ritz vectors, orthonormal to float64, and their images, both (p, k)."""
        V, MV = self._wide(self._V, k), self._wide(self._MV, k)
        square = symmetric(inner(V, V))
        return root(square, V), root(square, MV)

    def chained(self, rest: Array, k: int) -> tuple[Array, Array]:
        """``pairs`` while the space is one chain, whose images need not be held: M V y = θ V y + rest·y_last."""
        V, width = self._wide(self._V, k), rest.shape[1]
        image = V * self.theta[:k] + combine(wide(rest), self.Y[self.m - width : self.m, :k])
        square = symmetric(inner(V, V))
        return root(square, V), root(square, image)

    def _wide(self, rows: Array, k: int) -> Array:
        """Rows of the basis, or of its image, combined in float64."""
        step = max(16, (WIDE_BYTES if self.place is HOST else WIDE_THERE) // (8 * self.p))
        parts = (slice(a, min(a + step, self.m)) for a in range(0, self.m, step))
        return sum(combine(self.xp.matrix_transpose(wide(rows[some, :])), self.Y[some, :k]) for some in parts)

    def residual_block(self, k: int) -> Array:
        """``M v − θ v`` of the k leading pairs, (p, k)."""
        Y = self.Y[:, :k]
        return combine(self.MV, Y) - combine(self.V, Y * self.theta[:k])

    def residuals(self, k: int) -> Array:
        """Residual norms of the k leading pairs."""
        return norms(self.residual_block(k))

    def restart(self, keep: int) -> None:
        """Keep the ``keep`` leading Ritz vectors only."""
        turn = self.xp.matrix_transpose
        Y = self.Y[:, :keep]
        self._V[:keep, :] = turn(combine(self.V, self.own(Y)))
        if self._MV is not None:
            self._MV[:keep, :] = turn(combine(self.MV, self.own(Y)))
        self.m = keep
        theta = self.theta[:keep]
        self._H[:, :] = 0.0
        for i in range(keep):
            self._H[i, i] = theta[i]
        self.theta, self.Y = theta, self.place.eye(keep)
