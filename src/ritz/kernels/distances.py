"""Kernels of the Euclidean distance.

    RBF   exp(−γ‖x − y‖²)             Matern   2^{1−ν}/Γ(ν) r^ν K_ν(r),  r = √(2ν)‖x − y‖/ℓ;   ν = ∞: exp(−‖x − y‖²/2ℓ²)

With z = c(x − μ), s = ‖z‖²/2 (of the rounded z) one product gives minus half the squared distance:

    [z, 1, −s]·[z', −s', 1] = z·z' − s − s' = −½‖z − z'‖²

The mean μ is taken off before anything is squared: distances do not feel it, but their digits do. What rounding lifts
above 0 is clamped, the diagonal is exactly 0. CSR rows stay CSR and are not shifted.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.kernels.base import Kernel, Prepared, chunks, take_rows
from ritz.kernels.rows import GAMMAS, is_sparse, on_diagonal, positive_number, product, rows_of, squares

__all__ = ["RBF", "DistanceKernel"]

#: Rows that are shifted and scaled at a time: few enough that memory is used again rather than asked for.
BLOCK = 512
#: Rows that are compared by differences at a time, and columns whose squares are summed at a time.
REFERENCED, SHORT = 4096, 256
#: Rounding of exponents that is mended where rows are compared with others, exponents beyond which kernels are nothing,
#: and numbers that are compared at a time.
LOST, NOTHING, COMPARED = 1e-10, 50.0, 1 << 20


class DistanceKernel(Kernel):
    """``f(−½‖z − z'‖²)`` with z = c·x; subclasses say c and what f does to a tile, in place."""

    @abstractmethod
    def scale_for(self, d: int) -> float:
        """c, by which rows of d columns are multiplied before they are compared."""

    @abstractmethod
    def _apply(self, E: NDArray[Any]) -> NDArray[Any]:
        """f in place, for entries ≤ 0; 1 at 0."""

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        source = X
        X, dtype = rows_of(X, dtype, like)
        n, d = X.shape
        scale = self.scale_for(d)
        if is_sparse(X):
            Z = (X.astype(np.float64) * scale).astype(dtype)
            half = 0.5 * squares(Z)
            shared: dict[str, Any] = {"d": d, "shift": None, "sparse": True}
            prepared = Prepared(self, n, dtype, {"Z": Z, "half": half}, shared, source)
        else:
            shift = _mean(X) if like is None else like["shift"]
            Z = np.empty((n, d + 2), dtype)
            half = np.empty(n)
            for block in chunks(n, BLOCK):
                rows = X[block].astype(np.float64)
                if shift is not None:
                    rows -= shift
                Z[block, :d] = np.multiply(rows, scale, out=rows)
                half[block] = 0.5 * squares(Z[block, :d])
            Z[:, d], Z[:, d + 1] = -half, 1.0
            prepared = Prepared(self, n, dtype, {"Z": Z}, {"d": d, "shift": shift, "sparse": False}, source)
        if not np.all(np.isfinite(half)) or (n and float(half.max()) > np.finfo(dtype).max):
            raise InputError("squared distances must be finite", received="rows with NaN, infinity or huge values",
                             hint="scale the columns, or choose a smaller gamma")  # fmt: skip
        return prepared

    def exponents(
        self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """``−½‖zᵢ − z'ⱼ‖²`` of a tile, ≤ 0."""
        if A["sparse"]:
            E = product(A["Z"][rows], B["Z"][cols], out)
            E -= A["half"][rows, None].astype(E.dtype)
            E -= B["half"][cols].astype(E.dtype)
        else:
            left, d = A["Z"][rows].copy(), A["d"]
            left[:, d + 1] = left[:, d]
            left[:, d] = 1.0
            E = product(left, B["Z"][cols], out)
        if A is B:
            on_diagonal(E, rows, cols, 0.0)
        if E.size and E.max() > 0:  # rare beside the diagonal, and looking is five times faster than clamping
            np.minimum(E, E.dtype.type(0), out=E)
        if A is not B and A.shared.get("placed") and not A["sparse"] and E.dtype == np.float64:
            _by_differences(E, A["Z"][rows], B["Z"][cols], A["d"])
        return E

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        return self._apply(self.exponents(A, B, rows, cols, out))

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return np.ones(A.n)

    def reference(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        if A["sparse"]:
            return self.wide_rows(A, index)
        K = np.empty((len(index), A.n))
        few = self._differing(A, index)
        for block in chunks(A.n, REFERENCED):
            K[:, block] = _square_distances(few, self._differing(A, block))
        K *= -0.5
        return self._apply(K)

    def _differing(self, A: Prepared, index: Any) -> NDArray[np.float64]:
        """Some rows z in float64, (m, d)."""
        if A.dtype == np.float64:
            return np.asarray(A["Z"][index, : A["d"]])
        some = self.prepare(take_rows(A.source, index), dtype=np.float64, like=A)
        return np.asarray(some["Z"][:, : A["d"]])

    @property
    def relative(self) -> bool:
        return True

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        # z·z' ≤ 2s, and s twice, are rounded where rows are close
        return 1.0 + 4.0 * np.asarray(_half(A), np.float64)

    def surely_finite(self, A: Prepared) -> bool:
        return not A.n or float(_half(A).max()) < float(np.finfo(A.dtype).max) / 16


def _half(A: Prepared) -> NDArray[Any]:
    """‖z‖²/2 of prepared rows."""
    return np.asarray(A["half"] if A["sparse"] else -A["Z"][:, A["d"]])


def _by_differences(E: NDArray[np.float64], left: Any, right: Any, d: int) -> None:
    """Compute anew, in place, what is near 0 where ‖z‖² is so large that nothing is left of a small distance.

    A row of a fit that is compared with itself would not be found there: of ‖z‖² = 10¹⁶, rounding leaves ±2.
    """
    if not E.size:
        return
    lost = -(2.0**-51) * (float(left[:, d].min()) + float(right[:, d].min()))
    if lost < LOST:
        return
    i, j = np.nonzero(-max(NOTHING, lost / LOST * 1e-6) < E)
    for some in chunks(len(i), max(1, COMPARED // max(d, 1))):
        gap = left[i[some], :d] - right[j[some], :d]
        E[i[some], j[some]] = -0.5 * np.einsum("ij,ij->i", gap, gap)


def _square_distances(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """‖zᵢ − z'ⱼ‖² from differences, in sums of short sums: nothing cancels."""
    from scipy.spatial.distance import cdist

    total = np.zeros((len(left), len(right)))
    for some in chunks(left.shape[1], SHORT):
        total += cdist(left[:, some], right[:, some], "sqeuclidean")
    return total


def _mean(X: NDArray[Any]) -> NDArray[np.float64]:
    """Column means in float64; the shift only has to be near them."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)) if X.shape[0] else np.zeros(X.shape[1])


@dataclass(frozen=True)
class RBF(DistanceKernel):
    """``k(x, y) = exp(−γ‖x − y‖²)``; γ = None is 1/d.

    Parameters
    ----------
    gamma : float, str or None
        A positive number; ``"scale"``, ``"median"``, ``"entropy"`` or ``"alignment"`` to find one from the rows, as
        ``fix`` does; ``"cv"``, which only :class:`ritz.KernelPCA` can try out; None is 1/d.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> k = kernels.RBF(gamma=0.5)
    >>> k(x).round(3)                             # near rows are alike, far ones are not
    array([[1.   , 0.607, 0.011],
           [0.607, 1.   , 0.135],
           [0.011, 0.135, 1.   ]])
    >>> round(kernels.RBF(gamma="median").fix(np.arange(9.0)[:, None]).gamma, 3)  # a number once there are rows
    0.111
    """

    gamma: float | str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive_number("gamma", self.gamma, GAMMAS, none=True))

    def scale_for(self, d: int) -> float:
        if isinstance(self.gamma, str):
            raise ParameterError("gamma must be a number before rows are compared", received=repr(self.gamma),
                                 hint="kernel = kernel.fix(X)")  # fmt: skip
        return float(np.sqrt(2.0 / max(d, 1) if self.gamma is None else 2.0 * self.gamma))

    def _apply(self, E: NDArray[Any]) -> NDArray[Any]:
        return np.exp(E, out=E)

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Kernel:
        if isinstance(self.gamma, float):
            return self
        from ritz.kernels.gamma import find_gamma

        return self.with_params(gamma=find_gamma(self, self.gamma, X, y=y, seed=seed))
