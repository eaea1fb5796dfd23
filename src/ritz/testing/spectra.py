"""Matrices whose spectrum is prescribed, and matrices that break careless code.

    X = U diag(σ) Vᵀ,   U (n, r), V (d, r) orthonormal,   r = min(n, d),   σ₁ = 1

`spectrum` draws σ by kind and condition σ₁/σ_r; `matrix` multiplies the factors out and rounds, so the
*stored* entries have a spectrum that is only near σ: ask `ritz.testing.truth` for theirs (the matrices of
`ritz.testing.known` need no such question). `HOSTILE` holds the classical bad examples (Higham 2002, ch. 28):
Hilbert, Läuchli, Vandermonde, graded, constant or equal columns, repeated rows, a far mean, one outlier.

Everything is a function of its arguments and an integer seed; nothing reads global random state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["HOSTILE", "KINDS", "hostile", "matrix", "sparse_matrix", "spectrum"]

Array = np.ndarray[Any, Any]


# --------------------------------------------------------------------------------------------- spectra


def _geometric(r: int, cond: float, _rng: np.random.Generator) -> Array:
    return np.geomspace(1.0, 1.0 / cond, r)


def _step(r: int, cond: float, _rng: np.random.Generator) -> Array:
    """One level of 1, one of 1/cond: two eigenvalues, both as multiple as they can be."""
    return np.where(np.arange(r) < max(1, r // 3), 1.0, 1.0 / cond)


def _clustered(r: int, cond: float, rng: np.random.Generator) -> Array:
    """Levels of a geometric ladder, each split into neighbours that differ by 1e-3 to 1e-13."""
    size = 3
    level = np.geomspace(1.0, 1.0 / cond, -(-r // size))
    split = 1.0 + np.outer(10.0 ** -rng.uniform(3, 13, level.size), np.arange(size))
    return (level[:, None] * split).ravel()[:r]


def _slow(r: int, cond: float, _rng: np.random.Generator) -> Array:
    """σᵢ = i^-½ down to the condition: the spectrum on which few power steps do nothing."""
    return np.maximum(np.arange(1, r + 1) ** -0.5, 1.0 / cond)


def _deficient(r: int, cond: float, _rng: np.random.Generator) -> Array:
    """Geometric, then exactly zero from the middle on (before rounding)."""
    rank = max(1, r // 2)
    return np.concatenate([np.geomspace(1.0, 1.0 / cond, rank), np.zeros(r - rank)])


def _spikes(r: int, cond: float, rng: np.random.Generator) -> Array:
    """A few leading values over a bulk that is nearly flat: data plus noise."""
    few = max(1, r // 6)
    bulk = np.sort(rng.uniform(0.8, 1.0, r - few))[::-1] / min(cond, 30.0)
    return np.concatenate([np.linspace(1.0, 0.5, few), bulk])


def _flat(r: int, _cond: float, _rng: np.random.Generator) -> Array:
    return np.ones(r)


def _pairs(r: int, cond: float, _rng: np.random.Generator) -> Array:
    """Every value twice: no vector is determined, every plane is."""
    return np.repeat(np.geomspace(1.0, 1.0 / cond, -(-r // 2)), 2)[:r]


KINDS: dict[str, Callable[[int, float, np.random.Generator], Array]] = {
    "geometric": _geometric,
    "step": _step,
    "clustered": _clustered,
    "slow": _slow,
    "deficient": _deficient,
    "spikes": _spikes,
    "flat": _flat,
    "pairs": _pairs,
}


def spectrum(kind: str, r: int, *, cond: float = 1e4, seed: int = 0) -> Array:
    """Singular values of a kind: r of them, decreasing from 1 to about 1/cond.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    r : int
        How many.
    cond : float
        Ratio of the largest to the smallest (to the smallest non-zero one for ``"deficient"``).
    seed : int
        For the kinds with a random part.

    Examples
    --------
    >>> from ritz.testing import spectrum
    >>> spectrum("geometric", 5).round(4)         # what most tests use, and what data never look like
    array([1.e+00, 1.e-01, 1.e-02, 1.e-03, 1.e-04])
    >>> spectrum("pairs", 4, cond=10).round(2)    # no vector is determined, every plane is
    array([1. , 1. , 0.1, 0.1])
    """
    values = KINDS[kind](r, cond, np.random.default_rng(seed))
    return np.sort(values)[::-1] / values.max()


# -------------------------------------------------------------------------------------------- matrices


def _orthonormal(rows: int, columns: int, rng: np.random.Generator) -> Array:
    q, _ = np.linalg.qr(rng.standard_normal((rows, columns)))
    return q


def matrix(
    kind: str,
    n: int,
    d: int,
    *,
    cond: float = 1e4,
    seed: int = 0,
    dtype: Any = np.float64,
    centered: bool = False,
    offset: float = 0.0,
    exponent: int = 0,
) -> Array:
    """Dense n×d matrix with singular values near ``spectrum(kind, min(n, d))``.

    Parameters
    ----------
    kind, cond, seed
        As for :func:`ritz.testing.spectrum`.
    n, d : int
        Rows and columns.
    dtype : dtype
        What the entries are rounded to.
    centered : bool
        Make the left factor orthogonal to the ones, so that the spectrum is also that of the centred data.
    offset : float
        Added to every entry before rounding: a mean this many σ₁ away.
    exponent : int
        The result is multiplied by 2**exponent, which rounds nothing unless it leaves the range.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import matrix, spectrum
    >>> X = matrix("slow", 50, 6, centered=True, offset=1e3)  # a mean that is a thousand times the signal
    >>> bool(np.allclose(np.linalg.svd(X - X.mean(axis=0))[1], spectrum("slow", 6), atol=1e-10))
    True
    """
    rng = np.random.default_rng(seed)
    r = min(n, d)
    left = rng.standard_normal((n, r))
    if centered and n > r:
        left = np.linalg.qr(np.column_stack([np.ones(n), left]))[0][:, 1:]
    else:
        left = np.linalg.qr(left)[0]
    right = _orthonormal(d, r, rng)
    X = (left * spectrum(kind, r, cond=cond, seed=seed)) @ right.T + offset
    return np.ldexp(X.astype(dtype), exponent)


def sparse_matrix(
    kind: str,
    n: int,
    d: int,
    *,
    cond: float = 1e4,
    seed: int = 0,
    dtype: Any = np.float64,
    rounds: int = 2,
) -> sparse.csr_matrix:
    """Sparse n×d matrix (CSR) with singular values near ``spectrum(kind, min(n, d))``.

    A diagonal matrix is turned by ``rounds`` sets of disjoint plane rotations on either side: each round at
    most doubles the entries of a row and of a column.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import sparse_matrix, spectrum
    >>> X = sparse_matrix("geometric", 1000, 100)
    >>> X.nnz < 1000 * 100 / 50                   # one entry in fifty, and less
    True
    >>> found = np.linalg.svd(X.toarray(), compute_uv=False)
    >>> bool(np.allclose(found, spectrum("geometric", 100)))
    True
    """
    from scipy import sparse

    rng = np.random.default_rng(seed)
    r = min(n, d)
    X = sparse.csr_matrix(
        (spectrum(kind, r, cond=cond, seed=seed), (rng.permutation(n)[:r], rng.permutation(d)[:r])),
        shape=(n, d),
    )
    for _ in range(rounds):
        X = _rotations(n, rng) @ X @ _rotations(d, rng)
    X = X.tocsr().astype(dtype)
    X.sort_indices()
    return X


def _rotations(m: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Disjoint rotations of random pairs of axes: an orthogonal m×m matrix with two entries a row."""
    from scipy import sparse

    p = rng.permutation(m)
    i, j = p[: m // 2], p[m // 2 : 2 * (m // 2)]
    angle = rng.uniform(0, 2 * np.pi, i.size)
    c, s = np.cos(angle), np.sin(angle)
    rest = p[2 * (m // 2) :]
    rows = np.concatenate([i, j, i, j, rest])
    columns = np.concatenate([i, j, j, i, rest])
    return sparse.csr_matrix((np.concatenate([c, c, -s, s, np.ones(rest.size)]), (rows, columns)), shape=(m, m))


# --------------------------------------------------------------------------------------------- hostile


def _hilbert(n: int, d: int, _rng: np.random.Generator) -> Array:
    return 1.0 / (np.arange(n)[:, None] + np.arange(d)[None, :] + 1.0)


def _lauchli(n: int, d: int, _rng: np.random.Generator) -> Array:
    """A row of ones over 2^-26·I: the Gram matrix rounds to one of rank 1."""
    X = np.zeros((n, d))
    X[0] = 1.0
    m = min(n - 1, d)
    X[1 : m + 1, :m] = np.ldexp(np.eye(m), -26)
    return X


def _vandermonde(n: int, d: int, _rng: np.random.Generator) -> Array:
    return np.vander(np.linspace(0.0, 1.0, n), d, increasing=True)


def _graded(n: int, d: int, rng: np.random.Generator) -> Array:
    return rng.standard_normal((n, d)) * np.geomspace(1.0, 1e-14, d)


def _duplicated(n: int, d: int, rng: np.random.Generator) -> Array:
    few = max(2, min(n, d) // 2)
    return rng.standard_normal((few, d))[rng.integers(0, few, n)]


def _coherent(n: int, d: int, rng: np.random.Generator) -> Array:
    """One row, then equal small ones: equal rounding errors add up where random ones would average out."""
    X = np.full((n, d), 10.0 ** -rng.uniform(1.5, 4))
    X[0] = rng.choice([1.0, rng.uniform(0.5, 1)]) if rng.random() < 0.5 else rng.uniform(0.5, 1, d)
    return X


def _lone(n: int, d: int, rng: np.random.Generator) -> Array:
    """Nothing but one row: rank one, and after centring one small number everywhere else."""
    X = np.zeros((n, d))
    X[rng.integers(n)] = np.round(rng.uniform(0.5, 1, d), 2)
    return X


def _constant_columns(n: int, d: int, rng: np.random.Generator) -> Array:
    X = rng.standard_normal((n, d))
    X[:, ::3] = rng.uniform(-1e3, 1e3, X[:, ::3].shape[1])
    return X


def _equal(n: int, d: int, _rng: np.random.Generator) -> Array:
    """One number everywhere, and one that is no short binary fraction."""
    return np.full((n, d), 0.1)


def _zero(n: int, d: int, _rng: np.random.Generator) -> Array:
    return np.zeros((n, d))


def _collinear(n: int, d: int, rng: np.random.Generator) -> Array:
    """Columns that differ by 1e-9 of a common one: the second singular value sits below √u."""
    return rng.standard_normal((n, 1)) + 1e-9 * rng.standard_normal((n, d))


def _far(n: int, d: int, rng: np.random.Generator) -> Array:
    """Spread 5, 4, 3, … around a mean of 1e8: subtracting n·μμᵀ afterwards leaves nothing."""
    return rng.standard_normal((n, d)) * np.maximum(5.0 - np.arange(d), 0.5) + 1e8


def _outlier(n: int, d: int, rng: np.random.Generator) -> Array:
    """One row 1e7 away, the first: a shift taken from it alone would be a bad one."""
    X = rng.standard_normal((n, d))
    X[0] *= 1e7
    return X


def _integers(n: int, d: int, rng: np.random.Generator) -> Array:
    return rng.integers(-9, 10, (n, d)).astype(float)


HOSTILE: dict[str, Callable[[int, int, np.random.Generator], Array]] = {
    "hilbert": _hilbert,
    "lauchli": _lauchli,
    "vandermonde": _vandermonde,
    "graded": _graded,
    "duplicated": _duplicated,
    "coherent": _coherent,
    "lone": _lone,
    "constant-columns": _constant_columns,
    "equal": _equal,
    "zero": _zero,
    "collinear": _collinear,
    "far": _far,
    "outlier": _outlier,
    "integers": _integers,
}


def hostile(name: str, n: int, d: int, *, seed: int = 0, dtype: Any = np.float64, exponent: int = 0) -> Array:
    """The n×d example ``name`` of `HOSTILE`, rounded to ``dtype`` and multiplied by 2**exponent.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import HOSTILE, hostile
    >>> sorted(HOSTILE)[:4]
    ['coherent', 'collinear', 'constant-columns', 'duplicated']
    >>> X = hostile("lauchli", 6, 5)              # XᵀX loses in float64 what X still has
    >>> int(np.linalg.matrix_rank(X)), int(np.linalg.matrix_rank(X.T @ X))
    (5, 1)
    """
    return np.ldexp(HOSTILE[name](n, d, np.random.default_rng(seed)).astype(dtype), exponent)
