"""Arrays, and the small linear algebra that solvers call, written once for every array library.

This is the one place that knows which array library is in use, and on which device. Solvers are written against the
array API standard: NumPy, array-api-strict and torch arrays behave alike. What they make beside their input is
made where the input lies (``Place``); what a certificate says are numbers of the host.

eigh     S = Y diag(θ) Yᵀ, θ decreasing          orth     orthonormal basis of a block, against a basis
norms    column norms ‖rⱼ‖                        join     columns side by side
inner    QᵀW                                      symmetric (S + Sᵀ)/2
norm2    spectral norm of a tall thin block       root     C with CᵀC = S, and W C⁻¹
qr       Householder QR                           trace    Σ Sᵢᵢ
leading  the first columns, on their own          positive entries below zero become zero
wide     float64                                  combine  V Y for a tall V
signs    ±1 by the sign rule                      (svd and a tree of QR: ``factors.py``)

Long products of NumPy arrays run in lanes: a threaded BLAS leaves its threads spinning, and the next pass over the
data would share the processors with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ritz._core.blas import freed_blas_for
from ritz._core.threads import lane_count, run_lanes
from ritz._core.tolerance import DEFLATE, SIGN_TIE

__all__ = [
    "HOST", "Array", "Floats", "Place", "combine", "eigh", "inner", "is_foreign", "join", "leading", "namespace",
    "norm2", "norms", "orth", "orth_by_squares", "place_of", "positive", "qr", "root", "signs", "split_sum",
    "symmetric", "to_numpy", "trace", "wide", "working_dtype",
]  # fmt: skip

#: Entries of a matrix, in units of its largest, below which they are zero where LAPACK cannot take them.
NEGLIGIBLE = 1e-100
#: Norm of WᵀW − I up to which a block is made orthonormal by three terms of a series.
NEARLY = 1e-5
#: Multiplications above which a product with a tall block is shared out among lanes: about half a millisecond.
LANE_WORK = 2e7
#: Columns of a matrix up to which LAPACK is called without NumPy's wrapper.
WRAPPED = 128
#: Rows of a block beyond which it is multiplied by the inverse of its small factor: one of 64 columns and 10⁶ rows took
#: 20 seconds on a graphics processor to be solved for, 1 ms to be multiplied.
LONG_SOLVE = 4096
#: Columns that are looked at one by one: indexing with arrays takes as long as twenty numbers. And entries of a block
#: whose signs Python's own numbers tell sooner.
FEW_COLUMNS, FEW_ENTRIES = 16, 50
#: Entries from which column norms are summed without scaling (30,000×8 in float64: 0.17 ms, scaled 1.9 ms), from which
#: blocks are long, and sums between which no scaling is needed.
SQUARED, LONG_BLOCK = 1 << 10, 1 << 12
SQUARES = {np.dtype(np.float64): (1e-200, 1e200), np.dtype(np.float32): (1e-25, 1e30)}


# arrays

#: Any array of the array API standard.
Array: TypeAlias = Any
#: A NumPy array of floats.
Floats: TypeAlias = NDArray[np.floating[Any]]


def namespace(x: Array) -> Any:
    """The module whose functions work on ``x``."""
    if isinstance(x, np.ndarray):
        return np
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    from ritz._core.device import torch_namespace  # which stands on this module

    return torch_namespace()


def is_foreign(x: Any) -> bool:
    """Whether ``x`` is an array of the standard, or a tensor, that is not NumPy's."""
    if isinstance(x, (np.ndarray, np.generic)):
        return False
    return hasattr(x, "__array_namespace__") or type(x).__module__.partition(".")[0] == "torch"


def to_numpy(x: Array) -> NDArray[Any]:
    """``x`` as a NumPy array on the host, without a copy where its library allows it."""
    if type(x) is np.ndarray:
        return x
    if not is_foreign(x):
        return np.asarray(x)
    if getattr(getattr(x, "device", None), "type", None) == "cuda":
        from ritz._core.there import copied

        return copied(x)
    try:
        return np.asarray(x)
    except (TypeError, RuntimeError):  # it lies on a device of its own
        return np.asarray(x.cpu()) if hasattr(x, "cpu") else np.array(np.from_dlpack(x))


@dataclass(frozen=True)
class Place:
    """Where arrays are made: in which library, and on which device of it; None is the library's own choice."""

    xp: Any = np
    device: Any = None

    def array(self, x: Any, dtype: Any = None) -> Array:
        """Numbers of the host, or of this place, as an array here."""
        if self.xp is np:
            return np.asarray(to_numpy(x), dtype)
        if is_foreign(x) and place_of(x) == self:
            return x if dtype is None else self.xp.astype(x, self.dtype(dtype), copy=False)
        return self.xp.asarray(np.asarray(to_numpy(x), dtype), device=self.device)

    def dtype(self, dtype: Any) -> Any:
        """A floating dtype by its name here."""
        return np.dtype(dtype) if self.xp is np else getattr(self.xp, np.dtype(dtype).name)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Array:
        """Zeros."""
        return self.xp.zeros(shape, dtype=self.dtype(dtype), device=self.device)

    def empty(self, shape: Any, dtype: Any = np.float64) -> Array:
        """Memory for numbers to come."""
        return self.xp.empty(shape, dtype=self.dtype(dtype), device=self.device)

    def full(self, shape: Any, value: float, dtype: Any = np.float64) -> Array:
        """One number everywhere."""
        return self.xp.full(shape, value, dtype=self.dtype(dtype), device=self.device)

    def eye(self, n: int, dtype: Any = np.float64) -> Array:
        """The identity."""
        return self.xp.eye(n, dtype=self.dtype(dtype), device=self.device)


#: NumPy arrays.
HOST = Place()


def place_of(x: Array) -> Place:
    """Where ``x`` lies."""
    return HOST if isinstance(x, np.ndarray) else Place(namespace(x), x.device)


def working_dtype(dtype: Any) -> np.dtype[Any]:
    """The precision that numbers of a dtype are computed and given back in.

    float32 for float32 and float16; float64 for everything else: integers of any width have more digits than float32.
    """
    kind = np.dtype(dtype)
    return np.dtype(np.float32 if kind.kind == "f" and kind.itemsize <= 4 else np.float64)


# small linear algebra
BEGUN: dict[int, Callable[[Any], Any]] = {}  #: eigenpairs that a thread was asked for, by the number of their matrix
LITTLE_THERE = 96  #: columns of a graphics processor's matrix that the host decomposes: 64 take 1 ms there, 0.4 here


def eigh(S: Array, top: int | None = None, *, whole: bool = False) -> tuple[Array, Array]:
    """Eigenvalues (decreasing) and eigenvectors of a symmetric matrix; only the ``top`` largest if asked, which costs a
    third of the whole where these are few, and is NumPy's alone; ``whole``: of NumPy's all eigenvalues all the same."""
    xp, d, begun = namespace(S), S.shape[0], BEGUN.pop(id(S))(S) if id(S) in BEGUN else None
    if begun is None and xp is np and top is not None and top < d:
        from ritz._core.subset import largest_pairs  # all pairs of small tables do without

        # LAPACK's subset routines may fail on a tight cluster, or return too few or poorly orthogonal vectors of it.
        with freed_blas_for(d):
            theta, Y = largest_pairs(S, top, whole=whole)
        E = Y.T.dot(Y)
        E.reshape(-1)[:: Y.shape[1] + 1] -= 1.0
        if Y.shape[1] == top and float(np.abs(E).max(initial=0.0)) < 1e-12:
            return theta[::-1], Y[:, ::-1]
    if xp is not np and d <= LITTLE_THERE and getattr(getattr(S, "device", None), "type", "cpu") == "cuda":
        return tuple(place_of(S).array(np.array(each, order="C")) for each in eigh(to_numpy(S), top))
    theta, Y = begun or (all_pairs(S) if xp is np else xp.linalg.eigh(S))
    if xp is not np:
        order = xp.argsort(theta, descending=True)[: d if top is None else min(top, d)]  # ties come in any order
        return xp.take(theta, order, axis=0), xp.take(Y, order, axis=1)
    return theta[::-1][: None if whole else top], Y[:, ::-1][:, :top]


def all_pairs(S: Any) -> tuple[Any, Any]:
    """All eigenvalues, increasing, and vectors; LAPACK gives up on some matrices with entries near both ends of the
    range, of which the smallest are nothing beside the rounding of the largest.
    """
    if S.shape[0] <= WRAPPED and S.dtype == np.float64:  # what NumPy calls, in 5 µs instead of 12 for four columns
        theta, Y, failed = _dsyevd()(S, lower=1)
        if not failed:
            return theta, Y
    try:
        with freed_blas_for(len(S)):
            return np.linalg.eigh(S)
    except np.linalg.LinAlgError:
        size = float(np.max(np.abs(S), initial=0.0))
        if not 0 < size < np.inf:
            raise
        unit = float(np.ldexp(1.0, int(np.frexp(size)[1])))
        T = S / unit
        theta, Y = np.linalg.eigh(np.where(np.abs(T) < NEGLIGIBLE, 0.0, T))
        return theta * unit, Y


@cache
def _dsyevd() -> Any:
    import scipy.linalg  # by those who need it

    return scipy.linalg.lapack.dsyevd


def inner(Q: Array, W: Array) -> Array:
    """``QᵀW``."""
    shares = _shares(Q, W.shape[1]) if (xp := namespace(Q)) is np else []
    if len(shares) < 2:
        return (Q.T if xp is np else xp.matrix_transpose(Q)) @ W
    return sum(run_lanes(lambda rows: Q[rows].T @ W[rows], shares))


def combine(V: Array, Y: Array) -> Array:
    """``V Y``: the columns of a tall V combined."""
    shares = _shares(V, Y.shape[1]) if namespace(V) is np else []
    if len(shares) < 2:
        return V @ Y
    out = np.empty((Y.shape[1], V.shape[0]), np.result_type(V, Y)).T  # a column is contiguous, as bases hold them

    def work(rows: slice) -> None:
        np.matmul(V[rows], Y, out=out[rows])

    run_lanes(work, shares)
    return out


def _shares(V: Any, columns: int) -> list[slice]:
    """Rows of a tall block, a share for every lane; none where a product is short."""
    p = V.shape[0]
    if float(p) * V.shape[1] * columns < LANE_WORK or (lanes := lane_count()) < 2 or p < 64 * lanes:
        return []
    edges = [p * i // lanes for i in range(lanes + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def symmetric(S: Array) -> Array:
    """The symmetric part of ``S``: rounding leaves products such as ``VᵀMV`` slightly unsymmetric."""
    return (S + (S.T if isinstance(S, np.ndarray) else namespace(S).matrix_transpose(S))) / 2


def norms(R: Array) -> Array:
    """Column norms, scaled so that squares of very large or very small entries stay in range."""
    xp = namespace(R)
    if R.shape[0] == 0 or R.shape[1] == 0:
        return xp.zeros(R.shape[1], dtype=R.dtype, device=place_of(R).device)
    if xp is np:
        if R.size <= FEW_ENTRIES and R.dtype == np.float64:
            return np.array([math.hypot(*column) for column in R.T.tolist()])
        if R.size >= SQUARED and R.dtype in SQUARES:
            squares = _squares(R)
            least, most = SQUARES[R.dtype]
            if squares.min() > least and squares.max() < most:  # NaN is neither
                return np.sqrt(squares)
        size = float(np.abs(R).max())
        T = R / size if 0 < size < np.inf else R
        return np.sqrt((T * T).sum(axis=0)) * (size if T is not R else 1)
    scale = xp.max(xp.abs(R))
    scale = xp.where((scale > 0) & xp.isfinite(scale), scale, xp.ones_like(scale))  # a device is not waited for
    T = R / scale
    return xp.sqrt(xp.sum(T * T, axis=0)) * scale


def _squares(R: Any) -> Any:
    """Σr² of every column, without copies of a long block."""
    if R.size >= LONG_BLOCK and (R.shape[1] <= FEW_COLUMNS or R.flags.f_contiguous):
        return np.array([column @ column for column in R.T], R.dtype)
    return np.einsum("ij,ij->j", R, R)


def norm2(R: Array) -> float:
    """Spectral norm of a tall, thin block, from the eigenvalues of its small Gram matrix."""
    lengths = norms(R)
    if R.shape[1] <= 1:
        return float(lengths[0]) if R.shape[1] else 0.0
    scale = float(namespace(R).max(lengths))
    if not scale > 0:
        return scale
    T = R / scale
    theta, _ = eigh(symmetric(inner(T, T)))
    return float(max(float(theta[0]), 0.0) ** 0.5 * scale)


def join(blocks: list[Array]) -> Array:
    """Columns side by side."""
    return blocks[0] if len(blocks) == 1 else namespace(blocks[0]).concat(blocks, axis=1)


def qr(B: Array) -> tuple[Array, Array]:
    """Thin Householder QR."""
    factors: Any = namespace(B).linalg.qr(B, mode="reduced")
    return factors[0], factors[1]


def root(S: Array, W: Array) -> Array:
    """``W C⁻¹`` with CᵀC = S, C upper triangular; a shift grows until rounding no longer makes S indefinite."""
    xp, m = namespace(S), S.shape[0]
    size, bump, one = trace(S) / m, 0.0, xp.eye(m, dtype=S.dtype, device=place_of(S).device)
    for _ in range(12):
        try:
            C = xp.matrix_transpose(xp.linalg.cholesky(S + bump * one))
        except Exception as error:  # every library has an exception of its own for this
            if "LinAlg" not in type(error).__name__:
                raise
            bump = max(4 * bump, 1e-15 * size)
            continue
        if bool(xp.all(xp.isfinite(C))):
            return _divided(W, C)
        bump = max(4 * bump, 1e-15 * size)
    return W / size**0.5


def _divided(W: Array, C: Array) -> Array:
    """``W C⁻¹`` for an upper triangular C."""
    if (xp := namespace(W)) is np:
        from ritz._core.long import divided  # by those who need it

        return divided(W, C)
    if W.shape[0] > LONG_SOLVE:  # a library without triangular solvers factorises C for every row of W again
        return W @ xp.linalg.inv(C)
    return xp.matrix_transpose(xp.linalg.solve(xp.matrix_transpose(C), xp.matrix_transpose(W)))


def leading(V: Array, k: int) -> Array:
    """The first k columns, without keeping the others in memory."""
    return V[:, :k].copy("K") if isinstance(V, np.ndarray) else namespace(V).asarray(V[:, :k], copy=True)


def positive(x: Array) -> Array:
    """``x`` with entries below zero replaced by zero: rounding may leave a square slightly negative."""
    if isinstance(x, np.ndarray):
        return np.where(x > 0, x, x.dtype.type(0))
    return namespace(x).where(x > 0, x, namespace(x).zeros_like(x))


def wide(x: Array) -> Array:
    """``x`` in float64."""
    if (xp := namespace(x)) is np:  # numpy.astype came with 2.1
        return x.astype(np.float64, copy=False)
    return xp.astype(x, xp.float64, copy=False)


def trace(S: Array) -> float:
    """Sum of the diagonal."""
    return float(S.trace() if isinstance(S, np.ndarray) else namespace(S).linalg.trace(S))


def orth(W: Array, against: Array | None = None, *, projected: bool = False) -> Array:
    """Orthonormal basis of the columns of ``W``, orthogonal to ``against``; directions of pure rounding are dropped.

    Block Gram–Schmidt against the basis ("twice is enough", [Parlett98]; once where W is already ``projected``), then
    W ← W D E Ω^-½ from the small Gram matrix D WᵀW D = EΩEᵀ, D⁻¹ the column norms, repeated where that was not yet
    accurate: only products and l×l eigenproblems, which keep their speed where Householder QR of a tall block does
    not. A direction shorter than DEFLATE of its block is already contained in the basis.
    """
    xp = namespace(W)
    if xp is np and against is None and W.shape[1] and W.dtype in SQUARES:
        done = orth_by_squares(W, symmetric(np.asarray(inner(W, W), np.float64)), 0.0)
        if done is not None:
            return done
    if type(W).__module__.partition(".")[0] == "torch":
        from ritz._core.there import orthonormal

        done = orthonormal(W, against, projected)
        if done is not None:
            return done
    short, flat, exact = (DEFLATE, 1e-8, 1e-11) if "64" in str(W.dtype) else (1e-6, 1e-5, 1e-4)
    before = norms(W)
    keep = np.flatnonzero(to_numpy(before) > 0).tolist()  # asked for once: a device waits for every number
    W = _columns(W, keep) / _columns(before, keep)
    bound = against is not None and against.shape[1] > 0
    weak = True  # whether short directions were stretched, and with them what rounding left along the basis
    for turn in range(4):
        if W.shape[1] == 0:
            return W
        if bound and weak:
            W = W - combine(against, inner(against, W))
        G, length = _gram(W)
        if bound and turn == 0:
            keep = np.flatnonzero(to_numpy(length) > short).tolist()
            if len(keep) < W.shape[1] or not projected or float(xp.min(length)) < 0.5:
                W = _columns(W, keep) / xp.asarray(_columns(length, keep), dtype=W.dtype)
                if not keep:
                    return W
                W = W - combine(against, inner(against, W))
                G, length = _gram(W)
        down = xp.reshape(length, (-1, 1))
        omega, E = eigh(symmetric(G / length / down))
        last, first = float(omega[-1]), float(omega[0])
        if last < flat * first:
            # Squares cannot tell nearly parallel columns apart; QR and the singular vectors of R can.
            Q, R = qr(W / xp.asarray(length, dtype=W.dtype))
            U, size, _ = xp.linalg.svd(R, full_matrices=False)
            W = combine(Q, U[:, : int(np.sum(to_numpy(size) > short))])
            weak = True
            continue
        W = combine(W, xp.asarray(E / down / xp.sqrt(omega), dtype=W.dtype))
        weak = last < 1e-4
        if (turn and abs(last - 1) + abs(first - 1) < exact) or (first < 4 * last):  # the factor amplifies rounding
            break
    return W


def orth_by_squares(W: Any, G: Any, least: float) -> Any:
    """``orth(W)`` of a block in memory from G = WᵀW, in a third of its steps; None where a combination of its columns
    with coefficients of length 1 may be shorter than ``least``, or where squares tell too little.
    """
    low, high = SQUARES[W.dtype]
    squares = G.diagonal()
    if not (squares.min(initial=np.inf) > low and squares.max(initial=0.0) < high):  # NaN is neither
        return None
    if W.dtype == np.float64 and least < 0.5:
        E = G - np.eye(len(G))
        if float(np.abs(E).max()) * len(G) <= NEARLY:  # (I + E)^−½ but for 5/16·E³
            return W @ (np.eye(len(G)) - E / 2 + 0.375 * (E @ E))
    flat = 1e-5 if W.dtype.itemsize < 8 else 1e-8
    for turn in range(2):
        lengths = np.sqrt(G.diagonal())
        omega, E = all_pairs(G / lengths / lengths[:, None])
        last, first = float(omega[0]), float(omega[-1])
        if not last > flat * first or (turn == 0 and not float(lengths.min()) * last**0.5 > least):
            return None
        W = W @ (E / lengths[:, None] / np.sqrt(omega)).astype(W.dtype)
        if first < 4 * last:
            return W
        G = symmetric(np.asarray(inner(W, W), np.float64))
    return None


def _gram(W: Array) -> tuple[Array, Array]:
    """``WᵀW`` in float64 and the column norms that it tells."""
    xp = namespace(W)
    G = xp.asarray(inner(W, W), dtype=xp.float64)
    square = xp.linalg.diagonal(G)
    return G, xp.sqrt(xp.where(square > 0, square, xp.ones_like(square)))


def _columns(W: Array, keep: list[int]) -> Array:
    if len(keep) == W.shape[-1]:
        return W
    xp = namespace(W)
    return xp.take(W, xp.asarray(keep, dtype=xp.int64, device=place_of(W).device), axis=W.ndim - 1)


def signs(V: Array) -> NDArray[np.float64]:
    """±1 for every column of V (d×k), so that the columns of ``V * signs(V)`` follow the one sign rule.

    In each column the first entry whose magnitude is at least (1 − 1e-6) of the largest is positive. So solver, row
    order, chunking, threads and release give the same signs; a tie between two entries (two standardised columns) is
    decided by their order, not by rounding.
    """
    if V.shape[0] == 0 or V.shape[1] == 0:
        return np.ones(V.shape[1])
    if not isinstance(V, np.ndarray):
        from ritz._core.device import signs_there  # loaded where there is a device

        return signs_there(V)
    if V.size > LONG_BLOCK << 7:
        from ritz._core.long import long_signs  # short ones do without

        return long_signs(V, 1 - SIGN_TIE)
    if V.size <= FEW_ENTRIES:
        return np.array([_sign(column) for column in V.T.tolist()])
    size = np.abs(V.T, order="C")  # NumPy is slow along columns that do not lie together: 20,000×5 0.77 ms, not 0.12
    first = (size >= (1 - SIGN_TIE) * np.maximum.reduce(size, axis=1)[:, None]).argmax(axis=1)
    if V.shape[1] <= FEW_COLUMNS:
        return np.array([-1.0 if V[i, j] < 0 else 1.0 for j, i in enumerate(first.tolist())])
    return np.where(V[first, np.arange(V.shape[1])] < 0, -1.0, 1.0)


def _sign(column: list[float]) -> float:
    """The sign of one column."""
    highest, lowest = max(column), min(column)
    least = (1 - SIGN_TIE) * max(highest, -lowest)
    if -lowest < least or highest < least:  # no tie
        return 1.0 if highest >= least else -1.0
    return -1.0 if next((x for x in column if abs(x) >= least), 0.0) < 0 else 1.0


def split_sum(a: Any, b: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``a + b`` rounded, and exactly what rounding took."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    high = a + b
    if np.count_nonzero(np.isfinite(high)) < high.size:
        with np.errstate(invalid="ignore"):
            back = high - a
            low = (a - (high - back)) + (b - back)
        return high, np.where(np.isfinite(low), low, 0.0)
    back = high - a
    return high, (a - (high - back)) + (b - back)
