"""Rayleigh–Ritz on a few vectors, through the root: values, residuals, and what each may be off.

    B V = Y Σ Wᵀ,  V ← V W,   θᵢ = σᵢ²       eigenvalues of 1e-12·‖M‖ keep the digits that vᵀMv would lose
    H = ẐᵀMẐ,  Ẑ the exact orthonormal basis of span Z,  Z = [Q V]:

    √λᵢ(H)  within  ((σᵢ ± ε)(1 ± δ))       ε = ‖fl(BV) − BV‖_F + ‖BQ‖_F + rounding of the small SVD,  δ ≥ ‖ZᵀZ − I‖₂
    ‖MẐ − ẐH‖₂  ≤  (‖[MQ, MV − VΘ]‖_F + rounding)(1 + δ)

Q (p×m) are null vectors that are known. How far they are from null is measured, and part of ε and of the residual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.linalg import norms, orth
from ritz._core.tolerance import defect_rounding, rounding
from ritz.spectral.solvers.smallest.entries import Entries, U

__all__ = ["Null", "Ritz", "known_null", "off", "ritz", "turned"]

Vector = NDArray[np.float64]

#: ‖Mq‖/‖M‖ up to which a vector that is said to be null is one: rounding of weights leaves 1e-15.
NULL = 1e-8


@dataclass(frozen=True)
class Null:
    """Known null vectors, orthonormal, and how far from null they are at most."""

    Q: Vector  # (p, m)
    image: float  # ‖BQ‖_F, or √‖QᵀMQ‖ where no root is known
    product: float  # ‖MQ‖_F

    @property
    def m(self) -> int:
        """How many."""
        return int(self.Q.shape[1])


@dataclass(frozen=True)
class Ritz:
    """Pairs in units of the square of ``entries.unit``, smallest first."""

    theta: Vector  # (K,)
    V: Vector  # (p, K)
    block: Vector  # (p, K) MV − VΘ
    error: float  # ε of σ, or of θ where no root is known
    by_root: bool
    defect: float  # δ
    rounding: float  # what rounding may add to the residual of a pair
    residual: float  # ‖MẐ − ẐH‖₂, null vectors and rounding included

    @property
    def own(self) -> Vector:
        """Residuals of every pair, rounding not included."""
        return np.asarray(norms(self.block))

    def bounds(self) -> tuple[Vector, Vector]:
        """Eigenvalues of H from below and from above, (K,) each."""
        grow = 1 + 2 * self.defect
        if not self.by_root:
            low, high = self.theta - self.error, self.theta + self.error
            return np.minimum(low * grow, low / grow), np.maximum(high * grow, high / grow)
        sigma = np.sqrt(np.maximum(self.theta, 0.0))
        low = np.maximum(sigma * (1 - 4 * U) - self.error, 0.0) / grow
        high = (sigma * (1 + 4 * U) + self.error) * grow
        return low * low, high * high * (1 + 4 * U)


def off(V: Vector, Q: Vector) -> Vector:
    """V without its part along Q, taken off twice."""
    if Q.shape[1] == 0:
        return V
    V = V - Q @ (Q.T @ V)
    return np.asarray(V - Q @ (Q.T @ V))


def known_null(entries: Entries, null: object) -> Null:
    """Orthonormal null vectors from those given, (p,) or (p, m); refused where M does not map them to zero."""
    p = entries.p
    Q = np.zeros((p, 0)) if null is None else np.asarray(null, np.float64)
    Q = Q[:, None] if Q.ndim == 1 else Q
    if Q.ndim != 2 or Q.shape[0] != p or not bool(np.all(np.isfinite(Q))):
        raise InputError(f"null vectors have {p} finite entries each", received=f"shape {Q.shape}")
    many = Q.shape[1]
    if many:
        Q = np.asarray(orth(Q))
        if Q.shape[1] < many:
            raise InputError(
                "null vectors are linearly independent", received=f"{many} of rank {Q.shape[1]}",
                hint="leave out those that repeat others",
            )  # fmt: skip
    Y = entries.image(Q)
    MQ = entries.back(Y)
    image = float(np.linalg.norm(Y)) + (entries.image_error or 0.0) * np.sqrt(many)
    added = entries.product_error(image) * np.sqrt(many)
    product = float(np.linalg.norm(MQ)) + added
    if not product <= NULL * entries.norm + 4 * added:
        raise InputError(
            "null vectors are mapped to zero", received=f"one of length 1 mapped to one of about {product:.3g}, "
            f"the norm of the operator being at most {entries.norm:.3g}",
            hint="pass null=None, or the vectors that the operator maps to zero",
        )  # fmt: skip
    return Null(Q, image if entries.root is not None else float(np.sqrt(product)), product)


def ritz(entries: Entries, null: Null, V: Vector) -> Ritz:
    """Rayleigh–Ritz on the span of V, whose columns are orthonormal and at right angles to the null vectors."""
    V = turned(entries, V)
    K, m, p = V.shape[1], null.m, entries.p
    Y = entries.image(V)
    MV = entries.back(Y)
    if entries.root is not None:
        theta, error = _squares(Y, entries, null)
    else:
        H = V.T @ Y
        theta = np.asarray(scipy.linalg.eigvalsh((H + H.T) / 2, check_finite=False))
        size = float(np.max(np.abs(theta), initial=0.0)) + float(np.max(norms(Y), initial=0.0))
        error = entries.product_error(0.0) * np.sqrt(K) + 2 * null.product + rounding(p, U) * size
    block = MV - V * theta
    Z = np.hstack([null.Q, V])
    defect = float(np.linalg.norm(Z.T @ Z - np.eye(m + K))) + defect_rounding(p) * (m + K)
    lost = entries.product_error(float(np.max(norms(Y), initial=0.0))) * (1 + defect)
    added = lost + 4 * U * (float(np.max(np.abs(theta), initial=0.0)) + lost)
    residual = (np.hypot(float(np.linalg.norm(block)) + np.sqrt(K) * added, null.product)) * (1 + 2 * defect)
    return Ritz(theta, V, block, error, entries.root is not None, defect, added, float(residual))


def turned(entries: Entries, V: Vector) -> Vector:
    """V in the directions of its Ritz vectors, smallest first."""
    Y = entries.image(V)
    if entries.root is None:
        H = V.T @ Y
        return np.asarray(V @ scipy.linalg.eigh((H + H.T) / 2, check_finite=False)[1])
    return np.asarray(V @ np.linalg.svd(np.linalg.qr(Y, mode="r"))[2][::-1].T)


def _squares(Y: Vector, entries: Entries, null: Null) -> tuple[Vector, float]:
    """θ = σ² of the columns of BV, increasing, and ε."""
    K = Y.shape[1]
    sigma = np.linalg.svd(np.linalg.qr(Y, mode="r"), compute_uv=False)
    sigma = np.append(sigma, np.zeros(K - len(sigma)))[::-1]  # fewer rows than columns: the rest is zero
    top = float(sigma[-1]) if K else 0.0
    error = (entries.image_error or 0.0) * np.sqrt(K) + null.image + rounding(len(Y), U) * top
    return np.square(sigma), float(error)
