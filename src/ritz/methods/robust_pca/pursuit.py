"""Principal component pursuit: a low-rank table and a sparse one that sum to the data.                     [CLMW11]

    min ‖L‖_* + λ‖S‖₁   subject to   L + S = X,      λ = 1/√max(n, d)

    L ← 𝒟_{1/μ}(X − S + Y/μ)      singular values less 1/μ
    S ← 𝒮_{λ/μ}(X − L + Y/μ)      entries less λ/μ
    Y ← Y + μ(X − L − S)          ADMM; μ is moved while the two residuals differ, then stays            [LCM10]

Rows that count w times: D_w^½ L and D_w^½ S solve the same problem with threshold λ√wᵢ in row i. Any Y with ‖Y‖₂ ≤ 1
and |Y| ≤ λ proves that no answer is below ⟨Y, X⟩: the gap to it is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pursued", "pursue"]

Floats = NDArray[np.float64]

#: Iterations after which μ stays as it is, how often and by what it is moved, and when: residuals that differ so much.
MOVES, EVERY, FACTOR, UNEVEN = 300, 5, 1.3, 2.0
#: Over-relaxation: a step of ADMM goes this far.
RELAX = 1.6


@dataclass(frozen=True)
class Pursued:
    """A low-rank and a sparse table."""

    low: Floats  # (n, d) L
    sparse: Floats  # (n, d) S
    rank: int
    iterations: int
    converged: bool
    residual: float  # ‖X − L − S‖_F/‖X‖_F
    gap: float  # (primal − dual)/primal


def pursue(X: Floats, weights: Any, penalty: float | None, *, tol: float, steps: int, tick: Any) -> Pursued:
    """Split a table; ``tick`` is called once an iteration with its number and its residual."""
    n, d = X.shape
    root = None if weights is None else np.sqrt(np.asarray(weights, np.float64))[:, None]
    M = X if root is None else X * root
    mass = float(n) if weights is None else float(np.sum(weights))
    lam = (1 / np.sqrt(max(mass, d)) if penalty is None else penalty) * (1.0 if root is None else root)
    size = float(np.linalg.norm(M))
    absolute = float(np.sum(np.abs(M) * (1.0 if root is None else root)))
    if size == 0:
        return Pursued(np.zeros((n, d)), np.zeros((n, d)), 0, 0, True, 0.0, 0.0)
    mu = mass * d / (4 * absolute)
    S, Y = np.zeros((n, d)), np.zeros((n, d))
    L, rank, primal, dual, it = S, 0, np.inf, np.inf, 0
    for it in range(1, steps + 1):
        L, rank = shrunk(M - S + Y / mu, 1 / mu)
        ahead = RELAX * L + (1 - RELAX) * (M - S)
        rest = M - ahead + Y / mu
        new = np.sign(rest) * np.maximum(np.abs(rest) - lam / mu, 0.0)
        Y = Y + mu * (M - ahead - new)
        primal = float(np.linalg.norm(M - L - new)) / size
        dual = float(np.linalg.norm(new - S)) / size
        S = new
        tick(it, primal)
        if primal <= tol and dual <= tol:
            break
        if it <= MOVES and it % EVERY == 0:
            mu *= FACTOR if primal > UNEVEN * dual else 1 / FACTOR if dual > UNEVEN * primal else 1.0
    gap = _gap(M, L, Y, lam)
    back = 1.0 if root is None else 1 / root
    return Pursued(L * back, S * back, rank, it, primal <= tol and dual <= tol, primal, gap)


def shrunk(M: Floats, threshold: float) -> tuple[Floats, int]:
    """Singular values less ``threshold``, by the Gram matrix of the smaller side; and how many are left."""
    if M.shape[1] > M.shape[0]:
        L, rank = shrunk(M.T, threshold)
        return L.T, rank
    values, V = np.linalg.eigh(M.T @ M)
    sigma = np.sqrt(np.maximum(values, 0.0))
    keep = sigma > threshold
    V = V[:, keep]
    return (M @ V) * ((sigma[keep] - threshold) / sigma[keep]) @ V.T, int(np.count_nonzero(keep))


def _gap(M: Floats, L: Floats, Y: Floats, lam: Any) -> float:
    """How far ‖L‖_* + λ‖M − L‖₁ can be above the least, as a share of it."""
    primal = float(np.sum(np.linalg.svd(L, compute_uv=False))) + float(np.sum(lam * np.abs(M - L)))
    worst = max(float(np.linalg.norm(Y, 2)), float(np.max(np.abs(Y) / lam)), 1e-300)
    dual = float(np.sum(Y * M)) / max(worst, 1.0)
    return max(primal - dual, 0.0) / max(primal, 1e-300)
