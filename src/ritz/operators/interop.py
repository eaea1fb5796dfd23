"""Interop with ``scipy.sparse.linalg.LinearOperator``, both ways.

as_operator(obj)              arrays, sparse matrices and LinearOperators become operators
to_linear_operator(A)         an operator for SciPy's solvers (svds, eigsh, lsqr)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz._core.errors import InputError
from ritz._core.linalg import Array, is_foreign
from ritz.operators.base import Operator
from ritz.operators.framed import Dense, Sparse

__all__ = ["FromLinearOperator", "as_operator", "to_linear_operator"]


class FromLinearOperator(Operator):
    """A SciPy LinearOperator as an operator.

    Parameters
    ----------
    foreign : scipy.sparse.linalg.LinearOperator
        It needs ``rmatmat`` too.
    symbol : str
        How ``repr`` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> A = op.FromLinearOperator(aslinearoperator(np.diag([3.0, 2.0])))
    >>> A @ np.array([1.0, 1.0])
    array([3., 2.])
    """

    def __init__(self, foreign: Any, symbol: str = "L") -> None:
        super().__init__(foreign.shape, foreign.dtype if foreign.dtype is not None else np.float64)
        self.foreign, self._symbol = foreign, symbol

    def _matmat(self, V: Array) -> Array:
        return np.asarray(self.foreign.matmat(V))

    def _rmatmat(self, U: Array) -> Array:
        return np.asarray(self.foreign.rmatmat(U))

    def symbol(self) -> str:
        return self._symbol


def as_operator(obj: Any) -> Operator:
    """An operator from an operator, an array, a sparse matrix or a LinearOperator.

    Parameters
    ----------
    obj : Operator, array, sparse matrix or LinearOperator

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from ritz import operators as op
    >>> [type(op.as_operator(X)).__name__ for X in (np.eye(2), scipy.sparse.eye(2), op.Identity(2))]
    ['Dense', 'Sparse', 'Identity']
    """
    if isinstance(obj, Operator):
        return obj
    from scipy.sparse.linalg import LinearOperator  # takes a while to load

    if isinstance(obj, LinearOperator):
        return FromLinearOperator(obj)
    if sp.issparse(obj):
        return Sparse(obj.tocsr())
    if (isinstance(obj, np.ndarray) or is_foreign(obj)) and obj.ndim == 2:
        return Dense(obj)
    raise InputError(
        "an operator is made from a 2-D array, a sparse matrix or a scipy LinearOperator",
        received=type(obj).__name__,
        hint="wrap it: scipy.sparse.linalg.LinearOperator(shape, matmat=…, rmatmat=…)",
    )


def to_linear_operator(A: Operator) -> Any:
    """``A`` for SciPy's iterative solvers.

    Parameters
    ----------
    A : Operator

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> from scipy.sparse.linalg import svds
    >>> X = np.random.default_rng(0).standard_normal((50, 8))
    >>> A = op.Centered(op.Dense(X), X.mean(axis=0))
    >>> found = svds(op.to_linear_operator(A), k=1, rng=0)[1]  # SciPy centres nothing, and need not
    >>> bool(np.allclose(found, np.linalg.norm(X - X.mean(axis=0), 2)))
    True
    """

    def vector(v: Any) -> Any:
        return A.matmat(np.reshape(v, (-1, 1)))[:, 0]

    def adjoint(u: Any) -> Any:
        return A.rmatmat(np.reshape(u, (-1, 1)))[:, 0]

    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(A.shape, matvec=vector, rmatvec=adjoint, matmat=A.matmat, rmatmat=A.rmatmat, dtype=A.dtype)
