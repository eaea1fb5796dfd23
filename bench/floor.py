"""The floor: time of the BLAS calls that the chosen route cannot avoid, nothing else.

    Gram      ZᵀZ over row blocks on a thread a core with one BLAS thread each, in Ritz's precision,
              plus LAPACK's eigh of the smaller side (the k + 1 leading pairs where k ≪ d, as Ritz)
    iterated  the products that the fit really made, each as one plain BLAS call (sparse data: CSR
              products on a thread a core): no centring, no orthonormalising, no Rayleigh–Ritz

The calls are timed in turn with the fits, so that a busy moment of the machine hits all alike. Products in
another precision than the data's are timed on a converted part of the table and scaled up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import ThreadpoolController

from ritz._core.threads import lane_count

__all__ = ["Call", "calls", "recorded"]

CONVERTED_BYTES = 512 << 20
BLOCK_ROWS, LARGE = 2048, 2048
SUBSET_SHARE = 0.2

Products = Counter[tuple[str, str, int]]  # (verb, dtype, columns) → how often


@dataclass(frozen=True)
class Call:
    """One unavoidable call, how often it counts, and of which part of the floor it is."""

    part: str
    times: float
    run: Callable[[], Any]


@contextmanager
def recorded() -> Iterator[Products]:
    """Count the products that fits make while the block runs."""
    from ritz.operators.affine import Affine

    seen: Products = Counter()
    kept = {verb: getattr(Affine, verb) for verb in ("matmat", "rmatmat", "normal")}

    def watch(verb: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def product(self: Any, V: Any, *rest: Any, **named: Any) -> Any:
            seen[verb, np.dtype(self.precision).name, int(V.shape[1])] += 1
            return method(self, V, *rest, **named)

        return product

    try:
        for verb, method in kept.items():
            setattr(Affine, verb, watch(verb, method))
        yield seen
    finally:
        for verb, method in kept.items():
            setattr(Affine, verb, method)


def calls(X: Any, k: int, solver: str, precision: str, products: Products) -> list[Call]:
    """The calls that make up the floor of a route."""
    if solver == "moments":
        narrow = precision.startswith("float32")
        gram, times = _gram(X, np.dtype(np.float32 if narrow else np.float64))
        return [Call("product", times, gram), Call("eigh", 1.0, _eigh(gram(), k))]
    if solver == "svd":
        return [Call("svd", 1.0, lambda: scipy.linalg.svd(X, full_matrices=False, check_finite=False))]
    made = _sparse_products if not isinstance(X, np.ndarray) else _dense_products
    return [call for what, times in products.items() for call in made(X, *what, times)]


def _gram(X: Any, dtype: np.dtype[Any]) -> tuple[Callable[[], np.ndarray], float]:
    """A call that forms the Gram matrix of the smaller side, and the factor to scale its time by."""
    if not isinstance(X, np.ndarray):
        return lambda: np.asarray((X.T @ X).toarray(), np.float64), 1.0
    part, factor = _converted(X, dtype)
    rows = part if X.shape[1] <= X.shape[0] else part.T
    count, p = rows.shape
    lanes = lane_count()
    step = BLOCK_ROWS if p <= LARGE else -(-count // lanes)  # summing large products would cost more
    blocks = [rows[start : start + step] for start in range(0, count, step)]
    blas = ThreadpoolController()

    def lane(mine: list[np.ndarray]) -> np.ndarray:
        if len(mine) == 1:
            return mine[0].T @ mine[0]
        total, one = np.zeros((p, p), dtype), np.empty((p, p), dtype)
        for block in mine:
            np.matmul(block.T, block, out=one)
            total += one
        return total

    def gram() -> np.ndarray:
        share = -(-len(blocks) // lanes)
        with blas.limit(limits=1, user_api="blas"), ThreadPoolExecutor(lanes) as pool:
            sums = list(pool.map(lane, [blocks[i : i + share] for i in range(0, len(blocks), share)]))
        for other in sums[1:]:
            sums[0] += other
        return sums[0]

    return gram, factor


def _eigh(G: np.ndarray, k: int) -> Callable[[], Any]:
    """LAPACK on a float64 copy, made beforehand."""
    G = G.astype(np.float64)
    p = G.shape[0]
    if k + 1 < SUBSET_SHARE * p:
        return lambda: scipy.linalg.eigh(G, subset_by_index=(p - k - 1, p - 1), check_finite=False)
    return lambda: np.linalg.eigh(G)


def _dense_products(X: np.ndarray, verb: str, dtype: str, columns: int, times: int) -> list[Call]:
    part, factor = _converted(X, np.dtype(dtype))
    V = np.random.default_rng(0).standard_normal((part.shape[1], columns)).astype(dtype)
    forward = Call("product", factor * times, lambda: part @ V)
    if verb != "normal":
        return [forward]
    U = part @ V
    return [forward, Call("product", factor * times, lambda: part.T @ U)]


def _sparse_products(X: Any, verb: str, dtype: str, columns: int, times: int) -> list[Call]:
    lanes = lane_count()
    share = -(-X.shape[0] // lanes)
    parts = [X[start : start + share].astype(dtype) for start in range(0, X.shape[0], share)]
    V = np.random.default_rng(0).standard_normal((X.shape[1], columns)).astype(dtype)
    U = [part @ V for part in parts]
    pool = ThreadPoolExecutor(lanes)
    forward = Call("product", times, lambda: list(pool.map(lambda part: part @ V, parts)))
    back = Call("product", times, lambda: list(pool.map(lambda i: parts[i].T @ U[i], range(len(parts)))))
    return {"normal": [forward, back], "matmat": [forward], "rmatmat": [back]}[verb]


def _converted(X: np.ndarray, dtype: np.dtype[Any]) -> tuple[np.ndarray, float]:
    """The table in another precision, or a part of it with the factor to scale times by."""
    if X.dtype == dtype:
        return X, 1.0
    n, d = X.shape
    if d <= n:
        count = max(1, min(n, CONVERTED_BYTES // (dtype.itemsize * d)))
        return X[:count].astype(dtype), n / count
    count = max(1, min(d, CONVERTED_BYTES // (dtype.itemsize * n)))
    return X[:, :count].astype(dtype), d / count
