"""Column scales: the n − 1 standard deviation, 1 for constant columns (with a warning that names them)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ritz._core.errors import ConstantColumnWarning, InputError
from ritz._core.tolerance import constant_below
from ritz._core.warn import warn
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.data.passes.unit import power_of_two, require_spread
from ritz.methods.record import values_of
from ritz.operators import Centered, Scaled, Weighted
from ritz.operators.base import Operator
from ritz.spectral.solution import Solution

__all__ = [
    "TINY", "degrees_of_freedom", "divisor_held", "divisor_of", "require_told", "require_variances", "spread_of",
    "standardised", "stored_as", "times_square", "unit_of",
]  # fmt: skip

#: Squares of units, and sums of weights, that leave products with the values of a spectrum in range.
PLAIN = (1e-150, 1e150)

#: Sums of weights up to which eigenvalues of standardised columns, and their squares, are in range.
HEAVY = 1e100

#: Variances below this have lost digits, or all of them.
TINY = 1e-290


def degrees_of_freedom(weight: float, low: float = 0.0) -> float:
    """Σw − 1, ``low`` what the number ``weight`` lacks of Σw; 1 for a single row, whose variance is its square."""
    rest = (weight - 1) + low
    return rest if rest > 0 else 1.0


def divisor_of(column: ColumnStatistics | Moments) -> float:
    """Σw − 1 of what a pass has learned, to its last digit."""
    return degrees_of_freedom(column.weight, column.weight_low)


def divisor_held(model: Any) -> float:
    """Σw − 1 of a fitted model."""
    values = values_of(model)
    return degrees_of_freedom(float(values.get("_weight", model.n_samples_)), values.get("_weight_low", 0.0))


def unit_of(held: Statistics | Moments, scaled: bool) -> float:
    """The unit of a problem: that of the rows, or for standardised ones, near √Σw, that of heavy weights."""
    if not scaled:
        return held.unit
    return 1.0 if held.weight <= HEAVY else power_of_two(0.5 * float(np.log2(held.weight)))


def times_square(values: Any, unit: float, divisor: float = 1.0) -> Any:
    """values·unit²/divisor, in steps that stay within the range of float64 if the result does."""
    if unit == 1 and divisor <= PLAIN[1]:
        return np.asarray(values / divisor)
    square = unit * unit
    with np.errstate(over="ignore", under="ignore"):
        if PLAIN[0] <= square <= PLAIN[1] and divisor <= PLAIN[1]:
            return np.asarray(values * square / divisor)
        part = unit / np.sqrt(divisor)
        return np.asarray(values * part * part)


def stored_as(values: Any, dtype: Any) -> Any:
    """Values in the precision of the model; in float64 where a narrower type cannot hold their size."""
    wide = np.asarray(values, np.float64)
    if dtype == np.float64:
        return wide
    least, most = _limits(np.dtype(dtype))
    top = float(np.abs(wide).max(initial=0.0))
    return wide.astype(dtype) if top == 0 or least <= top <= most else wide


@lru_cache(maxsize=4)
def _limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The least and the largest number of a type that has all its digits."""
    limits = np.finfo(dtype)
    return float(limits.tiny), float(limits.max)


def require_variances(spectrum: Solution, column: ColumnStatistics | Moments, names: Any) -> None:
    """Refuse variances beyond the range of float64, by the column that varies most."""
    total = max(float(spectrum.scaled_total), 0.0)
    if spectrum.unit == 1 and total / divisor_of(column) < np.inf:
        return
    if bool(np.isfinite(times_square(total, spectrum.unit, divisor_of(column)))):
        return
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    j = int(np.argmax(squares))
    spread = float(np.sqrt(squares[j] / divisor_of(column)) * column.unit)
    raise InputError(
        "variances must stay within the range of float64",
        received=f"a standard deviation of {spread:.1e} in column {repr(str(names[j])) if names is not None else j}",
        hint="divide the data by a power of ten; PCA(scale=True) takes columns of any size within 1e145 of each other",
    )


def require_told(model: Any, what: str) -> None:
    """Refuse what is made of variances where those underflow; components, shares and singular values are right."""
    sigma = np.asarray(getattr(model, "singular_values_", 0.0), np.float64)
    if bool(np.any(sigma)) and float(np.max(np.square(sigma))) / divisor_held(model) <= TINY:
        raise InputError(
            f"{what} needs variances within the range of float64",
            received=f"singular values up to {float(np.max(sigma)):.1e}",
            hint="multiply the data by a power of ten, or fit with scale=True",
        )


def spread_of(column: ColumnStatistics | Moments, estimator: Any) -> np.ndarray:
    """Standard deviations (d,); ``estimator`` (for its column names) makes constant columns warn."""
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    quotient, divisor = squares / divisor_of(column), divisor_of(column)
    # root by root where weights of 1e-200 beside 1e200 would underflow together
    roots = np.where(quotient > TINY, np.sqrt(quotient), np.sqrt(squares) / np.sqrt(divisor))
    spread = roots * column.unit
    constant = spread <= constant_below(column.mean, column.whole)
    own = column.unit / max(1.0, float(np.sqrt(divisor_of(column))))  # a unit may hold the weights
    require_spread(spread, constant, own, getattr(estimator, "feature_names_in_", None))
    if estimator is not None and bool(np.any(constant)):
        _warn(np.flatnonzero(constant), getattr(estimator, "feature_names_in_", None))
    return np.where(constant, 1.0, spread)


def _warn(columns: np.ndarray, names: Any) -> None:
    shown = [str(names[j]) if names is not None else str(j) for j in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    plural = "s" if len(columns) > 1 else ""
    warn(
        f"constant column{plural} {', '.join(shown)}{more}: no variance to divide by, kept with scale 1",
        ConstantColumnWarning,
    )


def standardised(model: Any, posed: Any, plan: Any) -> Operator:
    """D_w^½ (X − 1μᵀ) D_σ⁻¹ as the parameters of a model ask for it, in units that keep squares in range.

    ``posed`` is told the statistics of the rows and the unit.
    """
    A, stats = model._leaf(posed.rows, posed.weights, plan, posed.unit)
    posed.stats = stats
    if model.center:
        A = Centered(A, stats)
    if model.scale:
        stats.divide(np.ones(posed.shape.d, bool))
        A = Scaled(A, lambda: spread_of(stats.column, model) * unit_of(stats, True), spreads=True)
    elif stats.unit != 1:
        A = Scaled(A, stats.unit, "/unit")
    if stats.weights is not None:
        A = Weighted(A, stats.weights)
    posed.unit = unit_of(stats, model.scale)
    return A
