"""Which words get a column: neither too rare nor too common, and the most frequent ones of them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["kept_columns"]


def kept_columns(rule: Any, df: Any, gf: Any, n: int) -> Any:
    """Columns that stay, in order; None where all do. Of equally frequent words the first ones stay."""
    low = rule.min_df if isinstance(rule.min_df, (int, np.integer)) else rule.min_df * n
    high = rule.max_df if isinstance(rule.max_df, (int, np.integer)) else rule.max_df * n
    fits = (df >= low) & (df <= high)
    limit = rule.max_features
    if limit is not None and fits.sum() > limit:
        columns = np.flatnonzero(fits)
        most = np.argsort(-gf[columns], kind="stable")[:limit]
        return np.sort(columns[most])
    if fits.all():
        return None
    return np.flatnonzero(fits)
