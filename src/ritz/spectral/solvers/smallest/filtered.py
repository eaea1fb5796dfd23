"""That nothing was missed, by products alone: Gaussian columns under a polynomial that grows where something was.

    C = M off span Z,  Z = [Q V],       s(λ) = (c + e − 2λ)/(c − e),      [e, c] ↦ [−1, 1],  c ≥ ‖M‖
    y = T_q(s(C)) g,   g Gaussian       an eigenvalue λ < e of C, with unit vector x, has  xᵀy = T_q(s(λ)) xᵀg

|xᵀg| ≤ t has a probability below √(2/π)·t, and that of l independent columns its l-th power, 1e-9 for the t below. But
for that, T_q(s(λ)) ≤ ‖y‖/(t − δ) for the longest of them, so that every eigenvalue of C lies above

    f = e − (c − e)(cosh(arcosh(‖y‖/(t − δ))/q) − 1)/2

and by Cauchy all eigenvalues of M but as many as Z has columns. No basis is kept, so that q may be some thousands.
Rounding: y_{j+1} = 2s(C)y_j − y_{j−1} + e_j adds U_{q−j}(s)xᵀe_j, and U_m ≤ (m + 1)T_m:  δ ≤ q²·max‖e_j‖.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ritz._core.progress import track
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding
from ritz.spectral.certificate.completeness import FAILURE
from ritz.spectral.solvers.smallest.entries import Entries, U
from ritz.spectral.solvers.smallest.ritz import Null, Ritz, off

__all__ = ["DEGREE", "WORDS", "degree_for", "filtered_floor"]

Vector = NDArray[np.float64]

#: Columns: a product with eight takes twice as long as one with a single one.
COLUMNS = 8
#: The largest degree of the polynomial.
DEGREE = 4000
#: t with (√(2/π) t)^COLUMNS = FAILURE.
SEEN = math.sqrt(math.pi / 2) * FAILURE ** (1 / COLUMNS)
#: How much longer than √p a filtered column is expected to be, at most.
LONG = 2.0
#: Why no eigenvalue is missing.
WORDS = f"filtered Gaussian columns miss a smaller eigenvalue with probability below {FAILURE:.0e}"


def degree_for(gap: float, p: int, edge: float, top: float) -> int:
    """The degree whose floor lies no more than half a gap below the edge."""
    wide = math.acosh(1 + gap / max(top - edge, 1e-300))
    return math.ceil(math.acosh(LONG * math.sqrt(p) / SEEN) / wide) if wide > 0 else DEGREE + 1


def filtered_floor(
    entries: Entries, null: Null, pairs: Ritz, edge: float, degree: int, seed: int
) -> float:  # fmt: skip
    """A floor of all eigenvalues but those of the null vectors and of ``pairs``, with probability 1 − FAILURE."""
    p, top = entries.p, entries.norm
    Z = np.hstack([null.Q, pairs.V])
    width, middle = (top - edge) / 2, (top + edge) / 2
    # One step: the product, its multiple, two differences, and the part along Z taken off twice.
    image = math.sqrt(top) * (1 + rounding(p, U))
    lost = 2 * entries.product_error(image) / width + 16 * rounding(p, U) * (1 + middle / width) + 8 * pairs.defect

    def times(Y: Vector) -> Vector:
        return off((middle * Y - entries.back(entries.image(Y))) / width, Z)

    with track("lanczos", total=degree) as step:
        before = off(gaussian_rows(seed, 301, 0, p, COLUMNS), Z)
        now, longest = times(before), float(np.max(np.linalg.norm(before, axis=0)))
        for _ in range(1, degree):
            longest = max(longest, float(np.max(np.linalg.norm(now, axis=0))))
            after = times(now)
            after *= 2
            after -= before
            before, now = now, after
            step()
    found = float(np.max(np.linalg.norm(now, axis=0))) * (1 + rounding(p, U))
    seen = SEEN - degree**2 * lost * max(longest, found)
    if not (seen > 0 and math.isfinite(found)):
        return -math.inf
    grown = max(found / seen, 1.0)
    return float(edge - width * (math.cosh(math.acosh(grown) / degree) - 1) - 4 * U * top)
