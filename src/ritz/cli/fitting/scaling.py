"""Whether columns are standardised: yes when their spreads differ more than tenfold, unless the user decides.

    spread_j = √(Σᵢ (x_ij − mean_j)² / (n − 1)),     max spread / min spread > 10  →  scale

Unscaled, a column in milligrams outweighs the same column in grams a million times, and the first axis is
that column. The rule looks at columns that vary at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.statistics import Statistics

__all__ = [
    "ALWAYS",
    "AS_GIVEN",
    "IN_THE_FIT",
    "Scaling",
    "always_words",
    "decide_scaling",
    "near_words",
    "spreads",
    "unknown_spreads",
]

TENFOLD = 10.0
#: Near the limit from here to there: a few rows more or less may turn the decision.
NEAR = (8.0, 12.5)
BLOCK_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Scaling:
    """The decision, who made it, and the sentence for the summary."""

    scale: bool
    asked: bool
    why: str
    near: bool = False  # the rule decided, close to its limit


#: Methods that standardise unless they are told not to, and what the summary says of them.
ALWAYS = ("factor", "mfa", "pls", "pcr", "cca")


def always_words(name: str) -> Scaling:
    """What a method does that standardises unless it is told not to."""
    return Scaling(True, False, f"standardised, as {name} does unless --no-scale keeps the units")


#: Of a table in pieces before its fit, where asking for the spreads would cost a pass over the data.
IN_THE_FIT = Scaling(
    False, False, "decided by the fit, which standardises columns whose standard deviations differ more than tenfold; "
    "--scale and --no-scale decide now",
)  # fmt: skip

#: Of a covariance matrix, whose rows are not there.
AS_GIVEN = Scaling(False, False, "not standardised: the matrix is taken as it was given; --scale takes correlations")


def decide_scaling(spread: np.ndarray, names: list[str], wanted: bool | None) -> Scaling:
    """Decide from the spreads (d,) of the columns; ``wanted`` is the user's word or None."""
    varying = np.flatnonzero(spread > 0)
    if varying.size < 2:
        fold, facts = 1.0, "there is only one column that varies" if varying.size else "no column varies"
    else:
        low, high = varying[np.argmin(spread[varying])], varying[np.argmax(spread[varying])]
        with np.errstate(over="ignore"):  # columns so far apart are refused or standardised like others
            fold = float(spread[high] / spread[low])
        facts = (
            f"the standard deviations of the columns differ {_fold(fold)} "
            f"(from {names[low]} {spread[low]:.3g} to {names[high]} {spread[high]:.3g})"
        )
        if fold == 1:
            facts = f"the columns have the same standard deviation, {spread[low]:.3g}"
    scale = fold > TENFOLD if wanted is None else wanted
    if wanted is None:
        rule = "more than tenfold" if scale else "not more than tenfold"
        limit = "" if fold == 1 else f", {rule}"
        tail = f"{limit}; --no-scale keeps the units" if scale else f"{limit}; --scale standardises"
        why = f"{facts}{tail}" if varying.size >= 2 else facts
    else:
        why = f"as asked; {facts}"
    near = wanted is None and NEAR[0] <= fold <= NEAR[1]
    return Scaling(scale, wanted is not None, f"{'standardised' if scale else 'not standardised'}: {why}", near)


def near_words(scaling: Scaling, shares: tuple[float, float]) -> Scaling:
    """The decision with the first share under both, where a few rows more or less may turn it."""
    with_units, standardised = (f"{100 * share:.1f} %" for share in shares)
    words = (
        f"; this is near the limit, so say which you mean: PC1 holds {standardised} standardised (--scale) and "
        f"{with_units} in its units (--no-scale)"
    )
    return replace(scaling, why=scaling.why + words)


def unknown_spreads(wanted: bool) -> Scaling:
    """The user's word, where asking for the spreads would cost a pass over the data."""
    return Scaling(wanted, True, f"{'standardised' if wanted else 'not standardised'}: as asked")


def spreads(X: np.ndarray) -> np.ndarray:
    """Standard deviation of what every column has, in two passes over blocks of rows.

    Values are brought to [−1, 1] by the first pass, so neither a large mean nor a large unit costs digits.
    """
    if not isinstance(X, np.ndarray):
        column = Statistics(MemoryBlocks(X)).column
        return np.sqrt(column.squares / max(column.weight - 1, 1.0)) * column.unit
    d = X.shape[1]
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    for block in _blocks(X):
        low, high = np.fmin(low, np.fmin.reduce(block, axis=0)), np.fmax(high, np.fmax.reduce(block, axis=0))
    bare = low > high  # columns without a value
    low[bare] = high[bare] = 0.0
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    unit = np.where(half > 0, half, 1.0)
    count, total, squares = np.zeros(d), np.zeros(d), np.zeros(d)
    with np.errstate(invalid="ignore"):  # infinity is refused in words by whoever fits
        for block in _blocks(X):
            z = (block - middle) / unit
            count += np.sum(~np.isnan(z), axis=0)
            total += np.nansum(z, axis=0)
            squares += np.nansum(z * z, axis=0)
        variance = np.maximum(squares - total * total / np.maximum(count, 1), 0.0) / np.maximum(count - 1, 1)
        return np.where(half > 0, np.sqrt(variance) * unit, 0.0)


def _blocks(X: np.ndarray) -> Iterator[np.ndarray]:
    step = max(1, BLOCK_ENTRIES // max(X.shape[1], 1))
    for i in range(0, X.shape[0], step):
        yield X[i : i + step].astype(np.float64)


def _fold(ratio: float) -> str:
    if not np.isfinite(ratio):
        return "more than 1e308-fold"
    return f"{ratio:.1f}-fold" if ratio < 100 else f"{ratio:,.0f}-fold"
