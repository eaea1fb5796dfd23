"""Intervals from draws of a statistic.

    percentile   [θ*₍α₎, θ*₍1−α₎]                                       θ* (…, B) the statistic of the data drawn again
    bc           at Φ(2z₀ ± z)                                          z₀ = Φ⁻¹(share of θ* below θ̂): bias corrected
    bca          at Φ(z₀ + (z₀ ± z)/(1 − a(z₀ ± z)))                    a = Σu³/(6(Σu²)^{3/2}): accelerated      [Efr87]
    basic        [2θ̂ − θ*₍1−α₎, 2θ̂ − θ*₍α₎]                            errors of θ* about θ̂ in place of those of θ̂
    studentized  θ̂ exp(± q e)                                  q the quantile of |log θ* − log θ̂|/e*           [Hall88]

u (n,) is what each row adds to the statistic (its influence); e and e* are standard errors of log θ in the fit and in
each draw. Percentiles repeat the bias of an estimate, and corrections for it double its noise; a symmetric studentized
interval of a positive number does neither, and keeps its level with few rows and with many columns. Quantiles are at
(B + 1)α, between neighbours linearly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.tabular import Tabular, flat_names

__all__ = [
    "METHODS",
    "Intervals",
    "acceleration",
    "check_level",
    "interval",
    "log_error",
    "signed_method",
    "stacked",
    "studentized",
]

Floats = NDArray[np.float64]

METHODS = ("percentile", "bc", "bca", "basic", "studentized")


#: What intervals are made of.
PARTS = ("estimate", "low", "high", "error", "bias")


@dataclass(frozen=True)
class Intervals(Tabular):
    """Estimates with their uncertainty; all fields have the shape of the estimate.

    Attributes
    ----------
    estimate : what the model says
    low, high : ends of the intervals
    error : standard deviation of the draws
    bias : mean of the draws less the estimate
    level : probability that an interval holds the truth
    method : "percentile", "bc", "bca", "basic" or "studentized"
    """

    estimate: Any
    low: Any
    high: Any
    error: Any
    bias: Any
    level: float
    method: str

    def covers(self, truth: Any) -> NDArray[np.bool_]:
        """Whether each interval holds a value."""
        value = np.asarray(truth)
        return np.asarray((np.asarray(self.low) <= value) & (value <= np.asarray(self.high)))

    def excludes(self, value: float = 0.0) -> NDArray[np.bool_]:
        """Whether each interval leaves a value out: loadings that are surely not zero."""
        return ~self.covers(value)

    def map(self, step: Callable[[Any], Any]) -> Intervals:
        """The same with ``step`` done to every field that has the shape of the estimate."""
        parts = [step(values) for values in (self.estimate, self.low, self.high, self.error, self.bias)]
        return Intervals(parts[0], parts[1], parts[2], parts[3], parts[4], self.level, self.method)

    def __repr__(self) -> str:
        shape = "×".join(str(size) for size in np.shape(self.estimate)) or "one"
        head = f"Intervals({shape}, {self.level:g}, {self.method!r})"
        if np.size(self.estimate) > 12:
            return head
        values = [np.atleast_1d(np.asarray(one, np.float64)).ravel() for one in (self.estimate, self.low, self.high)]
        return "\n".join([head, *(f"  {e:.4g} [{a:.4g}, {b:.4g}]" for e, a, b in zip(*values, strict=True))])

    def _table(self) -> dict[str, Any]:
        flat, rows, titles = flat_names(self.estimate, "")
        parts = {name: np.asarray(getattr(self, name)).ravel() for name in PARTS}
        if np.ndim(flat) < 2:
            return {"name": rows if np.ndim(flat) else ["all"]} | parts
        k = flat.shape[1]
        titles = titles or list(map(str, range(k)))
        names = {"name": [row for row in rows for _ in range(k)], "of": titles * len(rows)}
        return names | {name: flat_names(getattr(self, name), "")[0].ravel() for name in PARTS}


def check_level(level: float) -> None:
    """Refuse what is no probability."""
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise ParameterError("level must be a number between 0 and 1", received=repr(level), hint="level=0.95")


def signed_method(method: str | None) -> str:
    """The method for numbers of either sign, which have no logarithm, and for which no acceleration is formed."""
    return {None: "percentile", "studentized": "percentile", "bca": "bc"}.get(method, str(method))


def acceleration(influence: Floats, weights: Floats | None = None) -> Floats:
    """``a`` of the accelerated intervals, (k,), from what each row adds, (n, k)."""
    w = np.ones(len(influence)) if weights is None else weights
    square = np.square(influence)
    second, third = w @ square, w @ (square * influence)
    return np.asarray(np.where(second > 0, third / (6.0 * np.maximum(second, 1e-300) ** 1.5), 0.0))


def interval(draws: Floats, estimate: Floats, level: float, method: str, a: Floats | float = 0.0) -> Intervals:
    """Intervals from draws along the last axis, which are used up: shifted and sorted in place.

    Parameters
    ----------
    draws : (…, B)
    estimate : (…)
    level, method
        As in :class:`Intervals`.
    a : (…) acceleration, for ``"bca"``
    """
    from scipy.special import ndtr, ndtri

    B = draws.shape[-1]
    draws -= estimate[..., None]  # about the estimate, where one pass gives both moments
    bias = draws.sum(axis=-1) / B
    square = np.einsum("...b,...b->...", draws, draws)
    error = np.sqrt(np.maximum(square - B * np.square(bias), 0.0) / max(B - 1, 1))
    below = np.zeros(())
    if method in ("bc", "bca"):
        below = (draws < 0).mean(axis=-1) + 0.5 * (draws == 0).mean(axis=-1)
    draws.sort(axis=-1)
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    if method in ("bc", "bca"):
        z0 = ndtri(np.clip(below, 0.5 / B, 1 - 0.5 / B))
        lean = np.asarray(a) if method == "bca" else np.zeros(())
        places = []
        for z in ndtri(ends):
            t = z0 + z
            places.append(ndtr(z0 + t / np.maximum(1 - lean * t, 1e-3)))
    else:
        places = [np.full(estimate.shape, end) for end in ends]
    low, high = (_at(draws, place) for place in places)
    if method == "basic":
        low, high = -high, -low
    return Intervals(estimate, estimate + low, estimate + high, error, bias, level, method)


def log_error(influence: Floats, weights: Floats | None = None) -> Floats:
    """Standard error of log θ, (k,), from what each row adds to it, (n, k)."""
    w = np.ones(len(influence)) if weights is None else weights
    return np.asarray(np.sqrt(w @ np.square(influence)) / float(np.sum(w)))


def studentized(draws: Floats, estimate: Floats, level: float, error: Floats, errors: Floats) -> Intervals:
    """Symmetric intervals of the logarithm of positive numbers.

    Parameters
    ----------
    draws : (k, B), estimate : (k,)
    error : (k,) standard errors of the logarithm in the fit
    errors : (k, B) in the draws
    """
    B, tiny = draws.shape[-1], 1e-300
    off = np.abs(np.log(np.maximum(draws, tiny)) - np.log(np.maximum(estimate, tiny))[:, None])
    ratio = np.sort(np.where(errors > 0, off / np.maximum(errors, tiny), 0.0), axis=-1)
    reach = np.exp(_at(ratio, np.full(estimate.shape, level)) * error)
    bias, spread = draws.mean(axis=-1) - estimate, draws.std(axis=-1, ddof=1 if B > 1 else 0)
    return Intervals(estimate, estimate / reach, estimate * reach, spread, bias, level, "studentized")


def _at(ordered: Floats, share: Floats) -> Floats:
    """The quantiles at (B + 1)·share of what is sorted along the last axis."""
    B = ordered.shape[-1]
    place = np.clip(share * (B + 1) - 1, 0, B - 1)
    first = np.minimum(place.astype(np.int64), max(B - 2, 0))
    after = np.minimum(first + 1, B - 1)
    fraction = place - first
    a = np.take_along_axis(ordered, first[..., None], axis=-1)[..., 0]
    b = np.take_along_axis(ordered, after[..., None], axis=-1)[..., 0]
    return np.asarray(a * (1 - fraction) + b * fraction)


def stacked(parts: list[Intervals]) -> Intervals:
    """Intervals of blocks of rows, one below the other."""
    first = parts[0]
    e, low, high, error, bias = (
        np.concatenate([getattr(one, name) for one in parts]) for name in ("estimate", "low", "high", "error", "bias")
    )
    return Intervals(e, low, high, error, bias, first.level, first.method)
