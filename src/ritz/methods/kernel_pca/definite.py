"""Whether a kernel matrix of which nothing is said has negative eigenvalues: a Cholesky factor proves that it has none.

    S = J K J,   R̂ᵀR̂ = S + δI + E,   |Eᵢⱼ| ≤ γ √(sᵢᵢ sⱼⱼ)   γ = (n + 2)u     [Higham02, Thm 10.3]
    Σ|λ⁻| ≤ nδ + ‖E‖_*  ≤  nδ + √n γ tr(S + δI)                                 δ = 4u √n ‖S‖_F

R̂ᵀR̂ has no negative eigenvalue, so those of S add up to no more than that; where it is below the share of Σ|λ| that
counts as rounding (``sign.py``) the kernel may be taken for positive: its leading pairs are enough, and Σ|λ| = tr S.
Costs n³/3 flops, a sixth of all eigenvalues; a matrix with negative ones is left at the first pivot that shows it.
"""

from __future__ import annotations

import numpy as np

from ritz._core.tolerance import unit_roundoff
from ritz.methods.kernel_pca.sign import ROUNDING_SHARE
from ritz.methods.kernel_pca.solved import NOISE
from ritz.operators.kernel import CenteredKernel

__all__ = ["proved_positive"]


def proved_positive(M: CenteredKernel) -> CenteredKernel | None:
    """The same operator, known to have no negative eigenvalue beyond rounding; None where that is not proved."""
    from scipy.linalg.lapack import dpotrf

    S = M.to_dense()
    n, u = len(S), unit_roundoff(np.float64)
    diagonal = np.diagonal(S)
    size, total = float(np.linalg.norm(S)), float(np.sum(np.abs(diagonal)))
    shift = NOISE * u * np.sqrt(n) * size
    below = n * shift + np.sqrt(n) * (n + 2) * u * (total + n * shift)
    if not 0 < below <= ROUNDING_SHARE * total or float(np.min(diagonal)) < -shift:
        return None
    S.flat[:: n + 1] += shift
    _, failed = dpotrf(S.T, lower=1, clean=0, overwrite_a=1)
    return None if failed else CenteredKernel(M.inner, below=float(below))
