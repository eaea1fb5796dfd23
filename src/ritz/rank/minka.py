"""Minka's evidence: how probable the data are under k components, all parameters integrated out.

    ln p(X|k) ≈ p_u + p_l + p_v + p_p − p_a/2 − (k/2) ln n,     k = 1 … d − 1
    p_u = −k ln 2 + Σ_{i≤k} [ln Γ((d − i + 1)/2) − ((d − i + 1)/2) ln π]      p_l = −(n/2) Σ_{i≤k} ln λᵢ
    p_v = −(n(d − k)/2) ln v,  v = mean_{i>k} λᵢ                              p_p = ((m + k)/2) ln 2π
    p_a = Σ_{i≤k, j>i} ln[n (λᵢ − λⱼ)(1/λ̂ⱼ − 1/λ̂ᵢ)],  λ̂ⱼ = v for j > k       m = dk − k(k + 1)/2

λ has the divisor of a variance, as in scikit-learn, whose ``_infer_dimension`` this reproduces but for two
things. Where the rest is zero to rounding the evidence is infinite and that k is the answer. Two eigenvalues
equal to rounding leave the angle between them free, where the Gaussian approximation behind p_a has no width:
such a pair adds nothing, rather than ln 0. All k together cost O(d²) time and, of more than a few hundred
eigenvalues, O(d) memory.
Reference: T. P. Minka, Automatic choice of dimensionality for PCA, NIPS 2000.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ritz.rank.likelihood import check_rows
from ritz.rank.shares import Curve, Floats, divisor, plural, rests, shares, undecided

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Minka"]

#: Eigenvalues up to which all pairs are held at a time: 10 of them take 40 µs, not 250.
AT_ONCE = 256


class Minka:
    """The most probable number of components, between 1 and d − 1."""

    name = "mle"
    needs_all = True

    def decide(self, seen: Seen) -> int | None:
        """Return the k of largest evidence; a single column gives 1."""
        return self._decided(seen)[0]

    def _decided(self, seen: Seen) -> tuple[int | None, Floats]:
        """The answer, and the evidence where it was asked for."""
        check_rows(self.name, seen.r + seen.centered, seen.d, centered=seen.centered)
        if not seen.complete or seen.d == 1:
            return 1 if seen.complete else None, np.zeros(0)
        value = self.curve(seen).value
        return int(np.argmax(value)) + 1, value

    def curve(self, seen: Seen) -> Curve:
        """Return the logarithm of the evidence for k = 1 … d − 1, or up to where nothing is left."""
        x = shares(seen)
        left = rests(seen, x)
        last = min(len(x), seen.d - 1)
        empty = left[1 : last + 1] <= seen.zero_level
        value = _evidence(x, left, seen, int(empty.argmax()) if empty.any() else last)
        if empty.any():
            value = np.append(value, np.inf)
        if seen.total > 0.0:
            value = value - 0.5 * seen.n * seen.d * math.log(seen.total / divisor(seen))
        return Curve(np.arange(1, len(value) + 1), value, None, "log evidence")

    def why(self, seen: Seen) -> str:
        """Give the evidence at the answer and beside it."""
        k, value = self._decided(seen)
        if k is None:
            return undecided(self.name, seen)
        if seen.d == 1:
            return "1 component: there is one column"
        if value[k - 1] == np.inf:
            return f"{plural(k)}: to rounding nothing is left after them, so no model of the noise is needed"
        beside = [f"{value[i - 1]:.2f} with {i}" for i in (k - 1, k + 1) if 1 <= i <= len(value)]
        return ", ".join([f"{plural(k)}: the log evidence is {value[k - 1]:.2f} there", *beside])


def _evidence(x: Floats, left: Floats, seen: Seen, last: int) -> Floats:
    """Return the log evidence of the shares for k = 1 … last."""
    n, d, log_n = float(seen.n), seen.d, math.log(seen.n)
    tie = seen.zero_level * float(x[0])
    # x decreases: the values tied with x[i] end before index end[i].
    end = np.searchsorted(-x, -(x - tie), side="right")
    with np.errstate(divide="ignore"):
        logs = np.log(x)
    if last > 0 and len(x) <= AT_ONCE and bool((end == np.arange(1, len(x) + 1)).all()):
        return _at_once(x, left, logs, seen, last)
    value, volume, inside, across = np.empty(last), 0.0, 0.0, 0.0
    for k in range(1, last + 1):
        i = k - 1  # the component that joins
        start = int(np.searchsorted(end, i, side="right"))  # the first one tied with it
        above = np.log(x[:start] - x[i])
        below = np.log(x[i] - x[end[i] :])
        # Pairs of kept components, and (without their 1/v − 1/λ) pairs of a kept and a dropped one.
        inside += float(np.sum(2.0 * above - logs[:start])) + start * (log_n - logs[i])
        across += float(below.sum() - above.sum()) + (len(below) - start) * log_n
        v = left[k] / (d - k)
        free = d - np.maximum(k, end[:k])  # dropped components not tied with each kept one
        loose = free > 0
        kept = x[:k][loose]
        # A mean of values below x − tie lies below x − tie/d, even where the subtraction rounds to zero.
        cross = float(free[loose] @ np.log(np.maximum(kept - v, tie / d) / (v * kept)))
        half = (d - k + 1) / 2.0
        volume += math.lgamma(half) - half * math.log(math.pi) - math.log(2.0)
        m = d * k - k * (k + 1) / 2.0
        fit = -0.5 * n * (float(logs[:k].sum()) + (d - k) * math.log(v))
        width = 0.5 * (m + k) * math.log(2.0 * math.pi) - 0.5 * (inside + across + cross)
        value[i] = volume + fit + width - 0.5 * k * log_n
    return value


def _at_once(x: Floats, left: Floats, logs: Floats, seen: Seen, last: int) -> Floats:
    """The same where no two eigenvalues are tied, from all pairs at a time."""
    n, d, log_n, size = float(seen.n), seen.d, math.log(seen.n), len(x)
    k, i = np.arange(1, last + 1), np.arange(last)
    gaps = x[:, None] - x
    pairs = np.log(gaps, out=np.zeros_like(gaps), where=gaps > 0)  # ln(xᵢ − xⱼ), j > i
    above, below = pairs[:, :last].sum(axis=0), pairs[:last].sum(axis=1)
    sums = np.cumsum(logs[:last])
    inside = np.cumsum(2.0 * above - (sums - logs[:last]) + i * (log_n - logs[:last]))
    across = np.cumsum(below - above + (size - 1 - 2 * i) * log_n)
    v = left[1 : last + 1] / (d - k)
    tie = seen.zero_level * float(x[0])
    kept = np.maximum(x[:last] - v[:, None], tie / d) / (v[:, None] * x[:last])  # (k, i), of which i < k count
    cross = (d - k) * np.tril(np.log(kept)).sum(axis=1)
    halves = (d - i) / 2.0
    gammas = np.array([math.lgamma(half) for half in halves.tolist()])
    volume = np.cumsum(gammas - halves * math.log(math.pi) - math.log(2.0))
    m = d * k - k * (k + 1) / 2.0
    fit = -0.5 * n * (sums + (d - k) * np.log(v))
    width = 0.5 * (m + k) * math.log(2.0 * math.pi) - 0.5 * (inside + across + cross)
    value: Floats = volume + fit + width - 0.5 * k * log_n
    return value
