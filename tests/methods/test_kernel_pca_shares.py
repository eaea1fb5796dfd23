"""Shares of the variance of a Nyström model are shares of the kernel's, not of what the landmarks hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ritz import KernelPCA
from ritz.kernels import RBF, Laplacian


def truth_of(kernel, X) -> tuple[float, float]:
    """The largest eigenvalue and the trace of J K J."""
    D = cdist(X, X, "sqeuclidean" if isinstance(kernel, RBF) else "cityblock")
    K = np.exp(-kernel.gamma * D)
    K = K - K.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    return float(np.linalg.eigvalsh(K)[-1]), float(np.trace(K))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [RBF(0.5), RBF(0.05), Laplacian(0.2)], ids=str)
def test_short_tables_have_the_exact_total(kernel, dtype):
    X = np.random.default_rng(1).standard_normal((400, 8)).astype(dtype)
    _, total = truth_of(kernel, X.astype(np.float64))
    model = KernelPCA(3, kernel=kernel, solver="nystrom", landmarks=30).fit(X)
    assert model.total_variance_ == pytest.approx(total, rel=1e-6 if dtype == np.float32 else 1e-12)
    assert model.total_variance_error_ == 0
    assert np.allclose(model.explained_variance_ratio_, model.eigenvalues_ / total, rtol=1e-5)


@pytest.mark.parametrize("landmarks", [20, 200])
@pytest.mark.parametrize("kernel", [RBF(0.5), RBF(0.05)], ids=str)
def test_longer_ones_an_estimate_with_its_error_and_a_bracket(kernel, landmarks):
    X = np.random.default_rng(2).standard_normal((1500, 8))
    first, total = truth_of(kernel, X)
    model = KernelPCA(3, kernel=kernel, solver="nystrom", landmarks=landmarks).fit(X)
    error = model.total_variance_error_
    assert 0 < error <= 0.01 * total
    assert abs(model.total_variance_ - total) <= 5 * error
    assert model.explained_variance_ratio_[0] <= first / (total - 5 * error)
    words = " ".join(model.certificate_.notes)
    assert "standard error" in words
    assert model.certificate_.total == model.total_variance_


def test_exact_models_have_an_exact_total():
    X = np.random.default_rng(3).standard_normal((300, 4))
    _, total = truth_of(RBF(0.3), X)
    for solver in ("svd", "krylov"):
        model = KernelPCA(3, kernel=RBF(0.3), solver=solver).fit(X)
        assert model.total_variance_ == pytest.approx(total, rel=1e-6)
        assert model.total_variance_error_ == 0
