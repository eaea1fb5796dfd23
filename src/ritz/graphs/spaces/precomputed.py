"""Distances that are given: all of them as a square matrix, or some as a sparse graph.

dense    D (n, n), symmetric, D_ii = 0, no entry negative; new rows are rows of distances to the n, (m, n)
sparse   stored entries are the distances that are known, stored zeros included; a row's neighbours are among them

A sparse graph may be directed, as lists of neighbours are; where both directions are stored they must agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.graphs.lists import Lists, of_pairs
from ritz.graphs.search.nearest import Nearest
from ritz.graphs.search.screen import Direct, Screen
from ritz.graphs.spaces.base import Space
from ritz.kernels.rows import is_sparse

__all__ = ["Graph", "Matrix", "precomputed"]

Floats = NDArray[np.float64]

#: Largest |D − Dᵀ|, in units of the largest entry, that counts as rounding.
ASYMMETRY = 1e-8
#: Rows that are checked at a time.
BLOCK = 1024
#: Rows and columns that are compared with their mirror images at a time.
TILE = 128


def precomputed(D: Any) -> Space:
    """A space of given distances, checked."""
    if D.shape[0] != D.shape[1]:
        raise InputError(
            "precomputed distances are square: each row with each",
            received=f"shape {tuple(D.shape)}",
            hint="D[i, j] is the distance of rows i and j; rows of numbers need another metric",
        )
    return Graph(D) if is_sparse(D) else Matrix(D)


class Matrix(Space):
    """All distances."""

    distance, route, rounding = "precomputed distances", "blocks", 0.0
    reason, proof = "all distances are given", "every given distance was looked at"

    def __init__(self, D: NDArray[Any]) -> None:
        self.D, self.n = D, len(D)
        largest = 0.0
        for start in range(0, self.n, BLOCK):
            block = D[start : start + BLOCK]
            refuse_bad(block, start)
            largest = max(largest, float(block.max(initial=0.0)))
        own = np.diagonal(D)
        if np.any(own != 0):
            i = int(np.flatnonzero(own)[0])
            raise InputError(
                "the distance of a row to itself is 0",
                received=f"D[{i}, {i}] = {own[i]:g}",
                hint="similarities are no distances: a kernel matrix K has d² = k_ii + k_jj − 2k_ij",
            )
        for first, second in _pairs_of_tiles(self.n):
            gap = D[first, second] - D[second, first].T
            if max(float(gap.max()), -float(gap.min())) > ASYMMETRY * largest:
                at = divmod(int(np.abs(gap).argmax()), gap.shape[1])
                i, j = first.start + at[0], second.start + at[1]
                raise InputError(
                    "distances are symmetric",
                    received=f"D[{i}, {j}] = {D[i, j]:g} and D[{j}, {i}] = {D[j, i]:g}",
                    hint="pass (D + D.T) / 2 if that is what is meant",
                )

    def new(self, X: Any) -> Any:
        """Distances of new rows to the n, checked."""
        if X.shape[1] != self.n:
            raise InputError(
                f"new rows hold their distances to the {self.n:,} rows of the fit", received=f"{X.shape[1]:,} columns"
            )
        X = np.asarray(X.toarray() if is_sparse(X) else X)
        refuse_bad(X, 0)
        return X

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """Entries."""
        return np.asarray(self.D[rows, cols], np.float64)

    def screen(self, Q: Any = None) -> Screen:
        """Tiles of the matrix."""
        return _Given(self.D if Q is None else Q)


class _Given(Direct):
    def __init__(self, D: NDArray[Any]) -> None:
        self.D, (self.m, self.n) = D, D.shape

    def tile(self, rows: Any, cols: slice) -> Floats:
        return np.array(self.D[rows, cols], np.float64)


def _pairs_of_tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Tiles on and above the diagonal, small enough for a tile and its mirror image to stay in the caches."""
    for i in range(0, n, TILE):
        for j in range(i, n, TILE):
            yield slice(i, min(i + TILE, n)), slice(j, min(j + TILE, n))


def refuse_bad(D: NDArray[Any], start: int) -> None:
    """Refuse NaN, infinity and negative entries, by their place."""
    if D.size and float(D.min()) >= 0 and float(D.max()) < np.inf:  # false of NaN
        return
    with np.errstate(invalid="ignore"):
        bad = ~np.isfinite(D) | (D < 0)
    if bad.any():
        i, j = (int(part[0]) for part in np.nonzero(bad))
        raise InputError(
            "distances are finite numbers ≥ 0",
            received=f"D[{i + start}, {j}] = {D[i, j]:g}",
            hint="a sparse matrix leaves out what is not known; similarities are no distances",
        )


class Graph(Space):
    """Some distances: what is stored in a sparse matrix."""

    distance, route, rounding = "distances of a sparse graph", "graph", 0.0
    reason, proof = "the graph says who may be a neighbour", "every stored distance was looked at; others are unknown"

    def __init__(self, D: Any) -> None:
        self.D = D.tocsr()
        self.n = self.D.shape[0]
        data = self.D.data
        bad = ~np.isfinite(data) | (data < 0)
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            i = int(np.searchsorted(self.D.indptr, at, side="right")) - 1
            raise InputError(
                "distances are finite numbers ≥ 0",
                received=f"D[{i}, {self.D.indices[at]}] = {data[at]:g}",
                hint="leave out edges that are not there",
            )
        self._require_agreement()

    def _require_agreement(self) -> None:
        """Where both directions of an edge are stored, they say the same."""
        rows = np.repeat(np.arange(self.n), np.diff(self.D.indptr))
        cols = self.D.indices.astype(np.intp)
        low, high = np.minimum(rows, cols), np.maximum(rows, cols)
        order = np.lexsort((high, low))
        same = (np.diff(low[order]) == 0) & (np.diff(high[order]) == 0)
        first, second = self.D.data[order][:-1][same], self.D.data[order][1:][same]
        off = np.abs(first - second)
        if len(off) and float(off.max()) > ASYMMETRY * float(self.D.data.max()):
            at = int(off.argmax())
            i, j = low[order][:-1][same][at], high[order][:-1][same][at]
            raise InputError(
                "both directions of an edge have one distance",
                received=f"{first[at]:g} and {second[at]:g} between rows {i} and {j}",
                hint="pass (D + D.T) / 2 if that is what is meant",
            )

    def new(self, X: Any) -> Any:
        """Stored distances of new rows to the n."""
        from scipy.sparse import csr_array

        if X.shape[1] != self.n:
            raise InputError(
                f"new rows hold their distances to the {self.n:,} rows of the fit", received=f"{X.shape[1]:,} columns"
            )
        X = csr_array(X)
        refuse_bad(X.data.reshape(1, -1), 0)
        return X

    def screen(self, Q: Any = None) -> Screen:
        """What is not stored is infinitely far."""
        return _Stored(self.D if Q is None else Q)

    def lists(self, Q: Any, most: int | None = None) -> Lists:
        """All stored distances."""
        D = self.D if Q is None else Q
        rows, cols = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr)), D.indices.astype(np.intp)
        data = np.asarray(D.data, np.float64)
        if Q is None:
            other = rows != cols
            rows, cols, data = rows[other], cols[other], data[other]
        return of_pairs(rows, cols, data, D.shape[0], most)

    def nearest(self, Q: Any, k: int, keep_ties: bool = False, room: float = np.inf) -> Nearest:
        """The first k stored distances of each row, which must have as many."""
        found = self.lists(Q)
        few = np.flatnonzero(found.counts < k)
        if len(few):
            raise InputError(
                f"each row needs at least k = {k} stored distances",
                received=f"row {few[0]} with {found.counts[few[0]]}"
                + (f", and {len(few) - 1} more" if len(few) > 1 else ""),
                hint=f"k={max(1, int(found.counts.min()))}, a radius, or a graph with more edges",
            )
        if not keep_ties:
            return Nearest(found.nearest(k), 0, len(found.indices))
        return Nearest(found.with_ties(k), 0, len(found.indices))

    def within(self, Q: Any, radius: float, room: float = np.inf) -> Lists:
        """Stored distances up to the radius."""
        found = self.lists(Q)
        near = found.distances <= radius
        counts = np.bincount(found.rows[near], minlength=len(found))
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        return Lists(indptr, found.indices[near], found.distances[near])

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """Stored distances, in either direction; refused where one is not known."""
        from scipy.sparse import csr_array

        places = csr_array((np.arange(1, self.D.nnz + 1), self.D.indices, self.D.indptr), shape=self.D.shape)
        forth, back = (np.asarray(places[a, b]).ravel().astype(np.intp) for a, b in ((rows, cols), (cols, rows)))
        at = np.where(forth > 0, forth, back) - 1
        if np.any(at < 0):
            lost = int(np.argmin(at))
            raise InputError(
                "the distances among the neighbours of each row are needed",
                received=f"a graph without that of rows {int(rows[lost])} and {int(cols[lost])}",
                hint="pass all distances, or a graph that holds those among neighbours",
            )
        return np.asarray(self.D.data[at], np.float64)


class _Stored(Direct):
    def __init__(self, D: Any) -> None:
        self.D, (self.m, self.n) = D, D.shape

    def tile(self, rows: Any, cols: slice) -> Floats:
        part = self.D[rows][:, cols].tocoo()
        made = np.full(part.shape, np.inf)
        made[part.row, part.col] = part.data
        return made
