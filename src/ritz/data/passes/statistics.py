"""What a pass over the rows learns: column statistics, or the whole moment state.

    z = (x − s)/unit      m = Σwz      q = Σwz²      S = Σwzzᵀ
    μ = s + unit·m/w      var·w = q − m²/w           scatter = S − mmᵀ/w

``s`` is the mean of rows sampled evenly over the table, the heaviest included. Any point inside the data will do: the
error factor is 1 + (μ−s)²/var. Where the sample was unlike the rest, a second pass about the mean is made.

float32 products are summed in float64 block by block; their rounding is measured on sampled blocks, not assumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import DigitsLost
from ritz._core.frozen import quick
from ritz._core.imports import module_of
from ritz._core.linalg import split_sum
from ritz._core.tolerance import CONSTANT, SAFE_RANGE
from ritz._core.warn import warn
from ritz.data.passes.balance import balanced
from ritz.data.passes.blocks import Block, MemoryBlocks, RowBlocks, blocks_of
from ritz.data.passes.filled import FILLED, filled
from ritz.data.passes.finite import require_finite
from ritz.data.passes.gram import COHERENT, TILE_ABOVE, DensePass, SparsePass, about_mean, in_short_pieces, ones, taller
from ritz.data.passes.integers import EXACT
from ritz.data.passes.moments import Moments
from ritz.data.passes.rounding import SHORT_NOISE, Watched, largest
from ritz.data.passes.unit import LEAST_EXTENT, RANGE, UnitChange, extent_of, out_of_range, power_of_two, require_sums
from ritz.data.passes.weights import sum_of_weights
from ritz.data.passes.wide import WidePass

__all__ = ["ColumnStatistics", "Statistics"]

T = TypeVar("T")

#: Rows sampled for the shift and the unit, heaviest rows taken along, and stored entries that are all looked at: 2¹⁸
#: take 0.1 ms, as much as taking a sample of sparse rows.
SAMPLE_ROWS, HEAVY_ROWS, SAMPLE_ENTRIES = 256, 64, 1 << 18

#: A shift whose square distance from the mean exceeds the variance this many times is moved by a second pass.
OFF_CENTRE = 4.0
#: Share of the mean square of every column up to which the square of its mean leaves rows that are analysed about zero
#: where they are: their sums are the answer then, and nothing is taken off and added again.
#: Of so many rows of a sample the means of noise come to half of that by 5.6 standard deviations, and all of them cost
#: a third of a pass over 572×11,383, half of one over 275×5,455.
NEAR_ZERO, BALANCED_ROWS = 0.5, 64

#: Passes by which the shift is moved at most: from one far row, by way of rows without weight, to the mean.
MOVES = 3

#: Share of the old shift below which a mean is nothing but its rounding; the shift is then zero.
CANCELLED = 8 * 2.0**-53

#: Sums of squares, in the unit, that solvers square again without loss, and weights that leave them there; the same for
#: products in float32.
SQUARES, WEIGHTS = (1e-130, 1e130), (1e-60, 1e60)
NARROW_SQUARES, NARROW_WEIGHTS = (1e-18, 1e18), (1e-10, 1e10)

#: Share of a sum of squares that is left of a sparse column about its mean, below which small tables are filled in: the
#: difference has lost half of its digits.
LOST_DIGITS = 1e-8
#: Times that one row weighs as much as another, above which a few rows may decide a mean, however many entries a column
#: lacks: that costs three digits, or six.
UNEVEN, FAR_APART = 2.0**10, 2.0**20

#: Entries of a sample up to which BLAS multiplies it on one thread, in a tenth of the time of a sum.
ALONE = 1 << 13

#: Share of an entry by which the mean of a sample of entries like it may be rounded.
ROUNDED = (SAMPLE_ROWS + HEAVY_ROWS) * 2.0**-50

#: Deviations above this, in units, have squares in range even where a row has next to no weight.
PLAIN = 1e-120

#: What is told of integers that float64 cannot hold.
LONG_MEAN = (
    "the rows are integers with means beyond 2^53: what rows differ by is computed exactly, but float64 keeps 16 "
    "digits of a mean, so transform moves all rows by the same vector. Subtract an integer from such columns first, "
    "e.g. X - X.min(axis=0)."
)


@quick
@dataclass(frozen=True)
class ColumnStatistics:
    """Weight, mean and sum of squares of every column."""

    rows: int
    weight: float
    shift: NDArray[np.float64]
    offset: NDArray[np.float64]
    squares: NDArray[np.float64]  # Σw(x−μ)²/unit², (d,)
    unit: float
    weight_low: float = 0.0  # what the float64 number ``weight`` lacks of Σw
    whole: bool = False  # whether the entries are whole numbers of an integer type

    @property
    def mean(self) -> NDArray[np.float64]:
        """Weighted column means."""
        return self.shift + self.offset

    def parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """The mean, and what rounding took from it; None where that is nothing."""
        high, low = split_sum(self.shift, self.offset)
        return high, low if np.count_nonzero(low) else None


class Learned(Generic[T]):
    """What is learned when it is first asked for, and then kept in ``__dict__``; see ``_core/lazy.py``."""

    def __init__(self, learn: Callable[[Any], T]) -> None:
        self.learn, self.name, self.__doc__ = learn, learn.__name__, learn.__doc__

    def __get__(self, held: Any, owner: type | None = None) -> T:
        return held.__dict__.setdefault(self.name, self.learn(held))


class Statistics:
    """Statistics of a table, each learned by at most one pass, when first asked for.

    Parameters
    ----------
    blocks
        The rows.
    weights
        Frequencies of the rows, or None.
    precision
        dtype of the products that form the moment state.
    names
        Column names, for messages.
    rescales
        Whether whoever fits begins again in another unit (``UnitChange``) where squares would leave the range.
    about_zero
        Whether the rows are analysed about zero and not about their mean.
    given
        The unit, where an earlier attempt has found it.
    fills
        Whether sparse rows whose means must come off their entries are filled here, because nobody begins again.
    """

    narrow = False  # whether a solver iterates in float32, whose range is shorter

    def __init__(
        self, blocks: RowBlocks, weights: NDArray[np.float64] | None = None, precision: Any = np.float64,
        names: Any = None, rescales: bool = False, about_zero: bool = False, given: float | None = None,
        fills: bool = False,
    ) -> None:  # fmt: skip
        self.blocks, self.weights, self.precision, self.names = blocks, weights, precision, names
        self.rescales, self.about_zero, self.given, self.fills = rescales, about_zero, given, fills
        self.passes = self._moves = 0
        self._tame = False  # whether the sample is known to be in range, so that nothing made of it overflows
        self._watched: Watched | None = None
        self._divided: tuple[NDArray[np.bool_], NDArray[np.float64] | float] | None = None
        n = blocks.shape[0]
        #: rows with a positive weight
        self.rows: int = n if weights is None else int(np.count_nonzero(weights))
        #: Σw, and what the float64 number lacks of it
        self.weight, self.weight_low = (float(n), 0.0) if weights is None else sum_of_weights(weights)

    def divide(self, columns: NDArray[np.bool_], rounding: NDArray[np.float64] | float = 0.0) -> None:
        """Announce columns that are divided by their standard deviation: one that float64 cannot tell is refused.

        ``rounding``: what a column that does not vary may differ from its mean by, beside the rounding of the mean.
        """
        self._divided = columns, rounding
        if self.known:
            self._told(self.column)

    def _told(self, column: ColumnStatistics) -> None:
        """Refuse columns that vary by so little that their squares vanish; the sample tells them from constant ones."""
        if self._divided is None or self.blocks.shape[0] == 0:
            return
        chosen, rounding = self._divided
        weighed = self.given is not None or (self.weights is not None and not self._usual_weights())
        heavy = max(1.0, column.weight) if weighed else 1.0  # which the unit holds then
        small = chosen & (column.squares < RANGE[0] ** 2 * (column.weight or 1.0) / heavy)
        if not bool(np.any(small)):
            return
        reach = module_of("ritz.data.passes.unit").reach_from(column.mean, self.blocks, SAMPLE_ROWS)
        still = reach <= CONSTANT * 2.0**-53 * np.abs(column.mean) + rounding
        lost = np.flatnonzero(small & ~still & (reach < PLAIN * self.unit / np.sqrt(heavy)))
        if len(lost):
            raise out_of_range(float(reach[lost[0]]), lost, self.names, beside=float(np.max(reach)))

    @Learned
    def sample(self) -> Any:
        """About SAMPLE_ROWS rows, as an array in one piece."""
        rows = self.blocks.sample(SAMPLE_ROWS)
        return rows.toarray() if self.blocks.sparse else np.ascontiguousarray(rows)

    @Learned
    def unit(self) -> float:
        """The power of two near the largest sampled magnitude, where squares would leave the range; 1 otherwise."""
        if self.given is not None:
            return self.given
        if self.rescales and self.weights is not None and not self._usual_weights():
            return self._true_unit()
        if self.blocks.sparse:
            blocks: Any = self.blocks
            whole = isinstance(blocks, MemoryBlocks) and blocks.stored <= SAMPLE_ENTRIES
            entries = (blocks.X if whole else blocks.sample(SAMPLE_ROWS)).data
            largest = max(-float(entries.min()), float(entries.max())) if entries.size else 0.0
        else:
            sample = self.sample
            largest = max(-float(sample.min()), float(sample.max())) if sample.size else 0.0
        low, high = SAFE_RANGE[np.dtype(self.precision).itemsize >= 8 and not self.narrow]
        self._tame = low <= largest <= high and not self.blocks.sparse
        if self._tame or largest == 0 or not math.isfinite(largest) or low <= largest <= high:
            return 1.0
        if not RANGE[0] <= largest <= RANGE[1] and not self.rescales:
            raise out_of_range(largest)
        return self._power_of_two(float(np.log2(largest)))

    def _usual_weights(self) -> bool:
        """Whether weights, in the precision of the products, leave squares where the data put them."""
        w = np.asarray(self.weights)
        low, high = WEIGHTS if np.dtype(self.precision).itemsize >= 8 else NARROW_WEIGHTS
        return bool(np.max(w, initial=1.0) <= high) and bool(np.min(w, initial=1.0, where=w > 0) >= low)

    def _true_unit(self) -> float:
        """The unit by a pass over all rows; 1 where there is nothing but zeros."""
        self.passes += 1
        shift = None if self.about_zero or self.blocks.sparse else self.shift
        extent = extent_of(self.blocks, shift, self.weights)
        return self._power_of_two(extent) if np.isfinite(extent) else 1.0

    def _power_of_two(self, extent: float) -> float:
        if extent < LEAST_EXTENT:
            raise out_of_range(float(np.ldexp(1.0, int(extent))))
        return power_of_two(extent)

    def _in_unit(self, m: NDArray[np.float64], q: NDArray[np.float64], top: float) -> None:
        """Begin again in another unit where squares, up to ``top``, are tiny or huge: a sample was unlike them."""
        if not self.rescales or self.given is not None:
            return
        if self.about_zero and np.count_nonzero(self.shift):
            far = float(np.abs(self.shift).max()) / self.unit
            top = max(top, self._divisor * (far * far))  # infinite where that is out of range
        low, high = SQUARES if np.dtype(self.precision).itemsize >= 8 else NARROW_SQUARES
        unit = self.unit if low <= top <= high else self._true_unit()
        dense = self.blocks.sparse and not self.about_zero and self._far_from_zero(m, q)
        if dense or unit != self.unit:
            raise UnitChange(unit, dense=dense)

    def _far_from_zero(self, m: NDArray[np.float64], q: NDArray[np.float64]) -> bool:
        """Whether the means of a sparse table must be taken off its entries to leave their spreads any digits.

        Equal rows leave nothing but rounding, which is as it should be, unless a weight hides that they differ.
        """
        small = float(np.prod(self.blocks.shape)) <= FILLED
        if not self.blocks.sparse or self.about_zero or not (small or self._unevenness > UNEVEN):
            return False
        about = m * m / self._divisor
        left = q - about
        if self._unevenness > UNEVEN:
            far = small and self._unevenness > FAR_APART
            from ritz.data.passes.outweighed import outweighed  # weights that are alike do without

            if outweighed(about, left, far, columns=small or self._divided is not None):
                return True
        told = (left > CONSTANT * 2.0**-53 * q) | (self.weights is not None)
        return small and bool(np.any((left < LOST_DIGITS * q) & told))

    @Learned
    def _unevenness(self) -> float:
        """The largest weight over the least one of those that count."""
        if self.weights is None:
            return 1.0
        w = np.asarray(self.weights)
        most, least = float(np.max(w, initial=0.0)), float(np.min(w, initial=np.inf, where=w > 0))
        with np.errstate(over="ignore"):
            return float(np.float64(most) / least)

    def settle(self) -> None:
        """Raise ``UnitChange`` where the unit is not that of the whole table, or say why; for a fit that has failed."""
        if self.rescales and self.given is None and (unit := self._true_unit()) != self.unit:
            raise UnitChange(unit)
        require_sums(self.sample)

    @Learned
    def shift(self) -> NDArray[np.float64]:
        """(d,) a point inside the data, exactly representable in the precision of the products."""
        if self.blocks.sparse or self.blocks.shape[0] == 0:
            return np.zeros(self.blocks.shape[1])
        plain = self.about_zero and self.weights is None and self.blocks.dtype == np.float32
        some = max(1, self.sample.shape[0] // BALANCED_ROWS)
        if plain and self._tame and balanced(self.sample[::some], NEAR_ZERO):
            return np.zeros(self.blocks.shape[1])
        sample, w = self._typical()
        with np.errstate(over="ignore", invalid="ignore"):
            shift = self._middle(sample, w)
        shift = shift if w is None and self._tame else np.where(np.isfinite(shift), shift, 0.0)
        if self.blocks.dtype.kind in "iu" and bool(np.any(np.abs(shift) > EXACT)):
            warn(LONG_MEAN, DigitsLost)
            shift = np.rint(shift)
        return shift

    def _middle(self, sample: NDArray[np.float64], w: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """The mean of a sample with weights, in the precision of the products; zero where that is as good."""
        if w is not None:
            middle = np.average(sample, axis=0, weights=w)
        elif sample.size > ALONE:
            middle = np.add.reduce(sample) / len(sample)
        else:
            middle = ones(len(sample), "d").dot(sample) / len(sample)
        if self.about_zero and w is None and self.blocks.dtype.kind == "f":
            each = ones(len(sample), "d") if sample.size <= ALONE else None
            squares = np.einsum("ij,ij->j", sample, sample) if each is None else each.dot(sample * sample)
            if np.count_nonzero(middle * middle * len(sample) <= NEAR_ZERO * squares) == len(middle):
                return np.zeros(len(middle))
        # A row that is as near as rounding is the mean itself: rounding must not make a constant column vary.
        row = sample[-1]  # of weighted rows the heaviest
        near = np.abs(middle - row) <= ROUNDED * np.abs(row)
        shift = np.where(near, row, middle) if np.count_nonzero(near) else middle
        if self.precision is not np.float64:
            shift = shift.astype(self.precision, copy=False).astype(np.float64, copy=False)
        return np.asarray(shift)

    def _typical(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Rows spread over the table and, of weighted rows, the heaviest, with their weights."""
        sample = self.sample.astype(np.float64, copy=False)
        X: Any = getattr(self.blocks, "X", None)
        sparse = hasattr(X, "toarray") and self._unevenness > FAR_APART
        if self.weights is None or not (isinstance(X, np.ndarray) or sparse):
            return sample, None
        step = max(1, -(-self.blocks.shape[0] // SAMPLE_ROWS))
        heavy = np.argsort(self.weights)[-HEAVY_ROWS:]
        w = np.concatenate([self.weights[::step], self.weights[heavy]])
        heaviest = X[heavy].toarray() if sparse else X[heavy]
        rows = np.concatenate([sample, np.asarray(heaviest, np.float64)])
        return (rows, w) if float(np.sum(w)) > 0 else (sample, None)

    def _off_centre(self, m: NDArray[np.float64], q: NDArray[np.float64]) -> bool:
        """Whether the shift lies so far from the mean that a second pass about the mean is due; the shift moves."""
        if self.blocks.sparse or self._moves >= MOVES:
            return False
        about = m / math.sqrt(self._divisor)  # a² ≤ q, which is finite
        # so a² > OFF_CENTRE·(q − a²)
        if np.count_nonzero(about * about > (OFF_CENTRE / (1 + OFF_CENTRE)) * q):
            mean = self.shift + m * (self.unit / self._divisor)
            mean[np.abs(mean) <= CANCELLED * np.abs(self.shift)] = 0.0
            mean = mean.astype(self.precision).astype(np.float64)
            if np.array_equal(mean, self.shift):
                return False
            self.__dict__["shift"] = mean
            self._moves += 1
            return True
        return False

    @property
    def _divisor(self) -> float:
        """Σw, or 1 for rows that are all absent."""
        return self.weight or 1.0

    @property
    def known(self) -> bool:
        """Whether the means are known without another pass."""
        return "moments" in self.__dict__ or "column" in self.__dict__

    @Learned
    def column(self) -> ColumnStatistics:
        """Means and variances: from the moment state if it is there, else by one pass."""
        if "moments" in self.__dict__:
            moments = self.moments
            return _columns_of(moments)
        self.passes += 1
        sums = self.blocks.map_reduce(lambda: self._pass(np.float64, products=False), _feed)
        self.learn(sums.m + sums.m_low, sums.q + sums.q_low)
        return self.column  # by a second pass where the shift lay off centre

    @Learned
    def moments(self) -> Moments:
        """The moment state, by one pass; by a second one where rounding turns out to go all in one direction."""
        short = in_short_pieces(self.blocks, self.precision)
        if short:
            self.precision = np.float64  # float32 would save nothing
        m, S, noise = self._products(short)
        q = S.diagonal()
        top = self._finite(q)
        self._in_unit(m, q, top)
        if self.fills and self._far_from_zero(m, q):
            self.blocks = blocks_of(filled(getattr(self.blocks, "X", self.blocks)))
            self.__dict__.pop("shift", None)
            return self.moments
        while self._off_centre(m, q):
            m, S, noise = self._products(short)
            q = S.diagonal()
        u = 2.0**-53 if np.dtype(self.precision).itemsize >= 8 else 2.0**-24
        scatter = about_mean(m, S, self._divisor)
        if hasattr(self.blocks, "place") and self.unit == 1:
            module_of("ritz._core.ahead").begin(scatter, S)  # while a device measures rounding
        off = noise()
        if not short and not self.blocks.sparse and off > COHERENT * u * float(np.trace(S)):
            self.precision, u = np.float64, 2.0**-53  # short sums in float32 would not be worth it
            m, S, noise = self._products(True)
            scatter, off = about_mean(m, S, self._divisor), noise()
        w = self._divisor
        about = m / math.sqrt(w)
        off += 6 * 2.0**-53 * float(about.dot(about))  # the shift that is taken off again
        moments = Moments(
            self.rows, self.weight, self.shift, m * (self.unit / w), scatter, self.unit, off, u,
            weight_low=self.weight_low, whole=self.blocks.dtype.kind in "iu",
        )  # fmt: skip
        if self.about_zero and self.weights is None and not np.count_nonzero(self.shift):
            moments.keep_second(S)
        if self._divided is not None:
            self._told(_columns_of(moments))
        return moments

    def _products(self, short: bool) -> tuple[NDArray[np.float64], NDArray[np.float64], Callable[[], float]]:
        """Σwz and Σwzzᵀ, and a function that gives the noise of the latter: a device may be measuring it yet."""
        self.passes += 1
        blocks = taller(self.blocks, np.dtype(self.precision).itemsize, short)
        sums: Any = blocks.map_reduce(lambda: self._pass(self.precision, products=True, short=short), _feed)
        S = sums.finish()
        # wide tables have no short pieces: their second pass, in float64, is measured like the first
        measured = isinstance(sums, Watched) and (not short or isinstance(sums, WidePass))
        cornered = isinstance(sums, WidePass) or getattr(sums, "cornered", False)  # measured in some columns only
        self._watched = sums if measured and not cornered else None
        exact = not measured and not getattr(sums, "inexact", True) and float(np.max(np.diag(S))) < 2.0**53
        length = getattr(sums, "length", 0.0) * 2.0**-53
        narrow = np.dtype(self.precision).itemsize < 8

        def noise() -> float:
            top = largest(S)
            if not measured:
                return 0.0 if exact else (SHORT_NOISE * 2.0**-53 + length) * top
            return float(sums.noise() + (length + (4 * 2.0**-24 if narrow else 0.0)) * top)  # and the rounding of x − s

        return sums.m + sums.m_low, S, noise

    @property
    def measured(self) -> bool:
        """Whether the rounding of the moment state was measured, so that ``noise_along`` can tell."""
        return self._watched is not None and bool(self._watched.errors)

    def noise_along(self, V: NDArray[np.float64]) -> float | None:
        """Estimate of ‖VᵀEV‖₂, E the scatter's rounding, in units of unit²; None if unknown. A vector V is diag(V)."""
        watched = None if self._watched is None or not self._watched.errors else self._watched
        return None if watched is None else watched.scaled(V) if V.ndim == 1 else watched.noise(V)

    def widen(self) -> None:
        """Form the moment state in float64 from now on; a narrower one is forgotten."""
        self.precision = np.float64
        for name in ("moments", "column"):
            self.__dict__.pop(name, None)

    def learn(self, m: NDArray[np.float64], q: NDArray[np.float64]) -> None:
        """Take over the sums Σwz and Σwz² of a pass that computed something else, unless they lie off centre."""
        top = self._finite(q)
        self._in_unit(m, q, top)
        if self._off_centre(m, q):
            return
        mean = m / self._divisor
        squares = np.maximum(q - m * mean, 0.0)
        column = self._found(mean, squares)
        self._told(column)
        self.__dict__["column"] = column

    def _found(self, mean: NDArray[np.float64], squares: NDArray[np.float64]) -> ColumnStatistics:
        offset = mean * self.unit
        fields = (self.rows, self.weight, self.shift, offset, squares, self.unit, self.weight_low)
        return ColumnStatistics(*fields, whole=self.blocks.dtype.kind in "iu")

    def _pass(self, dtype: Any, *, products: bool, short: bool = False) -> Any:
        own = getattr(self.blocks, "accumulators", None)  # of rows on a device
        kind: Any = (own and own()) or (SparsePass if self.blocks.sparse else DensePass)
        if kind is DensePass and products and self.blocks.shape[1] > TILE_ABOVE:
            kind = WidePass
        rows = self.blocks.shape[0]
        return kind(self.shift, self.unit, self.weights, np.dtype(dtype), products, short, rows)

    def _finite(self, sums: NDArray[np.float64]) -> float:
        """The largest sum. NaN or infinity in the data shows in the sums; the data are searched only then."""
        top = float(sums.max(initial=0.0))
        if not top < np.inf:
            require_finite(getattr(self.blocks, "X", self.blocks), self.names)
            self.settle()
            raise out_of_range(float(np.max(np.abs(self.sample), initial=0.0)))
        return top


def _columns_of(moments: Moments) -> ColumnStatistics:
    squares = moments.scatter.diagonal().copy()
    fields = (moments.rows, moments.weight, moments.shift, moments.offset, squares, moments.unit, moments.weight_low)
    return ColumnStatistics(*fields, whole=moments.whole)


def _feed(state: DensePass | SparsePass | WidePass, block: Block) -> None:
    state.feed(block)
