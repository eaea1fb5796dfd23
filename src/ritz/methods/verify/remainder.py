"""What the components leave, held against a second fit: right to what rounding allows of a difference.

    rest = tr M − Σ_{i≤k} λᵢ,   known to ± kρ + 8u·tr M       ρ the rounding of the certificate; NaN where half is lost

A state without its rows takes the rest from sums that hold no more digits (``methods/rest.py``); a fit of the rows has
them. Both are right, and differ by no more than both may be off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.methods.record import values_of
from ritz.methods.rest import SUMMED, UNTOLD
from ritz.methods.scaling import divisor_held, times_square

__all__ = ["LEFT", "remaining"]

#: Names that are made of what the components leave.
LEFT = ("_left", "noise_variance_")

#: Times what a difference may be off within which two of them are the same.
MARGIN = 4.0

#: Relative difference of the variance that a sketch gives each component left out.
ROUGHLY = 1e-4


def remaining(model: Any, other: Any, close: float, drawn: bool) -> list[str] | None:
    """Words on the names in ``LEFT`` that a second fit does not give; None for a model that does not keep the rest.

    ``drawn``: the second fit drew another sketch, and what is left is the difference of total and values.
    """
    mine, theirs = values_of(model), values_of(other)
    left, b = mine.get("_left"), theirs.get("_left")
    if left is None or b is None:
        return None
    a, c = float(left), model.certificate_
    units = _shown(other) / _shown(model)
    b = max(float(c.total - np.sum(c.values)), 0.0) if drawn else float(b) * units * units
    doubt = MARGIN * (_doubt(model) + _doubt(other) * units * units)
    if _beyond(model) <= 0 and np.isnan(a):
        return [f"{name} is not a number, and there is nothing left to tell" for name in LEFT if name in mine]
    words = [] if _near(a, b, close * abs(b) + doubt, doubt) else ["_left is not what a second fit gives"]
    if "noise_variance_" not in mine:
        return words
    noise = float(mine["noise_variance_"])
    if drawn:
        expected, off = _shared(model, a), _by_one(model, doubt)
        close = max(close, ROUGHLY)
    else:
        expected = float(theirs["noise_variance_"])
        off = doubt / b * abs(expected) if b > 0 and np.isfinite(expected) else _by_one(model, doubt)
    right = _near(noise, expected, close * abs(expected) + off, off) and not (np.isnan(noise) and _beyond(model) <= 0)
    return words if right else [*words, "noise_variance_ is not what a second fit gives"]


def _shown(model: Any) -> float:
    return float(model.certificate_.frame.get("shown", 1.0))


def _shared(model: Any, rest: float) -> float:
    """A rest shared out among the components left out, as a PCA does it."""
    full = _beyond(model)
    return _by_one(model, rest / full) if full > 0 else 0.0


def _beyond(model: Any) -> int:
    """Components beyond those of a model, as many as rows and columns allow."""
    fitted, k = values_of(model), len(model.certificate_.values)
    rows = max(int(fitted["n_samples_"]), int(fitted.get("_weight", 0.0)))
    return min(rows, int(fitted["n_features_in_"])) - k


def _by_one(model: Any, rest: float) -> float:
    """The variance of one component that has all of a rest."""
    return float(times_square(rest, _shown(model), max(divisor_held(model), 2.0**-52)))


def _doubt(model: Any) -> float:
    """By how much the rest of a model may be off, in the units of its certificate."""
    c = model.certificate_
    return len(c.values) * float(c.rounding) + SUMMED * 2.0**-53 * abs(float(c.total))


def _near(a: float, b: float, allowed: float, doubt: float) -> bool:
    """Whether two rests agree; one that is NaN was lost in ``doubt``."""
    if np.isnan(a) or np.isnan(b):
        told = b if np.isnan(a) else a
        return bool(np.isnan(told) or UNTOLD * abs(told) <= doubt)
    return bool(a == b or abs(a - b) <= allowed)
