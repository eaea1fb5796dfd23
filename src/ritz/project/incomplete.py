"""Coordinates of rows with gaps: the conditional expectation of what is missing, and how sure it is.

A row in the units of the fit, z = (x − μ)/s, is a signal and noise, z = V c + ε with c ~ N(0, diag(γ)), ε ~ N(0, σ²I).
With o the observed and m the missing entries of the row, G_m = V_mᵀV_m (k×k) and shrinkage D = diag(dᵢ), 0 ≤ dᵢ < 1,

    (I − D^½ G_m D^½) y = D^½ V_oᵀ z_o,      c = D^½ y,      ẑ_m = V_m c                 [Tipping & Bishop 1999]

which is c = (V_oᵀV_o + D⁻¹ − I)⁻¹ V_oᵀ z_o: ridge regression of the row on the axes. It solves ẑ_m = (V D Vᵀ ẑ)_m, the
fixed point of regularised iterative PCA [Josse & Husson 2012], for the whole row at once. A complete row needs none.

    error of c      C = B Γ Bᵀ + σ² Q G_o Q,   Q = D^½ (I − D^½ G_m D^½)⁻¹ D^½,   B = I − Q G_o
    of a score      u_mᵀ (V_m C V_mᵀ + σ²I) u_m      u the axis in the units of the fit;  0 for a complete row

Rows that share a pattern of gaps share a system; systems are solved in stacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Block, RowBlocks, blocks_of
from ritz.data.passes.completed import CompletedBlocks
from ritz.data.passes.observed import refuse_empty, refuse_infinite
from ritz.project.linear import LinearMap, result_dtype

__all__ = ["Filler", "IncompleteMap", "Uncertainty"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Numbers in a stack of k×k systems: as large as is still fast, far below a block of rows.
STACK = 1 << 21
#: Shrinkage stays below 1 by this much: rows that observe fewer entries than there are axes keep one answer.
LEAST_RIDGE = 1e-10
#: The same where errors are computed, which square the inverse of a system.
ERROR_RIDGE = 1e-6


@dataclass(frozen=True)
class Filler:
    """What fills the gaps of a row: location, units, axes, shrinkage and noise. Nothing in it grows with n."""

    shift: Vector  # (d,) taken off first, so that large means cost no digits
    offset: Vector  # (d,) μ = shift + offset
    scale: Vector  # (d,) units of z
    vectors: Matrix  # (d, k)
    shrink: Vector  # (k,) D
    signal: Vector  # (k,) γ: variance of the signal along each axis
    noise: float  # σ²
    names: Any = field(default=None, compare=False)  # of the columns, for messages

    @property
    def k(self) -> int:
        """Axes."""
        return int(self.vectors.shape[1])

    @property
    def mean(self) -> Vector:
        """μ."""
        return self.shift + self.offset

    def standard(self, x: NDArray[Any]) -> tuple[Matrix, NDArray[np.bool_]]:
        """Rows as z, zero where missing, and where that is."""
        gone = np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
        with np.errstate(invalid="ignore", over="ignore"):
            z = ((np.asarray(x, np.float64) - self.shift) - self.offset) / self.scale
        z[gone] = 0.0
        return z, gone

    def gaps(self, x: NDArray[Any], start: int) -> NDArray[np.bool_]:
        """Where rows have gaps; what cannot be placed is refused by number."""
        gone = np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
        rows = np.flatnonzero(gone.any(axis=1))
        self._refuse(x[rows], gone[rows], rows, start)
        return gone

    def coefficients(self, z: Matrix, gone: NDArray[np.bool_]) -> Matrix:
        """c of every row; ``z`` is zero where ``gone``."""
        c = z @ self.vectors
        if self.k == 0:
            return c
        holes = gone.any(axis=1)
        rows, half = np.flatnonzero(holes), np.sqrt(self.shrink)
        for chunk in _parts(len(rows), self.k * self.k):
            patterns, which = _patterns(gone[rows[chunk]])
            right = c[rows[chunk]] * half
            c[rows[chunk]] = np.linalg.solve(self._systems(patterns)[which], right[:, :, None])[:, :, 0] * half
        c[~holes] *= self.shrink
        return c

    def _systems(self, patterns: NDArray[np.bool_]) -> NDArray[Any]:
        """I − D^½ G_m D^½ of every pattern of gaps, (patterns, k, k)."""
        return np.eye(self.k) - products(patterns, self.vectors * np.sqrt(self.shrink))

    def fill(self, x: NDArray[Any], start: int | None = None, dtype: Any = None) -> NDArray[Any]:
        """Rows without gaps, in their own precision; a row with nothing observed is refused if its number is known."""
        dtype = result_dtype(x.dtype) if dtype is None else np.dtype(dtype)
        if self.k == 0 and x.dtype.kind == "f" and (plain := self._with_means(x, start, dtype)) is not None:
            return plain
        rows = np.flatnonzero(np.isnan(x).any(axis=1)) if x.dtype.kind == "f" else np.zeros(0, int)
        if not len(rows):
            return x.astype(dtype, copy=False)
        z, gone = self.standard(x[rows])
        if start is not None:
            self._refuse(x[rows], gone, rows, start)
        fitted = self.coefficients(z, gone) @ self.vectors.T
        filled = (fitted * self.scale + self.offset) + self.shift
        out = x.astype(dtype)
        out[rows] = np.where(gone, filled, out[rows])
        return out

    def _with_means(self, x: NDArray[Any], start: int | None, dtype: np.dtype[Any]) -> NDArray[Any] | None:
        """Rows whose gaps hold the means, in one pass over what is gone; None where something is to be refused."""
        gone = np.isnan(x)
        if not gone.any():
            return x.astype(dtype, copy=False)
        out = x.astype(dtype)
        np.copyto(out, self.offset + self.shift, where=gone, casting="same_kind")
        if start is None:
            return out
        with np.errstate(over="ignore", invalid="ignore"):
            finite = bool(np.isfinite(out.sum()))
        return out if finite and not gone.all(axis=1).any() else None

    def _refuse(self, x: NDArray[Any], gone: NDArray[np.bool_], rows: NDArray[np.intp], start: int) -> None:
        """Refuse infinite entries and rows without any, by number."""
        bare = rows[gone.all(axis=1)]
        if len(bare):
            raise refuse_empty([int(i) + start for i in bare[:3]], len(bare))
        at = np.argwhere(np.isinf(x))
        if len(at):
            raise refuse_infinite([(int(rows[i]) + start, int(j)) for i, j in at[:3]], len(at), self.names)

    def errors(self, gone: NDArray[np.bool_]) -> NDArray[Any]:
        """C, (rows, k, k): mean square error of the coefficients of rows with these gaps."""
        patterns, which = _patterns(gone)
        careful = replace(self, shrink=np.minimum(self.shrink, 1 - ERROR_RIDGE))
        half, one = np.sqrt(careful.shrink), np.eye(self.k)
        Q = np.linalg.inv(careful._systems(patterns)) * half[:, None] * half
        QG = Q @ (one - products(patterns, self.vectors))
        B = one - QG
        C = (B * self.signal) @ np.swapaxes(B, 1, 2) + self.noise * (QG @ Q)
        return C[which]


def _patterns(gone: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """The distinct patterns of gaps and the pattern of every row; the rows themselves where few repeat."""
    packed = np.ascontiguousarray(np.packbits(gone, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if 2 * len(first) > len(gone):
        return gone, np.arange(len(gone))
    return gone[first], which


def products(gone: NDArray[np.bool_], U: Matrix, W: Matrix | None = None) -> NDArray[Any]:
    """U_mᵀW_m (rows, p, k) for every row's missing entries m, one product of the mask for each column of U."""
    W = U if W is None else W
    mask = gone.astype(np.float64)
    out = np.empty((len(gone), U.shape[1], W.shape[1]))
    for s in range(U.shape[1]):
        out[:, s, :] = mask @ (W * U[:, s : s + 1])
    return out


def _parts(rows: int, size: int) -> list[slice]:
    """Pieces of rows that fit a stack, ``size`` numbers a row."""
    size = max(1, STACK // max(1, size))
    return [slice(a, min(a + size, rows)) for a in range(0, rows, size)]


@dataclass(frozen=True)
class Uncertainty:
    """What the coordinates of rows owe to their gaps.

    ``errors`` are standard errors: how far, under the model, a score lies from the one the complete row would have.
    """

    observed: NDArray[np.int64]  # (n,) entries that each row has
    errors: NDArray[np.float64]  # (n, k) standard errors of the scores; 0 for complete rows
    covariance: NDArray[np.float64] | None = None  # (n, k, k) of the scores, where asked for


@dataclass(frozen=True)
class IncompleteMap:
    """Coordinates of rows that may have gaps: filled, then projected as any row is."""

    filler: Filler
    linear: LinearMap

    def completed(self, X: Any) -> CompletedBlocks:
        """The rows, in memory or streamed, as blocks without gaps."""
        blocks: RowBlocks = blocks_of(X)
        return CompletedBlocks(blocks, self.filler.fill, result_dtype(blocks.dtype))

    def forward(self, X: Any) -> NDArray[Any]:
        """Scores, (n, k); those of a complete row are the ordinary ones."""
        return self.linear.forward(X if blocks_of(X).sparse else self.completed(X))

    def batches(self, X: Any) -> Iterator[NDArray[Any]]:
        """Scores of the rows, some at a time, in row order."""
        return self.linear.batches(X if blocks_of(X).sparse else self.completed(X))

    def backward(self, T: Any) -> NDArray[Any]:
        """Rows from coordinates."""
        return self.linear.backward(T)

    def impute(self, X: Any) -> NDArray[Any]:
        """The rows with their gaps filled, (n, d); what was observed is not touched."""
        done = self.completed(X)
        rows = done.map_rows(lambda _, block: block.values, np.empty(done.shape, done.dtype))
        if not np.isfinite(rows).all():  # gaps are gone: infinities in rows that had none
            at = np.argwhere(np.isinf(rows))
            raise refuse_infinite([(int(i), int(j)) for i, j in at[:3]], len(at), self.filler.names)
        return rows

    def impute_errors(self, X: Any) -> NDArray[np.float64]:
        """Standard errors of the filled entries, (n, d); 0 where observed."""
        blocks = blocks_of(X)
        return blocks.map_rows(lambda _, block: self._entry_errors(block), np.zeros(blocks.shape))

    def uncertainty(self, X: Any, covariance: bool = False) -> Uncertainty:
        """Standard errors of scores and the count of observed entries, row by row."""
        blocks = blocks_of(X)
        n, p = blocks.shape[0], self.linear.components.shape[0]
        wide = blocks.map_rows(lambda _, block: self._score_errors(block, covariance),
                               np.zeros((n, 1 + p * (p if covariance else 1))))  # fmt: skip
        observed, rest = wide[:, 0].astype(np.int64), wide[:, 1:]
        if not covariance:
            return Uncertainty(observed, np.sqrt(rest))
        C = rest.reshape(n, p, p)
        return Uncertainty(observed, np.sqrt(np.maximum(np.einsum("ijj->ij", C), 0.0)), C)

    def _axes(self) -> Matrix:
        """(d, p): what a unit of z in each column adds to each score."""
        U = np.asarray(self.linear.components, np.float64).T * self.filler.scale[:, None]
        U = U if self.linear.scale is None else U / np.asarray(self.linear.scale, np.float64)[:, None]
        return U if self.linear.spread is None else U / np.asarray(self.linear.spread, np.float64)

    def _score_errors(self, block: Block, covariance: bool) -> Matrix:
        """Observed count and variances (or covariances) of the scores of a block."""
        x = np.asarray(block.values)
        gone = self.filler.gaps(x, block.start)
        rows = np.flatnonzero(gone.any(axis=1))
        U, V = self._axes(), self.filler.vectors
        p, k = U.shape[1], V.shape[1]
        out = np.zeros((len(x), 1 + p * (p if covariance else 1)))
        out[:, 0] = x.shape[1] - gone.sum(axis=1)
        for chunk in _parts(len(rows), max(p if covariance else 1, k) * max(p if covariance else 1, k)):
            some = gone[rows[chunk]]
            C = self.filler.errors(some)
            if covariance:
                A = products(some, U, V)
                out[rows[chunk], 1:] = (
                    A @ C @ np.swapaxes(A, 1, 2) + self.filler.noise * products(some, U)
                ).reshape(len(some), -1)  # fmt: skip
                continue
            mask = some.astype(np.float64)
            for s in range(p):
                a = mask @ (V * U[:, s : s + 1])
                out[rows[chunk], 1 + s] = np.einsum("ri,rij,rj->r", a, C, a)
            out[rows[chunk], 1:] += self.filler.noise * (mask @ np.square(U))
        return np.maximum(out, 0.0) if not covariance else out

    def _entry_errors(self, block: Block) -> Matrix:
        x = np.asarray(block.values)
        gone = self.filler.gaps(x, block.start)
        rows = np.flatnonzero(gone.any(axis=1))
        V, out = self.filler.vectors, np.zeros(x.shape)
        for chunk in _parts(len(rows), x.shape[1] * max(1, self.filler.k)):
            some = gone[rows[chunk]]
            C = self.filler.errors(some)
            variance = np.einsum("rdi,di->rd", V @ C, V) + self.filler.noise
            out[rows[chunk]] = np.where(some, np.sqrt(np.maximum(variance, 0.0)) * self.filler.scale, 0.0)
        return out
