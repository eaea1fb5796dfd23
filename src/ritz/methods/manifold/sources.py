"""Distances of rows in tiles, as classical scaling takes them; and the constants that make them Euclidean.

    Lingoes    d'²ᵢⱼ = d²ᵢⱼ + 2c    c = −λ_min(−½JD²J)                                           i ≠ j   [Lin71]
    Cailliez   d'ᵢⱼ  = dᵢⱼ + c      c = the largest real eigenvalue of [0, 2G(D²); −I, −4G(D)]   i ≠ j   [Cai83]

with G(·) = −½ J · J. Either leaves no negative eigenvalue, and adds n − 2 dimensions at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MemoryLimitError
from ritz._core.tolerance import unit_roundoff
from ritz.graphs.search.screen import Direct
from ritz.graphs.spaces.base import Mapped, Space
from ritz.graphs.spaces.precomputed import Graph
from ritz.graphs.spaces.vectors import EuclideanRows, Powers
from ritz.operators.distances import ROWS, Gower, Squares, kept_bytes

__all__ = ["CORRECTIONS", "Distances", "constant_of", "distance_tile", "require_all"]

Floats = NDArray[np.float64]

CORRECTIONS = (None, "lingoes", "cailliez")

#: Rows up to which all eigenvalues of the matrices behind a correction are computed.
DENSE = 600
#: The share of what rounding is measured by below which a least eigenvalue counts as negative.
NEGATIVE = 1e-12


def distance_tile(space: Space, Q: Any, rows: slice, cols: slice) -> Floats:
    """Distances of some rows of Q, or of the space itself, with some rows of the space; as the space means them."""
    if isinstance(space, Mapped):
        return space.forward(distance_tile(space.inner, Q, rows, cols))
    if isinstance(space, EuclideanRows):  # differences in float64, without an array of all pairs
        from scipy.spatial.distance import cdist

        return np.asarray(cdist((space.vectors if Q is None else Q)[rows], space.vectors[cols]))
    screen = space.screen(Q)
    keys = screen.tile(rows, cols)
    if isinstance(space, Powers) or isinstance(screen, Direct):  # keys are the distances
        return np.asarray(keys, np.float64)
    m, c = keys.shape
    where = np.repeat(np.arange(rows.start, rows.stop), c), np.tile(np.arange(cols.start, cols.stop), m)
    return screen.exact(*where, keys.ravel()).reshape(m, c)


def require_all(space: Space) -> None:
    """Refuse a sparse graph where the distance of each row to each is wanted."""
    if isinstance(space, Graph):
        raise InputError(
            "scaling takes the distances of all pairs", received="a sparse graph, which holds some",
            hint="ritz.Isomap(metric='precomputed') takes a sparse graph: it measures along its edges",
        )  # fmt: skip


class Distances:
    """Distances of n rows of a space, after a correction: ``d' = f(d)`` for i ≠ j.

    Parameters
    ----------
    space
        Rows with a distance.
    correction, constant
        What is added, and how.
    """

    def __init__(self, space: Space, correction: str | None = None, constant: float = 0.0) -> None:
        self.space, self.n, self.correction, self.constant = space, space.n, correction, constant

    def squared(self, D: Floats) -> Floats:
        """Squares of distances of different rows, corrected; D is overwritten."""
        if self.correction == "cailliez":
            D += self.constant
        np.square(D, out=D)
        if self.correction == "lingoes":
            D += 2 * self.constant
        return D

    def tiles(self, *, square: bool = True) -> Iterator[tuple[int, Floats]]:
        """``(start, D'²[start:stop, start:])``."""
        for start in range(0, self.n, ROWS):
            stop = min(start + ROWS, self.n)
            tile = np.array(distance_tile(self.space, None, slice(start, stop), slice(start, self.n)), np.float64)
            near = tile[:, : stop - start]  # symmetric to the last bit, as the rest is
            near[...] = np.triu(near, 1) + np.triu(near, 1).T
            tile = self.squared(tile) if square else tile
            np.fill_diagonal(tile, 0.0)
            yield start, tile

    def new(self, X: Any) -> Floats:
        """Corrected squares of the distances of new rows to the n, (m, n); a distance of 0 stays 0."""
        Q = self.space.new(X)
        m = Q.shape[0] if hasattr(Q, "shape") else len(Q)
        D = np.array(distance_tile(self.space, Q, slice(0, m), slice(0, self.n)), np.float64)
        same = D == 0
        D = self.squared(D)
        D[same] = 0.0
        return D

    def between(self, rows: NDArray[np.intp]) -> Floats:
        """Corrected squares of the distances of some rows to all, (m, n)."""
        made = np.empty((len(rows), self.n))
        for i, row in enumerate(rows):
            made[i] = distance_tile(self.space, None, slice(int(row), int(row) + 1), slice(0, self.n))[0]
        made = self.squared(made)
        made[np.arange(len(rows)), rows] = 0.0
        return made

    def squares(self, room: float) -> Squares:
        """As an operator takes them; kept where they fit."""
        relative = 0.0 if not self.space.rounding else 2.0 * self.space.rounding + 4 * unit_roundoff(np.float64)
        return Squares(self.n, self.tiles, keep=kept_bytes(self.n) <= 0.5 * room, relative=relative)

    def matrix(self, room: float) -> Floats:
        """All distances, not squared, (n, n)."""
        if 8.0 * self.n**2 * 2 > room:
            error = MemoryLimitError(
                f"all distances of {self.n:,} rows need about {16e-6 * self.n**2:,.0f} MB with what is made of them",
                received=f"a limit of {room / 1e6:,.0f} MB",
                hint="method='classical' makes them tile by tile, and landmarks=1000 takes few of them",
            )  # fmt: skip
            error.least = 16.0 * self.n**2
            raise error
        D = np.empty((self.n, self.n))
        for start, tile in self.tiles(square=False):
            D[start : start + len(tile), start:] = tile
            D[start:, start : start + len(tile)] = tile.T
        return D


def constant_of(correction: str, distances: Distances, room: float) -> float:
    """The constant that leaves no negative eigenvalue; 0 where there is none."""
    G2 = Gower(Squares(distances.n, distances.tiles, keep=kept_bytes(distances.n) <= 0.4 * room))
    least = _least(G2)
    if least >= -NEGATIVE * G2.inflation():
        return 0.0  # Cailliez's zero is a double eigenvalue then, which rounding moves by its root
    if correction == "lingoes":
        return -least
    plain = Squares(distances.n, lambda: distances.tiles(square=False), keep=kept_bytes(distances.n) <= 0.4 * room)
    return max(_largest_real(G2, Gower(plain)), 0.0)


def _least(G: Gower) -> float:
    """The least eigenvalue."""
    n = G.shape[0]
    if n <= DENSE:
        return float(np.linalg.eigvalsh(G.to_dense())[0])
    from scipy.sparse.linalg import LinearOperator, eigsh

    unit = _unit(G.inflation())
    product = LinearOperator((n, n), matvec=lambda v: G.matmat(v.reshape(n, 1)).ravel() / unit, dtype=np.float64)
    least = eigsh(product, k=1, which="SA", v0=np.cos(np.arange(n)), tol=1e-12, return_eigenvectors=False)[0]
    return unit * float(least)


def _unit(size: float) -> float:
    """A power of two near it: ARPACK takes values below 4e-11 for that, and stops too soon."""
    return math.ldexp(1.0, math.frexp(size)[1]) if 0 < size < math.inf else 1.0


def _largest_real(G2: Gower, G1: Gower) -> float:
    """The largest real eigenvalue of [0, 2G(D²); −I, −4G(D)], (2n)×(2n)."""
    n = G2.shape[0]
    if n <= DENSE:
        A = np.zeros((2 * n, 2 * n))
        A[:n, n:], A[n:, :n], A[n:, n:] = 2 * G2.to_dense(), -np.eye(n), -4 * G1.to_dense()
        values = np.linalg.eigvals(A)
        real = np.abs(values.imag) <= 1e-8 * np.max(np.abs(values))
        return float(np.max(values.real[real]))
    from scipy.sparse.linalg import LinearOperator, eigs

    unit = _unit(G1.inflation())

    def times(v: Floats) -> Floats:  # for distances in that unit
        top, low = v[:n].reshape(n, 1), v[n:].reshape(n, 1)
        return np.concatenate([2 * G2.matmat(low) / unit / unit, -top - 4 * G1.matmat(low) / unit]).ravel()

    product = LinearOperator((2 * n, 2 * n), matvec=times, dtype=np.float64)
    values = eigs(product, k=4, which="LR", v0=np.cos(np.arange(2 * n)), tol=1e-12, return_eigenvectors=False)
    return unit * float(np.max(values.real))
