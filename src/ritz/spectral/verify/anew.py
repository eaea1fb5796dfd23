"""What the data say about an answer, computed anew: residuals, lengths, singular values and vectors.

    Z = D_w^½ (X − 1μᵀ) D_s⁻¹ / unit (``table.py``),   R = ZᵀZV − VΘ,   ‖Zvᵢ‖,   Z = UΣWᵀ by QR of stacked blocks

Nothing here comes from the certificate but V, θ and whether columns were centred and divided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.tolerance import rounding
from ritz.spectral.verify.fields import square_of_unit
from ritz.spectral.verify.table import Reread

if TYPE_CHECKING:
    from ritz.spectral.certificate.certificate import Certificate

__all__ = ["Anew", "U"]

Vector = NDArray[np.float64]

#: Unit round-off of float64, in which everything here is computed.
U = 2.0**-53

#: Smaller side up to which Z is decomposed as a whole, and entries of Z up to which that is done.
SMALL, ENTRIES = 600, 20_000_000
#: Rows that are decomposed at once.
SHORT = 64


class Anew:
    """The table of a certificate, read again; all eigenvalues in units of ``unit``²."""

    def __init__(self, certificate: Certificate, X: Any, weights: Any) -> None:
        frame = certificate.frame
        self.V = np.asarray(frame["vectors"], np.float64)
        self.unit2 = square_of_unit(frame)
        self.A = Reread(
            X, weights, center=frame["mean"] is not None, unit=frame["unit"], scale=frame["scale"],
            metric=frame.get("metric", False),
        )  # fmt: skip
        self.theta = np.asarray(certificate.values, np.float64) / self.unit2
        self.n, self.d = (int(size) for size in self.A.X.shape)
        self.rows = len(self.A.w) if self.A.outside is False else int(np.count_nonzero(self.A.w > 0))

    @cached_property
    def block(self) -> Vector:
        """``MV − VΘ``, (d, k)."""
        return np.asarray(self.A.normal(self.V) - self.V * self.theta)

    @cached_property
    def residuals(self) -> Vector:
        """‖Mvᵢ − θᵢvᵢ‖, (k,)."""
        return np.asarray(np.linalg.norm(self.block, axis=0))

    @cached_property
    def lengths(self) -> Vector:
        """‖Zvᵢ‖, (k,): Rayleigh quotients without the loss of a Gram matrix."""
        total = np.zeros(self.V.shape[1], np.longdouble)
        for B, w in self._images(self.V):
            total += np.sum(np.ascontiguousarray((np.square(B) * w[:, None]).T), axis=1)  # along memory: in pairs
        return np.sqrt(np.asarray(total, np.float64))

    @cached_property
    def top(self) -> float:
        """The largest eigenvalue of M, from below."""
        longest = float(np.max(np.square(self.lengths), initial=0.0))
        return max(longest, float(self.sigma[0]) ** 2 if self.sigma is not None and len(self.sigma) else 0.0)

    @cached_property
    def rho(self) -> float:
        """What rounding may do to eigenvalues and residuals computed here."""
        return rounding(self.d, U) * (self.top + self.A.inflation())

    @cached_property
    def sigma_error(self) -> float:
        """What rounding may do to singular values and to ‖Zv‖."""
        return 0.6 * rounding(min(self.n, self.d), U) * float(np.sqrt(self.top)) + U * float(
            np.sqrt(self.A.inflation())
        )

    # the whole decomposition of small tables

    @cached_property
    def _decomposed(self) -> tuple[Vector, Vector] | None:
        """All singular values and right vectors, where one side is small."""
        if min(self.n, self.d) > SMALL or float(self.n) * self.d > ENTRIES or min(self.n, self.d) == 0:
            return None
        if self.n < self.d:
            Z = np.vstack([self._weighted(x, w) for x, w in self.A._blocks()])
            Q, R = scipy.linalg.qr(Z.T, mode="economic", check_finite=False)
            left, sigma, _ = scipy.linalg.svd(R, check_finite=False, lapack_driver="gesvd")
            return sigma, Q @ left[:, : len(sigma)]
        R = _triangle([self._weighted(x, w) for x, w in self.A._blocks()])
        _, sigma, Wt = scipy.linalg.svd(R, check_finite=False, lapack_driver="gesvd")
        return sigma, np.asarray(Wt.T)

    @property
    def sigma(self) -> Vector | None:
        """All singular values of Z, decreasing; None for large tables."""
        return None if self._decomposed is None else self._decomposed[0]

    @property
    def vectors(self) -> Vector | None:
        """Right singular vectors of Z, (d, ·)."""
        return None if self._decomposed is None else self._decomposed[1]

    def _weighted(self, x: Any, w: Any) -> Any:
        z = self.A._rows(x.toarray() if self.A.sparse else x)
        return z * np.sqrt(w)[:, None]

    # products

    def _images(self, V: Any) -> Any:
        """Blocks of ``(X − 1μᵀ)D_s⁻¹V`` without their weights, and the weights."""
        W = V * self.A._factor[:, None]
        drop = self.A.mean @ W if self.A.center else 0.0
        for x, w in self.A._blocks():
            yield (x.astype(np.float64) @ W - drop if self.A.sparse else self.A._rows(x) @ V), w

    def forward(self, V: Any) -> Vector:
        """``Z V``, (n, l)."""
        return np.vstack([B * np.sqrt(w)[:, None] for B, w in self._images(V)])

    def adjoint(self, B: Any) -> Vector:
        """``Zᵀ B``, (d, l)."""
        total, row = np.zeros((self.d, B.shape[1])), 0
        mean = self.A.mean if self.A.center else np.zeros(self.d)
        for x, w in self.A._blocks():
            weighted = B[row : row + len(w)] * np.sqrt(w)[:, None]
            row += len(w)
            if self.A.sparse:
                total += (x.T @ weighted - np.outer(mean, weighted.sum(axis=0))) * self.A._factor[:, None]
            else:
                total += self.A._rows(x).T @ weighted
        return total


def _triangle(parts: list[Any]) -> Any:
    """R of the QR decomposition of stacked rows, halves joined with halves: long sums would round in one direction."""
    if len(parts) > 1:
        middle = len(parts) // 2
        return _triangle([np.vstack([_triangle(parts[:middle]), _triangle(parts[middle:])])])
    Z, most = parts[0], max(SHORT, 2 * parts[0].shape[1])
    if len(Z) <= most:
        return scipy.linalg.qr(Z, mode="r", check_finite=False)[0][: Z.shape[1]]
    half = len(Z) // 2
    return _triangle([np.vstack([_triangle([Z[:half]]), _triangle([Z[half:]])])])
