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
            options={"SymmetricMode": True},
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
    halves = _Halves(lu.L, lu.U)
    pivots = halves.pivots
    if not (np.all(np.isfinite(pivots)) and np.all(pivots != 0)):
        return None
    beta = halves.backward() + halves.apart()
    beta += formed + U * (float(np.max(np.abs(ordered.diagonal()))) + abs(tau))
    return Count(int(np.count_nonzero(pivots < 0)), tau - beta * SLACK, tau) if np.isfinite(beta) else None


class _Halves:
    """|L|, and Uᵀ in the same pattern, by columns: what the bounds are made of."""

    def __init__(self, L: Any, R: Any) -> None:
        self.p, self.pivots, self.one = L.shape[0], R.diagonal(), np.ones(L.shape[0])
        L.sort_indices()
        turned = R.T.tocsc()  # sorted by the conversion
        self.low, self.high = L, turned
        self.alike = np.array_equal(L.indptr, turned.indptr) and np.array_equal(L.indices, turned.indices)

    def backward(self) -> float:
        """‖E‖₂ of LU = A + E, from above."""
        low, high = _nonnegative(self.low), _nonnegative(self.high)  # |L|, |U|ᵀ
        rows = np.bincount(self.low.indices, minlength=self.p)
        columns = rows if self.alike else np.bincount(self.high.indices, minlength=self.p)
        across, down = low @ (high.T @ self.one), high @ (low.T @ self.one)
        return float(np.sqrt(_scaled(rows, across) * _scaled(columns, down)))

    def apart(self) -> float:
        """¼‖|F|ᵀ|D|⁻¹|F|‖₂ of F = U − DLᵀ, from above."""
        F = self._disagreement()
        inner = F @ ((F.T @ self.one) / np.abs(self.pivots))  # F is |F|ᵀ here; symmetric: its largest row sum
        return float(np.max(inner)) * SLACK / 4

    def _disagreement(self) -> Any:
        """|F|ᵀ from above, rounding of the difference included."""
        if not self.alike:
            scaled = self.low @ sp.diags_array(self.pivots)
            return sp.csc_array(abs(self.high - scaled) + 2 * U * (abs(scaled) + abs(self.high)))
        data = np.empty_like(self.low.data)
        counts, ends = np.diff(self.low.indptr), self.low.indptr
        step = max(1, PANEL * self.p // max(len(data), 1))
        for first in range(0, self.p, step):
            last = min(first + step, self.p)
            some = slice(ends[first], ends[last])
            scaled = self.low.data[some] * np.repeat(self.pivots[first:last], counts[first:last])
            other = self.high.data[some]
            off = np.abs(other - scaled)
            off += (2 * U) * (np.abs(scaled) + np.abs(other))
            data[some] = off
        return _by_columns(data, self.low)


def _nonnegative(A: Any) -> Any:
    return _by_columns(np.abs(A.data), A)


def _by_columns(data: NDArray[np.float64], like: Any) -> Any:
    return sp.csc_array((data, like.indices, like.indptr), shape=like.shape, copy=False)


def _scaled(terms: NDArray[Any], sums: NDArray[np.float64]) -> float:
    n = terms + float(BESIDE)
    return float(np.max(n * U / (1 - n * U) * sums)) * SLACK
