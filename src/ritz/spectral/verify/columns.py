"""The means that a fit took off and the scales that it divided by are those of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.tolerance import rounding, unit_roundoff
from ritz.spectral.verify.anew import Anew

__all__ = ["columns"]

#: Multiples of u that a mean may be off in units of the spread, a scale in units of itself.
FRAME = 1000.0

#: Spread of a column, in units of the table, whose square float64 does not hold beside the others.
UNSEEN = 2.0**-500


def columns(c: Any, a: Anew, rho: float) -> list[str]:
    """What differs, in words; ``rho`` is the certified rounding as far as it is explained, in solver units.

    Both are as good as the arithmetic of the fit. Where a state has lost more (``subtract``), ρ bounds the error of
    every column's square: a mean off by δ moves it by Wδ², a scale off by a share ε by 2ε(W − 1).
    """
    A, u, frame = a.A, c.unit_roundoff, c.frame
    usual = 2 * rounding(a.d, u) * float(np.max(a.theta, initial=0.0))
    extra, words = max(rho - usual, 0.0) / A.weight, []
    # Rounding is in units of the scales that the fit divided by: a column of which nothing was left may have any.
    larger = None if A.scale is None or A.fitted is None else np.maximum(A.scale, A.fitted)
    if frame["mean"] is not None:
        stored = 4 * unit_roundoff(np.asarray(frame["mean"]).dtype) * np.abs(A.mean) + _least(frame["mean"])
        lost = np.sqrt(extra) * (A.unit if larger is None else larger)
        slack = frame.get("mean_slack")
        if slack is not None:  # what ``subtract`` states, as far as ρ allows for it
            lost = np.maximum(lost, np.minimum(slack, np.sqrt(rho / A.weight) * A.unit))
        spread = np.maximum(A.spread, UNSEEN * A.unit)
        words += _same("mean", frame["mean"], A.mean, stored + FRAME * u * spread + lost)
    if larger is not None:
        share = FRAME * u + extra + 4 * unit_roundoff(np.asarray(frame["scale"]).dtype)
        words += _same("scale", A.fitted, A.scale, share * larger + _least(frame["scale"]))
    return words


def _least(values: Any) -> float:
    """What rounding to the smallest numbers of a type may take from them."""
    kind = np.asarray(values).dtype
    return float(np.finfo(kind).smallest_subnormal) if kind.kind == "f" else 0.0


def _same(what: str, fitted: Any, anew: Any, allowed: Any) -> list[str]:
    fitted = np.asarray(fitted, np.float64)
    if fitted.shape != np.shape(anew):
        return [f"{what}s of {fitted.size} columns, not of {np.size(anew)}"]
    off = np.flatnonzero(~(np.abs(fitted - anew) <= allowed))
    return [f"the {what} of column {j} is {anew[j]:.17g}, the fit used {fitted[j]:.17g}" for j in off[:1]]
