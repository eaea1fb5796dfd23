"""AIC and BIC of probabilistic PCA.

    L(k) = −(n/2)·[d ln 2π + Σ_{i≤k} ln λᵢ + (d − k) ln σ²_k + d],   σ²_k = mean_{i>k} λᵢ,  λ with divisor n
    C(k) = −2L(k) + c·(dk − k(k − 1)/2 + 1 + d),                     c = 2 (AIC), ln n (BIC),  k = 0 … d − 1

The last d parameters are the mean; uncentred data have none. The answer is the smallest k such that none of
the next ``horizon(d)`` numbers has a lower C: the overall minimum up to d = 129. Without a horizon hardly any
part of a spectrum could decide: L is unbounded where the rest vanishes, as an unseen tail nearly always may.

Bound. After m values let u be the last one, R the rest, D = d − m. However the spectrum goes on (decreasing,
within [0, u], sum R), C(m + j) is lowest when the next j all equal u: that vector majorises the others and
Σ ln is Schur-concave. So

    Σ ln λ + (d − k) ln σ² ≥ Σ_{i≤m} ln λᵢ + j ln u + (D − j) ln((R − ju)/(D − j)),   −∞ if ju ≥ R.

References: Tipping and Bishop, J. R. Statist. Soc. B 61, 1999; Akaike 1974; Schwarz 1978.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ritz._core.errors import ParameterError
from ritz.rank.shares import Curve, Floats, plural, rests, shares, undecided

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["InformationCriterion", "check_rows", "horizon"]

# Look 128 components ahead, or a quarter of all. A quarter is as far as the bound can look through pure noise
# of any shape n ≥ d: its largest eigenvalue stays below four times the mean, so the rest is not used up.
NEAR, FAR = 128, 4


def horizon(d: int) -> int:
    """Return how many further components must not lower the criterion."""
    return max(NEAR, d // FAR)


def check_rows(name: str, n: float, d: int, *, centered: bool) -> None:
    """Refuse data whose covariance is singular by shape: there the likelihood has no maximum."""
    if n - centered >= d:
        return
    raise ParameterError(
        f"n_components={name!r} is only supported if n_samples >= n_features"
        " (n_samples > n_features for centred data), because the likelihood is unbounded otherwise",
        received=f"{n:g} rows and {d} columns",
        hint="a fraction such as n_components=0.9, 'gavish-donoho' and 'broken-stick' work for any shape",
    )


@dataclass(frozen=True)
class _Known:
    """C(k) − const for k = 0 … last, as an interval that covers the rounding of the rest."""

    low: Floats
    high: Floats
    logs: Floats  # Σ_{i≤k} ln xᵢ
    closed: bool  # no larger k can be a candidate


class InformationCriterion:
    """AIC or BIC of probabilistic PCA.

    Parameters
    ----------
    name : "aic" or "bic"
        Which price a parameter has: 2, or the logarithm of the number of rows.
    """

    needs_all = False

    def __init__(self, name: str) -> None:
        self.name = name

    def _price(self, seen: Seen) -> float:
        return 2.0 if self.name == "aic" else math.log(seen.n)

    def _known(self, seen: Seen) -> _Known:
        check_rows(self.name, seen.r + seen.centered, seen.d, centered=seen.centered)
        x, left, zero = shares(seen), rests(seen), seen.zero_level
        last = min(len(x), seen.d - 1)
        empty = left[: last + 1] <= zero
        if empty.any():  # nothing is left after that many: the data lie in a subspace
            last = int(empty.argmax())
        k = np.arange(last + 1)
        logs = np.append(0.0, np.cumsum(np.log(x[:last])))
        price = self._price(seen) * _parameters(k, seen.d)

        def at(rest: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                noise = np.log(np.maximum(rest, 0.0) / (seen.d - k))
            return seen.n * (logs + (seen.d - k) * noise) + price

        slack = 0.0 if seen.complete else zero
        low, high = at(left[: last + 1] - slack), at(left[: last + 1] + slack)
        if empty.any():
            low[-1] = high[-1] = -np.inf
        return _Known(low, high, logs, bool(seen.complete or empty.any() or last == seen.d - 1))

    def _beyond(self, seen: Seen, logs: Floats, upto: int) -> float:
        """Bound C(k) − const from below for all m < k ≤ upto, whatever the spectrum does after m values."""
        x, zero = shares(seen), seen.zero_level
        m, last = len(x), float(x[-1]) if len(x) else 1.0
        j = np.arange(1, upto - m + 1)
        left = rests(seen)[-1] - zero - j * last
        if left[-1] <= zero:
            return -math.inf
        log_det = logs[-1] + j * math.log(last) + (seen.d - m - j) * np.log(left / (seen.d - m - j))
        return float(np.min(seen.n * log_det + self._price(seen) * _parameters(m + j, seen.d)))

    def decide(self, seen: Seen) -> int | None:
        """Return the first k that no larger number of components within the horizon improves."""
        bounds, ahead = self._known(seen), horizon(seen.d)
        last = len(bounds.low) - 1
        for k in range(last + 1):
            window = slice(k + 1, k + ahead + 1)
            if (bounds.high[window] < bounds.low[k]).any():
                continue
            if (bounds.low[window] < bounds.high[k]).any():
                return None  # the rounding of the rest leaves it open
            if bounds.closed or k + ahead <= last:
                return k
            upto = min(k + ahead, seen.d - 1)
            return k if self._beyond(seen, bounds.logs, upto) >= bounds.high[k] else None
        return None

    def curve(self, seen: Seen) -> Curve:
        """Return C(k) from k = 0 on."""
        bounds = self._known(seen)
        scale = math.log(2.0 * math.pi * seen.total / seen.n) if seen.total > 0.0 else 0.0
        mean = seen.d if seen.centered else 0
        constant = seen.n * seen.d * (scale + 1.0) + self._price(seen) * (1 + mean)
        middle = np.where(np.isfinite(bounds.low), 0.5 * (bounds.low + bounds.high), bounds.high)
        return Curve(np.arange(len(middle)), middle + constant, None, self.name.upper())

    def why(self, seen: Seen) -> str:
        """Give the criterion at the answer and beside it."""
        k = self.decide(seen)
        if k is None:
            return undecided(self.name, seen)
        value = self.curve(seen).value
        if value[k] == -np.inf:
            return f"{plural(k)}: to rounding nothing is left after them, so no model of the noise is needed"
        beside = [f"{value[i]:.2f} with {i}" for i in (k - 1, k + 1) if 0 <= i < len(value)]
        lowest = int(value.argmin())
        if lowest != k:
            beside.append(f"lower again only with {lowest}, beyond the next {horizon(seen.d)}")
        return ", ".join([f"{plural(k)}: {self.name.upper()} is {value[k]:.2f} there", *beside])


def _parameters(k: np.ndarray, d: int) -> Floats:
    """Count the free numbers of k directions and their variances in d dimensions."""
    count = k.astype(np.float64)
    return d * count - count * (count - 1.0) / 2.0
