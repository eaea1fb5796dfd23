"""A Gram matrix of float64 rows by float32 products, for a first look, and a bound on how far it is off.

    z = x − s,   z̃ = fl₃₂(z),   S̃ = Σz̃z̃ᵀ,   m = Σz, q = Σz² in float64,   G̃ = S̃ − mmᵀ/n  (+ n μμᵀ about zero)

    ‖G̃ − G‖ ≤ 2e(√λ₁ + ‖m‖/√n) + e² + ρ        e = u‖Z‖_F, numbers of 24 bits;  ρ, the measured rounding of products

Products in float32 take half the time of those in float64. The same pass learns means and sums of squares, which are
those of the rows themselves.

Columns that are to be scaled are brought to about the same size by powers of two f before they are multiplied: nothing
is rounded differently, but ρ is measured as it counts, for of columns of many sizes it tells of the largest alone. With
‖FEF‖ ≤ ρ, columns multiplied by c have ‖CEC‖ ≤ ρ·max(c/f)².
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


@dataclass(frozen=True)
class Rough:
    """G̃, and what it may be off."""

    matrix: NDArray[np.float64]  # (d, d)
    squares: NDArray[np.float64]  # (d,) Σz²
    about: NDArray[np.float64]  # (d,) m/√n of what is taken off
    measured: float  # ρ
    even: NDArray[np.float64]  # (d,) f: the columns, multiplied by it, are those whose rounding was measured

    def scaled(self, c: NDArray[np.float64]) -> Rough:
        """C G̃ C of columns that are multiplied by c."""
        G = self.matrix * c[:, None] * c
        return Rough(G, self.squares * np.square(c), self.about * c, self.measured, self.even / c)

    @property
    def noise(self) -> float:
        """What products have rounded, from above."""
        return self.measured / float(np.min(self.even)) ** 2

    def off(self, top: float) -> float:
        """‖G̃ − G‖₂ from above, λ₁ of G̃ being ``top``; what float64 rounds is small beside it."""
        e = 1.01 * unit_roundoff(np.float32) * math.sqrt(float(self.squares.sum()))
        around = float(np.linalg.norm(self.about))
        return 2 * e * (math.sqrt(max(top, 0.0) + self.noise) + e + around) + e * e + self.noise


class RoughPass(DensePass):
    """Accumulators of one lane."""

    def __init__(self, shift: NDArray[np.float64], rows: int, even: NDArray[np.float64] | None) -> None:
        super().__init__(shift, 1.0, None, np.dtype(np.float32), True, False, rows)
        self.even = even
        self.exact = shift  # in float64: rows are rounded once, after it is taken off
        self.apart = np.empty((LONG_PIECE, len(shift)))

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
                if self.even is None:
                    np.copyto(z[i : i + LONG_PIECE], some, casting="same_kind")
                else:
                    np.multiply(some, self.even, out=z[i : i + LONG_PIECE], casting="same_kind")
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


def _evened(stats: Statistics) -> NDArray[np.float64]:
    """(d,) powers of two that bring columns to about the same size, as a sample tells; 1 where it is constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.sqrt(np.mean(np.square(stats.sample - stats.shift), axis=0))
    usable = np.isfinite(spread) & (spread > 0)
    return np.where(usable, np.exp2(-np.rint(np.log2(np.where(usable, spread, 1.0)))), 1.0)


def rough_gram(stats: Statistics, *, centered: bool, even: bool = False) -> Rough | None:
    """The Gram matrix about the means or about zero, by one pass that learns the means; None where rows in memory are
    neither float64 nor whole numbers, which are taken as such, or float32 does not hold them. ``even``: columns are
    to be scaled."""
    blocks: Any = stats.blocks
    if not isinstance(blocks, MemoryBlocks) or not isinstance(blocks.X, np.ndarray):
        return None
    if blocks.dtype != np.float64 and blocks.dtype.kind not in "iub":
        return None
    if stats.weights is not None or stats.unit != 1 or stats.known:
        return None
    n, shift = blocks.shape[0], stats.shift
    factor = _evened(stats) if even else None
    stats.passes += 1
    sums = taller(blocks, 4).map_reduce(lambda: RoughPass(shift, n, factor), lambda lane, block: lane.feed(block))
    m, q = sums.m + sums.m_low, sums.q + sums.q_low
    stats.learn(m, q)  # which finds numbers that are not finite
    S = sums.finish()
    if not stats.known or not np.isfinite(np.trace(S)):  # means far from the sample's, or squares beyond float32
        return None
    noise, sizes = sums.noise(), np.ones_like(m) if factor is None else factor
    if factor is not None:
        S /= factor[:, None] * factor
    if not centered and not shift.any():
        return Rough(S, q, np.zeros_like(m), noise, sizes)
    G = about_mean(m, S, float(n))
    if not centered:
        mean = stats.column.mean
        G += n * np.outer(mean, mean)
    return Rough(G, q, m / math.sqrt(n), noise, sizes)
