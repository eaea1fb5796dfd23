"""From Ritz pairs of the correspondence family to what is read off a map.

    A = D_w^½ (R − 1mᵀ) D_s⁻¹,   Σw = 1,   AᵀA V = V Λ

    rows      F = (R − 1mᵀ) D_s⁻¹ V             principal; standard F Λ^-½
              contribution wᵢF²ᵢₖ/λₖ            cos² F²ᵢₖ/d²ᵢ,   d²ᵢ = Σⱼ ((rᵢⱼ − mⱼ)/sⱼ)²
    columns   G = D_c^-½ V Λ^½                  principal; standard D_c^-½ V,   c the column masses
              contribution v²ⱼₖ                 cos² G²ⱼₖ/d²ⱼ,   d²ⱼ = (AᵀA)ⱼⱼ/cⱼ

    transition  F = (R − 1mᵀ) … = D_r⁻¹P G Λ^-½ and G = D_c⁻¹Pᵀ F Λ^-½: a point is the barycentre of the other side's,
    stretched by 1/√λ. So a supplementary column with profile g over the rows lies at gᵀ F Λ^-½.

Greenacre, M. (1984). Theory and Applications of Correspondence Analysis, chapters 2–4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["contributions", "cos2", "inverse_root", "supplementary"]

Floats = NDArray[np.float64]


def inverse_root(values: Floats) -> Floats:
    """λ^-½ (k,), 0 where λ is nothing but rounding: such an axis has no direction."""
    floor = 1e-14 * float(np.max(values, initial=0.0))
    safe = np.where(values > floor, values, 1.0)
    return np.where(values > floor, 1 / np.sqrt(safe), 0.0)


def contributions(F: Floats, masses: Floats, values: Floats) -> Floats:
    """Shares of every point in every axis, wᵢF²ᵢₖ/λₖ; points without mass have none."""
    present = np.where(masses[:, None] > 0, F, 0.0)
    return masses[:, None] * np.square(present * inverse_root(values))


def cos2(F: Floats, squares: Floats) -> Floats:
    """Shares of every axis in the distance of every point from the centre, F²ᵢₖ/d²ᵢ; NaN at the centre itself."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(squares[:, None] > 0, np.square(F) / squares[:, None], np.nan)


def supplementary(profiles: Floats, F: Floats, values: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Principal coordinates (m, k) and squared distances (m,) of columns with profiles (m, n) over the rows."""
    placed = masses > 0
    shares, rows, r = profiles[:, placed], F[placed], masses[placed]
    return shares @ (rows * inverse_root(values)), np.square(shares - r) @ (1 / r)
