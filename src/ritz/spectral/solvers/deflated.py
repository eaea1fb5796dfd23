"""Has an eigenvalue been missed? Fresh Gaussian columns look for it where the found vectors are taken out.

    Q (p×j) found,  H = QᵀMQ,  R = MQ − QH,  D = (I − QQᵀ) M (I − QQᵀ) ⪰ 0:     M = QHQᵀ + D + RQᵀ + QRᵀ

so every eigenvalue beyond the k-th is at most max(θ_{k+1}, μ) + ‖R‖₂ with μ = λ₁(D) (Weyl), and at most any c > μ with
λ_{k+1}(H + RᵀR/(c − μ)) ≤ c: M − c has as many positive eigenvalues as H − c + Rᵀ(c − D)⁻¹R (Haynsworth), and
(c − D)⁻¹ ⪯ 1/(c − μ). It is enough that the Ritz vectors beyond the k-th, a space of that many dimensions less, see
nothing above c. The second feels R by its square alone, so that Q may hold vectors that are far from settled.

Let ξ be the largest Ritz value of D on the block Krylov space of c Gaussian columns g, q products, and suppose
ξ < (1 − ε)μ =: a. Then xᵀ(D − a)x < 0 for x = f(D)g, f = T_{q−1} or f(t) = t·T_{q−2}, T Chebyshev's polynomial on
[0, a], and each column has

    εμ f(μ)² g₁² < a Σ f(μᵢ)² gᵢ²     ⇒     g₁² < (1 − ε)/ε · Z/T²,    𝔼Z ≤ φ = p  or  ‖D‖_F²/μ² ≤ tr D/μ

which happens with probability at most √(2/π)·√((1 − ε)φ/ε)/T, T = T((1 + ε)/(1 − ε)), by independence of g₁ and Z; for
all columns with its c-th power. The idea is that of [KW92]; with ‖D‖_F, or tr D = tr M − tr H, the dimension p need
not enter. The more vectors are taken out, the further μ lies below θ_{k+1}, and the fewer products prove that none is
missing. The search ends when the ceiling is so far below θ_k that the gap behind the k-th pair is nearly as wide as it
can be shown to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ritz._core.linalg import Array, Floats, combine, eigh, inner, norm2, norms, orth, symmetric, to_numpy
from ritz._core.random import gaussian_block
from ritz._core.threads import single_threaded_blas
from ritz.operators.base import Operator
from ritz.spectral.certificate.completeness import FAILURE
from ritz.spectral.problem import Completeness
from ritz.spectral.subspace import Subspace

__all__ = ["COLUMNS", "PRODUCTS", "SHARE", "by_search", "drawn_square", "relative_gap"]

#: Fresh columns, and products with them at most.
COLUMNS, PRODUCTS = 8, 8
#: Probability with which one statement may be wrong: one after every product, and one on ‖D‖_F.
SHARE = FAILURE / (PRODUCTS + 1)

#: Share of the gap between θ_k and θ_{k+1} by which a ceiling may stay above θ_{k+1}: what the gap bounds grows by a
#: quarter.
NEAR = 0.2

#: Halvings of the bracket in which the least ceiling is sought.
HALVINGS = 8

#: What float32 may add to the largest Ritz value of the complement, as a share of it.
HELD32 = 2e-5

#: Roundings of float32 products in a trace, and of the trace itself, as a share of it.
TRACED = 1e-5

#: Which stream of random numbers they come from.
STREAM = 1001


def by_search(
    M: Operator, Q: Array, MQ: Array, k: int, *, seed: int, slack: Callable[[], float]
) -> tuple[Completeness, bool]:
    """Ceiling from a search outside the orthonormal ``Q`` (p×j, j ≥ k), and whether a larger value than the k-th lies
    there; ``slack()`` is the rounding of the products so far.
    """
    p, largest, ceiling = M.shape[0], 0.0, math.inf
    columns = min(M.block_width(COLUMNS), p - Q.shape[1])
    if columns == 0:
        return Completeness("none", math.inf), False
    with single_threaded_blas():
        H = symmetric(inner(Q, MQ))
        R = MQ - combine(Q, H)
        theta, Y = eigh(H)
        spread, lead = norm2(R), norm2(combine(R, Y[:, :k]))  # of all of Q, and of the k leading Ritz vectors
        theta = to_numpy(theta)
        joined = _Joined(theta[k:], to_numpy(_turned(symmetric(inner(R, R)), Y[:, k:])))
        del R
        space, unit = Subspace(p, PRODUCTS * columns, M.place, narrow=True, images=False), _unit(theta)
        out = space.own(Q)
        drawn = space.own(gaussian_block(M.place, seed, STREAM, p, columns))
        block = orth(drawn, against=out)
    square = math.inf
    following, start = float(theta[k]) if k < len(theta) else 0.0, block.shape[1]
    for product in range(1, PRODUCTS + 1):
        block = block[:, : min(space.room(), block.shape[1])]
        if block.shape[1] == 0:  # the space is invariant: what it does not hold, no column has a part in
            ceiling = largest + slack()
            break
        image = M.matmat(block)
        if M.checkable:
            M.check(block, image)
        image = space.own(image / unit)
        with single_threaded_blas():
            image = image - combine(out, inner(out, image))
            if product == 1 and block.shape[1] == columns:
                size = unit * float(norm2_f(combine(image, space.own(inner(block, drawn)))))
                square = drawn_square(size + slack() * math.sqrt(float(p) * columns), columns)
            space.extend(block, image)
            block = orth(space.remainder(), against=space.V, projected=True)
        largest = unit * float(space.theta[0])
        most = largest + slack()
        sure = theta - slack()
        share = 1 - relative_gap(most, min(square, _rest(M, sure)), p, product, start, _trace(M, sure))
        ceiling = min(ceiling, most / share if share > 0 else math.inf, math.sqrt(square))  # λ₁(D) ≤ ‖D‖_F
        enough = following + NEAR * max(float(theta[k - 1]) - following, 0.0)
        if ceiling <= max(enough, 4 * slack()) or _missed(largest, theta[k - 1], lead + slack()):
            break
    words = f"fresh Gaussian columns miss a larger eigenvalue with probability below {FAILURE:.0e}"
    above = joined.ceiling(ceiling, following, max(ceiling, following) + spread)
    least = min(max(ceiling, following) + spread + slack(), above + 2 * slack())
    return Completeness("probability", least, FAILURE, words), _missed(largest, theta[k - 1], lead + slack())


@dataclass(frozen=True)
class _Joined:
    """Ritz values beyond the k-th and RᵀR of their vectors: what these say of M once λ₁(D) is bounded."""

    theta: Floats  # (j − k,)
    square: Floats  # (j − k, j − k)

    def below(self, c: float, mu: float) -> bool:
        """Whether c is a ceiling of what is beyond the k-th eigenvalue of M, given λ₁(D) ≤ μ."""
        if not mu < c < math.inf:
            return False
        S = -self.square / (c - mu)
        S[np.diag_indices_from(S)] += c - self.theta
        try:
            np.linalg.cholesky(S)
        except np.linalg.LinAlgError:
            return False
        return True

    def ceiling(self, mu: float, low: float, high: float) -> float:
        """The least such c between ``low`` and ``high``, which is one, from above."""
        if not high < math.inf:
            return high
        low = max(mu, low)
        for _ in range(HALVINGS):  # what is left of the bracket is on the safe side
            middle = (low + high) / 2
            low, high = (low, middle) if self.below(middle, mu) else (middle, high)
        return high


def _turned(S: Array, Y: Array) -> Array:
    """``YᵀSY``."""
    return symmetric(inner(Y, S @ Y))


def norm2_f(X: Array) -> float:
    """‖X‖_F."""
    return float(np.linalg.norm(to_numpy(norms(X)).astype(np.float64)))


def drawn_square(size: float, columns: int) -> float:
    """‖D‖_F² from above, from ``size`` = ‖D G‖_F with c Gaussian columns, but for a probability of SHARE.

    ‖D G‖_F² = Σ μᵢ² χ²_c is below x·c·‖D‖_F² with probability at most (x e^{1−x})^{c/2} (Chernoff, since
    Π(1 + 2tμᵢ²) ≥ 1 + 2tΣμᵢ²).
    """
    limit, x = 2 * math.log(SHARE) / columns, 0.5
    for _ in range(60):  # log x + 1 − x = limit
        x = math.exp(limit - 1 + x)
    return size * size / (x * columns)


def _unit(theta: Floats) -> float:
    """A power of two near the largest value: the space is held in float32, whose range is short."""
    top = float(np.max(np.abs(theta), initial=0.0))
    return math.ldexp(1.0, math.frexp(top)[1]) if 0 < top < math.inf else 1.0


def _missed(largest: float, least: float, spread: float) -> bool:
    """Whether a Ritz value of the complement, which is held in float32, belongs among those found."""
    return largest * (1 - HELD32) > float(least) + spread


def _rest(M: Operator, sure: Floats) -> float:
    """‖D‖_F² = ‖M‖_F² − ‖H‖_F² − 2‖R‖_F², from above; ``sure``: eigenvalues of H from below."""
    sums = M.power_sums()
    if sums is None:
        return math.inf
    return max(sums[1] - float(np.sum(np.square(np.maximum(sure, 0.0)))), 0.0)


def _trace(M: Operator, sure: Floats) -> float:
    """tr D = tr M − tr H, from above; ``sure``: eigenvalues of H from below."""
    total = M.trace() if M.positive else None
    return math.inf if total is None else max((1 + TRACED) * total - float(np.sum(sure)), 0.0)


def relative_gap(
    largest: float, square: float, p: int, products: int, columns: int, total: float = math.inf
) -> float:  # fmt: skip
    """The smallest ε with λ₁(D) ≤ largest/(1 − ε), but for a probability of SHARE; 1 if there is none.

    ``square`` ≥ ‖D‖_F², ``total`` ≥ tr D. The bound falls with ε and with λ₁(D), so an ε computed from ``largest``
    holds for λ₁(D).
    """
    limit = math.log(SHARE) / columns

    def fails(eps: float) -> bool:
        top = largest / (1 - eps)
        spreads = [(float(p), products - 1)]
        if products > 1 and top > 0:
            spreads.append((min(square / top**2, total / top), products - 2))
        growth = math.log((1 + math.sqrt(eps)) / (1 - math.sqrt(eps)))
        least = min(0.5 * math.log(max(phi, 1e-300) * (1 - eps) / eps) - _log_cosh(m * growth) for phi, m in spreads)
        return 0.5 * math.log(2 / math.pi) + least > limit

    low, high = 0.0, 1.0 - 1e-9
    if fails(high):
        return 1.0
    for _ in range(14):  # what is left of the bracket is on the safe side
        middle = (low + high) / 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def _log_cosh(x: float) -> float:
    return x + math.log1p(math.exp(-2 * x)) - math.log(2.0)
