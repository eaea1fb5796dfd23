"""Rows that models are fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["D", "N", "gaps", "rows"]

N, D = 80, 7


def rows(seed: int = 0) -> Any:
    """Rows whose variances stand apart, about a mean that is not small."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((D, D)))[0]
    return rng.standard_normal((N, D)) * [9, 6, 4, 2.5, 1.5, 1, 0.5] @ turn + np.arange(3, 3 + D)


def gaps() -> Any:
    """The same with three entries missing."""
    X = rows()
    X[[3, 10, 40], [2, 4, 0]] = np.nan
    return X
