"""Kernels made of kernels.

    Sum  k₁ + k₂      Product  k₁·k₂      Scaled  c·k      Normalized  k(x, y)/√(k(x, x) k(y, y)),  0 where either is 0

Each of them is positive definite where its parts are. Rows are prepared once for every part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.kernels.base import FeatureMap, Kernel, Prepared, Takes
from ritz.kernels.rows import is_sparse, on_diagonal, positive_number, squares

__all__ = ["Normalized", "Product", "Scaled", "Sum"]


@dataclass(frozen=True)
class _Pair(Kernel):
    """Two kernels of the same rows."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        kinds = {self.left.takes, self.right.takes} - {"any"}
        if len(kinds) > 1:
            raise ParameterError("kernels that are combined compare the same kind of rows",
                                 received=" and ".join(sorted(kinds)))  # fmt: skip

    @property
    def positive(self) -> bool:
        return self.left.positive and self.right.positive

    @property
    def takes(self) -> Takes:
        return self.right.takes if self.left.takes == "any" else self.left.takes

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Kernel:
        return self.with_params(left=self.left.fix(X, y=y, seed=seed), right=self.right.fix(X, y=y, seed=seed))

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        A = self.left.prepare(X, dtype=dtype, like=None if like is None else like["left"])
        B = self.right.prepare(X, dtype=A.dtype, like=None if like is None else like["right"])
        return Prepared(self, A.n, A.dtype, {"left": A, "right": B}, {}, X)

    def reference(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        return self._join(self.left.reference(A["left"], index), self.right.reference(A["right"], index))

    def working_bytes(self, X: Any) -> float | None:
        parts = self.left.working_bytes(X), self.right.working_bytes(X)
        return None if parts == (None, None) else sum(size or 0.0 for size in parts)

    @property
    def relative(self) -> bool:
        return self.left.relative and self.right.relative

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        return 1.0 + self.left.roughness(A["left"]) + self.right.roughness(A["right"])

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        first = self.left.tile(A["left"], B["left"], rows, cols, out)
        return self._join(first, self.right.tile(A["right"], B["right"], rows, cols))

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return self._join(np.array(self.left.diag(A["left"])), self.right.diag(A["right"]))

    def _join(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        """The combination, in place of the first."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sum(_Pair):
    """``k₁ + k₂``.

    Parameters
    ----------
    left, right : Kernel
        Both take the same kind of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> x = np.array([[0.0], [2.0]])
    >>> k = kernels.RBF(0.1) + kernels.RBF(10.0)  # a coarse and a fine look at once
    >>> k
    RBF(gamma=0.1) + RBF(gamma=10.0)
    >>> k(x).round(2)
    array([[2.  , 0.67],
           [0.67, 2.  ]])
    """

    def _join(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        first += second
        return first

    def feature_map(self, X: Any) -> FeatureMap | None:
        left, right = self.left.feature_map(X), self.right.feature_map(X)
        return None if left is None or right is None else _Beside(left, right)

    def __repr__(self) -> str:
        return f"{self.left!r} + {self.right!r}"


@dataclass(frozen=True)
class Product(_Pair):
    """``k₁ · k₂``.

    Parameters
    ----------
    left, right : Kernel
        Both take the same kind of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> x = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> k = kernels.Linear() * kernels.RBF(1.0)   # alike only if both say so
    >>> k(x).round(2)
    array([[1.  , 0.27],
           [0.27, 5.  ]])
    """

    def _join(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        first *= second
        return first

    def __repr__(self) -> str:
        return f"{_bracketed(self.left)} * {_bracketed(self.right)}"


@dataclass(frozen=True)
class _One(Kernel):
    """A kernel of one kernel."""

    kernel: Kernel

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    @property
    def takes(self) -> Takes:
        return self.kernel.takes

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Kernel:
        return self.with_params(kernel=self.kernel.fix(X, y=y, seed=seed))

    def working_bytes(self, X: Any) -> float | None:
        return self.kernel.working_bytes(X)

    @property
    def relative(self) -> bool:
        return self.kernel.relative

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        return 2.0 + self.kernel.roughness(A["inner"])


@dataclass(frozen=True)
class Scaled(_One):
    """``c · k`` with c > 0.

    Parameters
    ----------
    kernel : Kernel
    factor : float
        c.

    Examples
    --------
    >>> from ritz import kernels
    >>> k = 2 * kernels.RBF(1.0)
    >>> k, k.factor
    (2 * RBF(gamma=1.0), 2.0)
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", positive_number("the factor of a kernel", self.factor))

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        inner = self.kernel.prepare(X, dtype=dtype, like=None if like is None else like["inner"])
        return Prepared(self, inner.n, inner.dtype, {"inner": inner}, {}, X)

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        T = self.kernel.tile(A["inner"], B["inner"], rows, cols, out)
        T *= T.dtype.type(self.factor)
        return T

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return self.factor * self.kernel.diag(A["inner"])

    def wide_rows(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.factor * self.kernel.wide_rows(A["inner"], index)

    def reference(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.factor * self.kernel.reference(A["inner"], index)

    def feature_map(self, X: Any) -> FeatureMap | None:
        inner = self.kernel.feature_map(X)
        return None if inner is None else _Times(inner, float(np.sqrt(self.factor)))

    def __repr__(self) -> str:
        return f"{self.factor:g} * {_bracketed(self.kernel)}"


@dataclass(frozen=True)
class Normalized(_One):
    """``k(x, y) / √(k(x, x) k(y, y))``; 0 where k(x, x) or k(y, y) is 0.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> X = np.array([[1.0, 1.0], [100.0, 100.0]])
    >>> k = kernels.Linear().normalized()         # the cosine, made of the linear kernel
    >>> k(X).round(12)
    array([[1., 1.],
           [1., 1.]])
    """

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        inner = self.kernel.prepare(X, dtype=dtype, like=None if like is None else like["inner"])
        square = self.kernel.diag(inner)
        if bool(np.any(square < 0)) or not bool(np.all(np.isfinite(square))):
            raise InputError("a kernel that is normalised has finite k(x, x) ≥ 0", received=f"{np.min(square):.3g}",
                             hint="an indefinite kernel such as Sigmoid cannot always be normalised")  # fmt: skip
        there = square > 0
        factor = np.where(there, 1.0 / np.sqrt(np.where(there, square, 1.0)), 0.0)
        rows = {"inner": inner, "factor": factor, "there": there.astype(np.float64)}
        return Prepared(self, inner.n, inner.dtype, rows, {}, X)

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        T = self.kernel.tile(A["inner"], B["inner"], rows, cols, out)
        T *= A["factor"][rows, None].astype(T.dtype)
        T *= B["factor"][cols].astype(T.dtype)
        if A is B:
            on_diagonal(T, rows, cols, A["there"])
        return T

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return np.array(A["there"])

    def feature_map(self, X: Any) -> FeatureMap | None:
        inner = self.kernel.feature_map(X)
        return None if inner is None else _UnitLength(inner)

    def __repr__(self) -> str:
        return f"{_bracketed(self.kernel)}.normalized()"


@dataclass(frozen=True)
class _Beside:
    """Features of a sum stand side by side."""

    left: FeatureMap
    right: FeatureMap

    @property
    def size(self) -> int:
        """How many."""
        return self.left.size + self.right.size

    def transform(self, X: Any) -> Any:
        """(n, size)."""
        parts = [self.left.transform(X), self.right.transform(X)]
        if any(is_sparse(features) for features in parts):
            from scipy.sparse import csr_array, hstack

            return hstack([csr_array(features) for features in parts], format="csr")
        return np.hstack(parts)


@dataclass(frozen=True)
class _Times:
    """Features times a number."""

    inner: FeatureMap
    factor: float

    @property
    def size(self) -> int:
        """How many."""
        return self.inner.size

    def transform(self, X: Any) -> Any:
        """(n, size)."""
        F = self.inner.transform(X)
        return F * F.dtype.type(self.factor) if F.dtype.kind == "f" else F * self.factor


@dataclass(frozen=True)
class _UnitLength:
    """Features of length one."""

    inner: FeatureMap

    @property
    def size(self) -> int:
        """How many."""
        return self.inner.size

    def transform(self, X: Any) -> Any:
        """(n, size)."""
        F = self.inner.transform(X)
        dtype = F.dtype if F.dtype.kind == "f" else np.dtype(np.float64)
        length = np.sqrt(squares(F.astype(dtype)))
        factor = np.where(length > 0, 1.0 / np.where(length > 0, length, 1.0), 0.0)
        if is_sparse(F):
            F = F.tocsr().astype(dtype)
            F.data = (F.data * np.repeat(factor, np.diff(F.indptr))).astype(dtype)
            return F
        return (F * factor[:, None]).astype(dtype)


def _bracketed(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum) else repr(kernel)


Kernel._combinators.update(sum=Sum, product=Product, scaled=Scaled, normalized=Normalized)
