"""From the eigenvectors of AAᵀ to those of AᵀA: one more product, and vectors of unit length.

    v = Aᵀu/σ          U (n×k), V (d×k),   n < d

‖AᵀAv − θv‖ ≤ ‖A‖‖AAᵀu − θu‖/σ; where σ is so small that Aᵀu is pure rounding, any direction that is orthogonal to the
others will do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.factors import inverse_triangle
from ritz._core.frozen import changed
from ritz._core.linalg import combine, inner, norms, qr, signs, symmetric, to_numpy
from ritz.operators.base import Operator
from ritz.spectral.problem import Pairs

__all__ = ["turn"]

#: Entries of a block from which copies of it are worth saving.
LARGE_FACTOR = 1 << 20
#: Multiplications above which turned vectors that are nearly orthogonal are made so by Cholesky (168,415×100: 0.2 s
#: instead of 2.0; 40,000×10: 1 ms instead of 8; 5,000×5 0.08 instead of 0.54; 1,000×3 0.05 instead of 0.02), and
#: ‖WᵀW − I‖ up to which they are.
LONG_TURN, NEARLY = 3e4, 0.1
#: σ₁/σ_k up to which vectors turned with their own eigenvectors are orthonormal to rounding: |WᵀW − M| ≈ u·σ₁².
STEEP = 16.0
#: Lengths below which squares leave the range of float64.
TINY = 1e-140


def turn(A: Operator, pairs: Pairs) -> Pairs:
    """From eigenvectors u of AAᵀ to right vectors v = Aᵀu/σ, orthonormalised; one more product.

    ‖AᵀAv − θv‖ = ‖Aᵀ(AAᵀu − θu)‖/σ ≤ (σ₁/σ)‖r_u‖: the residuals grow by at most that.
    """
    null = 0.0 if A.shape[1] > pairs.k else -np.inf
    if pairs.across:  # a decomposition has found both sides, and measured this one
        return changed(pairs, null=null, value_block=pairs.residual_block)
    if pairs.k == 0:
        return replace(pairs, vectors=np.zeros((A.shape[1], 0)), residual_block=np.zeros((A.shape[1], 0)))
    theta = np.maximum(pairs.leading(), 0.0)
    W, Y = (A.across(pairs.vectors), None) if pairs.half is None else pairs.half
    Q, R, dead = _orthonormal(to_numpy(W).astype(np.float64, copy=False), Y, np.sqrt(theta), pairs)
    flip = np.where(R.diagonal() < 0, -1.0, 1.0)
    radii = norms(block := to_numpy(pairs.residual_block))
    lengths = np.where(radii > 0, radii, 1.0)  # a residual of nothing has no direction
    if float(theta[0]) > 0:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            grown = np.minimum(_grown(A, block, theta, pairs), float(theta[0]))
        radii = _turned_radii(grown, theta, R * flip[:, None])
        if dead is not None:
            radii = np.where(dead, min(_left_out(A, pairs, theta, radii, dead), float(theta[0])), radii)
    vectors = Q * flip if -1.0 in flip.tolist() else Q
    np.multiply(vectors, signs(vectors), out=vectors)  # which nobody else holds: later there is nothing to turn round
    turned = block / lengths * radii  # in this order: no quotient of a large number and a small one
    return changed(pairs, vectors=vectors, null=null, value_block=block, residual_block=turned, half=None)


def _orthonormal(W: Any, Y: Any, sigma: Any, pairs: Pairs) -> tuple[Any, Any, Any]:
    """Q and R of W Y D⁻¹ = QR, D the lengths of the columns, and which columns are pure rounding, or None.

    Those (σ ≈ 0) give no direction: any orthonormal completion will do.
    """
    if Y is not None and 0 < sigma[0] <= STEEP * sigma[-1] and sigma[-1] > TINY and _long(W):
        # W Y has come with M = WᵀW in its basis, YᵀMY = D²: where the lengths D are alike, that is as good
        return _scaled(W, Y / sigma), np.eye(len(sigma)), None
    W = W if Y is None else combine(W, Y)  # from WᵀW short columns would have but the digits of long ones
    lengths = norms(W)
    dead = (lengths <= _dead(W, sigma, pairs)) | (sigma == 0) if float(sigma[0]) > 0 else np.ones(len(sigma), bool)
    if not np.count_nonzero(dead):
        return *_made_orthonormal(W, lengths), None
    live = np.flatnonzero(~dead)
    Q, R = np.empty_like(W, order="F"), np.eye(len(sigma))
    if len(live):
        Q[:, live], R[np.ix_(live, live)] = _made_orthonormal(W[:, live], lengths[live])
    Q[:, dead] = _completed(Q[:, live], int(np.count_nonzero(dead)))
    return Q, R, dead


def _made_orthonormal(W: Any, lengths: Any) -> tuple[Any, Any]:
    """Q and R of W D⁻¹; by Cholesky of WᵀW where columns are nearly orthogonal.

    |QᵀQ − I| is then of the order of u·cond(W D⁻¹)² ≤ u·(1 + NEARLY)/(1 − NEARLY), as good as Householder's, in a tenth
    of its time.
    """
    if _long(W) and float(np.min(lengths)) > TINY:
        G = symmetric(inner(W, W))
        if bool(np.isfinite(G).all()):
            G = G / lengths / lengths[:, None]
            if float(np.linalg.norm(G - np.eye(len(G)))) <= NEARLY:
                R = np.linalg.cholesky(G).T
                C = inverse_triangle(R)
                if C is not None:
                    return _scaled(W, C / lengths[:, None]), R
    return _factored(W / lengths) if W.shape[1] > 1 else (W / lengths, np.ones((1, 1)))


def _long(W: Any) -> bool:
    return bool(float(W.shape[0]) * W.shape[1] ** 2 > LONG_TURN)


def _completed(Q: Any, many: int) -> Any:
    """As many orthonormal columns, orthogonal to those of Q."""
    fresh = np.random.default_rng(0).standard_normal((Q.shape[0], many))
    for _ in range(2):
        fresh -= Q @ (Q.T @ fresh)
    return qr(fresh)[0]


def _left_out(A: Operator, pairs: Pairs, theta: Any, radii: Any, dead: Any) -> float:
    """‖Mv − θv‖ from above, M = AᵀA, for unit vectors v that are orthogonal to those with a value, V: by MV = VΘ + R

    ‖VᵀMv‖ ≤ ‖R‖_F,   and M has a trace of at most Σ(λᵢ − θᵢ + ‖rᵢ‖) over V and of the other eigenvalues outside of V,
    θ among them: ‖PMP − θ‖ is no larger, P the projector off V. Residuals are those of products that were rounded.
    """
    if pairs.error is None or len(pairs.values) < min(A.shape):
        return np.inf
    live, beyond = radii[~dead] + pairs.rounding, np.asarray(pairs.values, np.float64)[len(theta) :]
    others = float(np.sum(theta[dead])) + float(np.sum(np.maximum(beyond, 0.0)))
    outside = float(np.sum(live)) + len(pairs.values) * pairs.error + others
    return float(np.hypot(np.linalg.norm(live), outside))


def _scaled(W: Any, C: Any) -> Any:
    """``W C``, a component contiguous, as models hold them."""
    return np.matmul(W, C, out=np.empty((C.shape[1], W.shape[0])).T)


def _factored(W: Any) -> tuple[Any, Any]:
    """Thin QR; of a large W without the four copies that NumPy makes on the way."""
    if W.size < LARGE_FACTOR:
        return qr(W)
    import scipy.linalg

    factors = scipy.linalg.qr(np.asfortranarray(W), mode="economic", overwrite_a=True, check_finite=False)
    return factors[0], factors[1]


def _grown(A: Operator, block: Any, theta: Any, pairs: Pairs) -> Any:
    """‖Aᵀr_u‖/σ from above: √λ₁‖r_u‖/σ with what bounds λ₁, and by one more product where nothing does.

    A Ritz value and its residual bound no λ₁: where the largest eigenvalue was missed, there is another one near them.
    """
    top, ceiling = float(theta[0]), pairs.completeness.ceiling
    most = ceiling if ceiling < np.inf else A.frobenius2()
    sigma = np.sqrt(np.maximum(theta, pairs.roundoff**2 * top))
    if most is None:
        return norms(to_numpy(A.rmatmat(pairs.residual_block)).astype(np.float64)) / sigma
    residuals = norms(block)
    return residuals * np.sqrt(max(top + float(np.max(residuals)), most)) / sigma


def _turned_radii(grown: Any, theta: Any, R: Any) -> Any:
    """Residual bounds of V = W R⁻¹, W = AᵀUΣ⁻¹:  (MW − WΘ)R⁻¹ + W(ΘR⁻¹ − R⁻¹Θ)."""
    top = float(theta[0])
    K = inverse_triangle(R)
    if K is None:
        return np.full(len(theta), top)
    mixed = np.linalg.norm((theta[:, None] - theta[None, :]) * K, axis=0)
    return np.minimum((grown @ np.abs(K)) + mixed * (1 + 1e-6), top)


def _dead(W: Any, sigma: Any, pairs: Pairs) -> float:
    """Length of AᵀU up to which a column is pure rounding."""
    return float(4 * pairs.roundoff * np.sqrt(W.shape[0]) * sigma[0])
