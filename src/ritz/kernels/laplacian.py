"""The Laplacian kernel ``exp(−γ‖x − y‖₁)``.

An L1 distance is no product of matrices: it is a loop, compiled by numba where that is installed and run column by
column on blocks by NumPy otherwise. Of two sparse rows the first spreads out only one, the second both, tile by tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.rows import GAMMAS, is_sparse, on_diagonal, positive_number, rows_of

__all__ = ["Laplacian"]

#: Rows and columns of a block that stays in cache while columns of the data are added.
ROWS, COLS = 64, 1024


@dataclass(frozen=True)
class Laplacian(Kernel):
    """``k(x, y) = exp(−γ‖x − y‖₁)``; γ = None is 1/d.

    Parameters
    ----------
    gamma : float, str or None
        A positive number; ``"scale"``, ``"median"``, ``"entropy"`` or ``"alignment"`` to find one from the rows, as
        ``fix`` does; ``"cv"``, which only :class:`ritz.KernelPCA` can try out; None is 1/d.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> x = np.array([[0.0], [1.0], [10.0]])
    >>> for k in (kernels.RBF(0.1), kernels.Laplacian(0.1)):  # heavier tails: far rows keep some likeness
    ...     print(k(x[:1], x).round(4))
    [[1.     0.9048 0.    ]]
    [[1.     0.9048 0.3679]]
    """

    gamma: float | str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive_number("gamma", self.gamma, GAMMAS, none=True))

    def _gamma(self, d: int) -> float:
        if isinstance(self.gamma, str):
            raise ParameterError("gamma must be a number before rows are compared", received=repr(self.gamma),
                                 hint="kernel = kernel.fix(X)")  # fmt: skip
        return 1.0 / max(d, 1) if self.gamma is None else float(self.gamma)

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        source = X
        X, dtype = rows_of(X, dtype, like)
        d = X.shape[1]
        gamma = self._gamma(d)
        if is_sparse(X):
            Z, shift = (X.astype(np.float64) * gamma).astype(dtype), None
        else:
            # rounding to float32 must not meet a large mean
            shift = (X.mean(axis=0, dtype=np.float64) if len(X) else np.zeros(d)) if like is None else like["shift"]
            Z = np.ascontiguousarray((X - shift) * gamma, dtype)
        return Prepared(self, X.shape[0], dtype, {"Z": Z}, {"d": d, "shift": shift, "sparse": is_sparse(X)}, source)

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        left, right = A["Z"][rows], B["Z"][cols]
        D = np.empty((left.shape[0], right.shape[0]), A.dtype) if out is None else out
        compiled = _compiled()
        if is_sparse(left):
            if compiled is None:
                _manhattan(_dense(left), _dense(right), D)
            else:
                compiled[1](left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, A["d"], D)
        elif compiled is None:
            _manhattan(left, right, D)
        else:
            compiled[0](left, right, D)
        if A is B:
            on_diagonal(D, rows, cols, 0.0)
        return np.exp(np.negative(D, out=D), out=D)

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return np.ones(A.n)

    @property
    def relative(self) -> bool:
        return True

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        # z and z' are rounded before they are subtracted, and d differences are added up
        length = np.asarray(abs(A["Z"]).sum(axis=1), np.float64).reshape(-1)
        return 2.0 + (4.0 + np.sqrt(A["d"])) * length

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Kernel:
        if isinstance(self.gamma, float):
            return self
        from ritz.kernels.gamma import find_gamma

        return self.with_params(gamma=find_gamma(self, self.gamma, X, y=y, seed=seed))


def _dense(Z: Any) -> NDArray[Any]:
    return np.asarray(Z.toarray()) if is_sparse(Z) else Z


def _manhattan(left: NDArray[Any], right: NDArray[Any], out: NDArray[Any]) -> None:
    """‖a − b‖₁ of all pairs, column by column on blocks that stay in cache."""
    turned = np.ascontiguousarray(right.T)
    gap = np.empty((ROWS, COLS), out.dtype)
    total = np.empty((ROWS, COLS), out.dtype)
    for i in range(0, left.shape[0], ROWS):
        rows = left[i : i + ROWS]
        for j in range(0, right.shape[0], COLS):
            width = min(COLS, right.shape[0] - j)
            gaps, sums = gap[: len(rows), :width], total[: len(rows), :width]
            sums[...] = 0
            for c in range(left.shape[1]):
                np.subtract(rows[:, c, None], turned[c, j : j + width], out=gaps)
                np.abs(gaps, out=gaps)
                sums += gaps
            out[i : i + len(rows), j : j + width] = sums


@cache
def _compiled() -> tuple[Any, Any] | None:
    """The two loops (dense, CSR) compiled, or None without numba."""
    try:
        from numba import njit
    except ImportError:
        return None

    @njit(nogil=True, fastmath={"reassoc", "contract"})
    def dense(left, right, out):
        for i in range(left.shape[0]):
            for j in range(right.shape[0]):
                total = out.dtype.type(0)
                for c in range(left.shape[1]):
                    total += abs(left[i, c] - right[j, c])
                out[i, j] = total

    @njit(nogil=True)
    def sparse(p, a, x, q, b, y, d, out):
        # ‖x − y‖₁ = ‖x‖₁ + Σ (|y_c − x_c| − |x_c|) over the entries of y, with x spread out
        row = np.zeros(d)
        for i in range(len(p) - 1):
            norm = 0.0
            for s in range(p[i], p[i + 1]):
                row[a[s]] = x[s]
                norm += abs(x[s])
            for j in range(len(q) - 1):
                total = norm
                for t in range(q[j], q[j + 1]):
                    z = row[b[t]]
                    total += abs(y[t] - z) - abs(z)
                out[i, j] = max(total, 0.0)
            for s in range(p[i], p[i + 1]):
                row[a[s]] = 0.0

    return dense, sparse
