"""``check_operator``: any operator against its dense form, with random probes.

A·V, Aᵀ·U, AᵀA·V, WᵀAᵀAW and ⟨AV, U⟩ = ⟨V, AᵀU⟩ against the matrix it stands for, in the operator's own precision
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.tolerance import unit_roundoff
from ritz.operators.base import Operator

__all__ = ["check_operator"]

#: Multiples of u·‖A‖·‖V‖ that a product may miss its dense form by; rounding grows with the length of the sums.
SLACK = 40.0


def check_operator(A: Operator, dense: Any, *, seed: int = 0, width: int = 3) -> None:
    """Raise AssertionError, saying which product differs and by how much, unless ``A`` acts as ``dense``.

    Parameters
    ----------
    A
        The operator.
    dense : (n, d) array
        The matrix that it stands for.
    seed, width
        Seed and number of the random probes.
    """
    dense = np.asarray(dense, np.float64)
    n, d = A.shape
    if dense.shape != (n, d):
        raise AssertionError(f"{A!r} has shape {A.shape}, its dense form {dense.shape}")
    rng = np.random.default_rng(seed)
    V, U = rng.standard_normal((d, width)), rng.standard_normal((n, width))
    size = float(np.linalg.norm(dense, 2)) if dense.size else 0.0
    size = max(size, float(np.sqrt(A.inflation())))
    u = SLACK * unit_roundoff(A.dtype) * max(1.0, float(np.sqrt(max(n, d))) / 8)
    _same("matmat", A.matmat(V), dense @ V, u * size * _norm(V))
    _same("rmatmat", A.rmatmat(U), dense.T @ U, u * size * _norm(U))
    _same("normal", A.normal(V), dense.T @ (dense @ V), u * size**2 * _norm(V))
    _same("gram(W)", A.gram(V), V.T @ dense.T @ dense @ V, u * size**2 * _norm(V) ** 2)
    _same("gram()", A.gram(), dense.T @ dense, u * size**2 * np.sqrt(max(d, 1)))
    _same("matmat of A.T", A.T.matmat(U), dense.T @ U, u * size * _norm(U))
    _same("normal of A.T", A.T.normal(U), dense @ (dense.T @ U), u * size**2 * _norm(U))
    _same("a single vector", A @ V[:, 0], dense @ V[:, 0], u * size * _norm(V))
    left, right = np.sum(A.matmat(V) * U), np.sum(V * A.rmatmat(U))
    _same("⟨AV, U⟩ − ⟨V, AᵀU⟩", left, right, u * size * _norm(V) * _norm(U))
    if A.symmetric:
        _same("A − Aᵀ", A.matmat(V), A.rmatmat(V), u * size * _norm(V))


def _norm(V: Any) -> float:
    return float(np.linalg.norm(V))


def _same(what: str, got: Any, expected: Any, allowed: float) -> None:
    got = np.asarray(got, np.float64)
    if got.shape != np.shape(expected):
        raise AssertionError(f"{what}: shape {got.shape}, expected {np.shape(expected)}")
    off = float(np.max(np.abs(got - expected), initial=0.0))
    if not off <= allowed + np.finfo(float).tiny:
        raise AssertionError(f"{what}: differs from the dense form by {off:.2e}, allowed {allowed:.2e}")
