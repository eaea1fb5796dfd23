"""Small tables beside scikit-learn: ``python -m bench.small [--rounds 300]``.

    ratio = best time of Ritz / best time of scikit-learn        fit, transform, transform of one row

Defaults on both sides, in one process with one BLAS thread, in turns, so that what else the machine does falls on both
alike. Ritz forms its certificate in the same time.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

#: Rows, columns, components (None: all), and how many rounds of the default number one fit is worth.
TABLES: tuple[tuple[int, int, int | None, float], ...] = (
    (150, 4, 2, 1.0),
    (1_000, 20, None, 1.0),
    (10_000, 100, None, 0.1),
    (100, 2_000, 5, 0.1),
)


def table(n: int, d: int) -> Any:
    """Rows (n, d): the iris data for 150×4, Gaussian ones otherwise."""
    import numpy as np
    from sklearn.datasets import load_iris

    return load_iris().data if (n, d) == (150, 4) else np.random.default_rng(0).standard_normal((n, d))


def both(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Best seconds of two functions that run in turns."""
    ours(), theirs()
    best = [float("inf")] * 2
    for _ in range(rounds):
        for i, function in enumerate((ours, theirs)):
            begin = perf_counter()
            function()
            best[i] = min(best[i], perf_counter() - begin)
    return best[0], best[1]


def measure(n: int, d: int, k: int | None, rounds: int) -> list[tuple[str, float, float]]:
    """What was done, with the seconds of Ritz and of scikit-learn."""
    from sklearn.decomposition import PCA

    import ritz

    X = table(n, d)
    row, mine, other = X[:1], ritz.PCA(k).fit(X), PCA(k).fit(X)
    return [
        ("fit", *both(lambda: ritz.PCA(k).fit(X), lambda: PCA(k).fit(X), rounds)),
        ("transform", *both(lambda: mine.transform(X), lambda: other.transform(X), rounds)),
        ("one row", *both(lambda: mine.transform(row), lambda: other.transform(row), rounds)),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print the table of ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.small")
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args(arguments).rounds
    print(f"{'table':>16} {'what':>10} {'Ritz ms':>9} {'scikit-learn ms':>16} {'ratio':>6}")
    for n, d, k, share in TABLES:
        for what, mine, other in measure(n, d, k, max(3, round(rounds * share))):
            name = f"{n:,}×{d:,}, {k or 'all'}"
            print(f"{name:>16} {what:>10} {mine * 1e3:9.3f} {other * 1e3:16.3f} {mine / other:6.2f}", flush=True)


if __name__ == "__main__":
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # read when NumPy is loaded
        os.environ[variable] = "1"
    main()
