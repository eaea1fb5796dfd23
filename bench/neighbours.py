"""Neighbours and the quality of embeddings beside other libraries: ``python -m bench.neighbours [--quick]``.

    processor seconds of one thread, best of two, libraries in turns in one process; share of true neighbours found

Libraries that are not installed are left out. Trees, products and graphs of other libraries have their defaults; what
numba compiles is compiled before it is timed. Also where a tree stops being faster than products of blocks.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from bench.digits import SHARED

__all__ = ["border", "cases", "main", "measure", "peers", "quality"]

NEIGHBOURS = 15
Search = Callable[[np.ndarray, int], np.ndarray]


def swiss(n: int) -> np.ndarray:
    """A swiss roll."""
    rng = np.random.default_rng(0)
    angle, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    return np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])


def cases(quick: bool) -> dict[str, np.ndarray]:
    """Rows to search, by name."""
    n = 2_000 if quick else 20_000
    gauss = np.random.default_rng(1).standard_normal((n, 32))
    found = {f"swiss roll {n // 400 * 1000:,}×3": swiss(n // 400 * 1000), f"Gauss {n:,}×32": gauss}
    found[f"Gauss {n:,}×32, mean 1e8"] = gauss + 1e8
    path = SHARED / "mnist" / "mnist20k.npz"
    if path.is_file() and not quick:
        with np.load(path) as held:
            found["MNIST 10,000×784"] = held["X_train"].astype(np.float64)
    return found


def ours(X: np.ndarray, k: int) -> np.ndarray:
    """``ritz.Neighbours``, without its graph."""
    from ritz.graphs.spaces.vectors import EuclideanRows

    return EuclideanRows(X).nearest(None, k).lists.indices.reshape(-1, k)


def peers() -> dict[str, Search]:
    """Searches by name: (rows, k) → neighbours (n, k), the row itself first or left out."""

    def scikit(X: np.ndarray, k: int) -> np.ndarray:
        from sklearn.neighbors import NearestNeighbors

        return np.asarray(NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False))

    def brute(X: np.ndarray, k: int) -> np.ndarray:
        from sklearn.neighbors import NearestNeighbors

        return np.asarray(NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors(return_distance=False))

    def flat(X: np.ndarray, k: int) -> np.ndarray:
        import faiss

        faiss.omp_set_num_threads(1)
        index, rows = faiss.IndexFlatL2(X.shape[1]), np.ascontiguousarray(X, np.float32)
        index.add(rows)
        return np.asarray(index.search(rows, k + 1)[1])

    def descent(X: np.ndarray, k: int) -> np.ndarray:
        import pynndescent

        return np.asarray(pynndescent.NNDescent(X, n_neighbors=k + 1, random_state=0, n_jobs=1).neighbor_graph[0])

    def small_world(X: np.ndarray, k: int) -> np.ndarray:
        import hnswlib

        index = hnswlib.Index(space="l2", dim=X.shape[1])
        index.init_index(max_elements=len(X), random_seed=0)
        index.set_num_threads(1)
        index.add_items(X.astype(np.float32))
        index.set_ef(64)
        return np.asarray(index.knn_query(X.astype(np.float32), k=k + 1)[0], np.intp)

    found: dict[str, Search] = {
        "ritz, exact with proof": ours,
        "scikit-learn, auto": scikit,
        "scikit-learn, brute": brute,
    }
    others = {
        "faiss": ("faiss, flat", flat),
        "pynndescent": ("pynndescent", descent),
        "hnswlib": ("hnswlib", small_world),
    }
    return found | {name: search for module, (name, search) in others.items() if find_spec(module)}


def recall(found: np.ndarray, true: np.ndarray) -> float:
    """The share of true neighbours that were found."""
    pairs = enumerate(zip(found.tolist(), true.tolist(), strict=True))
    shares = [len(set(others) & set(one) - {i}) for i, (one, others) in pairs]
    return float(np.sum(shares) / true.size)


def measure(X: np.ndarray, k: int = NEIGHBOURS, repeats: int = 2) -> dict[str, tuple[float, float]]:
    """Processor seconds and recall of every library."""
    searches = peers()
    for name in ("pynndescent",):
        if name in searches:
            searches[name](X[:500], k)  # compiled
    seconds: dict[str, list[float]] = {name: [] for name in searches}
    answers: dict[str, np.ndarray] = {}
    for _ in range(repeats):
        for name, search in searches.items():
            start = time.process_time()
            answers[name] = search(X, k)
            seconds[name].append(time.process_time() - start)
    true = answers["ritz, exact with proof"]
    return {name: (min(times), recall(answers[name], true)) for name, times in seconds.items()}


def border(n: int, columns: tuple[int, ...]) -> list[tuple[int, float, float]]:
    """Columns, seconds of the tree, seconds of blocks: Gaussian rows, the worst for a tree."""
    from ritz.graphs.spaces.vectors import EuclideanRows

    found = []
    for d in columns:
        X = np.random.default_rng(d).standard_normal((n, d))
        times = []
        for tree in (True, False):
            start = time.process_time()
            EuclideanRows(X, tree=tree).nearest(None, NEIGHBOURS)
            times.append(time.process_time() - start)
        found.append((d, times[0], times[1]))
    return found


def quality(n: int) -> dict[str, tuple[float, float]]:
    """Processor seconds and trustworthiness of a swiss roll seen from the side."""
    from sklearn.manifold import trustworthiness

    from ritz import insight

    X = swiss(n)
    Y, found = X[:, [0, 2]].copy(), {}
    calls: dict[str, Callable[[], Any]] = {
        "ritz.insight.embedding_quality": lambda: insight.embedding_quality(X, Y, 10).trustworthiness,
        "scikit-learn trustworthiness": lambda: trustworthiness(X, Y, n_neighbors=10),
    }
    for name, call in calls.items():
        start = time.process_time()
        value = call()
        found[name] = (time.process_time() - start, float(value))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small cases, once")
    quick = parser.parse_args(arguments).quick
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    for case, X in cases(quick).items():
        print(f"\n{case}, k = {NEIGHBOURS}\n{'':<26}{'seconds':>10}{'recall':>10}")
        for name, (seconds, share) in measure(X, repeats=1 if quick else 2).items():
            print(f"{name:<26}{seconds:>10.3f}{share:>10.4f}")
    n = 1_000 if quick else 10_000
    print(f"\n{n:,} Gaussian rows: seconds of a tree and of blocks")
    for d, tree, blocks in border(n, (4, 12) if quick else (4, 6, 8, 10, 12, 16)):
        print(f"{d:>4} columns{tree:>10.3f}{blocks:>10.3f}")
    print(f"\nquality of an embedding of {n:,} rows, 10 neighbours\n{'':<34}{'seconds':>10}{'value':>12}")
    for name, (seconds, value) in quality(n).items():
        print(f"{name:<34}{seconds:>10.3f}{value:>12.8f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
