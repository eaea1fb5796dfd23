"""The table read anew, for ``verify``: means, spreads and products that share no code with the fit.

    μ₀ = Σwx/W,   μ = μ₀ + Σw(x − μ₀)/W,   s² = Σw(x − μ)²/(W − 1),   Z = D_w^½ (X − 1μᵀ) D_s⁻¹ / unit

Plain NumPy over blocks of rows in float64, long sums halved until they are short; means and spreads in two passes, in
extended precision where the table is small. Sparse rows are multiplied as they are; the mean is taken off the product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.tolerance import constant_below
from ritz.data.passes.blocks import are_blocks

__all__ = ["Reread"]

Vector = NDArray[np.float64]

#: Entries up to which sums are taken in extended precision, and entries of a block otherwise.
EXTENDED, BLOCK = 500_000, 1_000_000
#: Rows whose products are summed in one go: a thousand equal rows would round in one direction.
SHORT = 64
#: Entries of a column or a row that SciPy may add one after the other.
CHAIN = 256
#: Around the threshold of a constant column two ways of summing may disagree by this factor.
BORDERLINE = 16.0
#: Sums of weights below this are added up exactly.
NEAR_ONE = 4.0


#: Cells of a sparse table that is filled in: a mean taken off its rows rounds less than one taken off its products.
FILLED = 1 << 20


class Reread:
    """``Z`` (n×d) from the data alone.

    Parameters
    ----------
    X
        Rows, dense or sparse, or row blocks of what stays outside memory.
    weights
        Frequencies; rows of weight zero are left out, whatever they hold.
    center, unit
        Whether the mean is taken off, and the power of two that everything is divided by.
    scale
        The column scales of the fit, or None for columns as they are. They decide only whether a column counts as
        constant where rounding leaves that open.
    metric
        Whether the scales are a metric of the method (masses, say) and not the spreads of the columns.
    """

    def __init__(
        self, X: Any, weights: Any, *, center: bool, unit: float, scale: Any = None, metric: bool = False
    ) -> None:
        self.outside = are_blocks(X)
        self.sparse = self.given_sparse = X.sparse if self.outside else hasattr(X, "tocsr")
        if not self.outside:
            X = X.tocsr() if self.sparse else np.asarray(X)
            if self.sparse and float(X.shape[0]) * X.shape[1] <= FILLED:
                X, self.sparse = X.toarray(), False
        w = np.ones(X.shape[0]) if weights is None else np.asarray(weights, np.float64)
        if weights is not None and not self.outside and not bool(np.all(w > 0)):
            X, w = X[np.flatnonzero(w > 0)], w[w > 0]
        self.X, self.w, self.center, self.unit = X, w, center, unit
        self.weight, self.metric = float(np.sum(w)), metric
        # Σw − 1 without the digits that a rounded sum near 1 would cost
        self.divisor = self.weight - 1 if not self.weight < NEAR_ONE else math.fsum([*w.tolist(), -1.0])
        self.fitted = None if scale is None else np.asarray(scale, np.float64)

    def _blocks(self) -> Iterator[tuple[Any, Vector]]:
        n, d = self.X.shape
        rows = max(1, BLOCK // max(1, d))
        if not self.outside:
            for i in range(0, n, rows):
                yield self.X[i : i + rows], self.w[i : i + rows]
            return
        for block in self.X.each():
            present = np.flatnonzero(self.w[block.rows] > 0)
            values = block.values if len(present) == block.values.shape[0] else block.values[present]
            yield values, self.w[block.rows][present]

    def _sums(self, high: Any, low: Any, power: int) -> Any:
        """Σw(x − high − low)^power, (d,); dense blocks, which only a block of a sparse table ever becomes."""
        kind = np.longdouble if self.X.shape[0] * self.X.shape[1] <= EXTENDED else np.float64
        total = _Levels(np.zeros(self.X.shape[1], kind))
        for x, w in self._blocks():
            z = ((x.toarray() if self.sparse else x).astype(_wide(x, kind)) - high - low).astype(kind)
            total.add(_halved((z if power == 1 else (z / self.own) ** 2) * w.astype(kind)[:, None]))
        return total.sum()

    @cached_property
    def _parts(self) -> tuple[Vector, Vector]:
        """The mean as a float64 number and what that lacks: far from zero its last digit is larger than the spread."""
        weight = np.sum(self.w, dtype=np.longdouble)  # rounded, it would leave a share u of what the mean lacks
        high = np.asarray(self._sums(0, 0, 1) / weight, np.float64)
        return high, np.asarray(self._sums(high, 0, 1) / weight, np.float64)

    @property
    def mean(self) -> Vector:
        """Weighted column means, (d,), whether or not they are taken off."""
        return self._parts[0] + self._parts[1]

    @cached_property
    def own(self) -> Any:
        """Units of the squares: that of the certificate, or, where columns are divided by their spreads, one for each.

        A power of two near the largest √w|x − μ| of a column, so that no square leaves the range.
        """
        if self.fitted is None or self.metric:
            return self.unit
        size = np.zeros(self.X.shape[1])
        for x, w in self._blocks():
            dense = np.asarray(x.toarray() if self.sparse else x, np.float64)
            away = np.abs(dense * 0.5 - (self._parts[0] + self._parts[1]) * 0.5)  # halves: a difference stays finite
            with np.errstate(over="ignore"):
                size = np.maximum(size, np.max(away * np.sqrt(w)[:, None], axis=0, initial=0.0))
        exponent = np.where((size > 0) & np.isfinite(size), np.frexp(size)[1], 0)
        return np.ldexp(1.0, np.clip(exponent, -1020, 1020))

    @cached_property
    def squares(self) -> Vector:
        """Σw(x − μ)²/own², (d,)."""
        return np.asarray(self._sums(*self._parts, 2), np.float64)

    @cached_property
    def spread(self) -> Vector:
        """Standard deviations with divisor Σw − 1, in the units of the data, (d,)."""
        # root by root: weights of 1e-200 beside 1e200 would underflow together
        roots = np.sqrt(self.squares) / np.sqrt(self.divisor if self.divisor > 0 else 1.0)
        return np.asarray(roots * self.own, np.float64)

    @cached_property
    def scale(self) -> Vector | None:
        """What columns are divided by: their spread, 1 for constant ones; None for columns as they are."""
        if self.fitted is None or self.metric:
            return self.fitted
        threshold = constant_below(self.mean, self.X.dtype.kind in "iu")
        constant = self.spread <= threshold
        open_ = (self.spread <= BORDERLINE * threshold) & (self.spread > threshold / BORDERLINE)
        return np.where(open_, self.fitted, np.where(constant, 1.0, self.spread))

    @property
    def _factor(self) -> Vector:
        """1/(scale·unit), (d,)."""
        d = self.X.shape[1]
        return np.full(d, 1 / self.unit) if self.scale is None else 1 / (self.scale * self.unit)

    def trace(self) -> float:
        """‖Z‖²_F."""
        squares = self.squares
        if not self.center:
            squares = squares + self.weight * np.square(self.mean / self.own)
        return float(np.sum(squares * np.square(self._factor * self.own)))

    def inflation(self) -> float:
        """‖·‖² by which the numbers that are rounded exceed Z itself: a mean taken off a sparse product."""
        return self.fitted_inflation() if self.sparse else 0.0

    def fitted_inflation(self) -> float:
        """The same for the fit, which takes the mean off sparse products where this table was filled."""
        taken = self.given_sparse and self.center
        return self.weight * float(np.sum(np.square(self.mean * self._factor))) if taken else 0.0

    def _rows(self, x: Any) -> Any:
        """A dense block of Z without its weights."""
        high, low = self._parts if self.center else (0.0, 0.0)
        return np.asarray(x.astype(_wide(x, np.float64)) - high - low, np.float64) * self._factor

    def spread_along(self, V: Any) -> Vector:
        """Σw((x − μ)V)²/(unit²Σw), (k,): variances of coordinates about their mean, without a difference of squares."""
        high, low = self._parts
        total = _Levels(np.zeros(V.shape[1]))
        for x, w in self._blocks():
            z = ((x.toarray() if self.sparse else x).astype(_wide(x, np.float64)) - high - low).astype(np.float64)
            total.add(_halved(np.square((z / self.unit) @ V) * w[:, None]))
        return np.asarray(total.sum() / self.weight)

    def normal(self, V: Any) -> Vector:
        """``ZᵀZ V``."""
        total = _Levels(np.zeros((self.X.shape[1], V.shape[1])))
        W, mean = V * self._factor[:, None], self.mean if self.center else np.zeros(self.X.shape[1])
        for x, w in self._blocks():
            if self.sparse:
                rows = x.astype(np.float64)
                weighted = (_times(rows, W) - mean @ W) * w[:, None]
                total.add((_product(rows, weighted) - np.outer(mean, _halved(weighted))) * self._factor[:, None])
            else:
                z = self._rows(x)
                total.add(_product(z, (z @ V) * w[:, None]))
        return np.asarray(total.sum())

    def gram(self) -> Vector:
        """``ZᵀZ``, (d, d)."""
        total = _Levels(np.zeros((self.X.shape[1],) * 2))
        for x, w in self._blocks():
            if self.sparse:
                rows = x.astype(np.float64).tocsr(copy=True)
                rows.data *= self._factor[rows.indices]  # first: squares of the entries may leave the range
                total.add(_sparse_gram(rows, w))
            else:
                z = self._rows(x) * np.sqrt(w)[:, None]
                total.add(_product(z, z))
        gram = np.asarray(total.sum())
        if self.sparse:
            mean = self.mean * self._factor
            gram -= self.weight * np.outer(mean, mean) if self.center else 0.0
        return gram


class _Levels:
    """A long sum in two levels: sixteen terms after each other, then those sums."""

    def __init__(self, zero: Any) -> None:
        self.total, self.group, self.count = zero, np.zeros_like(zero), 0

    def add(self, term: Any) -> None:
        self.group += term
        self.count += 1
        if self.count % 16 == 0:
            self.total += self.group
            self.group[...] = 0

    def sum(self) -> Any:
        return self.total + self.group


def _halved(z: Any) -> Any:
    """The sum of the rows, halves added to halves."""
    while z.shape[0] > 1:
        half = z.shape[0] // 2
        z = np.concatenate([z[:half] + z[half : 2 * half], z[2 * half :]])
    return z[0] if z.shape[0] else np.zeros(z.shape[1], z.dtype)


def _times(rows: Any, W: Any) -> Any:
    """``rows W``; long rows are cut."""
    if int(np.max(np.diff(rows.indptr), initial=0)) <= CHAIN:
        return rows @ W
    return _product(rows.T.tocsr(), W)


def _sparse_gram(rows: Any, w: Vector) -> Any:
    """``Σwxxᵀ`` of sparse rows; where a column has many entries, of fewer rows at a time or of a dense block."""
    n, d = rows.shape
    if int(np.max(np.bincount(rows.indices, minlength=1), initial=0)) <= CHAIN:
        return np.asarray((rows.T @ rows.multiply(w[:, None])).toarray())
    if n * d <= BLOCK:
        z = rows.toarray() * np.sqrt(w)[:, None]
        return _product(z, z)
    half = n // 2
    return _sparse_gram(rows[:half], w[:half]) + _sparse_gram(rows[half:], w[half:])


def _wide(x: Any, kind: Any) -> Any:
    """The precision in which the mean is taken off: integers of 64 bits have more digits than float64."""
    return np.longdouble if x.dtype.kind in "iu" and x.dtype.itemsize == 8 else kind


def _product(Z: Any, B: Any) -> Any:
    """``ZᵀB``, halves added to halves."""
    n = Z.shape[0]
    if n <= SHORT:
        return Z.T @ B
    return _product(Z[: n // 2], B[: n // 2]) + _product(Z[n // 2 :], B[n // 2 :])
