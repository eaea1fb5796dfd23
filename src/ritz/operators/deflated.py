"""A symmetric operator seen from its other end, off vectors that are known.

    P(cI − M)P,   P = I − QQᵀ        Q (p×m) orthonormal null vectors of M,  c ≥ ‖M‖

Its largest eigenvalues are c minus the smallest of M off Q; those of Q are zero, and none is negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.linalg import Array
from ritz.operators.base import Operator

__all__ = ["Reversed"]


class Reversed(Operator):
    """``P(cI − M)P``.

    Parameters
    ----------
    inner : Operator
        M, symmetric and without negative eigenvalues.
    top : float
        c, which no eigenvalue of M exceeds.
    Q : array (p, m)
        Orthonormal null vectors of M.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.operators import Symmetric
    >>> from ritz.operators.deflated import Reversed
    >>> M = Symmetric(np.diag([0.0, 1.0, 3.0]), positive=True)
    >>> Reversed(M, 4.0, np.eye(3)[:, :1]).to_dense().diagonal()
    array([0., 3., 1.])
    """

    symmetric = True
    positive = True

    def __init__(self, inner: Operator, top: float, Q: Any) -> None:
        super().__init__(inner.shape, inner.dtype)
        self.inner, self.top, self.Q = inner, float(top), np.asarray(Q, np.float64)

    def _off(self, V: Array) -> Array:
        return V - self.Q @ (self.Q.T @ V) if self.Q.shape[1] else V

    def _matmat(self, V: Array) -> Array:
        V = self._off(V)
        return self._off(self.top * V - self.inner.matmat(V))

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def inflation(self) -> float:
        return self.inner.inflation() + 2 * self.top

    def measured(self) -> float | None:
        return self.inner.measured()

    def trace(self) -> float | None:
        trace = self.inner.trace()
        return None if trace is None else self.top * (self.shape[0] - self.Q.shape[1]) - trace

    def key(self) -> int:
        return self.inner.key()

    def passes(self) -> int:
        return self.inner.passes()

    def symbol(self) -> str:
        return f"P(cI − {self.inner.symbol()})P"
