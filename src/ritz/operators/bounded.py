"""Symmetric operators of states that bound a scatter matrix, or hold its image of a few vectors, without forming it.

    Bounded   Qᵀ(H + X)Q ⪯ S ⪯ QᵀHQ + Δ       a product with the lower one; what solvers need is in its small matrices
    Imaged    Y = SΩ                           one product, with Ω, is all it gives

About zero instead of the mean, S + wμμᵀ: the mean is one more row of the factor, √w·μ.
"""

from __future__ import annotations

import numpy as np

from ritz._core.errors import InputError
from ritz._core.linalg import Array, Floats
from ritz._core.tolerance import rounding
from ritz.data.streams.directions import Directions
from ritz.data.streams.sketched import Sketched
from ritz.operators.base import Operator
from ritz.operators.enclosed import Enclosed

__all__ = ["Bounded", "Imaged"]


class Bounded(Operator):
    """The lower bound of a state of frequent directions, with what lies between the two.

    Parameters
    ----------
    state
        The state.
    center
        About the mean, or about zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.data.streams.directions import Directions
    >>> from ritz.operators.bounded import Bounded
    >>> X = np.random.default_rng(0).standard_normal((60, 5)) * [9, 5, 1, 0.1, 0.1]
    >>> M = Bounded(Directions.empty(5, 3).add(X))
    >>> S = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    >>> bool(np.linalg.eigvalsh(S - M.to_dense())[0] > -M.noise)
    True
    """

    symmetric = True
    positive = True

    def __init__(self, state: Directions, *, center: bool = True) -> None:
        super().__init__((state.d, state.d), np.float64)
        self.basis, self.high, self.spare = state.basis, np.diag(state.high), state.spare
        self.lost, self.ridge, self.noise, self._trace = state.lost, state.ridge, state.noise, state.trace()
        #: rank of what may be missing from the lower bound beyond E ⪰ 0: bases that were cut
        self.width = 2 * (state.width + 1)
        if not center:
            self._about_zero(state)

    def _about_zero(self, state: Directions) -> None:
        row = state.mean / state.unit * float(np.sqrt(state.weight))
        along = self.basis @ row
        off = row - self.basis.T @ along
        more = self.basis @ off
        off, along, square = off - self.basis.T @ more, along + more, float(row @ row)
        length = float(np.linalg.norm(off))
        self._trace += square
        self.noise += rounding(self.shape[0], 2.0**-53) * square
        if length > 2.0**-40 * float(np.sqrt(square)):  # otherwise the mean lies in the basis, but for its rounding
            self.basis = np.vstack([self.basis, off / length])
            self.high, self.spare = (np.pad(core, (0, 1)) for core in (self.high, self.spare))
            along = np.append(along, length)
        else:
            self.noise += 2.0**-39 * square
        if len(along):
            self.high = self.high + np.outer(along, along)

    @property
    def core(self) -> Floats:
        """H + X, (m, m)."""
        return np.asarray(self.high + self.spare)

    def _matmat(self, V: Array) -> Array:
        return self.basis.T @ (self.core @ (self.basis @ V))

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def passes(self) -> int:
        return 1

    def enclosed(self) -> Enclosed:
        return Enclosed(self.basis, self.high, self.spare, self.lost, self.ridge, self.noise, self.width)

    def trace(self) -> float:
        return self._trace

    def measured(self) -> float:
        return self.noise

    def symbol(self) -> str:
        return "S"


class Imaged(Operator):
    """A scatter matrix of which nothing but its product with one block of vectors is known.

    Parameters
    ----------
    state
        The state of a sketch.
    center
        About the mean, or about zero.
    """

    symmetric = True
    positive = True
    advice = "mergeable='directions' from the first rows on"  # the rows are gone

    def __init__(self, state: Sketched, *, center: bool = True) -> None:
        super().__init__((state.d, state.d), np.float64)
        self.state, self.center = state, center
        self._trace = state.trace()
        row = state.mean / state.unit * float(np.sqrt(state.weight))
        self._row = None if center else row
        self._trace += 0.0 if center else float(row @ row)

    def _matmat(self, V: Array) -> Array:
        Y = self.state.image
        if V.shape != Y.shape or not np.array_equal(V, self.state.omega):
            raise InputError(
                f"a sketch of {Y.shape[1]} columns holds one product, and did not decide how many components there are",
                received=f"a question that takes {V.shape[1]} columns",
                hint="give a number of components: n_components=50",
            )
        return Y if self._row is None else Y + np.outer(self._row, self._row @ V)

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def key(self) -> int:
        """None of the data: they were read once. What a sketch claims rests on the trace, not on its start."""
        return 0

    def passes(self) -> int:
        return 1

    def trace(self) -> float:
        return self._trace

    def measured(self) -> float:
        extra = 0.0 if self._row is None else float(self._row @ self._row)
        return self.state.noise + rounding(self.shape[0], 2.0**-53) * extra

    def symbol(self) -> str:
        return "S"
