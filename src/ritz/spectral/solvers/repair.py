"""Repair: the iterated scaled-Gram pass, which restores what a Gram matrix lost.

With orthonormal W (d×p):  B = A W (one pass, never stored),  G = BᵀB,  ν = √diag G,  Ĝ = ν⁻¹Gν⁻¹ = EΩEᵀ,
R = Ω^½ Eᵀ diag(ν)  (RᵀR = G),  R = ŨΣVᵀ,  W ← W V.

Each entry of G is accurate relative to its own two columns, so scaling makes Ĝ as well conditioned as B's columns are
orthogonal: the first pass resolves σ/σ₁ down to u^½ beyond where W started, the second to u. Done when Ĝ ≈ I; that
is the certificate: the columns of A W are orthogonal to working precision, their norms are the singular values, and

    |σ̂ᵢ − σᵢ| ≤ c·u·σ₁        for every i when W is square.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ritz._core.linalg import eigh, qr
from ritz._core.tolerance import NOISE_FLOOR, REPAIR_PASSES, rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.constants import REPAIR_MARGIN
from ritz.spectral.found import Found
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.dense import Vector, counted, pick

__all__ = ["repair", "scaled_gram_step"]

#: Ĝ counts as the identity when no pair of its columns is further from orthogonal than this.
ORTHOGONAL = 1e-3


def scaled_gram_step(G: Vector, floor: float) -> tuple[Vector, Vector, float]:
    """Singular values and right vectors of B from G = BᵀB; and how far B's columns were from orthogonal."""
    nu = np.sqrt(np.maximum(np.diag(G), 0.0))
    safe = np.where(nu > 0, nu, 1.0)
    scaled = G / safe[:, None] / safe
    np.fill_diagonal(scaled, np.where(nu > 0, 1.0, 0.0))
    real = nu > floor
    off = np.abs(scaled[np.ix_(real, real)] - np.eye(int(real.sum())))
    omega, E = eigh(scaled)
    R = np.sqrt(np.maximum(omega, 0.0))[:, None] * E.T * nu
    _, sigma, Vt = scipy.linalg.svd(R, lapack_driver="gesvd", check_finite=False)
    return sigma, Vt.T, float(np.max(off, initial=0.0))


def repair(
    problem: SpectralProblem,
    A: Operator,
    G: Vector,
    values: Vector,
    V: Vector,
    k: int,
    error: float,
    u: float,
    path: str,
) -> Found | None:
    """Leading pairs of AᵀA to the accuracy of a dense SVD, by reading the data again.

    None where all directions of a float32 Gram matrix would have to be read: forming it in float64 costs less.
    """
    d = G.shape[0]
    top = float(np.sqrt(values[0]))
    values, V, W, whole = _start(G, values, V, k, error, u)
    if whole and u > unit_roundoff(np.float64):
        return None
    floor = NOISE_FLOOR * u * np.sqrt(d) * top
    sigma, turns = np.sqrt(values[: W.shape[1]]), 0
    while turns < REPAIR_PASSES:
        turns += 1
        sigma, turn, off = scaled_gram_step(A.gram(W), floor)
        W, _ = _orthonormal(W @ turn)
        if off < ORTHOGONAL:
            break
    found = np.square(sigma)
    total = float(np.sum(found)) if whole else float(np.trace(G))
    k = pick(problem, found if whole else values, total) if problem.rule is not None else k
    sigma_error = 0.5 * rounding(d, u) * top + u * np.sqrt(A.inflation()) + A.scale_error() * top
    Vk = np.ascontiguousarray(W[:, :k])
    block = G @ Vk - Vk * found[:k]
    if not whole:
        # Only a subspace was read again: its Ritz values bound from below (Cauchy), the Gram matrix from above (Weyl).
        following = np.concatenate([found[:k], values[k:]])
        foot = np.maximum(found[:k] - 2 * sigma[:k] * sigma_error, values[:k] - error)
        return Found(
            following, Vk, block, error, counted(following, k, error), True, u, _words(path, turns), 1 + turns, error,
            upper=np.maximum(values[:k] + error, found[:k]), lower=np.minimum(foot, found[:k]),
        )  # fmt: skip
    slack = 2 * sigma_error * top
    return Found(
        found,
        Vk,
        block,
        error,
        counted(found, k, slack),
        True,
        u,
        _words(path, turns),
        1 + turns,
        slack,
        sigma_error,
    )


def _start(G: Vector, values: Vector, V: Vector, k: int, error: float, u: float) -> tuple[Vector, Vector, Vector, bool]:
    """Directions to read again: a margin beyond k where that is enough, all otherwise.

    Rayleigh–Ritz on the leading ``width`` eigenvectors errs by error²/gap, the gap reaching across the margin.
    """
    d, width = G.shape[0], k + max(REPAIR_MARGIN, k // 4)
    if k > 0 and width + 1 < d / 2:
        if len(values) <= width:
            values, V = eigh(G, width + 1)
            values = np.maximum(values, 0.0)
        gap = float(values[k - 1] - values[width])
        if gap > 0 and error * error / gap <= 30 * u * np.sqrt(values[0] * values[k - 1]):
            return values, V, np.ascontiguousarray(V[:, :width]), False
    if V.shape[1] < d:
        values, V = eigh(G)
        values = np.maximum(values, 0.0)
    return values, V, V, True


def _orthonormal(W: Any) -> tuple[Any, Any]:
    """W with its orthonormality restored; the diagonal of R is made positive so that columns keep their direction."""
    Q, R = qr(W)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * signs, R


def _words(path: str, turns: int) -> str:
    return f"{path}, repaired by {turns} scaled-Gram pass{'es' if turns > 1 else ''}"
