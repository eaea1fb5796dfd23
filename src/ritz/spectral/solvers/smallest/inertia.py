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
    L, R = lu.L, lu.U
    pivots = R.diagonal()
    if not (np.all(np.isfinite(pivots)) and np.all(pivots != 0)):
        return None
    beta = _backward(L, R) + _halves(L, R, pivots)
    beta += formed + U * (float(np.max(np.abs(ordered.diagonal()))) + abs(tau))
    return Count(int(np.count_nonzero(pivots < 0)), tau - beta * SLACK, tau) if np.isfinite(beta) else None


def _backward(L: Any, R: Any) -> float:
    """‖E‖₂ of LU = A + E, from above."""
    low, high, one = abs(L), abs(R), np.ones(L.shape[0])
    rows, columns = np.bincount(L.indices, minlength=L.shape[0]), np.diff(R.indptr)
    across, down = low @ (high @ one), high.T @ (low.T @ one)
    return float(np.sqrt(_scaled(rows, across) * _scaled(columns, down)))


def _scaled(terms: NDArray[Any], sums: NDArray[np.float64]) -> float:
    n = terms + float(BESIDE)
    return float(np.max(n * U / (1 - n * U) * sums)) * SLACK


def _halves(L: Any, R: Any, pivots: NDArray[np.float64]) -> float:
    """¼‖|F|ᵀ|D|⁻¹|F|‖₂ of F = U − DLᵀ, from above."""
    turned = R.T.tocsc()  # columns of Uᵀ are those of L·D; sorted by the conversion
    own = L.tocsr().tocsc()
    if np.array_equal(own.indices, turned.indices) and np.array_equal(own.indptr, turned.indptr):
        each = np.repeat(pivots, np.diff(own.indptr))
        scaled = own.data * each
        data = np.abs(turned.data - scaled) + 2 * U * (np.abs(scaled) + np.abs(turned.data))
        F = sp.csc_array((data, own.indices, own.indptr), shape=own.shape)  # |F|ᵀ, its diagonal rounding included
    else:
        scaled = own @ sp.diags_array(pivots)
        F = sp.csc_array(abs(turned - scaled) + 2 * U * (abs(scaled) + abs(turned)))
    one = np.ones(L.shape[0])
    return float(np.max(F @ ((F.T @ one) / np.abs(pivots)))) * SLACK / 4  # symmetric: its largest row sum
