"""Column scales: the n − 1 standard deviation, 1 for constant columns (with a warning that names them)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import ConstantColumnWarning
from ritz._core.tolerance import CONSTANT
from ritz._core.warn import warn
from ritz.data.moments import Moments
from ritz.data.statistics import ColumnStatistics, require_spread

__all__ = ["degrees_of_freedom", "spread_of"]


def degrees_of_freedom(weight: float) -> float:
    """Σw − 1; 1 for a single row, whose variance about zero is its square."""
    return weight - 1 if weight > 1 else 1.0


def spread_of(column: ColumnStatistics | Moments, estimator: Any) -> np.ndarray:
    """Standard deviations (d,); ``estimator`` (for its column names) makes constant columns warn."""
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    spread = np.sqrt(squares / degrees_of_freedom(column.weight)) * column.unit
    constant = spread <= CONSTANT * 2.0**-53 * np.abs(column.mean)
    require_spread(spread, constant, column.unit, getattr(estimator, "feature_names_in_", None))
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
