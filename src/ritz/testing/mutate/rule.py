"""When a change is too small to be found: it stays within the accuracy that is promised for the number.

bounds (lower, upper, residuals, ceiling, …)   ρ, the rounding that every one of them contains
angles, cluster sines                          what ρ makes of a sine: a share ρ/(‖r‖ + ρ) of it, and 1e-6
orthogonality                                  four times the rounding of the product that measured it
total, mean, scale                             1,000 roundings of the arithmetic named
fitted numbers                                 1e-6 of the largest (1e-4 in float32), which a second fit agrees to
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.tolerance import defect_rounding

__all__ = ["small"]

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
    c = model.certificate_
    name = path.rsplit(".", 1)[-1]
    rho, top = float(c.rounding), float(np.max(c.values, initial=0.0))
    size = float(np.max(np.abs(old), initial=0.0, where=np.isfinite(old)))
    if path.startswith("certificate_.frame.grounds"):
        return rho + 1e-6 * size  # what bounds are derived from: those are checked as well
    if path.startswith("certificate_.clusters"):
        return 0.5 * size  # between the largest residual of the members and their root sum of squares
    if path.startswith("certificate_.") and "frame" not in path:
        if name in BOUNDS:
            return (rho if name != "rounding" else 0.0) + 1e-6 * size
        if name == "angles":
            return 1e-6 * size
        if name == "orthogonality":
            return 4 * defect_rounding(len(c.frame["vectors"]))
        return 1000 * c.unit_roundoff * size
    narrow = vars(model).get("_dtype") == np.float32
    lost = 10 * rho / top if top > 0 and any(note.startswith("subtracted") for note in c.notes) else 0.0
    return max(1e-4 if narrow else 1e-6, lost) * size
