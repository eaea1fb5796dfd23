"""``moments``: one pass forms ``G = AᵀA`` (d×d), then a dense eigenproblem of that size; repaired by reading again.

    G = VΛVᵀ,   |λ̂ᵢ − λᵢ| ≤ ‖E‖ ≈ u·λ₁(√b + √d)   ⇒   |σ̂ᵢ − σᵢ| ≤ ‖E‖/2σᵢ     (Weyl)

Few pairs of a large G come from Lanczos on it and a factorisation that leaves no room for others (``leading.py``).

That is 3–4 times faster than an SVD but loses small singular values. The trust test compares the bound with what the
direct routes promise, the larger of 100·u·σ₁ and 1e-3·tol·σᵢ; where it fails, the iterated scaled-Gram pass restores
what the Gram matrix lost. A float32 Gram matrix that lost too much is formed anew in float64, whose rounding is below
what float32 data can show.

Repair, with orthonormal W (d×p):  B = A W (one pass, never stored),  G = BᵀB,  ν = √diag G,  Ĝ = ν⁻¹Gν⁻¹ = EΩEᵀ,
R = Ω^½ Eᵀ diag(ν)  (RᵀR = G),  R = ŨΣVᵀ,  W ← W V.

Each entry of G is accurate relative to its own two columns, so scaling makes Ĝ as well conditioned as B's columns are
orthogonal: the first pass resolves σ/σ₁ down to u^½ beyond where W started, the second to u. Done when Ĝ ≈ I; that
is the certificate: the columns of A W are orthogonal to working precision, their norms are the singular values, and

    |σ̂ᵢ − σᵢ| ≤ c·u·σ₁        for every i when W is square.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ritz._core.factors import svd
from ritz._core.linalg import Array, eigh, inner, leading, namespace, place_of, positive, qr, to_numpy, trace, wide
from ritz._core.tolerance import NOISE_FLOOR, REPAIR_PASSES, REPAIR_SHARE, TRUST, rounding, solving
from ritz.operators.base import Operator
from ritz.spectral.constants import (
    ITERATE_LEAST,
    ITERATE_SIDE,
    REPAIR_MARGIN,
    SOME_LEAST,
    SOME_SHARE,
    SUBSET_ABOVE,
    SUBSET_SHARE,
    THERE,
)  # fmt: skip
from ritz.spectral.problem import Pairs, SpectralProblem, counted
from ritz.spectral.solvers.dense import Vector, require_positive

if TYPE_CHECKING:
    from ritz.spectral.solvers.leading import Leading

__all__ = ["moments", "scaled_gram_step", "suspects"]

#: Ĝ counts as the identity when no pair of its columns is further from orthogonal than this.
ORTHOGONAL = 1e-3
#: Length of a column, in units of the longest, whose products with others like it float64 does not hold.
UNDERFLOW = 2.0**-500


def suspects(values: Vector, k: int, error: float, u: float, tol: float = 0.0) -> bool:
    """Trust test: may any of the k singular values miss the promise of the direct routes?

    σ̂ − σ = (λ̂ − λ)/(σ̂ + σ) with |λ̂ − λ| ≤ error: the k-th is the worst, absolutely and relative to itself.
    """
    top = float(values[0]) if len(values) else 0.0
    if top <= 0 or k == 0:
        return False
    smallest = max(float(values[k - 1]), 0.0)
    allowed = max(TRUST * u * top**0.5, REPAIR_SHARE * tol * smallest**0.5)
    return bool((smallest + error) ** 0.5 - smallest**0.5 > allowed)


def _lost(problem: SpectralProblem, A: Operator, values: Vector, V: Array, k: int, error: float, u: float) -> bool:
    """The trust test by the bound on the error, and where that fails, by the error that is likely."""
    if not suspects(values, k, error, u, problem.tol):
        return False
    return suspects(values, k, _likely(A, leading(V, k), max(float(values[0]), 0.0), error), u, problem.tol)


def _likely(A: Operator, V: Array, top: float, error: float) -> float:
    """The error that eigenvalues are likely to have: rounding measured along the vectors, not its worst case."""
    along = A.noise_along(to_numpy(V))
    return error if along is None else min(error, along + 4 * 2.0**-53 * top)


def moments(problem: SpectralProblem, A: Operator, start: Array | None = None) -> Pairs:
    """Leading pairs of AᵀA by one pass and a dense eigenproblem, repaired where the Gram matrix lost them.

    ``start``: vectors near the answer, from another solver.
    """
    G = wide(A.gram() if problem.kind == "svd" else A.to_dense(1 << 40))
    d = G.shape[0]
    some = problem.k + 1  # a repair, which few tables need, asks for more: eight take 0.9 of 6.5 ms at d = 300
    few = problem.rule is None and some <= SOME_SHARE * d
    signless, above = problem.kind == "svd" or A.positive, d > SUBSET_ABOVE
    iterates = few and above and signless and _margin(problem.k) + 1 < SUBSET_SHARE * d
    found = _iterated(G, problem.k, start, problem.iterate) if iterates else None
    if found is None:
        theta, V, rest = _pairs(A, G, some if few and d >= SOME_LEAST else None, whole=not above)
    else:
        theta, V = found.values, found.vectors
    if A.xp is not np:
        _forget_ahead()
    if problem.kind == "eigh" and A.positive:
        require_positive(A, to_numpy(theta))
    if signless and theta.shape[0] and float(theta[-1]) < 0:
        theta = positive(theta)
    values = to_numpy(theta)
    u, path = A.arithmetic()
    scales = A.scale_error() * (2 if problem.kind == "svd" and A.symmetric else 1)  # AᵀA of a symmetric A holds D twice
    top = (max(float(values[0]), 0.0) if signless else _norm(G)) if len(values) else 0.0
    noise = A.gram_noise() if problem.kind == "svd" else A.measured()
    beyond = A.gram_inflation() if problem.kind == "svd" else A.inflation()
    measured = rounding(d, u) * (top + beyond) if noise is None else noise
    error = solving(d, 2.0**-53) * (top + beyond) + measured + 2 * scales * top
    if problem.kind == "svd":
        off = A.perturbation() or 0.0
        error += off * (2 * top**0.5 + off)
    error += 0.0 if found is None else float(np.max(found.reach, initial=0.0))
    k = problem.pick(values, 0.0 if problem.rule is None else trace(G))
    if problem.repeatable and problem.kind == "svd" and _lost(problem, A, values, V, k, error, u):
        V = _beside(G, V)
        pairs, wider = repair(problem, A, G, theta, V, k, error, u, path), A.wider()
        if pairs is not None or wider is not None:
            return pairs or moments(problem, wider or A, V)
    there = leading(V, k)
    V = _beside(G, there)
    block = rest(V, theta[:k]) if found is None else found.residual
    complete = counted(values, k, error) if found is None else found.complete(error)
    turned = None if V is there else (V, to_numpy(inner(there, there)))
    return Pairs(values, V, block, error, complete, True, u, path, 1, error, positive=signless, turned=turned)


def _there(A: Operator, G: Array) -> bool:
    """Whether a matrix of the host is large enough to go where the rows lie, which is a graphics processor."""
    return isinstance(G, np.ndarray) and G.shape[0] >= THERE and str(A.place.device).startswith("cuda")


def _pairs(
    A: Operator, G: Array, top: int | None, *, whole: bool
) -> tuple[Array, Array, Callable[[Array, Array], Array]]:
    """Eigenpairs of a matrix, and a function that gives ``GV − VΘ`` of the leading vectors and their Θ.

    ``whole``: all eigenvalues, whatever the number of vectors.
    """
    if not _there(A, G):
        some = top if isinstance(G, np.ndarray) or not whole else None
        return *eigh(G, some, whole=whole), lambda V, theta: G @ V - V * theta
    from ritz._core.ahead import there as begun_there  # small tables do without
    from ritz._core.device import signed_there, within_memory

    with within_memory(A.place, f"the eigenvectors of a matrix of {G.shape[0]:,} columns"):
        there, values, vectors = begun_there(G) or _pairs_there(A.place.array(G), top)
        vectors = vectors * signed_there(vectors)

    def left(_V: Array, theta: Array) -> Array:
        some = vectors[:, : theta.shape[0]]
        return to_numpy(there @ some - some * A.place.array(np.ascontiguousarray(theta)))

    return to_numpy(values if top is None else values[:top]), vectors, left


def _beside(G: Array, V: Array) -> Array:
    """Vectors of a matrix of the host on the host; where they were found on a device, as many as are asked for come."""
    return to_numpy(V) if isinstance(G, np.ndarray) else V


def _forget_ahead() -> None:
    from ritz._core.ahead import forget  # rows on the host do without

    forget()


def _pairs_there(G: Array, top: int | None) -> tuple[Array, Array, Array]:
    return (G, *eigh(G, top))


def _iterated(G: Array, k: int, start: Array | None, always: bool) -> Leading | None:
    """A few leading pairs of a large matrix, where an iteration finds and proves them faster than LAPACK."""
    if G.shape[0] < ITERATE_LEAST and not always:
        return None
    from ritz.spectral.solvers.leading import leading_pairs  # small tables do without

    brief = G.shape[0] < ITERATE_SIDE and not always
    return leading_pairs(G, k, start=start, least=ITERATE_LEAST, always=always, brief=brief)


def _norm(G: Array) -> float:
    """‖G‖₂ from above: the largest sum of a row's magnitudes. The largest eigenvalue may be a negative one."""
    xp = namespace(G)
    return float(xp.max(xp.sum(xp.abs(G), axis=1)))


def scaled_gram_step(G: Array, floor: float) -> tuple[Array, Array, float]:
    """Singular values and right vectors of B from G = BᵀB; and how far B's columns were from orthogonal."""
    xp = namespace(G)
    nu, scaled, off = _scaled(G, floor)
    omega, E = eigh(scaled)
    R = xp.sqrt(positive(omega))[:, None] * xp.matrix_transpose(E) * nu[None, :]
    _, sigma, Vt = svd(R, graded=True)
    return sigma, xp.matrix_transpose(Vt), off


def _scaled(G: Array, floor: float) -> tuple[Array, Array, float]:
    """ν, Ĝ = G/ννᵀ with a diagonal of ones, and the largest entry beside it of columns longer than ``floor``.

    Shorter columns are nothing but rounding, and may all point the same way: divided by their lengths, hundreds of them
    would make ‖Ĝ‖, and with it the error of its eigenvalues, hundreds of times larger. They are divided by ``floor``.
    """
    xp, d = namespace(G), G.shape[0]
    if d == 0:
        return xp.zeros_like(G[:, 0]), G, 0.0
    nu = xp.sqrt(positive(xp.linalg.diagonal(G)))
    one, foot = place_of(G).eye(d), max(floor, UNDERFLOW * float(xp.max(nu)))
    if foot <= 0:
        return nu, xp.zeros_like(one), 0.0
    real, none = nu > foot, xp.zeros_like(one)
    nu = xp.where(real, nu, foot * xp.ones_like(nu))
    scaled = G / nu[:, None] / nu[None, :]
    scaled = xp.where((one > 0) & real[None, :], one, scaled)
    return nu, scaled, float(xp.max(xp.where(real[:, None] & real[None, :], xp.abs(scaled - one), none)))


def repair(
    problem: SpectralProblem,
    A: Operator,
    G: Array,
    theta: Array,
    V: Array,
    k: int,
    error: float,
    u: float,
    path: str,
) -> Pairs | None:
    """Leading pairs of AᵀA to the accuracy of a dense SVD, by reading the data again.

    None where all directions of a float32 Gram matrix would have to be read: forming it in float64 costs less.
    """
    d = G.shape[0]
    top = float(theta[0]) ** 0.5
    theta, V, W, full = _start(G, theta, V, k, error, u)
    if full and u > 2.0**-53:
        return None
    floor = NOISE_FLOOR * u * d**0.5 * top
    turns = 0
    while turns < REPAIR_PASSES:
        turns += 1
        squares, turn, off = scaled_gram_step(A.gram(W), floor)
        W = _orthonormal(W @ turn)
        if off < ORTHOGONAL:
            break
    squares = squares * squares
    values, squared = to_numpy(theta), to_numpy(squares)
    total = float(np.sum(squared)) if full else trace(G)
    k = problem.pick(squared if full else values, total) if problem.rule is not None else k
    taken = A.inflation() ** 2 if A.symmetric else A.inflation()
    scales = A.scale_error() * (2 if A.symmetric else 1)
    # a mean that is taken off sparse products is rounded like these, in the same direction for rows that are alike
    sigma_error = 0.5 * rounding(d, u) * (top + float(np.sqrt(taken))) + scales * top
    sigma_error += A.perturbation() or 0.0
    Vk = leading(W, k)
    block = G @ Vk - Vk * squares[:k]
    if not full:
        # Only a subspace was read again: its Ritz values bound from below (Cauchy), the Gram matrix from above (Weyl).
        following = np.concatenate([squared[:k], values[k:]])
        foot = np.maximum(squared[:k] - 2 * np.sqrt(squared[:k]) * sigma_error, values[:k] - error)
        return Pairs(
            following, Vk, block, error, counted(following, k, error), True, u, _words(path, turns), 1 + turns, error,
            upper=np.maximum(values[:k] + error, squared[:k]), lower=np.minimum(foot, squared[:k]), positive=True,
        )  # fmt: skip
    slack = 2 * sigma_error * top
    return Pairs(
        squared,
        Vk,
        block,
        error,
        counted(squared, k, slack),
        True,
        u,
        _words(path, turns),
        1 + turns,
        slack,
        sigma_error,
        positive=True,
    )


def _margin(k: int) -> int:
    """Directions that a repair of k pairs reads again."""
    return k + max(REPAIR_MARGIN, k // 4)


def _start(G: Array, theta: Array, V: Array, k: int, error: float, u: float) -> tuple[Array, Array, Array, bool]:
    """Directions to read again: a margin beyond k where that is enough, all otherwise.

    Rayleigh–Ritz on the leading ``width`` eigenvectors errs by error²/gap, the gap reaching across the margin.
    """
    d, width = G.shape[0], _margin(k)
    if k > 0 and width + 1 < d / 2:
        if V.shape[1] <= width and theta.shape[0] == d:  # all eigenvalues are known, and stay so
            theta, V = eigh(G)
            theta = positive(theta)
        elif theta.shape[0] <= width:
            found = _iterated(G, width, V, False)
            if found is None or len(found.values) <= width:  # one that follows in a crowd is not among those found
                theta, V = eigh(G, width + 1)
            else:
                theta, V = found.values, found.vectors
            theta = positive(theta)
        gap = float(theta[k - 1]) - float(theta[width])
        if gap > 0 and error * error / gap <= 30 * u * (float(theta[0]) * float(theta[k - 1])) ** 0.5:
            return theta, V, leading(V, width), False
    if V.shape[1] < d:
        theta, V = eigh(G)
        theta = positive(theta)
    return theta, V, V, True


def _orthonormal(W: Array) -> Array:
    """W with its orthonormality restored; the diagonal of R is made positive so that columns keep their direction."""
    xp = namespace(W)
    Q, R = qr(W)
    diagonal = R.diagonal() if xp is np else xp.linalg.diagonal(R)
    one = xp.ones_like(diagonal)
    return Q * xp.where(diagonal < 0, -one, one)


def _words(path: str, turns: int) -> str:
    return f"{path}, repaired by {turns} scaled-Gram pass{'es' if turns > 1 else ''}"
