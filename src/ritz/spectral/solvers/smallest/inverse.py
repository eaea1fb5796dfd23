"""``inverse``: block Lanczos on (M + sI)⁻¹ by one sparse factorisation, and a second one that counts.   [ER80; GLS94]

    M + sI = LJLᵀ          by dense fronts in the order of minimum degree (``fronts.py``)
    (M + sI)⁻¹ V = V H + …     off the null vectors and what was found; large eigenvalues 1/(λ + s) come first
    θ, residuals           through the root of M (``ritz.py``): nothing is taken from the inverse but directions
    c(τ) = m + K           negative pivots of M − τI between θ_K and θ_{K+1} (``inertia.py``): none was missed

Where c is larger, directions were missed, as a block sees an eigenvalue only as often as it is wide: what was found is
locked, and a fresh start looks for the rest. Where θ_k and θ_{k+1} are too close for the rounding of a factorisation,
some pairs are added until a gap is wide enough; they are not returned, but the proof rests on them. A larger cluster is
counted just below its first member.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, MemoryLimitError
from ritz._core.linalg import orth
from ritz._core.random import gaussian_rows
from ritz._core.warn import warn
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.chain import Chain
from ritz.spectral.solvers.smallest.entries import Entries
from ritz.spectral.solvers.smallest.found import UNPROVED, Found
from ritz.spectral.solvers.smallest.fronts import Factor, Fronts
from ritz.spectral.solvers.smallest.inertia import Count, count_below
from ritz.spectral.solvers.smallest.ritz import Null, Ritz, off, ritz, turned

__all__ = ["COUNTED", "POSITIVE", "inverse"]

Vector = NDArray[np.float64]
Apply = Callable[[Vector], Vector]

#: Why no eigenvalue is missing.
COUNTED = "the negative pivots of a sparse factorisation count every smaller eigenvalue"
POSITIVE = "no eigenvalue is negative"
#: The shift s, in units of ‖M‖: above the rounding of a factorisation, 1e-14, and below most eigenvalues.
SHIFT = 1e-13
#: Residuals of (M + sI)⁻¹, relative to its eigenvalue and to tol, at which a pair has settled, and the least that they
#: come to; that of the pair that follows.
SETTLED, LEAST, FOLLOWING = 1e-2, 1e-13, 1e-3
#: Residuals of M, relative to θ and to ‖M‖, at which a pair is one to rest a count on: the first in units of that.
PAIR, ROUNDED = 100.0, 1e-13
#: Columns of a block: solves with four cost half as much a column as with one.
WIDTH = 4
#: Share of θ_{K+1} that a gap takes at least, and multiples of the backward bound.
GAP, ABOVE = 1e-6, 4.0
#: What a count is expected to be off, in units of ‖M‖, before one was made.
EXPECTED = 1e-12
#: Pairs beyond k that are looked at for a gap; counts that are made; restarts of a chain; columns of its basis.
SPARE, COUNTS, RESTARTS, BASIS = 16, 8, 12, 48
#: Starts of chains, for one number of pairs, after which those that did not settle never will.
STARTS = 12


def inverse(problem: SpectralProblem, entries: Entries, null: Null) -> Found:
    """The k smallest pairs off the null vectors, with a count that proves them complete."""
    search = _Search(problem, entries, null)
    k, most = problem.k, entries.p - null.m
    search.extend(k)  # and the one that follows, roughly
    for _ in range(COUNTS):
        K = search.gap(k)
        while K is None and search.settled < min(k + SPARE, most) and not search.stuck:
            search.extend(min(search.settled + SPARE // 2, most))
            K = search.gap(k)
        if K is None:
            break
        pairs = search.pairs(K)
        if most == K:
            return search.found(pairs, K, np.inf)
        counted = search.count(search.between(K))
        missing = 0 if counted is None else counted.below - null.m - K
        if missing > 0 and search.stuck:
            break
        if missing > 0:
            search.extend(min(search.settled + missing, most), afresh=True)
        elif counted is not None and missing == 0 and counted.floor > float(pairs.bounds()[1][-1]):
            return search.found(pairs, K, counted.floor)
        else:
            search.skip(K)
    return _cluster(search, k)


def _cluster(search: _Search, k: int) -> Found:
    """The answer where θ_k lies in a cluster, or among eigenvalues as close: counted just below it."""
    pairs, away, tau = search.pairs(min(k, search.V.shape[1])), 2 * search.beta, 0.0
    best: tuple[int, float] | None = None
    for _ in range(COUNTS):
        J, tau = search.below(k, away)
        if tau <= 0:
            break
        counted = search.count(tau)
        missing = 0 if counted is None else counted.below - search.null.m - J
        if missing > 0 and search.stuck:
            return search.unproved(pairs)
        if missing > 0:
            search.extend(min(search.settled + missing, search.entries.p - search.null.m), afresh=True)
            pairs, best = search.pairs(min(k, search.V.shape[1])), None
            continue
        if counted is not None and missing == 0 and counted.floor > search.highest(J):
            best = (J, counted.floor) if best is None or counted.floor > best[1] else best
            if search.beta <= 4 * away:
                break
        # pivots near the cluster are small, and make others large: farther off, less is lost
        away = max(float(np.sqrt(away * search.beta)), 4 * away)
    if best is not None:
        return search.found(pairs, *best)
    null = tau <= 0 and not bool(np.any(pairs.bounds()[0][:k] > 0))
    return search.found(pairs, 0, 0.0) if null else search.unproved(pairs)


class _Search:
    """The factorisation, the directions found so far, and their Ritz pairs."""

    def __init__(self, problem: SpectralProblem, entries: Entries, null: Null) -> None:
        self.problem, self.entries, self.null = problem, entries, null
        self.products, self.starts, self.given_up = 0, 0, set[int]()
        self.norm = entries.norm if entries.norm > 0 else 1.0
        self.fronts, self.factor, self.shift = self._factor()
        self.V = np.zeros((entries.p, 0))
        self.target = max(SETTLED * problem.tol, LEAST)
        self.settled, self.stuck = 0, False  # stuck: a chain did not settle, and no other is begun
        self.beta = EXPECTED * self.norm
        self.all: Ritz | None = None

    def _factor(self) -> tuple[Fronts, Factor, float]:
        shift = SHIFT * self.norm + 4 * self.entries.formed
        try:
            fronts = Fronts(self.entries.written)
            while True:
                factor = fronts.factorized(shift)
                if factor is not None:
                    return fronts, factor, shift
                shift *= 16
        except MemoryError as error:
            raise MemoryLimitError(
                "a sparse factorisation must fit into memory", received=f"{self.entries.p:,} rows, too many",
                hint="use fewer neighbours, or solver='lanczos'",
            ) from error  # fmt: skip

    def apply(self, V: Vector, against: Vector) -> Vector:
        """(M + sI)⁻¹ V off the null vectors and ``against``."""
        self.products += 1
        X = self.factor.solve(V)
        return off(off(X, self.null.Q), against)

    def extend(self, need: int, afresh: bool = False) -> None:
        """Settle ``need`` pairs in all; ``afresh``: one more at least, from a new start."""
        need, begun = max(need, self.settled + afresh), self.starts
        while self.settled < need and not self.stuck:
            # a chain ends early where eigenvalues of the inverse are far apart, or repeated more often than it is wide
            V = self.V[:, : self.settled]
            found = self._chain(V, need - self.settled)
            V = np.asarray(orth(np.hstack([V, off(found, V)])))
            # What is left of large eigenvalues in the directions falls by λ/‖M‖ in one more step. Those of the smallest
            # come first in it: rounding along them grows the most, and is taken off the others.
            V = np.linalg.qr(off(self.apply(turned(self.entries, V), V[:, :0]), self.null.Q))[0]
            V = np.linalg.qr(off(V, self.null.Q))[0]
            self.all = ritz(self.entries, self.null, V)
            self.V = self.all.V
            late = self.all.own > np.maximum(PAIR * self.target * self.all.theta, ROUNDED * self.norm)
            self.settled = int(np.argmax(np.append(late, True)))
            self.stuck = self.stuck or self.starts - begun > STARTS

    def _chain(self, locked: Vector, many: int) -> Vector:
        """Leading vectors of the inverse off what is locked: ``many`` that have settled, and the one that follows."""
        p, left = self.entries.p, self.entries.p - self.null.m - locked.shape[1]
        width, self.starts = min(left, max(WIDTH, min(many, 4 * WIDTH))), self.starts + 1
        chain = Chain(p, min(left, max(BASIS, 2 * many + 8 * width)))
        start = gaussian_rows(self.problem.start, 200 + self.starts, 0, p, width)
        Q = np.asarray(orth(off(off(start, self.null.Q), locked)))
        broken = 0
        while True:
            Q = chain.extend(Q, self.apply(Q, locked))
            Q = off(off(Q, self.null.Q), locked)  # what rounding leaves along these would grow by ‖M‖/s a step
            ended, full = Q.shape[1] == 0, chain.room() < max(Q.shape[1], 1)
            if chain.m > many or ended or full:
                chain.ritz()
                few = min(many + 1, chain.m)
                share = np.asarray(chain.residuals(few)) / np.maximum(np.abs(chain.theta[:few]), 1e-300)
                done = bool(np.all(share[:many] <= self.target)) and bool(np.all(share[many:] <= FOLLOWING))
                if ended or done or broken > RESTARTS or chain.m >= left:
                    images = chain.pairs(few)[1]  # one more step of the inverse, and free
                    return np.asarray(images / np.linalg.norm(images, axis=0))
            if full and chain.capacity < left:
                chain.restart(min(many + width, chain.capacity - 2 * width, chain.m))
                broken += 1
            if chain.room() < Q.shape[1]:  # the whole space is nearly there
                Q = Q[:, : chain.room()]
                chain.begin_anew()

    def gap(self, k: int) -> int | None:
        """The first K ≥ k after which a gap is wide enough to be counted in."""
        theta, most = self._theta(), self.entries.p - self.null.m
        for K in range(k, min(self.settled, len(theta)) + 1):
            if most == K:
                return K
            if len(theta) > K and K not in self.given_up and self._wide(theta[K - 1], theta[K]):
                return K
        return None

    def _wide(self, low: float, high: float) -> bool:
        return high - low > max(GAP * high, ABOVE * self.beta)

    def between(self, K: int) -> float:
        """A shift between θ_K and θ_{K+1}."""
        theta = self._theta()
        return float((theta[K - 1] + theta[K]) / 2)

    def below(self, k: int, away: float) -> tuple[int, float]:
        """How many pairs lie below the cluster of θ_k, and a shift that far below it."""
        theta = self._theta()
        far = (
            j for j in range(min(k, len(theta)) - 1, 0, -1) if theta[j] - theta[j - 1] > max(GAP * theta[j], 2 * away)
        )
        J = next(far, 0)
        return J, float(theta[J] - max(away, 1e-12 * theta[J]))

    def skip(self, K: int) -> None:
        """Look for another gap than the one after θ_K."""
        self.given_up.add(K)

    def count(self, tau: float) -> Count | None:
        """Eigenvalues below tau."""
        counted = count_below(self.fronts, tau, self.entries.formed)
        if counted is not None:
            self.beta = max(tau - counted.floor, 2.0**-53 * self.norm)
        return counted

    def pairs(self, K: int) -> Ritz:
        """The K smallest pairs."""
        return ritz(self.entries, self.null, self.V[:, :K])

    def highest(self, J: int) -> float:
        """The largest Ritz value of the first J pairs alone, from above."""
        return float(self.pairs(J).bounds()[1][-1]) if J else -np.inf

    def _theta(self) -> Vector:
        if self.all is None:
            raise AssertionError("nothing was found yet")
        return self.all.theta

    def found(self, pairs: Ritz, counted: int, floor: float) -> Found:
        """The answer with its floor."""
        words = COUNTED if np.isfinite(floor) else "the subspace is the whole space"
        words = POSITIVE if floor == 0 and counted == 0 else words
        return Found(
            pairs, self.null, counted, floor, 0.0, words, self.entries.unit, self.norm, self.products,
            highest=self.highest(counted) if counted < pairs.theta.shape[0] else None,
        )  # fmt: skip

    def unproved(self, pairs: Ritz) -> Found:
        """The answer where no count was possible."""
        warn(
            "no gap between the smallest eigenvalues is wider than the rounding of a factorisation: that none was "
            "missed is not proved. Ask for another number of components, or for solver='svd' where it fits.",
            AccuracyWarning,
        )
        return Found(pairs, self.null, 0, -np.inf, 0.0, UNPROVED, self.entries.unit, self.norm, self.products)
