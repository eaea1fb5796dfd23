"""Climbing with a Lanczos chain: when to look at its residuals, whether its arithmetic holds, and single vectors.

residuals fall like those of a geometric series:  m' = m + (log r − log target) / slope
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ritz._core.linalg import to_numpy
from ritz._core.random import gaussian_rows
from ritz._core.threads import single_threaded_blas
from ritz._core.tolerance import unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.certificate.completeness import could_prove as started
from ritz.spectral.constants import FINISH_SPARE, MAX_RESTARTS, SEARCH, lanczos_columns
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.chain import Chain
from ritz.spectral.solvers.krylov import RANGE32, worst_residual
from ritz.spectral.solvers.missed import search_could_prove
from ritz.spectral.solvers.strand import Strand

__all__ = ["Climbed", "climb_strand", "could_prove", "due", "holds", "settling"]

#: Columns beyond k at the first look of a chain of single vectors; and where a product takes so many seconds, beside
#: which a look is nothing: then every step is looked at, up to so many columns.
FIRST = 6
EARLY, LONG_PRODUCT, EVERY = 2, 5e-4, 50
#: Steps after the last that it needs, in units of those so far, and θ_{k+4}/θ_{k+1} above which they bring nothing.
AFTER, CROWDED = 0.17, 0.97
#: Steps after these, at most, and what the trace leaves, in units of θ_{k+1}, up to which they pay.
MORE, NEARLY = 3, 1.0
#: Largest residual, in units of θ₁, from which eigenvalues that decay have shown it. Noise, 1,000×1,000 to 3,000×1,500,
#: k = 3, 10 and 24, is then seen after 31, 47 and 71 products of 77, 116 to 158 and 171 to 253.
FALLING = 1e-2

#: Growth of the basis, at most and at least, between two looks at H.
SELDOM, OFTEN = 0.25, 0.04
#: Times the tolerance that float32 products may round, in units of u times what they round: refining does the rest.
BLUR = 30.0


class Climbed(NamedTuple):
    """A chain, the products made, those since a Gaussian start that nothing interrupted, and whether numbers held."""

    chain: Chain | Strand
    steps: int
    pure: int
    held: bool = True


def holds(A: Operator, theta: np.ndarray, tol: float) -> bool:
    """Whether float32 products can tell residuals of the tolerance: numbers in range, means not far above spreads."""
    top = float(theta[0])
    if not np.isfinite(top) or not RANGE32[0] <= top <= RANGE32[1]:
        return False
    return unit_roundoff(np.float32) * (1 + A.inflation() / top) <= BLUR * tol


def due(m: int, worst: float, seen: tuple[int, float], target: float) -> int:
    """The size of the basis at which to look again: where the residual is small if it goes on falling as it did."""
    often, seldom = m + max(1, int(OFTEN * m)), m + max(1, int(SELDOM * m))
    if not 0 < worst < 0.9 * seen[1] < np.inf or target <= 0:
        return seldom
    fall = np.log(seen[1] / worst) / (m - seen[0])
    return min(seldom, max(often, m + int(np.ceil(np.log(worst / target) / fall))))


def settling(k: int, worst: float) -> int:
    """Vectors that will have settled when residuals are small: some more than are wanted where they begin to fall."""
    return k + FINISH_SPARE + (k // 2 if worst <= FALLING else 0)


def could_prove(A: Operator, chain: Chain | Strand, k: int, worst: float, width: int, products: float) -> bool:
    """Whether a search could prove that the chain will have missed nothing, as far as its Ritz values tell.

    It looks outside of all vectors that will have settled by then: some more than are wanted where eigenvalues decay,
    which a residual that has begun to fall says. Ritz values that are still far from eigenvalues lie further apart.
    A block of more than k columns may prove it by its start.
    """
    some, theta = settling(k, worst), to_numpy(chain.theta)
    if not A.positive or len(theta) <= some:
        return True
    if width > k and started(theta, k, p=chain.p, width=width, steps=products):
        return True
    return search_could_prove(theta, some, k, chain.p, single=isinstance(chain, Strand))


def _settle(chain: Strand, k: int, steps: int, advance: Callable[[int], None]) -> int:
    """Some more steps, where eigenvalues decay: vectors are right to many more digits than asked for, so that other
    roads to them give the same ones, and the more have settled, the less the search for others takes.

    20,000×2,000 with 1 %, eigenvalues 1/j, k = 10: 6 steps more settle 3 vectors, and save 18 products of the search.
    """
    if float(chain.theta[min(k + FINISH_SPARE, len(chain.theta)) - 1]) > CROWDED * float(chain.theta[k]):
        return steps
    for _ in range(min(1 + int(AFTER * chain.m), chain.capacity - chain.m)):
        steps += 1
        advance(1)
        if not chain.extend():  # it has met all there is
            break
    chain.ritz(k + FINISH_SPARE)
    return steps


def _summed(A: Operator, chain: Strand, k: int, steps: int, advance: Callable[[int], None]) -> Climbed:
    """A chain whose residuals are small enough, and a few steps more where the trace then leaves no room for others:
    a search would take more.
    """
    total, following = (A.trace() if A.positive else None), float(chain.theta[k])
    for _ in range(MORE if total is not None else 0):
        rest = float(total or 0.0) - chain.trace()
        if not (SEARCH - 1) * following < rest < NEARLY * following or chain.m >= chain.capacity:
            break
        steps += 1
        advance(1)
        if not chain.extend():
            break
    return Climbed(chain, steps, 0)


def climb_strand(
    A: Operator, problem: SpectralProblem, dtype: type, target: float, amplified: bool, advance: Callable[[int], None]
) -> Climbed | None:
    """A chain whose k leading residuals are below ``target``·θ₁; None where a block has to do it."""
    p, k, product = A.shape[0], problem.k, A.vector_product()
    capacity = lanczos_columns(p, k, np.dtype(dtype).itemsize)
    if product is None or k + FIRST >= p or capacity < k + 4 * FIRST:
        return None
    chain = Strand(product, p, capacity, dtype)
    chain.begin(gaussian_rows(problem.start, 101, 0, p, 1)[:, 0])
    keep = min(k + (capacity - k) // 2, capacity - 3 * FIRST)
    often = problem.watch is not None and problem.watch.course.product >= LONG_PRODUCT
    steps, broken, at, seen = 0, 0, k + (EARLY if often else FIRST), (0, np.inf)
    narrow, some = dtype is np.float32, k + FINISH_SPARE + k // 2
    with single_threaded_blas():
        while True:
            goes_on = chain.extend()
            steps += 1
            advance(1)
            if chain.m >= p or (not goes_on and chain.m < k + FINISH_SPARE):
                return None
            if steps == 1 and narrow and not RANGE32[0] <= chain.longest <= RANGE32[1]:
                return Climbed(chain, steps, 0, held=False)
            full = chain.m >= capacity
            if goes_on and not full and chain.m < at:
                continue
            chain.ritz(keep if full else some + 1)
            if narrow and not holds(A, chain.theta, problem.tol):
                return Climbed(chain, steps, 0, held=False)
            worst = worst_residual(chain.residuals(k), chain.theta, amplified)
            if problem.watch is not None:
                problem.watch.look(
                    steps, chain.m, worst, lambda: chain.vectors(k + 1), partial(could_prove, A, chain, k, worst, 1)
                )
            if not goes_on:  # what it has met holds all that it is to find, or a block looks again
                return Climbed(chain, steps, 0) if worst <= target else None
            if worst <= target or broken > MAX_RESTARTS:
                return _summed(A, chain, k, _settle(chain, k, steps, advance), advance)
            at = chain.m + 1 if often and chain.m < EVERY else due(chain.m, worst, seen, target)
            seen = chain.m, worst
            if full:
                chain.restart(keep)
                broken += 1
                at, seen = chain.m + (capacity - chain.m) // 2, (0, np.inf)
