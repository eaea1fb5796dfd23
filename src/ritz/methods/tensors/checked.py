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


def check_tensor(model: Any, X: Floats, room: float) -> Verification:
    """Compare what a model says of its error with the tensor."""
    c = model.certificate_
    wrong: list[str] = []
    if X.shape != model.shape_:
        return Verification(False, np.zeros(0), None, model.n_components_, None,
                            (f"a tensor of shape {X.shape}, and the model is of one of {model.shape_}",))  # fmt: skip
    off = size = 0.0
    step = max(1, int(min(1 << 22, room / 64) / max(1, math.prod(X.shape[1:]))))
    for start in range(0, len(X), step):
        part = np.asarray(X[start : start + step], np.float64)
        made = model._einsum(slice(start, start + step))
        scale = float(np.max(np.abs(part), initial=0.0)) or 1.0
        size += float(np.sum(np.square(part / scale))) * scale * scale
        off += float(np.sum(np.square((part - made) / scale))) * scale * scale
    error, norm = math.sqrt(off), math.sqrt(size)
    slack = 2 * (c.error_high - c.error_low) + 1e-12 * error + 1e-300
    if not abs(error - c.error) <= slack:
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
    near = 1e-6 if model._record.dtype == np.float64 else 1e-3
    if not np.allclose(placed, model.embedding_, atol=near * max(norm, 1e-300)):
        wrong.append("embedding_ does not hold the coordinates of the slices")
    if X.size <= DENSE:
        least = max((_left(X, axes, rank) for axes, rank in model._unfoldings()), default=0.0)
        words.append(f"unfoldings decomposed anew: no tensor of these ranks comes nearer than {least:.6g}")
        if c.best_low > least + slack + 1e-10 * norm:
            wrong.append(f"the best error may be {least:.6g}, told to be at least {c.best_low:.6g}")
    else:
        words.append("the bound on the best error was not computed anew: the tensor is large")
    return Verification(not wrong, np.array([abs(error - c.error)]), None, model.n_components_, None,
                        tuple(wrong or words))  # fmt: skip


def _left(X: Floats, axes: tuple[int, ...], rank: int) -> float:
    """What the unfolding of some modes against the others leaves beyond a rank."""
    rest = [mode for mode in range(X.ndim) if mode not in axes]
    A = np.transpose(np.asarray(X, np.float64), (*axes, *rest)).reshape(math.prod(X.shape[m] for m in axes), -1)
    scale = float(np.max(np.abs(A), initial=0.0)) or 1.0
    return float(np.linalg.norm(np.linalg.svd(A / scale, compute_uv=False)[rank:])) * scale
