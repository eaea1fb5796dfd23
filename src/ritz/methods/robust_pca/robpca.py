"""ROBPCA: projection pursuit finds a subspace, a robust covariance the axes in it.                          [HRV05]

    1  outlyingness of row i: max over v of |xᵢᵀv − m(v)|/s(v), m and s the univariate MCD, v through two rows
    2  the h least outlying rows: their covariance, its k leading axes
    3  orthogonal distances to that plane; the plane anew from all rows within their cut-off (Q^⅓ is nearly normal)
    4  of those rows, in the plane: minimum covariance determinant, reweighted: centre and covariance           [RD99]

Where the rows span few dimensions (r ≤ 10 and r ≤ n/5) step 4 alone is done in all of them. h = coverage·n, so up to
n − h rows may be anything. Distances are made consistent at the normal distribution, variances also in small samples:
``factors.py``, with which R's PcaHubert can be followed as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.methods.robust_pca.factors import good_factor, raw_factor, rrcov_factor, rrcov_rows
from ritz.methods.robust_pca.location import KEPT, consistency, univariate_mcd
from ritz.methods.robust_pca.mcd import least_determinant, mahalanobis

__all__ = ["GoodPlane", "good_rows", "robust_plane", "trusted_rows"]

Floats = NDArray[np.float64]

#: Dimensions up to which the covariance is sought in all of them at once.
FEW = 10
#: Rows for each dimension that a minimum covariance determinant needs to be trusted.
ROWS_PER_AXIS = 5
#: The share of rows that is trusted unless another is asked for.
DEFAULT_COVERAGE = 0.75
#: Reweightings at most.
ROUNDS = 10
#: Singular values below this share of the largest are rounding.
RANK = 1e-10


@dataclass(frozen=True)
class GoodPlane:
    """Where the good rows lie: rows that count, in orthonormal coordinates of a subspace about their centre."""

    center: Floats  # (d,)
    basis: Floats  # (d, p) orthonormal columns
    inside: Floats  # (m, p) coordinates of the rows that count
    support: NDArray[np.bool_]  # (n,) which those are
    factor: float  # that makes their covariance consistent
    rounds: int  # of reweighting
    words: str


def robust_plane(
    X: Floats, k: Any, *, coverage: float, directions: int, seed: int, correction: str = "good"
) -> GoodPlane:
    """The plane of the good rows; ``k`` is a number or decides from variances (a function of those of the h rows)."""
    n = len(X)
    order = _settled(X)
    mean, T, V = _reduced(X[order])
    r = T.shape[1]
    if r == 0:
        return _nothing(X, mean)
    theirs = correction == "rrcov"
    share, h = _rrcov_share(coverage, n, r) if theirs else (coverage, trusted_rows(coverage, n))
    direct = r <= min(FEW, n // ROWS_PER_AXIS)
    if direct:
        center, axes, near, best = np.zeros(r), np.eye(r), np.ones(n, bool), None
        words = f"minimum covariance determinant in all {r} dimensions"
    else:
        best = np.argsort(outlyingness(T, h, directions, seed), kind="stable")[:h]
        center, axes, near = _refined(T, *_leading(T[best], k), h)
        near = np.ones(n, bool) if theirs else near
        best = np.flatnonzero(np.isin(np.flatnonzero(near), best))  # among the rows near the plane
        words = f"{h} of {n} rows by projection pursuit, then"
    Y = (T[near] - center) @ axes
    p = Y.shape[1]
    count = rrcov_rows(share, n, p) if theirs else min(h, len(Y))
    where, cov, how = _start(Y, best, count)
    if theirs:
        support, factor, rounds = _weighted_once(Y, where, cov * raw_factor(p, n, count, share), share)
    else:
        support, _, rounds = reweighted(Y, where, cov)
        factor = good_factor(p, len(Y), int(np.count_nonzero(support)), count)
    place = Y[support].mean(axis=0)
    mask = np.zeros(n, bool)
    mask[order[np.flatnonzero(near)[support]]] = True
    words = words if direct else f"{words} {how} in {axes.shape[1]} dimensions"
    middle, basis = mean + (center + axes @ place) @ V.T, V @ axes
    return GoodPlane(middle, basis, good_rows(X, mask, middle, basis), mask, factor, rounds, words)


def good_rows(X: Floats, good: NDArray[np.bool_], center: Floats, basis: Floats) -> Floats:
    """Coordinates (m, p) of the good rows; zeros where these are copies of one row but for rounding."""
    inside = (X[good] - center) @ basis
    size = float(np.linalg.norm(X - center, axis=1).max(initial=0.0))
    same = float(np.abs(inside).max(initial=0.0)) <= RANK * size
    return np.zeros_like(inside) if same else np.asarray(inside, np.float64)


def trusted_rows(coverage: float, n: int) -> int:
    """Rows that are trusted."""
    return min(n, max(n // 2 + 1, int(np.ceil(coverage * n))))


def _rrcov_share(coverage: float, n: int, r: int) -> tuple[float, int]:
    """The share of rows that PcaHubert hands on, and how many it trusts: its default share is turned into h/n."""
    h = rrcov_rows(coverage, n, max(1, min(FEW, n // 2, r)))
    return (h / n if coverage == DEFAULT_COVERAGE else coverage), h


def _settled(X: Floats) -> NDArray[np.intp]:
    """An order of the rows that does not depend on the order in which they came."""
    key = X @ np.random.default_rng(0).standard_normal(X.shape[1])
    return np.argsort(key, kind="stable")


def _nothing(X: Floats, mean: Floats) -> GoodPlane:
    n, d = X.shape
    return GoodPlane(
        mean, np.eye(d, min(1, d)), np.zeros((n, min(1, d))), np.ones(n, bool), 1.0, 1, "rows that do not vary"
    )


def _reduced(X: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, coordinates (n, r) and axes (d, r) of the subspace that the rows span: no distance changes."""
    mean = X.mean(axis=0)
    U, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    keep = s > RANK * max(float(s[0]) if len(s) else 0.0, np.finfo(np.float64).tiny)
    return mean, U[:, keep] * s[keep], Vt[keep].T


def outlyingness(T: Floats, h: int, directions: int, seed: int) -> Floats:
    """How far each row stands out in the direction that shows it best, (n,)."""
    n = len(T)
    rng = np.random.default_rng(seed)
    if n * (n - 1) // 2 <= directions:
        first, second = np.triu_indices(n, 1)
    else:
        first = rng.integers(0, n, directions)
        second = (first + rng.integers(1, n, directions)) % n
    V = T[first] - T[second]
    length = np.linalg.norm(V, axis=1)
    V = V[length > RANK * max(float(length.max()), 1e-300)]
    V = V / np.linalg.norm(V, axis=1, keepdims=True)
    worst = np.zeros(n)
    for start in range(0, len(V), 64):
        Y = T @ V[start : start + 64].T
        place, spread = univariate_mcd(Y, h)
        gap = np.abs(Y - place)
        size = np.abs(Y).max(axis=0)
        flat = spread <= RANK * np.maximum(size, 1e-300)  # h rows in one hyperplane: the others are off it
        with np.errstate(divide="ignore", invalid="ignore"):
            out = np.where(flat, np.where(gap > RANK * size, np.inf, 0.0), gap / spread)
        worst = np.maximum(worst, out.max(axis=1, initial=0.0))
    return worst


def _leading(T: Floats, k: Any) -> tuple[Floats, Floats]:
    """Mean of some rows and their k leading axes, (r, k)."""
    center = T.mean(axis=0)
    _, s, Vt = np.linalg.svd(T - center, full_matrices=False)
    rank = int(np.count_nonzero(s > RANK * max(float(s[0]), 1e-300)))
    wanted = k(np.square(s[:rank]) / max(len(T) - 1, 1)) if callable(k) else int(k)
    return center, Vt[: max(1, min(wanted, rank))].T


def _refined(T: Floats, center: Floats, axes: Floats, h: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The plane anew from all rows whose distance from it is not out of the ordinary, and which these are.

    Rows off the plane may lie anywhere when they are projected, such as in the middle, and have no say in what follows.
    """
    from scipy.stats import norm

    gap = T - center
    left = gap - (gap @ axes) @ axes.T
    root = np.cbrt(np.einsum("ij,ij->i", left, left))
    place, spread = univariate_mcd(root[:, None], h)
    near = root <= place[0] + float(norm.ppf(KEPT)) * spread[0] + 1e-12 * float(root.max(initial=0.0))
    if np.count_nonzero(near) < h:
        near = np.isin(np.arange(len(T)), np.argsort(root, kind="stable")[:h])
    return *_leading(T[near], axes.shape[1]), near


def _start(Y: Floats, best: Any, h: int) -> tuple[Floats, Floats, str]:
    """Location and covariance of h rows to begin with."""
    n, p = Y.shape
    enough = n >= ROWS_PER_AXIS * p
    some = Y[least_determinant(Y, h, best)] if enough else Y if best is None else Y[best]
    how = "minimum covariance determinant" if enough else "the covariance of those rows"
    return some.mean(axis=0), np.atleast_2d(np.cov(some.T)), how


def _weighted_once(
    Y: Floats, where: Floats, cov: Floats, share: float
) -> tuple[NDArray[np.bool_], float, int]:  # fmt: skip
    """Rows within the 97.5 % ellipsoid, once, as R's covMcd does."""
    from scipy.stats import chi2

    n, p = Y.shape
    support = mahalanobis(Y, where, cov) < float(chi2.ppf(KEPT, p))
    _enough(support, p)
    return support, rrcov_factor(p, n, int(np.count_nonzero(support)), share), 1


def _enough(support: NDArray[np.bool_], p: int) -> None:
    if np.count_nonzero(support) <= p:
        raise InputError(
            f"expected more than {p} rows that belong together",
            received=f"{np.count_nonzero(support)} of {len(support)}",
            hint="ask for fewer components, or method='spherical'",
        )


def reweighted(Y: Floats, where: Floats, cov: Floats) -> tuple[NDArray[np.bool_], float, int]:
    """Rows within the 97.5 % ellipsoid of a covariance that is made anew from them until they stay the same.

    Where a heap of equal rows lies in the middle, each round has a smaller ellipsoid, until only the heap is left. Over
    half of the rows are good: a round that would leave fewer shows this, and the rows of the first round stand, as in
    [RD99].
    """
    from scipy.stats import chi2

    p = Y.shape[1]
    limit, factor = float(chi2.ppf(KEPT, p)), consistency(KEPT, p)
    distance = mahalanobis(Y, where, cov)
    middle = float(np.median(distance))
    support = distance <= limit * (middle / float(chi2.ppf(0.5, p)) if middle > 0 else 1.0)
    first, rounds = support, 0
    for rounds in range(1, ROUNDS + 1):  # noqa: B007  how many is told
        _enough(support, p)
        some = Y[support]
        new = mahalanobis(Y, some.mean(axis=0), np.atleast_2d(np.cov(some.T)) * factor) <= limit
        if bool(np.all(new == support)):
            break
        if 2 * np.count_nonzero(new) <= len(Y) < 2 * np.count_nonzero(first):
            return first, factor, 1
        support = new
    return support, factor, rounds
