"""Euclidean distances of vectors: products in float32 that say whom not to look at, differences in float64.

With z = fl₃₂(s(x − μ)), N = ‖z‖² and ĝ the product of two rows as BLAS computes it, in whatever order,

    s²‖xᵢ − xⱼ‖² ≥ (1 − c)Nⱼ − 2ĝᵢⱼ + (1 − c)Nᵢ − a,          c = γ(d + 16),  γ(m) = mu/(1 − mu)

for |ĝ − z·z'| ≤ γ(d)‖z‖‖z'‖ ≤ γ(d)(N + N')/2 [Hig02, §3.1], rounding of rows to z moves a squared distance by at most
4u(N + N'), and the sum of key and norm by 4u(N + N'); a covers what underflows. The key is the part that depends on j.
The mean μ and the power of two s cost no digits: x − μ is rounded relative to itself. Distances that count are
√Σ(xᵢ − xⱼ)² in float64, off by at most (d + 2)u relative to themselves, whatever the mean of the rows.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.graphs.search.screen import Screen

__all__ = ["Euclidean", "Products", "distance_rounding", "pair_distances", "row_bytes"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Entries of differences that are squared at a time.
PIECE = 1 << 18
#: Magnitudes of differences whose squares neither overflow nor lose digits by underflow.
SMALLEST, LARGEST = 2.0**-480, 2.0**480
#: Largest scaled entry that float32 keys may have: squares and sums of them stay far from overflow.
NARROW = 2.0**40


def distance_rounding(d: int) -> float:
    """How far a computed distance can be from the true one, relative to it."""
    return (d + 8) * 2.0**-53


class Euclidean:
    """Rows of numbers with one origin and one unit.

    Parameters
    ----------
    X : ndarray (n, d)
    keep : bool
        Whether rows in float32 are kept; otherwise they are made for each tile.
    """

    def __init__(self, X: NDArray[Any], keep: bool = True) -> None:
        self.X, (self.n, self.d) = X, X.shape
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean = X.mean(axis=0, dtype=np.float64)
            largest = max((float(np.abs(block - self.mean).max()) for block in _blocks(X)), default=0.0)
        if not largest < 2.0**1020:
            raise InputError("differences of rows must be finite numbers", received="entries near the largest float64",
                             hint="divide the columns by their size")  # fmt: skip
        self.scale = 2.0 ** -np.frexp(largest)[1] if largest > 0 else 1.0
        #: Power of two that differences are multiplied by before they are squared; 1 unless squares would overflow.
        self.unit = 1.0 if SMALLEST < largest < LARGEST or largest == 0 else self.scale
        self.kept = self.scaled(X, np.float32) if keep else None

    def scaled(self, X: NDArray[Any], dtype: Any) -> NDArray[Any]:
        """``s(x − μ)``, (m, d)."""
        Z = np.empty(X.shape, dtype)
        step = max(1, PIECE // max(self.d, 1))
        for start in range(0, len(X), step):
            block = X[start : start + step] - self.mean
            np.multiply(block, self.scale, out=Z[start : start + step], casting="same_kind")
        return Z

    def screen(self, Q: NDArray[Any] | None = None) -> Products:
        """Keys of rows with themselves, or of new rows with them."""
        wide = Products(self, Q, np.float64)
        if Q is not None and len(Q):
            reach = max(float(np.abs(block - self.mean).max()) for block in _blocks(Q)) * self.scale
            if reach > NARROW:
                return wide
        narrow = Products(self, Q, np.float32)
        narrow.wide = wide
        return narrow


def _blocks(X: NDArray[Any]) -> Any:
    step = max(1, PIECE // max(X.shape[1], 1))
    return (X[start : start + step] for start in range(0, len(X), step))


class Products(Screen):
    """Keys ``(1 − c)Nⱼ − 2ĝᵢⱼ`` in one precision."""

    def __init__(self, space: Euclidean, Q: NDArray[Any] | None, dtype: Any) -> None:
        self.space, self.dtype = space, np.dtype(dtype)
        self.Q = space.X if Q is None else Q
        self.m, self.n, self.itemsize = len(self.Q), space.n, self.dtype.itemsize
        self.kept = space.kept if self.dtype == np.float32 else None
        self.queries = self.kept if Q is None else None
        mu = (space.d + 16) * float(np.finfo(self.dtype).eps) / 2
        self.c = mu / (1 - mu) if mu < 0.5 else np.inf  # more columns than float32 can sum: everything is let through
        self._scratch = threading.local()
        self._norms: tuple[NDArray[Any], Floats] | None = None

    @property
    def norms(self) -> tuple[NDArray[Any], Floats]:
        """``(1 − c)Nⱼ`` of the columns in the precision of keys, and ``(1 − c)Nᵢ`` of the rows."""
        if self._norms is None:
            shrink = max(0.0, 1 - self.c)
            cols = shrink * self._squares(self.space.X, self.kept)
            rows = cols if self.Q is self.space.X else shrink * self._squares(self.Q, None)
            self._norms = cols.astype(self.dtype), rows
        return self._norms

    def _squares(self, X: NDArray[Any], kept: NDArray[Any] | None) -> Floats:
        sums, step = np.empty(len(X)), max(1, PIECE // max(self.space.d, 1))
        for start in range(0, len(X), step):
            at = slice(start, start + step)
            Z = (self.space.scaled(X[at], self.dtype) if kept is None else kept[at]).astype(np.float64)
            np.einsum("ij,ij->i", Z, Z, out=sums[at])
        return sums

    def tile(self, rows: Any, cols: slice) -> NDArray[Any]:
        left = self.space.scaled(self.Q[rows], self.dtype) if self.queries is None else self.queries[rows].copy()
        right = self.space.scaled(self.space.X[cols], self.dtype) if self.kept is None else self.kept[cols]
        left *= self.dtype.type(-2)
        keys = np.matmul(left, right.T, out=self._memory(len(left), len(right)))
        keys += self.norms[0][cols]
        return keys

    def _memory(self, rows: int, cols: int) -> NDArray[Any]:
        """Room for a tile, of each thread its own and used again: fresh pages cost as much as the product."""
        held = getattr(self._scratch, "held", None)
        if held is None or held.size < rows * cols:
            held = self._scratch.held = np.empty(rows * cols, self.dtype)
        return np.asarray(held[: rows * cols].reshape(rows, cols))

    def reach(self, rows: Any, distances: Floats) -> Floats:
        if not np.isfinite(self.c):
            return np.full(len(distances), np.inf)
        space = self.space
        with np.errstate(over="ignore"):
            far = np.square(distances * space.scale * (1 + distance_rounding(space.d)))
        bound = far - self.norms[1][rows] + space.d * 2.0**-120
        return bound + 4 * np.finfo(np.float64).eps * (far + self.norms[1][rows])

    def inside(self, rows: Any, distances: Floats) -> Floats:
        if not np.isfinite(self.c):
            return np.full(len(distances), -np.inf)
        space, own = self.space, self.norms[1][rows]
        with np.errstate(over="ignore"):
            far = np.square(distances * space.scale * (1 - distance_rounding(space.d)))
        # The key is the least that the distance can be: by as much again it can be more.
        lost = 2 * self.c / (1 - self.c) * (own + float(self.norms[0].max(initial=0)))
        return far - own - 1.01 * lost - space.d * 2.0**-120 - 4 * np.finfo(np.float64).eps * (far + own)

    def lengths(self, rows: Any, keys: NDArray[Any]) -> Floats:
        far = keys + self.norms[1][rows][:, None]
        return np.sqrt(np.maximum(far, 0.0, out=far), out=far) / self.space.scale

    def content(self, of: str, rows: Places) -> list[bytes]:
        return row_bytes(self.Q if of == "rows" else self.space.X, rows)

    def exact(self, rows: Places, cols: Places, keys: NDArray[Any]) -> Floats:
        return pair_distances(self.Q, self.space.X, rows, cols, self.space.unit)


def row_bytes(X: NDArray[Any], rows: Places) -> list[bytes]:
    """The bytes of rows as float64, with one zero."""
    return [(X[i].astype(np.float64) + 0.0).tobytes() for i in rows]


def pair_distances(Q: NDArray[Any], X: NDArray[Any], rows: Places, cols: Places, unit: float = 1.0) -> Floats:
    """``√Σ(q − x)²`` of pairs in float64, (len(rows),); the same whichever of the two comes first."""
    out, step = np.empty(len(rows)), max(1, PIECE // max(X.shape[1], 1))
    for start in range(0, len(rows), step):
        at = slice(start, start + step)
        gap = Q[rows[at]].astype(np.float64, copy=False) - X[cols[at]]
        if unit != 1.0:
            gap *= unit
        np.einsum("ij,ij->i", gap, gap, out=out[at])
    np.sqrt(out, out=out)
    if unit != 1.0:
        out /= unit
    return out
