"""The elbow of the scree plot: profile likelihood of one change point.

    ℓ(q) = Σ_{i≤q} log N(λᵢ; μ₁, σ²) + Σ_{i>q} log N(λᵢ; μ₂, σ²),     q = 1 … p − 1
    σ² = ((q − 1)s₁² + (p − q − 1)s₂²) / (p − 2)

The eigenvalues before and after q are taken as two normal samples with one variance; the best q is the elbow.
``p`` counts the eigenvalues that can be non-zero (zeros that the shape forces are no data). Multiplying the
eigenvalues by c adds −p ln c to every ℓ(q).
Reference: Zhu and Ghodsi, Computational Statistics & Data Analysis 51, 2006.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ritz.data.words import percent
from ritz.rank.shares import Curve, Floats, divisor, plural, shares, undecided

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Elbow"]

TINY = 1e-300  # a spectrum without any variance still needs a logarithm


class Elbow:
    """Split the spectrum in two where two normal samples fit it best."""

    name = "elbow"
    needs_all = True

    def decide(self, seen: Seen) -> int | None:
        """Return the elbow, between 1 and p − 1; with fewer than three eigenvalues there is only 1."""
        if not seen.complete:
            return None
        if seen.r < 3:
            return min(seen.r, 1)
        return int(np.argmax(_profile(shares(seen), seen.zero_level))) + 1

    def curve(self, seen: Seen) -> Curve:
        """Return ℓ(q) of the variances, q = 1 … p − 1."""
        x = shares(seen)
        value = _profile(x, seen.zero_level) if len(x) >= 3 else np.zeros(max(0, len(x) - 1))
        if seen.total > 0.0:
            value = value - len(x) * math.log(seen.total / divisor(seen))
        return Curve(np.arange(1, len(x)), value, None, "profile log-likelihood")

    def why(self, seen: Seen) -> str:
        """Give the two means that the elbow separates."""
        k = self.decide(seen)
        if k is None:
            return undecided(self.name, seen)
        x = shares(seen)
        if len(x) < 3:
            return f"{plural(k)}: an elbow needs three eigenvalues, there {'is' if len(x) == 1 else 'are'} {len(x)}"
        return (
            f"{plural(k)}: the spectrum splits best into {k} with mean share {percent(x[:k].mean(), 2)}"
            f" and {len(x) - k} with mean share {percent(x[k:].mean(), 2)}"
        )


def _squares(x: Floats) -> Floats:
    """Return Σ(xᵢ − mean)² of every leading part, as Welford's sum of positive steps (nothing cancels)."""
    count = np.arange(1, len(x) + 1)
    mean = np.cumsum(x) / count
    step = (x[1:] - mean[:-1]) ** 2 * (count[:-1] / count[1:])
    return np.append(0.0, np.cumsum(step))


def _profile(x: Floats, zero: float) -> Floats:
    """Return ℓ(q) of the shares for q = 1 … p − 1."""
    p = len(x)
    before, after = _squares(x)[:-1], _squares(x[::-1])[::-1][1:]
    # Two exact levels have σ² = 0 and an infinite likelihood: a floor keeps it finite, the first such q wins.
    pooled = np.maximum((before + after) / (p - 2), max((zero * float(x[0])) ** 2, TINY))
    return -0.5 * p * np.log(2.0 * math.pi * pooled) - 0.5 * (before + after) / pooled
