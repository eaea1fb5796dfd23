"""Fixed-point pre-images, against the loop of the paper and a circle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from ritz._core.errors import InputError, ParameterError
from ritz.kernels import RBF, Polynomial
from ritz.kernels.nystrom import nystrom_map
from ritz.project.kernel import KernelMap
from ritz.project.preimage.fixed_point import _Ascent, _Field, fixed_point_rows
from ritz.project.preimage.preimage import feature_distance, known_rows


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


def naive(X, alphas, beta, gamma, z):
    """The iteration of the paper, one row, with the share of the mean in γ̃."""
    weights = alphas @ beta
    weights = weights + (1 - weights.sum()) / len(X)
    for _ in range(5000):
        terms = weights * np.exp(-gamma * ((X - z) ** 2).sum(axis=1))
        z = terms @ X / terms.sum()
    return z


@pytest.mark.parametrize("mean", [0.0, 10.0])
def test_rows_equal_the_loop_of_the_paper(mean):
    X, Y = rows(80, mean=mean), rows(12, seed=1, mean=mean)
    held, known = fitted(RBF(0.1), X, 6)
    T = held.forward(Y)
    found = fixed_point_rows(known, T, start=Y)
    assert found.converged.all()
    loop = np.array([naive(X, held.dual, t, 0.1, y) for t, y in zip(T, Y, strict=True)])
    assert np.max(np.abs(found.rows - loop)) < 1e-6


@pytest.mark.parametrize("mean", [0.0, 10.0])
def test_one_step_is_that_of_the_paper(mean):
    X, Y = rows(80, mean=mean), rows(12, seed=1, mean=mean)
    held, known = fitted(RBF(0.1), X, 6)
    weights = held.forward(Y) @ held.dual.T + 1 / 80
    terms = weights * np.exp(-0.1 * ((Y[:, None, :] - X) ** 2).sum(axis=2))
    found = fixed_point_rows(known, held.forward(Y), start=Y, iterations=1)
    assert np.allclose(found.rows, terms @ X / terms.sum(axis=1, keepdims=True), atol=1e-10)


def test_the_distance_is_that_in_feature_space_and_no_neighbouring_row_is_nearer():
    X, Y = rows(80), rows(12, seed=1)
    held, known = fitted(RBF(0.1), X, 6)
    T = held.forward(Y)
    found = fixed_point_rows(known, T)
    assert np.allclose(found.distance, feature_distance(known, found.rows, T), atol=1e-9)
    for step in np.vstack([np.eye(3), -np.eye(3)]) * 1e-2:
        assert np.all(feature_distance(known, found.rows + step, T) > found.distance)
    assert np.all(found.distance <= feature_distance(known, Y, T) + 1e-12)


def test_many_components_bring_training_rows_back():
    X = rows(60, mean=10.0)
    _, known = fitted(RBF(1.0), X, 59)
    found = fixed_point_rows(known, known.scores)
    assert np.max(np.abs(found.rows - X)) < 1e-6
    assert np.max(found.error) < 1e-5


def test_a_start_where_nothing_is_known_is_replaced_by_the_nearest_row():
    X = rows(80)
    held, known = fitted(RBF(0.5), X, 6)
    T = held.forward(rows(5, seed=1))
    lost = fixed_point_rows(known, T, start=np.full((5, 3), 1e3))
    near = fixed_point_rows(known, T)
    assert lost.converged.all()
    assert np.allclose(lost.rows, near.rows, atol=1e-6)


def test_points_that_no_row_is_near_are_reported():
    _, known = fitted(RBF(0.5), rows(80), 6)
    found = fixed_point_rows(known, -40 * np.sign(known.scores[:1]), iterations=3)
    assert np.isfinite(found.rows).all()
    few = fixed_point_rows(known, known.scores[:20] * 0.3, iterations=1)
    assert not few.converged.all()
    assert few.iterations == 1


def test_steps_never_leave_the_hill_they_climb():
    held, known = fitted(RBF(0.05), rows(80), 3)
    T = -3 * known.scores  # far outside: many negative weights, and plain steps overshoot
    field = _Field.over(known.rows, 0.05)
    G = held.coefficients(T)
    ascent = _Ascent(field, G, known.rows, np.tile(np.arange(10), (80, 1)))
    ascent.begin(known.rows - field.shift)
    plain, downhill = field.at(ascent.z, G), 0
    for _ in range(50):
        before = ascent.rho.copy()
        ascent.run(1)
        assert np.all(ascent.rho >= before - 1e-13)
        rho, mu = field.at(plain[1], G)
        downhill += int(((rho < plain[0] - 1e-6) & (plain[0] > 1e-6)).sum())
        plain = rho, mu
    assert downhill > 0  # else nothing was tested


def test_blocks_of_rows_change_nothing(monkeypatch):
    held, known = fitted(RBF(0.1), rows(80), 6)
    T = held.forward(rows(12, seed=1))
    whole = fixed_point_rows(known, T)
    monkeypatch.setattr("ritz.project.preimage.fixed_point.ENTRIES", 240)
    assert np.allclose(fixed_point_rows(known, T).rows, whole.rows, atol=1e-9)


def test_sparse_rows_equal_dense_rows():
    X = np.maximum(rows(60, 5), 0)
    dense, known = fitted(RBF(0.2), X, 5)
    T = dense.forward(np.maximum(rows(6, 5, seed=1), 0))
    other = KernelMap.exact(RBF(0.2), RBF(0.2).prepare(scipy.sparse.csr_array(X)), dense.dual, dense.row_means,
                            dense.grand, dense.values)  # fmt: skip
    found = fixed_point_rows(replace(known, map=other, rows=scipy.sparse.csr_array(X)), T)
    assert np.allclose(found.rows, fixed_point_rows(known, T).rows, atol=1e-7)


def test_landmarks_are_enough():
    kernel, X, Y = RBF(0.1), rows(200), rows(10, seed=1)
    made = nystrom_map(kernel, kernel.prepare(X[:60]))
    phi = made.transform(X)
    s, Vt = np.linalg.svd(phi - phi.mean(axis=0), full_matrices=False)[1:]
    few = KernelMap.nystrom(kernel, made.landmarks, made.inverse, Vt[:6].T, phi.mean(axis=0), s[:6] ** 2)
    held, known = fitted(kernel, X, 6)
    exact = fixed_point_rows(known, held.forward(Y))
    found = fixed_point_rows(known_rows(few), few.forward(Y))
    assert np.max(np.abs(found.rows - exact.rows)) < 0.05


def test_noise_is_taken_off_a_circle():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = clean + 0.15 * rng.standard_normal(clean.shape)
    train, test = noisy[:200], noisy[200:]
    held, known = fitted(RBF(2.0), train, 6)
    found = fixed_point_rows(known, held.forward(test), start=test).rows

    def off(points):
        return np.abs(np.linalg.norm(points, axis=1) - 1).mean()

    mean = train.mean(axis=0)
    v = np.linalg.svd(train - mean)[2][:1]
    linear = (test - mean) @ v.T @ v + mean
    assert off(found) < 0.6 * off(test)
    assert off(found) < 0.3 * off(linear)


def test_other_kernels_and_wrong_starts_are_refused():
    _, known = fitted(Polynomial(2), rows(30), 3)
    with pytest.raises(ParameterError, match="RBF kernel"):
        fixed_point_rows(known, known.scores)
    _, known = fitted(RBF(0.1), rows(30), 3)
    with pytest.raises(InputError, match="starts are rows"):
        fixed_point_rows(known, known.scores, start=np.zeros((2, 3)))
