"""The Matérn kernel.                                                          [Rasmussen & Williams 2006, eq. 4.14]

    k(x, y) = 2^{1−ν}/Γ(ν) · r^ν K_ν(r),   r = √(2ν)‖x − y‖/ℓ
    ν = ½: e^{−r}     3/2: (1 + r)e^{−r}     5/2: (1 + r + r²/3)e^{−r}     ∞: exp(−‖x − y‖²/2ℓ²)

Below ν = 1 the kernel has a cusp at r = 0, where a squared distance that is off by u moves k by √u: pairs that are
close compared with their distance from the mean have their differences squared one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.distances import DistanceKernel
from ritz.kernels.rows import GAMMAS, positive_number, squares

__all__ = ["Matern"]

#: Pairs with r² below this many units of round-off of ‖z‖² are computed from differences.
CLOSE = 1e4

#: Units of round-off, times 1 + ν, that the general formula may be off.
BESSEL = 16.0

#: Differences that are held at a time.
PIECE = 1 << 20


@dataclass(frozen=True)
class Matern(DistanceKernel):
    """Matérn kernel of smoothness ν and length ℓ; ℓ may be found from the rows, as 1/√(2γ) of the RBF kernel's γ.

    Parameters
    ----------
    nu : float
        Smoothness; ``numpy.inf`` is the RBF kernel.
    length : float, str or None
        ℓ, or how to find it from the rows, as the γ of :class:`ritz.kernels.RBF`; None is √(d/2), which belongs to
        γ = 1/d.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import kernels
    >>> x = np.array([[0.0], [0.5]])
    >>> for nu in (0.5, 1.5, 2.5):                # smoother and smoother; as ν grows, the RBF kernel
    ...     k = kernels.Matern(nu=nu)
    ...     print(k(x[:1], x[1:]).round(3))
    [[0.607]]
    [[0.785]]
    [[0.829]]
    """

    nu: float = 1.5
    length: float | str | None = 1.0

    def __post_init__(self) -> None:
        nu = np.inf if self.nu == np.inf or self.nu in ("inf", "∞") else positive_number("nu", self.nu)
        object.__setattr__(self, "nu", float(nu))
        object.__setattr__(self, "length", positive_number("length", self.length, GAMMAS, none=True))

    def scale_for(self, d: int) -> float:
        if isinstance(self.length, str):
            raise ParameterError("length must be a number before rows are compared", received=repr(self.length),
                                 hint="kernel = kernel.fix(X)")  # fmt: skip
        length = np.sqrt(max(d, 1) / 2.0) if self.length is None else self.length
        return float(1.0 / length if np.isinf(self.nu) else np.sqrt(2.0 * self.nu) / length)

    def exponents(
        self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        E = super().exponents(A, B, rows, cols, out)
        if self.nu < 1 and E.size:
            half = A["half"][rows] if A["sparse"] else -A["Z"][rows, A["d"]]
            _repair(E, A["Z"][rows], B["Z"][cols], half, None if A["sparse"] else A["d"])
        return E

    def _apply(self, E: NDArray[Any]) -> NDArray[Any]:
        if np.isinf(self.nu):
            return np.exp(E, out=E)
        E *= -2
        r = np.sqrt(E, out=E)
        if self.nu == 0.5:
            return np.exp(np.negative(r, out=r), out=r)
        if self.nu in (1.5, 2.5):
            poly = 1 + r if self.nu == 1.5 else 1 + r * (1 + r / 3)
            np.exp(np.negative(r, out=r), out=r)
            r *= poly
            return r
        r[...] = _bessel(r.astype(np.float64), self.nu)
        return r

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        # logarithms of r^ν and Γ(ν), and K_ν itself, lose some digits
        return super().roughness(A) + (0.0 if self.nu in (0.5, 1.5, 2.5, np.inf) else BESSEL * (1.0 + self.nu))

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Kernel:
        if isinstance(self.length, float):
            return self
        from ritz.kernels.gamma import find_gamma

        gamma = find_gamma(self, self.length, X, y=y, seed=seed)
        return self.with_params(length=float(1 / np.sqrt(2 * gamma)))

    def to_dict(self) -> dict[str, Any]:
        state = super().to_dict()
        return state | {"nu": "inf"} if np.isinf(self.nu) else state  # JSON has no infinity


def _bessel(r: NDArray[np.float64], nu: float) -> NDArray[np.float64]:
    """``2^{1−ν}/Γ(ν) r^ν K_ν(r)`` in logarithms, so that neither factor over- or underflows; 1 at r = 0."""
    from scipy.special import gammaln, kve

    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scaled = kve(nu, r)
        values = np.exp((1 - nu) * np.log(2.0) - gammaln(nu) + nu * np.log(r) + np.log(scaled) - r)
        # K_ν overflows near 0, where the kernel is 1 − (r/2)²/(ν − 1) + … for ν > 1 and 1 − c r^{2ν} below
        near = np.isinf(scaled)
        values[near] = 1.0
        if nu > 1:
            values[near] -= 0.25 * r[near] ** 2 / (nu - 1)
    return np.minimum(values, 1.0)


def _repair(E: NDArray[Any], left: Any, right: Any, half: NDArray[Any], d: int | None) -> None:
    """Close pairs again, from differences (of the first d columns)."""
    limit = (-CLOSE * float(np.finfo(E.dtype).eps)) * half
    i, j = np.nonzero(limit[:, None] < E)
    step = max(1, PIECE // max(left.shape[1] if d is not None else 64, 1))
    for start in range(0, len(i), step):
        a, b = i[start : start + step], j[start : start + step]
        one, other = (left[a], right[b]) if d is None else (left[a, :d], right[b, :d])
        gap = one.astype(np.float64) - other.astype(np.float64)
        E[a, b] = -0.5 * squares(gap)
