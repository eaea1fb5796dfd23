"""Whether columns are standardised: yes when their spreads differ more than tenfold, unless the user decides.

    spread_j = √(Σᵢ (x_ij − mean_j)² / (n − 1)),     max spread / min spread > 10  →  scale

Unscaled, a column in milligrams outweighs the same column in grams a million times, and the first axis is
that column. The rule looks at columns that vary at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["Scaling", "decide_scaling", "spreads"]

TENFOLD = 10.0
BLOCK_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Scaling:
    """The decision, who made it, and the sentence for the summary."""

    scale: bool
    asked: bool
    why: str


def decide_scaling(X: np.ndarray, names: list[str], wanted: bool | None) -> Scaling:
    """Decide for the rows ``X`` (n, d); ``wanted`` is the user's word or None."""
    spread = spreads(X)
    varying = np.flatnonzero(spread > 0)
    if varying.size < 2:
        fold, facts = 1.0, "there is only one column that varies"
    else:
        low, high = varying[np.argmin(spread[varying])], varying[np.argmax(spread[varying])]
        fold = float(spread[high] / spread[low])
        facts = (
            f"the spreads of the columns differ {_fold(fold)} "
            f"(from {names[low]} {spread[low]:.3g} to {names[high]} {spread[high]:.3g})"
        )
    scale = fold > TENFOLD if wanted is None else wanted
    if wanted is None:
        rule = "more than tenfold" if scale else "not more than tenfold"
        tail = f", {rule}; --no-scale keeps the units" if scale else f", {rule}; --scale standardises"
        why = f"{facts}{tail}" if varying.size >= 2 else facts
    else:
        why = f"as asked; {facts}"
    return Scaling(scale, wanted is not None, f"{'standardised' if scale else 'not standardised'}: {why}")


def spreads(X: np.ndarray) -> np.ndarray:
    """Standard deviation of every column, in two passes over blocks of rows.

    Values are brought to [−1, 1] by the first pass, so neither a large mean nor a large unit costs digits.
    """
    n, d = X.shape
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    for block in _blocks(X):
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    unit = np.where(half > 0, half, 1.0)
    total, squares = np.zeros(d), np.zeros(d)
    for block in _blocks(X):
        z = (block - middle) / unit
        total += z.sum(axis=0)
        squares += np.einsum("ij,ij->j", z, z)
    variance = np.maximum(squares - total * total / n, 0.0) / max(n - 1, 1)
    return np.where(half > 0, np.sqrt(variance) * unit, 0.0)


def _blocks(X: np.ndarray) -> Iterator[np.ndarray]:
    step = max(1, BLOCK_ENTRIES // max(X.shape[1], 1))
    for i in range(0, X.shape[0], step):
        yield X[i : i + step].astype(np.float64)


def _fold(ratio: float) -> str:
    return f"{ratio:.1f}-fold" if ratio < 100 else f"{ratio:,.0f}-fold"
