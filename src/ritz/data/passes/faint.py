"""Whether a sample of float32 rows tells that float32 products would lose the k-th singular value of a table.

    Z m×d, some rows about the mean (about zero),   λ of ZZᵀ:      λ_j < SHARE·λ₁      j ≤ k, m a little more than j

Of more components than such a sample has rows, the sum of those that it does not show tells: k of them share it.

A Gram matrix in float32 is off by about u·λ₁, and a singular value by half of that over σ_k: what lies far below σ₁ is
lost, and the matrix would be formed anew in float64. The sample costs a hundredth of that, and nothing depends on it
but the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
#: Share of the smaller side, of tall and of wide tables, from which too small values are not read again by themselves,
#: or for as long as the matrix takes. Processor seconds in float32 and in float64, λⱼ ∝ j⁻²: 6,000×1,000, k = 25 0.11
#: and 0.16, k = 200 0.51 and 0.24; 40,000×1,000, k = 50 0.69 and 0.90, k = 200 1.61 and 0.93; 30,000×400, k = 40 0.14
#: and 0.13, k = 80 0.26 and 0.13; 1,000×6,000, k = 25 0.19 and 0.21, k = 100 0.52 and 0.27.
MANY, MANY_ACROSS = 0.15, 0.05
#: λ_k in units of λ₁, as the tail of the sample has it at most, below which float32 is not tried, of tall and of wide
#: tables. Processor seconds in float32 and in float64, λⱼ ∝ 1/j: 6,000×1,000 with 300 components, 0.012 at most, 0.25
#: and 0.29, with 900, 0.0035, 0.63 and 0.33; 2,000×6,000 with 200, 0.03, 1.6 and 1.3, with 500, 0.01, 2.6 and 1.8.
TAIL, TAIL_ACROSS = 0.01, 0.05


def faint(stats: Statistics, k: int, *, centered: bool, scaled: bool) -> bool:
    """Whether the k-th value of dense rows in memory is too small, where the matrix would be formed anew for it."""
    blocks = stats.blocks
    if not isinstance(blocks, MemoryBlocks) or stats.weights is not None or stats.unit != 1:
        return False
    wide = blocks.shape[0] < blocks.shape[1]
    few = k < (MANY_ACROSS if wide else MANY) * min(blocks.shape)
    if few and (wide or not squat(blocks)):
        return False
    asked, k = k, min(k, MOST)
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
    if asked > k and _tail(values, asked) < (TAIL_ACROSS if wide else TAIL):
        return True
    return bool(values[-k] < SHARE * values[-1])


def _tail(values: NDArray[Any], k: int) -> float:
    """λ_k/λ₁ at most, of a k beyond the sample: (tr − Σ_{j≤m} λ_j)/(k − m), each λ_j of m rows less what noise adds."""
    noise = float(np.sum(values)) / len(values)
    seen = np.maximum(values[-MOST:] - noise, 0.0)
    return float((np.sum(values) - np.sum(seen)) / (k - MOST) / seen[-1]) if seen[-1] > 0 else np.inf


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
