"""The leading eigenpairs of a symmetric matrix by LAPACK, with all eigenvalues where those cost little.

    S = Q T Qᵀ (Householder, ``sytrd``),   all θ of T (``sterf``),   vectors z of the leading ones by inverse iteration
    (``stein``),   Y = Q Z (``ormqr``)         S (d×d), T tridiagonal, Z (d×top)

``syevr`` by range is the same but for its eigenvalues, each of which is found by bisection. That is faster for very few
and slower for many. Processor ms on one core of that, of the chain above and of all vectors (``syevd``), whose
eigenvalues the chain has too:

    d, top      100, 1   100, 10   300, 3   300, 30   300, 50   500, 30   500, 100   1,000, 50
    by range      0.20      0.51     2.2      5.1       7.2      12.5       28           67
    the chain     0.28      0.35     2.8      3.7       4.3      11.3       18           66
    all           0.59      0.59     7.6      6.3       6.2      24.5       26          155
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["WRAPPED", "largest_pairs", "sure_pairs"]

#: Columns of a matrix up to which LAPACK is called without SciPy's wrapper, and the work space it asks for, by columns.
WRAPPED = 128
_work_subset: dict[int, tuple[int, int]] = {}
#: Share of eigenvectors from which the chain is faster than a range.
CHAIN_SHARE = 0.05
#: Columns that are reduced together.
PANEL = 32
#: Sizes of a matrix beyond which LAPACK's drivers scale it, and the chain does not.
LEAST, MOST = 1e-120, 1e120


def largest_pairs(S: NDArray[Any], top: int, *, whole: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """The ``top`` largest eigenvalues, increasing, and their vectors, or fewer where LAPACK fails on a tight cluster.

    ``whole``: all eigenvalues, unless there are fewer vectors than asked for.
    """
    d = S.shape[0]
    if S.dtype == np.float64 and d > 1 and (whole or top >= CHAIN_SHARE * d):
        theta, Y = _chain(S, top)
        if Y.shape[1] == top or whole:
            return (theta if whole else theta[d - top :]), Y
    return _by_range(S, top)


def sure_pairs(S: NDArray[Any], top: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The ``top`` largest eigenvalues, increasing, and their vectors: by all where LAPACK fails on a cluster."""
    if top < 1:
        return S[0, :0], S[:, :0]
    theta, Y = _by_range(S, top)
    if Y.shape[1] < top:
        theta, Y = np.linalg.eigh(S)
    return theta[-top:], Y[:, -top:]


def _chain(S: NDArray[np.float64], top: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All eigenvalues, and vectors of the ``top`` largest; no vectors where a step of the chain fails."""
    from scipy.linalg import lapack

    d = S.shape[0]
    reduced, diagonal, beside, tau, _ = lapack.dsytrd(S, lower=1, lwork=PANEL * d)
    size = max(float(np.abs(diagonal).max()), float(np.abs(beside).max()))
    if not LEAST < size < MOST:  # NaN is neither
        return diagonal, S[:, :0]
    theta, failed = lapack.dsterf(diagonal, beside)
    if failed:
        return diagonal, S[:, :0]
    Z, failed = lapack.dstein(diagonal, beside, theta[d - top :], *_one_block(d))
    if failed:
        return theta, S[:, :0]
    Y = np.empty_like(Z)  # Q leaves the first entry alone
    Y[0], Y[1:] = Z[0], lapack.dormqr("L", "N", reduced[1:, :-1], tau, Z[1:], PANEL * top)[0]
    return theta, Y


@lru_cache(maxsize=16)
def _one_block(d: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What tells LAPACK that eigenvalues are those of one block of d columns."""
    return np.ones(d, np.int32), np.full(d, d, np.int32)


def _by_range(S: NDArray[Any], top: int) -> tuple[NDArray[Any], NDArray[Any]]:
    import scipy.linalg

    d = S.shape[0]
    if d <= WRAPPED and S.dtype == np.float64:  # what scipy.linalg.eigh calls, without its checks
        if d not in _work_subset:
            sizes = scipy.linalg.lapack.dsyevr_lwork(d)
            _work_subset[d] = int(sizes[0]), int(sizes[1])
        work, whole = _work_subset[d]
        theta, Y, found, _, info = scipy.linalg.lapack.dsyevr(
            S, range="I", il=d - top + 1, iu=d, lower=1, lwork=work, liwork=whole
        )  # fmt: skip
        return theta[:found], Y[:, : found if info == 0 else 0]
    try:
        return scipy.linalg.eigh(S, subset_by_index=(d - top, d - 1), check_finite=False)  # type: ignore[no-any-return]
    except np.linalg.LinAlgError:
        return S[0, :0], S[:, :0]
