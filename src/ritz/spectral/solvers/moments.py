"""``moments``: one pass forms ``G = AᵀA`` (d×d), then a dense eigenproblem of that size.

    G = VΛVᵀ,   |λ̂ᵢ − λᵢ| ≤ ‖E‖ ≈ u·λ₁(√b + √d)   ⇒   |σ̂ᵢ − σᵢ| ≤ ‖E‖/2σᵢ     (Weyl)

That is 3–4 times faster than an SVD but loses small singular values. The trust test compares the bound with what the
direct routes promise (100·u·σ₁); where it fails, ``repair.py`` reads the data again. A float32 Gram matrix that lost
too much is formed anew in float64, whose rounding is below what float32 data can show.
"""

from __future__ import annotations

import numpy as np

from ritz._core.linalg import eigh
from ritz._core.tolerance import TRUST, rounding, solving, unit_roundoff
from ritz.operators.base import Operator
from ritz.operators.framed import Framed
from ritz.spectral.constants import SUBSET_SHARE
from ritz.spectral.found import Found
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.dense import Vector, counted, pick
from ritz.spectral.solvers.repair import repair

__all__ = ["moments", "suspects"]


def suspects(values: Vector, k: int, error: float, u: float, along: Vector | None = None) -> bool:
    """Trust test: may any of the k singular values miss the promise of the direct routes?

    σ̂ − σ = (λ̂ − λ)/(σ̂ + σ) with |λ̂ − λ| ≤ error; where the rounding E was measured along the vectors,
    |λ̂ᵢ − λᵢ| ≈ |vᵢᵀEvᵢ| + error²/gapᵢ, which is much less.
    """
    top = float(values[0]) if len(values) else 0.0
    if top <= 0 or k == 0:
        return False
    found = np.maximum(values[:k], 0.0)
    loss = np.full(k, error)
    if along is not None and len(values) > k:
        gap = np.minimum(np.append(np.inf, -np.diff(values[:k])), -np.diff(values[: k + 1]))
        with np.errstate(divide="ignore"):
            second = np.where(gap > 0, error * error / np.maximum(gap, 1e-300), np.inf)
        # Within a cluster only the sum is settled to first order: fall back to the whole error there.
        loss = np.minimum(error, 2 * along + second + 4 * unit_roundoff(np.float64) * top)
    return bool(np.max(np.sqrt(found + loss) - np.sqrt(found)) > TRUST * u * np.sqrt(top))


def moments(problem: SpectralProblem, A: Operator, *, noise: float | None = None) -> Found:
    """Leading pairs of AᵀA by one pass and a dense eigenproblem, repaired where the Gram matrix lost them."""
    G = A.gram() if problem.kind == "svd" else A.to_dense(1 << 40)
    d = G.shape[0]
    few = problem.rule is None and problem.k + 1 < SUBSET_SHARE * d
    values, V = eigh(G, problem.k + 1 if few else None)
    total = float(np.trace(G))
    u, path = _arithmetic(A)
    top = max(float(values[0]), 0.0) if len(values) else 0.0
    measured = _noise(A, d, u, top) if noise is None else noise
    wide = unit_roundoff(np.float64)
    error = solving(d, wide) * (top + A.inflation()) + measured
    values = np.maximum(values, 0.0) if problem.kind == "svd" or A.positive else values
    k = pick(problem, values, total)
    along = A.noise_along(V[:, :k]) if isinstance(A, Framed) else None
    if problem.repeatable and problem.kind == "svd" and suspects(values, k, error, u, along):
        found = repair(problem, A, G, values, V, k, error, u, path)
        return moments(problem, A.wider() or A) if found is None else found
    V = np.ascontiguousarray(V[:, :k])
    block = G @ V - V * values[:k]
    return Found(values, V, block, error, counted(values, k, error), True, u, path, 1, error)


def _arithmetic(A: Operator) -> tuple[float, str]:
    """Unit round-off and name of the arithmetic in which the Gram matrix is formed."""
    dtype = getattr(A, "gram_dtype", np.float64)
    dtype = dtype() if callable(dtype) and not isinstance(dtype, type) else dtype
    narrow = np.dtype(dtype).itemsize < 8
    return unit_roundoff(dtype), "float32 products summed in float64" if narrow else "float64"


def _noise(A: Operator, d: int, u: float, top: float) -> float:
    """Measured rounding of the Gram matrix, or the model's allowance for operators that do not measure."""
    measure = getattr(A, "gram_noise", None)
    measured = measure() if measure is not None else None
    return rounding(d, u) * top if measured is None else float(measured)
