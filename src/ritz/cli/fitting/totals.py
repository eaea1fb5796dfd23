"""Rows of totals: a last row that is the sum of all others counts everything twice.

x_nj = Σ_{i<n} x_ij for every column j that takes part        three other rows and two columns at least
"""

from __future__ import annotations

import numpy as np

from ritz._core.errors import AccuracyWarning
from ritz._core.warn import warn
from ritz.cli.fitting.columns import Parts
from ritz.cli.fitting.method import Choice

__all__ = ["warn_of_totals"]

FEWEST = 4
ROUNDING = 1e-9
METHODS = ("pca", "ca", "svd", "robust", "sparse", "factor")


def warn_of_totals(parts: Parts, choice: Choice) -> None:
    """Warn where the last row is the sum of all others."""
    table = parts.used
    numbers = [name for name, kind in table.kinds.items() if kind == "numeric"]
    if choice.method not in METHODS or table.lazy or len(table) < FEWEST or len(numbers) < 2:
        return
    X = table.select(numbers)
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "iuf":
        return
    last, rest = X[-1].astype(np.float64), np.sum(X[:-1], axis=0, dtype=np.float64)
    size = np.sum(np.abs(X[:-1]), axis=0, dtype=np.float64)
    if np.all(np.isfinite(last)) and np.all(np.abs(last - rest) <= ROUNDING * size) and np.all(size > 0):
        warn(
            f"{table.row_name(len(table) - 1)} is the sum of all rows above it, so that everything counts twice; take "
            "it out of the file if it is a total",
            AccuracyWarning,
        )
