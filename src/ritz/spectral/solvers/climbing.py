"""Climbing with a Lanczos chain: when to look at its residuals, whether its arithmetic holds, and single vectors.

residuals fall like those of a geometric series:  m' = m + (log r − log target) / slope
"""

from __future__ import annotations

import math
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
from ritz.spectral.constants import FINISH_SPARE, FLOAT32_FLOOR, FLOAT32_NOISE, LOOSE_TOL, MAX_RESTARTS, SEARCH
from ritz.spectral.course import Crowd
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.chain import Chain
from ritz.spectral.solvers.krylov import RANGE32, worst_residual
from ritz.spectral.solvers.missed import search_could_prove
from ritz.spectral.solvers.strand import LEAK, Strand
from ritz.spectral.widths import lanczos_columns

__all__ = ["Climbed", "climb_strand", "could_prove", "crowd", "due", "holds", "mean_value", "settling"]

#: Columns beyond k at the first look of a chain of single vectors; and where a product takes so many seconds, beside
#: which a look is nothing: then every step is looked at, up to so many columns.
FIRST = 6
EARLY, LONG_PRODUCT, EVERY = 2, 5e-4, 50
#: Steps after the last that it needs, in units of those so far, and θ_{k+4}/θ_{k+1} above which they bring nothing.
AFTER, CROWDED = 0.17, 0.97
#: Share of what residuals of float32 chains are asked for below which there are no such steps: products are rounded by
#: more. 552×16,575 with 5.7 %, k = 11: 26 steps leave 1e-8·θ₁, 31 7e-14, and both vectors that are right to 6e-7.
OVERSHOT = 0.05
#: Steps after these, at most, and what the trace leaves, in units of θ_{k+1}, up to which they pay.
MORE, NEARLY = 3, 1.0
#: Largest residual, in units of θ₁, from which eigenvalues that decay have shown it. Noise, 1,000×1,000 to 3,000×1,500,
#: k = 3, 10 and 24, is then seen after 31, 47 and 71 products of 77, 116 to 158 and 171 to 253.
FALLING = 1e-2

#: The k-th value lies in the bulk where α + 2β of the LAST columns of H is above EDGE·θ_k when CROWD[1]·k columns and
#: AHEAD more are there, or above more than that by STEEP·k columns that are missing, from CROWD[0]·k on, and residuals
#: above LOOSE·θ_k. α + 2β over θ_k at 2k + 10 and at 3k + 10 columns, p = 1,000: noise of any shape, k = 3 1.08 and
#: 1.05, k = 12 1.24 to 1.35 and 1.15, k = 20 1.4 and 1.15; noise beside eight large values, k = 12 1.05 and 1.03;
#: eigenvalues 1/j, k = 12 and 20, 0.72 and 0.90 at 2k + 10; j^(-1/4) 0.92, 1.03 and 1.09, 0.86, 0.98 and 0.97.
#: Of blocks, p = 1,200, k = 28, 50 and 90, after 2k columns and BLOCKS blocks: noise 0.99 to 1.02, 1.12 and 1.15, with
#: residuals of 0.06 to 0.1·θ_k; j^(-1/2) 0.80, 0.91 and 0.95, j^(-1/4) 0.93, 0.98 and 0.98, with 0.002 to 0.03. That of
#: noise falls by FALLEN with each k columns more.
LAST, AHEAD, BLOCKS, CROWD, EDGE, STEEP, FALLEN, LOOSE = 6, 10, 6, (2.0, 3.0), 0.97, 0.16, 0.04, (5e-3, 4e-2)
#: Means of all eigenvalues up to which θ₁ says that none stands out: then a few columns more than these and than k are
#: enough. That of noise, p rows of q columns, is (1 + √(p/q))² ≤ 4; of 1/j, p = 800, 110, of j^(-1/2) 14.
LEVEL = 4.5
#: Products in all that a digit takes there, and more for k^0.6 of single vectors or each component of blocks, p =
#: 1,000: noise to six digits takes 49 to 60 for k = 1, 63 to 75 for 3, 90 to 130 for 10, 180 to 230 for 30, 390 for
#: 70, noise at 1/200 of θ₁ to four digits 100 for 12, 150 for 20. Those with blocks of 16: 29 to 35 for k = 28, 34 to
#: 39 for 50, 39 to 46 for 90. They grow as gaps narrow: k = 12 takes 125 for p = 400, 181 for 2,000.
PLATEAU, PLATEAU_BLOCK = (1.5, 5.2), (4.2, 0.033)

#: Roundings of as many Ritz values as a chain has that the trace has to leave for there to be a bulk below them.
UNSEEN = 4.0

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


def mean_value(A: Operator) -> float:
    """The mean of all eigenvalues of A; 0 where its trace is not known."""
    return float(A.trace() or 0.0) / A.shape[0]


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


def crowd(chain: Chain | Strand, k: int, target: float, width: int = 1, mean: float = 0.0) -> Crowd | None:
    """What it takes to go on where the k-th value lies in the bulk of the spectrum; None where that is not seen.

    The last columns of H tell where the bulk of what was not found ends. Eigenvalues that decay leave it below the k-th
    Ritz value soon; in a bulk it stays above until the chain has come three times as far as k. Where no Ritz value is
    far above the ``mean`` of all eigenvalues, there is nothing else than a bulk.
    """
    alone, theta = width == 1, to_numpy(chain.theta)
    far, last = (chain.m - (AHEAD if alone else BLOCKS * width)) / k, LAST if alone else LAST // 2 * width
    level = float(theta[0]) <= LEVEL * mean and chain.m >= max(last, k) + (EARLY if alone else width)
    if far < CROWD[0] and not level:
        return None
    least = float(theta[k - 1])
    if float(np.max(to_numpy(chain.residuals(k)))) < LOOSE[not alone] * least:
        return None
    more = STEEP * max(0.0, CROWD[1] - far) if alone else FALLEN * (CROWD[0] - far)
    if not chain.edge(last) >= (EDGE + (0.0 if level else more)) * least > 0:
        return None
    share = least / float(theta[0])
    first, each = PLATEAU if alone else PLATEAU_BLOCK
    count, wider = (k**0.6, 1.0) if alone else (k, (16 / width) ** 0.6)
    products = (first + each * count) * (chain.p / 1000) ** (1 / 3) * wider
    return Crowd(max(math.log10(share / target), 1.0) * products, share, searched=not alone)


def _settle(chain: Strand, k: int, steps: int, advance: Callable[[int], None]) -> int:
    """Some more steps, where eigenvalues decay: vectors are right to many more digits than asked for, so that other
    roads to them give the same ones, and the more have settled, the less the search for others takes.

    20,000×2,000 with 1 %, eigenvalues 1/j, k = 10: 6 steps more settle 3 vectors, and save 18 products of the search.
    """
    if float(chain.theta[min(k + FINISH_SPARE, len(chain.theta)) - 1]) > CROWDED * float(chain.theta[k]):
        return steps
    if chain.dtype.itemsize < 8 and worst_residual(chain.residuals(k), chain.theta, False) <= OVERSHOT * FLOAT32_FLOOR:
        return steps
    for _ in range(min(1 + int(AFTER * chain.m), chain.capacity - chain.m)):
        steps += 1
        advance(1)
        if not chain.extend():  # it has met all there is
            break
    chain.ritz(k + FINISH_SPARE)
    return steps


def _leave_noise(A: Operator, problem: SpectralProblem, chain: Strand, steps: int) -> None:
    """Leave the road where a chain in float32 ends before it has k vectors, and not because there are no more: what the
    trace leaves is a bulk below the rounding of its products, of which no iteration proves anything.
    """
    total = A.trace() if A.positive and chain.dtype.itemsize < 8 else None
    if problem.watch is None or total is None or chain.m >= chain.p:
        return
    chain.ritz()
    top = float(chain.theta[0])
    if total - chain.trace() > UNSEEN * FLOAT32_NOISE * (chain.m + 1) * top:
        found = partial(chain.vectors, min(chain.m, problem.k + 1))
        problem.watch.look(steps, chain.m, 1.0, found, None, Crowd(2.0 * steps, FLOAT32_NOISE))


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
    chain = Strand(product, p, capacity, dtype, leak=LEAK if problem.tol >= LOOSE_TOL else 0.0)
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
                _leave_noise(A, problem, chain, steps)
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
                proves = partial(could_prove, A, chain, k, worst, 1)
                crowded = None if broken else crowd(chain, k, target, mean=mean_value(A))
                early = chain.m < CROWD[0] * k + AHEAD
                problem.watch.look(steps, chain.m, worst, lambda: chain.vectors(k + 1), proves, crowded, early)
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
