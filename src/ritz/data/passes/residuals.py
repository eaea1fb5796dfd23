"""Pearson and deviance residuals of counts, made while they are read.

    z_ij = (x_ij − μ_ij)/√(μ_ij + μ_ij²/θ),  μ_ij = r_i p_j,  r_i = Σ_j x_ij,  p_j = Σ_i x_ij/Σx,  within ±c    [LBK21]
    z_ij = ±√2[k(x_ij, μ_ij) − k(x_ij + θ, μ_ij + θ)],  k(a, b) = a log(a/b) − a + b                            [THW19]

A count of zero has a residual that is not zero, so blocks are dense whatever they are made of: (rows of a block) × d
numbers at a time, never the whole table. Rows and columns without any count have residual 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, RowBlocks
from ritz.data.passes.profiles import DerivedBlocks

__all__ = ["CountSums", "ResidualBlocks", "residual_rows"]

Floats = NDArray[np.float64]

#: |a/b − 1| below which k(a, b) is summed as a series, and its terms.
NEAR, TERMS = 0.05, 12


def residual_rows(
    values: Any, shares: Floats, theta: float, clip: float, keep: Any = None, start: int = 0, kind: str = "pearson"
) -> Floats:
    """Residuals (m, d) of some rows, of the columns ``keep`` alone where they are named."""
    totals = checked(values, start)
    rows = values if keep is None else values[:, keep]
    x = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), np.float64)
    mu = totals[:, None] * (shares if keep is None else shares[keep])
    z = _pearson(x, mu, theta) if kind == "pearson" else _deviance(x, mu, theta)
    return np.clip(np.where(mu > 0, z, 0.0), -clip, clip)


def _pearson(x: Floats, mu: Floats, theta: float) -> Floats:
    spread = mu if np.isinf(theta) else mu * (1 + mu / theta)
    return np.divide(x - mu, np.sqrt(spread), out=np.zeros_like(mu), where=spread > 0)


def _deviance(x: Floats, mu: Floats, theta: float) -> Floats:
    safe = np.where(mu > 0, mu, 1.0)
    parts = _divergence(x, safe)
    if not np.isinf(theta):
        parts = parts - _divergence(x + theta, safe + theta)
    return np.asarray(np.sign(x - mu) * np.sqrt(2 * np.maximum(parts, 0.0)))


def _divergence(a: Floats, b: Floats) -> Floats:
    """k(a, b) of a ≥ 0 and b > 0; where both are nearly the same b·Σₙ (−δ)ⁿ/(n(n − 1)), δ = a/b − 1."""
    delta = (a - b) / b
    far = np.where(a > 0, a, 1.0)
    out = np.where(a > 0, far * np.log(far / b), 0.0) - a + b
    near = np.abs(delta) < NEAR
    if near.any():
        t, series = -delta[near], np.zeros(int(near.sum()))
        for n in range(TERMS, 1, -1):
            series = series * t + 1 / (n * (n - 1))
        out[near] = b[near] * t * t * series
    return np.asarray(out)


def checked(values: Any, start: int) -> Floats:
    """Totals of rows of counts; what is negative or not finite is refused by its row."""
    entries = values if isinstance(values, np.ndarray) else values.data
    if entries.size and not (float(np.min(entries)) >= 0 and np.isfinite(entries.sum(dtype=np.float64))):
        dense = values if isinstance(values, np.ndarray) else values.toarray()
        wrong = ~((dense >= 0) & np.isfinite(dense))
        row = int(np.argmax(wrong.any(axis=1)))
        if not np.isfinite(dense[wrong]).all():
            raise NonFiniteError(
                "expected finite counts", received=f"NaN or infinity in row {start + row}",
                hint="a gap among counts is no zero: leave such rows out, or fill them",
            )  # fmt: skip
        raise InputError(
            "Negative values in data passed to PearsonResiduals, which takes counts", received=(
                f"{dense[row][wrong[row]][0]:g} in row {start + row}"),
            hint="raw counts, before any logarithm, scaling or centring",
        )  # fmt: skip
    return np.asarray(values.sum(axis=1, dtype=np.float64), np.float64).reshape(-1)


class CountSums(Sums):
    """Totals of the columns, and what the moments of an overdispersion need."""

    SUMS = ("columns", "squares", "row_squares", "rows")

    def __init__(self, d: int) -> None:
        self.columns, self.squares, self.row_squares, self.rows = np.zeros(d), 0.0, 0.0, 0.0

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        totals = checked(block.values, block.start)
        entries = block.values if isinstance(block.values, np.ndarray) else block.values.data
        self.columns += np.asarray(block.values.sum(axis=0, dtype=np.float64), np.float64).reshape(-1)
        self.squares += float(np.sum(np.square(entries, dtype=np.float64)))
        self.row_squares += float(np.sum(np.square(totals)))
        self.rows += float(block.values.shape[0])


class ResidualBlocks(DerivedBlocks):
    """Another table's blocks as residuals."""

    def __init__(
        self, inner: RowBlocks, shares: Floats, theta: float, clip: float, keep: Any = None, kind: str = "pearson"
    ) -> None:
        super().__init__(inner)
        self.shares, self.theta, self.clip, self.keep, self.kind = shares, theta, clip, keep, kind
        d = inner.shape[1] if keep is None else len(keep)
        self.shape, self.sparse, self.stored = (inner.shape[0], d), False, inner.shape[0] * d
        self.names: Any = None

    def _changed(self, block: Block) -> Block:
        rows = residual_rows(
            block.values, self.shares, self.theta, self.clip, self.keep, block.start, self.kind
        )  # fmt: skip
        return Block(rows, block.start)
