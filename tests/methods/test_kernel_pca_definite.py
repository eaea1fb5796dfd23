"""A kernel matrix that is handed over: a proof that it has no negative eigenvalue spares most of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import ritz
from ritz import KernelPCA, NegativeEigenvalues
from ritz.kernels import Precomputed
from ritz.kernels.callables import asymmetry
from ritz.methods.kernel_pca.definite import proved_positive
from ritz.operators.kernel import KernelMatrix
from ritz.spectral.constants import KERNEL_PROVED
from ritz.spectral.plan import Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve

N = KERNEL_PROVED + 10


def matrix_of(values: np.ndarray, seed: int, mean: float = 0.0) -> np.ndarray:
    """A matrix (n, n) whose J K J has these eigenvalues, of n − 1, and 0."""
    n = len(values) + 1
    draws = np.random.default_rng(seed).standard_normal((n, n))
    draws[:, 0] = 1.0  # the first vector is the constant one, which J takes off
    Q = np.linalg.qr(draws)[0][:, 1:]
    K = (Q * values) @ Q.T
    return (K + K.T) / 2 + mean


def falling(n: int = N) -> np.ndarray:
    return 0.97 ** np.arange(n - 1)


def test_few_components_of_a_matrix_without_negative_eigenvalues(seed):
    values = falling()
    K = matrix_of(values, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(3, kernel="precomputed").fit(K)
    assert np.allclose(model.eigenvalues_, values[:3], rtol=0, atol=1e-13)
    assert np.allclose(model.explained_variance_ratio_, values[:3] / values.sum(), rtol=1e-11)
    assert model.negative_share_ == 0
    assert model.total_variance_error_ == 0
    assert "its Cholesky factor proves that no eigenvalue is negative beyond rounding" in model.plan_.reasons
    assert model.certificate_.probability == 1
    assert np.all(model.certificate_.lower <= values[:3])
    assert np.all(values[:3] <= model.certificate_.upper)
    assert model.plan_.actual_passes == model.plan_.passes
    assert model.verify(K)


@pytest.mark.parametrize("least", [-1e-3, -1e-6, -3e-10])
def test_a_negative_eigenvalue_beyond_rounding_is_found(least, seed):
    values = np.append(falling()[:-1], least * falling().sum())
    with pytest.warns(NegativeEigenvalues, match="the kernel is indefinite on these rows"):
        model = KernelPCA(3, kernel="precomputed").fit(matrix_of(values, seed))
    assert np.allclose(model.eigenvalues_, values[:3], rtol=0, atol=1e-13)
    assert model.negative_share_ == pytest.approx(-values[-1] / np.abs(values).sum(), rel=1e-4)
    assert model.total_variance_ == pytest.approx(np.abs(values).sum(), rel=1e-12)
    assert "Cholesky" not in str(model.plan_)


@pytest.mark.parametrize("mean", [0.0, 1.0, 1e6])
def test_the_proof_sees_the_sum_of_negative_eigenvalues(mean, seed):
    def proved(values: np.ndarray) -> bool:
        kernel = Precomputed()
        return (
            proved_positive(KernelMatrix(kernel, kernel.prepare(matrix_of(values, seed, mean))).centered()) is not None
        )

    values = falling()
    assert proved(values) or mean > 1
    assert proved(np.where(values < 1e-2, 0.0, values)) or mean > 1  # most of them are 0
    assert not proved(np.append(values[:-1], -2e-10 * values.sum()))
    assert not proved(np.where(values < 1e-2, -2e-12 * values.sum(), values))  # many, each of them small
    assert not proved(-values)


@pytest.mark.parametrize("n", [60, N, 400])
@pytest.mark.parametrize("k", [1, 4])
def test_few_components_beside_negative_ones_have_all_magnitudes_under_them(n, k, seed):
    values = falling(n) * np.where(np.arange(n - 1) % 3 == 1, -0.5, 1.0)
    above = values[values > 0]
    with pytest.warns(NegativeEigenvalues, match="are left out"):
        model = KernelPCA(k, kernel="precomputed").fit(matrix_of(values, seed))
    assert np.allclose(model.eigenvalues_, above[:k], rtol=0, atol=1e-13)
    assert model.total_variance_ == pytest.approx(np.abs(values).sum(), rel=1e-12)
    assert model.negative_share_ == pytest.approx(-values[values < 0].sum() / np.abs(values).sum(), rel=1e-12)
    assert np.allclose(model.explained_variance_ratio_, above[:k] / np.abs(values).sum(), rtol=1e-12)
    assert model.certificate_.probability == 1
    assert model.total_variance_error_ == 0


@pytest.mark.parametrize("negative", ["flip", "krein"])
def test_components_by_magnitude_are_found_at_both_ends(negative, seed):
    values = falling() * np.where(np.arange(N - 1) % 2, -1.0, 1.0)
    with pytest.warns(NegativeEigenvalues, match="kept by magnitude"):
        model = KernelPCA(4, kernel="precomputed", negative=negative).fit(matrix_of(values, seed))
    assert np.allclose(model.eigenvalues_, values[:4], rtol=0, atol=1e-13)


def test_a_matrix_without_negative_eigenvalues_is_not_refused(seed):
    K = matrix_of(falling(), seed)
    assert KernelPCA(2, kernel="precomputed", negative="error").fit(K).n_components_ == 2
    worse = matrix_of(np.append(falling()[:-1], -0.01), seed)
    with pytest.raises(ritz.ParameterError, match="no negative eigenvalues"):
        KernelPCA(2, kernel="precomputed", negative="error").fit(worse)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("at", [(0, 1), (1, 0), (599, 3), (300, 301), (255, 256)])
def test_a_matrix_that_is_not_symmetric_is_measured_wherever_it_differs(at, form):
    K = np.eye(600)
    assert asymmetry(form(K)) == (0.0, 1.0)
    K[at] -= 0.25
    assert asymmetry(form(K)) == (0.25, 1.0)
    K[at] = -3.0
    assert asymmetry(form(K)) == (3.0, 3.0)


@pytest.mark.parametrize("n", [N - 20, N])
def test_components_without_an_eigenvalue_are_left_out_whether_or_not_a_proof_is_made(n, seed):
    B = np.random.default_rng(seed).integers(-2, 3, (n, 3)).astype(float)
    model = KernelPCA(6, kernel="precomputed").fit(B @ B.T)
    assert model.n_components_ == 3
    assert np.all(model.eigenvalues_ > 0)
    assert model.verify(B @ B.T)


@pytest.mark.parametrize("solver", ["svd", "krylov"])
def test_eigenvalues_below_zero_by_rounding_lie_in_their_enclosures(solver, seed):
    """K − tI: all but three eigenvalues are −t, exactly, and one is 0."""
    B = np.random.default_rng(seed).integers(-2, 3, (N, 3)).astype(float)
    K = B @ B.T
    t = 2.0**-41 * K.max()
    kernel = Precomputed()
    M = proved_positive(KernelMatrix(kernel, kernel.prepare(K - t * np.eye(N))).centered())
    assert M is not None
    assert M.below >= (N - 4) * t
    plan = choose(Shape(N, N, 8, None, symmetric=True), 6, solver=solver)
    problem = SpectralProblem(M, 6, kind="eigh", n=N, d=N, rows=N, centered=True, partial=True)
    found = solve(problem, plan, quiet=True)
    c = found.certificate
    if solver == "svd":
        assert np.all(c.lower[4:] <= -t)
        assert np.all(c.upper[4:] >= -t)
    assert np.all(c.lower <= np.append(c.upper[:4], [-t, -t]))
    assert c.ceiling >= -t
    assert found.total == pytest.approx(np.trace(M.to_dense()), rel=1e-13)
