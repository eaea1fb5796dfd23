"""How many eigenvalues lie below τ: the negative pivots of a sparse factorisation, with a bound that makes it a proof.

    P(M̃ − τI)Pᵀ + E = LU,  |E| ≤ γ|L||U|        no pivoting off the diagonal [Higham02, 9.3];   U = DLᵀ + F
    L̂ = ½(L + UᵀD⁻¹)                             unit lower triangular, never formed
    sym(LU) = L̂DL̂ᵀ − ¼FᵀD⁻¹F                    what the two halves disagree by cancels to first order

By Sylvester L̂DL̂ᵀ has as many negative eigenvalues as D has negative entries, c of them, and by Weyl

    λ_{c+1}(M)  ≥  τ − β,       β = ‖E‖₂ + ¼‖|F|ᵀ|D|⁻¹|F|‖₂ + ‖M̃ − M‖₂ + rounding of the diagonal

Every norm is bounded by products of non-negative matrices with vectors, √(‖·‖₁‖·‖_∞). Terms of a sum are counted: row
i of L has rᵢ entries, column j of U has cⱼ, and entry (i, j) of LU no more terms than either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import SuperLU, splu

from ritz.spectral.solvers.smallest.entries import SLACK, U

__all__ = ["Count", "count_below", "factorized"]

#: Roundings of an entry of L or U beside those of its sum: a quotient by way of a reciprocal, and the stored sum.
BESIDE = 5
#: Entries that are compared at a time: they stay in the second-level cache.
PANEL = 1 << 16
#: Columns that SuperLU takes at a time where M has fewer entries a row than that. Its own number, 20, pays where the
#: columns of a factor are long: with 3, graphs of 12 neighbours take 0.7 of the time, alignments 1.2 times as long.
#: More than 20 columns are not safe: SuperLU then writes beyond its memory.
NARROW, FEW = 3, 24


@dataclass(frozen=True)
class Count:
    """At most ``below`` eigenvalues lie below ``floor``; pivots were counted at ``shift``."""

    below: int
    floor: float
    shift: float


def factorized(M: Any, shift: float, order: str) -> SuperLU | None:
    """LU of M + shift·I with pivots on the diagonal; None where a pivot vanished or rows were exchanged."""
    p = M.shape[0]
    try:
        lu = splu(
            _int32(M + shift * sp.eye_array(p, format="csc")), permc_spec=order, diag_pivot_thresh=0.0,
            panel_size=NARROW if M.nnz < FEW * p else None, options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:  # "Factor is exactly singular"
        return None
    return lu if np.array_equal(lu.perm_r, lu.perm_c) else None


def _int32(A: Any) -> Any:
    A = sp.csc_array(A)
    if A.indices.dtype != np.int32:
        A = sp.csc_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)
    return A


def count_below(ordered: Any, tau: float, formed: float) -> Count | None:
    """Eigenvalues below ``tau`` of a matrix whose rows are in a good order; None where the factorisation broke down.

    ``formed`` bounds what is between the matrix and the one that is meant.
    """
    lu = factorized(ordered, -tau, "NATURAL")
    if lu is None:
        return None
    halves = _Halves(lu)
    del lu  # SuperLU's own copy takes as much again
    pivots = halves.pivots
    if not (np.all(np.isfinite(pivots)) and np.all(pivots != 0)):
        return None
    beta = halves.apart() + halves.backward()
    beta += formed + U * (float(np.max(np.abs(ordered.diagonal()))) + abs(tau))
    return Count(int(np.count_nonzero(pivots < 0)), tau - beta * SLACK, tau) if np.isfinite(beta) else None


class _Halves:
    """L, and Uᵀ in the same pattern, by rows: what bounds are made of. ``apart`` first: ``backward`` drops signs."""

    def __init__(self, lu: SuperLU) -> None:
        R = lu.U
        self.p, self.pivots, self.one = R.shape[0], R.diagonal(), np.ones(R.shape[0])
        R.sort_indices()
        self.low = lu.L.tocsr()  # sorted by the conversion
        self.high = sp.csr_array((R.data, R.indices, R.indptr), shape=R.shape, copy=False)  # columns of U
        self.alike = np.array_equal(self.low.indptr, R.indptr) and np.array_equal(self.low.indices, R.indices)

    def backward(self) -> float:
        """‖E‖₂ of LU = A + E, from above."""
        low, high = self.low, self.high
        for half in (low, high):  # |L|, |U|ᵀ; in place, for fresh memory costs more than the sums
            np.abs(half.data, out=half.data)
        rows, columns = np.diff(low.indptr), np.diff(high.indptr)
        across, down = low @ (high.T @ self.one), high @ (low.T @ self.one)
        return float(np.sqrt(_scaled(rows, across) * _scaled(columns, down)))

    def apart(self) -> float:
        """¼‖|F|ᵀ|D|⁻¹|F|‖₂ of F = U − DLᵀ, from above."""
        if self.alike:
            sums = np.zeros(self.p)
            for off, columns, _ in self._disagreements():
                sums += np.bincount(columns, off, self.p)
            sums /= np.abs(self.pivots)
            inner = max(
                float(np.max(np.add.reduceat(off * sums[columns], ends)))
                for off, columns, ends in self._disagreements()
            )  # |F|ᵀ|D|⁻¹|F| is symmetric: its largest row sum
            return inner * SLACK / 4
        scaled = self.low @ sp.diags_array(self.pivots)
        F = sp.csr_array(abs(self.high - scaled) + 2 * U * (abs(scaled) + abs(self.high)))
        return float(np.max(F @ ((F.T @ self.one) / np.abs(self.pivots)))) * SLACK / 4

    def _disagreements(self) -> Iterator[tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]]:
        """Rows of |F|ᵀ from above, rounding of the difference included: entries, their columns, where rows begin."""
        ends = self.low.indptr
        step = max(1, PANEL * self.p // max(self.low.nnz, 1))
        for first in range(0, self.p, step):
            last = min(first + step, self.p)
            some = slice(ends[first], ends[last])
            columns = self.low.indices[some]
            scaled, other = self.low.data[some] * self.pivots[columns], self.high.data[some]
            off = np.abs(other - scaled)
            off += (2 * U) * (np.abs(scaled) + np.abs(other))
            yield off, columns, ends[first:last] - ends[first]  # no row is empty: L has a diagonal


def _scaled(terms: NDArray[Any], sums: NDArray[np.float64]) -> float:
    n = terms + float(BESIDE)
    return float(np.max(n * U / (1 - n * U) * sums)) * SLACK
