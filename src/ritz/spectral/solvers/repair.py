"""Repair of singular values that a Gram matrix has lost, by reading the rows again.

With orthonormal W (d×p):  B = A W (one pass, never stored),  G = BᵀB,  ν = √diag G,  Ĝ = ν⁻¹Gν⁻¹ = EΩEᵀ,
R = Ω^½ Eᵀ diag(ν)  (RᵀR = G),  R = ŨΣVᵀ,  W ← W V.

Each entry of G is accurate relative to its own two columns, so scaling makes Ĝ as well conditioned as B's columns are
orthogonal: the first pass resolves σ/σ₁ down to u^½ beyond where W started, the second to u. Done when Ĝ is near I:
then R has the singular values of A W to a few u of each, and LAPACK finds them to a few u of the largest, so that

    |σ̂ᵢ − σᵢ| ≤ s = c·u·σ₁        for every i when W is square.

Which directions W are read:

head    few are wanted: those and a margin. Ritz values bound from below (Cauchy), the Gram matrix from above (Weyl).
tail    all are wanted, and few are small: V = (V_g V_b) with σ_g ≥ τ, W = V_b. The Gram matrix is AᵀA + E, ‖E‖ ≤ e, so
        that ‖V_gᵀAᵀA V_b‖ ≤ e. By QR of (A V_g, A V_b) = Q (R_g X; 0 R_b), ‖X‖ ≤ ε = e/τ, and

            (R_g X; 0 R_b) = (R_g 0; 0 R_b)(I R_g⁻¹X; 0 I),    R_bᵀR_b = BᵀB − XᵀX:

        singular values are those of A V_g and of R_b but for a share of η = e/τ² (Ostrowski), and σ(R_b)² those of B
        but for ε²: |σ̂ᵢ − σᵢ| ≤ s + ε + η·τ for the small ones, and e/2τ for the others (Weyl). Squares are off by
        ‖E‖ and by what is off in VᵀAᵀA V_b, e + 2sτ at most.
dense   all are wanted, and the rows lie in memory and are not many more than columns: LAPACK decomposes them, at once
        where pivots of a Cholesky factor tell the loss before eigenvalues are found.
whole   all of V; first those that the Gram matrix did not see at all, so that one more pass is enough.

Where the rank r is known (n − 1 of n centred rows, or the columns that are not zero), the other vectors V₀ are not
read: sin∠(V₀, null A) ≤ δ = (e + θ_{r+1})/(θ_r − e) [DK70], so that singular values of A (V_g V_b) are those of A but
for a share of δ²/2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ritz._core.factors import svd
from ritz._core.linalg import Array, eigh, leading, namespace, place_of, positive, qr, to_numpy, trace
from ritz._core.pages import give_back_heaps
from ritz._core.tolerance import NOISE_FLOOR, REPAIR_PASSES, rounding
from ritz.data.passes.rounding import largest
from ritz.operators.base import Operator
from ritz.spectral.constants import (
    BLIND,
    DENSE_BRIEF,
    DENSE_TALL,
    PIVOT,
    PIVOTED_SHARE,
    PIVOTED_TALL,
    SMALL_SHARE,
    SMALL_VALUE,
)
from ritz.spectral.problem import Pairs, SpectralProblem, counted
from ritz.spectral.solvers.dense import Vector, dense_svd
from ritz.spectral.solvers.moments import gram_error, iterated, known_rank, lost, margin

__all__ = ["foreseen", "repair", "scaled_gram_step"]

#: Ĝ is near the identity when its eigenvalues are no further than this from 1: √Ĝ is then as good as Ĝ.
NEAR = 0.1
#: Length of a column, in units of the longest, whose products with others like it float64 does not hold.
UNDERFLOW = 2.0**-500
#: Columns from which what lanes leave behind is given back: matrices of fewer are small beside all else that is held.
LEFT_BEHIND = 400
#: δ up to which vectors beyond a known rank are not read: δ²/2 is a round-off then.
SURE = 1e-8


@dataclass(frozen=True)
class _Lost:
    """What a Gram matrix has told, and by how much it may be off."""

    problem: SpectralProblem
    A: Operator
    G: Array
    k: int
    live: int  # how many of the k are not known to be zero
    error: float  # of eigenvalues
    u: float
    path: str

    def sigma_error(self, top: float) -> float:
        """s, of singular values that were read again."""
        A, d = self.A, self.G.shape[0]
        taken = A.inflation() ** 2 if A.symmetric else A.inflation()
        scales = A.scale_error() * (2 if A.symmetric else 1)
        # a mean that is taken off sparse products is rounded like these, in the same direction for rows that are alike
        own = 0.5 * rounding(d, self.u) * (top + float(np.sqrt(taken))) + scales * top
        return own + (A.perturbation() or 0.0)


def repair(
    problem: SpectralProblem, A: Operator, G: Array, theta: Array, V: Array, k: int, live: int, error: float, u: float,
    path: str,
) -> Pairs | None:  # fmt: skip
    """Leading pairs of AᵀA to the accuracy of a dense SVD, by reading the data again.

    ``live``: how many of the k are not known to be zero. None where many directions of a float32 Gram matrix would have
    to be read: forming it in float64 costs less.
    """
    what = _Lost(problem, A, G, k, live, error, u, path)
    few = _head(what, theta, V)
    if few is not None:
        return few
    if u > 2.0**-53:
        return None
    if V.shape[1] < G.shape[0]:
        theta, V = eigh(G)
        theta = positive(theta)
    if G.shape[0] >= LEFT_BEHIND:
        give_back_heaps()
    split, read = _split(what, theta, V), _rank(what, to_numpy(theta))
    if split is not None:
        return _tail(what, theta, V, split, read)
    n, d = A.shape
    if isinstance(G, np.ndarray) and A.at_hand() and d <= n and (n <= DENSE_TALL * d or n * d <= DENSE_BRIEF):
        return _decomposed(what, dense_svd(problem, A, 1 << 62, G))
    return _whole(what, theta, V, read)


def foreseen(problem: SpectralProblem, A: Operator, G: Array, u: float, path: str) -> Pairs | None:
    """All pairs by a dense decomposition, where a Cholesky factor tells that the Gram matrix has lost many of them.

    G = RᵀR:  σ_min ≤ min rᵢᵢ, so that a small pivot tells of a loss before any eigenvalue is found; the answer is good
    where there was none, too. Where few pivots are small, few values are read again: None, as where nothing is lost.
    """
    from scipy.linalg.lapack import dpotrf

    n, d = A.shape
    if not d <= n <= PIVOTED_TALL * d or not A.at_hand():
        return None
    R, stopped = dpotrf(G)
    rank = min(problem.rank, d)
    pivots = R.diagonal()[: min(stopped - 1 if stopped else d, rank)]
    top = largest(G) ** 0.5
    small = rank - int(np.count_nonzero(pivots >= SMALL_VALUE * top))
    if small <= PIVOTED_SHARE * rank or (len(pivots) == rank and not float(pivots.min()) < PIVOT * top):
        return None
    del R, pivots
    if d >= LEFT_BEHIND:
        give_back_heaps()
    pairs = dense_svd(problem, A, 1 << 62, G)
    error = gram_error(problem, A, d, float(pairs.values[0]), u)
    return _decomposed(_Lost(problem, A, G, problem.k, problem.k, error, u, path), pairs)


# a few of the largest


def _head(what: _Lost, theta: Array, V: Array) -> Pairs | None:
    """Few are wanted, and a margin beyond them is enough: Rayleigh–Ritz on the leading ``width`` eigenvectors errs by
    error²/gap, the gap reaching across the margin."""
    G, k, error, u = what.G, what.k, what.error, what.u
    d, width = G.shape[0], margin(k)
    if k == 0 or width + 1 >= d / 2:
        return None
    if V.shape[1] <= width and theta.shape[0] == d:  # all eigenvalues are known, and stay so
        theta, V = eigh(G)
        theta = positive(theta)
    elif theta.shape[0] <= width:
        found = iterated(G, width, V, False)
        if found is None or len(found.values) <= width:  # one that follows in a crowd is not among those found
            theta, V = eigh(G, width + 1)
        else:
            theta, V = found.values, found.vectors
        theta = positive(theta)
    gap = float(theta[k - 1]) - float(theta[width])
    if not gap > 0 or error * error / gap > 30 * u * (float(theta[0]) * float(theta[k - 1])) ** 0.5:
        return None
    top = float(theta[0]) ** 0.5
    squares, W, turns = _read(what, leading(V, width), top)
    values, squared, off = to_numpy(theta), to_numpy(squares), what.sigma_error(top)
    k = what.problem.pick(values, trace(G)) if what.problem.rule is not None else k
    following = np.concatenate([squared[:k], values[k:]])
    foot = np.maximum(squared[:k] - 2 * np.sqrt(squared[:k]) * off, values[:k] - error)
    Vk = leading(W, k)
    return Pairs(
        following, Vk, G @ Vk - Vk * squares[:k], error, counted(following, k, error), True, u,
        _words(what.path, turns), 1 + turns, error, upper=np.maximum(values[:k] + error, squared[:k]),
        lower=np.minimum(foot, squared[:k]), positive=True,
    )  # fmt: skip


# all of them


def _split(what: _Lost, theta: Array, V: Array) -> int | None:
    """How many values are so large that the Gram matrix is trusted with them; None where the small ones are many."""
    values = to_numpy(theta)
    split = int(np.count_nonzero(values >= SMALL_VALUE**2 * values[0]))
    if len(values) - split > SMALL_SHARE * len(values):
        return None
    return None if lost(what.problem, what.A, values, V, split, what.error, what.u) else split


def _rank(what: _Lost, values: Vector) -> int:
    """How many vectors are read: the others span the null space, where the rank is known and δ is small."""
    d, r = len(values), what.live
    if r == what.k or float(values[r]) + what.error > SURE * (float(values[r - 1]) - what.error):
        return d
    return r


def _tail(what: _Lost, theta: Array, V: Array, split: int, read: int) -> Pairs:
    """Only the small ones are read again."""
    values, error = to_numpy(theta), what.error
    top, least = float(values[0]) ** 0.5, float(values[split - 1]) ** 0.5
    squares, W, turns = _read(what, V[:, split:read], top)
    small = np.minimum(to_numpy(squares), values[split - 1])  # beyond it by rounding only
    found = np.concatenate([values[:split], small, np.zeros(len(values) - read)])
    own = what.sigma_error(top)
    off = own + 2 * error / least  # s + ε + η·τ, which is more than e/2τ
    error += own * (2 * float(small[0]) ** 0.5 + own)
    what = replace(what, error=error)
    W = namespace(V).concat([V[:, :split], W, V[:, read:]], axis=1)
    return _answer(what, found, W, error, off, f"{_words(what.path, turns)} of the smallest", turns)


def _decomposed(what: _Lost, pairs: Pairs) -> Pairs:
    """What LAPACK has found in the rows, zeros beyond their rank."""
    values, V = np.array(pairs.values, np.float64), pairs.vectors
    live = known_rank(what.problem, what.G, values, what.k, what.error)
    values[live if live < what.k else len(values) :] = 0.0
    error = max(pairs.rounding, what.error)  # residuals are those of the Gram matrix
    return replace(
        pairs, values=values, residual_block=pairs.residual_block + V * (pairs.values - values)[: pairs.k],
        rounding=error, error=error, completeness=counted(values, pairs.k, pairs.rounding),
        precision=f"{what.path}, repaired by a dense decomposition", iterations=2,
    )  # fmt: skip


def _whole(what: _Lost, theta: Array, V: Array, read: int) -> Pairs:
    """All are read again."""
    values, top, W, before = to_numpy(theta), float(theta[0]) ** 0.5, V[:, :read], 0
    seen = int(np.count_nonzero(values[:read] >= BLIND * values[0]))
    if 0 < read - seen <= SMALL_SHARE * read:
        _, blind, _ = _read(what, W[:, seen:], top, most=1)
        W, before = namespace(V).concat([W[:, :seen], blind], axis=1), 1
    squares, W, turns = _read(what, W, top, most=REPAIR_PASSES - before)
    turns += before
    found = np.concatenate([to_numpy(squares), np.zeros(len(values) - read)])
    W = W if read == len(values) else namespace(V).concat([W, V[:, read:]], axis=1)
    off = what.sigma_error(top)
    return _answer(what, found, W, 2 * off * top, off, _words(what.path, turns), turns)


def _answer(
    what: _Lost, found: Vector, W: Array, error: float, off: float, words: str, turns: int
) -> Pairs:  # fmt: skip
    """All singular values, each within ``off``, and the vectors that are asked for."""
    problem, G = what.problem, what.G
    if what.live < what.k:  # beyond the rank what was read is rounding
        found[what.live :] = 0.0
    k = problem.pick(found, float(np.sum(found))) if problem.rule is not None else what.k
    Vk = leading(W, k)
    block = G @ Vk - Vk * place_of(G).array(found[:k])
    return Pairs(
        found, Vk, block, what.error, counted(found, k, error), True, what.u, words, 1 + turns, error, off,
        positive=True,
    )  # fmt: skip


def _read(what: _Lost, W: Array, top: float, most: int = REPAIR_PASSES) -> tuple[Array, Array, int]:
    """Squares of the singular values of A W, W turned so that columns of A W are orthogonal, and how many passes."""
    floor = NOISE_FLOOR * what.u * what.G.shape[0] ** 0.5 * top
    turns = 0
    while turns < most:
        turns += 1
        G = what.A.gram(W)
        if W.shape[1] >= LEFT_BEHIND:
            give_back_heaps()
        sigma, turn, near = scaled_gram_step(G, floor)
        del G
        W = _orthonormal(W @ turn)
        if near:
            break
    return sigma * sigma, W, turns


def scaled_gram_step(G: Array, floor: float) -> tuple[Array, Array, bool]:
    """Singular values and right vectors of B from G = BᵀB; and whether B's columns were nearly orthogonal."""
    xp = namespace(G)
    nu, scaled, real = _scaled(G, floor)
    omega, E = eigh(scaled)
    del scaled
    near = real == 0 or bool(float(omega[real - 1]) >= 1 - NEAR and float(omega[0]) <= 1 + NEAR)
    R = xp.sqrt(positive(omega))[:, None] * xp.matrix_transpose(E)
    R *= nu[None, :]
    del E
    _, sigma, Vt = svd(R, graded=True, spare=True)
    return sigma, xp.matrix_transpose(Vt), near


def _scaled(G: Array, floor: float) -> tuple[Array, Array, int]:
    """ν, Ĝ = G/ννᵀ with a diagonal of ones, and how many columns are longer than ``floor``.

    Shorter columns are nothing but rounding, and may all point the same way: divided by their lengths, hundreds of them
    would make ‖Ĝ‖, and with it the error of its eigenvalues, hundreds of times larger. They are divided by ``floor``.
    """
    xp, d = namespace(G), G.shape[0]
    if d == 0:
        return xp.zeros_like(G[:, 0]), G, 0
    nu = xp.sqrt(positive(xp.linalg.diagonal(G)))
    one, foot = place_of(G).eye(d), max(floor, UNDERFLOW * float(xp.max(nu)))
    if foot <= 0:
        return nu, xp.zeros_like(one), 0
    real = nu > foot
    nu = xp.where(real, nu, foot * xp.ones_like(nu))
    scaled = G / nu[:, None] / nu[None, :]
    return nu, xp.where((one > 0) & real[None, :], one, scaled), int(xp.count_nonzero(real))


def _orthonormal(W: Array) -> Array:
    """W with its orthonormality restored; the diagonal of R is made positive so that columns keep their direction."""
    xp = namespace(W)
    Q, R = qr(W)
    diagonal = R.diagonal() if xp is np else xp.linalg.diagonal(R)
    one = xp.ones_like(diagonal)
    return Q * xp.where(diagonal < 0, -one, one)


def _words(path: str, turns: int) -> str:
    return f"{path}, repaired by {turns} scaled-Gram pass{'es' if turns > 1 else ''}"
