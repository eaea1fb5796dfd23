"""Rows turned to their principal axes, so that their leading columns hold nearly all of a dot product.

    z → Rᵀz,   ZᵀZ/n = R diag(m₁ ≥ m₂ ≥ …) Rᵀ           dot products and distances stay as they are
    std of  Σ_{c > l} zᵢ_c zⱼ_c  =  √(Σ_{c > l} m_c²)     for independent rows: what columns beyond the l-th add

Coarse products leave columns out whose part is below the rounding of float16 rows; fine ones keep 11 bits of these
instead of 22. Data of 64 columns that lie near 12 dimensions are multiplied in 16. The choice decides about speed
alone: what products are off by is measured with rows of K in float64 (``operators/device/noise.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ritz._core.imports import module_of

__all__ = ["PrincipalAxes", "axes_of"]

#: What columns that are left out may add to a dot product, about 2⁻¹⁰: the rounding of float16 rows at lengths near 1.
LEFT = 1e-3
#: Rows whose moments are taken at a time, in float64, and columns up to which rows are turned: eigh of more takes
#: longer than the products that it saves.
PIECE, MOST = 1 << 18, 1024


@dataclass(frozen=True)
class PrincipalAxes:
    """A rotation of columns, and how many of the leading ones matter."""

    R: Any  # (d, d) float64; None where rows stay as they are
    lead: int

    def turn(self, Z: Any) -> Any:
        """Rows (m, d) in float64, turned."""
        Z = Z.to(module_of("torch").float64)
        return Z if self.R is None else Z @ self.R


def axes_of(Z: Any, *, distances: bool) -> PrincipalAxes:
    """Principal axes of rows (n, d) about zero; ``distances``: dot products count by their size, not their share."""
    torch, (n, d) = module_of("torch"), Z.shape
    if n < d or d > MOST or d < 2:
        return PrincipalAxes(None, d)
    S = torch.zeros((d, d), dtype=torch.float64, device=Z.device)
    for first in range(0, n, PIECE):
        z = Z[first : first + PIECE].to(torch.float64)
        S += z.T @ z
    moments, R = torch.linalg.eigh(S / n)
    if not bool(torch.isfinite(moments).all()):
        return PrincipalAxes(None, d)
    moments, R = moments.flip(0).clamp(min=0.0), R.flip(1)
    beyond = moments.square().flip(0).cumsum(0).flip(0).sqrt()  # of columns c, c + 1, …
    limit = LEFT if distances else LEFT * float(beyond[0])
    return PrincipalAxes(R, max(1, int((beyond > limit).sum())))
