"""``krylov``: randomized block Krylov iteration with Rayleigh–Ritz and residuals every step.

    K_q = span{Ω, MΩ, …, M^{q−1}Ω},   Ω (p×l) Gaussian,  l = k + s                         [MM15; Tropp 2022]

For M = AᵀA one step is one pass over the data ("Gram form": only p×l blocks are stored). Full reorthogonalisation;
thick restart with the leading Ritz vectors when the basis is full. On large data the first steps run in float32, with
a float32 basis, and the finish in float64, where only pairs that miss the tolerance are taken further: Rayleigh–Ritz
and the residuals of the answer always come from float64 products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ritz._core.linalg import Array, combine, eigh, inner, namespace, norms, orth, symmetric, to_numpy
from ritz._core.progress import track
from ritz._core.random import gaussian_block
from ritz._core.threads import single_threaded_blas
from ritz._core.tolerance import checked, rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.certificate.completeness import (
    by_moments,
    by_settled,
    by_squares,
    by_start,
    by_trace,
    could_prove,
    strongest,
)  # fmt: skip
from ritz.spectral.constants import (
    CENTRED,
    FINISH_SPARE,
    FLOAT32_FLOOR,
    FLOAT32_NOISE,
    FLOAT32_SHARE,
    LEAN_SHARE,
    MAX_STEPS,
    NULL,
    SEARCH,
    SETTLED,
)
from ritz.spectral.course import History
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solvers.deflated import Fresh, by_search
from ritz.spectral.solvers.dense import require_positive, roundoff, stated
from ritz.spectral.solvers.missed import by_space, search_could_prove
from ritz.spectral.subspace import Subspace
from ritz.spectral.widths import oversampling, thin_width

__all__ = ["RANGE32", "climb", "in_range32", "krylov", "package", "rounding_of", "worst_residual"]

#: Largest eigenvalues, in float32, whose squares and roots are in its range too.
RANGE32 = 1e-12, 1e12
#: Share of θ_k by which float32 has to put all that may be missed below it for float64 to prove it, or half the gap.
CLEARLY = 0.02
#: Ritz vectors beyond 2k whose residuals are looked at for a proof by the trace.
SPARED = 32


def krylov(
    problem: SpectralProblem,
    M: Operator,
    *,
    amplified: bool = False,
    narrow: bool = False,
    start: Array | None = None,
) -> Pairs:
    """Leading k pairs of the symmetric operator M.

    ``amplified``: residuals are weighed by √(θ₁/θᵢ), because the vectors wanted are Aᵀ times those found here.
    ``narrow``: begin with float32 products. ``start``: a block to begin with instead of a Gaussian one.
    """
    p, k = M.shape[0], problem.k
    begun = start is None and problem.begin is not None
    start = problem.begin() if begun and problem.begin is not None else start
    wide = min(M.block_width(k + oversampling(k)), max(p, 1))
    width = min(p, thin_width(k) if problem.thin and narrow and start is None else wide)
    Q = orth(gaussian_block(M.place, problem.start, 1, p, width) if start is None else start)
    steps, status, image = 0, Completeness("none", np.inf), None
    with track("krylov", total=None) as advance:
        if narrow:
            coarse = M.coarsest().loose(problem.room) if problem.room else M.coarsest()
            with np.errstate(over="ignore", invalid="ignore"):
                first = coarse.unchecked().matmat(Q)
            narrow = in_range32(first)
            if not narrow and start is None and width < min(p, wide):
                width = min(p, wide)
                Q = orth(gaussian_block(M.place, problem.start, 1, p, width))
        if narrow:
            M, Q, image, steps, status = _narrow(
                problem, M, coarse, Q, wide, amplified, advance, first, gaussian=start is None
            )
            problem = replace(problem, watch=None)  # nearly there
        space = Subspace(p, _capacity(p, wide, problem.basis), M.place)
        fresh = Fresh(problem.start) if begun and M.positive else None
        more, chain, converged = climb(
            M, space, Q, problem, problem.tol, amplified, advance, lean=narrow, image=image, fresh=fresh
        )
        if not narrow:
            residuals = to_numpy(norms(space.residual_block(min(space.m, width))))
            status = _started(M, space, residuals, k, width if start is None else 0, chain, more)
        if begun and M.positive and converged and space.m > k:
            found, missed = _sought(problem, M, space, fresh)
            if missed:
                return krylov(replace(problem, begin=None), M, amplified=amplified, narrow=narrow)
            status = strongest(status, found)
        return stated(package(M, space, k, status, converged, steps + more, narrow), M)


def _sought(
    problem: SpectralProblem, M: Operator, space: Subspace, fresh: Fresh | None
) -> tuple[Completeness, bool]:  # fmt: skip
    """What fresh Gaussian columns say about eigenvalues that a start near the answer may have missed.

    They look outside of the whole space, settled or not: the more is taken out, the fewer products prove that nothing
    is missing.
    """
    quiet, top = M.coarsest().unchecked(), float(space.theta[0])
    return by_search(
        quiet, space.V, space.MV, problem.k, seed=problem.start, slack=lambda: rounding_of(quiet, top), fresh=fresh
    )


def _narrow(
    problem: SpectralProblem,
    M: Operator,
    A: Operator,
    Q: Array,
    wide: int,
    amplified: bool,
    advance: Callable[[int], None],
    first: Array | None = None,
    gaussian: bool = True,
) -> tuple[Operator, Array, Array | None, int, Completeness]:
    """The float32 phase: the operator and the vectors to finish with, their image if that is accurate enough already,
    steps taken, and what is proved about missed eigenvalues. ``A``: M with the cheapest products; ``first``: the first
    of them, where it was made.
    """
    p, k, width = M.shape[0], problem.k, Q.shape[1]
    space = Subspace(
        p, _capacity(p, wide, problem.basis, 8 if A.checkable else 16), M.place, narrow=True, images=A.checkable
    )
    target = max(FLOAT32_SHARE * problem.tol, FLOAT32_FLOOR, A.grain)
    steps, chain, _ = climb(A.unchecked(), space, Q, problem, target, amplified, advance, image=first)
    recurred = to_numpy(space.chain_residuals(space.remainder(), min(space.m, max(width, k))))
    top = float(space.theta[0])
    slack = max(FLOAT32_NOISE * top, A.measured() or 0.0)
    if A.checkable:
        Q, image = space.pairs(min(space.m, max(_settled(space, k), M.block_width(k + FINISH_SPARE) - 1)))
        many = max(k + FINISH_SPARE, M.block_width(k + FINISH_SPARE) - 1)  # and one column that tells of K itself
        left = _left(Q[:, :many], image[:, :many], k, amplified)
        if problem.begin is not None and not gaussian and left > problem.tol and A.dtype != M.dtype:
            return M, Q[:, :many], None, steps, Completeness("none", np.inf)  # finer products, and a search, say more
        A.check(Q, image, answer=k)
        slack = max(slack, rounding_of(A, top))
    noisy = np.hypot(recurred, slack)  # rounding of the products leaves the chain too
    status = strongest(
        _started(A, space, noisy, k, width if gaussian else 0, chain, steps),
        _summed(A, space, k, float(np.linalg.norm(noisy[:k]))),
    )
    if not A.checkable:
        if gaussian and A.positive and problem.watch is not None and problem.watch.pays(steps, k):
            status = strongest(status, _looked_for(problem, A, space, status, slack))
        return M, orth(space.vectors(_to_measure(M, space, 2 * wide, k, status, slack))), None, steps, status
    slack = rounding_of(A, top)
    if problem.thin and status.ceiling > SEARCH * float(space.theta[min(k, space.m - 1)]):
        quiet = A.unchecked()
        more, missed = by_search(
            quiet, Q, image, k, seed=problem.start, slack=lambda: max(slack, rounding_of(quiet, top))
        )
        if missed:  # an eigenvalue repeated more often than a thin block can see
            Q = orth(gaussian_block(M.place, problem.start, 1, p, min(p, wide)))
            return _narrow(replace(problem, thin=False), M, A, Q, wide, amplified, advance)
        status = strongest(status, more)
    Q, image = Q[:, :many], image[:, :many]
    fine = A.dtype == M.dtype or left * top + slack <= problem.tol * top
    return A if fine else M, Q, image if fine and left <= problem.tol else None, steps, status


def _to_measure(M: Operator, space: Subspace, most: int, k: int, status: Completeness, slack: float) -> int:
    """Ritz vectors that the finish measures: a few more than k, or, up to ``most``, as many as leave so little of the
    trace that nothing can be missed, where that is not known yet.
    """
    few, theta = min(space.m, k + FINISH_SPARE), to_numpy(space.theta)
    total = M.trace() if M.positive and space.m > k else None
    if total is None or status.ceiling < float(theta[k - 1]) - slack:
        return few
    sizes = np.hypot(to_numpy(space.chain_residuals(space.remainder(), min(space.m, most))), slack)
    enough = float(theta[k - 1]) - 0.5 * min(float(theta[k - 1] - theta[k]), CLEARLY * float(theta[k - 1]))
    for many in range(few, len(sizes) + 1):
        if by_settled(theta[:many], sizes[:many], k, total, slack).ceiling < enough:
            return many
    return few


def _looked_for(
    problem: SpectralProblem, A: Operator, space: Subspace, status: Completeness, slack: float
) -> Completeness:
    """What fresh columns say, where the start proves too little and the direct route would be asked to prove it."""
    k, theta = problem.k, to_numpy(space.theta)
    if space.m <= k or status.ceiling < float(theta[k - 1]) - slack:
        return status
    return by_space(A.unchecked(), space, k, seed=problem.start, slack=slack + FLOAT32_NOISE * A.inflation())


def in_range32(image: Array) -> bool:
    """Whether the first product of a Gaussian block leaves room for squares and roots of eigenvalues in float32.

    A product of zeros may be one of numbers too small for float32.
    """
    return RANGE32[0] <= float(to_numpy(namespace(image).max(namespace(image).abs(image)))) <= RANGE32[1]


def _left(Q: Array, image: Array, k: int, amplified: bool) -> float:
    """Largest residual of the k leading Ritz pairs of span Q, in units of θ₁: what the finish begins with."""
    with single_threaded_blas():
        theta, Y = eigh(symmetric(inner(Q, image)))
        R = combine(image, Y[:, :k]) - combine(Q, Y[:, :k] * theta[:k])
    return worst_residual(to_numpy(norms(R)), to_numpy(theta), amplified)


def _settled(space: Subspace, k: int) -> int:
    """Ritz vectors whose residuals together are small beside θ_{k+1}, k and a few more at least."""
    sizes = to_numpy(space.chain_residuals(space.remainder(), space.m))
    following = float(space.theta[min(k, space.m - 1)])
    return max(min(space.m, k + FINISH_SPARE), int(np.sum(np.cumsum(sizes**2) <= (SETTLED * following) ** 2)))


def _summed(M: Operator, space: Subspace, k: int, slack: float) -> Completeness:
    """What trace and Frobenius norm say about missed eigenvalues."""
    sums = M.power_sums()
    if sums is None:
        return Completeness("none", np.inf)
    return by_moments(to_numpy(space.theta), k, p=space.p, total=sums[0], square=sums[1], slack=slack)


def climb(
    M: Operator,
    space: Subspace,
    Q: Array,
    problem: SpectralProblem,
    tol: float,
    amplified: bool,
    advance: Callable[[int], None],
    lean: bool = False,
    image: Array | None = None,
    fresh: Fresh | None = None,
) -> tuple[int, int, bool]:
    """Extend the space until k residuals are small; steps taken, longest unbroken chain, whether converged.

    ``lean``: the start is nearly converged, so the next block holds only the residuals that are still too large.
    ``image``: M Q, where it is known. ``fresh``: columns of a search, which take part in a product with few columns.
    """
    k, chain, longest, width, history, watch = problem.k, 0, 0, Q.shape[1], History(tol), problem.watch
    floor = FLOAT32_FLOOR if space.narrow else rounding(M.shape[0], unit_roundoff(M.dtype))
    # float32 tiles that are measured: a residual above tol is not excused by their rounding, finer ones can follow
    coarse = M.checkable and M.dtype.itemsize < 8 and not space.narrow
    best, stalled, pure = np.inf, 0, True
    for step in range(1, MAX_STEPS + 1):
        small = lean and step > 1  # what is left of pairs that have nearly converged
        MQ = image if step == 1 and image is not None else _applied(M, Q, small, fresh)
        advance(1)
        chain, longest = chain + 1, max(longest, chain + 1)
        with single_threaded_blas():  # a threaded one leaves its threads spinning beside the lanes of the next pass
            enough = (after := space.m + Q.shape[1]) >= min(k, space.p)
            full = after + width > space.capacity  # also where it is the whole space
            turn = watch is not None and watch.turns(step)
            look = lean or full or turn or step == MAX_STEPS or (enough and history.due(step, after, width))
            space.extend(Q, MQ, look=look, rough=small and M.lean() is not M)
            rest, worst = space.remainder(), np.inf
            if not look and (ahead := orth(rest, against=space.V, projected=True)).shape[1]:
                Q = ahead
                continue
            space.look()
            if enough and _null(M, space, Q, MQ):
                return step, longest, True
            if pure and enough:
                worst = _worst(space, space.chain_residuals(rest, min(k, space.m)), amplified)
            if not space.narrow and (not pure or worst <= 2 * max(tol, floor) or space.m >= space.p):
                worst = _worst(space, space.residuals(min(k, space.m)), amplified)
            if watch is not None and (enough or turn):
                proves = _could_prove(M, space, k, width if pure else 0)
                watch.look(step, space.m, worst, lambda: space.vectors(min(space.m, k + width)), proves)
            if worst <= tol or space.m >= space.p:
                return step, longest, worst <= max(tol, floor) or space.m >= space.p
            stalled, best = (stalled + 1 if worst > 0.7 * best else 0), min(best, worst)
            blur = max(floor, _blur(M, space)) if space.capacity < space.p else floor
            idle = stalled >= (1 if space.narrow else 3) and worst <= 20 * blur
            if (worst <= floor and not coarse) or idle or step == MAX_STEPS:
                return step, longest, tol <= blur and not coarse and step < MAX_STEPS
            history.note(step, worst)
            Q = _following(space, rest, k, tol, amplified, lean)
            pure = pure and not lean
            if Q.shape[1] and space.room() < width and space.capacity < space.p:
                space.restart(min(space.m, space.capacity - 2 * width, k + (space.capacity - k) // 2))
                chain, pure = 0, space.narrow
            Q = Q[:, : min(space.room(), Q.shape[1])]
            if Q.shape[1] == 0:  # the Krylov space is invariant: look for what it may have missed
                Q, pure = _invariant(M, space, problem, step, width), space.narrow
                if Q.shape[1] == 0 or (enough and not np.isfinite(worst)):
                    return step, longest, worst <= max(tol, floor)
    return MAX_STEPS, longest, False


def _applied(M: Operator, Q: Array, small: bool, fresh: Fresh | None) -> Array:
    """M Q; coarser where Q is ``small``, what is left of vectors, and then with room for columns of a search."""
    M = M.lean() if small else M
    return M.matmat(Q) if fresh is None or not small else fresh.beside(M, Q)


def _could_prove(M: Operator, space: Subspace, k: int, width: int) -> Callable[[float], bool] | None:
    """Whether so many products in all could prove that a chain with the Ritz values so far has missed nothing."""
    if width <= k or not M.positive:
        return None
    theta = to_numpy(space.theta)
    some = k + max(FINISH_SPARE, k // 2)  # that will have settled by then, where eigenvalues decay
    return lambda steps: (
        len(theta) <= k
        or could_prove(theta, k, p=space.p, width=width, steps=steps)
        or (space.narrow and search_could_prove(theta, some, k, space.p))
    )


def _invariant(M: Operator, space: Subspace, problem: SpectralProblem, step: int, width: int) -> Array:
    """Where the Krylov space is invariant: directions in which it may have missed something."""
    fresh = gaussian_block(M.place, problem.start, 2 + step, space.p, min(width, space.room()))
    return orth(space.own(fresh), against=space.V)


def _blur(M: Operator, space: Subspace) -> float:
    """What rounding leaves of a residual, in units of θ₁: a kernel matrix is rounded before it is centred."""
    top = float(np.max(np.abs(to_numpy(space.theta)), initial=0.0))
    if top <= 0:
        return np.inf
    return CENTRED * unit_roundoff(np.float32) * M.inflation() / top if space.narrow else rounding_of(M, top) / top


def _null(M: Operator, space: Subspace, Q: Array, MQ: Array) -> bool:
    """Whether a kernel matrix is rounding only, for want of differences between rows: no Ritz value exceeds what the
    products are measured to be off.
    """
    top = float(np.max(np.abs(to_numpy(space.theta))))
    if not M.checkable or top > NULL * unit_roundoff(M.dtype) * M.inflation():
        return False
    M.check(Q, MQ)
    return top <= rounding_of(M, top)


def _following(space: Subspace, rest: Array, k: int, tol: float, amplified: bool, lean: bool) -> Array:
    """The next block: where the Krylov space goes on, or the residuals of pairs that miss the tolerance."""
    if not lean:
        return orth(rest, against=space.V, projected=True)
    R = space.residual_block(min(k, space.m))
    sizes = weighed(to_numpy(norms(R)), to_numpy(space.theta), amplified)
    count = min(len(sizes), -(-int(np.sum(sizes > LEAN_SHARE * tol)) // 16) * 16)
    worst = np.argsort(-sizes)[:count]
    return orth(space.xp.take(R, space.place.array(worst), axis=1), against=space.V, projected=True)


def _worst(space: Subspace, residuals: Array, amplified: bool) -> float:
    return worst_residual(to_numpy(residuals), to_numpy(space.theta), amplified)


def worst_residual(residuals: np.ndarray, theta: np.ndarray, amplified: bool) -> float:
    """Largest residual in units of θ₁."""
    return float(np.max(weighed(residuals, theta, amplified), initial=0.0))


def weighed(residuals: np.ndarray, theta: np.ndarray, amplified: bool) -> np.ndarray:
    """Residuals in units of θ₁; of the largest |θ| where a step has not met a positive one yet."""
    top = float(theta[0])
    if top <= 0:
        largest = float(np.max(np.abs(theta)))
        return residuals / largest if largest > 0 else np.zeros_like(residuals)
    if amplified:
        share = np.maximum(theta[: len(residuals)] / top, unit_roundoff(np.float64))
        residuals = residuals / np.sqrt(share)
    return residuals / top


def _started(
    M: Operator, space: Subspace, residuals: np.ndarray, k: int, width: int, chain: int, steps: int
) -> Completeness:
    """What the Gaussian start says about missed eigenvalues; a restart forgets the lower end of the spectrum."""
    if width <= k or (not M.positive and chain < steps):
        return Completeness("none", np.inf)
    return by_start(to_numpy(space.theta), residuals, k, p=space.p, width=width, steps=chain, positive=M.positive)


def package(
    M: Operator,
    space: Subspace,
    k: int,
    status: Completeness,
    converged: bool,
    steps: int,
    narrow: bool = False,
) -> Pairs:
    """The answer of an iterative solver from its final subspace."""
    k = min(k, space.m)
    theta = to_numpy(space.theta)
    if M.positive:
        if M.lean() is M:  # products for what is left of vectors may be off by more than the others were measured to be
            require_positive(M, theta)
        theta = theta if M.below else np.maximum(theta, 0.0)
    u = unit_roundoff(np.float64)
    if M.checkable and M.dtype.itemsize < 8 and not (narrow and M.grain == M.coarsest().grain):
        M.check(space.vectors(k), combine(space.MV, space.Y[:, :k]), answer=k)
    slack = rounding_of(M, _size(M, theta))
    complete = _whole(theta, k, slack) if space.m >= space.p else None
    total = M.trace() if M.positive else None
    summed = by_trace(theta, k, total, slack)
    if min(summed.ceiling, status.ceiling + slack) >= float(theta[k - 1]) > 0:
        summed = strongest(summed, by_settled(theta, _sizes(space, 2 * k + SPARED), k, total, slack))
    if not narrow and M.power_sums() is not None:
        summed = strongest(summed, _summed(M, space, k, slack + float(np.linalg.norm(to_numpy(space.residuals(k))))))
    if not M.positive:
        summed = strongest(summed, by_squares(theta, k, M.square_sum(), slack))
    status = replace(status, ceiling=status.ceiling + slack)  # of the matrix itself, not of what products made of it
    best = complete or strongest(summed, status)
    single = M.dtype == np.float32 and M.checkable
    path = ("float32 products" if single else "float32 iterations") + ", float64 finish" if narrow else "float64"
    return Pairs(
        theta, space.vectors(k), space.residual_block(k), slack, best, converged, u, path, steps, positive=M.positive
    )


def _sizes(space: Subspace, most: int) -> np.ndarray:
    """Residuals of the leading Ritz vectors, at most so many; infinity of the others, which nobody has measured."""
    sizes = np.full(space.m, np.inf)
    sizes[:most] = to_numpy(space.residuals(min(most, space.m)))
    return sizes


def _size(M: Operator, theta: np.ndarray) -> float:
    """The largest |θ| seen: what rounding is in units of."""
    return max(float(theta[0]), 0.0) if M.positive else float(np.max(np.abs(theta)))


def rounding_of(M: Operator, top: float) -> float:
    """What rounding adds to a residual: measured on the last products where they were, allowed for otherwise."""
    measured, u = M.measured(), roundoff(M)
    base = rounding(M.shape[0], u) if measured is None else checked(M.shape[0], u)
    return base * (top + M.inflation()) + (measured or 0.0) + 2 * M.scale_error() * top


def _whole(theta: np.ndarray, k: int, slack: float) -> Completeness:
    following = float(theta[k]) + slack if k < len(theta) else -np.inf
    return Completeness("count", following, 0.0, "the subspace is the whole space")


def _capacity(p: int, width: int, limit: float, size: int = 16) -> int:
    """Columns of the basis: what the byte budget allows, at least three blocks, at most the whole space."""
    columns = int(limit // (size * p))
    return min(p, max(3 * width, min(columns, 24 * width)))
