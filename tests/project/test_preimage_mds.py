"""Pre-images from distances, against points at known distances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from ritz._core.errors import ParameterError
from ritz.kernels import RBF, Linear, Polynomial
from ritz.project.kernel import KernelMap
from ritz.project.preimage.mds import invertible, mds_rows, trilaterate
from ritz.project.preimage.preimage import known_rows


def rows(n: int, d: int = 3, seed: int = 0, mean: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(2, 0.5, d) + mean


def fitted(kernel, X, k: int):
    prepared = kernel.prepare(X)
    K = kernel.matrix(prepared, prepared)
    J = np.eye(len(K)) - 1 / len(K)
    values, U = np.linalg.eigh(J @ K @ J)
    values, U = values[::-1][:k], U[:, ::-1][:, :k]
    held = KernelMap.exact(kernel, prepared, U / np.sqrt(values), K.mean(axis=1), K.mean(), values)
    return held, known_rows(held, scores=U * np.sqrt(values))


@pytest.mark.parametrize("common", [0.0, 2.5])
def test_true_distances_give_the_point_whatever_they_have_in_common(common):
    X, z = rows(70, 4, mean=5.0).reshape(7, 10, 4), rows(7, 4, seed=1, mean=5.0)
    square = ((X - z[:, None, :]) ** 2).sum(axis=2) + common
    found, error = trilaterate(X, square)
    assert np.max(np.abs(found - z)) < 1e-10
    assert np.allclose(error, np.sqrt(common), atol=1e-6)


def test_a_point_above_the_plane_of_its_neighbours_is_projected_and_its_height_told():
    X = np.zeros((1, 10, 3))
    X[0, :, :2] = rows(10, 2)
    found, error = trilaterate(X, ((X - [0.3, -0.2, 0.7]) ** 2).sum(axis=2))
    assert np.allclose(found, [[0.3, -0.2, 0.0]], atol=1e-12)
    assert np.allclose(error, 0.7)


def test_distances_that_contradict_each_other_stay_bounded():
    X = rows(10, 3).reshape(1, 10, 3) * [1.0, 1.0, 1e-4]  # hardly any width in one direction
    square = ((X - 0.1) ** 2).sum(axis=2) + np.random.default_rng(0).uniform(0, 0.5, (1, 10))
    found, _ = trilaterate(X, square)
    assert np.linalg.norm(found - X.mean(axis=1)) <= np.sqrt(square).mean() + 1e-12


def test_equal_neighbours_are_the_answer():
    found, error = trilaterate(np.full((1, 4, 2), 3.0), np.zeros((1, 4)))
    assert np.array_equal(found, [[3.0, 3.0]])
    assert error[0] == 0


@pytest.mark.parametrize(
    ("kernel", "k"), [(RBF(0.02), 60), (Linear(), 3), (Polynomial(3, 0.1, 1.0), 19), (Polynomial(1, 0.5, 2.0), 3)]
)
def test_with_all_components_new_rows_come_back(kernel, k):
    X, Y = rows(150, mean=1.0), 0.7 * rows(20, seed=1) + 1
    held, known = fitted(kernel, X, k)
    found = mds_rows(known, held.forward(Y))
    assert np.max(np.abs(found.rows - Y)) < 1e-4


def test_sparse_rows_equal_dense_rows():
    X = np.maximum(rows(60, 5), 0)
    held, known = fitted(RBF(0.2), X, 8)
    T = held.forward(np.maximum(rows(6, 5, seed=1), 0))
    sparse = known_rows(held, scipy.sparse.csr_array(X), known.scores, known.error)
    assert np.allclose(mds_rows(sparse, T).rows, mds_rows(known, T).rows, atol=1e-12)


def test_points_far_from_everything_stay_finite():
    _, known = fitted(RBF(5.0), rows(50), 10)
    found = mds_rows(known, known.scores * 1e3)
    assert np.isfinite(found.rows).all()
    assert np.isfinite(found.error).all()


def test_kernels_that_hide_distances_are_refused():
    assert not invertible(Polynomial(2))
    _, known = fitted(Polynomial(2), rows(30), 3)
    with pytest.raises(ParameterError, match="tells distances"):
        mds_rows(known, known.scores)
