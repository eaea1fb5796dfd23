"""Has an eigenvalue been missed? Fresh Gaussian columns look for it where the found vectors are taken out.

    Q (p×j) found,  H = QᵀMQ,  R = MQ − QH,  D = (I − QQᵀ) M (I − QQᵀ) ⪰ 0:     M = QHQᵀ + D + RQᵀ + QRᵀ

so every eigenvalue beyond the k-th is at most max(θ_{k+1}, μ) + ‖R‖₂ with μ = λ₁(D) (Weyl), and at most any c > μ with
λ_{k+1}(H + RᵀR/(c − μ)) ≤ c (``joined.py``), which feels R by its square alone: Q may hold vectors far from settled.

Let ξ be the largest Ritz value of D on the block Krylov space of c Gaussian columns g, q products, and suppose
ξ < (1 − ε)μ =: a. Then xᵀ(D − a)x < 0 for x = f(D)g, f = T_{q−1} or f(t) = t·T_{q−2}, T Chebyshev's polynomial on
[0, a], and each column has

    εμ f(μ)² g₁² < a Σ f(μᵢ)² gᵢ²     ⇒     g₁² < (1 − ε)/ε · Z/T²,    𝔼Z ≤ φ = p  or  ‖D‖_F²/μ² ≤ tr D/μ

which happens with probability at most √(2/π)·√((1 − ε)φ/ε)/T, T = T((1 + ε)/(1 − ε)), by independence of g₁ and Z; for
all columns with its c-th power. The idea is that of [KW92]; with ‖D‖_F, or tr D = tr M − tr H, the dimension p need
not enter. A block says more than its columns: the combination of these that leans most to the first eigenvector has
χ²_c in place of g₁², and the other parts stay independent normals, Z = Σ wᵢ hᵢ², Σwᵢ ≤ φ, wᵢ ≤ w = 1 or (1 − ε)². With
s = (1 − ε)/(εT²), for any t > 0 with 2tsw < 1,

    ℙ(χ²_c < sZ)  ≤  (1 + 2t)^(−c/2) · (1 − 2tsw)^(−φ/2w)         least at  t = (c − φs) / 2s(cw + φ)     (Chernoff)

A chain of single vectors says more than that: it has seen where the eigenvalues of D are (``unseen.py``).

The more vectors are taken out, the further μ lies below θ_{k+1}, and the fewer products prove that none is missing. The
search ends when the ceiling is so far below θ_k that the gap behind the k-th pair is nearly as wide as it can be shown
to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ritz._core.linalg import (
    Array,
    Floats,
    combine,
    eigh,
    inner,
    namespace,
    norms,
    orth,
    orth_by_squares,
    symmetric,
    to_numpy,
    wide,
)
from ritz._core.random import gaussian_block, gaussian_rows
from ritz._core.threads import single_threaded_blas
from ritz.operators.base import Operator
from ritz.spectral.certificate.completeness import FAILURE
from ritz.spectral.constants import BLOCK_PRICE
from ritz.spectral.problem import Completeness
from ritz.spectral.solvers.strand import LEAK, Strand
from ritz.spectral.solvers.unseen import Unseen, least_level, needed, shown
from ritz.spectral.subspace import Subspace

__all__ = [
    "COLUMNS", "PRODUCTS", "SHARE", "STRAND_PRODUCTS", "SURE", "TRACED", "Fresh", "by_search", "by_strand",
    "drawn_square", "fails", "left_for_others", "relative_gap",
]  # fmt: skip

#: Fresh columns, and products with them at most.
COLUMNS, PRODUCTS = 8, 8
#: Searches of one fit at most: with single vectors and with a block, and again where one was missed.
SEARCHES = 6
#: Probability with which one statement may be wrong: one after every product, and one on ‖D‖_F, of every search. A
#: search with single vectors makes but one.
SHARE, STRAND_SHARE = FAILURE / (SEARCHES * (PRODUCTS + 1)), FAILURE / SEARCHES

#: Products at most where those with one vector are cheap: a chain of its own, and how many of them a block has to save.
#: One chain of 2q products proves more than two of q: the first products of a chain, and what other eigenvalues add to
#: its Ritz value, count once. 200,000×50,000 with 0.05 %, k = 1: 13 products, and 16 of two chains.
STRAND_PRODUCTS, STRAND_LEAST = 40, 20
#: Products of such a chain over those that Chebyshev's polynomials ask for, where eigenvalues decay: 31 sparse tables
#: of 900×900 to 8,000×700, positive numbers, counts and columns that thin out, k = 1 to 20: 479 and 634.
FEWER = 0.75
#: Share of what may be left of the basis of a chain in its vectors that may be left in those of such a chain: how much
#: it is off is settled before it begins.
LITTLE = 0.01
#: Products of such a chain between two looks at its largest Ritz value, where that is above what is to be shown.
LOOK = 4
#: Growth of that value between two looks, in units of its distance from the k-th found, up to which it stands still;
#: and how much faster than before its chain may come to show more.
STANDS, HASTE = 0.02, 1.5
#: Halvings of the bracket in which a lower ceiling is sought, where one is known and where none is; and where the
#: first begins.
TIGHTER, UNTIL, BELOW = 4, 12, 0.75
#: Side below which a block is not looked at, unless rows are well filled: what else is done with it counts more.
LONG_SIDE = 3000

#: Share of the gap between θ_k and θ_{k+1} by which a ceiling may stay above θ_{k+1}: what the gap bounds grows by a
#: quarter.
NEAR = 0.2
#: The same where a search with single vectors has taken more than this share of the products that found the pairs.
#: Entries in (0, 1), 3,000×1,200 with 15,000 of them, k = 1, where a bulk begins at 0.53·θ₁ and the pair is found by 16
#: products: 26 and 46 of them search. A step before a bulk, 552×16,575 with 5.7 %, k = 11, found by 31: 20 and 30. Not
#: where SOON more products come as near as else: 66,994×2,241, k = 1, 13 and 14 in all, ceilings at 0.32 and 0.14·θ₁.
LATE, PATIENT, SOON = 0.5, 0.5, 2

#: Share of θ_{k+1} below which there is no gap behind the k-th pair; and what a ceiling may be above it then.
NO_GAP, ABOVE = 1e-6, 0.01

#: Where a ceiling is sought in a bracket.
STEPS = np.arange(1, 17) / 16
#: Share of itself below which a bracket has no numbers between its ends.
NARROW = 1e-12

#: What float32 may add to the largest Ritz value of the complement, as a share of it.
HELD32 = 2e-5

#: Roundings of float32 products in a trace, and of the trace itself, as a share of it.
TRACED = 1e-5

#: Share of its block below which what is left of a direction may hold too much of the space.
SHORT = 1e-2

#: The largest ε that is asked for.
SURE = 1.0 - 1e-9

#: What it says of itself.
WORDS = f"fresh Gaussian columns miss a larger eigenvalue with probability below {FAILURE:.0e}"

#: Which stream of random numbers they come from.
STREAM = 1001


@dataclass
class Fresh:
    """Gaussian columns for a search to come, which take part in a product that has room for them.

    Tiles of a device have a width of their own, whatever the block: a search begins with the image of these columns for
    nothing. What is found before does not depend on them.
    """

    seed: int
    columns: Array = None  # G (p, c)
    image: Array = None  # M G

    def beside(self, M: Operator, Q: Array) -> Array:
        """M Q; and M G by the same product, once, where that takes no longer."""
        p, l = Q.shape
        room = min(M.block_width(l), p) - l
        if self.image is not None or room < COLUMNS:
            return M.matmat(Q)
        self.columns = gaussian_block(M.place, self.seed, STREAM, p, room)
        both = M.matmat(M.place.xp.concat([Q, self.columns], axis=1))
        self.image = both[:, l:]
        return both[:, :l]

    def fits(self, room: int) -> bool:
        """Whether their image is known, and so many dimensions are left that T is well conditioned."""
        return self.image is not None and 2 * self.columns.shape[1] <= room

    def outside(self, Q: Array, MQ: Array, block: Array) -> Array:
        """``M B`` of an orthonormal basis B of what Q leaves of G: B = (I − QQᵀ)G T with T⁻¹ = BᵀG."""
        image = self.image - combine(MQ, inner(Q, self.columns))
        return combine(image, namespace(image).linalg.inv(inner(wide(block), self.columns)))


def by_search(
    M: Operator, Q: Array, MQ: Array, k: int, *, seed: int, slack: Callable[[], float], width: int = COLUMNS,
    tol: float = 0.0, fresh: Fresh | None = None,
) -> tuple[Completeness, bool]:  # fmt: skip
    """Ceiling from a search outside the orthonormal ``Q`` (p×j, j ≥ k), and whether a value lies there that is larger
    than the k-th by more than ``tol``·θ₁; ``slack()`` is the rounding of the products so far; ``width``: fresh columns,
    where there are none whose image is known already (``fresh``).
    """
    p, largest, ceiling = M.shape[0], 0.0, math.inf
    fresh = fresh if fresh is not None and fresh.fits(p - Q.shape[1]) else None
    columns = min(M.block_width(width), p - Q.shape[1]) if fresh is None else fresh.columns.shape[1]
    if columns == 0:
        return Completeness("none", math.inf), False
    with single_threaded_blas():
        theta, mixed, long = _leaving(Q, MQ)
        spread, lead = long * _root(mixed), long * _root(mixed[:k, :k])  # of all of Q, and of the k leading vectors
        near = max(lead, tol * float(theta[0]))  # what is nearer to the k-th value is known no better
        from ritz.spectral.solvers.joined import Joined  # small tables do without

        joined = Joined(theta[k:], to_numpy(mixed[k:, k:]) * long**2)
        space, unit = Subspace(p, PRODUCTS * columns, M.place, narrow=True, images=False), _unit(theta)
        out = space.own(Q)
        drawn = space.own(gaussian_block(M.place, seed, STREAM, p, columns) if fresh is None else fresh.columns)
        block = orth(drawn, against=out)
    square, total = math.inf, M.trace() if M.positive else None
    following, start = float(theta[k]) if k < len(theta) else 0.0, block.shape[1]
    for product in range(1, PRODUCTS + 1):
        block = block[:, : min(space.room(), block.shape[1])]
        if block.shape[1] == 0:  # the space is invariant: what it does not hold, no column has a part in
            ceiling = largest + slack()
            break
        begun = fresh if product == 1 and block.shape[1] == columns else None
        image = M.matmat(block) if begun is None else begun.outside(Q, MQ, block)
        if M.checkable:
            M.check(block, image)
        image = space.own(image / unit)
        with single_threaded_blas():
            image = image - combine(out, inner(out, image))
            if product == 1 and block.shape[1] == columns:
                size = unit * float(norm2_f(combine(image, space.own(inner(block, drawn)))))
                square = drawn_square(size + slack() * math.sqrt(float(p) * columns), columns)
            space.extend(block, image, look=False)
            block = _following(space)
        sure = theta - slack()
        known = (p, product, start, min(square, _rest(M, sure)), _trace(total, sure))
        enough = max(following + NEAR * max(float(theta[k - 1]) - following, 0.0), 4 * slack())
        # Nothing as small as the least value found would be proved yet: what is there, need not be known.
        if product < PRODUCTS and block.shape[1] and fails(_share(float(theta[-1]), enough), float(theta[-1]), *known):
            continue
        with single_threaded_blas():
            largest = unit * space.largest()
        most = largest + slack()
        missed = _missed(largest, float(theta[k - 1]) + near + slack())
        eps = _share(most, enough)
        proved = not fails(eps, most, *known)
        if missed or proved or product == PRODUCTS:
            eps = relative_gap(most, known[3], p, product, start, known[4], known=eps if proved else SURE)
            ceiling = min(most / (1 - eps) if eps < 1 else math.inf, math.sqrt(square))  # λ₁(D) ≤ ‖D‖_F
            break
    above = joined.ceiling(ceiling, following, max(ceiling, following) + spread)
    least = min(max(ceiling, following) + spread + slack(), above + 2 * slack())
    return Completeness("probability", least, FAILURE, WORDS), _missed(largest, float(theta[k - 1]) + near + slack())


def by_strand(
    M: Operator, found: Strand, many: int, k: int, *, seed: int, slack: float, price: float = BLOCK_PRICE
) -> tuple[Completeness, bool] | None:  # fmt: skip
    """``by_search`` outside of the ``many`` leading Ritz vectors of a chain with a chain of single vectors in the
    precision of M, every step of which is looked at (``unseen.py``); None where M has no such products, where a block
    is expected to take less time, ``price`` times a product with one vector each, or the chain ends before it has shown
    enough.
    """
    product, p = M.vector_product(), M.shape[0]
    limit = min(STRAND_PRODUCTS, p - many - 1)
    if product is None or limit < STRAND_LEAST:
        return None
    with single_threaded_blas():
        if (p >= LONG_SIDE or price < BLOCK_PRICE) and _block_pays(M, found, many, k, slack, price):
            return None
        out, theta, squares = found.settled(many)
        reserve = math.sqrt(2.0 * limit) * LITTLE * LEAK  # what the basis of this chain may lose
        slack += reserve * float(theta[0])
        # ‖R‖_F for ‖R‖₂: residuals of a chain have one direction, all but rounding
        spread, lead = (math.sqrt(float(np.sum(some))) + slack for some in (squares, squares[:k]))
        following, sizes = float(theta[k]) if k < many else 0.0, np.sqrt(squares)
        rooms = [float(left_for_others(theta, sizes, k, slack, near)[-1]) for near in (NEAR, LATE)]
        rooms.append(float(theta[0] - np.sum(squares[k:] / np.maximum(theta[0] - theta[k:], slack))))
        chain = Strand(product, p, limit, M.dtype, out.astype(M.dtype, copy=False), LITTLE * LEAK)
        length = chain.begin(gaussian_rows(seed, STREAM, 0, p, 1)[:, 0])
        asked, known = needed(length, STRAND_SHARE), float(theta[k - 1]) + lead
        searched = _searched(chain, rooms, asked, limit, found.m, slack, known)
    if searched is None or chain.lost > reserve:
        return None
    ceiling, missed = searched
    weyl = max(ceiling, following) + spread
    joined = _joined(theta[k:], squares[k:], ceiling, following, weyl) + 2 * slack
    return Completeness("probability", min(weyl, joined), FAILURE, WORDS), missed


def _searched(
    chain: Strand, rooms: list[float], asked: float, limit: int, patient: int, slack: float, known: float
) -> tuple[float, bool] | None:
    """A ceiling of λ₁(D), and whether it is above what is ``known``, by a chain that goes on until it has shown the
    first of ``rooms``, or the second once it is longer than ``patient``, or than a share of that and the first is far,
    or until it is seen that not even the last, that of the largest pair alone, will be shown; None where it ends
    before."""
    near, late, last = (Unseen(room, slack) for room in rooms)
    columns: list[tuple[float, float]] = []
    largest, before = 0.0, 1.0
    for made in range(1, limit + 1):
        goes_on = chain.extend()
        columns.append(chain.last())
        shown_before = near.total
        far, any_at_all = late.add(*columns[-1]), last.add(*columns[-1])
        if near.add(*columns[-1]) >= asked:
            return least_level(columns, slack, asked, BELOW * rooms[0], rooms[0], TIGHTER), False
        brief = made <= PATIENT * patient or (made <= patient and _soon(near.total, shown_before, asked))
        if far >= asked and not brief:
            return least_level(columns, slack, asked, rooms[0], rooms[1], TIGHTER), False
        if not goes_on:
            return None
        if far == 0 and made % LOOK == 0:
            seen, largest = largest, chain.largest()
            stands = largest - seen <= STANDS * (known - largest)
            if _missed(largest, known) or (stands and _hopeless(any_at_all, before, asked, limit - made)):
                break
        before = any_at_all if made % LOOK == 0 else before
    low, high = chain.largest(), 2 * max(rooms[1], chain.largest() + 2 * slack)
    while high < math.inf and not shown(columns, slack, high) >= asked:
        high *= 2
    return least_level(columns, slack, asked, low, high, UNTIL), _missed(low, known)


def _soon(now: float, before: float, asked: float) -> bool:
    """Whether a sum that has grown from ``before`` to ``now`` with the last product will be ``asked`` in SOON more."""
    return now > 0 and math.log(asked / now) <= SOON * math.log(now / before)


def _hopeless(now: float, before: float, asked: float, left: int) -> bool:
    """Whether sums that have grown from ``before`` to ``now`` in LOOK products will not have grown to what is ``asked``
    for after so many that are ``left``, growing HASTE times as fast."""
    return before > 0 and now > 0 and math.log(asked / now) > HASTE * math.log(now / before) / LOOK * left


def _joined(theta: Floats, squares: Floats, mu: float, low: float, high: float) -> float:
    """The least ceiling c between ``low`` and ``high``, which is one, as ``joined.py`` finds it; from above.

    The trace of RᵀR/(c − θ) bounds its norm, and is that where all residuals have one direction, as those of a chain.
    """
    low = max(mu, low)
    for _ in range(2 if high < math.inf else 0):
        if not high - low > NARROW * abs(high):  # as far as numbers tell, ``low`` is among θ
            break
        tried = low + (high - low) * STEPS
        fits = tried - mu >= (squares / (tried[:, None] - theta)).sum(axis=1)
        first = int(fits.argmax())
        if not fits[first]:
            low = float(tried[-2])
        else:
            low, high = (float(tried[first - 1]) if first else low), float(tried[first])
    return high


def left_for_others(theta: Floats, sizes: Floats, k: int, slack: float, near: float = NEAR) -> Floats:
    """What λ₁(D) may be for a ceiling of M that is ``near`` enough to θ_{k+1}, outside of k, k + 1, … Ritz vectors of
    one chain.

    Their residuals have one direction, RᵀR = wwᵀ, and c is a ceiling where c − λ₁(D) ≥ Σ wᵢ²/(c − θᵢ), i > k.
    """
    following = float(theta[k]) if k < len(theta) else 0.0
    gap = float(theta[k - 1]) - following
    enough = max(following + (near * gap if gap > NO_GAP * following else ABOVE * following), 4 * slack)
    beyond, left = enough - theta[k:], np.full(len(theta) - k + 1, -math.inf)
    left[0] = enough
    if len(beyond) and beyond[0] > 0:
        left[1:] = enough - np.cumsum(np.square(sizes[k : len(theta)]) / beyond)
    return left


def _block_pays(M: Operator, found: Strand, many: int, k: int, slack: float, price: float) -> bool:
    """Whether a block is expected to show in less time than single vectors that nothing is left of ``found``."""
    p, theta, total = M.shape[0], found.theta[:many], M.trace() if M.positive else None
    room, rest = float(left_for_others(theta, found.residuals(many), k, slack)[-1]), _trace(total, theta - slack)
    least = float(found.theta[min(many, len(found.theta) - 1)])
    eps = _share(least, room)
    alone = FEWER * _products(eps, least, p, 1, math.inf, rest, 2, STRAND_PRODUCTS, True)
    together = _products(eps, least, p, COLUMNS, math.inf, rest, 2, PRODUCTS, False)
    shown_by_block = together < PRODUCTS or not fails(eps, least, p, PRODUCTS, COLUMNS, math.inf, rest)
    return shown_by_block and alone > price * together


def _products(
    eps: float, largest: float, p: int, columns: int, square: float, total: float, first: int, most: int, apart: bool
) -> int:
    """How many products, from ``first`` to ``most``, are enough for λ₁(D) ≤ largest/(1 − ε)."""
    low, high = first, most
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (middle + 1, high) if fails(eps, largest, p, middle, columns, square, total, apart) else (low, middle)
        )
    return low


def _leaving(Q: Array, MQ: Array) -> tuple[Floats, Array, float]:
    """Ritz values of M on span Q, and RᵀR of their vectors in units of the square of the last: R = MQ − QH."""
    H = symmetric(inner(Q, MQ))
    R = MQ - combine(Q, H)
    theta, Y = eigh(H)
    long = float(np.max(to_numpy(norms(R)), initial=0.0)) or 1.0
    R /= long
    return to_numpy(theta), symmetric(inner(Y, inner(R, R) @ Y)), long  # nothing else as long as R is needed


def _root(square: Array) -> float:
    """‖R‖₂ from RᵀR."""
    return math.sqrt(max(float(eigh(square)[0][0]), 0.0)) if square.shape[0] else 0.0


def _following(space: Subspace) -> Array:
    """The directions in which a Krylov space goes on, orthonormal, and twice orthogonal to it."""
    rest = space.remainder()
    if isinstance(rest, np.ndarray) and rest.shape[1]:
        W = rest - space.V @ (space.V.T @ rest)
        G = symmetric(np.asarray(W.T @ W, np.float64))
        Q = orth_by_squares(W, G, SHORT * float(np.max(norms(rest))))
        if Q is not None:
            return Q
    return orth(rest, against=space.V, projected=True)


def _share(most: float, enough: float) -> float:
    """The ε with most/(1 − ε) = enough; none where that is not above it."""
    return min(1 - most / enough, SURE) if most < enough else 0.0


def norm2_f(X: Array) -> float:
    """‖X‖_F."""
    return float(np.linalg.norm(to_numpy(norms(X)).astype(np.float64)))


def drawn_square(size: float, columns: int) -> float:
    """‖D‖_F² from above, from ``size`` = ‖D G‖_F with c Gaussian columns, but for a probability of SHARE.

    ‖D G‖_F² = Σ μᵢ² χ²_c is below x·c·‖D‖_F² with probability at most (x e^{1−x})^{c/2} (Chernoff, since
    Π(1 + 2tμᵢ²) ≥ 1 + 2tΣμᵢ²).
    """
    limit, x = 2 * math.log(SHARE) / columns, 0.5
    for _ in range(60):  # log x + 1 − x = limit
        x = math.exp(limit - 1 + x)
    return size * size / (x * columns)


def _unit(theta: Floats) -> float:
    """A power of two near the largest value: the space is held in float32, whose range is short."""
    top = float(np.max(np.abs(theta), initial=0.0))
    return math.ldexp(1.0, math.frexp(top)[1]) if 0 < top < math.inf else 1.0


def _missed(largest: float, known: float) -> bool:
    """Whether a Ritz value of the complement, which is held in float32, is above what is ``known`` of those found."""
    return largest * (1 - HELD32) > known


def _rest(M: Operator, sure: Floats) -> float:
    """‖D‖_F² = ‖M‖_F² − ‖H‖_F² − 2‖R‖_F², from above; ``sure``: eigenvalues of H from below."""
    sums = M.power_sums()
    if sums is None:
        return math.inf
    return max(sums[1] - float(np.sum(np.square(np.maximum(sure, 0.0)))), 0.0)


def _trace(total: float | None, sure: Floats) -> float:
    """tr D = tr M − tr H, from above; ``sure``: eigenvalues of H from below."""
    return math.inf if total is None else max((1 + TRACED) * total - float(np.sum(sure)), 0.0)


def relative_gap(
    largest: float,
    square: float,
    p: int,
    products: int,
    columns: int,
    total: float = math.inf,
    *,
    apart: bool = False,
    known: float = SURE,
) -> float:
    """The smallest ε with λ₁(D) ≤ largest/(1 − ε), but for a probability of SHARE; 1 if there is none.

    ``square`` ≥ ‖D‖_F², ``total`` ≥ tr D; ``apart``: columns have a Krylov space each, not one together; ``known``: an
    ε for which it holds already. The bound falls with ε and with λ₁(D), so an ε computed from ``largest`` holds for
    λ₁(D).
    """
    told = (p, products, columns, square, total, apart)
    low, high = 0.0, known
    if known >= SURE and fails(high, largest, *told):
        return 1.0
    for _ in range(14 if known >= SURE else 6):  # what is left of the bracket is on the safe side
        middle = (low + high) / 2
        low, high = (middle, high) if fails(middle, largest, *told) else (low, middle)
    return high


def fails(
    eps: float, largest: float, p: int, products: int, columns: int, square: float, total: float, apart: bool = False
) -> bool:
    """Whether λ₁(D) > largest/(1 − ε) with a probability that may be above SHARE."""
    if not eps > 0:
        return True
    top = largest / (1 - eps)
    spreads = [(float(p), 1.0, products - 1)]
    if products > 1 and top > 0:
        spreads.append((min(square / top**2, total / top), (1 - eps) ** 2, products - 2))
    growth = math.log((1 + math.sqrt(eps)) / (1 - math.sqrt(eps)))
    least = 0.0
    for phi, w, m in spreads:
        log_s = math.log((1 - eps) / eps) - 2 * _log_cosh(m * growth)
        each = 0.5 * (math.log(2 / math.pi) + math.log(max(phi, 1e-300)) + log_s)
        least = min(least, columns * each, 0.0 if apart else _together(phi, w, math.exp(log_s), columns))
    return least > math.log(SHARE)


def _together(phi: float, w: float, s: float, columns: int) -> float:
    """The logarithm of a bound of ℙ(χ²_c < sZ)."""
    if not 0 < phi * s < columns:
        return 0.0
    t = (columns - phi * s) / (2 * s * (columns * w + phi))
    return -0.5 * (columns * math.log1p(2 * t) + phi / w * math.log1p(-2 * t * s * w))


def _log_cosh(x: float) -> float:
    return x + math.log1p(math.exp(-2 * x)) - math.log(2.0)
