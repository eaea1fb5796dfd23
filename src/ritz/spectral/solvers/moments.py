"""``moments``: one pass forms ``G = AᵀA`` (d×d), then a dense eigenproblem of that size.

    G = VΛVᵀ,   |λ̂ᵢ − λᵢ| ≤ ‖E‖ ≈ u·λ₁(√b + √d)   ⇒   |σ̂ᵢ − σᵢ| ≤ ‖E‖/2σᵢ     (Weyl)

That is 3–4 times faster than an SVD but loses small singular values. The trust test compares the bound with what the
direct routes promise (100·u·σ₁); where it fails, ``repair.py`` reads the data again. A float32 Gram matrix that lost
too much is formed anew in float64, whose rounding is below what float32 data can show.
"""

from __future__ import annotations

import numpy as np

from ritz._core.arrays import Array, namespace, to_numpy
from ritz._core.linalg import eigh, leading, positive, trace, wide
from ritz._core.tolerance import TRUST, rounding, solving, unit_roundoff
from ritz.operators.base import Operator
from ritz.operators.gram import Gram
from ritz.spectral.constants import SUBSET_SHARE
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.dense import Vector, arithmetic, counted, pick, require_positive
from ritz.spectral.solvers.pairs import Pairs
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
    along = A.noise_along(V)
    return error if along is None else min(error, along + 4 * unit_roundoff(np.float64) * top)


def moments(problem: SpectralProblem, A: Operator) -> Pairs:
    """Leading pairs of AᵀA by one pass and a dense eigenproblem, repaired where the Gram matrix lost them."""
    G, M = (wide(A.gram()), Gram(A)) if problem.kind == "svd" else (wide(A.to_dense(1 << 40)), A)
    d = G.shape[0]
    few = problem.rule is None and problem.k + 1 < SUBSET_SHARE * d
    theta, V = eigh(G, problem.k + 1 if few else None)
    signless = problem.kind == "svd" or A.positive
    if problem.kind == "eigh" and A.positive:
        require_positive(A, to_numpy(theta))
    theta = positive(theta) if signless else theta
    values, total = to_numpy(theta), trace(G)
    u, path = arithmetic(A)
    top = (max(float(values[0]), 0.0) if signless else _norm(G)) if len(values) else 0.0
    known = A.gram_noise() if problem.kind == "svd" else A.measured()
    beyond = A.gram_inflation() if problem.kind == "svd" else A.inflation()
    measured = rounding(d, u) * (top + beyond) if known is None else known
    error = solving(d, unit_roundoff(np.float64)) * (top + beyond) + measured + 2 * M.scale_error() * top
    if problem.kind == "svd":
        off = A.perturbation() or 0.0
        error += off * (2 * top**0.5 + off)
    k = pick(problem, values, total)
    if problem.repeatable and problem.kind == "svd" and suspects(values, k, _likely(A, V[:, :k], top, error), u):
        found, wider = repair(problem, A, G, theta, V, k, error, u, path), A.wider()
        if found is not None or wider is not None:
            return found or moments(problem, wider or A)
    V = leading(V, k)
    block = G @ V - V * theta[:k]
    return Pairs(
        values, V, block, error, counted(values, k, error), True, u, path, 1, error, positive=signless
    )  # fmt: skip


def _norm(G: Array) -> float:
    """‖G‖₂ from above: the largest sum of a row's magnitudes. The largest eigenvalue may be a negative one."""
    xp = namespace(G)
    return float(xp.max(xp.sum(xp.abs(G), axis=1)))
