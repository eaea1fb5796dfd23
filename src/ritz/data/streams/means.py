"""Rows, weight and mean of a table in parts that add up without drift: what every state of a stream begins with.

    w = w_A + w_B      μ = μ_A + δ·w_B/w,  δ = μ_B − μ_A      between the parts lies δδᵀ·w_A w_B/w            [Chan83]

Weight and mean are hi + lo, and the mean is counted from an exactly representable point near the rows: a chain of N
mergers errs by one rounding and not by N, also where the mean is 1e8 times the spread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import chain, two_product, two_sum
from ritz._core.errors import MergeError
from ritz.data.passes.center import mean_parts

__all__ = ["Means", "WithMeans"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """Rows with a weight, Σw and the weighted mean of the columns.

    Parameters
    ----------
    rows
        Rows seen with a positive weight.
    weight, weight_low
        Σw, and what the float64 number lacks of it.
    shift, offset, offset_low
        Mean = shift + offset + offset_low, (d,) each.
    """

    rows: int
    weight: float
    shift: Vector
    offset: Vector
    weight_low: float = 0.0
    offset_low: Vector | None = None

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.shift.shape[0])

    @property
    def mean(self) -> Vector:
        """Weighted column means."""
        return self.parts()[0]

    def parts(self) -> tuple[Vector, Vector | None]:
        """The mean, and what rounding took from it; None where that is nothing."""
        return mean_parts(self)

    def times(self, factor: float) -> Means:
        """The same rows, each with its weight multiplied by ``factor``."""
        high, low = two_product(self.weight, factor)
        weight, rest = two_sum(high, low + self.weight_low * factor)
        return Means(self.rows, float(weight), self.shift, self.offset, float(rest), self.offset_low)

    def joined(self, other: Means) -> tuple[Means, Vector]:
        """Rows of both, and δ·√(w_A w_B/w): the row that stands for the distance of their means."""
        if self.d != other.d:
            raise MergeError(
                "both models must have the same columns",
                received=f"{self.d} and {other.d} columns",
                hint="fit both on the same columns in the same order",
            )
        if other.weight == 0 or self.weight == 0:
            return (self if other.weight == 0 else other), np.zeros(self.d)
        total, rest = two_sum(self.weight, other.weight)
        weight, weight_low = two_sum(total, rest + self.weight_low + other.weight_low)
        lows = [0.0 if one.offset_low is None else one.offset_low for one in (other, self)]
        delta, less = chain(
            [other.shift, -self.shift, other.offset, -self.offset, lows[0] - lows[1] + np.zeros(self.d)]
        )
        share = other.weight / weight
        # δ·w_B/w with twice the digits: the mean must not drift over many mergers
        exact = Fraction(other.weight) + Fraction(other.weight_low)
        off = float(exact - Fraction(share) * (Fraction(float(weight)) + Fraction(float(weight_low)))) / weight
        step, rounded = two_product(delta, share)
        offset, offset_low = chain([self.offset, step, rounded + delta * off + less * share + lows[1]])
        between = (delta + less) * float(np.sqrt(self.weight / weight) * np.sqrt(other.weight))
        rows = self.rows + other.rows
        return Means(rows, float(weight), self.shift, offset, float(weight_low), offset_low), between


class WithMeans:
    """What states of a stream have in common: fields of ``Means``, and squares about them."""

    rows: int
    weight: float
    shift: Vector
    offset: Vector
    squares: Vector
    squares_low: Vector | None
    weight_low: float
    offset_low: Vector | None
    unit: float

    #: Fields that are held in units of unit².
    SQUARED: ClassVar[tuple[str, ...]] = ("squares", "squares_low", "noise")

    def in_unit(self, unit: float) -> Self:
        """The same state in another unit, a power of two."""
        factor = (self.unit / unit) ** 2
        held = {name: getattr(self, name) for name in self.SQUARED}
        changed = {name: value * factor for name, value in held.items() if value is not None}
        return replace(self, unit=unit, **changed)  # type: ignore[type-var]

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.shift.shape[0])

    @property
    def means(self) -> Means:
        """Rows, weight and mean."""
        return Means(self.rows, self.weight, self.shift, self.offset, self.weight_low, self.offset_low)

    @property
    def mean(self) -> Vector:
        """Weighted column means."""
        return self.means.mean

    def parts(self) -> tuple[Vector, Vector | None]:
        """The mean, and what rounding took from it; None where that is nothing."""
        return self.means.parts()

    def trace(self) -> float:
        """tr S in units of unit²."""
        low = 0.0 if self.squares_low is None else float(np.sum(self.squares_low))
        return float(np.sum(self.squares)) + low
