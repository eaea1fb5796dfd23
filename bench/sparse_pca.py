"""Sparse components beside scikit-learn's: ``python -m bench.sparse_pca [--quick]``.

    X = Σⱼ sⱼ zⱼ vⱼᵀ + E,    vⱼ with 30 (or 6) entries on columns of its own,   E white

Processor seconds, one BLAS thread, the best of some fits in turns. "found": planted entries among those returned, of
all planted ones, and how many were returned; "plane": share of the variance that the plane of the loadings holds, which
takes no notice of how a library scales or penalises. scikit-learn minimises another objective (dictionary learning with
an ℓ₁ penalty) and does not take a number of entries: its penalty is its default, and one with about as many entries.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

import numpy as np

__all__ = ["main", "planted"]

CASES = ((120, 3000, 3, 30), (60, 8000, 3, 30), (400, 600, 5, 20), (2000, 200, 5, 6), (20_000, 60, 3, 6))


def planted(n: int, d: int, k: int, entries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and the axes (k, d) that they were made with."""
    rng = np.random.default_rng(seed)
    L = np.zeros((k, d))
    for j in range(k):
        L[j, j * entries : (j + 1) * entries] = rng.choice([-1, 1], entries) / np.sqrt(entries)
    sizes = np.linspace(12, 8, k)
    return rng.standard_normal((n, k)) * sizes @ L + 0.5 * rng.standard_normal((n, d)), L


def fits(X: np.ndarray, k: int, entries: int) -> dict[str, Any]:
    """What is timed."""
    from sklearn.decomposition import SparsePCA

    import ritz

    return {
        "ritz elastic-net": lambda: ritz.SparsePCA(k, n_nonzero=entries).fit(X),
        "ritz alpha=0.1": lambda: ritz.SparsePCA(k).fit(X),
        "ritz truncated-power": lambda: ritz.SparsePCA(k, method="truncated-power", n_nonzero=entries).fit(X),
        "scikit-learn alpha=1": lambda: SparsePCA(k, random_state=0).fit(X),
        "scikit-learn alpha=4": lambda: SparsePCA(k, alpha=4, random_state=0).fit(X),
    }


def main(arguments: list[str] | None = None) -> int:
    """Print a table a case; the exit status says whether Ritz with a number of entries is never slower."""
    parser = argparse.ArgumentParser(prog="python -m bench.sparse_pca", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the first case only, two turns")
    chosen = parser.parse_args(arguments)
    ahead = True
    for n, d, k, entries in CASES[: 1 if chosen.quick else None]:
        X, L = planted(n, d, k, entries)
        Z = X - X.mean(axis=0)
        total, tasks = float(np.sum(Z * Z)), fits(X, k, entries)
        best, models = dict.fromkeys(tasks, np.inf), {}
        for _ in range(2 if chosen.quick else 3):
            for name, task in tasks.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    begin = time.process_time()
                    models[name] = task()
                    best[name] = min(best[name], time.process_time() - begin)
        peer = min(seconds for name, seconds in best.items() if name.startswith("scikit"))
        print(f"\n{n:,}×{d:,}, {k} axes of {entries} entries")
        for name, seconds in best.items():
            B = np.asarray(models[name].components_)
            Q = np.linalg.qr(B.T)[0]
            there = np.any(B != 0, axis=0)
            found, plane = int(np.sum(there & np.any(L != 0, axis=0))), float(np.sum(np.square(Z @ Q))) / total
            print(
                f"  {name:<24}{seconds:>9.3f} s{peer / seconds:>9.1f}×   found {found} of {k * entries} among "
                f"{int(np.count_nonzero(B))}, plane {plane:.4f}",
                flush=True,
            )
        ahead = ahead and max(best["ritz elastic-net"], best["ritz truncated-power"]) <= peer
    return 0 if ahead else 1


if __name__ == "__main__":
    sys.exit(main())
