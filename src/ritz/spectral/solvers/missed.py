"""What a block Lanczos chain, or a block Krylov space, says about eigenvalues that it may have missed.

    start    a chain of q products that was never restarted is a block Krylov space of its Gaussian start   [KW92]
    search   fresh Gaussian columns in the complement of all Ritz vectors that have settled (``deflated.py``)

The images of Ritz vectors are known without a product:  M V y = θ V y + Q R y_last.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ritz._core.linalg import inner, root, symmetric, to_numpy
from ritz.operators.base import Operator
from ritz.spectral.certificate.completeness import CHAINED, by_settled, by_start, by_trace, strongest
from ritz.spectral.constants import BLOCK_PRICE, FINISH_SPARE, FLOAT32_NOISE, SEARCH
from ritz.spectral.problem import Completeness
from ritz.spectral.solvers.chain import Chain
from ritz.spectral.solvers.deflated import (
    COLUMNS,
    PRODUCTS,
    STRAND_PRODUCTS,
    SURE,
    TRACED,
    by_search,
    by_strand,
    fails,
    left_for_others,
)
from ritz.spectral.solvers.strand import Strand
from ritz.spectral.subspace import Subspace

__all__ = ["NOTHING", "by_chain", "by_space", "held_up", "search_could_prove"]

#: Ritz vectors of a chain of blocks whose residuals together are below this share of θ_{k+1}, or that of the gap above
#: it, are taken out: the ceiling feels squares of residuals alone.
#: SVD(100) of tf-idf rows 18,846×168,000, components that 8 products with 8 columns prove with 104, 130, 160, 200, 300
#: vectors taken out: 51, 63, 80, 89, 86; with 16 columns 65, 83, 100, 100, 94.
SETTLED_BLOCK, GAP_SHARE = 0.05, 0.08
#: Residuals, in units of the distance to the next Ritz value, from which a Ritz vector stands for no eigenvector.
APART = 0.5
#: Share of a chain's vectors up to which those are taken out whose residuals take no more than the second share of the
#: room. Products that search, as many as have settled and these: 3,000×3,000 with 1 %, eigenvalues 1/j, k = 10, 31 and
#: 25; 20,000×10,000 with 0.5 % 22 and 19; levels, k = 10, 17 and 16.
ALONG, NEXT_TO_NOTHING = 0.55, 0.06
#: Columns of a block that searches, as many as the blocks of the chain, but no more.
WIDE = 16
#: Bytes of the settled vectors and their images at most, beyond k and a few.
SETTLED_BYTES = 1 << 27
#: Rounding of float64 products with long sums, in units of θ₁ and of what is taken off: chains of 8·10⁶ equal numbers.
LONG_SUMS = 1e-9

#: Roundings that a product with a Ritz vector may turn out to have been off by, for what a search has said to hold: as
#: many as it allows for in a trace. Measured in units of θ₁, sparse rows in float32: 1e-7 to 8e-7 of uniform ones, 3e-6
#: of counts and of tf-idf with 200,000 rows, 5e-3 of 400,000 equal numbers in one column.
BLURRED = 10.0

#: Roundings of a Ritz value by which a ceiling from the trace has to be below the k-th.
LIKELY = 8

NOTHING = Completeness("none", np.inf, 0.0, "a narrow start cannot see how often an eigenvalue is repeated")


def by_chain(
    A: Operator, chain: Chain | Strand, k: int, *, width: int, steps: int, seed: int, tol: float = 0.0,
    price: float = BLOCK_PRICE,
) -> tuple[Completeness, bool]:  # fmt: skip
    """Ceiling of what a chain of products with A has missed, and whether it has missed one of the k largest, one that
    is larger than the k-th found by more than ``tol``·θ₁.

    ``width`` columns ran ``steps`` products since the start; no steps where the chain was restarted or begun anew.
    ``price``: products with one vector that take as long as one with a block.
    """
    if not A.positive or chain.m >= chain.p or chain.theta.shape[0] <= k:
        return NOTHING, False
    chain.ritz()
    theta = to_numpy(chain.theta)
    top, sizes = float(theta[0]), to_numpy(chain.residuals(chain.m))
    slack = _rounding(A, chain, top)
    status = NOTHING
    if steps and width > k:
        noisy = np.hypot(sizes, slack)
        status = strongest(status, by_start(theta, noisy, k, p=chain.p, width=width, steps=steps))
    if isinstance(chain, Strand) and not chain.ended:
        outside = by_settled(theta, sizes, k, A.trace(), slack)
        if outside.ceiling + LIKELY * slack < float(theta[k - 1]):
            return strongest(status, outside), False
    following = max(float(theta[k]), slack)
    traced = TRACED if chain.dtype.itemsize < 8 else LONG_SUMS  # a trace has sums in float64
    status = strongest(status, _summed(theta, k, A.trace(), slack, traced * A.inflation(), traced))
    if float(theta[k - 1]) <= slack and status.ceiling <= tol * top:  # below rounding there is nothing to search for
        return status, False
    near = SEARCH * following + 4 * slack
    if status.ceiling <= (near if isinstance(chain, Strand) else min(near, float(theta[k - 1]))):
        return status, False
    least = min(chain.m, k + FINISH_SPARE)
    if isinstance(chain, Strand):
        many, taken = _taken_out(theta, sizes, k, slack, least, SETTLED_BYTES // (16 * chain.p))
    else:
        allowed = max(SETTLED_BLOCK * following, GAP_SHARE * (float(theta[k - 1]) - following))
        settled = int(np.sum(np.cumsum(sizes**2) <= allowed**2))
        many = max(least, min(settled, SETTLED_BYTES // (16 * chain.p)))
    columns = COLUMNS if isinstance(chain, Strand) else min(max(width, COLUMNS), WIDE)
    if not _promising(theta, many, k, chain, columns):
        return status, isinstance(chain, Strand) and chain.ended  # values that are repeated end it: a block sees them
    found = None
    if isinstance(chain, Strand):
        found = by_strand(A, chain, taken, k, seed=seed, slack=slack, price=price)
    if found is None:
        V, image = chain.pairs(many)
        square = symmetric(inner(V, V))
        V, image = root(square, V), root(square, image)
        found = by_search(A, V, image, k, seed=seed, slack=lambda: slack, width=columns, tol=tol)
    return strongest(status, found[0]), found[1]


def held_up(
    A: Operator, chain: Chain | Strand, k: int, status: Completeness, drift: float
) -> Completeness | None:  # fmt: skip
    """What a chain of products with A has said, of the operator itself, from which A's products were found to be off by
    ``drift`` (Weyl); None where that is more than was allowed for: nothing is known of sums as long as they come.

    What the trace leaves is added up again, every Ritz value then being as uncertain as four times what was found.
    """
    if status.kind == "none":
        return status
    slack, traced = _rounding(A, chain, float(chain.theta[0])), status.kind == "trace"
    if not drift <= BLURRED * slack:
        return None
    if traced and drift > CHAINED * slack:
        again = _by_sums(A, chain, k, drift)
        status = replace(again, ceiling=max(again.ceiling, status.ceiling))
        if not status.ceiling + 2 * drift < float(chain.theta[k - 1]):
            return None
    return replace(status, ceiling=status.ceiling + 2 * drift)


def _by_sums(A: Operator, chain: Chain | Strand, k: int, slack: float) -> Completeness:
    """What the trace leaves outside of a chain, ``slack`` being what its products were found to be off by."""
    theta, total = to_numpy(chain.theta), A.trace()
    share = TRACED if chain.dtype.itemsize < 8 else LONG_SUMS
    whole = _summed(theta, k, total, CHAINED * slack, share * A.inflation(), share)
    if not isinstance(chain, Strand) or chain.ended:
        return whole
    return strongest(whole, by_settled(theta, to_numpy(chain.residuals(chain.m)), k, total, slack))


def _rounding(A: Operator, chain: Chain | Strand, top: float) -> float:
    """Rounding of the products of a chain, as it is expected before it is measured, and what its basis has lost."""
    expected = (FLOAT32_NOISE if chain.dtype.itemsize < 8 else LONG_SUMS) * (top + A.inflation())
    return expected + (chain.lost * top if isinstance(chain, Strand) else 0.0)


def _summed(
    theta: np.ndarray, k: int, total: float | None, slack: float, more: float = 0.0, share: float = TRACED
) -> Completeness:  # fmt: skip
    """What the trace leaves outside of all of a chain, of which the answer holds the leading vectors alone.

    Every Ritz value, and with it the sum, may have been rounded, the trace itself by a ``share`` of it and ``more``.
    """
    if total is None:
        return NOTHING
    return by_trace(theta, k, total, (len(theta) + 1) * slack + share * abs(total) + more)


def _taken_out(
    theta: np.ndarray, sizes: np.ndarray, k: int, slack: float, least: int, most: int
) -> tuple[int, int]:  # fmt: skip
    """How many leading Ritz vectors of a chain of single vectors have settled as far as a search needs it, at least
    ``least``, and how many it stays orthogonal to.

    The more, the lower is what is left, and the more their residuals add to the ceiling: as many as leave the widest
    gap between what may be outside of them and what is likely to be. A vector whose residual is as large as the spacing
    of values stands for no eigenvector: of what it would take out some is left all the same. It is not counted on, but
    goes with the others where that costs next to nothing.
    """
    spacing = np.diff(theta, append=0.0)
    unknown = np.flatnonzero(sizes[k:] > -APART * spacing[k:])
    held = min(len(theta) - 1, max(most, least))
    most = min(held, k + int(unknown[0]) if len(unknown) else len(theta))
    room, many = left_for_others(theta, sizes, k, slack)[least - k :], least
    if most > least:
        likely, left = np.maximum(theta + sizes, 0.0)[least : most + 1], room[: most - least + 1]
        many += int(np.argmax(np.where(left > 0, 1 - likely / np.where(left > 0, left, 1.0), -np.inf)))
    last = min(held, int(ALONG * len(theta)))
    if last <= many or not room[many - least] > 0:
        return many, many
    cheap = np.flatnonzero(room[: last - least + 1] >= (1 - NEXT_TO_NOTHING) * room[many - least])
    return many, max(many, least + int(cheap[-1]))


def by_space(A: Operator, space: Subspace, k: int, *, seed: int, slack: float) -> Completeness:
    """The same of a Krylov space that is one chain, from a search outside of its settled Ritz vectors."""
    rest, theta = space.remainder(), to_numpy(space.theta)
    sizes, following = to_numpy(space.chain_residuals(rest, space.m)), max(float(theta[k]), slack)
    allowed = max(SETTLED_BLOCK * following, GAP_SHARE * (float(theta[k - 1]) - following))
    settled = int(np.sum(np.cumsum(sizes**2) <= allowed**2))
    many = max(min(space.m, k + FINISH_SPARE), min(settled, SETTLED_BYTES // (16 * space.p)))
    if not search_could_prove(theta, many, k, space.p):
        return NOTHING
    return by_search(A, *space.chained(rest, many), k, seed=seed, slack=lambda: slack)[0]


def search_could_prove(theta: np.ndarray, many: int, k: int, p: int, *, single: bool = False) -> bool:
    """Whether a search outside of ``many`` Ritz vectors could put a ceiling below the k-th Ritz value.

    ``single``: a search with single vectors.
    """
    after, least = max(float(theta[min(many, len(theta) - 1)]), 0.0), float(theta[k - 1])
    made = (STRAND_PRODUCTS, 1) if single else (PRODUCTS, COLUMNS)
    return after < least and not fails(min(1 - after / least, SURE), after, p, *made, np.inf, np.inf, single)


def _promising(theta: np.ndarray, many: int, k: int, chain: Chain | Strand, columns: int) -> bool:
    """Whether a search outside of ``many`` Ritz vectors could put a ceiling below the largest eigenvalue at least.

    Below half of those found, where as many single vectors as such a search takes are all that is needed to find them.
    """
    single = isinstance(chain, Strand)
    after, least = max(float(theta[min(many, len(theta) - 1)]), 0.0), float(theta[k // 2 if single else 0])
    made = (STRAND_PRODUCTS, 1) if single else (PRODUCTS, columns)
    return after < least and not fails(min(1 - after / least, SURE), after, chain.p, *made, np.inf, np.inf, single)
