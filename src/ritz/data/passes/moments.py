"""The moment state: everything that PCA needs to know about a table, in one mergeable object.

    w = Σwᵢ      μ = Σwᵢxᵢ/w      S = Σwᵢ(xᵢ−μ)(xᵢ−μ)ᵀ  (d×d)

    merge:     δ = μ_B − μ_A,  S = S_A + S_B + δδᵀ w_A w_B/w          [Chan83; Schubert & Gertz 2018 for weights]
    subtract:  the same with minus signs; exact to u·tr(merged)/tr(rest)

Scatter, mean and weight are kept as hi + lo (``_core/compensated.py``): a chain of N merges errs by one rounding and
not by N, which is what equal batches would cost. What a merge adds to the noise is the rounding of δδᵀ alone.

The mean is kept as ``shift + offset`` with an exactly representable shift near the data, so that δ keeps its digits
when the mean is 1e8 times the spread. ``unit`` is a power of two: S is held in units of unit², so that squares of
very large or very small numbers stay in range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import chain, two_product
from ritz._core.errors import MergeError
from ritz._core.frozen import quick
from ritz.data.passes.blocks import fresh
from ritz.data.passes.center import mean_parts
from ritz.data.passes.rounding import largest
from ritz.data.passes.unit import power_of_two

__all__ = ["Moments", "scaled_noise"]

Vector = NDArray[np.float64]

#: Round-offs of a sum by which what is left of it may miss zero after everything was taken away.
TRACES = 64.0

#: Round-offs of δδᵀ·w_A w_B/w: 5½ in each factor, one in the product, one in the sum with the smaller scatter.
BETWEEN = 13 * 2.0**-53

#: Arrays that a state may lack.
OPTIONAL = ("lost", "scatter_low", "offset_low")

#: Weight that a row has at least where weights sum to the number of rows: they are ones, unless somebody made them so.
LEAST_WEIGHT = 2.0**-20

#: Entries of a panel of the scatter that is merged at once.
PANEL = 1 << 14

#: Times that one part of a merger weighs as much as the other, above which the mean is counted from its own.
HEAVIER = 2.0**20

#: Powers of two between the distance of two means and a unit, up to which its squares are in range.
FAR_APART = 200.0

#: Units at least, so that their squares and reciprocals can be told.
LEAST_UNIT = 2.0**-1000


def _upper(d: int) -> NDArray[np.bool_]:
    """The upper half of a d×d matrix with its diagonal, as a mask.

    A list of places takes 4 times (d = 20) to 17 times (d = 1,000) as long to make and to use.
    """
    return ~np.tri(d, k=-1, dtype=bool)


@quick
@dataclass(frozen=True)
class Moments:
    """Rows, weight, mean and scatter of a table.

    Parameters
    ----------
    rows
        Rows seen with a positive weight.
    weight
        Σw; the number of rows when there are no weights.
    shift, offset
        Mean = shift + offset, (d,) each.
    scatter
        Σw(x−μ)(x−μ)ᵀ / unit², (d, d).
    unit
        Power of two in which the scatter is held.
    noise
        Measured bound on ‖computed − exact scatter‖₂, in units of unit².
    roundoff
        Unit round-off of the arithmetic that formed the scatter.
    lost
        Bound on the absolute error that subtractions left in each column's variance.
    scatter_low, offset_low, weight_low
        What rounding took from scatter, offset and weight; None for nothing.
    rounded
        Relative rounding with which the entries of the rows came, about zero.
    whole
        Whether all rows were whole numbers of an integer type.
    """

    rows: int
    weight: float
    shift: Vector
    offset: Vector
    scatter: NDArray[np.float64]
    unit: float
    noise: float
    roundoff: float
    lost: Vector | None = None  # (d,) what subtraction may have cost each column, in units of unit²
    scatter_low: NDArray[np.float64] | None = None  # (d, d)
    offset_low: Vector | None = None  # (d,)
    weight_low: float = 0.0
    rounded: float = 0.0
    whole: bool = False

    def along(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """vᵀSv of unit vectors V (d, k), in units of unit²."""
        return np.asarray(np.einsum("ij,ij->j", V, self.scatter @ V))

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.shift.shape[0])

    @property
    def mean(self) -> Vector:
        """Weighted column means."""
        return self.shift + self.offset

    def parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """The mean, and what rounding took from it; None where that is nothing."""
        return mean_parts(self)

    def total(self) -> float:
        """Trace of the scatter in true units."""
        return float(np.trace(self.scatter)) * self.unit**2

    def keep_second(self, S: NDArray[np.float64]) -> None:
        """Σwxxᵀ / unit² as it was summed, for whoever asks first: adding the mean to the scatter again takes longer."""
        self.__dict__["_second"] = S

    def second_moment(self) -> NDArray[np.float64]:
        """Σwxxᵀ / unit², the scatter about zero."""
        if (held := self.__dict__.pop("_second", None)) is not None:
            return np.asarray(held)
        m = self.mean / self.unit
        return np.asarray(self.scatter + self.weight * (m[:, None] * m))

    def times(self, factor: float) -> Moments:
        """The state of the same rows with every weight multiplied by ``factor``."""
        exponent = 0 if not (0 < factor < np.inf) or 1e-100 < factor < 1e100 else int(np.frexp(factor)[1]) // 2
        unit, rest = float(np.ldexp(self.unit, exponent)), float(np.ldexp(factor, -2 * exponent))
        if exponent and LEAST_UNIT <= unit <= 1 / LEAST_UNIT:  # what a power of four can bear, the unit bears
            weight, less = self.weight * factor / rest, self.weight_low * factor / rest
            return replace(self, unit=unit, weight=weight, weight_low=less).times(rest)
        gone = None if self.lost is None else self.lost * factor
        low = None if self.scatter_low is None else self.scatter_low * factor
        return replace(
            self, weight=self.weight * factor, scatter=self.scatter * factor, noise=self.noise * factor, lost=gone,
            scatter_low=low, weight_low=self.weight_low * factor,
        )  # fmt: skip

    def merge(self, other: Moments) -> Moments:
        """The state of both tables together; neither operand changes."""
        self._match(other)
        if self.weight == 0:
            return other
        if other.weight == 0:
            return self
        if other.weight > HEAVIER * self.weight:  # the mean is that of the heavy part, and little is added to it
            return other.merge(self)
        weight, weight_low = _added(self.weight, other.weight, self.weight_low + other.weight_low)
        delta, less = self._apart(other)
        factor = float(np.sqrt(self.weight / weight) * np.sqrt(other.weight))
        unit = self._common_unit(other, delta, factor)
        a, b = (state._share(unit) for state in (self, other))
        between = delta / unit * factor
        scatter, low = _scatters(self, a, other, b, between)
        # δ·w_B/w with twice the digits: the mean must not drift over many merges
        share, share_low = _quotient(other.weight, weight, weight_low)
        step, rounded = two_product(delta, share)
        before = 0.0 if self.offset_low is None else self.offset_low
        offset, offset_low = chain([self.offset, step, rounded + delta * share_low + less * share + before])
        return Moments(
            self.rows + other.rows,
            weight,
            self.shift,
            offset,
            scatter,
            unit,
            a * self.noise + b * other.noise + BETWEEN * float(between @ between),
            max(self.roundoff, other.roundoff),
            _together(self.lost, a, other.lost, b),
            low,
            offset_low,
            weight_low,
            max(self.rounded, other.rounded),
            self.whole and other.whole,
        )

    def _apart(self, other: Moments) -> tuple[Vector, Vector]:
        """The mean of ``other`` minus this one, hi and lo."""
        lows = [m.offset_low for m in (other, self)]
        mine, theirs = (0.0 if low is None else low for low in reversed(lows))
        return chain([other.shift, -self.shift, other.offset, -self.offset, theirs - mine + np.zeros(self.d)])

    def _share(self, unit: float) -> float:
        """What brings the scatter to another unit; nothing where there is none."""
        return (self.unit / unit) ** 2 if self.unit <= unit or bool(np.any(np.diag(self.scatter))) else 0.0

    def _common_unit(self, other: Moments, delta: Vector, factor: float) -> float:
        """The unit of a merged state: the larger one, unless that state holds nothing, or the means lie far apart."""
        apart = float(np.max(np.abs(delta), initial=0.0))
        parts = [state for state in (self, other) if bool(np.any(np.diag(state.scatter)))]
        unit = max((state.unit for state in parts), default=max(self.unit, other.unit) if apart == 0 else 0.0)
        if apart == 0 or factor == 0:
            return unit
        exponent = np.log2(apart) + np.log2(factor)
        usual = unit > 0 and abs(exponent - np.log2(unit)) <= FAR_APART
        if usual or (unit > 0 and exponent < np.log2(unit)):
            return unit
        return 1.0 if abs(exponent) <= FAR_APART else power_of_two(float(exponent))

    def subtract(self, other: Moments) -> Moments:
        """The state without the rows of ``other``, which must be part of this one."""
        self._match(other)
        weight, low = _added(self.weight, -other.weight, self.weight_low - other.weight_low)
        rows = self.rows - other.rows
        if weight <= 0 or rows <= 0:
            raise MergeError(
                "subtract needs a model whose rows are part of this one, with some rows left",
                received=f"{other.rows} rows (weight {other.weight:g}) taken from {self.rows} ({self.weight:g})",
                hint="subtract only what was merged or fitted before",
            )
        unit = self.unit
        b = (other.unit / unit) ** 2
        # δ' = μ_other − μ_rest from μ = (w_rest μ_rest + w_other μ_other)/w
        delta = self._apart(other)[0] * (self.weight / weight)
        between = delta / unit * (np.sqrt(weight / self.weight) * np.sqrt(other.weight))
        scatter, scatter_low = _scatters(self, 1.0, other, -b, between, -1.0)
        diagonal = np.einsum("ii->i", scatter)
        lost = 4 * 2.0**-53 * float(np.trace(self.scatter))
        if float(np.min(diagonal)) < -8 * (self.noise + b * other.noise + lost):
            raise MergeError(
                "subtract needs a model whose rows are part of this one",
                received="a column whose variance would become negative",
                hint="subtract only what was merged or fitted before",
            )
        np.maximum(diagonal, 0.0, out=diagonal)
        noise = self.noise + b * other.noise + BETWEEN * float(between @ between)
        gone = _together(self.lost, 1.0, other.lost, b)
        gone = 8 * 2.0**-53 * np.diag(self.scatter) + (0.0 if gone is None else gone)
        offset = self.offset - delta * (other.weight / self.weight)
        u = max(self.roundoff, other.roundoff)
        return Moments(
            rows, weight, self.shift, offset, scatter, unit, noise, u, gone, scatter_low, None, low,
            max(self.rounded, other.rounded), self.whole and other.whole,
        )  # fmt: skip

    def without_traces(self, before: Moments) -> Moments:
        """What a subtraction from ``before`` left of amounts: columns of nothing but rounding are empty."""
        trace = TRACES * 2.0**-53 * before.weight / self.weight * np.abs(before.mean)
        kept = (np.abs(self.mean) > trace).astype(np.float64)
        if bool(np.all(kept)):
            return self
        lost = None if self.lost is None else self.lost * kept
        scatter = self.scatter * kept[:, None] * kept
        low = None if self.scatter_low is None else self.scatter_low * kept[:, None] * kept
        mean = None if self.offset_low is None else self.offset_low * kept
        return replace(
            self, shift=self.shift * kept, offset=self.offset * kept, scatter=scatter, lost=lost, scatter_low=low,
            offset_low=mean,
        )  # fmt: skip

    def without_dust(self, step: float) -> Moments:
        """What a subtraction left of counted rows whose entries are a share ``step`` of themselves apart, at least.

        Entries of a column that lie closer to their mean than half a step are all the same: what is left is rounding.
        """
        if self.lost is None or self.weight != self.rows:
            return self
        most = LEAST_WEIGHT * np.square(0.5 * step * self.mean / self.unit)
        kept = (np.diag(self.scatter) + self.lost >= most).astype(np.float64)
        low = None if self.scatter_low is None else self.scatter_low * kept[:, None] * kept
        return replace(self, scatter=self.scatter * kept[:, None] * kept, lost=self.lost * kept, scatter_low=low)

    def _match(self, other: Moments) -> None:
        if self.d != other.d:
            raise MergeError(
                "both models must have the same columns",
                received=f"{self.d} and {other.d} columns",
                hint="fit both on the same columns in the same order",
            )

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: of symmetric matrices one half."""
        state = dict(self.__dict__)
        for name in ("scatter", "scatter_low"):
            matrix = state[name]
            plain = isinstance(matrix, np.ndarray) and matrix.dtype == np.float64 and matrix.flags.c_contiguous
            if plain and np.array_equal(matrix, matrix.T):
                state[name] = (matrix.shape[0], matrix[_upper(matrix.shape[0])])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in ("scatter", "scatter_low"):
            if isinstance(state[name], tuple):
                d, half = state[name]
                upper = _upper(d)
                matrix = np.empty((d, d))
                matrix[upper] = matrix.T[upper] = half
                state = {**state, name: matrix}
        self.__dict__.update(state)

    def arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays for a container file."""
        header = {
            "rows": self.rows,
            "weight": self.weight,
            "unit": self.unit,
            "noise": self.noise,
            "roundoff": self.roundoff,
            "weight_low": self.weight_low,
            "rounded": self.rounded,
            "whole": self.whole,
        }
        arrays = {name: getattr(self, name) for name in ("shift", "offset", "scatter", *OPTIONAL)}
        return header, {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_arrays(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Moments:
        """The state that ``arrays`` described; older ones have nothing of what rounding took."""
        return cls(
            int(header["rows"]),
            float(header["weight"]),
            arrays["shift"],
            arrays["offset"],
            arrays["scatter"],
            float(header["unit"]),
            float(header["noise"]),
            float(header["roundoff"]),
            weight_low=float(header.get("weight_low", 0.0)),
            rounded=float(header.get("rounded", 0.0)),
            whole=bool(header.get("whole", False)),
            **{name: arrays.get(name) for name in OPTIONAL},
        )


def scaled_noise(state: Moments, c: Any) -> float:
    """Noise of ``D S D`` with D = diag(c), or c·c·S for a number c.

    Rounding is relative to the two columns of an entry, so it scales with them: the share of λ₁ stays. What subtraction
    cost is absolute: its entries are at most √(lostᵢ lostⱼ), a matrix of norm Σ lostᵢ.
    """
    gone = 0.0 if state.lost is None else float(np.sum(state.lost * np.square(c)))
    if np.ndim(c) == 0:
        return float(state.noise * c * c) + gone
    top = largest(state.scatter)
    return (state.noise / top * largest(state.scatter * c[:, None] * c) if top > 0 else 0.0) + gone


def _added(a: float, b: float, low: float) -> tuple[float, float]:
    """a + b + low as a float64 number and what that lacks (Knuth's sum without error)."""
    total = a + b
    added = total - a
    rest = (a - (total - added)) + (b - added) + low
    rounded = total + rest
    return rounded, rest - (rounded - total)


def _together(a: Vector | None, x: float, b: Vector | None, y: float) -> Vector | None:
    if a is None and b is None:
        return None
    return np.asarray((0.0 if a is None else x * a) + (0.0 if b is None else y * b))


def _scatters(
    one: Moments, a: float, other: Moments, b: float, v: Vector, sign: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``a·S_A + (b·S_B ± vvᵀ)`` as hi + lo, some rows at a time; a and b are powers of two.

    What is in brackets is rounded once, in its own units, so many small batches cost no more than a large one.
    """
    d, signed = one.d, sign * v
    high, low = fresh((d, d), np.float64), fresh((d, d), np.float64)
    rows = max(1, PANEL // max(1, d))
    products, t = np.empty((min(rows, d), d)), np.empty((min(rows, d), d))
    for first in range(0, d, rows):
        some = slice(first, first + rows)
        left, hi, lo = one.scatter[some], high[some], low[some]
        p, q = products[: len(left)], t[: len(left)]
        np.multiply(signed[some, None], v, out=p)
        p += other.scatter[some] if b == 1 else b * other.scatter[some]
        left = left if a == 1 else a * left
        np.add(left, p, out=hi)
        np.subtract(hi, left, out=q)
        np.subtract(p, q, out=lo)
        np.subtract(hi, q, out=q)
        np.subtract(left, q, out=q)
        lo += q
        for state, factor in ((one, a), (other, b)):
            if state.scatter_low is not None:
                lo += factor * state.scatter_low[some]
        np.add(hi, lo, out=q)  # hi alone is the sum, rounded once
        np.subtract(q, hi, out=p)
        lo -= p
        hi[...] = q
    return high, low


def _quotient(a: float, b: float, b_low: float) -> tuple[float, float]:
    """a/(b + b_low) as hi + lo."""
    share = a / b
    return share, float(Fraction(a) - Fraction(share) * (Fraction(b) + Fraction(b_low))) / b
