"""``moments``: one pass forms ``G = AᵀA`` (d×d), then a dense eigenproblem of that size; repaired by reading again.

    G = VΛVᵀ,   |λ̂ᵢ − λᵢ| ≤ ‖E‖ ≈ u·λ₁(√b + √d)   ⇒   |σ̂ᵢ − σᵢ| ≤ ‖E‖/2σᵢ     (Weyl)

Few pairs of a large G come from Lanczos on it and a factorisation that leaves no room for others (``leading.py``).

That is 3–4 times faster than an SVD but loses small singular values. The trust test compares the bound with what the
direct routes promise, the larger of 100·u·σ₁ and 1e-3·tol·σᵢ; where it fails, rows are read again for what the Gram
matrix lost (``repair.py``). A float32 Gram matrix that lost too much is formed anew in float64, whose rounding is below
what float32 data can show. n centred rows have at most n − 1 singular values that are not zero: those beyond the rank
are zero, whatever their rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ritz._core.linalg import Array, eigh, inner, leading, namespace, place_of, positive, to_numpy, trace, wide
from ritz._core.tolerance import REPAIR_SHARE, TRUST, rounding, solving
from ritz.operators.base import Operator
from ritz.spectral.constants import (
    ITERATE_LEAST,
    ITERATE_SIDE,
    PIVOTED_LEAST,
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

__all__ = ["gram_error", "iterated", "known_rank", "lost", "margin", "moments", "suspects"]


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


def lost(problem: SpectralProblem, A: Operator, values: Vector, V: Array, k: int, error: float, u: float) -> bool:
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
    A = _told_apart(problem, A)
    G = wide(A.gram() if problem.kind == "svd" else A.to_dense(1 << 40))
    d = G.shape[0]
    some = problem.k + 1  # a repair, which few tables need, asks for more: eight take 0.9 of 6.5 ms at d = 300
    few = problem.rule is None and some <= SOME_SHARE * d
    wholly = d >= PIVOTED_LEAST and problem.k >= min(problem.rank, d) >= PIVOTED_LEAST
    if wholly and (pairs := _foreseen(problem, A, G)) is not None:
        return pairs
    signless, above = problem.kind == "svd" or A.positive, d > SUBSET_ABOVE
    iterates = few and above and signless and margin(problem.k) + 1 < SUBSET_SHARE * d
    found = iterated(G, problem.k, start, problem.iterate) if iterates else None
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
    top = (max(float(values[0]), 0.0) if signless else _norm(G)) if len(values) else 0.0
    error = gram_error(problem, A, d, top, u)
    error += 0.0 if found is None else float(np.max(found.reach, initial=0.0))
    k = problem.pick(values, 0.0 if problem.rule is None else trace(G))
    live = known_rank(problem, G, values, k, error)
    if problem.repeatable and problem.kind == "svd" and lost(problem, A, values, V, live, error, u):
        from ritz.spectral.solvers.repair import repair  # which most tables do without

        V = _beside(G, V)
        pairs, wider = repair(problem, A, G, theta, V, k, live, error, u, path), A.wider()
        if pairs is not None or wider is not None:
            return pairs or moments(problem, wider or A, V)
    there = leading(V, k)
    V = _beside(G, there)
    block = rest(V, theta[:k]) if found is None else found.residual
    if live < k:
        zeroed = values[:k] * (np.arange(k) >= live)
        block = block + V * place_of(block).array(zeroed)  # residuals are those of the values that are returned
        values = np.concatenate([values[:live], np.zeros(len(values) - live)])
    complete = counted(values, k, error) if found is None else found.complete(error)
    turned = None if V is there else (V, to_numpy(inner(there, there)))
    return Pairs(values, V, block, error, complete, True, u, path, 1, error, positive=signless, turned=turned)


def _told_apart(problem: SpectralProblem, A: Operator) -> Operator:
    """The operator in float64 where a sample tells that float32 products would lose what is wanted."""
    told = problem.kind == "svd" and problem.rule is None and A.faint(problem.k)
    return (A.wider() or A) if told else A


def _foreseen(problem: SpectralProblem, A: Operator, G: Array) -> Pairs | None:
    """All pairs, where they are wanted and known to be lost before eigenvalues are found."""
    u, path = A.arithmetic()
    repeatable = problem.kind == "svd" and problem.repeatable and problem.rule is None
    if not repeatable or u > 2.0**-53 or not isinstance(G, np.ndarray):
        return None
    from ritz.spectral.solvers.repair import foreseen  # which most tables do without

    return foreseen(problem, A, G, u, path)


def gram_error(problem: SpectralProblem, A: Operator, d: int, top: float, u: float) -> float:
    """Bound on what eigenvalues of the matrix that was formed may be off, ``top`` being the largest."""
    svd = problem.kind == "svd"
    scales = A.scale_error() * (2 if svd and A.symmetric else 1)  # AᵀA of a symmetric A holds D twice
    noise, beyond = (A.gram_noise(), A.gram_inflation()) if svd else (A.measured(), A.inflation())
    measured = rounding(d, u) * (top + beyond) if noise is None else noise
    error = solving(d, 2.0**-53) * (top + beyond) + measured + 2 * scales * top
    if svd:
        off = A.perturbation() or 0.0
        error += off * (2 * top**0.5 + off)
    return error


def known_rank(problem: SpectralProblem, G: Array, values: Vector, k: int, error: float) -> int:
    """How many of the k values can differ from zero, where rounding does not say otherwise.

    No more than the rank of centred rows, nor than the columns that are not zero: those have zeros in the Gram matrix.
    """
    if problem.kind != "svd" or k == 0 or float(values[k - 1]) > error:
        return k
    columns = int(np.count_nonzero(to_numpy(namespace(G).linalg.diagonal(G))))
    live = min(k, problem.rank, max(columns, 1))
    return live if live < k and float(values[live]) <= error else k


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
        return *eigh(G, some, whole=whole), partial(_residual, G)
    from ritz._core.ahead import there as begun_there  # small tables do without
    from ritz._core.device import signed_there, within_memory

    with within_memory(A.place, f"the eigenvectors of a matrix of {G.shape[0]:,} columns"):
        there, values, vectors = begun_there(G) or _pairs_there(A.place.array(G), top)
        vectors = vectors * signed_there(vectors)

    def left(_V: Array, theta: Array) -> Array:
        some = vectors[:, : theta.shape[0]]
        return to_numpy(there @ some - some * A.place.array(np.ascontiguousarray(theta)))

    return to_numpy(values if top is None else values[:top]), vectors, left


def _residual(G: Array, V: Array, theta: Array) -> Array:
    """``GV − VΘ``."""
    return (G.dot(V) if isinstance(G, np.ndarray) else G @ V) - V * theta  # which spares a small matrix a microsecond


def _beside(G: Array, V: Array) -> Array:
    """Vectors of a matrix of the host on the host; where they were found on a device, as many as are asked for come."""
    return to_numpy(V) if isinstance(G, np.ndarray) else V


def _forget_ahead() -> None:
    from ritz._core.ahead import forget  # rows on the host do without

    forget()


def _pairs_there(G: Array, top: int | None) -> tuple[Array, Array, Array]:
    return (G, *eigh(G, top))


def margin(k: int) -> int:
    """Directions that a repair of k pairs reads again."""
    return k + max(REPAIR_MARGIN, k // 4)


def iterated(G: Array, k: int, start: Array | None, always: bool) -> Leading | None:
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
