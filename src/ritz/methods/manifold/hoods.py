"""Neighbourhoods: how the neighbours of a row lie about it, from rows of numbers or from distances alone.

    P = [x_j − x_i]  (k×d)                          of rows of numbers
    G = PPᵀ,   g_jl = ½(d²_ij + d²_il − d²_jl)      of distances: a kernel's, of strings, or given              [Gow66]

All that local methods ask of a neighbourhood (weights, tangents, bases) depends on G alone. Of distances that no rows
in a Euclidean space have, G has negative eigenvalues; these count as zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ritz.graphs.spaces.base import Space

__all__ = ["Differences", "Grams", "Hood", "Hoods", "Measured", "Vectors", "about_new", "unit_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Magnitudes of rows whose squares, and sums of them, are far from the ends of float64.
FAR = 1e-140, 1e140


class Hood(Protocol):
    """Neighbourhoods of some rows."""

    def gram(self) -> Floats:
        """``PPᵀ`` (n, k, k)."""
        ...

    def bases(self) -> tuple[Floats, Floats]:
        """All k left singular vectors of P (n, k, k), and squares of the singular values, decreasing."""
        ...

    def tangents(self, c: int) -> tuple[Floats, Floats]:
        """The first c left singular vectors U (n, k, c), and the singular values."""
        ...


class Hoods(Protocol):
    """Neighbourhoods of n rows; ``width`` is how many numbers a neighbour takes."""

    n: int
    width: int

    def about(self, at: slice, some: Places) -> Hood:
        """Of rows ``at`` with neighbours ``some`` (m, k), about the rows themselves."""
        ...

    def centred(self, some: Places) -> Hood:
        """Neighbours ``some`` (m, k) about their mean."""
        ...


@dataclass(frozen=True, eq=False)
class Vectors:
    """Differences P (n, k, d)."""

    P: Floats

    def gram(self) -> Floats:
        """Products."""
        return np.asarray(self.P @ self.P.transpose(0, 2, 1))

    def bases(self) -> tuple[Floats, Floats]:
        """By the singular value decomposition of P, or of products where columns are more than neighbours."""
        if self.P.shape[2] > self.P.shape[1]:
            return _eigen(self.gram())
        U, s, _ = np.linalg.svd(self.P, full_matrices=True)
        return U, np.square(s)

    def tangents(self, c: int) -> tuple[Floats, Floats]:
        """As ``bases``; zeros where there are fewer columns than axes."""
        if self.P.shape[2] > self.P.shape[1]:  # k×k products are enough
            U, squares = _eigen(self.gram())
            s = np.sqrt(squares)
        else:
            U, s, _ = np.linalg.svd(self.P, full_matrices=False)
        if U.shape[2] < c:
            U = np.concatenate([U, np.zeros((*U.shape[:2], c - U.shape[2]))], axis=2)
        return U[:, :, :c], s


@dataclass(frozen=True, eq=False)
class Grams:
    """Products G (n, k, k), from distances."""

    G: Floats

    def gram(self) -> Floats:
        """Without negative eigenvalues, so that weights have equations to solve."""
        V, values = self.bases()
        return np.asarray((V * values[:, None]) @ V.transpose(0, 2, 1))

    def bases(self) -> tuple[Floats, Floats]:
        """Eigenvectors and eigenvalues."""
        return _eigen(self.G)

    def tangents(self, c: int) -> tuple[Floats, Floats]:
        """The first eigenvectors."""
        U, squares = _eigen(self.G)
        return U[:, :, :c], np.sqrt(squares)


def unit_of(X: Floats) -> float:
    """A power of two to divide rows by whose squares would leave the range of float64: weights do not see it."""
    size = max(float(np.max(X, initial=0.0)), -float(np.min(X, initial=0.0)))
    return 1.0 if size == 0 or FAR[0] <= size <= FAR[1] else math.ldexp(1.0, max(math.frexp(size)[1], -1000))


class Differences:
    """Neighbourhoods of rows of numbers X (n, d)."""

    def __init__(self, X: Floats) -> None:
        unit = unit_of(X)
        self.X, (self.n, self.width) = X if unit == 1 else X / unit, X.shape

    def about(self, at: slice, some: Places) -> Vectors:
        """Differences from the rows."""
        return Vectors(self.X[some] - self.X[at, None])

    def centred(self, some: Places) -> Vectors:
        """Differences from the mean."""
        P = self.X[some]
        return Vectors(P - P.mean(axis=1, keepdims=True))


class Measured:
    """Neighbourhoods of some rows of a space, from its distances.

    Parameters
    ----------
    space
        Rows with a distance.
    index : (n,) which of them
    """

    def __init__(self, space: Space, index: Places) -> None:
        self.space, self.index, self.n, self.width = space, index, len(index), 1

    def about(self, at: slice, some: Places) -> Grams:
        """g_jl from squared distances."""
        far = self.space.pairs(np.repeat(self.index[at], some.shape[1]), self.index[some].ravel()).reshape(some.shape)
        return Grams(about_new(self.space, far, self.index[some]))

    def centred(self, some: Places) -> Grams:
        """−½ J D² J of each neighbourhood."""
        G = -0.5 * _among(self.space, self.index[some])
        G -= G.mean(axis=1, keepdims=True)
        G -= G.mean(axis=2, keepdims=True)
        return Grams(G)


def about_new(space: Space, far: Floats, some: Places) -> Floats:
    """G (m, k, k) about points at distances ``far`` (m, k) from rows ``some`` of a space."""
    square = np.square(far)
    return np.asarray(0.5 * (square[:, :, None] + square[:, None] - _among(space, some)))


def _among(space: Space, some: Places) -> Floats:
    """Squared distances among the neighbours of each row, (m, k, k); each pair of rows is measured once."""
    m, k = some.shape
    i, j = np.triu_indices(k, 1)
    low, high = np.minimum(some[:, i], some[:, j]).ravel(), np.maximum(some[:, i], some[:, j]).ravel()
    code, where = np.unique(low.astype(np.int64) * space.n + high, return_inverse=True)
    far = np.square(space.pairs(*np.divmod(code, space.n)))
    made = np.zeros((m, k, k))
    made[:, i, j] = made[:, j, i] = far[where].reshape(m, len(i))
    return made


def _eigen(G: Any) -> tuple[Floats, Floats]:
    values, V = np.linalg.eigh(G)
    return np.ascontiguousarray(V[:, :, ::-1]), np.maximum(values[:, ::-1], 0.0)
