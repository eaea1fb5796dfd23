"""Negative eigenvalues: one policy for every number of components and every solver; and what counts as zero."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ritz
from ritz import KernelPCA, NegativeEigenvalues
from ritz.kernels import RBF, Linear, Polynomial, Sigmoid

COUNTS = (1, 5, 30, 99, None, 0.3, "kaiser")


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((100, 5))


def centered(K: np.ndarray) -> np.ndarray:
    J = np.eye(len(K)) - 1 / len(K)
    return J @ K @ J


def tanh_matrix(X: np.ndarray, gamma: float = 0.5, coef0: float = 1.0) -> np.ndarray:
    return np.tanh(gamma * X @ X.T + coef0)


@pytest.mark.parametrize("solver", ["auto", "krylov", "lanczos"])
@pytest.mark.parametrize("count", COUNTS)
def test_an_indefinite_kernel_warns_whatever_is_asked_for(rows, count, solver):
    spectrum = np.linalg.eigvalsh(centered(tanh_matrix(rows)))[::-1]
    positive = spectrum[spectrum > 1e-10]
    share = -spectrum[spectrum < 0].sum() / np.abs(spectrum).sum()
    with pytest.warns(NegativeEigenvalues, match="indefinite on these rows: negative eigenvalues make up"):
        model = KernelPCA(count, kernel="sigmoid", gamma=0.5, solver=solver, tol=1e-9).fit(rows)
    k = model.n_components_
    assert np.allclose(model.eigenvalues_, positive[:k], atol=1e-9 * positive[0])
    assert k == (min(count, len(positive)) if isinstance(count, int) else k)
    assert count is not None or k == len(positive)
    assert model.negative_share_ == pytest.approx(share, abs=0.03 if solver != "auto" else 1e-12)
    ratio = positive[:k] / np.abs(spectrum).sum()
    assert np.allclose(model.explained_variance_ratio_, ratio, rtol=0.08 if solver != "auto" else 1e-9)
    assert np.all(model.eigenvalues_ > 0)
    assert np.isfinite(model.transform(rows)).all()


@pytest.mark.parametrize("solver", ["auto", "krylov"])
@pytest.mark.parametrize("count", COUNTS)
def test_an_indefinite_kernel_is_refused_whatever_is_asked_for(rows, count, solver):
    with pytest.raises(ritz.ParameterError, match="negative eigenvalues that make up 3"):
        KernelPCA(count, kernel="sigmoid", gamma=0.5, solver=solver, negative="error").fit(rows)


@pytest.mark.parametrize("solver", ["svd", "krylov", "lanczos"])
@pytest.mark.parametrize("negative", ["flip", "krein"])
def test_both_signs_are_kept_by_magnitude_and_once_each(rows, negative, solver):
    spectrum = np.linalg.eigvalsh(centered(tanh_matrix(rows)))
    for count in (6, 90, None):
        model = KernelPCA(count, kernel="sigmoid", gamma=0.5, negative=negative, solver=solver, tol=1e-10)
        with pytest.warns(NegativeEigenvalues, match="kept by magnitude"):
            Z = model.fit_transform(rows)
        k = model.n_components_
        by_size = spectrum[np.argsort(-np.abs(spectrum))]
        assert k == (99 if count is None else count)
        assert np.allclose(np.abs(model.eigenvalues_), np.abs(by_size[:k]), atol=1e-9 * spectrum[-1])
        assert np.isclose(np.sum(model.eigenvalues_), np.sum(by_size[:k]), atol=1e-8 * spectrum[-1])
        assert model.explained_variance_ratio_.sum() <= 1.08
        assert np.allclose(model.transform(rows), Z, atol=1e-8)
        assert model.certificate_.values.shape == model.certificate_.upper.shape == (k,)
    # k(x, y) = Σ sᵢ zᵢ(x) zᵢ(y)
    K = (Z * np.sign(model.eigenvalues_)) @ Z.T
    assert np.allclose(K, centered(tanh_matrix(rows)), atol=1e-8)


@pytest.mark.parametrize("share", [0.9, 0.5, 0.2])
def test_a_fraction_is_one_of_the_sum_of_magnitudes(rows, share):
    spectrum = np.linalg.eigvalsh(centered(tanh_matrix(rows)))[::-1]
    shares = np.cumsum(spectrum[spectrum > 1e-10]) / np.abs(spectrum).sum()
    expected = int(np.argmax(shares > share)) + 1 if shares[-1] > share else len(shares)
    for solver in ("svd", "krylov", "lanczos", "power"):
        with pytest.warns(NegativeEigenvalues):
            model = KernelPCA(share, kernel="sigmoid", gamma=0.5, solver=solver).fit(rows)
        assert model.n_components_ == expected


@pytest.mark.parametrize(("gamma", "coef0"), [(0.2, 1.0), (0.5, 0.0), (0.05, -1.0), (2.0, 1.0)])
def test_the_estimated_share_is_within_its_error(gamma, coef0):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((300, 5))
        spectrum = np.linalg.eigvalsh(centered(tanh_matrix(X, gamma, coef0)))
        share = -spectrum[spectrum < 0].sum() / np.abs(spectrum).sum()
        with pytest.warns(NegativeEigenvalues, match="±"):
            model = KernelPCA(3, kernel=Sigmoid(gamma, coef0), solver="krylov", random_state=seed).fit(X)
        note = model.certificate_.notes[-1]
        error = float(note.split("± ")[1].split("%")[0]) / 100
        assert abs(model.negative_share_ - share) <= 3 * error + 1e-3
        assert error < 0.03


def test_a_weakly_indefinite_kernel_is_found_by_a_few_components(rows):
    K = centered(RBF(0.2)(rows))
    u = np.linalg.svd(np.random.default_rng(1).standard_normal((100, 1)) - 0.1)[0][:, :1]
    bent = K - 2 * float(u[:, 0] @ K @ u[:, 0] + 1e-3) * u @ u.T
    bent = (bent + bent.T) / 2
    for solver in ("svd", "krylov"):
        with pytest.warns(NegativeEigenvalues):
            KernelPCA(2, kernel="precomputed", solver=solver).fit(bent)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["svd", "krylov"])
def test_rounding_is_not_called_indefinite(rows, dtype, solver):
    K = RBF(0.2)(rows).astype(dtype)
    for count in (3, None):
        with warnings.catch_warnings():
            warnings.simplefilter("error", NegativeEigenvalues)
            model = KernelPCA(count, kernel="precomputed", solver=solver, tol=1e-5).fit(K)
        assert model.negative_share_ == 0


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos", "nystrom"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_component_is_made_of_rounding(rows, solver, dtype):
    X = rows.astype(dtype)
    twice = np.vstack([X[:25]] * 4)
    options = {"solver": solver, "tol": 1e-6}
    assert KernelPCA(None, kernel="linear", **options).fit(X).n_components_ == 5
    assert KernelPCA(None, kernel=Polynomial(2, 1.0, 1.0), **options).fit(X).n_components_ == 20
    if solver in ("svd", "auto"):
        assert KernelPCA(None, kernel=RBF(0.2), **options).fit(X).n_components_ == 99
        assert KernelPCA(None, kernel=RBF(0.2), **options).fit(twice).n_components_ == 24
        assert KernelPCA(None, kernel=Linear(), **options).fit(X + dtype(1e3)).n_components_ == 5


def test_zero_components_stay_when_a_number_is_asked_for(rows):
    X = rows[:, :2]
    for solver in ("auto", "svd", "krylov", "lanczos"):
        model = KernelPCA(4, solver=solver, tol=1e-9)
        Z = model.fit_transform(X)
        assert Z.shape == (100, 4)
        assert np.array_equal(model.eigenvalues_[2:], [0, 0])
        assert np.array_equal(model.transform(X)[:, 2:], np.zeros((100, 2)))
        assert np.allclose(model.transform(X), Z, atol=1e-7)
        assert KernelPCA(4, solver=solver, remove_zero_eig=True).fit_transform(X).shape == (100, 2)


def test_a_negative_matrix_keeps_nothing_and_rounding_is_not_blamed(rows):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = KernelPCA(2, kernel="precomputed").fit(-rows @ rows.T)
    assert [warning.category for warning in said] == [NegativeEigenvalues]
    assert model.eigenvalues_.size == 0
    assert model.negative_share_ == pytest.approx(1.0)


@pytest.mark.parametrize("kernel", ["precomputed", ritz.kernels.Precomputed()])
def test_a_gap_in_a_kernel_matrix_is_no_gap_of_a_table(rows, kernel):
    K = rows @ rows.T
    K[2, 3] = np.nan
    with pytest.raises(ritz.NonFiniteError, match=r"first at row 2 column 3\nhint: compute these kernel values"):
        KernelPCA(2, kernel=kernel).fit(K)
