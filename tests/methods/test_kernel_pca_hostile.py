"""Kernel PCA where numbers are hostile: far rows, large means, overflow, underflow, indefinite matrices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from ritz import AccuracyWarning, InputError, KernelPCA, NegativeEigenvalues, ParameterError
from ritz.kernels import RBF, Callable, Cosine, Laplacian, Linear, Polynomial, Sigmoid

ITERATIVE = ("krylov", "lanczos")


def centered(K: np.ndarray) -> np.ndarray:
    J = np.eye(len(K)) - 1 / len(K)
    return J @ K @ J


def far_rows(columns: int = 5, count: int = 600, spread: float = 3.0) -> np.ndarray:
    """float32 rows near 0 and a few, less than one in a hundred, far away and close to each other."""
    rng = np.random.default_rng(0)
    few = count // 120
    away = 1e3 / np.sqrt(columns) + 0.3 * rng.standard_normal((few, columns))
    return np.vstack([spread * rng.standard_normal((count, columns)), away]).astype(np.float32)


# precision ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [3.0, 0.3])
@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos", "nystrom"])
def test_far_rows_in_float32_reach_the_tolerance(solver, spread):
    X = far_rows(spread=spread)
    truth = np.linalg.eigvalsh(centered(np.exp(-cdist(X.astype(float), X.astype(float), "sqeuclidean"))))[::-1]
    model = KernelPCA(5, kernel="rbf", gamma=1.0, solver=solver, landmarks=len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = model.fit_transform(X)
    certificate = model.certificate_
    assert certificate.converged
    assert np.all(np.abs(model.eigenvalues_ - truth[:5]) <= 2e-6 * truth[0])
    if solver != "nystrom":
        assert certificate.rounding <= 1e-6 * truth[0]
    assert Z.dtype == model.eigenvalues_.dtype == np.float32
    # new rows are compared as finely: the far ones are their own neighbours
    assert np.max(np.abs(model.transform(X) - Z)) <= 1e-4 * np.sqrt(truth[0])


@pytest.mark.parametrize("solver", ITERATIVE)
def test_float32_rows_may_ask_for_more_than_float32_holds(solver):
    X = np.random.default_rng(1).standard_normal((300, 4)).astype(np.float32)
    truth = np.linalg.eigvalsh(centered(np.exp(-0.1 * cdist(X.astype(float), X.astype(float), "sqeuclidean"))))[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        certificate = KernelPCA(4, kernel=RBF(0.1), solver=solver, tol=1e-10).fit(X).certificate_
    assert certificate.converged
    assert np.all(np.abs(certificate.values - truth[:4]) <= 1e-10 * truth[0])


def test_a_float32_start_that_is_wrong_proves_nothing():
    """float64 rows begin in float32 too: what its products are off by must be in the bound on what was missed."""
    X = far_rows(count=1300).astype(float)
    truth = np.linalg.eigvalsh(centered(np.exp(-cdist(X, X, "sqeuclidean"))))[::-1]
    certificate = KernelPCA(5, kernel=RBF(1.0), solver="krylov").fit(X).certificate_
    slack = 1e-12 * truth[0]
    known = certificate.labelled
    assert np.all(certificate.lower[known] - slack <= truth[:5][known])
    assert np.all(truth[:5][known] <= certificate.upper[known] + slack)
    assert truth[5] <= certificate.ceiling + slack


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos"])
def test_large_means_do_not_destroy_the_linear_kernel(solver, dtype):
    mean = 1e9 if dtype == np.float64 else 1e4
    X = (np.random.default_rng(2).standard_normal((60, 4)) + mean).astype(dtype)
    C = X.astype(float) - X.astype(float).mean(axis=0)
    truth = np.linalg.eigvalsh(C.T @ C)[::-1]
    model = KernelPCA(3, kernel="linear", solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = model.fit_transform(X)
    assert np.allclose(model.eigenvalues_, truth[:3], rtol=1e-6)
    assert np.allclose(np.linalg.norm(Z, axis=0), np.sqrt(truth[:3]), rtol=1e-5)
    assert np.allclose(model.transform(X), Z, atol=1e-5 * np.sqrt(truth[0]))
    V = np.linalg.eigh(C.T @ C)[1][:, :0:-1]
    assert np.allclose(model.inverse_transform(Z), C @ V @ V.T + X.mean(axis=0, dtype=float), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        (Polynomial(2, 1.0, 1.0), "mean"),
        (RBF(1e-22), "plain"),
        (Laplacian(1e-20), "plain"),
        (Linear(), "sparse mean"),
    ],
    ids=str,
)
@pytest.mark.parametrize("solver", ["svd", "krylov", "lanczos", "nystrom"])
def test_what_rounding_took_is_said(kernel, rows, solver):
    X = np.random.default_rng(3).standard_normal((50, 4)) + (1e9 if "mean" in rows else 0.0)
    with pytest.warns(AccuracyWarning, match="rounding of the kernel matrix|reached a residual"):
        model = KernelPCA(3, kernel=kernel, solver=solver).fit(csr_array(X) if "sparse" in rows else X)
    assert not model.certificate_.converged
    assert "rounding of the kernel matrix" in str(model.certificate_)


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos", "nystrom"])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(2), Cosine()], ids=str)
def test_identical_rows_have_no_variance_and_no_warning(kernel, solver):
    X = np.tile([0.3, 1.7, 2.9], (12, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(2, kernel=kernel, solver=solver).fit(X)
    assert np.all(model.eigenvalues_ == 0)
    assert np.all(model.transform(X) == 0)


# range -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos", "nystrom"])
def test_a_kernel_out_of_range_is_refused_in_words(solver, dtype, form):
    X = form((np.random.default_rng(4).standard_normal((30, 4)) * 1e5).astype(dtype))
    with pytest.raises(InputError) as caught:
        KernelPCA(2, kernel="poly", degree=40, gamma=1.0, solver=solver, landmarks=8).fit(X)
    assert "received" in str(caught.value)
    assert "hint: " in str(caught.value)


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "nystrom"])
def test_eigenvalues_beyond_float32_are_refused_and_float64_rows_work(solver):
    X = (np.random.default_rng(5).standard_normal((30, 4)) * 1e7).astype(np.float32)
    model = KernelPCA(2, kernel="poly", degree=3, gamma=1.0, solver=solver, landmarks=30)
    with pytest.raises(InputError, match="astype"):
        model.fit(X)
    wide = X.astype(np.float64)
    truth = np.linalg.eigvalsh(centered((wide @ wide.T + 1) ** 3))[::-1]
    assert np.allclose(model.fit(wide).eigenvalues_, truth[:2], rtol=1e-6)


@pytest.mark.parametrize("solver", ["svd", "krylov", "nystrom"])
def test_float32_tiles_that_would_overflow_are_float64_ones(solver):
    """k up to 1e30, whose squares leave the range of float32, eigenvalues do not."""
    X = (np.random.default_rng(6).standard_normal((40, 3)) * 1e5).astype(np.float32)
    wide = X.astype(np.float64)
    truth = np.linalg.eigvalsh(centered((wide @ wide.T + 1) ** 3))[::-1]
    model = KernelPCA(2, kernel="poly", degree=3, gamma=1.0, solver=solver, landmarks=40)
    Z = model.fit_transform(X)
    assert Z.dtype == np.float32
    assert np.allclose(model.eigenvalues_, truth[:2], rtol=1e-5)
    assert np.allclose(model.transform(X), Z, atol=1e-3 * np.sqrt(truth[0]))


@pytest.mark.parametrize("call", ["transform", "novelty", "potential", "activation", "score_samples"])
@pytest.mark.parametrize("solver", ["auto", "svd", "nystrom"])
def test_new_rows_out_of_range_are_named(solver, call):
    X = np.random.default_rng(7).standard_normal((30, 4)).astype(np.float32)
    model = KernelPCA(2, kernel="poly", degree=5, gamma=1.0, solver=solver, landmarks=30).fit(X)
    new = X.copy()
    new[3] *= 1e20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="row 3"):
            getattr(model, call)(new)


@pytest.mark.parametrize("solver", ["svd", "krylov"])
@pytest.mark.parametrize(
    ("function", "batched"),
    [
        (lambda _x, _y: float("nan"), False),
        (lambda x, y: np.log(abs(x[0] - y[0])), False),
        (lambda _x, _y: "near", False),
        (lambda _x, _y: 1j, False),
        (lambda _x, _y: None, False),
        (lambda x, _y: x, False),
        (lambda x, y: np.full((len(x), len(y)), np.inf), True),
        (lambda x, _y: np.ones(len(x)), True),
        (lambda _x, _y: 1.0, True),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_function_that_gives_no_number_is_refused(function, batched, solver):
    X = np.random.default_rng(8).standard_normal((12, 3))
    with pytest.raises(InputError) as caught:
        KernelPCA(2, kernel=Callable(function, batched=batched), solver=solver).fit(X)
    assert "hint: " in str(caught.value)


# indefinite matrices -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("above", "below", "scale"), [(2, 30, 1e3), (2, 100, 1e4), (3, 3, 1e6), (3, 90, 1e2)])
@pytest.mark.parametrize("negative", ["clip", "flip"])
def test_components_are_as_many_whatever_the_solver(above, below, scale, negative):
    """Negative eigenvalues far larger than positive ones: known signs and numbers of both."""
    n = 120
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0][:, : above + below]
    K = centered((Q * np.r_[np.ones(above), -scale * np.linspace(1, 2, below)]) @ Q.T)
    K = (K + K.T) / 2
    for wanted in (3, 8):
        whole = above if negative == "clip" else above + below
        for solver in ("svd", "krylov", "lanczos"):
            with pytest.warns(NegativeEigenvalues):
                model = KernelPCA(wanted, kernel="precomputed", negative=negative, solver=solver).fit(K)
            assert model.n_components_ == min(wanted, whole), (solver, wanted)


def test_power_iteration_refuses_negative_eigenvalues_and_takes_others():
    X = np.random.default_rng(9).standard_normal((60, 4))
    with pytest.raises(ParameterError, match="largest"):
        KernelPCA(3, kernel=Sigmoid(0.5, 1.0), solver="power").fit(X)
    K = RBF(0.1)(X)
    model = KernelPCA(3, kernel="precomputed", solver="power").fit(K)
    assert np.allclose(model.eigenvalues_, np.linalg.eigvalsh(centered(K))[::-1][:3], rtol=1e-6)
