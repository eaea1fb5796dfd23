"""Fitted models of kernels, maps, two tables, sources, parts, tensors, networks and texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.methods.factor_analysis.factor_analysis import FactorAnalysis
from ritz.methods.ica.ica import ICA
from ritz.methods.kernel_pca.kernel_pca import KernelPCA
from ritz.methods.lsi.lsi import LSI
from ritz.methods.manifold.diffusion import DiffusionMaps
from ritz.methods.manifold.isomap import Isomap
from ritz.methods.manifold.laplacian import LaplacianEigenmaps
from ritz.methods.manifold.lle import LLE
from ritz.methods.manifold.mds import MDS
from ritz.methods.manifold.mvu import MVU
from ritz.methods.manifold.tsne import TSNE
from ritz.methods.networks.autoencoder import Autoencoder
from ritz.methods.networks.rbm import RBM
from ritz.methods.nmf.nmf import NMF
from ritz.methods.pca import PCA
from ritz.methods.tensors.cp import CP
from ritz.methods.tensors.hosvd import HOSVD
from ritz.methods.tensors.tensor_train import TensorTrain
from ritz.methods.tensors.tucker import Tucker
from ritz.methods.two_tables.cca import CCA
from ritz.methods.two_tables.pcr import PCR
from ritz.methods.two_tables.pls import PLS
from ritz.methods.zca import ZCA
from ritz.testing.mutate.rows import gaps, rows

__all__ = ["FURTHER"]

WORDS = "wine acid sweet dry red white sugar soil chalk clay sand rain sun frost harvest barrel oak cork glass".split()  # noqa: SIM905


def _seen() -> Any:
    """Rows on a bent sheet, with some noise."""
    rng = np.random.default_rng(5)
    t, h = np.sort(rng.uniform(1, 4, 60)), rng.uniform(0, 2, 60)
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)]) + 0.02 * rng.standard_normal((60, 3))


def _mixed() -> Any:
    """Sources that are not normal, mixed."""
    rng = np.random.default_rng(6)
    return rng.laplace(size=(400, 4)) * [3, 2, 1, 0.5] @ rng.standard_normal((4, 4)) + 1


def _positive() -> Any:
    rng = np.random.default_rng(7)
    return rng.gamma(1.0, size=(50, 3)) @ rng.gamma(0.5, size=(3, 8)) + 0.05 * rng.random((50, 8))


def _bits() -> Any:
    rng = np.random.default_rng(8)
    return (rng.random((60, 6)) < np.where(rng.random((60, 1)) < 0.5, [0.9, 0.8, 0.7, 0.1, 0.2, 0.3], 0.4)).astype(
        float
    )


def _tensor() -> Any:
    rng = np.random.default_rng(9)
    parts = [rng.standard_normal((n, 3)) for n in (7, 6, 5)]
    return np.einsum("ir,jr,kr->ijk", *parts) + 0.1 * rng.standard_normal((7, 6, 5)) + 0.5


def _texts() -> list[str]:
    rng = np.random.default_rng(10)
    topics = np.array_split(np.array(WORDS), 3)
    return [" ".join([*rng.choice(topics[i % 3], 6), *rng.choice(WORDS, 3)]) for i in range(30)]


def _second() -> Any:
    X = rows()
    return np.column_stack([X[:, 0] - X[:, 1], X[:, 2] + 0.5 * X[:, 4]]) + np.random.default_rng(11).standard_normal(
        (len(X), 2)
    )


def _covariance() -> Any:
    return np.cov(rows().T)


def _of(method: Any, made: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
    return lambda: (method.fit(made()), made(), None)


def _both(method: Any) -> Callable[[], tuple[Any, ...]]:
    return lambda: (method.fit(rows(), _second()), rows(), None, _second())


FURTHER: dict[str, Callable[[], tuple[Any, ...]]] = {
    "PCA covariance": lambda: (PCA.from_covariance(_covariance(), 80, 3), _covariance(), None),
    "PCA correlation": lambda: (PCA.from_covariance(_covariance(), 80, 3, scale=True), _covariance(), None),
    "PCA mean given": lambda: (
        PCA.from_covariance(_covariance(), 80, 3, mean=rows().mean(axis=0)), _covariance(), None,
    ),
    "PCA rounded": lambda: (
        PCA.from_covariance(_covariance().round(2), 80, 3, rounding=0.005), _covariance().round(2), None,
    ),
    "FactorAnalysis covariance": lambda: (FactorAnalysis.from_covariance(_covariance(), 80, 2), _covariance(), None),
    "FactorAnalysis fiml": _of(FactorAnalysis(2, missing="fiml"), gaps),
    "FactorAnalysis promax": _of(FactorAnalysis(2, rotation="promax"), rows),
    "ZCA": _of(ZCA(scale=True), rows),
    "ICA": _of(ICA(3), _mixed),
    "ICA jade": _of(ICA(3, method="jade"), _mixed),
    "NMF": _of(NMF(3), _positive),
    "NMF kullback-leibler": _of(NMF(2, loss="kullback-leibler"), _positive),
    "HOSVD": _of(HOSVD(2), _tensor),
    "Tucker": _of(Tucker(2), _tensor),
    "TensorTrain": _of(TensorTrain(2), _tensor),
    "CP": _of(CP(2), _tensor),
    "PLS": _both(PLS(2)),
    "PLS nipals": _both(PLS(2, algorithm="nipals", scale=False)),
    "CCA": _both(CCA(2)),
    "PCR": _both(PCR(3)),
    "KernelPCA rbf": _of(KernelPCA(3, kernel="rbf", gamma=0.01), rows),
    "KernelPCA linear": _of(KernelPCA(3), rows),
    "KernelPCA added": lambda: (
        KernelPCA(3, kernel="rbf", gamma=0.01).partial_fit(rows()[:50]).partial_fit(rows()[50:]), rows(), None,
    ),
    "KernelPCA nystrom": _of(KernelPCA(3, kernel="rbf", gamma=0.01, solver="nystrom", landmarks=20), rows),
    "KernelPCA sigmoid": _of(KernelPCA(2, kernel="sigmoid", gamma=1e-3), rows),
    "LSI": lambda: (LSI(3).fit(_texts()), _texts(), None),
    "LSI ca": lambda: (LSI(3, method="ca").fit(_texts()), _texts(), None),
    "LSI updated": lambda: (LSI(3).fit(_texts()[:20]).update(_texts()[20:]), _texts(), None),
    "MDS": _of(MDS(2), _seen),
    "MDS manhattan": _of(MDS(2, metric="manhattan"), _seen),
    "MDS landmarks": _of(MDS(2, metric="manhattan", landmarks=20), _seen),
    "MDS metric": _of(MDS(2, method="metric", metric="manhattan"), _seen),
    "MDS ordinal": _of(MDS(2, method="ordinal", metric="manhattan"), _seen),
    "MDS sammon": _of(MDS(2, method="sammon", metric="manhattan"), _seen),
    "MDS interval": _of(MDS(2, method="interval", metric="manhattan"), _seen),
    "Isomap": _of(Isomap(2, n_neighbors=7), _seen),
    "Isomap landmarks": _of(Isomap(2, n_neighbors=7, landmarks=20), _seen),
    "LLE": _of(LLE(2, n_neighbors=8), _seen),
    "LLE hessian": _of(LLE(2, n_neighbors=8, method="hessian"), _seen),
    "LaplacianEigenmaps": _of(LaplacianEigenmaps(2, n_neighbors=8), _seen),
    "DiffusionMaps": _of(DiffusionMaps(2), _seen),
    "MVU": _of(MVU(2, n_neighbors=5), _seen),
    "TSNE": _of(TSNE(2, perplexity=8, max_iter=100), _seen),
    "Autoencoder": _of(Autoencoder(2), rows),
    "Autoencoder hidden": _of(Autoencoder(2, hidden=(5,), max_epochs=20), rows),
    "RBM": _of(RBM(3, max_epochs=5), _bits),
}  # fmt: skip
