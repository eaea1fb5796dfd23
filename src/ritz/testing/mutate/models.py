"""Fitted models of every method, each with the table and the weights that ``verify`` takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz.methods.correspondence.ca.ca import CA
from ritz.methods.correspondence.famd.famd import FAMD
from ritz.methods.correspondence.mca.mca import MCA
from ritz.methods.correspondence.mfa.mfa import MFA
from ritz.methods.factor_analysis.factor_analysis import FactorAnalysis
from ritz.methods.pca import PCA
from ritz.methods.robust_pca.robust_pca import RobustPCA
from ritz.methods.sparse_pca.sparse_pca import SparsePCA
from ritz.methods.svd import SVD
from ritz.testing.mutate.further import FURTHER
from ritz.testing.mutate.rows import N, gaps, rows

__all__ = ["MODELS", "fitted"]


def _levels() -> Any:
    import pandas as pd

    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, N)
    X = rows()
    return pd.DataFrame(
        {
            "a": np.array(list("xyz"))[kind],
            "b": np.array(list("uv"))[(kind + rng.integers(0, 2, N)) % 2],
            "c": np.array(list("pqr"))[(kind + (rng.random(N) < 0.3)) % 3],
            "m": X[:, 0] + kind,
            "n": X[:, 1],
        }
    )


def _counts() -> Any:
    rng = np.random.default_rng(2)
    return rng.poisson(20 * np.outer(rng.random(15) + 0.2, rng.random(6) + 0.2) * (1 + rng.random((15, 6)))) + 1


def _sparse() -> Any:
    return sp.random(300, 30, density=0.15, format="csr", random_state=0) * 5


W = np.random.default_rng(3).integers(1, 4, N)

Made = tuple[Any, ...]  # model, table, weights, and a second table where there is one
MODELS: dict[str, Callable[[], Made]] = {
    "PCA": lambda: (PCA(3).fit(rows()), rows(), None),
    "PCA all": lambda: (PCA().fit(rows()), rows(), None),
    "PCA scaled": lambda: (PCA(3, scale=True).fit(rows()), rows(), None),
    "PCA weighted": lambda: (PCA(3, whiten=True).fit(rows(), sample_weight=W), rows(), W),
    "PCA mean": lambda: (PCA(3, missing="mean").fit(gaps()), gaps(), None),
    "PCA em": lambda: (PCA(2, missing="em").fit(gaps()), gaps(), None),
    "PCA regularized": lambda: (PCA(2, missing="regularized").fit(gaps()), gaps(), None),
    "PCA state": lambda: (PCA(3).partial_fit(rows()[:30]).partial_fit(rows()[30:]), rows(), None),
    "PCA merged": lambda: (
        PCA(3, scale=True).fit(rows()[:30]).merge(PCA(3, scale=True).fit(rows()[30:])), rows(), None,
    ),
    "PCA krylov": lambda: (PCA(3, solver="krylov").fit(_wide()), _wide(), None),
    "PCA lanczos": lambda: (PCA(3, solver="lanczos").fit(_wide()), _wide(), None),
    "PCA sketch": lambda: (PCA(3, solver="sketch").fit(_wide()), _wide(), None),
    "PCA svd": lambda: (PCA(3, solver="svd").fit(rows()), rows(), None),
    "PCA wide": lambda: (PCA(3).fit(_wide().T.copy()), _wide().T.copy(), None),
    "PCA float32": lambda: (PCA(3).fit(rows().astype(np.float32)), rows().astype(np.float32), None),
    "PCA sparse": lambda: (PCA(3).fit(_sparse()), _sparse(), None),
    "SVD": lambda: (SVD(3).fit(rows()), rows(), None),
    "SVD sparse": lambda: (SVD(3, solver="krylov").fit(_sparse()), _sparse(), None),
    "CA": lambda: (CA(2).fit(_counts()), _counts(), None),
    "MCA": lambda: (MCA(2).fit(_levels()[["a", "b", "c"]]), _levels()[["a", "b", "c"]], None),
    "FAMD": lambda: (FAMD(2).fit(_levels()), _levels(), None),
    "MFA": lambda: (MFA(2, groups={"g": ["a", "b"], "h": ["m", "n"]}).fit(_levels()), _levels(), None),
    "RobustPCA": lambda: (RobustPCA(2).fit(rows()), rows(), None),
    "RobustPCA robpca": lambda: (RobustPCA(2, method="robpca").fit(rows()), rows(), None),
    "RobustPCA pcp": lambda: (RobustPCA(2, method="pcp").fit(rows()), rows(), None),
    "SparsePCA": lambda: (SparsePCA(2).fit(rows()), rows(), None),
    "FactorAnalysis": lambda: (FactorAnalysis(2).fit(rows()), rows(), None),
} | FURTHER  # fmt: skip


def _wide() -> Any:
    """Forty columns, a few of which tell nearly everything."""
    rng = np.random.default_rng(4)
    return rng.standard_normal((120, 40)) * np.concatenate([[9, 6, 4, 3], np.full(36, 0.3)]) + 2


def fitted(names: list[str]) -> Iterator[tuple[str, Made]]:
    """The models of these names, fitted."""
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = MODELS[name]()
            len(made[0].certificate_.values)  # solves a pending state
        yield name, made
