"""Sums, products, transposes and rank-one corrections of operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.arrays import Array, namespace
from ritz._core.errors import InputError
from ritz.data.engines.memory.blocks import MemoryBlocks
from ritz.data.moments import Moments
from ritz.operators.affine import Affine
from ritz.operators.base import DENSE_BUDGET, Cost, Operator
from ritz.operators.framed import Wrapper

__all__ = ["MinusOuter", "Product", "Sum", "Transpose"]


class Transpose(Wrapper):
    """``Aᵀ``; rows in memory are read column block by column block, so that its ``normal`` is one pass."""

    def __init__(self, inner: Operator) -> None:
        super().__init__(inner, (inner.shape[1], inner.shape[0]))

    def _frame(self) -> Affine | None:
        frame = self._inner_frame()
        # Rows that are read cannot be turned: then Aᵀ and A are two passes.
        turnable = frame is not None and isinstance(frame.blocks, MemoryBlocks)
        return frame.transposed() if frame is not None and turnable else None

    def _moments(self) -> tuple[Moments, np.ndarray | None, bool] | None:
        return None

    def frobenius2(self) -> float | None:
        return self.inner.frobenius2()

    def gram_dtype(self) -> Any:
        return np.float64 if self.affine is None else self.affine.precision

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


class Sum(Operator):
    """``A + c·B``."""

    def __init__(self, left: Operator, right: Operator, factor: float = 1.0) -> None:
        if left.shape != right.shape:
            raise InputError("a sum needs operators of one shape", received=f"{left.shape} and {right.shape}")
        super().__init__(left.shape, np.result_type(left.dtype, right.dtype))
        self.left, self.right, self.factor = left, right, factor
        self.symmetric = left.symmetric and right.symmetric
        self.positive = self.symmetric and left.positive and right.positive and factor >= 0

    def trace(self) -> float | None:
        left, right = self.left.trace(), self.right.trace()
        return None if left is None or right is None else left + self.factor * right

    def _matmat(self, V: Array) -> Array:
        return self.left.matmat(V) + self.factor * self.right.matmat(V)

    def _rmatmat(self, U: Array) -> Array:
        return self.left.rmatmat(U) + self.factor * self.right.rmatmat(U)

    def cost(self) -> Cost:
        return _together(self.left, self.right)

    def passes(self) -> int:
        return self.left.passes() + self.right.passes()

    def at(self, dtype: Any) -> Sum:
        return Sum(self.left.at(dtype), self.right.at(dtype), self.factor)

    def symbol(self) -> str:
        sign = "+" if self.factor >= 0 else "−"
        size = "" if abs(self.factor) == 1 else f"{abs(self.factor):g}·"
        return f"({self.left.symbol()} {sign} {size}{self.right.symbol()})"


class Product(Operator):
    """``A B``."""

    def __init__(self, left: Operator, right: Operator) -> None:
        if left.shape[1] != right.shape[0]:
            raise InputError("a product needs matching inner sizes", received=f"{left.shape} times {right.shape}")
        super().__init__((left.shape[0], right.shape[1]), np.result_type(left.dtype, right.dtype))
        self.left, self.right = left, right

    def _matmat(self, V: Array) -> Array:
        return self.left.matmat(self.right.matmat(V))

    def _rmatmat(self, U: Array) -> Array:
        return self.right.rmatmat(self.left.rmatmat(U))

    def cost(self) -> Cost:
        return _together(self.left, self.right)

    def passes(self) -> int:
        return self.left.passes() + self.right.passes()

    def at(self, dtype: Any) -> Product:
        return Product(self.left.at(dtype), self.right.at(dtype))

    def symbol(self) -> str:
        return f"{self.left.symbol()} {self.right.symbol()}"


class MinusOuter(Operator):
    """``A − r cᵀ`` for vectors r (n) and c (d): a rank-one part that is never subtracted from the entries."""

    def __init__(self, inner: Operator, r: Array, c: Array) -> None:
        if tuple(r.shape) != (inner.shape[0],) or tuple(c.shape) != (inner.shape[1],):
            raise InputError(
                f"r cᵀ must have the shape of {inner.symbol()}, {inner.shape}",
                received=f"r {tuple(r.shape)} and c {tuple(c.shape)}",
            )
        super().__init__(inner.shape, inner.dtype)
        self.inner, self.r, self.c = inner, r, c

    def _matmat(self, V: Array) -> Array:
        xp = namespace(V)
        return self.inner.matmat(V) - xp.reshape(self.r, (-1, 1)) * (self.c @ V)

    def _rmatmat(self, U: Array) -> Array:
        xp = namespace(U)
        return self.inner.rmatmat(U) - xp.reshape(self.c, (-1, 1)) * (self.r @ U)

    def cost(self) -> Cost:
        return self.inner.cost()

    def passes(self) -> int:
        return self.inner.passes()

    def inflation(self) -> float:
        return self.inner.inflation() + float(self.r @ self.r) * float(self.c @ self.c)

    def at(self, dtype: Any) -> MinusOuter:
        return MinusOuter(self.inner.at(dtype), self.r, self.c)

    def symbol(self) -> str:
        return f"({self.inner.symbol()} − r cᵀ)"


def _together(left: Operator, right: Operator) -> Cost:
    a, b = left.cost(), right.cost()
    return Cost(a.flops + b.flops, a.bytes + b.bytes, a.passes + b.passes)


Operator._combinators.update(transpose=Transpose, sum=Sum, product=Product)


class Negated(Operator):
    """``−M`` of a symmetric operator: its largest eigenvalues are the smallest of M."""

    symmetric = True

    def __init__(self, inner: Operator) -> None:
        super().__init__(inner.shape, inner.dtype)
        self.inner = inner

    def _matmat(self, V: Array) -> Array:
        return -self.inner.matmat(V)

    def _rmatmat(self, U: Array) -> Array:
        return -self.inner.matmat(U)

    def at(self, dtype: Any) -> Operator:
        inner = self.inner.at(dtype)
        return self if inner is self.inner else Negated(inner)

    def to_dense(self, budget: int = DENSE_BUDGET) -> Array:
        return -self.inner.to_dense(budget)

    def measured(self) -> float | None:
        return self.inner.measured()

    def inflation(self) -> float:
        return self.inner.inflation()

    def gram_dtype(self) -> Any:
        return self.inner.gram_dtype()

    def key(self) -> int:
        return self.inner.key()

    def cost(self) -> Cost:
        return self.inner.cost()

    def passes(self) -> int:
        return self.inner.passes()

    def symbol(self) -> str:
        return f"−{self.inner.symbol()}"
