"""Keeping to a plan, or leaving it: what an iteration has seen, how far it still has to go, and what else there is.

    r    products until the residual is below tol·θ₁, from those seen: digits that are missing over digits a product,
         times HASTE, since block Krylov gets faster on the way; never more than PATIENCE times the products so far
    T    r·(product + orthonormalising) + looking                                     on the road that was planned
    T'   forming the Gram matrix and solving it; another solver from its beginning    on every other road

A plan assumes that eigenvalues decay. Where k lies in the bulk of the spectrum they do not, and the residuals say so
after a few products: when T > LEAVE·min T', the solver stops and hands over the Ritz vectors it has. So it does when
Ritz values crowd so much that the iteration would prove too little in the end, and T' be paid as well. The decision
depends on Ritz values, residuals and committed rates, never on a clock, so the same data take the same road everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ritz._core.linalg import Array
from ritz.spectral import costs
from ritz.spectral.constants import (
    BLOCK_PRICE,
    FACTOR_REACH,
    FEW_LOOKS,
    HASTE,
    LANCZOS_SINGLE,
    LEAVE,
    LEAVE_CROWDED,
    LEAVE_UNPROVED,
    LOOK_GROWTH,
    LOOK_STEPS,
    LOST,
    PATIENCE,
    PROOF_PRICE,
    SEARCH_PRODUCTS,
    TRIED,
    TRIED_CALLS,
    TRIED_ENTRY,
    TRIED_STEPS,
)

if TYPE_CHECKING:
    from ritz.spectral.plan import Plan

__all__ = ["Course", "Crowd", "History", "Left", "Watch", "worth_a_try"]

#: Products in all that are expected, at least, in units of those so far, where the k-th value lies in the bulk.
LATE = 1.15
#: Passes after those of an iteration: the sums of squares, the finish, and the turn to the other side.
FINISHED = 3


@dataclass(frozen=True)
class Course:
    """What a road costs from here on, and what every other would, in predicted seconds.

    Attributes
    ----------
    product : seconds of one product with M
    side, width : rows of the basis, and columns of a block, for what making it orthonormal costs
    most : columns of the basis before a restart
    others : roads that could be taken instead, and what they cost from their beginning
    turn : products after which the road is left whatever is seen, and for which: for tests
    held : bytes that the others hold beyond the data
    copied : bytes that a copy of the rows may take for the sake of products; they are counted in the plan's
    proof : how many times PROOF_PRICE a proof may cost
    block : products with one vector that take as long as one with a block that looks for what was missed
    narrow : whether a chain of products in float32 saves time; None where the length of its vectors says so
    formed : precision in which the direct route forms its Gram matrix
    factor : what a proof by a factor costs (``solvers/factored.py``); infinity where there is none
    spare : how much of what the iteration has cost that may be, where the direct route would not be asked
    reach : θ_k, in units of θ₁, from which it tells the k-th value from the next
    """

    product: float = 0.0
    side: int = 0
    width: int = 1
    others: tuple[tuple[str, float], ...] = ()
    turn: tuple[int, str] | None = None
    most: int = 1 << 30
    held: float = 0.0
    copied: float = 0.0
    proof: float = 1.0
    block: float = BLOCK_PRICE
    factor: float = math.inf
    spare: float = PROOF_PRICE
    reach: float = FACTOR_REACH
    narrow: bool | None = None
    formed: str = "float64"

    def cost(self, products: float, m: int) -> float:
        """Seconds of that many more products, the basis growing from m columns."""
        if not math.isfinite(products):
            return math.inf
        middle = min(m + int(self.width * products / 2), max(min(self.side, self.most), m))
        looks = 1 + math.log1p(self.width * products / max(m, 1)) / LOOK_GROWTH
        each = self.product + costs.step(self.side, middle, self.width)
        return products * each + min(looks, products) * costs.looking(middle)


def worth_a_try(entries: float, k: int, direct: Plan, chain: Plan) -> bool:
    """Whether a chain of single vectors of dense rows is tried before the Gram matrix, to which it gives way where
    nothing decays: its price is that of eigenvalues that decay slowly, and what a try may lose a share of the other's.
    Those of many components do: SVD(34) of 687×388 in float32, σ = j^(-½), takes 8.5 ms by the Gram matrix, not 10.
    """
    if chain.solver != "lanczos" or chain.course is None or chain.course.width > 1 or k > LANCZOS_SINGLE:
        return False
    lost = TRIED_CALLS + TRIED_ENTRY * entries + (k + TRIED_STEPS) * chain.course.product
    return direct.seconds >= TRIED * chain.seconds and lost <= LOST * direct.seconds


class Crowd(NamedTuple):
    """A k-th value in the bulk of the spectrum: products in all until the tolerance, its share of θ₁, and whether a
    search proves something where that share is large."""

    products: float
    share: float
    searched: bool = False


class Left(Exception):
    """A solver left the road of its plan: for which, why, and with what it has."""

    def __init__(self, road: str, words: str, vectors: Array, products: int) -> None:
        super().__init__(words)
        self.road, self.words, self.vectors, self.products = road, words, vectors, products


class History:
    """Residuals that were looked at, by the number of products."""

    def __init__(self, tol: float) -> None:
        self.tol = max(tol, 1e-15)
        self.seen: list[tuple[int, float]] = []  # products, largest residual in units of θ₁

    def note(self, products: int, worst: float) -> None:
        """Remember a residual; fewer products than before belong to a chain that was begun anew, with a wider block."""
        if self.seen and products <= self.seen[-1][0]:
            self.seen.clear()
        if math.isfinite(worst):
            self.seen.append((products, worst))

    def left(self) -> float:
        """Products that are still needed, as far as those so far tell; infinity before two were seen."""
        if len(self.seen) < 2:
            return math.inf
        now, worst = self.seen[-1]
        before, first = next((at for at in reversed(self.seen[:-1]) if now - at[0] >= FEW_LOOKS), self.seen[0])
        digits, gained = math.log10(max(worst / self.tol, 1.0)), math.log10(max(first, 1e-300) / max(worst, 1e-300))
        slope = gained / (now - before)
        return min(HASTE * digits / slope if slope > 0 else math.inf, PATIENCE * now)

    def due(self, products: int, m: int, width: int) -> bool:
        """Whether to look at the residuals of a basis of m columns: always at first, later now and then."""
        if products <= LOOK_STEPS or not self.seen:
            return True
        wait = min(self.left() / 2, LOOK_GROWTH * m / max(width, 1))
        return products - self.seen[-1][0] >= wait


class Watch:
    """Compares the road that a solver is on with the others while it runs."""

    def __init__(self, course: Course, tol: float) -> None:
        self.course, self.history = course, History(tol)
        self.crowd: Crowd | None = None  # where one was seen
        self.owed = False  # whether this road was kept to because a factor proves in the end what it does not

    def turns(self, products: int) -> bool:
        """Whether a test wants the road to be left here."""
        return self.course.turn is not None and products >= self.course.turn[0]

    def pays(self, products: int, k: int) -> bool:
        """Whether the direct route would be asked to prove what that many products, and a finish, have found."""
        whole = self.course.cost(products + FINISHED, k)
        return any(there <= self.course.proof * PROOF_PRICE * whole for _, there in self.course.others)

    def factor_pays(self, products: int, k: int) -> bool:
        """Whether a factor is to prove what that many products have found, instead of the direct route or by itself."""
        whole, course = self.course.cost(products, k), self.course
        if course.turn is not None or not course.factor < math.inf or not course.proof * whole < math.inf:
            return False
        direct = min((there for _, there in course.others), default=math.inf)
        paid = direct <= course.proof * PROOF_PRICE * whole
        return self.owed or course.factor <= course.proof * (PROOF_PRICE if paid else course.spare) * whole

    def look(
        self,
        products: int,
        m: int,
        worst: float,
        vectors: Callable[[], Array],
        proves: Callable[[float], bool] | None = None,
        crowd: Crowd | None = None,
        early: bool = False,
    ) -> None:
        """Leave the road, with the Ritz vectors so far, if another one is cheaper than going on.

        ``m`` columns are in the basis after that many products, and the largest residual is ``worst``·θ₁. ``proves``
        tells whether that many products in all could prove that nothing was missed: where they cannot, and the direct
        route will be asked to, it is paid in any case. ``crowd``: where the k-th value was seen to lie in the bulk, of
        which no search proves anything. ``early``: residuals have had no occasion to fall yet, and tell nothing.
        """
        turned = self.turns(products)
        elsewhere = self._turned(products) if turned else self._cheaper(products, m, worst, proves, crowd, early)
        if elsewhere is not None:
            raise Left(*elsewhere, vectors(), products)

    def _turned(self, products: int) -> tuple[str, str] | None:
        road = self.course.turn[1] if self.course.turn is not None else ""
        return road, f"after {_count(products)} the road was left for {road}, as was asked for"

    def _cheaper(
        self, products: int, m: int, worst: float, proves: Callable[[float], bool] | None, crowd: Crowd | None,
        early: bool = False,
    ) -> tuple[str, str] | None:  # fmt: skip
        """The road to take instead, and why; None to go on."""
        self.history.note(products, worst)
        self.crowd = crowd = crowd or self.crowd
        if not self.course.others or (crowd is None and (early or len(self.history.seen) < FEW_LOOKS)):
            return None
        road, there = min(self.course.others, key=lambda other: other[1])
        left = self.history.left()
        if crowd is not None:
            expected = max(crowd.products, LATE * products) - products
            left = max(left, expected) if crowd.searched and math.isfinite(left) else expected
        here = self.course.cost(left, m)
        ended = FINISHED + SEARCH_PRODUCTS if crowd is not None and crowd.searched else 0
        whole = self.course.cost(products + left + ended, self.course.width)
        paid = there <= self.course.proof * PROOF_PRICE * whole < math.inf
        tells = crowd is None or crowd.share >= FACTOR_REACH  # float32 knows θ_k to so many digits
        unproved = paid and not _provable(crowd, tells, proves, products + left)
        factored = crowd is None or crowd.share >= self.course.reach
        proof = min(there, self.course.factor if factored else math.inf) if unproved else 0.0
        patience = LEAVE_UNPROVED if proof == there else LEAVE
        if crowd is not None:
            # what blocks cost is priced too high where a basis is long: noise, 50,000×5,000, k = 100, 4.1 s and not 1.5
            patience = LEAVE_CROWDED if unproved else LEAVE if self.course.width > 1 else 1.0
        self.owed |= 0 < proof < there
        if here + proof <= patience * there:
            return None
        words = (
            f"after {_count(products)} the residual was {worst:.0e}·θ₁: about {left:.0f} more would take {here:.2g} s"
            f"{' and prove too little' if unproved else ''}, {road} {there:.2g} s"
        )
        return road, words


def _provable(crowd: Crowd | None, tells: bool, proves: Callable[[float], bool] | None, products: float) -> bool:
    """Whether so many products in all may prove that nothing was missed."""
    if crowd is not None:
        return crowd.searched and tells
    return proves is None or proves(products)


def _count(products: int) -> str:
    return f"{products} product{'s' if products != 1 else ''}"
