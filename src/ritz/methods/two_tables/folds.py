"""How many components predict best: k-fold cross-validation with all numbers of components at once.

    fold f left out:   W, T = QRₜ, QᵀỸ  of the others     Ŷ_f(a) = Σ_{b ≤ a} (Z_f W Rₜ⁻¹)_b (QᵀỸ)_b       a = 0 … most
    RMSEP(a) = √(Σ_f ‖Ỹ_f − Ŷ_f(a)‖²_w / (Σw·q)),    Y in the frame of the fold, scaled where the fit does

The number taken is the smallest whose error is not more than one standard error of the folds above the least [HTF09].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.random import seed_of
from ritz.data.passes.blocks import are_blocks
from ritz.methods.two_tables.joint import joint_of

__all__ = ["Folded", "folded"]

Floats = NDArray[np.float64]

#: Folds, and components that are tried at most.
FOLDS, MOST = 10, 30


@dataclass(frozen=True)
class Folded:
    """The number that was chosen, with the errors of all."""

    k: int
    errors: Floats  # (most + 1,) RMSEP of 0, 1, … components
    why: str


def folded(model: Any, rows: Any, Y: Floats, weights: Floats | None, most: int) -> Folded:
    """The number of components by cross-validation."""
    if are_blocks(rows):
        raise InputError(
            "n_components='kfold' leaves out rows, and needs them in memory", received="rows that are read in pieces",
            hint="choose the number on a sample of the rows, and give it here",
        )  # fmt: skip
    n = int(rows.shape[0])
    count = min(FOLDS, n)
    if n < 4:
        raise InputError("n_components='kfold' needs at least 4 rows", received=f"n_samples={n}", hint="n_components=1")
    turn = np.random.default_rng(seed_of(model.random_state)).permutation(n)
    places = np.array_split(turn, count)
    largest = max(1, min(most, MOST, n - max(map(len, places)) - 1))
    squares = np.stack([_fold(model, rows, Y, weights, np.sort(fold), largest) for fold in places])
    total = float(n if weights is None else np.sum(weights)) * Y.shape[1]
    errors = np.sqrt(np.sum(squares[:, :, 0], axis=0) / total)
    means = squares[:, :, 0] / squares[:, :, 1]
    best = 1 + int(np.argmin(errors[1:]))
    slack = float(np.std(means[:, best], ddof=1) / np.sqrt(count))
    within = np.flatnonzero(errors[1:] ** 2 <= errors[best] ** 2 + slack)
    k = 1 + int(within[0])
    why = (
        f"{k} component{'s' if k != 1 else ''}: of {count} folds, the smallest number within one standard error of the "
        f"least error of prediction, {errors[best]:.4g} with {best}"
    )
    return Folded(k, errors, why)


def _fold(model: Any, rows: Any, Y: Floats, weights: Floats | None, out: Any, most: int) -> Floats:
    """Weighted squared errors of a fold with 0 … most components, and the weight behind them, (most + 1, 2)."""
    seen = np.setdiff1d(np.arange(len(Y)), out)
    joint = joint_of(model, rows[seen], Y[seen], None if weights is None else weights[seen], scale=bool(model.scale))
    found = model._directions(joint, min(most, joint.d, joint.rows - 1))
    w = np.ones(len(out)) if weights is None else weights[out]
    Z, left = joint.x.framed(rows[out]), joint.y.framed(Y[out])
    Q, R = np.linalg.qr(joint.X @ found.rotations)
    T = scipy.linalg.solve_triangular(R, (Z @ found.rotations).T, trans="T", check_finite=False).T
    C = Q.T @ joint.Y
    errors = np.empty((most + 1, 2))
    errors[:, 1] = float(np.sum(w)) * Y.shape[1]
    errors[0, 0] = float(w @ np.square(left).sum(axis=1))
    for a in range(most):
        if a < T.shape[1]:
            left = left - np.outer(T[:, a], C[a])
        errors[a + 1, 0] = float(w @ np.square(left).sum(axis=1))
    return errors
