"""A Gram matrix of float64 rows by float32 products, for a first look, and a bound on how far it is off.

    z = x − s,   z̃ = fl₃₂(z),   S̃ = Σz̃z̃ᵀ,   m = Σz, q = Σz² in float64,   G̃ = S̃ − mmᵀ/n  (+ n μμᵀ about zero)

    ‖G̃ − G‖ ≤ 2e(√λ₁ + ‖m‖/√n) + e² + ρ        e = u‖Z‖_F, numbers of 24 bits;  ρ, the measured rounding of products

Products in float32 take half the time of those in float64. The same pass learns means and sums of squares, which are
those of the rows themselves. Where columns are to be scaled, they are multiplied in units of their own, powers of two:
so nothing small is lost beside what is large, and rounding is measured where it will count. Numbers and products that
are too small for float32 are off by 2⁻¹⁵⁰ of these units each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import add_into
from ritz._core.tolerance import unit_roundoff
from ritz.data.passes.blocks import Block, MemoryBlocks, fresh
from ritz.data.passes.gram import DensePass, about_mean, column_squares, column_sums, taller
from ritz.data.passes.integers import has_long, subtract
from ritz.data.passes.rounding import LONG_PIECE
from ritz.data.passes.statistics import Statistics

__all__ = ["Rough", "rough_gram"]

#: What a number or a product below the normal range of float32 may be off; two of them for a product and its sum.
TINY = 2.0**-150
#: Rows, or four for a component, by which it is seen beforehand that float32 does not do: 1 ms of 784 columns for
#: k = 10, 4 ms for 50.
LOOKED = 64
#: Magnitudes of columns that have a unit: its square is a number too.
UNITS = 1e-145, 1e145


@dataclass(frozen=True)
class Rough:
    """G̃, and what it may be off."""

    matrix: NDArray[np.float64]  # (d, d)
    squares: NDArray[np.float64]  # (d,) Σz²
    about: NDArray[np.float64]  # (d,) m/√n of what is taken off
    noise: float  # ρ of columns in their units
    units: NDArray[np.float64]  # (d,)
    rows: int

    def scaled(self, c: NDArray[np.float64]) -> Rough:
        """D G̃ D of columns that are multiplied by c, and their units with them: ‖DED‖ ≤ max(c·unit)²·ρ."""
        G = self.matrix * c[:, None] * c
        return Rough(G, self.squares * np.square(c), self.about * c, self.noise, self.units * np.abs(c), self.rows)

    def off(self, top: float) -> float:
        """‖G̃ − G‖₂ from above, λ₁ of G̃ being ``top``."""
        u, tiny = unit_roundoff(np.float32), TINY * math.sqrt(self.rows) * float(np.linalg.norm(self.units))
        e = 1.01 * u * math.sqrt(float(self.squares.sum())) + tiny
        around, top = float(np.linalg.norm(self.about)), max(top, 0.0)
        noise = float(np.max(self.units)) ** 2 * self.noise + 2 * tiny * (tiny / TINY)
        noise += 4 * 2.0**-53 * top  # means that are added again
        return 2 * e * (math.sqrt(top + noise) + e + around) + e * e + noise


class RoughPass(DensePass):
    """Accumulators of one lane."""

    def __init__(self, shift: NDArray[np.float64], rows: int, units: NDArray[np.float64] | None) -> None:
        super().__init__(shift, 1.0, None, np.dtype(np.float32), True, False, rows)
        self.exact = shift  # in float64: rows are rounded once, after it is taken off
        self.apart = np.empty((LONG_PIECE, len(shift)))
        self.divisors = None if units is None else 1 / units

    def _feed(self, block: Block) -> None:
        x = block.values
        if self.buffer.shape[0] < len(x):
            self.buffer = fresh((len(x), x.shape[1]), self.dtype, "C")
        z = self.buffer[: len(x)]
        with np.errstate(over="ignore", invalid="ignore"):
            for i in range(0, len(x), LONG_PIECE):
                some = x[i : i + LONG_PIECE]
                if some.dtype.kind != "f" or self.moves:
                    some = self._moved(some, self.apart[: len(some)])
                add_into(self.m, self.m_low, column_sums(some, None))
                add_into(self.q, self.q_low, column_squares(some, None))
                if self.divisors is None:
                    np.copyto(z[i : i + LONG_PIECE], some, casting="same_kind")
                else:
                    np.multiply(some, self.divisors, out=z[i : i + LONG_PIECE], casting="same_kind")
            self.blocks += 1
            product, head = self.form(z, self.product)
            self._add(product)
            self.look(z, product, head)

    def _moved(self, x: NDArray[Any], out: NDArray[np.float64]) -> NDArray[np.float64]:
        """``x − s`` in float64, of whole numbers as well."""
        if has_long(x):
            subtract(x, self.exact, out)
        else:
            np.subtract(x, self.exact, out=out)
        return out


def rough_gram(stats: Statistics, k: int = 1, *, centered: bool, scaled: bool = False) -> Rough | None:
    """The Gram matrix about the means or about zero, by one pass that learns the means; None where rows in memory are
    neither float64 nor whole numbers, which are taken as such, or float32 does not hold them, or not what k components
    are made of. ``scaled``: of columns that are to be."""
    blocks: Any = stats.blocks
    if not isinstance(blocks, MemoryBlocks) or not isinstance(blocks.X, np.ndarray):
        return None
    if blocks.dtype != np.float64 and blocks.dtype.kind not in "iub":
        return None
    if stats.weights is not None or stats.unit != 1 or stats.known:
        return None
    n, shift = blocks.shape[0], stats.shift
    if not scaled and _lost(stats.sample, shift, k, centered):
        return None
    units = _units(stats.sample, shift) if scaled else None
    stats.passes += 1
    sums = taller(blocks, 4).map_reduce(lambda: RoughPass(shift, n, units), lambda lane, block: lane.feed(block))
    m, q = sums.m + sums.m_low, sums.q + sums.q_low
    stats.learn(m, q)  # which finds numbers that are not finite
    S = sums.finish()
    if not stats.known or not np.isfinite(np.trace(S)):  # means far from the sample's, or squares beyond float32
        return None
    noise = sums.noise()
    if units is None:
        units = np.ones(len(shift))
    else:
        S *= units[:, None] * units
    if not centered and not shift.any():
        return Rough(S, q, np.zeros_like(m), noise, units, n)
    G = about_mean(m, S, float(n))
    if not centered:
        mean = stats.column.mean
        G += n * np.outer(mean, mean)
    return Rough(G, q, m / math.sqrt(n), noise, units, n)


def _lost(sample: Any, shift: NDArray[np.float64], k: int, centered: bool) -> bool:
    """Whether the k-th eigenvalue of a sample of rows lies below what rounding them to float32 costs, 2u‖Z‖_F√λ₁: one
    column of far larger numbers is enough for that. So no pass is made in vain.
    """
    rows = np.asarray(sample[:: max(1, len(sample) // max(LOOKED, 4 * k))], np.float64)
    if len(rows) <= k:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        apart = rows - shift
        largest = float(np.max(np.abs(apart if centered else rows)))
        if not UNITS[0] < largest < UNITS[1]:
            return False
        apart, rows = apart / largest, rows / largest
    values = np.linalg.eigvalsh(apart @ apart.T if centered else rows @ rows.T)
    return bool(values[-k] <= 2 * unit_roundoff(np.float32) * math.sqrt(np.vdot(apart, apart) * values[-1]))


def _units(sample: Any, shift: NDArray[np.float64]) -> NDArray[np.float64]:
    """(d,) powers of two near the spread of a sample of the columns; 1 where they do not vary in it."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.asarray(sample, np.float64) - shift
        most = np.max(np.abs(apart), axis=0, initial=0.0)
        fair = (most > UNITS[0]) & (most < UNITS[1])
        spread = np.sqrt(np.mean(np.square(apart / np.where(fair, most, 1.0)), axis=0)) * most
    return np.asarray(np.exp2(np.rint(np.log2(np.where(fair, spread, 1.0)))))
