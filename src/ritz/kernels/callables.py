"""Kernels that are given: as a Python function of any two objects, or as a matrix.

Callable(f)                f(x, y) → number                  called once for each pair {i, j}
Callable(f, batched=True)  f([x …], [y …]) → matrix          called once for each tile
Precomputed()              rows of K itself; new rows are rows k(x, xⱼ), j over the training rows
"""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.callback import calling_user
from ritz._core.errors import InputError, ParameterError
from ritz._core.threads import go_on
from ritz.kernels.base import Kernel, Prepared, Takes, chunks
from ritz.kernels.rows import is_sparse, rows_of

__all__ = ["Callable", "Precomputed", "asymmetry"]

#: Largest |K − Kᵀ| that counts as rounding, in units of the largest entry.
ASYMMETRY = 1e-6
#: Sides of tiles that are compared with their mirror images; sparse ones are written out for it.
SIDE, SPARSE_SIDE = 256, 1024


@dataclass(frozen=True)
class Callable(Kernel):
    """Any Python function as a kernel; ``definite=True`` where it is known to be positive semidefinite.

    Parameters
    ----------
    function : callable
        k(x, y), a number; with ``batched`` a function of two lists that gives the matrix.
    batched : bool
        Whether the function takes lists of objects.
    definite : bool
        Whether it is known that no kernel matrix has a negative eigenvalue.

    Examples
    --------
    >>> from ritz import kernels
    >>> def shared(a, b): return len(a & b)
    >>> k = kernels.Callable(shared, definite=True)  # any objects; here the features are words
    >>> k([{"red", "dry"}, {"red", "sweet"}, {"white", "sweet"}])
    array([[2., 1., 0.],
           [1., 2., 1.],
           [0., 1., 2.]])
    """

    function: Function[..., Any]
    batched: bool = False
    definite: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError("Callable takes a function of two objects", received=repr(self.function))

    @property
    def positive(self) -> bool:
        return self.definite

    @property
    def takes(self) -> Takes:
        return "any"

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        items: Any = X.tocsr() if is_sparse(X) else X
        if not hasattr(items, "shape") or hasattr(items, "iloc"):
            items = list(items.to_numpy() if hasattr(items, "iloc") else items)
        n = items.shape[0] if hasattr(items, "shape") else len(items)
        narrow = dtype is None and getattr(items, "dtype", None) == np.float32
        return Prepared(self, n, np.dtype(np.float32 if narrow else dtype or np.float64), {"items": items}, {}, X)

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        left, right = A["items"][rows], B["items"][cols]
        shape = (rows.stop - rows.start, cols.stop - cols.start)
        T = np.empty(shape, A.dtype) if out is None else out
        if self.batched:
            with calling_user():
                values = np.asarray(self.function(left, right))
            _require_numbers(values)
            if values.shape != shape:
                raise InputError(f"a batched kernel function gives one number a pair, here {shape}",
                                 received=f"shape {values.shape}", hint="f(list of x, list of y) → array")  # fmt: skip
            T[...] = values
            return T
        with calling_user():
            for i in range(shape[0]):
                go_on()
                for j in range(shape[1]):
                    p, q = rows.start + i - cols.start, cols.start + j - rows.start  # where the mirrored pair stands
                    if A is B and rows.start + i > cols.start + j and 0 <= p < shape[1] and 0 <= q < shape[0]:
                        T[i, j] = T[q, p]
                    else:
                        T[i, j] = _number(self.function(left[i], right[j]))
        return T

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        items = A["items"]
        if self.batched:
            each = (np.asarray(self.function(items[i : i + 1], items[i : i + 1])).reshape(-1) for i in range(A.n))
        else:
            each = (self.function(items[i], items[i]) for i in range(A.n))
        with calling_user():
            return np.fromiter((_number(value) for value in each), np.float64, A.n)

    def to_dict(self) -> dict[str, Any]:
        raise ParameterError(
            "a kernel that is a Python function cannot be written to a file",
            received=repr(self.function),
            hint="use one of ritz.kernels, or a precomputed kernel; pickle keeps functions that can be imported",
        )


def _number(value: Any) -> float:
    if np.size(value) != 1:
        raise InputError("a kernel function gives one number", received=f"shape {np.shape(value)}",
                         hint="Callable(f, batched=True) for a function of two lists")  # fmt: skip
    number = np.asarray(value)
    _require_numbers(number)
    return float(number.reshape(()))


def _require_numbers(values: NDArray[Any]) -> None:
    """Refuse what a kernel function gave where it is no finite number."""
    if values.dtype.kind not in "fiub":
        raise InputError("a kernel function gives numbers", received=f"values of type {values.dtype}",
                         hint="return a float for each pair")  # fmt: skip
    if not np.isfinite(values).all():
        bad = values[~np.isfinite(values)].reshape(-1)[0]
        raise InputError("a kernel function gives finite numbers", received=f"{bad}",
                         hint="look for a logarithm of 0 or a division by 0 in it")  # fmt: skip


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel matrix itself: K (n, n) of the training rows, then k(x, xⱼ) (m, n) of new rows.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> kpca = ritz.KernelPCA(2, kernel="precomputed").fit(X @ X.T)
    >>> pca = ritz.PCA(2).fit(X)
    >>> bool(np.allclose(kpca.eigenvalues_, pca.singular_values_**2))  # a Gram matrix is all PCA needs
    True
    """

    @property
    def positive(self) -> bool:
        return False

    @property
    def takes(self) -> Takes:
        return "precomputed"

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        source = X
        X, dtype = rows_of(X, dtype)
        n = X.shape[0]
        if like is None:
            if X.shape[1] != n:
                raise InputError("a precomputed kernel is square", received=f"shape {tuple(X.shape)}",
                                 hint="K[i, j] = k(xᵢ, xⱼ) of the training rows")  # fmt: skip
            _require_symmetric(X)
            columns = np.arange(n)
        else:
            columns = np.arange(like["width"])
            if X.shape[1] != len(columns):
                raise InputError(f"new rows hold k(x, xⱼ) for each of the {len(columns)} training rows",
                                 received=f"{X.shape[1]} columns")  # fmt: skip
        if like is not None and like.source is source:  # the same rows in another precision
            own = like["column"]
        else:
            own = columns if like is None else np.full(n, -1)
        rows = {"K": X, "column": own}
        return Prepared(self, n, dtype, rows, {"width": len(columns), "shift": None}, source)

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        column, K = B["column"][cols], A["K"][rows]
        if np.any(column < 0):
            column, K = A["column"][rows], B["K"][cols]
            if np.any(column < 0):
                raise InputError("a precomputed kernel knows no values between new rows",
                                 hint="compare new rows with training rows")  # fmt: skip
            entries = _entries(K, column).T
        else:
            entries = _entries(K, column)
        T = np.empty(entries.shape, A.dtype) if out is None else out
        T[...] = entries
        return T

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        if np.any(A["column"] < 0):
            raise InputError("a precomputed kernel does not know k(x, x) of new rows",
                             hint="transform works; scores of new rows need a kernel that can be computed")  # fmt: skip
        K, column = A["K"], A["column"]
        return np.array([K[i, j] for i, j in enumerate(column)], np.float64)

    def wide_rows(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        return _entries(A["K"][index], A["column"]).astype(np.float64)


def _entries(K: Any, column: NDArray[np.intp]) -> NDArray[Any]:
    """Columns of some rows, as an array."""
    contiguous = (
        len(column) > 0 and int(column[-1]) - int(column[0]) == len(column) - 1 and bool(np.all(np.diff(column) == 1))
    )
    columns = K[:, slice(int(column[0]), int(column[-1]) + 1) if contiguous else column]
    return np.asarray(columns.toarray() if is_sparse(columns) else columns)


def _require_symmetric(K: Any) -> None:
    """|K − Kᵀ| must be rounding."""
    worst, largest = asymmetry(K)
    if worst > ASYMMETRY * largest:
        raise InputError("a precomputed kernel is symmetric", received=f"entries that differ by up to {worst:.3g}",
                         hint="pass (K + K.T) / 2 if that is what is meant")  # fmt: skip


def asymmetry(K: Any) -> tuple[float, float]:
    """The largest |K − Kᵀ| and the largest |K|, tile by tile: no copy of K is made, and what is turned stays near."""
    n, worst, largest = K.shape[0], 0.0, 0.0
    sparse = is_sparse(K)
    for I in chunks(n, SPARSE_SIDE if sparse else SIDE):
        for J in chunks(n, SPARSE_SIDE if sparse else SIDE, I.start):
            upper, lower = K[I, J], K[J, I]
            if sparse:
                upper, lower = upper.toarray(), lower.toarray()
            apart = upper - lower.T
            worst = max(worst, float(np.max(apart, initial=0.0)), -float(np.min(apart, initial=0.0)))
            for half in (upper, lower):
                largest = max(largest, float(np.max(half, initial=0.0)), -float(np.min(half, initial=0.0)))
    return worst, largest
