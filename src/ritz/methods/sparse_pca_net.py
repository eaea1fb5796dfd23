"""Sparse components as a regression: the elastic net of Zou, Hastie and Tibshirani.                        [ZHT06]

    min over A, B of  Σⱼ (aⱼ − bⱼ)ᵀ C (aⱼ − bⱼ) + ρ‖bⱼ‖² + αⱼ‖bⱼ‖₁     subject to AᵀA = I          C (d×d), A, B (d×k)

    given A, every bⱼ is an elastic net in Gram form;   given B, CB = U S Wᵀ and A = U Wᵀ;   loadings bⱼ/‖bⱼ‖

Only the covariance enters, never the rows. ``counts`` instead of penalties: the point of the path at which bⱼ has that
many entries and would get one more. ρ = ∞ is soft thresholding of Caⱼ, for far more columns than rows. A penalty never
takes the last entry of a component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Net", "elastic_net", "lasso", "lasso_of_size"]

Floats = NDArray[np.float64]

#: Sweeps over the active entries before the gradient of the others is looked at again.
SWEEPS = 1000
#: Change of an entry, relative to the largest, at which sweeps end.
STILL = 1e-13


@dataclass(frozen=True)
class Net:
    """Sparse loadings."""

    loadings: Floats  # (d, k) unit columns
    iterations: int
    converged: bool
    change: float  # of the loadings in the last iteration


def elastic_net(
    C: Floats, start: Floats, penalties: Floats | None, counts: Any, ridge: float, *, tol: float, steps: int, tick: Any
) -> Net:
    """Alternate until no loading changes by more than ``tol``; ``start`` (d, k) are the ordinary axes."""
    A, B = start.copy(), start.copy()
    change, it = np.inf, 0
    for it in range(1, steps + 1):
        before = _unit(B)
        for j in range(A.shape[1]):
            right = C @ A[:, j]
            if counts is not None:
                B[:, j] = lasso_of_size(C, right, ridge, int(counts[j]))
            elif penalties is not None:
                B[:, j] = _never_empty(lasso(C, right, ridge, float(penalties[j]), B[:, j]), C, right)
        U, _, Wt = np.linalg.svd(C @ B, full_matrices=False)
        A = U @ Wt
        change = float(np.max(np.abs(_unit(B) - before), initial=0.0))
        tick(it, change)
        if change <= tol:
            break
    return Net(_unit(B), it, change <= tol, change)


def _never_empty(b: Floats, C: Floats, right: Floats) -> Floats:
    """A penalty that leaves nothing leaves the entry that comes first on the path, unpenalised."""
    if not bool(np.any(b)):
        j = int(np.argmax(np.abs(right)))
        b[j] = right[j] / max(float(C[j, j]), 1e-300) if right[j] else 1.0
    return b


def _unit(B: Floats) -> Floats:
    length = np.linalg.norm(B, axis=0)
    return B / np.where(length > 0, length, 1.0)


def lasso(C: Floats, right: Floats, ridge: float, penalty: float, start: Floats) -> Floats:
    """argmin bᵀ(C + ρI)b − 2bᵀr + α‖b‖₁, (d,)."""
    half = penalty / 2
    if np.isinf(ridge):  # (C + ρI)/(1 + ρ) → I
        return _soft(right, half)
    b = np.array(start, np.float64)
    slack = 1e-12 * float(np.max(np.abs(right), initial=0.0))
    for _ in range(len(b) + 1):
        gradient = right - C @ b - ridge * b
        active = np.flatnonzero((b != 0) | (np.abs(gradient) > half + slack))
        if len(active) == 0:
            return np.zeros_like(b)
        M = C[np.ix_(active, active)] + ridge * np.eye(len(active))
        b[active] = _settle(M, right[active], half, b[active])
        wrong = np.abs(right - C @ b - ridge * b) > half + slack
        if not bool(np.any(wrong[b == 0])):
            return b
    return b


def _settle(M: Floats, right: Floats, half: float, start: Floats) -> Floats:
    """The same on few entries: solved at once where the signs are already right, else by coordinate descent."""
    sign = np.sign(start)
    if bool(np.all(sign != 0)):
        b = np.asarray(np.linalg.solve(M, right - half * sign), np.float64)
        if bool(np.all(np.sign(b) == sign)):
            return b
    b, left = start.copy(), right - M @ start
    diagonal = np.diag(M)
    for _ in range(SWEEPS):
        moved = 0.0
        for j in range(len(b)):
            old = float(b[j])
            pull = float(left[j] + diagonal[j] * old)
            new = np.sign(pull) * max(abs(pull) - half, 0.0) / float(diagonal[j])
            if new != old:
                b[j] = new
                left -= (new - old) * M[:, j]
                moved = max(moved, abs(new - old))
        if moved <= STILL * float(np.max(np.abs(b), initial=0.0)):
            break
    return b


def _soft(values: Floats, half: float) -> Floats:
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - half, 0.0), np.float64)


def lasso_of_size(C: Floats, right: Floats, ridge: float, count: int) -> Floats:
    """The last point of the path with at most ``count`` entries, (d,)."""
    if np.isinf(ridge):
        order = np.sort(np.abs(right))[::-1]
        return _soft(right, float(order[count]) if count < len(order) else 0.0)
    from sklearn.linear_model import lars_path_gram

    M = C + ridge * np.eye(len(C))
    steps = min(2 * count + 8, 8 * len(C))  # a step adds an entry, or now and then drops one
    while True:
        _, _, path = lars_path_gram(Xy=right, Gram=M, n_samples=1, method="lasso", alpha_min=0, max_iter=steps)
        sizes = np.count_nonzero(path, axis=0)
        beyond = np.flatnonzero(sizes > count)
        if len(beyond) or path.shape[1] <= steps:
            last = beyond[0] - 1 if len(beyond) else path.shape[1] - 1
            return np.asarray(path[:, last], np.float64)
        steps *= 2
