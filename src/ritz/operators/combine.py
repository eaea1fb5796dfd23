"""Sums, products, transposes, shifts and rank-one corrections of operators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array
from ritz._core.tolerance import unit_roundoff
from ritz.data.passes.moments import Moments
from ritz.operators.affine import Affine
from ritz.operators.base import DENSE_BUDGET, Operator
from ritz.operators.framed import Wrapper
from ritz.operators.rounding import combined, size, taken_off, told

__all__ = ["MinusOuter", "Product", "Shifted", "Sum", "Transpose"]


class Transpose(Wrapper):
    """``Aᵀ``; rows in memory are read column block by column block, so that its ``normal`` is one pass.

    Parameters
    ----------
    inner : Operator
        A.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> op.Transpose(op.Dense(X)), op.Dense(X).T.T  # twice is nothing at all
    (Xᵀ  (2×3, float64), X  (3×2, float64))
    """

    def __init__(self, inner: Operator) -> None:
        super().__init__(inner, (inner.shape[1], inner.shape[0]))

    def _frame(self) -> Affine | None:
        frame = self._inner_frame()
        # Rows that are read cannot be turned: then Aᵀ and A are two passes.
        turnable = frame is not None and hasattr(frame.blocks, "transposed")
        return frame.transposed() if frame is not None and turnable else None

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        return None

    def frobenius2(self) -> float | None:
        return self.inner.frobenius2()

    def gram_dtype(self) -> Any:
        return super().gram_dtype() if self.affine is None else self.affine.precision

    def inflation(self) -> float:
        return taken_off(self.inner)

    def _plain(self, V: Array, adjoint: bool) -> Array:
        return self.inner.matmat(V) if adjoint else self.inner.rmatmat(V)

    @property
    def T(self) -> Operator:
        return self.inner

    def at(self, dtype: Any) -> Transpose:
        return Transpose(self.inner.at(dtype))

    def symbol(self) -> str:
        symbol = self.inner.symbol()
        return f"{symbol}ᵀ" if len(symbol) == 1 or symbol.startswith("(") else f"({symbol})ᵀ"


class Pair(Operator):
    """Two operators that are applied together, where both lie."""

    def __init__(self, left: Operator, right: Operator, shape: tuple[int, int]) -> None:
        if left.xp is not right.xp or left.device != right.device:
            raise InputError(
                "operators are combined where they lie, in one array library and on one device",
                received=f"{left.place} and {right.place}",
                hint="move the arrays to one device first",
            )
        super().__init__(shape, max(left.dtype, right.dtype, key=unit_roundoff))  # the coarser one
        self.left, self.right, self.xp, self.device = left, right, left.xp, left.device

    @cached_property
    def _sizes(self) -> tuple[float, float]:
        return size(self.left), size(self.right)

    def passes(self) -> int:
        return self.left.passes() + self.right.passes()


class Sum(Pair):
    """``A + c·B``.

    Parameters
    ----------
    left, right : Operator
        A and B, of one shape.
    factor : float
        c.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> A = op.Dense(X) + op.Sum(op.Dense(X), op.Dense(X), factor=-3.0)
    >>> A, A.to_dense()[0]
    ((X + (X − 3·X))  (3×2, float64), array([-1., -2.]))
    """

    def __init__(self, left: Operator, right: Operator, factor: float = 1.0) -> None:
        if left.shape != right.shape:
            raise InputError("a sum needs operators of one shape", received=f"{left.shape} and {right.shape}")
        super().__init__(left, right, left.shape)
        self.factor = factor
        self.symmetric = left.symmetric and right.symmetric
        self.positive = self.symmetric and left.positive and right.positive and factor >= 0

    def trace(self) -> float | None:
        left, right = self.left.trace(), self.right.trace()
        return told(left, None if right is None else self.factor * right)

    def _matmat(self, V: Array) -> Array:
        return self.left.matmat(V) + self.factor * self.right.matmat(V)

    def _rmatmat(self, U: Array) -> Array:
        return self.left.rmatmat(U) + self.factor * self.right.rmatmat(U)

    def inflation(self) -> float:
        """Parts are rounded at their own size, however small their sum R: ‖A‖ + |c|·‖B‖ ≤ ‖R‖ + 2·min(‖A‖, |c|·‖B‖)."""
        a, b, c = *self._sizes, abs(self.factor)
        own = 2 * min(a, c * b) + math.sqrt(taken_off(self.left)) + c * math.sqrt(taken_off(self.right))
        return own if self.symmetric else own**2

    def measured(self) -> float | None:
        return self.perturbation() if self.symmetric else None

    def perturbation(self) -> float | None:
        return combined(self.left, self.right, 1.0, self.factor)

    def at(self, dtype: Any) -> Sum:
        return Sum(self.left.at(dtype), self.right.at(dtype), self.factor)

    def symbol(self) -> str:
        sign = "+" if self.factor >= 0 else "−"
        size = "" if abs(self.factor) == 1 else f"{abs(self.factor):g}·"
        return f"({self.left.symbol()} {sign} {size}{self.right.symbol()})"


class Product(Pair):
    """``A B``.

    Parameters
    ----------
    left, right : Operator
        A and B.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> A = op.Dense(X).T @ op.Dense(X)           # never formed: two products in turn
    >>> A, A.to_dense()
    (Xᵀ X  (2×2, float64), array([[ 35.,  59.],
           [ 59., 101.]]))
    """

    def __init__(self, left: Operator, right: Operator) -> None:
        if left.shape[1] != right.shape[0]:
            raise InputError("a product needs matching inner sizes", received=f"{left.shape} times {right.shape}")
        super().__init__(left, right, (left.shape[0], right.shape[1]))

    def _matmat(self, V: Array) -> Array:
        return self.left.matmat(self.right.matmat(V))

    def _rmatmat(self, U: Array) -> Array:
        return self.right.rmatmat(self.left.rmatmat(U))

    def inflation(self) -> float:
        sizes = zip((self.left, self.right), self._sizes, strict=True)
        a, b = (norm + math.sqrt(taken_off(factor)) for factor, norm in sizes)
        return (a * b) ** 2

    def perturbation(self) -> float | None:
        a, b = self._sizes
        return combined(self.left, self.right, b, a)

    def at(self, dtype: Any) -> Product:
        return Product(self.left.at(dtype), self.right.at(dtype))

    def symbol(self) -> str:
        return f"{self.left.symbol()} {self.right.symbol()}"


class MinusOuter(Operator):
    """``A − r cᵀ`` for vectors r (n) and c (d): a rank-one part that is never subtracted from the entries.

    Parameters
    ----------
    inner : Operator
        A.
    r, c : array (n,), array (d,)

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> N = np.array([[9.0, 2.0], [4.0, 8.0]])
    >>> P = N / N.sum()
    >>> A = op.MinusOuter(op.Dense(P), P.sum(axis=1), P.sum(axis=0))  # what rows and columns share beyond chance
    >>> A, A.to_dense().round(3)
    ((X − r cᵀ)  (2×2, float64), array([[ 0.121, -0.121],
           [-0.121,  0.121]]))
    """

    def __init__(self, inner: Operator, r: Array, c: Array) -> None:
        if tuple(r.shape) != (inner.shape[0],) or tuple(c.shape) != (inner.shape[1],):
            raise InputError(
                f"r cᵀ must have the shape of {inner.symbol()}, {inner.shape}",
                received=f"r {tuple(r.shape)} and c {tuple(c.shape)}",
            )
        super().__init__(inner.shape, inner.dtype)
        self.inner, self.xp, self.device = inner, inner.xp, inner.device
        self.r, self.c = self.place.array(r), self.place.array(c)

    def _matmat(self, V: Array) -> Array:
        return self.inner.matmat(V) - self.xp.reshape(self.r, (-1, 1)) * (self.c @ V)

    def _rmatmat(self, U: Array) -> Array:
        return self.inner.rmatmat(U) - self.xp.reshape(self.c, (-1, 1)) * (self.r @ U)

    def frobenius2(self) -> float | None:
        """‖A‖² − 2·rᵀAc + ‖r‖²‖c‖²."""
        square = self.inner.frobenius2()
        if square is None:
            return None
        along = float(self.r @ self.inner.matmat(self.xp.reshape(self.c, (-1, 1)))[:, 0])
        return told(square, -2 * along, self._outer())

    def _outer(self) -> float:
        return float(self.r @ self.r) * float(self.c @ self.c)

    def passes(self) -> int:
        return self.inner.passes()

    def inflation(self) -> float:
        return taken_off(self.inner) + self._outer()

    def scale_error(self) -> float:
        return self.inner.scale_error()

    def perturbation(self) -> float | None:
        return self.inner.perturbation()

    def at(self, dtype: Any) -> MinusOuter:
        return MinusOuter(self.inner.at(dtype), self.r, self.c)

    def loose(self, room: float = 0.0) -> MinusOuter:
        return MinusOuter(self.inner.loose(room), self.r, self.c)

    def symbol(self) -> str:
        return f"({self.inner.symbol()} − r cᵀ)"


class Shifted(Operator):
    """``f·M + cI`` of a symmetric operator.

    M + cI has no negative eigenvalue if c ≥ −λ_min; the largest eigenvalues of −M are the smallest of M.

    Parameters
    ----------
    inner : Operator
        M, symmetric.
    shift : float
        c.
    factor : float
        f.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> M = op.Symmetric(np.diag([1.0, 2.0, 3.0]))
    >>> op.Shifted(M, shift=4.0, factor=-1.0).to_dense().diagonal()  # now the smallest comes first
    array([3., 2., 1.])
    """

    symmetric = True

    def __init__(self, inner: Operator, shift: float = 0.0, factor: float = 1.0) -> None:
        if not inner.symmetric:
            raise InputError(
                "a shift needs a symmetric operator", received=repr(inner), hint="wrap it: ritz.operators.Symmetric(A)"
            )
        super().__init__(inner.shape, inner.dtype)
        self.inner, self.shift, self.factor = inner, float(shift), float(factor)
        self.xp, self.device = inner.xp, inner.device
        self.positive = inner.positive and self.factor >= 0 and self.shift >= 0

    def _matmat(self, V: Array) -> Array:
        product = self.inner.matmat(V)
        product = product if self.factor == 1 else -product if self.factor == -1 else self.factor * product
        return product + self.shift * V if self.shift else product

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def trace(self) -> float | None:
        trace = self.inner.trace()
        return None if trace is None else told(self.factor * trace, self.shift * self.shape[0])

    def frobenius2(self) -> float | None:
        """f²‖M‖² + 2fc·tr M + c²p."""
        square, trace = self.inner.frobenius2(), self.inner.trace() if self.shift else 0.0
        if square is None or trace is None:
            return None
        return told(self.factor**2 * square, 2 * self.factor * self.shift * trace, self.shift**2 * self.shape[0])

    def to_dense(self, budget: int = DENSE_BUDGET) -> Array:
        dense = self.factor * self.inner.to_dense(budget)
        return dense + self.shift * self.place.eye(self.shape[0]) if self.shift else dense

    def at(self, dtype: Any) -> Operator:
        inner = self.inner.at(dtype)
        return self if inner is self.inner else Shifted(inner, self.shift, self.factor)

    def inflation(self) -> float:
        """What is rounded has the size |f|·‖M‖ + |c| ≤ ‖f·M + cI‖ + 2|c|."""
        return abs(self.factor) * self.inner.inflation() + 2 * abs(self.shift)

    def measured(self) -> float | None:
        measured = self.inner.measured()
        return (
            None if measured is None else abs(self.factor) * measured + 2 * self.inner.scale_error() * abs(self.shift)
        )

    def scale_error(self) -> float:
        return self.inner.scale_error()

    def gram_dtype(self) -> Any:
        return self.inner.gram_dtype()

    def key(self) -> int:
        return self.inner.key()

    def passes(self) -> int:
        return self.inner.passes()

    def symbol(self) -> str:
        scaled = {1.0: "", -1.0: "−"}.get(self.factor, f"{self.factor:g}·") + self.inner.symbol()
        return f"({scaled} {'+' if self.shift > 0 else '−'} cI)" if self.shift else scaled


Operator._combinators.update(transpose=Transpose, sum=Sum, product=Product)
