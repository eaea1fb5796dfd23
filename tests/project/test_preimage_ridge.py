"""Regression from scores to rows, against refits written out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

import ritz
import ritz.project.preimage.ridge as module
from ritz.kernels import RBF
from ritz.project.preimage.ridge import fit_ridge, leave_one_out, rbf


def scores(n: int, k: int = 2, seed: int = 0) -> np.ndarray:
    Z = np.random.default_rng(seed).uniform(-1, 1, (n, k))
    return Z - Z.mean(axis=0)


def bent(Z: np.ndarray, d: int = 5, noise: float = 0.05, seed: int = 1) -> np.ndarray:
    """Rows that depend on scores in a curved way, far from 0."""
    rng = np.random.default_rng(seed)
    curves = np.column_stack([Z, np.sin(3 * Z[:, 0]), Z[:, 0] * Z[:, 1]])
    return curves @ rng.standard_normal((curves.shape[1], d)) + 10 + noise * rng.standard_normal((len(Z), d))


def naive(Z: np.ndarray, X: np.ndarray, T: np.ndarray, gamma: float, alpha: float) -> np.ndarray:
    """Kernel ridge with a free constant: [K + αI, 1; 1ᵀ, 0] [c; b] = [X; 0]."""
    n = len(Z)
    system = np.block([[rbf(Z, Z, gamma) + alpha * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.vstack([X, np.zeros((1, X.shape[1]))]))
    return rbf(T, Z, gamma) @ solved[:n] + solved[n]


def test_predictions_equal_the_system_written_out():
    Z, T = scores(40), scores(9, seed=3)
    X = bent(Z)
    found = fit_ridge(Z, X, alpha=1e-2, gamma=0.7).predict(T)[0]
    assert np.max(np.abs(found - naive(Z, X, T, 0.7, 1e-2))) < 1e-10


@pytest.mark.parametrize("alpha", [1e-4, 1e-1, 10.0])
def test_leave_one_out_equals_refits(alpha):
    Z = scores(30)
    X = bent(Z)
    basis = module._exact(Z, 0.7)[0]
    A, Y = basis.features(Z)[0], X - X.mean(axis=0)
    closed = leave_one_out(A, basis.S, A.T @ Y, Y, alpha, 30)
    refits = [
        ((naive(np.delete(Z, i, 0), np.delete(X, i, 0), Z[i : i + 1], 0.7, alpha) - X[i]) ** 2).sum() for i in range(30)
    ]
    assert np.allclose(closed, refits, rtol=1e-7)


def test_leave_one_out_of_landmarks_equals_refits(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    Z, alpha = np.sort(scores(40), axis=0), 1e-2  # the first block is unlike the others
    X = bent(Z)
    basis = module._nystrom(Z, Z[:8], 0.7)
    A, Y = basis.features(Z)[0], X - X.mean(axis=0)
    assert np.allclose(A.T @ A, np.diag(basis.S), atol=1e-9)
    closed = leave_one_out(A, basis.S, A.T @ Y, Y, alpha, 40)
    for i in (0, 17, 39):
        B, R = np.delete(A, i, 0), np.delete(X, i, 0)
        m, x = B.mean(axis=0), R.mean(axis=0)
        w = np.linalg.solve((B - m).T @ (B - m) + alpha * np.eye(A.shape[1]), (B - m).T @ (R - x))
        assert np.isclose(closed[i], (((A[i] - m) @ w + x - X[i]) ** 2).sum(), rtol=1e-8)


def test_the_penalty_is_the_best_of_the_grid():
    Z = scores(60)
    X = bent(Z, noise=0.5)
    found = fit_ridge(Z, X, gamma=0.5)
    tried = [fit_ridge(Z, X, gamma=0.5, alpha=a).loo for a in module.ALPHAS]
    assert found.alpha == module.ALPHAS[int(np.argmin(tried))]
    assert found.loo == min(tried)
    assert 1e-9 < found.alpha < 50  # noise wants a penalty, and the grid has room on both sides


def test_curves_are_learned_and_the_mean_is_kept():
    Z, T = scores(300), 0.8 * scores(100, seed=5)
    found, error, _ = fit_ridge(Z, bent(Z)).predict(T)
    truth = bent(T, noise=0.0)
    off = np.linalg.norm(found - truth, axis=1)
    assert np.sqrt((off**2).mean()) < 0.05  # noise of 0.05 in each of 5 columns, averaged over neighbours
    # what is predicted is the distance to a row with its noise, √5·0.05
    assert 0.8 < np.sqrt((error**2).mean()) / (np.sqrt(5) * 0.05) < 1.3


def test_a_large_mean_changes_nothing():
    Z, T = scores(80), scores(10, seed=5)
    X = bent(Z)
    near, far = fit_ridge(Z, X), fit_ridge(Z, X + 1e6)
    assert near.alpha == far.alpha
    assert np.allclose(near.predict(T)[0] + 1e6, far.predict(T)[0], atol=1e-7)


def test_far_from_all_rows_the_error_is_the_whole_spread():
    Z = scores(100)
    X = bent(Z)
    ridge = fit_ridge(Z, X)
    _, error, _ = ridge.predict(np.array([[200.0, 200.0], [0.0, 0.0]]))
    spread = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert error[0] > 0.9 * spread
    assert error[1] < 0.1 * spread


def test_many_rows_go_through_centres_and_no_large_matrix(monkeypatch):
    Z, T = scores(1500), scores(50, seed=5)
    X = bent(Z)
    exact = fit_ridge(Z, X)
    largest = []

    def watched(A, B, gamma):
        largest.append(len(A) * len(B))
        return rbf(A, B, gamma)

    monkeypatch.setattr(module, "EXACT", 1000)
    monkeypatch.setattr(module, "CENTRES", 200)
    monkeypatch.setattr(module, "JUDGED", 500)
    monkeypatch.setattr(module, "rbf", watched)
    few = fit_ridge(Z, X)
    assert max(largest) <= max(1024 * 200, module.TRIAL**2)
    assert abs(few.loo / exact.loo - 1) < 0.05
    assert np.sqrt(((few.predict(T)[0] - exact.predict(T)[0]) ** 2).sum(axis=1).mean()) < 0.02


@pytest.mark.parametrize("kept", [module.KEPT, 0])
def test_sparse_rows_equal_dense_rows(monkeypatch, kept):
    monkeypatch.setattr(module, "KEPT", kept)
    Z, T = scores(60), scores(10, seed=5)
    X = bent(Z, d=100)
    X[X < 9] = 0
    dense, sparse = fit_ridge(Z, X), fit_ridge(Z, scipy.sparse.csr_array(X))
    assert (sparse.left is None) == (kept > 0)
    assert sparse.alpha == dense.alpha
    for a, b in zip(dense.predict(T), sparse.predict(T), strict=True):
        assert np.allclose(a, b, atol=1e-8)
        assert isinstance(b, np.ndarray)


def test_many_columns_are_judged_through_a_projection(monkeypatch):
    Z, T = scores(80), scores(10, seed=5)
    X = bent(Z, d=600)
    found = fit_ridge(Z, X)
    assert found.predict(T)[0].shape == (10, 600)
    basis = found.basis
    A, Y = basis.features(Z)[0], X - X.mean(axis=0)
    truth = np.sqrt(leave_one_out(A, basis.S, A.T @ Y, Y, found.alpha, 80).mean())
    assert abs(found.loo / truth - 1) < 0.1
    for kept in (module.KEPT, 0):  # both ways to keep coefficients of CSR rows; a small penalty magnifies rounding
        monkeypatch.setattr(module, "KEPT", kept)
        sparse = fit_ridge(Z, scipy.sparse.csr_array(X), alpha=found.alpha, gamma=basis.gamma)
        assert np.allclose(sparse.predict(T)[0], found.predict(T)[0], atol=1e-7)


def test_one_row_and_equal_rows_give_the_mean():
    found = fit_ridge(np.zeros((1, 2)), np.array([[3.0, 4.0]])).predict(np.ones((2, 2)))[0]
    assert np.allclose(found, [[3, 4], [3, 4]])
    found = fit_ridge(np.zeros((5, 2)), np.arange(10.0).reshape(5, 2)).predict(np.zeros((1, 2)))[0]
    assert np.allclose(found, [[4, 5]])


@pytest.mark.parametrize("mean", [0.0, 10.0])
def test_training_rows_come_back_from_many_components(mean):
    X = np.random.default_rng(0).standard_normal((120, 3)) + mean
    kernel = RBF(0.1)
    K = kernel(X)
    J = np.eye(120) - 1 / 120
    values, U = np.linalg.eigh(J @ K @ J)
    Z = (U * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, :60]
    found = fit_ridge(Z, X).predict(Z)[0]
    assert np.max(np.abs(found - X)) < 1e-3


@pytest.mark.parametrize("n", [300, 2100])
@pytest.mark.parametrize("alpha", [None, 1e-3])
def test_rows_alone_are_those_that_come_with_errors(seed, n, alpha):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, 6)) + 5
    model = ritz.KernelPCA(4, kernel="rbf", gamma=0.05, alpha=alpha).fit(X)
    T = np.concatenate([model.transform(X[:50]), [[30.0, -30, 30, 1]]])  # one far from all of them
    whole = model.preimages(T, "ridge")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        rows = model.inverse_transform(T, "ridge")
    assert np.isfinite(whole.error).all()
    assert np.abs(rows - whole.rows).max() <= 1e-7 * np.abs(X).max()
