"""``python -m bench.sparse``: sparse tables, Ritz beside SciPy, scikit-learn, scanpy and gensim, in one process.

    words     tf-idf rows of documents that mix 100 topics over a Zipf vocabulary, uncentred (SVD)
    zipf      tf-idf rows of words drawn at random: after the first, no component stands out (SVD)
    flat      entries at random places, uniform values, centred (PCA): no gap at all
    decaying  the same with column scales i^-½, centred (PCA)
    cells     log-normalised counts of cells of twelve types, centred (PCA)
    wide      ``words`` with rows and columns exchanged (SVD): the smaller side is that of the rows

Each library runs with its defaults, Ritz with the solvers asked for (``auto`` and ``lanczos``). Seconds are those of
the processor, the best of some rounds, each library once a round in turns. Errors are those of singular values against
the best values that any library found: the largest of every index, for a Ritz value never exceeds the true one. A
library that is not installed is left out. ``--quick``: a tenth of the rows.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from bench.cases import Case
from bench.data import make

__all__ = ["main", "tables"]

Fit = Callable[[Any, int], Any]

#: Error of singular values, in units of σ₁, up to which a peer counts as accurate.
ACCURATE = 1e-8

#: Rows, columns, share of entries, components, and whether centred, of every case.
CASES: dict[str, tuple[str, int, int, float, int]] = {
    "words": ("words", 20_000, 10_000, 0.0063, 100),
    "words-20": ("words", 20_000, 10_000, 0.0063, 20),
    "words-2": ("words", 20_000, 10_000, 0.0063, 2),
    "thin": ("words", 60_000, 20_000, 0.0005, 20),
    "zipf": ("zipf", 20_000, 10_000, 0.006, 100),
    "flat": ("flat", 100_000, 5_000, 0.01, 50),
    "decaying": ("decaying", 50_000, 5_000, 0.01, 20),
    "cells": ("cells", 20_000, 2_000, 0.11, 50),
    "crowded": ("decaying", 10_000, 3_000, 0.19, 20),
    "wide": ("wide", 10_000, 20_000, 0.0063, 100),
    "wide-cells": ("wide cells", 2_000, 20_000, 0.11, 50),
}


def tables(kind: str, n: int, d: int, density: float) -> Any:
    """The table of a case, CSR."""
    if kind.startswith("wide"):
        turned = tables("cells" if "cells" in kind else "words", d, n, density)
        return sp.csr_matrix(turned.T)
    if kind == "words":
        return _weighed(sp.csr_matrix(make(Case("topics", n, d, 1, "float64", density=density))))
    if kind == "zipf":
        return _weighed(_random_words(n, d, density))
    if kind == "cells":
        return _cells(n, d, density)
    X = sp.csr_matrix(make(Case("uniform", n, d, 1, "float64", density=density)))
    return X if kind == "flat" else sp.csr_matrix(X @ sp.diags((1.0 + np.arange(d)) ** -0.5))


def _random_words(n: int, d: int, density: float) -> Any:
    rng = np.random.default_rng(d)
    edges = np.cumsum(1 / (np.arange(d) + 10.0))
    length = np.maximum(3, rng.lognormal(np.log(1.2 * density * d), 0.5, n)).astype(int)
    document = np.repeat(np.arange(n), length)
    word = np.minimum(np.searchsorted(edges / edges[-1], rng.random(document.size)), d - 1)
    return sp.coo_matrix((np.ones(document.size), (document, word)), shape=(n, d)).tocsr()


def _weighed(X: Any) -> Any:
    """tf-idf rows of length one."""
    documents = np.bincount(X.indices, minlength=X.shape[1])
    X.data *= (np.log((1 + X.shape[0]) / (1 + documents)) + 1)[X.indices]
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1 / np.maximum(length, 1e-300)) @ X)


def _cells(n: int, d: int, density: float) -> Any:
    """Counts of twelve types of cells, scaled to one total and logarithms taken."""
    rng = np.random.default_rng(d)
    base = rng.lognormal(np.log(density / 2.2), 1.5, d)
    profile = base * np.exp(0.8 * rng.standard_normal((12, d)) * (rng.random((12, d)) < 0.2))
    blocks = []
    for start in range(0, n, 2000):
        count = min(2000, n - start)
        rate = profile[rng.integers(0, 12, count)] * rng.lognormal(0, 0.4, count)[:, None]
        blocks.append(sp.csr_matrix(rng.poisson(rate * rng.gamma(2, 0.5, rate.shape)).astype(np.float64)))
    X = sp.vstack(blocks).tocsr()
    total = np.maximum(np.asarray(X.sum(axis=1)).ravel(), 1)
    X = sp.csr_matrix(sp.diags(0.5 * d / total) @ X)
    X.data = np.log1p(X.data)
    return X


def _libraries(centred: bool, solvers: list[str]) -> dict[str, Fit]:
    """How every library that is installed finds the singular values."""
    import ritz

    found: dict[str, Fit] = {}
    for solver in solvers:
        kind: Any = ritz.PCA if centred else ritz.SVD
        found[f"ritz {solver}"] = lambda X, k, s=solver, e=kind: e(k, solver=s).fit(X)  # type: ignore[misc]
    from sklearn.decomposition import PCA, TruncatedSVD

    if centred:
        found["scikit-learn arpack"] = lambda X, k: PCA(k, svd_solver="arpack", random_state=0).fit(X)
        _add_scanpy(found)
        return found
    from scipy.sparse.linalg import svds

    found["scipy svds"] = lambda X, k: np.sort(svds(X, k, rng=0, return_singular_vectors="vh")[1])[::-1]
    found["scikit-learn arpack"] = lambda X, k: TruncatedSVD(k, algorithm="arpack", random_state=0).fit(X)
    found["scikit-learn randomized"] = lambda X, k: TruncatedSVD(k, random_state=0).fit(X)
    _add_gensim(found)
    return found


def _add_scanpy(found: dict[str, Fit]) -> None:
    try:
        import anndata
        import scanpy
    except ImportError:
        return

    def fit(X: Any, k: int) -> Any:
        table = anndata.AnnData(X)
        scanpy.pp.pca(table, n_comps=k)
        return np.sqrt(table.uns["pca"]["variance"] * (X.shape[0] - 1))

    found["scanpy"] = fit


def _add_gensim(found: dict[str, Fit]) -> None:
    try:
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LsiModel
    except ImportError:
        return
    found["gensim"] = lambda X, k: np.asarray(
        LsiModel(Sparse2Corpus(X, documents_columns=False), num_topics=k, random_seed=0).projection.s
    )


def _values(answer: Any) -> np.ndarray:
    return np.asarray(getattr(answer, "singular_values_", answer), np.float64)


def _compare(name: str, rounds: int, quick: bool, solvers: list[str]) -> list[str]:
    kind, n, d, density, k = CASES[name]
    n, d, k = (n // 10, d // 5, min(k, 20)) if quick else (n, d, k)
    X, centred = tables(kind, n, d, density), not kind.startswith(("words", "zipf")) and kind != "wide"
    libraries = _libraries(centred, solvers)
    seconds: dict[str, list[float]] = {library: [] for library in libraries}
    answers: dict[str, Any] = {}
    for _ in range(rounds):
        for library, fit in libraries.items():
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers[library] = fit(X, k)
            seconds[library].append(time.process_time() - begin)
    best = np.max([np.resize(_values(answer), k) for answer in answers.values()], axis=0)
    share, about = 100 * X.nnz / (n * d), "centred" if centred else "uncentred"
    lines = [f"{name}: {n:,}×{d:,}, {X.nnz:,} entries ({share:.2g} %), k = {k}, {about}"]
    errors = {
        library: float(np.max(np.abs(_values(answer) - best[: len(_values(answer))])) / best[0])
        for library, answer in answers.items()
    }
    peers = [min(seconds[x]) for x in answers if not x.startswith("ritz") and errors[x] <= ACCURATE]
    for library, answer in answers.items():
        took, error = min(seconds[library]), errors[library]
        words = ""
        if library.startswith("ritz"):
            c = answer.certificate_
            words = (
                f"{answer.plan_.solver}, residual {np.max(c.residuals) / c.values[0]:.0e}·λ₁, {int(np.sum(c.labelled))}"
                f" of {k} labelled; {min(peers) / took:.2f} times as fast as the fastest accurate peer"
            )
        lines.append(f"    {library:24s} {took:8.2f} s   error {error:.0e}·σ₁   {words}".rstrip())
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Run the cases asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.sparse", description="Ritz and its peers on sparse tables.")
    parser.add_argument(
        "--only", metavar="NAME", action="append", choices=list(CASES), help="one case; may be repeated"
    )
    parser.add_argument("--rounds", type=int, default=2, help="fits of each library")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, a fifth of the columns")
    parser.add_argument("--solvers", default="auto,lanczos", help="solvers of Ritz, with commas")
    chosen = parser.parse_args(arguments)
    for name in chosen.only or list(CASES):
        print("\n".join(_compare(name, chosen.rounds, chosen.quick, chosen.solvers.split(","))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
