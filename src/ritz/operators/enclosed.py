"""What a state that bounds a scatter matrix tells of it: small matrices that it lies between.

QᵀLQ − τ ⪯ S ⪯ QᵀHQ + Δ       L = H + X,  H, X (m×m),  Q (m×d) orthonormal,  S (d×d) never formed
"""

from __future__ import annotations

from dataclasses import dataclass

from ritz._core.linalg import Floats

__all__ = ["Enclosed"]


@dataclass(frozen=True)
class Enclosed:
    """Bounds of a symmetric matrix.

    Attributes
    ----------
    basis : Q, (m, d)
    high, spare : H and X, (m, m)
    lost : Δ, what was let go of
    ridge : τ, by which the lower bound may be too high
    noise : rounding of all of it
    width : rank of what may be missing from the lower bound beyond S − QᵀLQ ⪰ 0
    """

    basis: Floats
    high: Floats
    spare: Floats
    lost: float
    ridge: float
    noise: float
    width: int
