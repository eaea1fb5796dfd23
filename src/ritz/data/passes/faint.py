"""Whether a sample of float32 rows tells that float32 products would lose the k-th singular value of a table.

    Z m×d, some rows about the mean (about zero),   λ of ZZᵀ:      λ_j < SHARE·λ₁      j ≤ k, m a little more than j

A Gram matrix in float32 is off by about u·λ₁, and a singular value by half of that over σ_k: what lies far below σ₁ is
lost, and the matrix would be formed anew in float64. The sample costs a hundredth of that, and nothing depends on it
but the time.
"""

from __future__ import annotations

import numpy as np

from ritz._core.tolerance import SAFE_RANGE
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.gram import squat
from ritz.data.passes.statistics import Statistics

__all__ = ["faint", "narrowed"]

#: λ_k in units of λ₁, below which float32 is not tried. Bounds on measured rounding are 8 to 25·u·λ₁, with which the
#: trust test fails below 0.003 to 0.025.
SHARE = 0.02
#: Rows of the sample, for each component and beside them, and components at most: of 78 rows of 500 columns of noise
#: λ₅₀ is 0.2·λ₁, and an eigenproblem of 80 rows takes 0.4 ms.
EACH, LEAST, MOST = 1.25, 16, 50
#: Share of the columns from which too small values are not read again by themselves: the matrix is formed anew.
MANY = 0.25


def faint(stats: Statistics, k: int, *, centered: bool, scaled: bool) -> bool:
    """Whether the k-th value of dense rows in memory is too small, where the matrix would be formed anew for it."""
    blocks = stats.blocks
    if not isinstance(blocks, MemoryBlocks) or stats.weights is not None or stats.unit != 1:
        return False
    if not squat(blocks) and k < MANY * blocks.shape[1]:
        return False
    k = min(k, MOST)
    wanted = int(EACH * k) + LEAST
    rows = np.asarray(stats.sample[:: max(1, len(stats.sample) // wanted)], np.float64)
    if not 1 < k < len(rows):
        return False
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if centered:
            rows = rows - stats.shift
        if scaled:
            rows = rows / np.sqrt(np.mean(np.square(rows), axis=0) + np.finfo(np.float64).tiny)
        S = rows @ rows.T
    if not np.isfinite(S).all():
        return False
    values = np.linalg.eigvalsh(S)
    return bool(values[-k] < SHARE * values[-1])


def narrowed(stats: Statistics) -> bool:
    """Have the moment state of float32 rows formed in float32 from now on; False where their range does not allow it.

    For an iteration in float64 that is left for the Gram matrix: a unit was chosen for squares in float64.
    """
    if np.dtype(stats.precision).itemsize < 8:
        return True
    known = "moments" in stats.__dict__ or stats.given is not None or stats.unit != 1
    if known or stats.blocks.dtype != np.float32 or stats.weights is not None:
        return False
    low, high = SAFE_RANGE[False]
    if not low <= float(np.max(np.abs(stats.sample), initial=0.0)) <= high:
        return False
    stats.precision = np.float32
    stats.__dict__["shift"] = stats.shift.astype(np.float32).astype(np.float64)  # what the products take off exactly
    return True
