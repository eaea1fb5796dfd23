"""Entries that were rounded when they were formed: what a bound of their error does to every claim.

    Ã = A + E,  ‖E‖₂ ≤ ε      ⇒      |σ̃ᵢ − σᵢ| ≤ ε,   |λ̃ᵢ − λᵢ| ≤ 2‖Ã‖₂ε + ε² = ‖M̃ − M‖₂ at most        (Weyl)

A solver speaks of the Ã that it was handed. So what it says of eigenvalues is widened by that much, and what rounding
may add to a residual grows by as much; labels stay, because Weyl's theorem keeps the index.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ritz._core.linalg import norms, to_numpy
from ritz.spectral.problem import Completeness, Pairs

__all__ = ["shown_in", "widened"]

#: Eigenvalues in the units of the data that leave room for their bounds, and for sums over a table.
SHOWN = (1e-285, 1e300)


def widened(pairs: Pairs, error: float, total: float) -> Pairs:
    """The same answer with claims about A where Ã = A + E was solved, ‖E‖₂ ≤ ``error``, ‖Ã‖²_F = ``total``."""
    if error <= 0:
        return pairs
    ceiling, theta = pairs.completeness.ceiling, pairs.leading()
    seen = np.max(theta + to_numpy(norms(pairs.residual_block)), initial=0.0) + pairs.rounding
    norm = float(np.sqrt(max(min(max(float(seen), ceiling), total + pairs.rounding), 0.0)))
    shift = 2 * norm * error + error * error
    old = pairs.completeness
    return replace(
        pairs,
        rounding=pairs.rounding + shift,
        error=None if pairs.error is None else pairs.error + shift,
        sigma_error=None if pairs.sigma_error is None else pairs.sigma_error + error,
        upper=None if pairs.upper is None else np.asarray(pairs.upper, np.float64) + shift,
        lower=None if pairs.lower is None else np.asarray(pairs.lower, np.float64) - shift,
        completeness=Completeness(old.kind, ceiling + shift, old.failure, old.words),
    )


def shown_in(pairs: Pairs, unit: float, total: float) -> tuple[float, Pairs]:
    """The unit in which a certificate shows square roots of eigenvalues: 1, or the solver's where squares cannot be.

    A table of numbers near 1e-200 has singular values, but no eigenvalues that float64 can hold.
    """
    with np.errstate(over="ignore", under="ignore"):
        size = float(np.float64(max(total, float(np.max(pairs.leading(), initial=0.0)))) * unit * unit)
    # small differences of huge rows stay in range where the square of their unit does not
    if unit == 1 or total <= 0 or (SHOWN[0] <= size <= SHOWN[1] and SHOWN[0] <= unit * unit <= SHOWN[1]):
        return 1.0, pairs
    words = (
        f"eigenvalues are in units of 2^{2 * round(np.log2(unit))}: "
        "in the units of the data they, or the squares that they are made of, would leave the range of float64"
    )
    return unit, replace(pairs, notes=(*pairs.notes, words))
