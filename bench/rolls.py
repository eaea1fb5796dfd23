"""Embeddings by neighbours beside scikit-learn: ``python -m bench.rolls [--rows 50000] [--only NAME] [--repeat 2]``.

    a swiss roll; processor seconds of one thread, best of several, libraries in turns in one process
    error: what an affine map of the coordinates leaves of arc length and of height, as a share of each

What scikit-learn calls "hessian" is local tangent space alignment; Ritz's is Hessian LLE. Run it with
``OPENBLAS_NUM_THREADS=1``: processor seconds of several threads are no measure.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["error", "main", "methods", "roll"]

NEIGHBOURS = 12


def roll(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a swiss roll, and their true coordinates: arc length and height."""
    rng = np.random.default_rng(seed)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    arc = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), np.column_stack([arc, height])


def error(Y: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """What an affine map of Y leaves of each true coordinate."""
    A = np.column_stack([np.ones(len(Y)), Y])
    left = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return np.asarray(np.linalg.norm(left, axis=0) / np.linalg.norm(truth - truth.mean(axis=0), axis=0))


def methods() -> dict[str, dict[str, Callable[[np.ndarray], Any]]]:
    """Fits by method and library; each gives coordinates."""
    from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding

    import ritz

    made: dict[str, dict[str, Callable[[np.ndarray], Any]]] = {}
    for name in ("standard", "modified", "hessian", "ltsa"):
        made[name] = {
            "ritz": lambda X, m=name: ritz.LLE(2, method=m, n_neighbors=NEIGHBOURS).fit(X).embedding_,
            "scikit-learn": lambda X, m=name: LocallyLinearEmbedding(
                n_neighbors=NEIGHBOURS, n_components=2, method=m, eigen_solver="arpack"
            ).fit(X).embedding_,
        }  # fmt: skip
    made["laplacian"] = {
        "ritz": lambda X: ritz.LaplacianEigenmaps(2, n_neighbors=NEIGHBOURS).fit(X).embedding_,
        "scikit-learn": lambda X: SpectralEmbedding(
            2, affinity="nearest_neighbors", n_neighbors=NEIGHBOURS, random_state=0
        ).fit(X).embedding_,
    }  # fmt: skip
    return made


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="without scikit-learn")
    options = parser.parse_args(argv)
    X, truth = roll(options.rows)
    print(f"swiss roll, n = {options.rows:,}, k = {NEIGHBOURS}: processor seconds; error of arc length, of height")
    for name, libraries in methods().items():
        if options.only and name not in options.only:
            continue
        best: dict[str, tuple[float, np.ndarray]] = {}
        for _ in range(options.repeat):
            for library, fit in libraries.items():
                if options.alone and library != "ritz":
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    begin = time.process_time()
                    Y = fit(X)
                    seconds = time.process_time() - begin
                if library not in best or seconds < best[library][0]:
                    best[library] = (seconds, error(Y, truth))
        for library, (seconds, off) in best.items():
            print(f"  {name:10s} {library:13s} {seconds:7.2f} s   {off[0]:.1e}  {off[1]:.1e}", flush=True)


if __name__ == "__main__":
    main()
