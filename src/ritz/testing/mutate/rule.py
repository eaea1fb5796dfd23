"""When a change is too small to be found: it stays within the accuracy that is promised for the number.

bounds (lower, upper, residuals, ceiling, …)   ρ, the rounding that every one of them contains
angles, cluster sines                          what ρ makes of a sine: a share ρ/(‖r‖ + ρ) of it, and 1e-6
orthogonality                                  four times the rounding of the product that measured it
total, mean, scale                             1,000 roundings of the arithmetic named
second parts (what rounding took)              1e-9 standard deviations of a mean, 1e-9 of Σw − 1, one rounding
how far a search has come (gradients)          1e-9, and 1e-6 of it (2 % of that of t-SNE, from other affinities)
weights of a network of rows of unit size      1e-9, and 1e-6 of the largest
fitted numbers                                 1e-6 of the largest (1e-4 in float32), which a second fit agrees to
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.tolerance import defect_rounding
from ritz.methods.record import value_of, values_of
from ritz.methods.verify.again import WEIGHTS, WEIGHTS_TO
from ritz.methods.verify.certificates import REACHED, REACHED_TO
from ritz.testing.mutate.targets import plain

__all__ = ["small"]

#: What rounding took from numbers that are kept in two parts.
STEEP = 2.1e-2
TWO_PARTS = ("_mean_low", "_weight_low", "scatter_low", "offset_low", "weight_low")
#: Fields of a certificate in units of eigenvalues.
BOUNDS = ("values", "lower", "upper", "residuals", "ceiling", "rounding", "estimate")


def small(model: Any, path: str, old: Any, new: Any) -> bool:
    """Whether a change need not be found."""
    if isinstance(old, str):
        return False
    a, b = np.asarray(old, float), np.asarray(new, float)
    if bool(np.any(np.isfinite(a) != np.isfinite(b))):
        return False
    with np.errstate(invalid="ignore"):
        moved = float(np.max(np.abs(b - a), initial=0.0, where=np.isfinite(a)))
    return moved <= _accuracy(model, path, a)


def _accuracy(model: Any, path: str, old: Any) -> float:
    model, path = _holder(model, path), plain(path)
    c, name = model.certificate_, path.rsplit(".", 1)[-1]
    rho, top = float(c.rounding), float(np.max(c.values, initial=0.0))
    size = float(np.max(np.abs(old), initial=0.0, where=np.isfinite(old)))
    if name in REACHED:
        return REACHED_TO + (STEEP * size if name == "gradient_norm_" else 1e-6 * size)
    if path.startswith("certificate_.frame.grounds"):
        return rho + 1e-6 * size  # what bounds are derived from: those are checked as well
    if path == "certificate_.frame.inexact":
        return 1000 * 2.0**-53  # an allowance for the rounding of entries; more than that is no rounding
    if path.startswith("certificate_.clusters"):
        return 0.5 * size  # between the largest residual of the members and their root sum of squares
    if path.startswith("certificate_.") and "frame" not in path:
        if name in BOUNDS:
            return (rho if name != "rounding" else 0.0) + 1e-6 * size
        if name == "angles":
            return 1e-6 * size
        if name == "orthogonality":
            return 4 * defect_rounding(len(c.frame.get("vectors", c.values)))
        return 1000 * c.unit_roundoff * size
    if path.split(".")[0] in WEIGHTS:
        return WEIGHTS_TO + 1e-6 * size
    if name in TWO_PARTS:
        return _together(model, name)
    narrow = value_of(model, "_dtype") == np.float32
    lost = 10 * rho / top if top > 0 and any(note.startswith("subtracted") for note in c.notes) else 0.0
    return max(1e-4 if narrow else 1e-6, lost) * size


def _holder(model: Any, path: str) -> Any:
    return model.pca_ if path.startswith("pca_.") else model


def _together(model: Any, name: str) -> float:
    """How far the second part of a number may be off: as far as verify lets both parts together be."""
    values, c = values_of(model), model.certificate_
    divisor = max(float(values.get("_weight", values["n_samples_"])) - 1, 2.0**-52)
    if name == "_weight_low":
        return 1e-9 * divisor
    if name == "_mean_low":
        scale = values.get("_scale64", values.get("_scale"))
        size = float(np.sqrt(max(float(c.total), 0.0) / max(divisor, 1.0))) * c.frame.get("shown", 1.0)
        return 1e-9 * size * (1.0 if scale is None else float(np.max(scale)))
    high = getattr(values["_state"], name.removesuffix("_low"))
    return float(2.0**-51 * np.max(np.abs(high), initial=0.0))
