"""Rows of a linear method in memory, to be permuted, cut and drawn again.

    A (m×d) = (X − 1μᵀ)D_s⁻¹,   M = AᵀA or AAᵀ, the smaller one
    permuted     every column of A by itself; random signs where columns are not centred
    bootstrap    rows with counts c ~ multinomial: in the coordinates Z = AV the axes of the sample are the unit
                 vectors, so VᵀV_b is the leading block of the eigenvectors of Zᵀ(diag c − ccᵀ/m)Z  [Fisher 2016]

Column scales are part of the question and stay as they are when rows are drawn again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.subset import sure_pairs
from ritz._core.syrk import add_product
from ritz._core.tolerance import CONSTANT
from ritz.rank.shares import Floats

__all__ = ["Draws", "LinearSample", "constant_columns", "drawn_axes", "rows_for", "rows_words", "smaller_spectrum"]

#: Operations for one spectrum of a sample, rows that are looked at in any case, and entries that are held.
WORK, LEAST_ROWS, ENTRIES = 1e10, 200, 2e7
#: Coordinates that a bootstrap turns: what lies beyond is not among the leading axes.
COORDINATES = 400
#: Rows that are gathered at a time, which stay in the cache, and multiplications of a draw above which it is float32.
GATHER, NARROW = 512, 2e7


def rows_for(n: int, d: int, most: int) -> int:
    """How many of n rows with d columns a rule looks at: ``most``, fewer of wide tables."""
    least = min(n, LEAST_ROWS)
    by_work = WORK / (2.0 * d * d) if WORK / (2.0 * d * d) >= d else np.sqrt(WORK / (2.0 * d))
    return int(max(least, min(n, most, by_work, ENTRIES / d)))


def rows_words(m: int, n: int) -> str:
    """How the rows that were looked at are named."""
    return f"all {n:,} rows" if m >= n else f"looked at {m:,} of {n:,} rows"


def _centred(X: Floats) -> Floats:
    """Rows about their mean; taken off twice, since a large mean is rounded."""
    A = X - X.mean(axis=0)
    return np.asarray(A - A.mean(axis=0))


def constant_columns(X: Floats) -> NDArray[np.bool_]:
    """(d,) columns that do not vary, up to their own rounding."""
    A = _centred(X)
    spread = np.sqrt(np.einsum("ij,ij->j", A, A) / max(len(X) - 1, 1))
    return np.asarray(spread <= CONSTANT * 2.0**-53 * np.abs(X.mean(axis=0)))


def smaller_spectrum(A: Floats) -> Floats:
    """Eigenvalues of AᵀA that the shape lets differ from zero, decreasing."""
    M = A.T @ A if A.shape[1] <= A.shape[0] else A @ A.T
    return np.maximum(np.linalg.eigvalsh(M)[::-1], 0.0)


class LinearSample:
    """Some rows of PCA or SVD.

    Parameters
    ----------
    X : (m, d) float64
        Rows, not yet centred.
    of : int
        How many rows the table has.
    center, scale : bool
        As in the fit.
    """

    def __init__(self, X: Floats, of: int, *, center: bool, scale: bool) -> None:
        self.center, self.of = center, of
        still = constant_columns(X)
        about = _centred(X)
        A = about if center else np.array(X, np.float64)
        kept = ~still if center else np.any(X != 0, axis=0)  # columns that have nothing here are no part of it
        self._A = A[:, kept]
        if scale:  # by the deviation about the mean, with and without centring, as the fit does
            spread = np.sqrt(np.einsum("ij,ij->j", about, about) / max(len(X) - 1, 1))
            self._A = self._A / np.where(still, 1.0, spread)[kept]
        self.shape = (int(self._A.shape[0]), int(self._A.shape[1]))
        self.whole = len(X) >= of
        self.words = rows_words(len(X), of)
        self.drawn = "permutations" if center else "draws of random signs"

    @cached_property
    def _total(self) -> float:
        return max(float(np.einsum("ij,ij->", self._A, self._A)), 1e-300)

    @cached_property
    def _by_column(self) -> NDArray[np.float32]:
        """Columns to permute, over √total; draws differ by far more than float32 rounds."""
        return np.ascontiguousarray(self._A.T / np.sqrt(self._total), np.float32)

    def cost(self) -> float:
        """Floating-point operations of one spectrum."""
        m, d = self.shape
        return 2.0 * m * d * min(m, d) + 20.0 * m * d

    def values(self) -> Floats:
        """Eigenvalues as shares of their total, decreasing."""
        m, d = self.shape
        return smaller_spectrum(self._A)[: min(m - self.center, d)] / self._total

    def null(self, rng: np.random.Generator) -> Floats:
        """Eigenvalues of the columns permuted, or with random signs where they are not centred."""
        columns, (m, d) = self._by_column, self.shape
        if self.center:
            drawn = np.empty_like(columns)  # as ``permuted``, a quarter faster; there may be no columns that vary
            for j, column in enumerate(columns):
                drawn[j] = column[rng.permutation(m)]
        else:
            drawn = np.where(rng.integers(0, 2, columns.shape, dtype=np.int8) == 1, columns, -columns)
        M = drawn @ drawn.T if d <= m else drawn.T @ drawn
        return np.maximum(np.linalg.eigvalsh(M.astype(np.float64))[::-1], 0.0)[: min(m - self.center, d)]

    @cached_property
    def _coordinates(self) -> Floats:
        """Z = AV, the coordinates of the rows on the axes, by decreasing variance."""
        A, (m, d) = self._A, self.shape
        top = min(m, d, COORDINATES)
        if d <= m:
            _, V = sure_pairs(A.T @ A, top)
            return np.asarray(A @ V[:, ::-1])
        values, U = sure_pairs(A @ A.T, top)
        return np.asarray(U[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))

    def turned(self, rng: np.random.Generator, k: int) -> Floats:
        """(k, k) VᵀV_b for rows drawn with replacement."""
        return self._draws.turned(rng, k)

    @cached_property
    def _draws(self) -> Draws:
        return Draws(self._coordinates, center=self.center)

    def table(self) -> Floats:
        """The rows in the units of the analysis, about their mean where it is taken off."""
        return self._A


def drawn_axes(Z: Floats, rng: np.random.Generator, k: int, *, center: bool) -> Floats:
    """The leading block of the eigenvectors of rows drawn with replacement, in coordinates on the sample's axes."""
    return Draws(Z, center=center).turned(rng, k)


class Draws:
    """Rows Z (m, r) in coordinates on the axes of the sample, to be drawn from again and again.

    Of the rows of a draw, 0.63 m of them are different; only those are multiplied. In large samples products are
    float32, of coordinates in units of their own spread: each entry of G is then off by 1e-7 of what it is made of,
    where draws differ by 1/√m of it.
    """

    def __init__(self, Z: Floats, *, center: bool) -> None:
        m, r = Z.shape
        self.center, self.narrow = center, float(m) * r * r > NARROW
        self.unit = np.sqrt(np.einsum("ij,ij->j", Z, Z) / max(m, 1)) if self.narrow else np.ones(r)
        self.unit[self.unit == 0] = 1.0
        self.Z: NDArray[Any] = (Z / self.unit).astype(np.float32) if self.narrow else Z

    def turned(self, rng: np.random.Generator, k: int) -> Floats:
        """(k, k) of one draw."""
        m, r = self.Z.shape
        counts = rng.multinomial(m, np.full(m, 1.0 / m))
        rows = np.flatnonzero(counts)
        root = np.sqrt(counts[rows]).astype(self.Z.dtype)
        G: NDArray[Any] = np.zeros((r, r), self.Z.dtype, order="F")
        sums = np.zeros(r)
        for first in range(0, len(rows), GATHER):
            piece, part = self.Z[rows[first : first + GATHER]], root[first : first + GATHER]
            piece *= part[:, None]
            add_product(piece, G, lower=True)
            sums += part @ piece
        G = G.astype(np.float64)
        if self.center:
            G -= np.outer(sums / m, sums)
        G *= self.unit
        G *= self.unit[:, None]
        _, V = sure_pairs(G, min(k, r))
        return np.asarray(V[:, ::-1][:k])
