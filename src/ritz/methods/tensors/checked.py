"""Whether a certificate of a tensor is true, by other products than those of the fit.

The error is summed again over slices of the first mode, X̂ by einsum of all parts at once; what unfoldings leave is
computed by LAPACK's singular values where the tensor is small enough, and told as not looked at where it is not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.spectral.verify import Verification

__all__ = ["check_tensor"]

Floats = NDArray[Any]

#: Entries of a tensor whose unfoldings are decomposed anew.
DENSE = 4_000_000
#: Norms whose squares float64 holds with all their digits.
SQUARES = 1e-140, 1e150
#: Times the usual by which coordinates of slices may be off where terms are alike to rounding.
ALIKE = 10.0


def check_tensor(model: Any, X: Floats, room: float) -> Verification:
    """Compare what a model says of its error with the tensor."""
    c = model.certificate_
    wrong: list[str] = []
    if X.shape != model.shape_:
        return Verification(False, np.zeros(0), None, model.n_components_, None,
                            (f"a tensor of shape {X.shape}, and the model is of one of {model.shape_}",))  # fmt: skip
    off = size = 0.0
    step = max(1, int(min(1 << 22, room / 64) / max(1, math.prod(X.shape[1:]))))
    parts = range(0, len(X), step)
    unit = max((float(np.max(np.abs(X[a : a + step]), initial=0.0)) for a in parts), default=0.0) or 1.0
    for start in parts:
        part = np.asarray(X[start : start + step], np.float64)
        made = model._einsum(slice(start, start + step))
        size += float(np.sum(np.square(part / unit)))  # squares of the entries themselves may leave the range
        off += float(np.sum(np.square((part - made) / unit)))
    error, norm = math.sqrt(off) * unit, math.sqrt(size) * unit
    near = 1e-6 if model._record.dtype == np.float64 else 1e-3
    slack = min(2 * (c.error_high - c.error_low), near * norm) + 1e-12 * error + 1e-300
    if not abs(error - c.error) <= slack or not c.error_low - slack <= error <= c.error_high + slack:
        wrong.append(f"the error is {error:.6g}, told {c.error:.6g}")
    if not abs(norm - c.norm) <= 1e-10 * norm:
        wrong.append(f"‖X‖ is {norm:.6g}, told {c.norm:.6g}")
    if not c.holds():
        wrong.append("the bounds do not agree with each other")
    if abs(model.relative_error_ * norm - error) > slack + 1e-10 * error:
        wrong.append("relative_error_ of the model is not that of its certificate")
    bent = model._orthogonality()
    if bent > (1e-10 if model._record.dtype == np.float64 else 1e-4):
        wrong.append(f"{model._unit_parts} is off by {bent:.1e}")
    words = [f"error {error:.6g} computed anew, told {c.error:.6g}", f"{model._unit_parts} holds to {bent:.1e}"]
    placed = np.asarray(model._coordinates(np.asarray(model._einsum(slice(None)), np.float64)))
    apart = placed - np.asarray(model.embedding_, np.float64)
    gap = model._slices(apart / unit)  # measured by what it makes of slices
    held = float(np.linalg.norm(np.asarray(model.embedding_, np.float64) / unit))
    rounded = (1e-13 if model._record.dtype == np.float64 else 1e-5) * held
    if not float(np.linalg.norm(gap)) <= (ALIKE if _alike(model) else 1.0) * near * norm / unit + rounded + 1e-300:
        wrong.append("embedding_ does not hold the coordinates of the slices")
    if X.size <= DENSE:
        tails = [_left(X, axes, rank) for axes, rank in model._unfoldings()]
        least = max(tails, default=0.0)
        words.append(f"unfoldings decomposed anew: no tensor of these ranks comes nearer than {least:.6g}")
        if c.best_low > least + slack + 1e-10 * norm:
            wrong.append(f"the best error may be {least:.6g}, told to be at least {c.best_low:.6g}")
        wrong += _sums_wrong(c, tails, error / (norm or 1.0), norm)
    else:
        words.append("the bound on the best error was not computed anew: the tensor is large")
    return Verification(not wrong, np.array([abs(error - c.error)]), None, model.n_components_, None,
                        tuple(wrong or words))  # fmt: skip


def _sums_wrong(c: Any, tails: list[float], error: float, norm: float) -> list[str]:
    """What is wrong with the squares that steps left, whose sum is the squared error at least and so many times it, or
    what the unfoldings of X leave, at most; where squares are in range.
    """
    wrong: list[str] = []
    if c.constant < math.sqrt(len(tails)) * (1 - 1e-12):
        wrong.append(f"the error is at most √{len(tails)} times the best, told {c.constant:.6g} times")
    if len(c.discarded) != len(tails) or not SQUARES[0] < norm < SQUARES[1]:
        return wrong
    most, told = (math.fsum((one / norm) ** 2 for one in some) for some in (tails, np.sqrt(np.maximum(c.discarded, 0))))
    most = max(most, len(tails) * error**2)  # vectors to a tolerance leave more than the best ones
    near = 1e-10 + 1e-6 * most
    if told > most + near or (math.isfinite(c.bound) and told < error**2 * (1 - 1e-6) - near):
        wrong.append(f"steps leave between {error**2:.6g} and {most:.6g} of ‖X‖², told {told:.6g}")
    return wrong


def _left(X: Floats, axes: tuple[int, ...], rank: int) -> float:
    """What the unfolding of some modes against the others leaves beyond a rank."""
    rest = [mode for mode in range(X.ndim) if mode not in axes]
    A = np.transpose(np.asarray(X, np.float64), (*axes, *rest)).reshape(math.prod(X.shape[m] for m in axes), -1)
    scale = float(np.max(np.abs(A), initial=0.0)) or 1.0
    return float(np.linalg.norm(np.linalg.svd(A / scale, compute_uv=False)[rank:])) * scale


def _alike(model: Any) -> bool:
    """Whether some terms of a model are alike, so that inner products of terms cannot be inverted."""
    turn = getattr(model._record, "turn", None)
    return turn is not None and int(np.linalg.matrix_rank(turn)) < len(turn)
