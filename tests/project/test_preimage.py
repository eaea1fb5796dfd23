"""Rows from scores: the linear kernel, neighbours in feature space, and which method is taken."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from ritz._core.errors import InputError, ParameterError
from ritz.kernels import RBF, Callable, Cosine, Linear, Polynomial, Precomputed, Sigmoid, Spectrum
from ritz.kernels.nystrom import nystrom_map
from ritz.project.kernel import FeatureMapped, KernelMap
from ritz.project.preimage.preimage import (
    choose_method,
    expansion,
    feature_distance,
    fit_ridge,
    known_rows,
    neighbours,
    preimages,
)


def rows(n: int, d: int = 4, seed: int = 0, mean: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(2, 0.5, d) + mean


def fitted(kernel, X, k: int):
    """An exact model from the dense centred matrix, and the training rows with their scores."""
    prepared = kernel.prepare(X)
    K = kernel.matrix(prepared, prepared).astype(np.float64)
    J = np.eye(len(K)) - 1 / len(K)
    values, U = np.linalg.eigh(J @ K @ J)
    values, U = values[::-1][:k], U[:, ::-1][:, :k]
    held = KernelMap.exact(kernel, prepared, U / np.sqrt(values), K.mean(axis=1), K.mean(), values)
    return held, known_rows(held, scores=U * np.sqrt(values))


def linear_truth(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:k]
    return (Y - X.mean(axis=0)) @ V.T @ V + X.mean(axis=0)


# ------------------------------------------------------------------------------------------------ linear kernel


@pytest.mark.parametrize("mean", [0.0, 10.0])
def test_linear_kernel_equals_the_inverse_of_pca(mean):
    X, Y = rows(50, mean=mean), rows(20, seed=1, mean=mean)
    held, known = fitted(Linear(), X, 2)
    found = preimages(known, held.forward(Y))
    assert found.method == "linear"
    assert np.max(np.abs(found.rows - linear_truth(X, Y, 2))) < 1e-10
    assert np.all(found.error == 0)


def test_linear_kernel_through_features_landmarks_and_sparse_rows():
    X, Y = rows(50, mean=3.0), rows(20, seed=1, mean=3.0)
    truth = linear_truth(X, Y, 2)
    V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2].T
    features = FeatureMapped(Linear(), Linear().feature_map(X), X.mean(axis=0), V, np.ones(2))
    assert np.allclose(preimages(known_rows(features, X), features.forward(Y)).rows, truth, atol=1e-10)

    made = nystrom_map(Linear(), Linear().prepare(X[:4]))  # four landmarks span everything
    phi = made.transform(X)
    axes = np.linalg.svd(phi - phi.mean(axis=0), full_matrices=False)[2][:2].T
    few = KernelMap.nystrom(Linear(), made.landmarks, made.inverse, axes, phi.mean(axis=0), np.ones(2))
    assert np.allclose(preimages(known_rows(few), few.forward(Y)).rows, truth, atol=1e-9)

    held, known = fitted(Linear(), scipy.sparse.csr_array(X), 2)
    assert np.allclose(preimages(known, held.forward(scipy.sparse.csr_array(Y))).rows, truth, atol=1e-10)


# ---------------------------------------------------------------------------------------- distances, neighbours


def test_distances_of_neighbours_are_those_between_explicit_features():
    kernel, X, T = Polynomial(2, 0.5, 1.0), rows(60), rows(7, 3, seed=5)
    _, known = fitted(kernel, X, 3)
    phi = kernel.feature_map(X).transform(X)
    mean = phi.mean(axis=0)
    axes = known.map.dual.T @ (phi - mean)
    P = mean + T @ axes
    truth = np.sqrt(((P[:, None, :] - phi[None]) ** 2).sum(axis=2))
    found = neighbours(known, T, 60, weights=True)
    assert np.allclose(found.distance, np.sort(truth, axis=1), rtol=1e-10)
    assert np.array_equal(found.index, np.argsort(truth, axis=1))
    assert np.allclose(found.weights @ phi, P, atol=1e-10)
    assert np.allclose(known.map.norms(T), (P**2).sum(axis=1), rtol=1e-11)
    few = neighbours(known, T, 4)
    assert few.weights is None
    assert np.array_equal(few.index, found.index[:, :4])


def test_neighbours_over_several_blocks_of_known_rows(monkeypatch):
    _, known = fitted(RBF(0.2), rows(90), 4)
    T = rows(30, seed=3)
    whole = neighbours(known, T, 5)
    monkeypatch.setattr("ritz.project.preimage.known.COLS", 7)
    monkeypatch.setattr("ritz.project.preimage.known.ROWS", 4)
    parts = neighbours(known, T, 5)
    assert np.array_equal(whole.index, parts.index)
    assert np.array_equal(whole.distance, parts.distance)


def test_all_scores_of_a_training_row_name_that_row():
    _, known = fitted(RBF(0.2), rows(50), 45)  # with few, a row that the model fits better may be nearer
    assert np.array_equal(neighbours(known, known.scores, 1).index[:, 0], np.arange(50))


def test_strings_have_neighbours_and_weights():
    kernel, names = Spectrum(2), ["simpson bart", "simpson lisa", "flanders ned", "flanders tod", "van houten milhouse"]
    phi = kernel.feature_map(names)
    counts = np.asarray(phi.transform(names).toarray(), float)
    mean = counts.mean(axis=0)
    _, s, Vt = np.linalg.svd(counts - mean, full_matrices=False)
    held = FeatureMapped(kernel, phi, mean, Vt[:2].T, s[:2] ** 2)
    known = known_rows(held, names)
    T = held.forward(["simpson abe", "flanders maude"])
    found = neighbours(known, T, 2)
    assert [{names[j].split()[0] for j in row} for row in found.index] == [{"simpson"}, {"flanders"}]
    assert np.allclose(expansion(known, T) @ counts, mean + T @ Vt[:2], atol=1e-10)
    with pytest.raises(ParameterError, match=r"neighbours\(\.\.\.\)"):
        preimages(known, T)


def test_feature_distance_is_the_length_between_image_and_point():
    kernel, X, Y, T = Polynomial(2, 0.5, 1.0), rows(40), rows(6, seed=2), rows(6, 3, seed=3)
    _, known = fitted(kernel, X, 3)
    phi = kernel.feature_map(X)
    P = expansion(known, T) @ phi.transform(X)
    assert np.allclose(feature_distance(known, Y, T), np.linalg.norm(phi.transform(Y) - P, axis=1), rtol=1e-9)


def test_known_rows_need_no_kernel_for_the_errors_of_training_rows():
    X = rows(40)
    held, known = fitted(RBF(0.3), X, 5)
    again = known_rows(held, X)
    assert np.allclose(known.error, again.error, atol=1e-12)
    assert np.allclose(known.scores, again.scores, atol=1e-11)


# ----------------------------------------------------------------------------------------------------- choosing


@pytest.mark.parametrize(
    ("kernel", "method"),
    [
        (Linear(), "linear"),
        (RBF(1.0), "fixed-point"),
        (Cosine(), "ridge"),
        (Sigmoid(), "ridge"),
        (Precomputed(), "neighbours"),
        (Spectrum(3), "neighbours"),
        (Callable(min), "neighbours"),
    ],
)
def test_auto_says_what_and_why(kernel, method):
    choice = choose_method(kernel)
    assert choice.method == method
    assert choice.reason


def test_a_function_of_vectors_has_pre_images():
    assert choose_method(Callable(min), vectors=True).method == "ridge"
    assert choose_method(Precomputed(), vectors=True).method == "neighbours"
    X = rows(60, mean=10.0)
    held, known = fitted(Callable(lambda x, y: np.exp(-0.1 * np.sum((x - y) ** 2))), X, 20)
    found = preimages(known, held.forward(X[:5]), distance=True)
    assert np.max(np.abs(found.rows - X[:5])) < 0.3
    assert found.distance is not None


def test_rows_come_in_the_precision_of_the_scores():
    _, known = fitted(RBF(0.2), rows(40), 5)
    ridge = fit_ridge(known.scores, known.rows)
    T = known.scores[:4].astype(np.float32)
    assert preimages(known, T, ridge=ridge).rows.dtype == np.float32
    assert preimages(known, T.astype(np.float64), ridge=ridge).rows.dtype == np.float64


def test_wrong_requests_are_refused():
    _, known = fitted(RBF(0.2), rows(40), 5)
    with pytest.raises(ParameterError, match="fixed-point"):
        preimages(known, known.scores, "magic")
    with pytest.raises(InputError, match="5 columns"):
        preimages(known, known.scores[:, :4])
    with pytest.raises(InputError, match="finite"):
        preimages(known, known.scores * np.nan)
    with pytest.raises(ParameterError, match="linear kernel"):
        preimages(known, known.scores, "linear")
