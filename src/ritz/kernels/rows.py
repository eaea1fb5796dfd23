"""What kernels of vectors share: rows as arrays or CSR, products of tiles, the diagonal, numbers as parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.kernels.base import Prepared

__all__ = ["GAMMAS", "columns", "is_sparse", "on_diagonal", "positive_number", "product", "rows_of", "squares"]

#: Ways to find gamma from the rows.
GAMMAS = ("scale", "median", "entropy", "alignment", "cv")

#: Entries of a block that is widened to float64 at a time.
PIECE = 1 << 21


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array (told without importing SciPy)."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def rows_of(X: Any, dtype: Any = None, like: Prepared | None = None) -> tuple[Any, np.dtype[Any]]:
    """X as an ndarray (any order) or CSR of its own dtype, and the precision of the tiles.

    Rows that will be compared with earlier ones take their form, dense or sparse.
    """
    if is_sparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:  # squares of entries need each one whole
            X = X.copy()
            X.sum_duplicates()
    else:
        X = np.asarray(X)
        if X.dtype.kind not in "fiub":
            X = X.astype(np.float64)
    if X.ndim != 2:
        raise InputError(
            "a kernel of vectors takes rows and columns",
            received=f"shape {tuple(X.shape)}",
            hint="one row is X.reshape(1, -1); for other objects use ritz.kernels.Callable",
        )
    if like is not None:
        X = _conform(X, like["d"], like["sparse"])
    own = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return X, own if dtype is None else np.dtype(dtype)


def _conform(X: Any, d: int, sparse: bool) -> Any:
    if X.shape[1] != d:
        raise InputError(f"rows that are compared have the same columns, here {d}", received=f"{X.shape[1]} columns")
    if sparse and not is_sparse(X):
        from scipy.sparse import csr_array

        return csr_array(X)
    return X.toarray() if is_sparse(X) and not sparse else X


def columns(X: Any) -> int:
    """Columns of anything with rows."""
    return int(X.shape[1]) if hasattr(X, "shape") else int(np.asarray(X).shape[1])


def product(left: Any, right: Any, out: NDArray[Any] | None) -> NDArray[Any]:
    """``left rightᵀ`` dense; CSR rows are multiplied as CSR."""
    if not is_sparse(left):
        return np.matmul(left, right.T, out=out) if out is not None else np.matmul(left, right.T)
    sparse = left @ right.T
    if out is None:
        return np.asarray(sparse.toarray())
    return np.asarray(sparse.toarray(out=out)) if out.flags.c_contiguous else _copied(sparse.toarray(), out)


def _copied(values: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    out[...] = values
    return out


def squares(Z: Any) -> NDArray[np.float64]:
    """‖zᵢ‖² summed in float64, (n,)."""
    if is_sparse(Z):
        wide = Z.astype(np.float64)
        wide.data **= 2
        return np.asarray(wide.sum(axis=1), np.float64).reshape(-1)
    if Z.dtype == np.float64:
        return np.einsum("ij,ij->i", Z, Z)
    sums = np.empty(Z.shape[0])
    step = max(1, PIECE // max(Z.shape[1], 1))
    for start in range(0, len(sums), step):
        wide = Z[start : start + step].astype(np.float64)
        sums[start : start + step] = np.einsum("ij,ij->i", wide, wide)
    return sums


def on_diagonal(G: NDArray[Any], rows: slice, cols: slice, value: Any) -> None:
    """Set the entries of a tile that lie on the diagonal of the whole matrix; ``value`` a number or (n,)."""
    start, stop = max(rows.start, cols.start), min(rows.stop, cols.stop)
    if start < stop:
        index = np.arange(start, stop)
        G[index - rows.start, index - cols.start] = value if np.ndim(value) == 0 else value[start:stop]


def positive_number(name: str, value: Any, words: tuple[str, ...] = (), none: bool = False) -> Any:
    """``value`` as a float > 0; also one of ``words``, or None, where that is allowed."""
    if (none and value is None) or (isinstance(value, str) and value in words):
        return value
    if not isinstance(value, (str, bool)) and np.ndim(value) == 0:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if np.isfinite(number) and number > 0:
            return number
    others = [*(["None"] if none else []), *(repr(word) for word in words)]
    raise ParameterError(f"{name} must be a number > 0" + (f", or {', '.join(others)}" if others else ""),
                         received=repr(value))  # fmt: skip
