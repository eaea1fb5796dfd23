"""``moments``: one pass forms ``G = AᵀA`` (d×d), then a dense eigenproblem of that size.

    G = VΛVᵀ,   |λ̂ᵢ − λᵢ| ≤ ‖E‖ ≈ u·λ₁(√b + √d)   ⇒   |σ̂ᵢ − σᵢ| ≤ ‖E‖/2σᵢ     (Weyl)

That is 3–4 times faster than an SVD but loses small singular values. The trust test compares the bound with what the
direct routes promise (100·u·σ₁); where it fails, ``repair.py`` reads the data again. A float32 Gram matrix that lost
too much is formed anew in float64, whose rounding is below what float32 data can show.
"""

from __future__ import annotations

import numpy as np

from ritz._core.arrays import Array, to_numpy
from ritz._core.linalg import eigh, leading, positive, trace
from ritz._core.tolerance import TRUST, rounding, solving, unit_roundoff
from ritz.operators.base import Operator
from ritz.operators.framed import Framed
from ritz.spectral.constants import SUBSET_SHARE
from ritz.spectral.found import Found
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.dense import Vector, arithmetic, counted, pick
from ritz.spectral.solvers.repair import repair

__all__ = ["moments", "suspects"]


def suspects(values: Vector, k: int, error: float, u: float) -> bool:
    """Trust test: may any of the k singular values miss the promise of the direct routes?

    σ̂ − σ = (λ̂ − λ)/(σ̂ + σ) with |λ̂ − λ| ≤ error.
    """
    top = float(values[0]) if len(values) else 0.0
    if top <= 0 or k == 0:
        return False
    smallest = max(float(values[k - 1]), 0.0)
    return bool(np.sqrt(smallest + error) - np.sqrt(smallest) > TRUST * u * np.sqrt(top))


def _likely(A: Operator, V: Array, top: float, error: float) -> float:
    """The error that eigenvalues are likely to have: rounding measured along the vectors, not its worst case."""
    along = A.noise_along(V) if isinstance(A, Framed) else None
    return error if along is None else min(error, along + 4 * unit_roundoff(np.float64) * top)


def moments(problem: SpectralProblem, A: Operator, *, noise: float | None = None) -> Found:
    """Leading pairs of AᵀA by one pass and a dense eigenproblem, repaired where the Gram matrix lost them."""
    G = A.gram() if problem.kind == "svd" else A.to_dense(1 << 40)
    d = G.shape[0]
    few = problem.rule is None and problem.k + 1 < SUBSET_SHARE * d
    theta, V = eigh(G, problem.k + 1 if few else None)
    theta = positive(theta) if problem.kind == "svd" or A.positive else theta
    values, total = to_numpy(theta), trace(G)
    u, path = arithmetic(A)
    top = max(float(values[0]), 0.0) if len(values) else 0.0
    measured = _noise(A, d, u, top) if noise is None else noise + (A.measured() or 0.0)
    # a moment state has counted what taking off the means cost
    beyond = 0.0 if isinstance(A, Framed) and A.stately() else A.inflation()
    error = solving(d, unit_roundoff(np.float64)) * (top + beyond) + measured + 2 * A.scale_error() * top
    k = pick(problem, values, total)
    if problem.repeatable and problem.kind == "svd" and suspects(values, k, _likely(A, V[:, :k], top, error), u):
        found = repair(problem, A, G, theta, V, k, error, u, path)
        return moments(problem, A.wider() or A) if found is None else found
    V = leading(V, k)
    block = G @ V - V * theta[:k]
    return Found(values, V, block, error, counted(values, k, error), True, u, path, 1, error)


def _noise(A: Operator, d: int, u: float, top: float) -> float:
    """Measured rounding of the Gram matrix, or the model's allowance for operators that do not measure."""
    measure = getattr(A, "gram_noise", None)
    measured = measure() if measure is not None else None
    return rounding(d, u) * top if measured is None else float(measured)
