"""A sparse symmetric factorisation by dense fronts.                                                          [DR83]

    P(M̃ + sI)Pᵀ = L J Lᵀ,   J = diag(±1)        F = [F₁₁ F₂₁ᵀ; F₂₁ F₂₂]  the front of rows a … b−1 and those beyond

    F₁₁ = L₁₁L₁₁ᵀ,  X = F₂₁L₁₁⁻ᵀ,  S = F₂₂ − XXᵀ          Cholesky; S is handed to the front of the first row beyond
    F₁₁ = QΛQᵀ,  G = Q|Λ|^½,  J = sign Λ,  X = F₂₁G⁻ᵀJ,  S = F₂₂ − XJXᵀ       where F₁₁ has a negative eigenvalue

A front takes out a branch of the tree of elimination with few rows, or a chain of rows with nearly the same neighbours:
all work is that of LAPACK and BLAS on dense blocks. Which rows a front has is found once for all shifts.

What is between is bounded as it is made: every entry of LJLᵀ is a sum that was made in some order, so that
|P(M̃ + sI)Pᵀ − LJLᵀ|_ij ≤ γ_n (|L||L|ᵀ)_ij with n terms in row i [Higham02, 8.4, 10.3]; of an F₁₁ = QΛQᵀ and of its X
the differences are measured as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf

from ritz._core.threads import go_on
from ritz.spectral.solvers.smallest.entries import SLACK, U
from ritz.spectral.solvers.smallest.order import elimination_order

__all__ = ["Factor", "Fronts"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Rows of a branch that are taken out at once.
BRANCH = 96
#: A chain is cut where rows appear that its first row does not have: more than this share of them, or than these.
WIDER, MORE = 0.25, 16
#: Roundings of an entry of L beside those of its sum: a root, a quotient by way of a reciprocal, the stored sum.
BESIDE = 5
#: Columns that are taken out by their eigenvalues where a pivot is not positive: more would be rounded by more.
FEW = 16


@dataclass(frozen=True, eq=False)
class _Front:
    """Rows first … last−1 and those ``beyond`` that they have entries with."""

    first: int
    last: int
    beyond: Places  # (r,) increasing
    own: Places  # where the entries of M in these columns go, by columns
    taken: list[tuple[int, Places]]  # fronts whose S is added, and where


@dataclass(frozen=True, eq=False)
class _Piece:
    """Columns first … last−1 of L: L₁₁ or G, and X in the rows ``beyond``. Where there is a G also J and Λ⁻¹."""

    first: int
    last: int
    beyond: Places
    own: Floats
    X: Floats
    J: Floats | None = None
    inverse: Floats | None = None


@dataclass(frozen=True, eq=False)
class Factor:
    """``L`` and ``J``; ``negative`` entries of J; ‖P(M̃ + sI)Pᵀ − LJLᵀ‖₂ ≤ ``error``, where that was asked for."""

    order: Places
    pieces: list[_Piece]
    negative: int
    error: float

    def solve(self, B: Floats) -> Floats:
        """``(M̃ + sI)⁻¹ B``."""
        Y = np.ascontiguousarray(B.take(self.order, axis=0))
        rows = Y.view(f"V{8 * Y.shape[1]}").reshape(-1)  # a row as one number: moved at once
        for number, one in enumerate(self.pieces):
            if number % 256 == 0:
                go_on()
            y = Y[one.first : one.last]
            if one.inverse is None:
                dtrsm(1.0, one.own, y.T, side=1, lower=1, trans_a=1, overwrite_b=1)  # y ← L₁₁⁻¹y
            else:
                y[...] = (one.own.T @ y) * one.inverse
            if len(one.beyond):
                there = Y.take(one.beyond, axis=0)
                there -= one.X @ y
                rows.put(one.beyond, there.view(rows.dtype))
        for number, one in enumerate(reversed(self.pieces)):
            if number % 256 == 0:
                go_on()
            y = Y[one.first : one.last]
            if one.J is not None:
                y *= one.J[:, None]
            if len(one.beyond):
                y -= one.X.T @ Y.take(one.beyond, axis=0)
            if one.inverse is None:
                dtrsm(1.0, one.own, y.T, side=1, lower=1, overwrite_b=1)  # y ← L₁₁⁻ᵀy
            else:
                y[...] = one.own @ (y * one.inverse)
        solved = np.empty_like(Y)
        solved[self.order] = Y
        return solved


class Fronts:
    """The order of M (CSC, p×p, both triangles), and the rows of every front."""

    def __init__(self, M: Any) -> None:
        self.p = M.shape[0]
        self.order, parent = elimination_order(M)
        low = sp.tril(M[self.order][:, self.order], format="csc")
        low.sort_indices()
        self._low = low
        self.largest = float(np.max(np.abs(M.diagonal()), initial=0.0))
        self.all = list(_fronts(low.indptr, low.indices, *_segments(parent)))

    def factorized(self, shift: float, *, bounded: bool = False) -> Factor | None:
        """LJLᵀ of M + shift·I; None where a block is singular. ``bounded``: its error, and no L to solve with."""
        handed: dict[int, Floats] = {}
        kept: list[_Piece] = []
        sums = _Sums(self.p) if bounded else None
        negative = 0
        for number, front in enumerate(self.all):
            if number % 256 == 0:
                go_on()
            F, rows, first = self._assembled(front, shift, handed), front.beyond, front.first
            while first < front.last:
                one, S = _piece(F, first, front.last, rows)
                if one is None:
                    return None
                if sums is not None:
                    sums.add(one, F)
                else:
                    kept.append(one)
                negative += 0 if one.J is None else int(np.count_nonzero(one.J < 0))
                first, F = one.last, S
            if len(rows):
                handed[number] = F
        return Factor(self.order, kept, negative, np.nan if sums is None else sums.error())

    def _assembled(self, front: _Front, shift: float, handed: dict[int, Floats]) -> Floats:
        """F, its lower triangle: entries of M, and what was handed over."""
        m, low = front.last - front.first, self._low
        width = m + len(front.beyond)
        flat = np.zeros(width * width)
        flat[front.own] = low.data[low.indptr[front.first] : low.indptr[front.last]]
        flat[: m * width : width + 1] += shift
        by_columns = flat.reshape(width, width)  # a row of it is a column of F
        for number, where in front.taken:
            by_columns[where[:, None], where] += handed.pop(number).T
        return by_columns.T


class _Sums:
    """|L||L|ᵀ1, terms of a row, and differences that were measured: what an error is bounded by."""

    def __init__(self, p: int) -> None:
        self.across, self.terms, self.measured = np.zeros(p), np.full(p, float(BESIDE)), np.zeros(p)

    def add(self, one: _Piece, F: Floats) -> None:
        """Some columns of L more, and the front that they were made of."""
        nodes, m = np.concatenate([np.arange(one.first, one.last), one.beyond]), one.last - one.first
        L = np.abs(np.concatenate([one.own, one.X]))
        self.across[nodes] += L @ L.sum(axis=0)
        self.terms[nodes] += np.count_nonzero(L, axis=1)  # a product with zero rounds nothing
        if one.J is None:
            return
        self.terms[nodes] += m + 2  # products that are measured round once more
        made, whole = np.concatenate([one.own, one.X]) @ (one.own * one.J).T, F[:, :m].copy()
        whole[:m] = _whole(F[:m, :m])
        off = np.abs(whole - made)
        self.measured[nodes] += off.sum(axis=1)
        self.measured[nodes[:m]] += off[m:].sum(axis=0)

    def error(self) -> float:
        """‖P(M̃ + sI)Pᵀ − LJLᵀ‖₂ from above: the largest row sum of a symmetric matrix."""
        n = self.terms
        return float(np.max(n * U / (1 - n * U) * self.across + 2 * self.measured, initial=0.0)) * SLACK


def _piece(F: Floats, first: int, last: int, rows: Places) -> tuple[_Piece | None, Floats]:
    """As many columns of L as a Cholesky factorisation of F has, or a few that it has not; and what is left of F."""
    m = last - first
    own, info = dpotrf(F[:m, :m], lower=1, clean=1)
    if info > 1:  # what comes before the first pivot that is not positive
        m = info - 1
        own, info = dpotrf(F[:m, :m], lower=1, clean=1)
    few = m if info == 0 else min(m, FEW)
    beyond = rows if first + few == last else np.concatenate([np.arange(first + few, last), rows])
    if info:
        return _indefinite(F, first, few, beyond)
    X = dtrsm(1.0, own, F[m:, :m], side=1, lower=1, trans_a=1) if len(F) > m else F[m:, :m]
    S = dsyrk(-1.0, X, beta=1.0, c=F[m:, m:], lower=1) if len(F) > m else F[m:, m:]
    return _Piece(first, first + m, beyond, own, X), S


def _indefinite(F: Floats, first: int, m: int, beyond: Places) -> tuple[_Piece | None, Floats]:
    """By the eigenvalues of F₁₁; None where one is zero."""
    values, Q = np.linalg.eigh(_whole(F[:m, :m]))
    if not bool(np.all(np.isfinite(values)) and np.all(values != 0)):
        return None, F
    J, root = np.sign(values), np.sqrt(np.abs(values))
    X = np.asfortranarray((F[m:, :m] @ Q) * (J / root))
    S = np.asfortranarray(np.tril(F[m:, m:] - (X * J) @ X.T))
    return _Piece(first, first + m, beyond, np.asfortranarray(Q * root), X, J, 1 / np.abs(values)[:, None]), S


def _whole(lower: Floats) -> Floats:
    """A symmetric matrix from its lower triangle."""
    low = np.tril(lower)
    return np.asarray(low + np.tril(low, -1).T)


def _segments(parent: Places) -> tuple[list[int], list[int], list[bool]]:
    """Ranges of rows, in postorder: branches of at most ``BRANCH`` rows, and chains; which of them are branches."""
    p = len(parent)
    sizes, children = [1] * p, [0] * p
    for j, above in enumerate(parent.tolist()):
        if above >= 0:
            sizes[above] += sizes[j]
            children[above] += 1
    size, many = np.array(sizes), np.array(children)
    whole = np.where(parent >= 0, size[parent], p + BRANCH)
    tops = np.flatnonzero((size <= BRANCH) & (whole > BRANCH))
    bottoms = tops - size[tops] + 1
    steps = np.zeros(p + 1, np.intp)
    steps[bottoms] += 1
    steps[tops + 1] -= 1
    inside = np.cumsum(steps)[:p] > 0
    begins = np.ones(p + 1, bool)
    begins[1:p] = (parent[:-1] != np.arange(1, p)) | (many[1:] != 1)
    begins[:p][inside] = False
    begins[bottoms] = begins[tops + 1] = True
    starts = np.flatnonzero(begins[:p])
    return starts.tolist(), [*starts[1:].tolist(), p], inside[starts].tolist()


def _fronts(ends: Any, rows: Any, starts: list[int], stops: list[int], branches: list[bool]) -> Iterator[_Front]:
    """Fronts of the lower triangle of M, in postorder."""
    handed: list[list[tuple[int, Any]]] = [[] for _ in starts]
    segment_of = np.repeat(np.arange(len(starts)), np.subtract(stops, starts)).tolist()
    number = 0
    for segment, (first, stop, branch) in enumerate(zip(starts, stops, branches, strict=True)):
        if segment % 256 == 0:
            go_on()
        while first < stop:
            given, handed[segment] = handed[segment], []
            last = stop if branch else _cut(ends, rows, first, stop, given)
            entries = rows[ends[first] : ends[last]]
            nodes = np.unique(
                np.concatenate([np.arange(first, last, dtype=rows.dtype), entries, *(r for _, r in given)])
            )
            width = len(nodes)
            columns = np.repeat(np.arange(last - first), np.diff(ends[first : last + 1]))
            own = np.searchsorted(nodes, entries) + columns * width
            beyond = nodes[last - first :].astype(np.intp)
            yield _Front(first, last, beyond, own, [(one, np.searchsorted(nodes, r)) for one, r in given])
            if len(beyond):
                handed[segment_of[beyond[0]]].append((number, beyond))
            number += 1
            first = last


def _cut(ends: Any, rows: Any, first: int, stop: int, given: list[tuple[int, Any]]) -> int:
    """Where the front of a chain that begins at ``first`` ends: before rows that its first row does not have."""
    if stop - first <= MORE:
        return stop
    has = np.unique(np.concatenate([rows[ends[first] : ends[first + 1]], *(r for _, r in given)]))
    entries = rows[ends[first + 1] : ends[stop]]
    columns = np.repeat(np.arange(first + 1, stop), np.diff(ends[first + 1 : stop + 1]))
    at = np.minimum(np.searchsorted(has, entries), max(len(has) - 1, 0))
    new = (has[at] != entries) & (entries > columns) if len(has) else entries > columns
    _, once = np.unique(entries[new], return_index=True)  # entries are by columns: the first column of each
    added = np.sort(columns[new][once])
    allowed = int(max(WIDER * len(has), MORE))
    return stop if len(added) <= allowed else max(int(added[allowed]), first + 1)
