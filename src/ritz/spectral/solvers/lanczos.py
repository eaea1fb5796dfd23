"""``lanczos``: thick-restart block Lanczos with full reorthogonalisation.                           [WS00; GU77]

    M V = V H + Q R eᵀ,   residual of the i-th Ritz pair:  ‖R y_i‖,  y_i the last rows of the i-th vector of H

A few vectors a step (``chain.py``): the fewest products with M, and each is cheap where M has few entries. H is looked
at where the residuals, which fall like those of a geometric series, may have become small. On long sides the chain runs
in float32 and with sums as long as they come; its Ritz vectors are then measured, and refined where they miss the
tolerance, by float64 products with sums in short chains, from which alone the answer is made:

    V ← [V, r_j with ‖r_j‖ > tol·θ₁],   Rayleigh–Ritz

A block sees an eigenvalue as often as it is wide. Whether one was missed is looked for at the end (``missed.py``); if
so, a wider block begins again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

import numpy as np

from ritz._core.linalg import Array, combine, inner, norms, orth, to_numpy, wide
from ritz._core.progress import track
from ritz._core.random import gaussian_rows
from ritz._core.threads import single_threaded_blas
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.constants import (
    BLOCK_PRICE,
    FINISH_SETTLED,
    FINISH_SPARE,
    FLOAT32_FLOOR,
    FLOAT32_SHARE,
    FLOAT32_TOL,
    LANCZOS_NARROW,
    LANCZOS_SINGLE,
    LEAN_SHARE,
    LOOSE_TOL,
    MAX_RESTARTS,
    SINGLE_NARROW,
)
from ritz.spectral.problem import Pairs, SpectralProblem
from ritz.spectral.solvers.chain import Chain
from ritz.spectral.solvers.climbing import Climbed, climb_strand, could_prove, crowd, due, holds, mean_value, settling
from ritz.spectral.solvers.dense import roundoff, stated
from ritz.spectral.solvers.krylov import RANGE32, in_range32, package, rounding_of, worst_residual
from ritz.spectral.solvers.missed import NOTHING, by_chain, held_up
from ritz.spectral.solvers.strand import Strand
from ritz.spectral.subspace import Subspace
from ritz.spectral.widths import lanczos_columns, lanczos_width

__all__ = ["lanczos"]

#: Share of θ₁ by which a Ritz value may differ when a chain that has ended is gone on with: it is the same.
SAME = 1e-10
#: Products by which an answer is refined at most before a chain in float64 begins.
REFINED = 6
#: Residuals, in units of θ₁, above which a chain that seems to have missed an eigenvalue is gone on with first.
UNSETTLED = 1e-4
#: Times the tolerance, in units of θ₁, that the k-th Ritz value may have grown with the last block: where it grows
#: more, a search finds what the chain has not come to, and takes eight products to say so. 1,000,000×200,000 tf-idf,
#: k = 100, tol=1e-2: residuals are small after 14 blocks, where the k-th value is 256 of 305 and a search finds 350.
GROWS = 0.1
#: Vectors at a time of which the chain's products are held against those that measure the answer.
DRIFTING = 16
#: Columns of a block for which there are loops of their own, and how many more may be taken for their sake.
LOOPS, MORE = (8, 16), 2
#: Times the tolerance above which refining would take longer than a chain in float64.
FAR = 1e3

Advance = Callable[[int], None]


class Begun(NamedTuple):
    """A chain that is gone on with, the products made, and those since a Gaussian start that nothing interrupted."""

    chain: Chain
    steps: int
    pure: int


def lanczos(
    problem: SpectralProblem,
    M: Operator,
    *,
    amplified: bool = False,
) -> Pairs:
    """Leading k pairs of the symmetric operator M."""
    with track("lanczos", total=None) as advance:
        narrow = _narrow(problem, M)
        pairs = (
            None if narrow is None else _chained(problem, M, narrow.loose(problem.room), np.float32, amplified, advance)
        )
        if pairs is not None:
            return pairs
        A = M.loose(problem.room if narrow is None else 0.0) if problem.tol >= LOOSE_TOL else M
        answer = _chained(problem, M, A, np.float64, amplified, advance)
        if answer is None:
            raise AssertionError("a chain in float64 always has an answer")
        return answer


def _chained(
    problem: SpectralProblem, M: Operator, A: Operator, dtype: type, amplified: bool, advance: Advance
) -> Pairs | None:
    """The answer of a chain of products with A, measured with M; None where its arithmetic cannot give one.

    An eigenvalue that turns out to be repeated more often than the block is wide is found with a wider one.
    """
    p, k, steps, narrow = M.shape[0], problem.k, 0, dtype is np.float32
    width = min(p, lanczos_width(k, np.dtype(dtype).itemsize))
    floor = rounding(p, roundoff(M))
    target = max(FLOAT32_SHARE * problem.tol, FLOAT32_FLOOR) if narrow else 0.5 * max(problem.tol, 0.1 * floor)
    single, begun = _single(problem), cast("Begun | None", None)
    while True:
        climbed = climb_strand(A, problem, dtype, target, amplified, advance) if single else None
        if climbed is None:
            single, climbed = False, _climb(A, problem, dtype, width, target, amplified, advance, begun)
        steps += climbed.steps - (0 if begun is None else begun.steps)
        if not climbed.held:
            return None
        climbed.chain.ritz()
        status, missed = by_chain(
            A, climbed.chain, k, width=width, steps=climbed.pure, seed=problem.start, tol=problem.tol,
            price=BLOCK_PRICE if problem.watch is None else problem.watch.course.block,
        )  # fmt: skip
        if not missed or (width >= min(p, k + 2) and not single):
            break
        begun = None
        if target > UNSETTLED and not single and isinstance(climbed.chain, Chain):
            target = max(UNSETTLED, 0.1 * target)  # it has not missed one, it had not come so far
            begun = Begun(climbed.chain, climbed.steps, climbed.pure)
            continue
        single, width = False, width if single else min(p, 4 * width)
    many = _measured(climbed.chain, k, status.ceiling, problem.tol)
    space, more, worst, half, drift = _refined(M, climbed.chain, k, many, problem.tol, floor, amplified, advance)
    steps, proved = steps + more, held_up(A, climbed.chain, k, status, drift)
    if narrow and (worst > problem.tol or proved is None):
        return None
    top = float(np.max(np.abs(to_numpy(space.theta))))
    blur = max(
        rounding(p, unit_roundoff(np.float64)) * top, rounding_of(M, top)
    )  # rows without differences are all blur
    reached = worst <= problem.tol or worst * top <= blur or space.m >= p
    pairs = stated(package(M, space, k, proved or NOTHING, reached, steps, narrow), M)
    return pairs if half is None else replace(pairs, half=(half, space.Y[:, : pairs.k]))


def _single(problem: SpectralProblem) -> bool:
    """Whether the chain is one of single vectors, where there are such products: as planned, or few being wanted."""
    return problem.k <= LANCZOS_SINGLE if problem.watch is None else problem.watch.course.width == 1


def _narrow(problem: SpectralProblem, M: Operator) -> Operator | None:
    """M in float32 where a chain in float32 pays; None elsewhere."""
    if problem.tol < FLOAT32_TOL or not M.positive or M.dtype != np.float64:
        return None
    asked = None if problem.watch is None else problem.watch.course.narrow
    pays = M.shape[0] >= (SINGLE_NARROW if _single(problem) else LANCZOS_NARROW) if asked is None else asked
    if not pays and not problem.early:
        return None
    trace = M.trace()
    if trace is not None and not RANGE32[0] <= trace <= RANGE32[1] * M.shape[0]:  # tr M ≥ λ₁ ≥ tr M/p
        return None
    A = M.at(np.float32)
    return A if A.dtype == np.float32 and not A.checkable else None


def _climb(
    A: Operator, problem: SpectralProblem, dtype: type, width: int, target: float, amplified: bool, advance: Advance,
    begun: Begun | None = None,
) -> Climbed:  # fmt: skip
    """A chain whose k leading residuals are below ``target``·θ₁; ``begun``: one that is gone on with."""
    p, k = A.shape[0], problem.k
    chain = Chain(p, _columns(p, k, width, np.dtype(dtype).itemsize), A.place, dtype) if begun is None else begun.chain
    keep = min(k + (chain.capacity - k) // 2, chain.capacity - 3 * width) if chain.capacity < p else p
    steps, broken, at, seen, known = 0, 0, k, (0, np.inf), np.zeros(0)
    if begun is not None:
        steps, broken = begun.steps, int(begun.pure == 0)
        if chain.room() < width and chain.capacity < p:
            chain.restart(min(keep, chain.theta.shape[0]))
            broken += 1
        Q = chain.following()[:, : chain.room()]
    else:
        Q = orth(chain.own(gaussian_rows(problem.start, 101, 0, p, width)))
    while True:
        W = A.matmat(Q)
        steps += 1
        advance(1)
        if steps == 1 and dtype is np.float32 and not in_range32(W):
            return Climbed(chain, steps, 0, held=False)
        with single_threaded_blas():  # a threaded one leaves its threads spinning beside the lanes of the next pass
            Q = chain.extend(Q, W)
            whole, ended = chain.m >= p, Q.shape[1] == 0
            full = chain.room() < max(Q.shape[1], width if ended else 1)
            if whole or ended or full or chain.m >= max(at, k):
                chain.ritz(keep if full else settling(k, 0.0) + 1)
                few, theta = min(k, chain.m), to_numpy(chain.theta)
                if dtype is np.float32 and not holds(A, theta, problem.tol):
                    return Climbed(chain, steps, 0, held=False)
                worst = worst_residual(to_numpy(chain.residuals(few)), theta, amplified)
                if problem.watch is not None and few == k:
                    # Of many components the products that are left are overrated: what they prove is judged at the end.
                    proves = partial(could_prove, A, chain, k, worst, width) if k <= LANCZOS_SINGLE else None
                    crowded = None if broken else crowd(chain, k, target, width, mean_value(A))
                    found = partial(chain.vectors, min(k + 1, chain.m))
                    problem.watch.look(steps, chain.m, worst, found, proves, crowded)
                # A chain that ends has every eigenvalue, but none more often than its block is wide: it looks again.
                settled = not ended or _same(theta[:few], known)
                small = few == k and worst <= target and settled
                grows = small and target > UNSETTLED and chain.growth(k) > GROWS * problem.tol * float(theta[0])
                if whole or (small and not grows) or broken > MAX_RESTARTS:
                    return Climbed(chain, steps, 0 if broken else steps)
                known = theta[:few].copy() if ended else known
                at, seen = chain.m + 1 if grows else due(chain.m, worst, seen, target), (chain.m, worst)
            if full and chain.capacity < p:
                chain.restart(min(keep, chain.theta.shape[0]))
                broken += 1
                at, seen = chain.m + (chain.capacity - chain.m) // 2, (0, np.inf)
            if ended:
                Q = _fresh(problem, chain, width, steps)
                broken += 1
            Q = Q[:, : min(chain.room(), Q.shape[1])]


def _same(theta: np.ndarray, known: np.ndarray) -> bool:
    """Whether the leading values are those that were known before."""
    return theta.shape == known.shape and float(np.max(np.abs(theta - known))) <= SAME * float(np.max(np.abs(theta)))


def _columns(p: int, k: int, width: int, itemsize: int) -> int:
    """Columns of the basis: some blocks more than k in any case."""
    return min(p, max(lanczos_columns(p, k, itemsize), k + 6 * width))


def _fresh(problem: SpectralProblem, chain: Chain, width: int, salt: int) -> Array:
    """Random directions outside of the basis: the way out of an invariant space."""
    chain.begin_anew()
    count = min(width, chain.p - chain.m)
    g = chain.own(gaussian_rows(problem.start, 102 + salt, 0, chain.p, count))
    return orth(g, against=chain.V)


def _measured(chain: Chain | Strand, k: int, ceiling: float, tol: float) -> int:
    """Ritz vectors that are measured: no more than the answer where they have settled and nothing else is near them."""
    k = min(k, chain.m)
    theta = to_numpy(chain.theta)
    apart = k > 0 and ceiling < float(theta[k - 1])
    small = worst_residual(to_numpy(chain.residuals(k)), theta, False) <= FINISH_SETTLED * tol
    return k if apart and small else min(chain.m, _even(k + FINISH_SPARE))


def _refined(
    M: Operator, chain: Chain | Strand, k: int, many: int, tol: float, floor: float, amplified: bool, advance: Advance
) -> tuple[Subspace, int, float, Array | None, float]:
    """Rayleigh–Ritz on the ``many`` vectors found with fresh products: residuals of an answer are never recurred ones.

    Where a residual misses the tolerance, it joins the space. The space, products made, the largest residual, where
    ``amplified`` what the root of M makes of the space, if that is at hand, and what products of the chain were off by.
    """
    k = min(k, chain.m)
    with single_threaded_blas():
        V = chain.vectors(many)
        Q = orth(V)
    p, many, best, steps, drift = M.shape[0], Q.shape[1], np.inf, 0, 0.0
    space, limit = Subspace(p, min(p, 2 * many), M.place), max(tol, floor)
    halves: list[Array] | None = [] if amplified else None
    while True:
        half, image = (None, M.matmat(Q)) if halves is None else M.rooted(Q)
        halves = None if half is None or halves is None else [*halves, half]
        steps += 1
        advance(1)
        with single_threaded_blas():
            if steps == 1:
                drift = _drift(chain, V, Q, image)
                del V
            space.extend(Q, image)
            R = space.residual_block(min(k, space.m))
            theta = to_numpy(space.theta)
            sizes = to_numpy(norms(R)) * _weights(theta, R.shape[1], amplified)
            worst = worst_residual(sizes, theta, False)
            if worst <= limit or not worst <= min(0.7 * best, FAR * limit) or space.m >= p or steps >= REFINED:
                return space, steps, worst, _side_by_side(halves), drift
            best = worst
            late = np.flatnonzero(sizes > LEAN_SHARE * limit * abs(float(theta[0])))
            if space.room() < len(late):
                space.restart(many)
                halves = None  # which are of the basis before
            R = M.xp.take(R, M.place.array(late), axis=1)
            Q = orth(R, against=space.V)
            Q = Q[:, : min(space.room(), Q.shape[1])]
            if Q.shape[1] == 0:
                return space, steps, worst, _side_by_side(halves), drift


def _side_by_side(halves: list[Array] | None) -> Array | None:
    """What the root of M makes of a basis, from its blocks; None where it was not kept."""
    if halves is None or len(halves) < 2:
        return halves[0] if halves else None
    return np.concatenate(halves, axis=1)


def _even(columns: int) -> int:
    """As many columns, or a few more where sparse rows have loops for so many: 14 take as long as 16."""
    return next((wide for wide in LOOPS if columns <= wide <= columns + MORE), columns)


def _drift(chain: Chain | Strand, V: Array, Q: Array, image: Array) -> float:
    """The largest ‖Mv − M̃v‖ of Ritz vectors V of a chain of products M̃; ``image`` = MQ, and Q spans them."""
    within, (block, y), worst = inner(Q, V), chain.leaving(V.shape[1]), 0.0
    for first in range(0, V.shape[1], DRIFTING):
        some = slice(first, min(first + DRIFTING, V.shape[1]))
        known = V[:, some] * chain.theta[: V.shape[1]][some] + combine(wide(block), y[:, some])
        worst = max(worst, float(np.max(to_numpy(norms(combine(image, within[:, some]) - known)))))
    return worst


def _weights(theta: np.ndarray, k: int, amplified: bool) -> np.ndarray:
    """By how much residuals of pairs are weighed more than that of the first."""
    top = float(theta[0])
    if not amplified or top <= 0:
        return np.ones(k)
    return np.asarray(np.sqrt(top / np.maximum(theta[:k], unit_roundoff(np.float64) * top)))
