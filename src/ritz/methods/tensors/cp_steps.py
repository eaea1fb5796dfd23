"""Sums of products that come nearer to a tensor: alternating least squares, and damped Gauss–Newton steps.  [TB06]

    f = ½‖X − Σ_r a_r ⊗ b_r ⊗ …‖²        ∂f/∂A_m = A_m Γ_m − X₍ₘ₎(⊙ others),    Γ_m = ∗_{j≠m} AⱼᵀAⱼ
    JᵀJ: modes m ≠ n   Γ_mn[r, s] A_m[i, s] A_n[j, r]            a mode with itself   Γ_m[r, s] δ_ij

A sweep of least squares is cheap and creeps where terms are alike; Gauss–Newton does not, and costs the cube of all
unknowns, so it is taken where these are few.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.linalg import signs
from ritz.methods.tensors.parts import kruskal

__all__ = ["alternated", "balanced", "compressed", "damped", "normalised", "slopes"]

Floats = NDArray[Any]

#: Factor of damping at most, after which nothing nearer is found.
STUCK = 1e12
#: What is added to normal equations of a start, in units of their largest entry.
RIDGE = 1e-14


def slopes(X: Floats, A: list[Floats], square: float) -> tuple[list[Floats], float]:
    """∂f/∂A_m of every mode, and the largest ‖∂f/∂A_m‖‖A_m‖/‖X‖²."""
    inner = [B.T @ B for B in A]
    grads = [A[m] @ _product(inner, m) - times_others(X, A, m) for m in range(len(A))]
    return grads, max(float(np.linalg.norm(g) * np.linalg.norm(B)) for g, B in zip(grads, A, strict=True)) / square


def damped(X: Floats, A: list[Floats], square: float, most: int, tol: float) -> tuple[list[Floats], int, float]:
    """Gauss–Newton steps with damping, until the gradient is small or nothing nearer is found."""
    A, damping, steps = balanced(A), 1e-3, 0
    grads, off = slopes(X, A, square)
    best = _away(X, A)
    while steps < most and off > tol:
        steps += 1
        H = _normal(A)
        top, g = float(np.max(np.diag(H))), np.concatenate([grad.T.ravel() for grad in grads])
        while damping < STUCK:
            try:
                factor = scipy.linalg.cho_factor(H + damping * top * np.eye(len(H)), check_finite=False)
            except scipy.linalg.LinAlgError:
                damping *= 10
                continue
            tried = _moved(A, scipy.linalg.cho_solve(factor, -g, check_finite=False))
            away = _away(X, tried)
            if away <= best:
                break
            damping *= 4
        else:
            break
        A, best, damping = balanced(tried), away, max(damping / 5, 1e-14)
        grads, off = slopes(X, A, square)
    return A, steps, off


def balanced(A: list[Floats]) -> list[Floats]:
    """The same terms with columns of equal length in all modes."""
    weights, A = normalised(A)
    return [B * weights ** (1 / len(A)) for B in A]


def _away(X: Floats, A: list[Floats]) -> float:
    return float(np.linalg.norm(X - kruskal(np.ones(A[0].shape[1]), A)))


def _moved(A: list[Floats], move: Floats) -> list[Floats]:
    out, at = [], 0
    for B in A:
        out.append(B + move[at : at + B.size].reshape(B.shape[::-1]).T)
        at += B.size
    return out


def _product(inner: list[Floats], *without: int) -> Floats:
    out = np.ones_like(inner[0])
    for m, one in enumerate(inner):
        out = out if m in without else out * one
    return out


def _normal(A: list[Floats]) -> Floats:
    """JᵀJ with unknowns term by term within a mode."""
    inner, R = [B.T @ B for B in A], A[0].shape[1]
    blocks: list[list[Any]] = [[None] * len(A) for _ in A]
    for m, B in enumerate(A):
        blocks[m][m] = np.kron(_product(inner, m), np.eye(len(B)))
        for n in range(m + 1, len(A)):
            G = _product(inner, m, n)  # [r, i, s, j] = G[r, s] A_m[i, s] A_n[j, r]
            made = np.einsum("rs,is,jr->risj", G, B, A[n]).reshape(R * len(B), R * len(A[n]))
            blocks[m][n], blocks[n][m] = made, made.T
    return np.block(blocks)


def times_others(X: Floats, A: list[Floats], mode: int) -> Floats:
    """X₍ₘ₎ times the Khatri–Rao product of all other factors, (n_m, R)."""
    p = X.ndim
    if mode == p - 1:
        Y = np.tensordot(A[0], np.asarray(X, np.float64), (0, 0))  # (R, n₂, …)
        for other in range(1, p - 1):
            Y = np.einsum("ri...,ir->r...", Y, A[other])
        return Y.T
    Y = np.tensordot(np.asarray(X, np.float64), A[-1], (p - 1, 0))  # (…, n_{p−1}, R)
    for other in range(p - 2, mode, -1):
        Y = np.einsum("...ir,ir->...r", Y, A[other])
    for other in range(mode):
        Y = np.einsum("i...r,ir->...r", Y, A[other])
    return Y


def compressed(core: Floats, A: list[Floats], most: int, still: float) -> tuple[list[Floats], float]:
    """Sweeps of alternating least squares over a small core, held unfolded along every mode; the squared error.

    Ends where a sweep takes off less than ``still`` of ‖core‖²; a ridge of rounding keeps normal equations regular.
    """
    p, R, whole, A = core.ndim, A[0].shape[1], float(np.vdot(core, core)), list(A)
    unfolded = [np.ascontiguousarray(np.moveaxis(core, m, 0)).reshape(len(A[m]), -1) for m in range(p)]
    inner, off = [B.T @ B for B in A], math.inf
    for _ in range(most):
        for m in range(p):
            others = [j for j in range(p) if j != m]
            K, G = A[others[0]], inner[others[0]].copy()
            for j in others[1:]:
                K = (K[:, None] * A[j]).reshape(-1, R)
                G *= inner[j]
            Y = unfolded[m] @ K
            ridged = G.copy()
            ridged.ravel()[:: R + 1] += RIDGE * G.max() + 1e-300
            _, solved, failed = scipy.linalg.lapack.dposv(ridged, Y.T)
            A[m] = np.linalg.lstsq(G, Y.T, rcond=1e-14)[0].T if failed else solved.T
            inner[m] = A[m].T @ A[m]
        before, off = off, whole - 2 * float(np.vdot(Y, A[-1])) + float(np.vdot(G, inner[-1]))
        if not before - off > still * whole:
            break
    return A, off


def alternated(X: Floats, A: list[Floats], square: float, most: int, tol: float) -> tuple[list[Floats], int, float]:
    """Sweeps of alternating least squares over X until the gradient is small."""
    p, off, sweeps = X.ndim, math.inf, 0
    weights, A = normalised(A)
    A = [B * weights ** (1 / p) for B in A]
    while sweeps < most:
        sweeps, off = sweeps + 1, 0.0
        for mode in range(p):
            Y = times_others(X, A, mode)
            G = np.ones((A[0].shape[1],) * 2)
            for other in range(p):
                G = G if other == mode else G * (A[other].T @ A[other])
            slope = np.linalg.norm(Y - A[mode] @ G) * np.linalg.norm(A[mode]) / square
            off = max(off, float(slope))
            A[mode] = np.linalg.lstsq(G, Y.T, rcond=1e-14)[0].T
        if off <= tol:
            break
        weights, A = normalised(A)
        A = [B * weights ** (1 / p) for B in A]
    return A, sweeps, off


def normalised(A: list[Floats]) -> tuple[Floats, list[Floats]]:
    """Terms by decreasing weight, columns of length 1; signs by the rule in all modes but the first."""
    weights, out = np.ones(A[0].shape[1]), []
    for B in A:
        size = np.linalg.norm(B, axis=0)
        first = np.zeros_like(B)
        first[0] = 1.0
        out.append(np.where(size > 0, B / np.where(size > 0, size, 1.0), first))
        weights = weights * size
    for mode in range(1, len(out)):
        side = signs(out[mode])
        out[mode], out[0] = out[mode] * side, out[0] * side
    order = np.argsort(-weights, kind="stable")
    return weights[order], [B[:, order] for B in out]
