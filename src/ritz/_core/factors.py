"""Factorisations of small matrices whose accuracy matters more than their time.

svd                B = U diag(s) Vᵀ, s decreasing
triangle           R with RᵀR = ZᵀZ, rows in a tree of QR
inverse_triangle   R⁻¹, R upper triangular
"""

from __future__ import annotations

import numpy as np

from ritz._core.blas import freed_blas_for
from ritz._core.linalg import Array, namespace, place_of, qr, to_numpy

__all__ = ["BOTH", "TALL", "inverse_triangle", "svd", "triangle"]

#: Columns of a matrix up to which LAPACK is called without SciPy's wrapper, and the work space it asks for, by columns.
WRAPPED = 64
_work: dict[int, int] = {}
#: Columns up to which QR iteration is as fast as any: 13 take 14 µs, 30 100, by halves (``gesdd``) 16 and 90.
BRIEF = 16
#: Columns that LAPACK reduces together.
PANEL = 32
#: Rows up to which no such tree is grown, and those of its pieces at least.
ROWS, PIECE = 256, 32
#: Rows that a triangle takes at a time, and columns above which it takes twice as many. Rows of two kinds are off by
#: 101 u in one go (256×3), by 124 u (796×200), and by 4 u in such pieces; it takes 10 µs and 3.4 ms instead of 10 µs
#: and 3.8; 2,000×500 36 ms instead of 35, 3,000×1,000 207 instead of 169, of 1,600 in all.
SHORT, MANY = 64, 256
#: Rows for every column from which R is decomposed instead of Z: LAPACK would find the left vectors as well. Processor
#: µs of 178×13, 569×30, 1,797×64: 47, 305 and 3,315 all in all, 33, 163 and 1,430 by way of R.
TALL = 1.25
#: The same where the left vectors are wanted. Processor ms by way of R with what then gives these, and at once, all
#: components of wide tables: 60×90 2.1 and 1.1, 60×105 2.1 and 1.1, 150×270 8.2 and 6.4, 400×520 72 and 51, 700×900 302
#: and 223, 700×1,230 362 and 288; from 1.83 on LAPACK begins with a triangle itself.
BOTH = 1.8


def svd(B: Array, *, graded: bool = False, spare: bool = False) -> tuple[Array, Array, Array]:
    """Thin SVD ``(U, s, Vᵀ)``; ``graded``: rows of very different size, which QR iteration keeps where they are few.

    ``spare``: B may be overwritten.
    """
    xp = namespace(B)
    if xp is not np and getattr(getattr(B, "device", None), "type", "cpu") == "cuda":
        # Jacobi sweeps of a graphics processor end at 1e-13 of the largest value (500 columns), LAPACK at 1e-15
        place, factors = place_of(B), svd(to_numpy(B), graded=graded)
        return tuple(place.array(np.array(each, order="C")) for each in factors)
    if xp is not np:
        U, s, Vt = xp.linalg.svd(B, full_matrices=False)
        return U, s, Vt
    import scipy.linalg

    if 0 < B.shape[0] == B.shape[1] <= (WRAPPED if graded else BRIEF) and B.dtype == np.float64:
        # What scipy.linalg.svd calls: around a matrix of few columns its checks take longer than LAPACK.
        d = B.shape[0]
        if d not in _work:
            _work[d] = int(scipy.linalg.lapack.dgesvd_lwork(d, d, compute_uv=True, full_matrices=False)[0])
        U, s, Vt, info = scipy.linalg.lapack.dgesvd(B, compute_uv=True, full_matrices=False, lwork=_work[d])
        if info == 0:
            return U, s, Vt
    with freed_blas_for(min(B.shape)):
        if spare and B.shape[0] == B.shape[1] and B.flags.c_contiguous:  # LAPACK works in the place of its columns
            V, s, Ut = scipy.linalg.svd(B.T, full_matrices=False, check_finite=False, overwrite_a=True)
            return Ut.T, s, V.T
        return scipy.linalg.svd(B, full_matrices=False, check_finite=False, overwrite_a=spare)  # type: ignore[no-any-return]


def triangle(Z: Array, tall: float = TALL) -> Array:
    """R with RᵀR = ZᵀZ by a tree of QR factorisations; Z itself where it is small or not tall.

    Faster than an SVD of all rows, and sums stay short: a thousand rows of one sign, summed in one go, would round
    in one direction.
    """
    xp, (n, d) = namespace(Z), Z.shape
    rows = max(PIECE, 2 * d)
    while Z.shape[0] > 2 * rows and n > ROWS:
        if xp is np and 0 < d <= WRAPPED:  # all pieces in one call
            covered = Z.shape[0] // rows * rows
            heads: Array = np.linalg.qr(Z[:covered].reshape(-1, rows, d), mode="r")
            Z = np.concatenate([heads.reshape(-1, d), Z[covered:]])
            continue
        Z = xp.concat([_triangle(Z[i : min(i + rows, Z.shape[0]), :]) for i in range(0, Z.shape[0], rows)], axis=0)
    return _triangle(Z) if Z.shape[0] > tall * d and (d > WRAPPED or xp is np) else Z


def _triangle(Z: Array) -> Array:
    if namespace(Z) is not np:
        return qr(Z)[1]
    n, d = Z.shape
    if 0 < d <= n and Z.dtype == np.float64:
        return _updated(Z)
    import scipy.linalg

    R: Array = scipy.linalg.qr(Z, mode="raw", check_finite=False)[1]  # of mode "r" R has as many rows as Z
    return R


def _updated(Z: Array) -> Array:
    """R of rows that come some at a time, (R; Z_i) = Q R': its zeros take no part in sums, which stay as short."""
    from scipy.linalg.lapack import dtpqrt

    n, d = Z.shape
    rows = SHORT if d <= MANY else 2 * SHORT
    R = np.zeros((d, d), order="F")
    for i in range(0, n, rows):
        R = dtpqrt(0, min(PANEL, d), R, np.array(Z[i : i + rows], order="F"), overwrite_a=1, overwrite_b=1)[0]
    return R


def inverse_triangle(R: Array) -> Array | None:
    """R⁻¹ of an upper triangular matrix of the host; None where R is singular."""
    if len(R) <= WRAPPED:
        try:
            return np.linalg.inv(R)
        except np.linalg.LinAlgError:
            return None
    import scipy.linalg

    inverse, info = scipy.linalg.lapack.dtrtri(R)
    return np.triu(inverse) if info == 0 else None
