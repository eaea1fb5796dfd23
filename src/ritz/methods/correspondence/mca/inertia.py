"""Inertias of multiple correspondence analysis: Burt's, corrected ones, and what pairs of variables hold.

    M = AᵀA (K×K)      Burt table: inertia of column j  Σᵢ M²ᵢⱼ,   total Σλ²
                       without a variable's table with itself: the same sum over i of other variables

    Benzécri     λ* = (J/(J−1))² (λ − 1/J)²   for λ > 1/J;   per cent of Σλ*
    Greenacre    the same λ*;   per cent of J/(J−1)·(Σλ² − (K−J)/J²), the mean inertia of the tables of pairs

[Greenacre17], chapter 19.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.moments import Moments

__all__ = ["CORRECTED", "above", "adjusted", "corrected", "pair_inertias"]

Floats = NDArray[np.float64]

#: Columns of a table of corrected inertias.
CORRECTED = ("inertia", "percent", "cumulative")
#: Inertias that exceed 1/J by rounding only are 1/J.
SLACK = 1e-12


def above(values: Floats, J: int) -> NDArray[np.bool_]:
    """Which inertias of the indicator exceed that of a single variable, 1/J."""
    return np.asarray(values > (1 + SLACK) / J)


def adjusted(values: Floats, J: int) -> Floats:
    """Corrected inertias λ* of inertias above 1/J; of a single variable there are none."""
    return np.square(J / (J - 1) * (values - 1 / J)) if J > 1 else np.zeros_like(values)


def corrected(values: Floats, J: int, total: float | None = None) -> Floats:
    """(m, 3) corrected inertias, per cent of ``total`` (of their sum without it), cumulative per cent."""
    found = adjusted(values, J)
    whole = float(np.sum(found)) if total is None else total
    shares = 100 * found / whole if whole > 0 else np.zeros_like(found)
    return np.column_stack([found, shares, np.cumsum(shares)])


def pair_inertias(state: Moments, scale: Floats, owners: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Inertias of the columns of the Burt table, (K,): of all of it, and without a variable's table with itself.

    ``state``: moments of the active columns with Σw = 1.
    """
    M = state.scatter * (state.unit**2 / state.weight) / np.outer(scale, scale)
    np.square(M, out=M)
    whole = M.sum(axis=0)
    M[owners[:, None] == owners[None, :]] = 0.0
    return whole, M.sum(axis=0)
