"""Symmetric operators: ``M = AᵀA`` and the Gram matrix of a moment state.

``Gram(A)`` turns a singular value problem into a symmetric one of the smaller side; one application is one pass.
``MomentGram(state)`` is the same matrix from a mergeable state, so any solver runs on merged models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz._core.keys import key_of_numbers
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array, combine
from ritz._core.tolerance import SCALE_ERROR, constant_below
from ritz.data.passes.moments import Moments, scaled_noise
from ritz.data.passes.rounding import largest
from ritz.operators.base import Operator
from ritz.operators.rounding import squared, taken_off

__all__ = ["Gram", "MomentGram"]


class Gram(Operator):
    """``M = AᵀA`` (d×d), positive semidefinite.

    Parameters
    ----------
    root : Operator
        A.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> M = op.Gram(op.Dense(X))
    >>> M, M.trace(), M.symmetric, M.positive
    (XᵀX  (2×2, float64), 136.0, True, True)
    """

    symmetric = True
    positive = True

    def __init__(self, root: Operator) -> None:
        super().__init__((root.shape[1], root.shape[1]), root.dtype)
        self.root, self.xp, self.device = root, root.xp, root.device

    def _matmat(self, V: Array) -> Array:
        return self.root.normal(V)

    def _rmatmat(self, U: Array) -> Array:
        return self.root.normal(U)

    def passes(self) -> int:
        return self.root.passes()

    def inflation(self) -> float:
        return taken_off(self.root)

    def measured(self) -> float | None:
        noise = squared(self.root)
        return self.root.measured() if noise is None else noise

    def scale_error(self) -> float:
        return self.root.scale_error() * (2 if self.root.symmetric else 1)  # D S D squared holds D four times

    def gram_dtype(self) -> Any:
        return self.root.gram_dtype() if self.root.symmetric else super().gram_dtype()

    def trace(self) -> float | None:
        return self.root.frobenius2()

    def key(self) -> int:
        return self.root.key()

    def at(self, dtype: Any) -> Gram:
        return Gram(self.root.at(dtype))

    def rooted(self, V: Array) -> tuple[Array | None, Array]:
        return self.root.halves(V)

    def vector_product(self) -> Callable[[Any], Any] | None:
        return self.root.vector_normal()

    def loose(self, room: float = 0.0) -> Gram:
        return Gram(self.root.loose(room))

    def symbol(self) -> str:
        symbol = self.root.symbol()
        return f"{symbol}ᵀ{symbol}" if len(symbol) == 1 else f"({symbol})ᵀ({symbol})"


class MomentGram(Operator):
    """``D (S or S + wμμᵀ) D`` from a moment state: AᵀA of the centred, scaled, weighted table it was formed from.

    Parameters
    ----------
    state : Moments
        Count, means and scatter of the rows.
    center : bool
        S about the mean, or S + wμμᵀ about zero.
    scale : array (d,) or None
        Divisors of the columns.
    unit : float
        The result is in units of its square.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz.data.passes.blocks import blocks_of
    >>> from ritz.data.passes.statistics import Statistics
    >>> from ritz.operators import MomentGram
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> first, second = (Statistics(blocks_of(rows)).moments for rows in (X[:2], X[2:]))
    >>> state = first.merge(second)
    >>> MomentGram(state).to_dense() / 2          # the rows are gone, their covariance is not
    array([[ 4.,  7.],
           [ 7., 13.]])
    """

    symmetric = True
    positive = True

    def __init__(self, state: Moments, *, center: bool = True, scale: Any = None, unit: float = 1.0) -> None:
        super().__init__((state.d, state.d), np.float64)
        self.state, self._scaled = state, scale is not None
        self.factor = np.full(state.d, state.unit / unit)
        if scale is not None:
            self.factor = self.factor / np.asarray(scale, np.float64)
        raw = state.scatter if center else state.second_moment()
        self.matrix = raw if bool(np.all(self.factor == 1)) else raw * self.factor[:, None] * self.factor

    def _matmat(self, V: Array) -> Array:
        return combine(self.matrix, V)

    def _rmatmat(self, U: Array) -> Array:
        return combine(self.matrix, U)

    def scale_error(self) -> float:
        return SCALE_ERROR if self._scaled else 0.0

    def trace(self) -> float:
        return float(np.trace(self.matrix))

    def frobenius2(self) -> float:
        return float(np.sum(np.square(self.matrix)))

    def key(self) -> int:
        return key_of_numbers(self.matrix.sum(axis=1), self.matrix.diagonal())

    def gram_dtype(self) -> Any:
        return np.float64 if self.state.roundoff < 1e-10 else np.float32

    def measured(self) -> float:
        """Bound on ‖matrix − exact‖₂ from the rounding of the state."""
        return self._measured

    @cached_property
    def _measured(self) -> float:
        return scaled_noise(self.state, self.factor) + (self._rescaled() if self._scaled else 0.0)

    def _rescaled(self) -> float:
        """What wrong scales may add after a subtraction, which leaves a variance uncertain by ``lost``.

        Scales off by shares ε: ‖εM + Mε‖ ≤ 2√(Σεⱼ²Mⱼⱼ·λ₁). Where nothing is sure of a variance, nothing is of the d
        entries in its row and column: truly the column has norm² Σw − 1, whatever it was divided by.
        """
        if self.state.lost is None:
            return 0.0
        variance, lost, diagonal = np.diag(self.state.scatter), self.state.lost, np.diag(self.matrix)
        spread = np.sqrt((variance + lost) / max(self.state.weight - 1, 1.0)) * self.state.unit
        constant = spread <= constant_below(self.state.mean, self.state.whole)  # however much of that was lost
        sure = (variance > 2 * lost) | (lost == 0) | constant  # a column of which nothing is left has lost nothing
        share = np.where(lost > 0, lost / np.where(variance > lost, variance - lost, 1.0), 0.0) * sure
        error = float(np.sqrt(np.sum(np.square(share) * diagonal) * largest(self.matrix)))
        gone = float(np.sqrt(2.0 * np.sum(~sure) * self.state.d))
        return error + (gone * (self.state.weight + float(np.max(diagonal[~sure]))) if gone else 0.0)

    def symbol(self) -> str:
        return "S"
