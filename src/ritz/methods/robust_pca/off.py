"""What good rows have off the plane: the shape of the distribution of Q.

    good rows: T² ≤ χ²_{k,0.975} and Q^⅓ ≤ m̂ + 1.96ŝ        C_r their covariance off the plane, θᵢ = tr C_rⁱ
    all multiplied by a factor that makes the median of Σ λⱼgⱼ² that of Q over all rows

The cube root of Q is normal only where the variances off the plane are much alike. Their shape comes from the good
rows, their size from the median, which bad rows do not move. With more than 2,000 columns the cube root has to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.statistics import Statistics
from ritz.methods.robust_pca.location import KEPT, cube_thetas

__all__ = ["off_thetas"]

Floats = NDArray[np.float64]

#: Columns up to which a covariance is formed.
MOST = 2_000


def off_thetas(
    rows: Any, weights: Floats | None, distances: Floats, frame: dict[str, Any], place: float, spread: float
) -> tuple[float, float, float]:
    """θ₁, θ₂/θ₁², θ₃/θ₁³ of Q for good rows; ``distances`` (n, 2) are T² and Q of all rows."""
    from scipy.stats import chi2, norm

    basis, scale = frame["basis"], frame["scale"]
    plain = cube_thetas(place, spread)
    if place <= 0 or basis.shape[1] > MOST or len(basis) == 0:
        return plain
    near = np.cbrt(distances[:, 1]) <= place + float(norm.ppf(KEPT)) * spread
    good = near & (distances[:, 0] <= float(chi2.ppf(KEPT, len(basis))))
    w = good.astype(np.float64) if weights is None else good * weights
    if np.count_nonzero(w) < 3 or float(np.sum(w)) <= 1:
        return plain
    state = Statistics(blocks_of(rows), w).moments
    C = state.scatter * (state.unit**2 / (float(np.sum(w)) - 1))
    C = C if scale is None else C / scale[:, None] / scale
    C = C - basis.T @ (basis @ C)
    C = C - (C @ basis.T) @ basis
    values = np.maximum(np.linalg.eigvalsh((C + C.T) / 2), 0.0)
    total = float(np.sum(values))
    if total <= 0:
        return plain
    second, third = (float(np.sum((values / total) ** i)) for i in (2, 3))
    nu = second**3 / third**2
    one = place**3 / (1 + third / second * (float(chi2.ppf(0.5, nu)) - nu))
    return one, second, third
