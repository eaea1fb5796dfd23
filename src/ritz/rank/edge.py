"""Deterministic parallel analysis: components above the upper edge of the noise's own law.

    H = the variances t of the columns,   γ = d/m,   m = n − 1 (n without centring)
    edge = min over x > max t of  x·(1 + γ·mean[t/(x − t)]),   reached where  γ·mean[t²/(x − t)²] = 1

is the upper end of the generalised Marčenko–Pastur law, to which the eigenvalues of permuted columns tend; equal
variances give σ²(1 + √γ)². Nothing is drawn. The variances hold the signal too, so strong components raise the edge.
Reference: Dobriban and Owen, J. R. Statist. Soc. B 81, 2019.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ritz.data.words import percent
from ritz.rank.material import Handed
from ritz.rank.shares import Curve, Floats, divisor, plural, rests, shares, undecided

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Deterministic", "upper_edge"]


def upper_edge(variances: Floats, gamma: float) -> float:
    """Return the upper edge of the spectrum of independent columns.

    Parameters
    ----------
    variances
        Of the columns, (d,).
    gamma
        Columns over rows.
    """
    t = np.asarray(variances, np.float64)
    top = float(t.max(initial=0.0))
    if top <= 0.0 or gamma <= 0.0:
        return top
    t = t / top
    # f(x) = γ·mean[t²/(x − t)²] falls from ∞ at 1 to 0, and f ≤ γ/(x − 1)² bounds the root from above.
    low, high = 0.0, float(np.sqrt(gamma)) * 1.001
    for _ in range(80):
        step = 0.5 * (low + high)
        low, high = (step, high) if gamma * float(np.mean((t / (1.0 + step - t)) ** 2)) > 1.0 else (low, step)
    x = 1.0 + high
    return top * x * (1.0 + gamma * float(np.mean(t / (x - t))))


class Deterministic(Handed):
    """Keep the leading components above the upper edge of what independent columns can reach."""

    name = "dpa"
    needs_all = False

    def _edge(self, seen: Seen) -> float:
        """The edge as a share of the total; columns of unknown variances count as standardised."""
        if "edge" not in self.held:
            variances = np.full(seen.d, 1.0)
            if self.material is not None and self.material.columns is not None:
                variances = np.asarray(self.material.columns(), np.float64)
            variances = variances / max(float(variances.sum()), 1e-300)
            self.held["edge"] = upper_edge(variances, seen.d / max(divisor(seen), 1.0))
        edge: float = self.held["edge"]
        return edge

    def decide(self, seen: Seen) -> int | None:
        """Return the number of leading components above the edge."""
        x, zero, edge = shares(seen), seen.zero_level, self._edge(seen)
        above = x > edge + zero
        if not above.all():
            return int(above.argmin())
        m = len(x)
        if seen.complete or m >= seen.r:
            return m
        # The next eigenvalue is at most the whole rest, and at most the last one seen.
        ceiling = min(float(rests(seen)[-1]) + zero, float(x[-1]) if m else 1.0)
        return m if ceiling <= edge else None

    def curve(self, seen: Seen) -> Curve:
        """Return the share of each component beside the edge."""
        x = shares(seen)
        return Curve(np.arange(1, len(x) + 1), x, np.full(len(x), self._edge(seen)), "share of the total")

    def why(self, seen: Seen) -> str:
        """Name the edge, the last component above it and the first one below."""
        k = self.decide(seen)
        if k is None:
            return undecided(self.name, seen)
        x = shares(seen)
        shares_at = [f"component {j} holds {percent(x[j - 1], 2)}" for j in (k, k + 1) if 1 <= j <= len(x)]
        reach = percent(self._edge(seen), 2)
        return f"{plural(k)}: independent columns reach {reach} of the total; {', '.join(shares_at)}"
