"""Kernel PCA by thin blocks: fewer columns than components, the search for missed eigenvalues, float32 products."""

from __future__ import annotations

import numpy as np
import pytest

from ritz import KernelPCA
from ritz.kernels import RBF, Laplacian, Polynomial
from ritz.spectral.widths import thin_width
from tests.pairs import pairwise

N = 600


def rows_of(name: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    if name == "clusters":
        return np.repeat(rng.standard_normal((40, 30)) * 20, N // 40, axis=0)
    if name == "near clusters":
        return np.repeat(rng.standard_normal((50, 30)) * 20, N // 50, axis=0) + 1e-3 * rng.standard_normal((N, 30))
    if name == "letters":
        return np.eye(60)[rng.integers(0, 60, N)]
    if name == "heavy":
        return rng.standard_t(1.5, (N, 10))
    return rng.standard_normal((N, 20))


def truth_of(kernel, X: np.ndarray) -> np.ndarray:
    K = np.asarray(kernel(np.asarray(X, np.float64)), np.float64)
    J = np.eye(len(K)) - 1 / len(K)
    return np.linalg.eigvalsh(J @ K @ J)[::-1]


KERNELS = [RBF(0.02), RBF(1.0), Laplacian(0.03), Polynomial(3, 1e-3)]
DATA = ["plain", "clusters", "near clusters", "letters", "heavy"]


@pytest.mark.parametrize(("data", "kernel", "dtype"), pairwise(DATA, KERNELS, [np.float32, np.float64]))
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_the_certificate_is_true(data, kernel, dtype):
    X, k = rows_of(data).astype(dtype), 40
    assert thin_width(k) < k
    truth = truth_of(kernel, X)
    certificate = KernelPCA(k, kernel=kernel, solver="krylov").fit(X).certificate_
    slack = 1e-13 * N
    assert np.all(np.min(np.abs(truth - certificate.values[:, None]), axis=1) <= certificate.width + slack)
    for i in np.flatnonzero(certificate.labelled):
        assert certificate.lower[i] - slack <= truth[i] <= certificate.upper[i] + slack
    assert truth[k] <= certificate.ceiling + slack


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_eigenvalues_repeated_more_often_than_a_block_is_wide_are_all_found(dtype):
    # forty equal groups far apart: one eigenvalue 39 times
    X, kernel = np.repeat(np.eye(40), N // 40, axis=0), RBF(4.0)
    truth = truth_of(kernel, X)
    model = KernelPCA(45, kernel=kernel, solver="krylov").fit(X.astype(dtype))
    assert truth[38] == pytest.approx(truth[0])
    assert model.eigenvalues_ == pytest.approx(truth[:45], abs=1e-5 * truth[0])
    assert np.all(model.eigenvalues_[39:] == 0)


def test_all_components_are_labelled_and_the_residuals_are_small():
    model = KernelPCA(40, kernel="rbf", gamma="median", solver="krylov").fit(rows_of("plain"))
    c = model.certificate_
    assert c.labelled.all()
    assert c.converged
    assert np.max(c.residuals) + c.rounding <= 1e-6 * c.values[0]
    assert 0 < c.probability <= 1


def test_a_full_float64_pass_only_when_tol_asks_for_it():
    X = rows_of("plain")
    coarse = KernelPCA(40, kernel=RBF(0.02), solver="krylov", tol=1e-6).fit(X).certificate_
    fine = KernelPCA(40, kernel=RBF(0.02), solver="krylov", tol=2e-7).fit(X).certificate_
    truth = truth_of(RBF(0.02), X)[:40]
    assert "float32 products" in coarse.precision
    assert 1e-9 * truth[0] < coarse.rounding <= 1e-6 * truth[0]
    assert "float32 products" not in fine.precision
    assert fine.rounding <= 1e-12 * truth[0]
    assert fine.values == pytest.approx(truth, abs=1e-10 * truth[0])
    assert np.all(np.abs(coarse.values - truth) <= coarse.width)


def test_without_a_cache_blocks_are_wide_and_agree(monkeypatch):
    X = rows_of("plain").astype(np.float32)
    kept = KernelPCA(40, kernel=RBF(0.02), solver="krylov").fit(X)
    monkeypatch.setattr("ritz.operators.kernel.cached_bytes", lambda n, dtype: 1 << 60)
    lean = KernelPCA(40, kernel=RBF(0.02), solver="krylov").fit(X)
    assert lean.certificate_.passes < kept.certificate_.passes
    assert lean.eigenvalues_ == pytest.approx(kept.eigenvalues_, abs=2e-6 * float(kept.eigenvalues_[0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_identical_rows_end_at_once(kernel, dtype):
    model = KernelPCA(50, kernel=kernel, solver="krylov").fit(np.ones((N, 4), dtype))
    assert np.all(model.eigenvalues_ == 0)
    assert model.certificate_.passes < 50
