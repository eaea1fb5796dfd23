"""Rows far from the origin: the mean has more digits than a float64. Truth: means in exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ritz import KernelPCA, load, save
from ritz.kernels import RBF, Laplacian, Matern


def far(offset: float) -> np.ndarray:
    spread = 1.0 if offset < 1e10 else 1e3
    return np.random.default_rng(2).standard_normal((60, 4)) * np.array([8.0, 4.0, 2.0, 1.0]) * spread + offset


def centred(X: np.ndarray) -> np.ndarray:
    """X without its exact mean."""
    columns = []
    for column in X.T:
        exact = [Fraction(float(value)) for value in column]
        mean = sum(exact) / len(exact)
        columns.append([float(value - mean) for value in exact])
    return np.array(columns).T


@pytest.mark.parametrize("offset", [1e8, 1e12])
@pytest.mark.parametrize("solver", ["auto", "svd", "moments", "krylov", "lanczos"])
def test_the_linear_kernel_keeps_its_angles(offset, solver):
    X = far(offset)
    U, s, _ = np.linalg.svd(centred(X), full_matrices=False)
    model = KernelPCA(3, kernel="linear", solver=solver, tol=1e-13)
    Z = model.fit_transform(X)
    found = model.eigenvectors_
    for i in range(3):
        sine = np.linalg.norm(found[:, i] - U[:, i] * (U[:, i] @ found[:, i]))
        assert sine <= model.certificate_.angles[i] + 1e-14
    assert np.max(np.abs(model.transform(X) - Z)) <= 1e-13 * s[0]
    assert np.max(np.abs(np.abs(Z) - np.abs(U[:, :3] * s[:3]))) <= 1e-12 * s[0]


@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_a_saved_model_keeps_both_parts_of_the_mean(solver, tmp_path):
    X = far(1e12)
    model = KernelPCA(2, kernel="linear", solver=solver).fit(X)
    save(model, tmp_path / "model.ritz")
    assert np.array_equal(load(tmp_path / "model.ritz").transform(X), model.transform(X))


@pytest.mark.parametrize("offset", [1e8, 1e12])
@pytest.mark.parametrize("solver", ["svd", "krylov", "nystrom"])
def test_kernels_of_distances_do_not_feel_the_mean(offset, solver):
    X, unit = far(offset), 1.0 if offset < 1e10 else 1e3
    for kernel in (RBF(0.01 / unit**2), Laplacian(0.05 / unit), Matern(1.5, 8.0 * unit)):
        model = KernelPCA(3, kernel=kernel, solver=solver, tol=1e-13, landmarks=40)
        Z = model.fit_transform(X)
        near = KernelPCA(3, kernel=kernel, solver=solver, tol=1e-13, landmarks=40).fit(centred(X))
        assert model.eigenvalues_ == pytest.approx(near.eigenvalues_, rel=1e-12)
        assert np.max(np.abs(model.transform(X) - Z)) <= 1e-11 * np.max(np.abs(Z))


def test_float32_rows_at_mean_1e4():
    X = (np.random.default_rng(3).standard_normal((80, 3)) + 1e4).astype(np.float32)
    wide = centred(X.astype(np.float64))
    for kernel in (RBF(0.3), Laplacian(0.3)):
        found = KernelPCA(4, kernel=kernel, solver="svd").fit(X)
        truth = KernelPCA(4, kernel=kernel, solver="svd").fit(wide).eigenvalues_
        assert found.certificate_.values == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("kernel", [RBF(0.2), Matern(1.5, 1.0)])
def test_rows_of_the_fit_are_placed_where_they_are_however_far_apart_they_lie(kernel):
    X = np.random.default_rng(0).standard_normal((40, 4))
    X[:, 0] *= 1e8
    model = KernelPCA(3, kernel=kernel, solver="svd").fit(X)
    Z = model.eigenvectors_ * np.sqrt(model.certificate_.values)
    assert np.max(np.abs(model.transform(X) - Z)) <= 1e-6
    assert model.verify(X)
    near = X[:5] + np.array([0, 0.5, 0, 0])  # exp(−0.2·0.25) of the row itself, and nothing of others
    share = {"RBF": np.exp(-0.05)}.get(type(kernel).__name__)
    if share is not None:
        level = model.transform(X[:5] + np.array([0, 1e3, 0, 0]))  # near nothing at all
        np.testing.assert_allclose(model.transform(near) - level, share * (Z[:5] - level), atol=1e-6)
