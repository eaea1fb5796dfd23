"""Matrices whose *stored* entries have an exactly known spectrum, at any size.

    X = P diag(σ) Qᵀ,    σ dyadic, P and Q orthogonal with dyadic entries: no entry is rounded

P and Q are products of reflections I₄ − ½·11ᵀ of four axes at a time (entries ±½), or columns of a Hadamard
matrix, whose columns but the first sum to zero, so that the spectrum survives centring and any offset. The
signed incidence matrix B of a graph has BᵀB = its Laplacian, with eigenvalues such as 4 sin²(πk/2m) for the
path of m vertices (Brouwer & Haemers 2012, *Spectra of graphs*, ch. 1): sparse, small gaps, multiple values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.testing.spectra import spectrum

if TYPE_CHECKING:
    from scipy import sparse

__all__ = [
    "Eigenvalue",
    "Known",
    "incidence",
    "known_hadamard",
    "known_integers",
    "known_sparse",
    "known_wide",
    "symmetric_known",
]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Eigenvalue:
    """The number ``rational + 4·Σ sin²(π·angle)``, exact.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from ritz.testing import Eigenvalue, incidence
    >>> Eigenvalue(Fraction(1, 3))                # a third, not 0.333
    Eigenvalue(rational=Fraction(1, 3), angles=())
    >>> incidence("complete", 4).eigenvalues[-1].rational  # of the Laplacian of a complete graph
    Fraction(4, 1)
    """

    rational: Fraction
    angles: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Known:
    """A matrix whose stored entries have an exactly known spectrum.

    Attributes
    ----------
    X : ndarray or csr_matrix
        The n×d matrix.
    eigenvalues : tuple of Eigenvalue
        All min(n, d) eigenvalues of XᵀX that can differ from zero, in no order.
    raw, centered : bool
        Whether they are those of X as it is, and of the column-centred X.
    vectors : ndarray or None
        (d, r) exact right singular vectors in the order of ``eigenvalues``.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import known_integers
    >>> known = known_integers("geometric", 16, 3)
    >>> exact = sorted((int(value.rational) for value in known.eigenvalues), reverse=True)
    >>> exact[0] > exact[-1], known.X.dtype
    (True, dtype('int32'))
    >>> bool(np.allclose(np.linalg.svd(known.X.astype(float))[1] ** 2, exact))
    True
    """

    X: Any
    eigenvalues: tuple[Eigenvalue, ...]
    raw: bool
    centered: bool
    vectors: Array | None = None


def _dyadic(kind: str, r: int, cond: float, seed: int, bits: int) -> Array:
    """Singular values of a kind as integer multiples of 2**-bits, in those units."""
    return np.rint(np.ldexp(spectrum(kind, r, cond=cond, seed=seed), bits))


def _reflections(m: int, rounds: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """2**rounds times an orthogonal m×m matrix, in integers: reflections I₄ − ½·11ᵀ of random axes."""
    from scipy import sparse

    block = 2 * np.eye(4) - np.ones((4, 4))
    one = sparse.block_diag([block] * (m // 4) + [2 * np.eye(m % 4)] * (m % 4 > 0), format="csr")
    Q = sparse.identity(m, format="csr")
    for _ in range(rounds):
        p = rng.permutation(m)
        Q = one[p][:, rng.permutation(m)] @ Q
    return Q


def _stored(units: Any, exponent: int, dtype: Any) -> Any:
    """Integers times 2**exponent in ``dtype``, or an error when the significand cannot hold them."""
    if abs(units).max() > 2.0 ** np.finfo(dtype).nmant:
        raise ValueError(f"expected integers of at most {np.finfo(dtype).nmant} bits; choose a smaller cond")
    return (units * 2.0**exponent).astype(dtype)


def known_sparse(
    kind: str, n: int, d: int, *, cond: float = 1e4, seed: int = 0, dtype: Any = np.float64, rounds: int = 2
) -> Known:
    """Sparse n×d matrix P diag(σ) Qᵀ with dyadic σ of a kind and dyadic orthogonal P, Q.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import known_sparse, known_truth
    >>> known = known_sparse("geometric", 100, 20)
    >>> bool(np.allclose(np.linalg.svd(known.X.toarray())[1] ** 2, known_truth(known).values))
    True
    """
    from scipy import sparse

    rng = np.random.default_rng(seed)
    r = min(n, d)
    bits = int(np.finfo(dtype).nmant) - 2 * rounds - 1
    units = _dyadic(kind, r, cond, seed, bits)
    P, Q = _reflections(n, rounds, rng), _reflections(d, rounds, rng)
    X = P @ sparse.csr_matrix((units, (np.arange(r), np.arange(r))), shape=(n, d)) @ Q.T
    X.eliminate_zeros()
    X.sort_indices()
    values = tuple(Eigenvalue(Fraction(int(s)) ** 2 / 4**bits) for s in units)
    vectors = np.ldexp(Q.toarray()[:, :r], -rounds)
    return Known(_stored(X, -bits - 2 * rounds, dtype), values, True, False, vectors)


def known_hadamard(
    kind: str,
    n: int,
    d: int,
    *,
    cond: float = 1e4,
    seed: int = 0,
    dtype: Any = np.float64,
    rounds: int = 2,
    offset: int = 0,
) -> Known:
    """Dense n×d matrix H diag(s) Qᵀ + offset, with columns 1…d of the Hadamard matrix of order n = 2^p > d.

    The eigenvalues n·s² hold for the centred matrix whatever the offset (an integer), and for X without one.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import known_hadamard, known_truth
    >>> known = known_hadamard("geometric", 32, 4, offset=1000)  # the offset does not count
    >>> Z = known.X - known.X.mean(axis=0)
    >>> known.raw, known.centered, bool(np.allclose(np.linalg.svd(Z)[1] ** 2, known_truth(known).values))
    (False, True, True)
    """
    if n <= d or n & (n - 1):
        raise ValueError(f"expected n a power of two above d; received n={n}, d={d}")
    rng = np.random.default_rng(seed)
    H = _sylvester(n, 1 + rng.permutation(n - 1)[:d])
    # every entry is a sum of 4^rounds terms ±s/2^rounds, beside the offset
    head = max(2 * rounds, abs(offset).bit_length()) + 1
    bits = int(np.finfo(dtype).nmant) - rounds - head
    units = _dyadic(kind, d, cond, seed, bits)
    Q = _reflections(d, rounds, rng).toarray()
    X = (H * units) @ Q.T + offset * 2.0 ** (bits + rounds)
    values = tuple(Eigenvalue(n * Fraction(int(s)) ** 2 / 4**bits) for s in units)
    return Known(_stored(X, -bits - rounds, dtype), values, offset == 0, True, np.ldexp(Q, -rounds))


def known_integers(
    kind: str, n: int, d: int, *, cond: float = 1e2, seed: int = 0, dtype: Any = np.int32, offset: int = 0
) -> Known:
    """Dense n×d matrix of integers H diag(s) Qᵀ + offset in an integer dtype, H as in `known_hadamard`.

    The eigenvalues 4·n·s² hold for the centred matrix whatever the offset, and for X without one. The singular values
    s are whole numbers as large as the dtype has room for beside the offset, at most 2¹⁶.

    Examples
    --------
    >>> import ritz
    >>> from ritz.testing import known_integers, known_truth
    >>> known = known_integers("slow", 64, 5, dtype="int16")
    >>> truth = known_truth(known).values
    >>> found = ritz.PCA().fit(known.X).singular_values_ ** 2
    >>> bool(abs(found - truth).max() < 1e-12 * truth[0])
    True
    """
    if n <= d or n & (n - 1):
        raise ValueError(f"expected n a power of two above d; received n={n}, d={d}")
    rng, limits = np.random.default_rng(seed), np.iinfo(dtype)
    room = min(limits.max - offset, offset - limits.min)  # for sums of four terms ±s
    bits = min(16, room.bit_length() - 3)
    if bits < 1:
        raise ValueError(f"expected an offset that leaves room in {np.dtype(dtype)}; received {offset}")
    units = _dyadic(kind, d, cond, seed, bits)
    Q = _reflections(d, 1, rng).toarray()
    X = ((_sylvester(n, 1 + rng.permutation(n - 1)[:d]) * units) @ Q.T).astype(np.int64)
    stored = X.astype(dtype) if offset == 0 else (X.astype(np.uint64) + np.uint64(offset % 2**64)).astype(dtype)
    values = tuple(Eigenvalue(Fraction(4 * n * int(s) ** 2)) for s in units)
    return Known(stored, values, offset == 0, True, np.ldexp(Q, -1))


def known_wide(
    kind: str, n: int, d: int, *, cond: float = 1e4, seed: int = 0, dtype: Any = np.float64, offset: int = 0
) -> Known:
    """Dense wide n×d matrix G diag(s) Hᵀ + offset, G and H columns of Hadamard matrices of order n = 2^p < d = 4^q.

    The eigenvalues n·d·s², n − 1 of them and a zero, hold for the centred matrix whatever the offset, and for X
    without one.

    Examples
    --------
    >>> import ritz
    >>> from ritz.testing import known_truth, known_wide
    >>> known = known_wide("geometric", 8, 16)
    >>> known.X.shape, len(known.eigenvalues)
    ((8, 16), 8)
    >>> truth = known_truth(known).values
    >>> bool(abs(ritz.PCA(3).fit(known.X).singular_values_ ** 2 - truth[:3]).max() < 1e-12 * truth[0])
    True
    """
    if not n < d or n & (n - 1) or d & (d - 1) or not d.bit_length() % 2:
        raise ValueError(f"expected n a power of two below d, a power of four; received n={n}, d={d}")
    rng = np.random.default_rng(seed)
    G = _sylvester(n, 1 + rng.permutation(n - 1))
    H = _sylvester(d, rng.permutation(d)[: n - 1])
    # every entry is a sum of n − 1 terms ±s, beside the offset
    bits = int(np.finfo(dtype).nmant) - max(n.bit_length(), abs(offset).bit_length()) - 1
    units = _dyadic(kind, n - 1, cond, seed, bits)
    X = (G * units) @ H.T + offset * 2.0**bits
    values = tuple(Eigenvalue(n * d * Fraction(int(s)) ** 2 / 4**bits) for s in units)
    vectors = np.append(H / np.sqrt(d), np.full((d, 1), np.nan), axis=1)
    return Known(_stored(X, -bits, dtype), (*values, Eigenvalue(Fraction(0))), offset == 0, True, vectors)


def symmetric_known(values: Sequence[int], *, seed: int = 0, rounds: int = 2) -> tuple[Array, Array]:
    """Dense symmetric M = Q diag(values) Qᵀ of whole eigenvalues, and Q, both stored without rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import symmetric_known
    >>> M, Q = symmetric_known([5, 3, 3, -1])
    >>> np.linalg.eigvalsh(M).round(12)
    array([-1.,  3.,  3.,  5.])
    >>> bool((M @ Q == Q * [5, 3, 3, -1]).all())  # to the last bit
    True
    """
    Q = _reflections(len(values), rounds, np.random.default_rng(seed)).toarray()
    return _stored((Q * np.asarray(values, float)) @ Q.T, -2 * rounds, np.float64), np.ldexp(Q, -rounds)


def _sylvester(m: int, columns: Array) -> Array:
    """Columns of the Hadamard matrix of order m: entry (i, j) is −1 to the number of ones i and j share in binary."""
    return 1.0 - 2.0 * (np.bitwise_count(np.arange(m)[:, None] & columns[None, :]) & 1)


def incidence(graph: str, size: int, *, dtype: Any = np.float64, transpose: bool = False) -> Known:
    """Signed incidence matrix (edges × vertices, CSR) of a graph; XᵀX is its Laplacian.

    Parameters
    ----------
    graph : str
        ``"path"``, ``"cycle"``, ``"complete"``, ``"star"`` of ``size`` vertices, ``"grid"`` of size²,
        ``"cube"`` of 2^size.
    size : int
        Vertices, or the side of the grid, or the dimension of the cube.
    dtype : dtype
        Of the entries, which are −1, 0 and 1.
    transpose : bool
        Vertices × edges: every column then sums to zero, so the spectrum is that of the centred matrix too.

    Examples
    --------
    >>> from ritz.testing import incidence, known_truth
    >>> path = incidence("path", 4)               # a string of four beads
    >>> path.X.toarray()
    array([[ 1., -1.,  0.,  0.],
           [ 0.,  1., -1.,  0.],
           [ 0.,  0.,  1., -1.]])
    >>> known_truth(path).values.round(3) + 0     # 4 sin²(πj/8): how it swings
    array([3.414, 2.   , 0.586])
    """
    from scipy import sparse

    heads, tails, values = _GRAPHS[graph](size)
    edges, vertices = len(heads), len(values)
    rows = np.tile(np.arange(edges), 2)
    signs = np.repeat(np.array([1.0, -1.0], dtype=dtype), edges)
    X = sparse.csr_matrix((signs, (rows, np.concatenate([heads, tails]))), shape=(edges, vertices))
    if transpose:
        X = X.T.tocsr()
    # the Laplacian of a connected graph has one zero; fewer edges than vertices leave it out
    values = sorted(values, key=lambda v: bool(v.rational or any(v.angles)))[max(0, vertices - edges) :]
    return Known(X, tuple(values), True, transpose or graph == "cycle")


_Graph = tuple[Array, Array, list[Eigenvalue]]


def _path(m: int) -> _Graph:
    i = np.arange(m - 1)
    return i, i + 1, [Eigenvalue(Fraction(0), (Fraction(k, 2 * m),)) for k in range(m)]


def _cycle(m: int) -> _Graph:
    i = np.arange(m)
    return i, (i + 1) % m, [Eigenvalue(Fraction(0), (Fraction(k, m),)) for k in range(m)]


def _complete(m: int) -> _Graph:
    i, j = np.triu_indices(m, 1)
    return i, j, [Eigenvalue(Fraction(0))] + [Eigenvalue(Fraction(m))] * (m - 1)


def _star(m: int) -> _Graph:
    one = [Eigenvalue(Fraction(1))] * (m - 2)
    return np.zeros(m - 1, int), np.arange(1, m), [Eigenvalue(Fraction(0)), *one, Eigenvalue(Fraction(m))]


def _grid(m: int) -> _Graph:
    v = np.arange(m * m).reshape(m, m)
    heads = np.concatenate([v[:, :-1].ravel(), v[:-1].ravel()])
    tails = np.concatenate([v[:, 1:].ravel(), v[1:].ravel()])
    angle = [Fraction(k, 2 * m) for k in range(m)]
    return heads, tails, [Eigenvalue(Fraction(0), (a, b)) for a in angle for b in angle]


def _cube(m: int) -> _Graph:
    v = np.arange(2**m)
    pairs = [(v[(v >> b) & 1 == 0], b) for b in range(m)]
    heads = np.concatenate([low for low, _ in pairs])
    tails = np.concatenate([low | (1 << b) for low, b in pairs])
    return heads, tails, [Eigenvalue(Fraction(2 * int(x).bit_count())) for x in v]


_GRAPHS: dict[str, Callable[[int], _Graph]] = {
    "path": _path,
    "cycle": _cycle,
    "complete": _complete,
    "star": _star,
    "grid": _grid,
    "cube": _cube,
}
