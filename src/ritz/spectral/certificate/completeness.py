"""Completeness: has an eigenvalue been missed?

trace        Σ of eigenvalues outside the subspace = T − Σθ, and the largest of them is no larger; with the Ritz
             values inside, every eigenvalue not returned is ≤ θ_{k+1} + (T − Σθ). Deterministic.
settled      The same outside of j ≥ k Ritz vectors that have settled, with residuals R together: no eigenvalue of what
             is left exceeds θ_{j+1} + (T − Σθ), so that λ_{k+1} ≤ max(θ_{k+1}, θ_{j+1} + T − Σθ) + ‖R‖. Deterministic.
moments      with ‖M‖_F² = Σλ² known as well. Let x be an eigenvalue beside those of the k pairs: in order, the
             eigenvalues are at least θ₁ … θ_k and x put in order, then θ_{k+2}, θ_{k+3} … (Cauchy). The smallest sum
             of squares of p such numbers with sum T has all others at one level; the largest x for which it fits into
             ‖M‖_F² is a ceiling. Where nothing but a flat tail is left it is that of Laguerre and Samuelson.
             Deterministic.
squares      ‖M‖_F² = Σλ² alone, where eigenvalues may be negative. Let x be the largest eigenvalue beside those of the
             k pairs. Off these, M has eigenvalues x and, by Cauchy, others no nearer to zero than θ_{k+2}, θ_{k+3} …,
             each on its own side of zero: x² ≤ ‖M‖_F² − Σθ² over all Ritz values but θ_{k+1}. Deterministic.
probability  a block Krylov space of q steps from l Gaussian columns contains, for any j < l eigenvectors that
             are set aside, a Krylov space of l − j Gaussian columns in their complement. If the j leading Ritz
             pairs are eigenpairs up to residual ‖R‖, an eigenvalue they missed exceeds (θ_{j+1} + ‖R‖)/(1 − ε)
             with probability at most  j·p·(1.648 √p e^{−√ε(2q−1)})^{l−j}                                 [KW92]
             Every eigenvalue not among the k ≤ j returned is then below the larger of that and θ_{k+1} + ‖R‖.
             Where eigenvalues may be negative, ε is a share of their spread s, which both ends of the chain bound:
             θ_{j+1} + ‖R‖ + ε·s.
"""

from __future__ import annotations

import math

import numpy as np

from ritz._core.linalg import Floats
from ritz.spectral.problem import Completeness

__all__ = [
    "CHAINED",
    "FAILURE",
    "by_moments",
    "by_settled",
    "by_squares",
    "by_start",
    "by_trace",
    "could_prove",
    "strongest",
]

#: Largest probability of failure with which a statement is made at all.
FAILURE = 1e-9

#: Roundings of a trace and of the sum of Ritz values, in units of u·tr M.
SUMMED = 16.0
#: Roundings of a Ritz value that each of a chain's may add to their sum: of its product, and of a basis that is
#: orthonormal but for the rounding of its precision.
CHAINED = 4.0


def by_trace(theta: Floats, k: int, total: float | None, slack: float) -> Completeness:
    """Ceiling from the exact trace: ``theta`` are all Ritz values of the subspace, ``slack`` their rounding."""
    if total is None:
        return Completeness("none", math.inf)
    rest = max(0.0, total - float(np.sum(theta))) + slack + SUMMED * 2.0**-53 * abs(total)
    following = float(theta[k]) if k < len(theta) else 0.0
    return Completeness("trace", following + rest, 0.0, "the trace leaves no room for a larger eigenvalue")


def by_settled(theta: Floats, sizes: Floats, k: int, total: float | None, slack: float) -> Completeness:
    """Ceiling from the exact trace outside of j ≥ k Ritz vectors of a chain; ``sizes`` are the residuals of all of its
    Ritz values, ``slack`` the rounding of each.

    M is Θⱼ and C ⪰ 0 but for the residuals R of the j vectors, and C is the other Ritz values and D but for what
    couples them: λ₁(C) ≤ θⱼ₊₁ + tr D, tr D = tr M − Σθ, and λₖ₊₁ ≤ max(θₖ₊₁, λ₁(C)) + ‖R‖. The more vectors are
    taken out, the lower is the next, and the larger ‖R‖.
    """
    m = len(theta)
    if total is None or m <= k:
        return Completeness("none", math.inf)
    doubt = CHAINED * m * slack
    rest = max(0.0, total - float(np.sum(theta))) + doubt + SUMMED * 2.0**-53 * abs(total)
    left = np.sqrt(np.cumsum(np.square(sizes) + slack * slack))[k - 1 : m - 1]  # of j = k, …, m − 1 vectors
    ceiling = float(np.min(np.maximum(theta[k], theta[k:] + rest) + left)) + slack
    return Completeness("trace", ceiling, 0.0, "the trace leaves no room for a larger eigenvalue")


def by_moments(theta: Floats, k: int, *, p: int, total: float, square: float, slack: float) -> Completeness:
    """Ceiling from tr M ≥ ``total`` and ‖M‖_F² ≤ ``square``; the k pairs lie within ``slack`` of eigenvalues."""
    least = np.maximum(theta - slack, 0.0)
    others = np.concatenate([least[:k], least[k + 1 :]])
    following = float(theta[k]) if k < len(theta) else 0.0
    low, high = following, math.sqrt(max(square, following**2))
    for _ in range(40):
        middle = (low + high) / 2
        place = len(others) - int(np.searchsorted(others[::-1], middle))
        within = _smallest_square(np.insert(others, place, middle), p, total) <= square
        low, high = (middle, high) if within else (low, middle)
    return Completeness("trace", high + slack, 0.0, "trace and Frobenius norm leave no room for a larger eigenvalue")


def _smallest_square(least: Floats, p: int, total: float) -> float:
    """The smallest Σλ² of p numbers with λᵢ ≥ leastᵢ (decreasing; ≥ 0 beyond those given) and Σλ ≥ total."""
    rising = least[::-1]
    free = p - len(rising)
    room = total - float(rising.sum())
    if room <= 0:
        return float(np.square(rising).sum())
    # level of all numbers that their bounds do not hold higher: the first that lies below the next bound
    count = free + np.arange(len(rising) + 1)
    sums = room + np.concatenate([[0.0], np.cumsum(rising)])
    levels = np.divide(sums, count, out=np.full(len(sums), np.inf), where=count > 0)
    active = int(np.argmax(levels <= np.append(rising, np.inf)))
    return float(count[active] * levels[active] ** 2 + np.square(rising[active:]).sum())


def by_squares(theta: Floats, k: int, square: float | None, slack: float) -> Completeness:
    """Ceiling from ‖M‖_F² ≤ ``square`` of a symmetric M of any sign; ``slack`` bounds the rounding of Ritz values."""
    if square is None:
        return Completeness("none", math.inf)
    sure = np.maximum(np.abs(theta) - slack, 0.0)
    following = max(float(theta[k]), 0.0) if k < len(theta) else 0.0
    rest = square - float(np.sum(np.square(sure))) + (float(sure[k]) ** 2 if k < len(theta) else 0.0)
    ceiling = max(math.sqrt(max(rest, 0.0) + SUMMED * 2.0**-53 * square), following) + slack
    return Completeness("trace", ceiling, 0.0, "the Frobenius norm leaves no room for a larger eigenvalue")


def by_start(
    theta: Floats, residuals: Floats, k: int, *, p: int, width: int, steps: int, positive: bool = True
) -> Completeness:
    """Ceiling from the Gaussian start: the best over how many leading pairs are set aside.

    ``residuals`` belong to the leading Ritz pairs, at least k of them; ``width`` columns ran ``steps`` products.
    ``positive``: no eigenvalue is negative; otherwise ``theta`` holds all Ritz values of one chain, both ends.
    """
    best = Completeness("none", math.inf)
    if steps < 2:
        return best
    spread = None if positive else _spread(theta, p, width, steps)
    parts = 1 if positive else 2
    for j in range(k, min(width, len(residuals), len(theta) - 1)):
        spare = width - j
        # p_fail = j·p·(1.648√p e^{−√ε(2q−1)})^spare ≤ FAILURE, solved for ε
        need = _needed(parts * max(1, j), spare, p, steps)
        if need >= 1:
            continue
        worst = float(np.sqrt(np.sum(np.square(residuals[:j]))))
        above = float(theta[j]) + worst
        ceiling = above / (1 - need**2) if spread is None else above + need**2 * spread
        if j > k:
            ceiling = max(ceiling, float(theta[k]) + worst)
        if ceiling < best.ceiling:
            words = f"a Gaussian start misses a larger eigenvalue with probability below {FAILURE:.0e}"
            best = Completeness("probability", ceiling, FAILURE, words)
    return best


def could_prove(theta: Floats, k: int, *, p: int, width: int, steps: float) -> bool:
    """Whether a Gaussian start of that many columns and products could put a ceiling below the k-th Ritz value.

    Ritz values on the way are below eigenvalues, and the lower ones by more: they promise rather too much.
    """
    least = float(theta[k - 1])
    for j in range(k, min(width, len(theta))):
        need = _needed(max(1, j), width - j, p, steps)
        if need < 1 and float(theta[j]) < least * (1 - need**2):
            return True
    return False


def _needed(parts: int, columns: int, p: int, steps: float) -> float:
    """√ε with parts·p·(1.648√p e^{−√ε(2q−1)})^columns = FAILURE."""
    return (math.log(parts * p / FAILURE) / columns + math.log(1.648 * math.sqrt(p))) / (2 * steps - 1)


def _spread(theta: Floats, p: int, width: int, steps: int) -> float:
    """λ₁ − λ_p from above: the chain sees either end to within ε of it, so (θ₁ − θ_m)/(1 − 2ε)."""
    eps = _needed(4, width, p, steps) ** 2
    return (float(theta[0]) - float(theta[-1])) / (1 - 2 * eps) if eps < 0.5 else math.inf


def strongest(*options: Completeness) -> Completeness:
    """The statement with the lowest ceiling."""
    return min(options, key=lambda option: (option.ceiling, option.failure))
