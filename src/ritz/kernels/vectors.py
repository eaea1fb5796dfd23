"""Kernels of the dot product.

    Linear       x·y                                  Sigmoid   tanh(γ x·y + c)        (indefinite)
    Polynomial   (γ x·y + c)^p,  c ≥ 0 for positive   Cosine    x·y / (‖x‖‖y‖),  0 where a row is 0

Rows are scaled by √γ once, so a tile is one product and one function in place. γ = None means 1/d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement as choices
from math import comb, factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.kernels.base import FeatureMap, Kernel, Prepared, chunks, take_rows
from ritz.kernels.rows import GAMMAS, columns, is_sparse, on_diagonal, positive_number, product, rows_of, squares

__all__ = ["Cosine", "Linear", "Polynomial", "Sigmoid"]

#: Explicit features are offered up to this many.
FEATURES = 2000

#: Monomials of rows that are made together.
MONOMIALS = 1 << 18

#: Length of the pieces in which a dot product is summed where tiles are checked.
SHORT = 64


class DotKernel(Kernel):
    """``f(γ x·y)``; subclasses say what f does to a tile, in place."""

    def scale_for(self, d: int) -> float:
        """√γ, by which rows of d columns are multiplied before they are compared."""
        return 1.0

    def _apply(self, G: NDArray[Any]) -> NDArray[Any]:
        return G

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        source = X
        X, dtype = rows_of(X, dtype, like)
        d = X.shape[1]
        scale = self.scale_for(d)
        Z = X.astype(dtype, copy=False) if scale == 1 else X.astype(np.result_type(X.dtype, dtype)) * dtype.type(scale)
        Z = Z.astype(dtype, copy=False)
        return Prepared(self, X.shape[0], dtype, {"Z": Z}, {"d": d, "sparse": is_sparse(X)}, source)

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        return self._apply(product(A["Z"][rows], B["Z"][cols], out))

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return self._apply(squares(A["Z"]))

    def reference(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        few = self.prepare(take_rows(A.source, index), dtype=np.float64, like=A)
        if is_sparse(few["Z"]):
            return self.wide_rows(A, index)
        K = np.empty((few.n, A.n))
        for block in chunks(A.n, 4096):
            Z = self.prepare(take_rows(A.source, block), dtype=np.float64, like=A)["Z"]
            K[:, block] = self._apply(_short_products(few["Z"], Z))
        return K

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Kernel:
        if not hasattr(self, "gamma") or isinstance(self.gamma, float):
            return self
        from ritz.kernels.gamma import find_gamma

        return self.with_params(gamma=find_gamma(self, self.gamma, X, y=y, seed=seed))


def _short_products(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """``left rightᵀ`` as a sum of short sums: less rounding than one long one."""
    d = left.shape[1]
    parts = [left[:, j : j + SHORT] @ right[:, j : j + SHORT].T for j in range(0, d, SHORT)]
    while len(parts) > 1:
        parts = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)] + parts[len(parts) & ~1 :]
    return parts[0] if parts else np.zeros((left.shape[0], right.shape[0]))


@dataclass(frozen=True)
class Linear(DotKernel):
    """``k(x, y) = x·y``: kernel PCA with it is PCA.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> k = kernels.Linear()
    >>> k(X)                                      # X Xᵀ
    array([[ 5., 11.],
           [11., 25.]])
    """

    def feature_map(self, X: Any) -> FeatureMap:
        return Rows(columns(X), self)


@dataclass(frozen=True)
class Polynomial(DotKernel):
    """``k(x, y) = (γ x·y + c)^p``; γ = None is 1/d.

    Parameters
    ----------
    degree : int
        p, at least 1.
    gamma : float, str or None
        A positive number; ``"scale"``, ``"median"``, ``"entropy"`` or ``"alignment"`` to find one from the rows, as
        ``fix`` does; ``"cv"``, which only :class:`ritz.KernelPCA` can try out; None is 1/d.
    coef0 : float
        c; a negative one may leave the kernel indefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> x, y = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])
    >>> k = kernels.Polynomial(degree=2, gamma=1.0, coef0=0.0)
    >>> k(x, y)                                   # (x·y)²
    array([[25.]])
    >>> def phi(x): return np.array([x[0] ** 2, np.sqrt(2) * x[0] * x[1], x[1] ** 2])
    >>> round(float(phi(x[0]) @ phi(y[0])), 12)   # the same, in the space of squares and products
    25.0
    """

    degree: int = 3
    gamma: float | str | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.degree, (bool, str)) or self.degree != int(self.degree) or self.degree < 1:
            raise ParameterError("degree must be a whole number ≥ 1", received=repr(self.degree))
        object.__setattr__(self, "degree", int(self.degree))
        object.__setattr__(self, "gamma", positive_number("gamma", self.gamma, GAMMAS, none=True))
        object.__setattr__(self, "coef0", float(self.coef0))

    @property
    def positive(self) -> bool:
        return self.coef0 >= 0

    def scale_for(self, d: int) -> float:
        return _root(self.gamma, d)

    def _apply(self, G: NDArray[Any]) -> NDArray[Any]:
        if self.coef0:
            G += G.dtype.type(self.coef0)
        return _power(G, self.degree)

    def feature_map(self, X: Any) -> FeatureMap | None:
        d = columns(X)
        variables = d + (self.coef0 > 0)
        if self.coef0 < 0 or is_sparse(X) or comb(variables + self.degree - 1, self.degree) > FEATURES:
            return None
        return Monomials(d, self.degree, _root(self.gamma, d), self.coef0)


@dataclass(frozen=True)
class Sigmoid(DotKernel):
    """``k(x, y) = tanh(γ x·y + c)``: not positive definite; γ = None is 1/d.

    Parameters
    ----------
    gamma : float, str or None
        A positive number; ``"scale"``, ``"median"``, ``"entropy"`` or ``"alignment"`` to find one from the rows, as
        ``fix`` does; ``"cv"``, which only :class:`ritz.KernelPCA` can try out; None is 1/d.
    coef0 : float
        c.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> X = np.array([[1.0], [-1.0]])
    >>> k = kernels.Sigmoid(gamma=1.0, coef0=-1.0)
    >>> np.linalg.eigvalsh(k(X)).round(2)         # not a kernel of any space
    array([-0.96,  0.96])
    >>> k.positive
    False
    """

    gamma: float | str | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive_number("gamma", self.gamma, GAMMAS, none=True))
        object.__setattr__(self, "coef0", float(self.coef0))

    @property
    def positive(self) -> bool:
        return False

    def scale_for(self, d: int) -> float:
        return _root(self.gamma, d)

    def _apply(self, G: NDArray[Any]) -> NDArray[Any]:
        G += G.dtype.type(self.coef0)
        return np.tanh(G, out=G)


@dataclass(frozen=True)
class Cosine(DotKernel):
    """``k(x, y) = x·y / (‖x‖‖y‖)``; a zero row has k = 0 with every row, itself included.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> X = np.array([[1.0, 2.0], [10.0, 20.0], [2.0, -1.0]])
    >>> k = kernels.Cosine()
    >>> k(X).round(12) + 0                        # lengths do not count, directions do
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        source = X
        X, dtype = rows_of(X, dtype, like)
        Z, there = _unit_rows(X)
        shared = {"d": X.shape[1], "sparse": is_sparse(X)}
        return Prepared(self, X.shape[0], dtype, {"Z": Z.astype(dtype), "there": there}, shared, source)

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        G = product(A["Z"][rows], B["Z"][cols], out)
        if A is B:
            on_diagonal(G, rows, cols, A["there"])
        return G

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return np.asarray(A["there"], np.float64)

    def feature_map(self, X: Any) -> FeatureMap:
        return Rows(columns(X), self)


def _unit_rows(X: Any) -> tuple[Any, NDArray[np.float64]]:
    """Rows of length one in float64 (the largest entry is taken out first, so no square over- or underflows)."""
    if is_sparse(X):
        Z = X.astype(np.float64)
        largest = np.asarray(abs(Z).max(axis=1).toarray(), np.float64).reshape(-1) if Z.nnz else np.zeros(Z.shape[0])
        counts = np.diff(Z.indptr)
        Z.data /= np.repeat(np.where(largest > 0, largest, 1.0), counts)
        Z.data /= np.repeat(np.sqrt(np.where(largest > 0, squares(Z), 1.0)), counts)
        return Z, (largest > 0).astype(np.float64)
    largest = np.max(np.abs(X.astype(np.float64)), axis=1, initial=0.0)
    Z = X / np.where(largest > 0, largest, 1.0)[:, None]
    Z /= np.sqrt(np.where(largest > 0, squares(Z), 1.0))[:, None]
    return Z, (largest > 0).astype(np.float64)


def _root(gamma: float | str | None, d: int) -> float:
    """√γ; a γ that is still a word cannot be used."""
    if isinstance(gamma, str):
        raise ParameterError("gamma must be a number before rows are compared", received=repr(gamma),
                             hint="kernel = kernel.fix(X)")  # fmt: skip
    return float(np.sqrt(1.0 / max(d, 1) if gamma is None else gamma))


def _power(G: NDArray[Any], degree: int) -> NDArray[Any]:
    """``G^degree`` in place by squaring."""
    if degree == 1:
        return G
    if degree == 2:
        return np.multiply(G, G, out=G)
    base, rest = G.copy(), degree - 1
    while rest:
        if rest & 1:
            G *= base
        rest >>= 1
        if rest:
            base *= base
    return G


@dataclass(frozen=True)
class Rows:
    """The rows themselves, as one kernel scales them, are the features."""

    size: int
    kernel: DotKernel

    def transform(self, X: Any) -> Any:
        """ndarray or CSR (n, d)."""
        return self.kernel.prepare(X)["Z"]


@dataclass(frozen=True)
class Monomials:
    """All monomials of one degree in (√γ x, √c), weighted by the root of how often each one occurs in the product."""

    d: int
    degree: int
    root: float
    coef0: float

    @property
    def size(self) -> int:
        """How many."""
        return comb(self.d + (self.coef0 > 0) + self.degree - 1, self.degree)

    def transform(self, X: Any) -> NDArray[Any]:
        """(n, size)."""
        X, dtype = rows_of(X.toarray() if is_sparse(X) else X)
        Z = X.astype(np.float64) * self.root
        if self.coef0 > 0:
            Z = np.column_stack([Z, np.full(len(Z), np.sqrt(self.coef0))])
        factors, weights = _monomials(Z.shape[1], self.degree)
        out = np.empty((len(Z), self.size), dtype)
        for rows in chunks(len(Z), max(1, MONOMIALS // max(1, self.size))):
            made = Z[rows, factors[0]]
            for factor in factors[1:]:
                made *= Z[rows, factor]
            np.multiply(made, weights, out=out[rows], casting="same_kind")
        return out


@lru_cache(maxsize=16)
def _monomials(d: int, degree: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The columns that are multiplied with each other, (degree, size), and the weights (size,) of their products."""
    picked = list(choices(range(d), degree))
    often = [factorial(degree) / prod(factorial(one.count(i)) for i in set(one)) for one in picked]
    factors = np.array(picked, np.intp).reshape(len(picked), degree).T.copy()
    weights = np.sqrt(np.array(often, np.float64))
    factors.flags.writeable = weights.flags.writeable = False
    return factors, weights
