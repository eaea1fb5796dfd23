"""Small fitted models of every estimator, with rows to place: what files are tried on.

    name → (model, rows)        some dozens of rows, a few columns; the same bits on every call

Frames, sparse rows, weights, pending states, gaps, every kernel that can be written: whatever makes a file different.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ritz.kernels import (
    RBF,
    BoundedSpectrum,
    Cosine,
    EditDistance,
    Laplacian,
    Linear,
    Matern,
    Mismatch,
    Polynomial,
    Sigmoid,
    Spectrum,
    Subsequence,
)
from ritz.kernels import Callable as Function
from ritz.methods.correspondence.ca.ca import CA
from ritz.methods.correspondence.famd.famd import FAMD
from ritz.methods.correspondence.mca.mca import MCA
from ritz.methods.correspondence.mfa.mfa import MFA
from ritz.methods.factor_analysis.factor_analysis import FactorAnalysis
from ritz.methods.kernel_pca.kernel_pca import KernelPCA
from ritz.methods.pca import PCA
from ritz.methods.robust_pca.robust_pca import RobustPCA
from ritz.methods.sparse_pca.sparse_pca import SparsePCA
from ritz.methods.svd import SVD

__all__ = ["FAMILIES", "WORDS", "fitted", "models", "product_of", "table"]

WORDS = ["anna", "annie", "hannah", "bert", "berta", "norbert", "robert", "hubert", "joan", "joanna", "ann", "roberta"]
N, D = 36, 5


def product_of(x: Any, y: Any) -> float:
    """A kernel that is a Python function: (1 + x·y)²."""
    return float(1 + np.dot(x, y)) ** 2


def numbers(dtype: Any = np.float64) -> np.ndarray:
    """Rows of five columns about large and small means."""
    rng = np.random.default_rng(7)
    mixed = rng.standard_normal((N, D)) @ np.diag([5, 4, 3, 2, 1]) @ rng.standard_normal((D, D))
    return np.asarray(mixed + np.array([100, 0, -3, 1, 50]), dtype)


def counts() -> np.ndarray:
    """A contingency table whose rows and columns depend on each other."""
    rng = np.random.default_rng(3)
    return rng.poisson(3 + 20 * rng.random((9, 1)) * rng.random((9, 6)) + 8 * np.eye(9, 6))


def table(kind: str = "mixed", gaps: bool = False) -> Any:
    """A pandas frame: ``words``, ``mixed``, or ``groups`` with counts beside."""
    import pandas as pd

    rng = np.random.default_rng(11)
    t = rng.standard_normal(N)
    cut = lambda shift, names: np.asarray(names, object)[np.digitize(t + shift * rng.standard_normal(N), [-0.7, 0.7])]  # noqa: E731
    columns: dict[str, Any] = {
        "soil": cut(0.4, ["chalk", "clay", "sand"]),
        'the "smell"': cut(0.6, ["none", "it's strong", "weiß"]),
        "bitter": cut(0.8, ["no", "no", "yes"]),
    }
    if gaps:
        columns["soil"][[3, 17]] = None
        columns["bitter"][5] = None
    if kind != "words":
        columns["acid"] = 3 * t + rng.standard_normal(N) + 40
        columns["sweet"] = rng.standard_normal(N) - t
    if kind == "groups":
        for j in range(3):
            columns[f"word{j}"] = rng.poisson(4 + 2 * np.abs(t + j - 1))
    return pd.DataFrame(columns)


def _frame(dtype: Any = np.float64) -> Any:
    import pandas as pd

    return pd.DataFrame(numbers(dtype), columns=["a", "b b", 'c"', "d;--", "ε"], index=[f"row {i}" for i in range(N)])


def _sparse(density: float = 0.4) -> Any:
    import scipy.sparse

    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, 8)) * (rng.random((N, 8)) < density)
    return scipy.sparse.csr_array(X)


def _gaps() -> np.ndarray:
    X = numbers()
    X[[1, 4, 9, 20], [0, 2, 4, 1]] = np.nan
    X[9, 1] = np.nan
    return X


GROUPS = {"origin": ["soil"], "taste": ["acid", "sweet"], "nose": ['the "smell"', "bitter"]}
TABLES = {"taste": ["sweet", "soil"], "few": ["word0", "word1"], "many": ["word2", "acid"]}
COUNTED = GROUPS | {"words": ["word0", "word1", "word2"]}
W = np.random.default_rng(2).integers(1, 4, N).astype(float)


def _kernel(kernel: Any, X: Any = None, **options: Any) -> Callable[[], tuple[Any, Any]]:
    def make() -> tuple[Any, Any]:
        rows = numbers() if X is None else X() if callable(X) else X
        return KernelPCA(2, kernel=kernel, **options).fit(rows), rows[:7]

    return make


def _linear(model: Callable[[], Any], X: Callable[[], Any] = numbers, **fit: Any) -> Callable[[], tuple[Any, Any]]:
    def make() -> tuple[Any, Any]:
        rows = X()
        return model().fit(rows, **fit), rows[:7]

    return make


def _pending() -> tuple[Any, Any]:
    return PCA(2).partial_fit(numbers()[:20]).partial_fit(numbers()[20:]), numbers()[:7]


def _pending_mca() -> tuple[Any, Any]:
    rows = table("words")
    return MCA(2).partial_fit(rows[:20]).partial_fit(rows[20:]), rows[:7]


def _merged() -> tuple[Any, Any]:
    X = numbers()
    return PCA(3).fit(X[:15]).merge(PCA(3).fit(X[15:])), X[:7]


def _observed() -> tuple[Any, Any]:
    rows = table("words")[["soil", "bitter"]]
    return CA(1, rows="soil", columns="bitter").fit(rows), rows


def _similarity() -> np.ndarray:
    return np.asarray(RBF(0.01)(numbers()))


FAMILIES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "pca": _linear(lambda: PCA(3)),
    "pca frame scaled": _linear(lambda: PCA(2, scale=True, whiten=True), _frame),
    "pca float32": _linear(lambda: PCA(0.9), lambda: numbers(np.float32)),
    "pca weighted": _linear(lambda: PCA(2), sample_weight=W),
    "pca sparse": _linear(lambda: PCA(2), _sparse),
    "pca pending": _pending,
    "pca merged": _merged,
    "pca gaps mean": _linear(lambda: PCA(2, missing="mean"), _gaps),
    "pca gaps em": _linear(lambda: PCA(2, missing="em"), _gaps),
    "pca gaps regularized": _linear(lambda: PCA(2, missing="regularized", scale=True), _gaps),
    "svd": _linear(lambda: SVD(2)),
    "svd sparse": _linear(lambda: SVD(2), _sparse),
    "factor analysis": _linear(lambda: FactorAnalysis(1)),
    "factor analysis oblique": _linear(
        lambda: FactorAnalysis(2, rotation="promax", scores="bartlett"), lambda: _eight()
    ),
    "robust spherical": _linear(lambda: RobustPCA(2, method="spherical", scale=True)),
    "robust robpca": _linear(lambda: RobustPCA(2, method="robpca")),
    "robust pursuit": _linear(lambda: RobustPCA(2, method="pcp", tol=1e-4)),
    "sparse pca": _linear(lambda: SparsePCA(2, alpha=[0.2, 0.1], scale=True)),
    "sparse power": _linear(lambda: SparsePCA(2, method="truncated-power", n_nonzero=3)),
    "ca": _linear(lambda: CA(2), counts),
    "ca frame": _linear(lambda: CA(2), lambda: _named_counts()),
    "ca empty column": _linear(lambda: CA(2), lambda: np.insert(counts(), 2, 0, axis=1)),
    "ca observations": _observed,
    "mca": _linear(lambda: MCA(2), lambda: table("words")),
    "mca burt pooled": _linear(lambda: MCA(2, method="burt", rare=0.3, unseen="supplementary"), lambda: table("words")),
    "mca adjusted": _linear(lambda: MCA(1, method="adjusted", unseen="ignore"), lambda: table("words")),
    "mca excluded": _linear(lambda: MCA(2, missing="exclude", exclude=["bitter=no"]), lambda: table("words", True)),
    "mca missing": _linear(lambda: MCA(2, missing="category", unseen="missing"), lambda: table("words", True)),
    "mca regularized": _linear(lambda: MCA(1, missing="regularized"), lambda: table("words", True)),
    "mca pending": _pending_mca,
    "famd": _linear(lambda: FAMD(3), table),
    "famd weighted": _linear(lambda: FAMD(2, missing="category"), lambda: table("mixed", True), sample_weight=W),
    "mfa": _linear(lambda: MFA(2, groups=GROUPS), table),
    "mfa counts": _linear(
        lambda: MFA(2, groups=COUNTED, frequencies=["words"], supplementary=["nose"]), lambda: table("groups")
    ),
    "mfa tables": _linear(lambda: MFA(2, groups=TABLES, frequencies=["few", "many"]), lambda: table("groups")),
    "kernel linear": _kernel("linear"),
    "kernel rbf": _kernel("rbf", gamma="median"),
    "kernel rbf frame": _kernel("rbf", _frame, gamma=0.01),
    "kernel rbf float32": _kernel("rbf", lambda: numbers(np.float32), gamma=0.01),
    "kernel rbf krylov": _kernel("rbf", gamma=0.01, solver="krylov"),
    "kernel rbf sparse": _kernel("rbf", _sparse),
    "kernel polynomial": _kernel(Polynomial(2, 0.01, 1.0)),
    "kernel polynomial wide": _kernel(Polynomial(3, 0.01, 1.0), solver="svd"),
    "kernel sigmoid": _kernel(Sigmoid(1e-4, 0.1), solver="svd"),
    "kernel laplacian": _kernel(Laplacian(0.02)),
    "kernel laplacian sparse": _kernel(Laplacian(0.2), _sparse),
    "kernel cosine": _kernel(Cosine()),
    "kernel matern": _kernel(Matern(1.5, 20.0)),
    "kernel matern half": _kernel(Matern(0.5, 20.0)),
    "kernel sum": _kernel(RBF(0.01) + 0.5 * Linear()),
    "kernel product": _kernel(RBF(0.01) * Polynomial(2, 0.01, 1.0)),
    "kernel normalized": _kernel(Polynomial(2, 0.01, 1.0).normalized(), solver="svd"),
    "kernel nystrom": _kernel("rbf", gamma=0.01, solver="nystrom", landmarks=9),
    "kernel nystrom laplacian": _kernel(Laplacian(0.02), solver="nystrom", landmarks=9),
    "kernel precomputed": _kernel("precomputed", _similarity),
    "kernel spectrum": _kernel(Spectrum(2), WORDS),
    "kernel bounded": _kernel(BoundedSpectrum(2), WORDS),
    "kernel mismatch": _kernel(Mismatch(3, 1), WORDS),
    "kernel subsequence": _kernel(Subsequence(2, 0.5), WORDS),
    "kernel edit": _kernel(EditDistance(0.3), WORDS),
    "kernel function": _kernel(product_of),
    "kernel function sum": _kernel(Function(product_of, definite=True) + RBF(0.01)),
}


def _eight() -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.asarray(rng.standard_normal((N, 2)) @ rng.standard_normal((2, 8)) + 0.5 * rng.standard_normal((N, 8)))


def _named_counts() -> Any:
    import pandas as pd

    N = counts()
    return pd.DataFrame(N, [f"task {i}" for i in range(len(N))], [f"who {j}" for j in range(N.shape[1])])


def fitted(name: str) -> tuple[Any, Any]:
    """A model of the list, and some rows for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FAMILIES[name]()


def models(names: list[str] | None = None) -> Iterator[tuple[str, Any, Any]]:
    """All of them."""
    for name in FAMILIES if names is None else names:
        yield name, *fitted(name)
