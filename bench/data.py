"""Data of a case, deterministic, made in blocks of rows so that nothing but the table itself takes memory.

Each block of rows has a generator of its own, seeded by the case and its number; two threads fill them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import Case

__all__ = ["load", "make", "save"]

ROWS = 4096
SEED = 20240607
MEAN = 5.0
TOPICS = 100


def make(case: Case) -> Any:
    """The table of a case: an array, or a CSR matrix."""
    maker = {"signal": _signal, "slow": _slow, "topics": _topics, "noise": _noise, "uniform": _uniform}[case.kind]
    return maker(case)


def save(X: Any, path: Path) -> None:
    """Write a table to a file."""
    if isinstance(X, np.ndarray):
        np.save(path, X)
        return
    with open(path, "wb") as file:
        np.savez(file, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape)


def load(path: Path) -> Any:
    """Read a table into memory of its own."""
    held = np.load(path)
    if isinstance(held, np.ndarray):
        return held
    import scipy.sparse

    with held:
        return scipy.sparse.csr_array((held["data"], held["indices"], held["indptr"]), shape=tuple(held["shape"]))


def _rng(case: Case, stream: int, block: int = 0) -> np.random.Generator:
    return np.random.default_rng([SEED, case.n, case.d, stream, block])


def _fill(case: Case, rows: Callable[[np.random.Generator, int], np.ndarray]) -> np.ndarray:
    """An n×d array of what ``rows(generator, how many)`` gives for each block."""
    X = np.empty((case.n, case.d), case.dtype)

    def work(start: int) -> None:
        stop = min(start + ROWS, case.n)
        X[start:stop] = rows(_rng(case, 1, start // ROWS), stop - start)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(0, case.n, ROWS)))
    return X


def _signal(case: Case) -> np.ndarray:
    rank = min(2 * case.k, case.d // 2, case.n // 2)
    rng = _rng(case, 0)
    V, _ = np.linalg.qr(rng.standard_normal((case.d, rank)))
    edge = (1 + np.sqrt(case.d / case.n)) ** 2
    strength = np.sqrt(edge * (1 + 100 / np.arange(1, rank + 1)))
    mix = (strength[:, None] * V.T).astype(case.dtype)
    mean = (MEAN * rng.standard_normal(case.d)).astype(case.dtype)

    def rows(generator: np.random.Generator, count: int) -> np.ndarray:
        Z = generator.standard_normal((count, case.d), dtype=case.dtype)
        Z += generator.standard_normal((count, rank), dtype=case.dtype) @ mix
        Z += mean
        return Z

    return _fill(case, rows)


def _noise(case: Case) -> np.ndarray:
    return _fill(case, lambda generator, count: generator.standard_normal((count, case.d), dtype=case.dtype))


def _slow(case: Case) -> np.ndarray:
    rank = min(case.n - 1, case.d)
    rng = _rng(case, 0)
    U = rng.standard_normal((case.n, rank))
    U -= U.mean(axis=0)  # orthogonal to the constant vector, so that centring leaves the spectrum as it is
    U = np.linalg.qr(U)[0]
    V = np.linalg.qr(rng.standard_normal((case.d, rank)))[0]
    U *= np.arange(1, rank + 1) ** -0.5
    return (U @ V.T).astype(case.dtype)


def _topics(case: Case) -> Any:
    """Counts: documents mix three topics and vary in length; about density·d distinct words each."""
    import scipy.sparse

    rng = _rng(case, 0)
    base = 1.0 / (np.arange(case.d) + 10)
    topics = rng.gamma(0.2, size=(TOPICS, case.d)) * base + 0.02 * base / base.sum()
    edges = np.cumsum(topics / topics.sum(axis=1, keepdims=True), axis=1)
    blocks = []
    for block, start in enumerate(range(0, case.n, 50_000)):
        count = min(50_000, case.n - start)
        rng = _rng(case, 2, block)
        length = np.maximum(3, rng.lognormal(np.log(1.1 * case.density * case.d), 0.4, count)).astype(int)
        document = np.repeat(np.arange(count), length)
        mixed = rng.integers(0, TOPICS, (count, 3))
        topic = mixed[document, rng.choice(3, document.size, p=(0.6, 0.3, 0.1))]
        word = _draw(edges, topic, rng.random(document.size))
        ones = np.ones(document.size, case.dtype)
        blocks.append(scipy.sparse.coo_array((ones, (document, word)), shape=(count, case.d)).tocsr())
    return scipy.sparse.csr_array(scipy.sparse.vstack(blocks, format="csr"))


def _draw(edges: np.ndarray, topic: np.ndarray, u: np.ndarray) -> np.ndarray:
    """A word for each token from the cumulated distribution of its topic."""
    word = np.empty(topic.size, np.int64)
    order = np.argsort(topic, kind="stable")
    bounds = np.searchsorted(topic[order], np.arange(len(edges) + 1))
    for t in range(len(edges)):
        mine = order[bounds[t] : bounds[t + 1]]
        word[mine] = np.minimum(np.searchsorted(edges[t], u[mine]), edges.shape[1] - 1)
    return word


def _uniform(case: Case) -> Any:
    import scipy.sparse

    X = scipy.sparse.random_array(
        (case.n, case.d),
        density=case.density,
        format="csr",
        dtype=np.dtype(case.dtype).type,
        rng=_rng(case, 0),
    )
    return scipy.sparse.csr_array(X)
