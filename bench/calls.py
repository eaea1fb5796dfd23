"""Ordinary calls beside scikit-learn's: ``python -m bench.calls [--only WORD]``.

    ratio = best processor time of Ritz / best of the peer, both in turns, one BLAS thread, defaults on both sides
    apart = largest difference of their variances, of all components of their singular values, in units of the largest

All components of square, wide and ill-conditioned tables, components among noise, data frames, sparse and
Fortran-ordered rows, missing values. Of ill-conditioned tables scikit-learn's dense decomposition has as many digits as
Ritz; what its default chooses, a covariance matrix, may be faster and loses the smallest singular values.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from bench.rows import Row, measured

__all__ = ["calls", "main"]


#: Difference of singular values from which a dense decomposition would be better: Ritz promises 100·u of the largest.
ALL_DIGITS = 1e-13


def _nothing(_model: Any) -> Any:
    return [np.nan]


def noise(n: int, d: int) -> np.ndarray:
    """Gaussian entries."""
    return np.random.default_rng([n, d]).standard_normal((n, d))


def decaying(n: int, d: int) -> np.ndarray:
    """Columns of sizes from 1 to 1e-10."""
    return noise(n, d) * 10.0 ** (-10 * np.arange(d) / d)


def low(n: int, d: int) -> np.ndarray:
    """Ten components and noise."""
    return noise(n, 10) @ noise(10, d) + 0.1 * noise(n, d)


def _sample(name: str) -> np.ndarray:
    import sklearn.datasets

    return np.asarray(getattr(sklearn.datasets, f"load_{name}")().data)


def _pca(name: str, X: np.ndarray, k: int | None = None, *, exact: bool = False) -> Row:
    from sklearn.decomposition import PCA

    import ritz

    peers = {"scikit-learn": lambda: PCA(k).fit(X)}
    if exact:
        peers["scikit-learn, dense"] = lambda: PCA(k, svd_solver="full").fit(X)
    title = f"PCA({k or ''}), {name} {X.shape[0]:,}×{X.shape[1]:,}"
    if k is None:
        return Row(title, lambda: ritz.PCA().fit(X), peers, lambda model: model.singular_values_, digits=ALL_DIGITS)
    return Row(title, lambda: ritz.PCA(k).fit(X), peers)


def _frame(library: str, n: int, d: int, verb: str) -> Row:
    import importlib

    from sklearn.decomposition import PCA

    import ritz

    columns: dict[str, Any] = {f"x{j}": column for j, column in enumerate(np.ascontiguousarray(noise(n, d).T))}
    columns |= {f"x{j}": np.round(10 * columns[f"x{j}"]).astype(np.int64) for j in range(0, d, 3)}
    frame = importlib.import_module(library).DataFrame(columns)
    ours, theirs = ritz.PCA(5).fit(frame), PCA(5).fit(frame)
    name = f"{verb}, {library} of numbers {n:,}×{d:,}"
    if verb == "fit":
        return Row(name, lambda: ritz.PCA(5).fit(frame), {"scikit-learn": lambda: PCA(5).fit(frame)})
    return Row(name, lambda: ours.transform(frame), {"scikit-learn": lambda: theirs.transform(frame)}, _nothing)


def _coordinates(method: str, n: int, d: int, k: int) -> Row:
    from sklearn.decomposition import PCA, TruncatedSVD

    import ritz

    X = noise(n, d)
    centred = method == "PCA"
    ours = (ritz.PCA if centred else ritz.SVD)(k).fit(X[:1_000])
    theirs = (PCA(k, svd_solver="randomized") if centred else TruncatedSVD(k)).fit(X[:1_000])
    return Row(
        f"transform, {method}({k}), {n:,}×{d:,}", lambda: ours.transform(X),
        {"scikit-learn": lambda: theirs.transform(X)}, _nothing,
    )  # fmt: skip


def _sparse(kind: str) -> Row:
    import scipy.sparse as sp
    from sklearn.decomposition import TruncatedSVD

    import ritz

    X = sp.random_array((10_000, 3_000), density=0.01, format="csr", rng=np.random.default_rng(0))
    ours, theirs = ritz.SVD(10, tol=1e-2).fit(X), TruncatedSVD(10).fit(X)
    X = X.tocsc() if kind == "CSC" else X @ sp.diags_array(np.linspace(1, 2, 3_000)).tocsr()
    return Row(
        f"transform, {kind} 10,000×3,000", lambda: ours.transform(X), {"scikit-learn": lambda: theirs.transform(X)},
        _nothing,
    )  # fmt: skip


def _missing() -> Row:
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    import ritz

    X = noise(20_000, 50)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    return Row(
        'PCA(5, missing="mean"), 20,000×50', lambda: ritz.PCA(5, missing="mean").fit(X),
        {"imputer and scikit-learn": lambda: make_pipeline(SimpleImputer(), PCA(5)).fit(X)[-1]},
    )  # fmt: skip


def _scores() -> Row:
    from sklearn.decomposition import PCA

    import ritz

    X = noise(200_000, 10)
    ours, theirs = ritz.PCA(3).fit(X), PCA(3).fit(X)
    return Row(
        "score_samples, 200,000×10", lambda: ours.score_samples(X),
        {"scikit-learn": lambda: theirs.score_samples(X)}, _nothing,
    )  # fmt: skip


def _precomputed() -> Row:
    from sklearn.decomposition import KernelPCA
    from sklearn.metrics.pairwise import rbf_kernel

    import ritz

    K = rbf_kernel(noise(1_000, 20))
    return Row(
        "KernelPCA(10) precomputed, n = 1,000", lambda: ritz.KernelPCA(10, kernel="precomputed").fit(K),
        {"scikit-learn": lambda: KernelPCA(10, kernel="precomputed").fit(K)}, lambda model: model.eigenvalues_,
    )  # fmt: skip


def calls() -> dict[str, Callable[[], Row]]:
    """The calls, by a word each."""
    return {
        "square": lambda: _pca("noise", noise(600, 600)),
        "square-plateau": lambda: _pca("ten components", low(500, 500)),
        "wide": lambda: _pca("noise", noise(400, 1_000)),
        "wider": lambda: _pca("noise", noise(100, 2_000)),
        "nearly-square": lambda: _pca("noise", noise(1_000, 1_100)),
        "decaying": lambda: _pca("decaying", decaying(3_000, 1_000), exact=True),
        "decaying-tall": lambda: _pca("decaying", decaying(5_000, 300), exact=True),
        "digits": lambda: _pca("digits", _sample("digits"), exact=True),
        "wine": lambda: _pca("wine", _sample("wine"), exact=True),
        "cancer": lambda: _pca("breast cancer", _sample("breast_cancer"), exact=True),
        "plateau": lambda: _pca("ten components", low(500, 3_000), 20),
        "plateau-square": lambda: _pca("ten components", low(1_000, 1_500), 20),
        "plateau-few": lambda: _pca("ten components", low(1_000, 1_500), 5),
        "fortran": lambda: _pca("Fortran", np.asfortranarray(noise(100_000, 20)), 5),
        "narrow": lambda: _pca("noise", noise(3_000_000, 2), 1),
        "share": lambda: _pca("digits", _sample("digits"), 0.95),  # type: ignore[arg-type]
        "pandas": lambda: _frame("pandas", 1_000, 1_000, "fit"),
        "pandas-transform": lambda: _frame("pandas", 10_000, 200, "transform"),
        "polars": lambda: _frame("polars", 1_000, 1_000, "fit"),
        "polars-transform": lambda: _frame("polars", 10_000, 200, "transform"),
        "coordinates": lambda: _coordinates("PCA", 20_000, 784, 10),
        "coordinates-uncentred": lambda: _coordinates("SVD", 20_000, 784, 10),
        "coordinates-wide": lambda: _coordinates("PCA", 8_000, 5_000, 5),
        "csc": lambda: _sparse("CSC"),
        "unsorted": lambda: _sparse("unsorted CSR"),
        "missing": _missing,
        "scores": _scores,
        "precomputed": _precomputed,
    }


def main(arguments: list[str] | None = None) -> int:
    """Print a line a call and peer."""
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", help="calls whose word begins so")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each side of a pair, at least once")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(f"{'call':<40} {'Ritz':>12}   {'peer':<24} {'peer':>12} {'ratio':>6}   asked")
    for word, make in calls().items():
        if word.startswith(given.only or ""):
            for line in measured(make(), given.seconds):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
