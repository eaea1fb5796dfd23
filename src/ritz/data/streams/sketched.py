"""A sketch of the scatter of rows that pass by: Y = SΩ (d×l), which adds up.                              [Tropp17]

    S = Σw(x − μ)(x − μ)ᵀ,   Ω (d×l) from a key      rows  Y ← Y + Zᵀ(ZΩ)      merge  Y_A + Y_B + δ(δᵀΩ)·w_A w_B/w

Nothing is cut down on the way, so states are joined in any order to the same numbers up to rounding. What the sketch
says of S is worked out where it is solved (``spectral/solvers/sketch.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import two_sum
from ritz._core.errors import MergeError
from ritz._core.linalg import qr
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding
from ritz.data.streams.means import Means, WithMeans
from ritz.data.streams.pieces import common_unit, piece_of

__all__ = ["Sketched", "probe_matrix"]

Floats = NDArray[np.float64]

#: Rows that are multiplied at once.
ROWS = 1024
#: Round-offs of a sum of images, beside those of the products that the solver allows for.
ROUNDED = 4.0
#: Share of the largest eigenvalue of ΩᵀSΩ below which others are rounding.
TOLD = 2.0**-40


def probe_matrix(start: int, d: int, width: int) -> Floats:
    """Ω (d, l): orthonormal columns times √d, so that E ωωᵀ = I."""
    return np.asarray(qr(gaussian_rows(start, 1, 0, d, width))[0]) * d**0.5


@dataclass(frozen=True)
class Sketched(WithMeans):
    """The state of a sketch.

    Parameters
    ----------
    rows, weight, weight_low, shift, offset, offset_low
        As in ``Means``.
    squares, squares_low
        Σw(x − μ)²/unit² of every column, (d,), and what rounding took from it.
    image
        Y, (d, l), in units of unit².
    noise
        What rounding may have done to S, in units of unit².
    unit
        Power of two in which everything is held.
    start
        Key of Ω, in hexadecimal digits.
    """

    rows: int
    weight: float
    shift: Floats
    offset: Floats
    squares: Floats
    image: Floats
    noise: float
    unit: float
    start: str
    weight_low: float = 0.0
    offset_low: Floats | None = None
    squares_low: Floats | None = None
    whole: bool = False

    SQUARED = (*WithMeans.SQUARED, "image")

    @classmethod
    def empty(cls, d: int, width: int, start: int) -> Sketched:
        """No rows of d columns."""
        none = np.zeros(d)
        return cls(0, 0.0, none, none, none, np.zeros((d, min(width, d))), 0.0, 1.0, f"{start:x}")

    @property
    def omega(self) -> Floats:
        """Ω, drawn again."""
        return probe_matrix(int(self.start, 16), self.d, self.image.shape[1])

    def times(self, factor: float) -> Sketched:
        """The state of the same rows with every weight multiplied by ``factor``."""
        if factor == 1:
            return self
        means = self.means.times(factor)
        less = None if self.squares_low is None else self.squares_low * factor
        rounded = 2.0**-53 * ROUNDED * factor * float(np.max(np.linalg.norm(self.image, axis=0))) / self.d**0.5
        return replace(
            self, weight=means.weight, weight_low=means.weight_low, squares=self.squares * factor, squares_low=less,
            image=self.image * factor, noise=self.noise * factor + rounded,
        )  # fmt: skip

    def add(self, X: Any, weights: Floats | None = None) -> Sketched:
        """The state with more rows."""
        omega, state = self.omega, self
        for first in range(0, X.shape[0], ROWS):
            some = X[first : first + ROWS]
            piece, means, squares, unit = piece_of(some, None if weights is None else weights[first : first + ROWS])
            if means.weight == 0:
                continue
            image = piece.adjoint(piece.along(np.ascontiguousarray(omega.T)))
            reach = float(np.max(np.linalg.norm(image, axis=0))) / self.d**0.5  # ‖Sω‖/‖ω‖
            noise = 2.0**-53 * ROUNDED * reach + rounding(len(piece), 2.0**-53) * piece.taken
            whole = X.dtype.kind in "iu" and (state.whole or state.weight == 0)
            state = replace(state._with(means, squares, image, unit, noise, omega), whole=whole)
        return state

    def merge(self, other: Sketched) -> Sketched:
        """The state of both tables together; neither operand changes."""
        self._match(other)
        if other.weight == 0 or self.weight == 0:
            return self if other.weight == 0 else other
        low = 0.0 if other.squares_low is None else other.squares_low
        joined = self._with(other.means, other.squares + low, other.image, other.unit, other.noise, self.omega)
        return replace(joined, whole=self.whole and other.whole)

    def along(self, V: Floats) -> Floats:
        """vᵀŜv of unit vectors V (d, k), in units of unit²: Ŝ = Y(ΩᵀY)⁺Yᵀ ⪯ S but for its rounding."""
        core = self.omega.T @ self.image
        values, E = np.linalg.eigh((core + core.T) / 2)
        told = values > TOLD * float(np.max(values, initial=0.0))
        B = (E[:, told] / np.sqrt(values[told])).T @ (self.image.T @ V)
        return np.asarray(np.einsum("ij,ij->j", B, B))

    def subtract(self, other: Any) -> Sketched:
        """Refused: nothing would tell whether what is left is still the sketch of a table."""
        raise MergeError(
            "rows cannot be taken away from a sketch: what is left of its core by a difference may be nothing but "
            "rounding, and no bound would tell",
            received=f"a state of {self.rows:,} rows and {self.d:,} columns",
            hint="keep one model for each part of the stream and merge those that are wanted, or let old rows fade: "
            "decay=",
        )

    def _match(self, other: Any) -> None:
        if not isinstance(other, Sketched):
            raise MergeError(
                "sketches can be merged with their like only",
                received=f"a state of another kind ({type(other).__name__})",
                hint="fit both models with the same mergeable=, or add the rows of one to the other with partial_fit",
            )
        if (self.start, self.image.shape) != (other.start, other.image.shape):
            raise MergeError(
                "sketches must have been drawn by the same random_state, for as many components",
                received=f"images of shape {self.image.shape} and {other.image.shape}, "
                f"{'the same key' if self.start == other.start else 'different keys'}",
                hint="fit both models with the same n_components and random_state",
            )

    def _with(
        self, means: Means, squares: Floats, image: Floats, unit: float, noise: float, omega: Floats
    ) -> Sketched:  # fmt: skip
        joined, between = self.means.joined(means)
        common, (a, b) = common_unit([(self.unit, self.squares), (unit, squares)], between)
        between = between / common
        total, less = two_sum(a * self.squares, b * squares)
        total, rest = two_sum(total, np.square(between))
        before = 0.0 if self.squares_low is None else a * self.squares_low
        total, less = two_sum(total, less + rest + before)
        Y = a * self.image + b * image + np.outer(between, between @ omega)
        return replace(
            self, rows=joined.rows, weight=joined.weight, shift=joined.shift, offset=joined.offset,
            weight_low=joined.weight_low, offset_low=joined.offset_low, squares=total, squares_low=less, unit=common,
            image=Y, noise=a * self.noise + b * noise,
        )  # fmt: skip
