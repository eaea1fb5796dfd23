"""The variances off the plane: from the moment state, from the rows, or from random probes.

    C_r = (I − BᵀB) C (I − BᵀB),   θᵢ = tr C_rⁱ

A direct solver knows all variances, and a model that keeps its moment state knows C: no row is read. Otherwise one
pass forms C_r from the residual rows (d ≤ 5,000), or their Gram matrix (n ≤ 5,000 in memory); beyond both θ₂ and θ₃ are
estimated from random signs g:

    θ₂ ≈ mean ‖C_r g‖²,   θ₃ ≈ mean (C_r g)ᵀ C_r (C_r g)                                        [Hutchinson90]

θ₁ is the exact trace in every case; a state that cannot tell it (``methods/rest.py``) needs the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, MemoryBlocks, blocks_of
from ritz.data.passes.center import taken_off
from ritz.data.passes.moments import Moments
from ritz.data.validate import validate_weights
from ritz.insight.rows.limits_gauss import Rest, Thetas
from ritz.insight.rows.plane import Plane, rows_of
from ritz.methods.fitted import fitted_of
from ritz.methods.rest import squares_off
from ritz.operators.affine import Affine

__all__ = ["rest_of"]

Floats = NDArray[np.float64]

#: Side of the largest matrix whose eigenvalues are computed.
LARGEST = 5_000
#: Random probes of θ₂ and θ₃ beyond.
PROBES = 128
#: Columns that are multiplied at once.
PANEL = 4_096


def rest_of(plane: Plane, X: Any = None, sample_weight: Any = None) -> Rest:
    """The spectrum off the plane of a model; ``X`` and its weights are the rows of the fit."""
    lost = bool(np.isnan(plane.rest))
    if plane.rest <= 0 or plane.k >= min(plane.d, plane.degrees):
        return Rest(Thetas(0.0, 0.0, 0.0), np.zeros(0), "nothing is left off the plane")
    variances = None if lost else _kept(plane)
    if variances is not None:
        return _ordered(variances, plane, "the spectrum that the model keeps")
    state = fitted_of(plane.model).state
    if isinstance(state, Moments) and not lost:
        return _from_state(plane, state, "the moment state of the model")
    if X is None and lost:
        raise InputError(
            "the limit of spe needs the variance off the plane, which was lost when the rows were added up",
            received="a moment state in which the variance of one direction hides that of the others",
            hint="pass the rows of the fit: limits(model, X=X)",
        )
    if X is None:
        raise InputError(
            "the limit of spe needs the variances that were left out, which this model does not keep",
            received=f"a {type(plane.model).__name__} of {plane.d:,} columns without its moment state",
            hint="pass the rows of the fit: limits(model, X=X), or fit with mergeable=True",
        )
    rows = rows_of(plane.model, X)
    weights = None if sample_weight is None else validate_weights(sample_weight, rows.shape[0])
    if plane.d <= LARGEST:
        C = blocks_of(rows).map_reduce(lambda: _Residual(plane, weights), _feed).total / plane.divisor
        plane = replace(plane, rest=float(np.trace(C))) if lost else plane
        return _ordered(np.asarray(np.linalg.eigvalsh(C), np.float64), plane, "one pass over the rows")
    if lost:
        frame = {"mean": plane.mean, "low": plane.low, "scale": plane.scale}
        plane = replace(plane, rest=squares_off(rows, weights, plane.basis.T, frame) / plane.divisor)
    if rows.shape[0] <= LARGEST and isinstance(blocks_of(rows), MemoryBlocks):
        return _ordered(_dual(plane, blocks_of(rows), weights), plane, "the residual rows")
    return _probed(plane, blocks_of(rows), weights)


class _Residual(Sums):
    """Σ w e eᵀ, e what the plane leaves of a row: formed from the row, it does not drown beside a far one."""

    SUMS = ("total",)

    def __init__(self, plane: Plane, weights: Floats | None) -> None:
        self.frame, self.weights = plane.frame, weights
        self.total = np.zeros((plane.d, plane.d))


def _feed(sums: _Residual, block: Block) -> None:
    x = block.values
    left = sums.frame.dense(x if isinstance(x, np.ndarray) else x.toarray()).left
    if left is not None:
        w = np.ones(len(left)) if sums.weights is None else sums.weights[block.rows]
        left = np.where(w[:, None] > 0, left, 0.0) * np.sqrt(w)[:, None]
        sums.total += left.T @ left


def _kept(plane: Plane) -> Floats | None:
    """Variances off the plane that the model itself remembers: a direct solver knows all of them."""
    fitted = fitted_of(plane.model)
    if fitted.variances_off is not None:
        return fitted.variances_off
    seen = fitted.seen
    if seen is None or not seen.complete or not plane.chosen:
        return None
    return seen.values[plane.k :] / plane.divisor


def _ordered(values: Floats, plane: Plane, words: str) -> Rest:
    most = max(0, min(plane.d, int(plane.degrees)) - plane.k)
    rest = np.maximum(np.sort(values)[::-1][:most], 0.0)
    total = float(np.sum(rest))
    rest = rest * (plane.rest / total) if total > 0 else rest  # θ₁ is known exactly
    return Rest(Thetas.of(rest), rest, f"variances off the plane from {words}")


def _from_state(plane: Plane, state: Moments, words: str) -> Rest:
    C = (state.scatter if plane.centered else state.second_moment()) * (state.unit**2 / plane.divisor)
    if plane.scale is not None:
        C = C / plane.scale[:, None] / plane.scale
    B = plane.basis
    C = C - B.T @ (B @ C)
    C = C - (C @ B.T) @ B
    return _ordered(np.asarray(np.linalg.eigvalsh((C + C.T) / 2), np.float64), plane, words)


def _dual(plane: Plane, blocks: Any, weights: Floats | None) -> Floats:
    """Eigenvalues of E Eᵀ/s, E the residual rows, summed over panels of columns."""
    n, d = blocks.shape
    root = np.ones(n) if weights is None else np.sqrt(weights)
    Y, G = np.zeros((n, plane.k)), np.zeros((n, n))
    panels = [slice(a, min(a + PANEL, d)) for a in range(0, d, PANEL)]

    def panel(columns: slice) -> Floats:
        center = tuple(None if mean is None else mean[columns] for mean in (plane.mean, plane.low))
        z = taken_off(blocks.panel(0, n, columns), *center)
        return z if plane.scale is None else z / plane.scale[columns]

    for columns in panels:
        Y += panel(columns) @ plane.basis[:, columns].T
    for columns in panels:
        E = (panel(columns) - Y @ plane.basis[:, columns]) * root[:, None]
        G += E @ np.ascontiguousarray(E.T)
    return np.asarray(np.linalg.eigvalsh(G / plane.divisor), np.float64)


def _probed(plane: Plane, blocks: Any, weights: Floats | None) -> Rest:
    A = Affine(
        blocks, shift=plane.mean, shift_low=plane.low, col_scale=None if plane.scale is None else 1 / plane.scale,
        row_scale=None if weights is None else np.sqrt(weights),
    )  # fmt: skip
    B = plane.basis
    G = np.random.default_rng(0).choice([-1.0, 1.0], size=(plane.d, PROBES))
    unit = plane.divisor * plane.rest  # in units of θ₁ powers stay in range
    Y = A.normal(G - B.T @ (B @ G)) / unit
    Y = Y - B.T @ (B @ Y)
    two, three = np.einsum("ij,ij->j", Y, Y), np.einsum("ij,ij->j", Y, A.normal(Y) / unit)
    spread = float(np.std(two) / np.sqrt(PROBES) / max(np.mean(two), 1e-300))
    words = f"variances off the plane from {PROBES} random probes: θ₂ to about {100 * spread:.1f} %"
    # powers of one sequence: θ₂² ≤ θ₁θ₃ and θ₂ ≤ θ₁² hold for the estimates too
    second = min(float(np.mean(two)), 1.0)
    return Rest(Thetas(plane.rest, second, max(float(np.mean(three)), second**2)), None, words)
