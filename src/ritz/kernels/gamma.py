"""γ from the rows.

    None         1/d                                     scale    1/(d·var), var over all entries
    median       1/median dist^p over pairs              (p = 2; p = 1 and dist = L1 for Laplacian)
    entropy      effective rank exp(−Σ p log p), p = λ/Σλ of JKJ on m sampled rows: halfway (geometrically) between
                 that of γ → 0, where the kernel is linear, and m, where it is the identity
    alignment    max ⟨JKJ, JLJ⟩/(‖JKJ‖‖JLJ‖), L = 1 where labels agree, or yyᵀ for numbers       [Cortes et al. 2012]
    cv           least cross-validated error, by a score that the estimator hands in              [Alam & Fukumizu 2014]

Kernels of the dot product take the median of ‖x‖² in place of that of distances. A Laplacian's "scale" is 1/(d·sd):
with either, k does not change when all columns are multiplied by one number. Samples depend on the seed only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.kernels.base import Kernel, take_rows
from ritz.kernels.distances import DistanceKernel
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.rows import is_sparse, rows_of, squares

__all__ = ["find_gamma", "gamma_cv", "with_gamma"]

#: All pairs are used up to this many rows, sampled ones beyond.
EXACT = 150
PAIRS = 10_000

#: Rows of a kernel matrix whose spectrum or alignment is judged; of a fold.
SAMPLE, FOLD = 400, 600

#: Factors around the median γ that are tried, and how often the best is bracketed more finely.
GRID = np.logspace(-3, 3, 25)
FINER = 12


def find_gamma(kernel: Kernel, gamma: Any, X: Any, *, y: Any = None, seed: int = 0) -> float:
    """A number for ``gamma`` (for a Matérn kernel: 1/2ℓ²)."""
    X, _ = rows_of(X)
    d = max(X.shape[1], 1)
    if gamma is None:
        return 1.0 / d
    if gamma == "scale":
        variance = _variance(X)
        spread = np.sqrt(variance) if isinstance(kernel, Laplacian) else variance
        return float(1.0 / (d * spread)) if spread > 0 and np.isfinite(1 / spread) else 1.0 / d
    if gamma == "median":
        return median_gamma(kernel, X, seed)
    if gamma == "entropy":
        return _by_entropy(kernel, X, seed)
    if gamma == "alignment":
        return _by_alignment(kernel, X, y, seed)
    if gamma == "cv":
        raise ParameterError(
            "gamma='cv' needs an error to compare by",
            hint="KernelPCA(gamma='cv') supplies the error of its pre-images; by hand: gamma_cv(kernel, X, score)",
        )
    return float(gamma)


def with_gamma(kernel: Kernel, gamma: float) -> Kernel:
    """The kernel with this γ; a Matérn kernel with the length 1/√(2γ)."""
    params = kernel.get_params(deep=False)
    if "length" in params and "gamma" not in params:
        return kernel.with_params(length=float(1 / np.sqrt(2 * gamma)))
    return kernel.with_params(gamma=float(gamma))


def median_gamma(kernel: Kernel, X: Any, seed: int) -> float:
    """1/median of what γ multiplies."""
    n, d = X.shape
    if isinstance(kernel, (DistanceKernel, Laplacian)):
        i, j = _pairs(n, seed)
        sizes = _distances(X, i, j, manhattan=isinstance(kernel, Laplacian))
    else:
        sizes = squares(X if X.dtype.kind == "f" else X.astype(np.float64))
    middle = float(np.median(sizes)) if len(sizes) else 0.0
    if not middle > 0:  # more than half of the pairs coincide
        middle = float(np.mean(sizes)) if len(sizes) else 0.0
    return 1.0 / middle if middle > 0 and np.isfinite(1 / middle) else 1.0 / max(d, 1)


def gamma_cv(
    kernel: Kernel, X: Any, score: Callable[[Kernel, Any, Any], float], *, seed: int = 0, folds: int = 3
) -> float:
    """γ of least mean ``score(kernel, train, test)`` over the folds of a sample of rows.

    Parameters
    ----------
    kernel
        Any kernel with a γ (or a length).
    X : (n, d)
        Rows, dense or CSR.
    score
        The error on ``test`` of a model fitted to ``train``; an infinite or NaN one loses.
    seed, folds
        Which rows, and into how many parts.
    """
    X, _ = rows_of(X)
    picked = _sample(X.shape[0], FOLD * folds, seed)
    if len(picked) < 2 * folds:
        return median_gamma(kernel, X, seed)
    parts = [np.sort(picked[f::folds]) for f in range(folds)]
    pairs = []
    for fold in parts:
        rest = np.setdiff1d(picked, fold)
        pairs.append((take_rows(X, rest), take_rows(X, fold)))

    def worth(gamma: float) -> float:
        candidate = with_gamma(kernel, gamma)
        error = float(np.mean([score(candidate, train, test) for train, test in pairs]))
        return -error if np.isfinite(error) else -np.inf

    return _best(worth, median_gamma(kernel, X, seed), finer=0)


def _by_entropy(kernel: Kernel, X: Any, seed: int) -> float:
    rows = take_rows(X, _sample(X.shape[0], SAMPLE, seed))
    start = median_gamma(kernel, X, seed)

    def entropy(gamma: float) -> float:
        values = np.linalg.eigvalsh(_centered(with_gamma(kernel, gamma)(rows)))
        share = np.abs(values)
        total = share.sum()
        if not total > 0:
            return -np.inf
        share = share[share > 0] / total
        return float(-(share * np.log(share)).sum())

    target = 0.5 * (entropy(float(start * GRID[0])) + np.log(max(rows.shape[0], 1)))
    return _best(lambda gamma: -abs(entropy(gamma) - target), start)


def _by_alignment(kernel: Kernel, X: Any, y: Any, seed: int) -> float:
    if y is None:
        raise ParameterError("gamma='alignment' compares the kernel with labels", received="y=None",
                             hint="fit(X, y), or gamma='median'")  # fmt: skip
    y = np.asarray(y)
    if y.shape[:1] != (X.shape[0],):
        raise InputError(f"one label a row, {X.shape[0]}", received=f"shape {y.shape}")
    picked = _sample(X.shape[0], SAMPLE, seed)
    rows, y = take_rows(X, picked), y[picked]
    numbers = y.dtype.kind == "f" and y.ndim == 1 and len(np.unique(y)) > max(20, len(y) // 10)
    L = _centered(np.outer(y, y) if numbers else (y[:, None] == y[None, :]).reshape(len(y), len(y), -1).all(axis=2))
    size = float(np.linalg.norm(L))

    def aligned(gamma: float) -> float:
        K = _centered(with_gamma(kernel, gamma)(rows))
        length = float(np.linalg.norm(K)) * size
        return float(np.sum(K * L)) / length if length > 0 else -np.inf

    return _best(aligned, median_gamma(kernel, X, seed))


def _best(worth: Callable[[float], float], start: float, finer: int = FINER) -> float:
    """The γ of greatest worth on a logarithmic grid, then between its neighbours by golden section."""
    grid = start * GRID
    values = np.array([worth(float(gamma)) for gamma in grid])
    if not np.any(np.isfinite(values)):
        return start
    top = int(np.argmax(values))
    low, high = np.log(grid[max(top - 1, 0)]), np.log(grid[min(top + 1, len(grid) - 1)])
    ratio, best = (np.sqrt(5) - 1) / 2, (values[top], np.log(grid[top]))
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    tried = {a: worth(float(np.exp(a))), b: worth(float(np.exp(b)))} if finer else {}
    for _ in range(finer):
        if tried[a] >= tried[b]:
            high, b = b, a
            a = high - ratio * (high - low)
        else:
            low, a = a, b
            b = low + ratio * (high - low)
        for point in (a, b):
            if point not in tried:
                tried[point] = worth(float(np.exp(point)))
    highest = max([best, *((value, point) for point, value in tried.items())])
    return float(np.exp(highest[1]))


def _centered(K: NDArray[Any]) -> NDArray[np.float64]:
    K = np.asarray(K, np.float64)
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True)


def _sample(n: int, size: int, seed: int) -> NDArray[np.intp]:
    """At most ``size`` rows, in a random order."""
    return np.random.default_rng([seed, 0x6A]).permutation(n)[:size]


def _pairs(n: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs i < j of few rows, sampled pairs i ≠ j of many."""
    if n <= EXACT:
        i, j = np.triu_indices(n, 1)
        return i, j
    rng = np.random.default_rng([seed, 0x6D])
    i = rng.integers(0, n, PAIRS)
    return i, (i + rng.integers(1, n, PAIRS)) % n


def _distances(X: Any, i: NDArray[np.intp], j: NDArray[np.intp], *, manhattan: bool) -> NDArray[np.float64]:
    """‖xᵢ − xⱼ‖² or ‖xᵢ − xⱼ‖₁ from differences, a few pairs at a time."""
    distances = np.empty(len(i))
    for start in range(0, len(i), 1000):
        block = slice(start, start + 1000)
        gap = X[i[block]].astype(np.float64) - X[j[block]].astype(np.float64)
        if manhattan:
            distances[block] = np.asarray(abs(gap).sum(axis=1)).reshape(-1)
        else:
            distances[block] = squares(gap.tocsr() if is_sparse(gap) else gap)
    return distances


def _variance(X: Any) -> float:
    """Variance of all entries, as scikit-learn's gamma="scale"; zeros of CSR rows count."""
    if not X.shape[0] * X.shape[1]:
        return 0.0
    if is_sparse(X):
        data, size = X.data.astype(np.float64), float(X.shape[0]) * X.shape[1]
        mean = data.sum() / size
        return float((np.square(data - mean).sum() + (size - len(data)) * mean**2) / size)
    return float(np.var(X, dtype=np.float64))
