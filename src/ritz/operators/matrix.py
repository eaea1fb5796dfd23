"""Matrices that are no rows of a table in the memory of the host: arrays of other libraries, and the identity."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array, place_of
from ritz.data.passes.statistics import Statistics
from ritz.operators.base import Operator, Tally
from ritz.operators.framed import Dense

__all__ = ["Identity", "OnDevice"]

#: Terms of a sum that another library may add in one go: it may add them one after the other.
LONG = 4096


class OnDevice(Dense):
    """A dense matrix of another array library: products are made where it lies, long sums in short pieces."""

    _of_rows = False  # which have no frame here

    def __init__(self, X: Any, statistics: Statistics | None = None, precision: Any = np.float64) -> None:
        if statistics is not None:
            raise InputError(
                "column statistics can only be computed of rows in the memory of the host",
                received=f"an array on {place_of(X)}",
                hint="give means as an array: Centered(Dense(X), mean)",
            )
        Operator.__init__(self, tuple(X.shape), precision)
        self.statistics = None  # type: ignore[assignment]
        self.X, self.tally, self.precision = X, Tally(), np.dtype(precision).type
        self.xp, self.device = place_of(X).xp, place_of(X).device

    @cached_property
    def _held(self) -> Array:
        return self.place.array(self.X, self.dtype)

    def _frame(self) -> None:  # type: ignore[override]
        return None

    def _plain(self, V: Array, adjoint: bool) -> Array:
        self.tally.passes += 1
        A, V = self._held, self.place.array(V, self.dtype)
        A = self.xp.matrix_transpose(A) if adjoint else A
        parts = [
            A[:, i : min(i + LONG, A.shape[1])] @ V[i : min(i + LONG, A.shape[1]), :]
            for i in range(0, A.shape[1], LONG)
        ] or [A @ V]
        while len(parts) > 1:
            parts = [parts[i] + parts[i + 1] if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
        return parts[0]

    def _moments(self) -> None:
        return None

    def _columns(self) -> None:
        return None

    @property
    def _square(self) -> float:
        attributes = self.__dict__
        if "_squared" not in attributes:
            self.tally.passes += 1
            wide = self.place.array(self.X, np.float64)
            attributes["_squared"] = float(self.xp.sum(wide * wide))
        return attributes["_squared"]  # type: ignore[no-any-return]

    def key(self) -> int:
        return Operator.key(self)

    def at(self, dtype: Any) -> OnDevice:
        other = OnDevice(self.X, None, dtype)
        other.tally = self.tally
        return other


class Identity(Operator):
    """``I`` (d×d).

    Parameters
    ----------
    d : int
    dtype : dtype
    xp, device
        Array library, and its device, of the blocks that it takes and gives.

    Examples
    --------
    >>> from ritz import operators as op
    >>> A = op.Identity(3) + op.Identity(3)
    >>> A, A.to_dense().diagonal()
    ((I + I)  (3×3, float64), array([2., 2., 2.]))
    """

    symmetric = True
    positive = True

    def __init__(self, d: int, dtype: Any = np.float64, *, xp: Any = np, device: Any = None) -> None:
        super().__init__((d, d), dtype)
        self.xp, self.device = xp, device

    def _matmat(self, V: Array) -> Array:
        return V

    def _rmatmat(self, U: Array) -> Array:
        return U

    def trace(self) -> float:
        return float(self.shape[0])

    def frobenius2(self) -> float:
        return float(self.shape[0])

    def symbol(self) -> str:
        return "I"
