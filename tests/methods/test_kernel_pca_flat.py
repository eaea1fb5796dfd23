"""Kernels that hardly vary: centring takes nearly all of K away; every fit ends, with zeros where rounding is."""

from __future__ import annotations

import numpy as np
import pytest

from ritz import KernelPCA

pytestmark = pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")


def truth_of(X: np.ndarray, gamma: float) -> np.ndarray:
    """Eigenvalues of J K J from K − 1, which has digits of its own: expm1 of extended distances."""
    wide = X.astype(np.longdouble)
    D = np.square(wide[:, None, :] - wide[None, :, :]).sum(axis=2)
    K = np.expm1(-np.longdouble(gamma) * D)
    K = K - K.mean(axis=0)
    K = (K - K.mean(axis=1)[:, None]).astype(np.float64)
    return np.linalg.eigvalsh((K + K.T) / 2)[::-1]


@pytest.mark.parametrize(("d", "k", "scale"), [(1, 2, 1e-3), (2, 20, 1e-3), (3, 20, 1e-5), (2, 30, 1e-8)])
def test_the_iterative_route_ends(d, k, scale):
    X = scale * np.random.default_rng(d).standard_normal((1210, d))
    model = KernelPCA(k, kernel="rbf", solver="krylov").fit(X)
    certificate, truth = model.certificate_, truth_of(X, 1 / d)
    assert model.plan_.solver == "krylov"
    assert len(model.eigenvalues_) == k
    known = certificate.labelled
    slack = 1e-13 * truth[0]
    assert np.all((certificate.lower - slack <= truth[:k])[known])
    assert np.all((truth[:k] <= certificate.upper + slack)[known])
    assert np.all(np.abs(model.eigenvalues_ - truth[:k]) <= certificate.rounding + 1e-6 * truth[0])


@pytest.mark.parametrize("solver", ["krylov", "lanczos", "chebyshev", "power"])
def test_more_components_than_rounding_leaves(solver):
    X = 1e-4 * np.random.default_rng(0).standard_normal((300, 2))
    model = KernelPCA(12, kernel="rbf", solver=solver).fit(X)
    assert np.count_nonzero(model.eigenvalues_) <= 5
    assert model.eigenvalues_[:2] == pytest.approx(truth_of(X, 0.5)[:2], rel=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
def test_rows_that_are_all_the_same(kernel):
    model = KernelPCA(5, kernel=kernel, solver="krylov").fit(np.full((1010, 3), 0.1))
    assert not np.any(model.eigenvalues_)


def test_a_constant_kernel_matrix():
    model = KernelPCA(5, kernel="precomputed", solver="krylov").fit(np.ones((1010, 1010)))
    assert not np.any(model.eigenvalues_)
