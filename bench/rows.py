"""A dozen common fits beside the fastest peer of each, in one go: ``python -m bench.rows [--quick] [--only WORD]``.

    ratio = best processor time of Ritz / best of the peer, both in turns, one BLAS thread, defaults on both sides
    apart = largest difference of their eigenvalues (or variances) in units of the largest

A line says what is asked for: at most 1.2 times the peer, or, of kernel PCA of float32 rows, a tenth of it; and where
the peer has fewer digits than asked of Ritz, who has proved its own. Where no other library does the same, the seconds
stand alone. Ritz forms its certificate in the same time.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

__all__ = ["Row", "main", "measured", "rows"]

Values = Callable[[Any], Any]

#: Difference from values that Ritz has proved to be right to its tolerance, from which a peer has fewer digits.
DIGITS = 2e-6


@dataclass(frozen=True)
class Row:
    """One fit: Ritz, its peers by name, how the values of an answer are read, and what is asked for."""

    name: str
    ritz: Callable[[], Any]
    peers: dict[str, Callable[[], Any]]
    values: Values = lambda model: model.explained_variance_
    goal: float = 1.2
    pickled: bool = False
    digits: float = DIGITS


def _pca(n: int, d: int, k: int | None, pickled: bool = False) -> Row:
    from sklearn.decomposition import PCA

    import ritz
    from bench.small import table

    X, name = table(n, d), f"PCA({k or 'all'}), {n:,}×{d:,}"
    return Row(name, lambda: ritz.PCA(k).fit(X), {"scikit-learn": lambda: PCA(k).fit(X)}, pickled=pickled)


def _sparse(kind: str, n: int, d: int, density: float, k: int) -> Row:
    from sklearn.decomposition import PCA, TruncatedSVD

    import ritz
    from bench.sparse import tables

    X = tables(kind, n, d, density)
    if kind == "words":
        peers = {"TruncatedSVD arpack": lambda: TruncatedSVD(k, algorithm="arpack", tol=1e-6).fit(X)}
        return Row(
            f"SVD({k}), tf-idf {n:,}×{d:,}", lambda: ritz.SVD(k).fit(X), peers,
            lambda model: np.square(model.singular_values_),
        )  # fmt: skip
    peers = {"PCA arpack": lambda: PCA(k, svd_solver="arpack").fit(X)}  # as scanpy does it
    return Row(f"PCA({k}), sparse {kind} {n:,}×{d:,}", lambda: ritz.PCA(k).fit(X), peers)


def _sparse_pca(method: str) -> Row:
    from bench.sparse_pca import fits, planted

    X, _ = planted(120, 3000, 3, 30)
    made = fits(X, 3, 30)
    peers = {name: fit for name, fit in made.items() if name.startswith("scikit")}
    return Row(f"SparsePCA {method}, 120×3,000", made[f"ritz {method}"], peers, lambda _: [np.nan])


def _kernel(n: int, d: int, k: int, dtype: str, goal: float) -> Row:
    from sklearn.decomposition import KernelPCA

    import ritz
    from bench.kernel import rows as drawn
    from ritz.kernels import RBF

    X = drawn(n, d).astype(dtype)
    gamma = RBF("median").fix(X).gamma
    made = {"kernel": "rbf", "gamma": gamma}
    return Row(
        f"KernelPCA({k}) RBF, {n:,}×{d}, {dtype}",
        lambda: ritz.KernelPCA(k, fit_inverse_transform=False, **made).fit(X),
        {name: lambda name=name: KernelPCA(k, eigen_solver=name, **made).fit(X) for name in ("arpack", "randomized")},  # type: ignore[misc]
        lambda model: model.eigenvalues_,
        goal,
    )


def _factors() -> Row:
    from sklearn.decomposition import FactorAnalysis

    import ritz
    from bench.factors import table

    X = table(500, 20, 2)
    peers = {"scikit-learn": lambda: FactorAnalysis(2).fit(X)}
    return Row("FactorAnalysis(2), 500×20", lambda: ritz.FactorAnalysis(2).fit(X), peers, lambda _: [np.nan])


def _half() -> Row:
    from sklearn.decomposition import PCA

    import ritz

    X = np.random.default_rng(0).standard_normal((40_000, 768), dtype=np.float32)
    X *= np.linspace(2, 1, 768, dtype=np.float32)
    half = X.astype(np.float16)
    peers = {
        "scikit-learn, as float32": lambda: PCA(50, svd_solver="covariance_eigh").fit(half.astype(np.float32)),
        "Ritz, as float32": lambda: ritz.PCA(50).fit(half.astype(np.float32)),
    }
    return Row("PCA(50), float16 40,000×768", lambda: ritz.PCA(50).fit(half), peers)


def _rank() -> Row:
    import ritz

    X = np.random.default_rng(0).standard_normal((20_000, 200)) * np.linspace(2, 1, 200)
    return Row("choose_rank, 20,000×200", lambda: ritz.choose_rank(X), {}, lambda _: [np.nan])


def rows(quick: bool) -> dict[str, Callable[[], Row]]:
    """The rows, by a word each; long ones are left out of a quick look."""
    short: dict[str, Callable[[], Row]] = {
        "iris": lambda: _pca(150, 4, 2),
        "thousand": lambda: _pca(1_000, 20, 2),
        "all": lambda: _pca(10_000, 100, None),
        "wide": lambda: _pca(100, 2_000, 5, pickled=True),
        "kernel": lambda: _kernel(1_000, 20, 10, "float64", 1.2),
        "factors": _factors,
    }
    long: dict[str, Callable[[], Row]] = {
        "words": lambda: _sparse("words", 20_000, 10_000, 0.0063, 100),
        "flat": lambda: _sparse("flat", 100_000, 5_000, 0.01, 50),
        "cells": lambda: _sparse("cells", 20_000, 2_000, 0.11, 50),
        "elastic": lambda: _sparse_pca("elastic-net"),
        "truncated": lambda: _sparse_pca("truncated-power"),
        "kernel-float32": lambda: _kernel(10_000, 256, 50, "float32", 0.1),
        "half": _half,
        "rank": _rank,
    }
    return short if quick else short | long


def measured(row: Row, seconds: float) -> Iterator[str]:
    """A line a peer: Ritz and the peer in turns, each at least once, for about so many seconds each."""
    ours = row.ritz()
    for who, fit in row.peers.items():
        theirs, best, end = fit(), [np.inf, np.inf], process_time() + 2 * seconds
        while True:
            for i, run in enumerate((row.ritz, fit)):
                begin = process_time()
                run()
                best[i] = min(best[i], process_time() - begin)
            if process_time() >= end:
                break
        a, b = (np.asarray(row.values(model), np.float64) for model in (ours, theirs))
        apart = float(np.max(np.abs(a - b)) / np.max(np.abs(a)))
        told = "" if np.isnan(apart) else f"apart {apart:.0e}" + (", fewer digits" if apart > row.digits else "")
        yield _line(row.name, best[0], who, best[1], row.goal, told)
    if not row.peers:
        begin = process_time()
        row.ritz()
        yield f"{row.name:<40} {process_time() - begin:10.4f} s"
    for who, fit in row.peers.items() if row.pickled else ():
        sizes = [len(pickle.dumps(run())) for run in (row.ritz, fit)]
        yield f"{'  pickle':<40} {sizes[0]:10,} B   {who:<24} {sizes[1]:10,} B {sizes[0] / sizes[1]:6.2f}   ≤ 2"


def _line(name: str, ours: float, who: str, theirs: float, goal: float, told: str = "") -> str:
    verdict = "reached" if ours <= goal * theirs else "MISSED"
    return (
        f"{name:<40} {ours:10.4f} s   {who:<24} {theirs:10.4f} s {ours / theirs:6.2f}   ≤ {goal:<4g} {verdict:<8}{told}"
    )


def _added(d: int, count: int) -> Iterator[str]:
    """``partial_fit`` of batches of 500 rows and reading the components once."""
    from bench.added import added_times

    found = added_times(d=d, rows=500, count=count, k=10, repeat=1)
    ours, theirs = found["ritz"], found["IncrementalPCA"]
    told = f"errors {ours['error']:.0e} and {theirs['error']:.0e}"
    yield _line(f"partial_fit {count}×500×{d:,}, k=10", ours["cpu"], "IncrementalPCA", theirs["cpu"], 1.2, told)


def main(arguments: list[str] | None = None) -> int:
    """Print a line a row and peer."""
    parser = argparse.ArgumentParser(prog="python -m bench.rows", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the short fits only")
    parser.add_argument("--only", help="rows whose word begins so")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each side of a pair, at least once")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(f"{'fit':<40} {'Ritz':>12}   {'peer':<24} {'peer':>12} {'ratio':>6}   asked")
    for word, make in rows(given.quick).items():
        if word.startswith(given.only or ""):
            for line in measured(make(), given.seconds):
                print(line, flush=True)
    for d, count in () if given.quick else ((3_000, 1), (3_000, 10), (25_000, 2)):
        if "added".startswith(given.only or ""):
            for line in _added(d, count):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
