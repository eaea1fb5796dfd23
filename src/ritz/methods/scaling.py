"""Column scales: the n − 1 standard deviation, 1 for constant columns (with a warning that names them)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ritz._core.errors import ConstantColumnWarning
from ritz._core.tolerance import CONSTANT
from ritz.data.moments import Moments
from ritz.data.statistics import ColumnStatistics, require_spread

__all__ = ["degrees_of_freedom", "divisor_held", "divisor_of", "spread_of"]


def degrees_of_freedom(weight: float, low: float = 0.0) -> float:
    """Σw − 1, ``low`` what the number ``weight`` lacks of Σw; 1 for a single row, whose variance is its square."""
    rest = (weight - 1) + low
    return rest if rest > 0 else 1.0


def divisor_of(column: ColumnStatistics | Moments) -> float:
    """Σw − 1 of what a pass has learned, to its last digit."""
    return degrees_of_freedom(column.weight, column.weight_low)


def divisor_held(model: Any) -> float:
    """Σw − 1 of a fitted model."""
    held = vars(model)
    return degrees_of_freedom(float(held.get("_weight", model.n_samples_)), held.get("_weight_low", 0.0))


def spread_of(column: ColumnStatistics | Moments, estimator: Any) -> np.ndarray:
    """Standard deviations (d,); ``estimator`` (for its column names) makes constant columns warn."""
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    spread = np.sqrt(squares / divisor_of(column)) * column.unit
    constant = spread <= CONSTANT * 2.0**-53 * np.abs(column.mean)
    require_spread(spread, constant, column.unit, getattr(estimator, "feature_names_in_", None))
    if estimator is not None and bool(np.any(constant)):
        _warn(np.flatnonzero(constant), getattr(estimator, "feature_names_in_", None))
    return np.where(constant, 1.0, spread)


def _warn(columns: np.ndarray, names: Any) -> None:
    shown = [str(names[j]) if names is not None else str(j) for j in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    plural = "s" if len(columns) > 1 else ""
    warnings.warn(
        f"constant column{plural} {', '.join(shown)}{more}: no variance to divide by, kept with scale 1",
        ConstantColumnWarning,
        stacklevel=2,
    )
