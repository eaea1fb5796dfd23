"""Coordinates and scores under a kernel model, against explicit features and kernel matrices written out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.kernels import RBF, Linear, Polynomial, Precomputed, Spectrum
from ritz.kernels.nystrom import nystrom_map
from ritz.project.kernel import FeatureMapped, KernelMap


def rows(n: int, d: int = 3, seed: int = 0, mean: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(2, 0.5, d) + mean


def fitted(kernel, X, k: int):
    """An exact model from the dense centred matrix: the map and the scores of the training rows, U√λ."""
    prepared = kernel.prepare(X)
    K = kernel.matrix(prepared, prepared).astype(np.float64)
    n = len(K)
    J = np.eye(n) - 1 / n
    values, U = np.linalg.eigh(J @ K @ J)
    values, U = values[::-1][:k], U[:, ::-1][:, :k]
    return KernelMap.exact(kernel, prepared, U / np.sqrt(values), K.mean(axis=1), K.mean(), values), U * np.sqrt(values)


def explicit(phi: np.ndarray, new: np.ndarray, k: int):
    """Coordinates, squared distance to the mean and to the plane, from features written out."""
    m = phi.mean(axis=0)
    V = np.linalg.svd(phi - m, full_matrices=False)[2][:k].T
    C = new - m
    rest = C - C @ V @ V.T
    return C @ V, (C**2).sum(axis=1), (rest**2).sum(axis=1)


def same_up_to_signs(A: np.ndarray, B: np.ndarray, tol: float) -> bool:
    return bool(np.max(np.abs(A * np.sign((A * B).sum(axis=0)) - B)) < tol)


@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(3, 0.3, 1.0), Linear()])
def test_training_rows_get_their_scores_back(kernel, seed):
    X = rows(700, seed=seed)  # two row tiles
    found, Z = fitted(kernel, X, 3)
    assert np.max(np.abs(found.forward(X) - Z)) < 1e-10 * np.max(np.abs(Z))


def test_new_rows_equal_the_centred_kernel_written_out():
    X, Y = rows(60), rows(9, seed=1)
    found, _ = fitted(RBF(0.3), X, 5)
    K, N = RBF(0.3)(X), RBF(0.3)(Y, X)
    centred = N - K.mean(axis=1) - N.mean(axis=1)[:, None] + K.mean()
    values, U = np.linalg.eigh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    truth = centred @ U[:, ::-1][:, :5] / np.sqrt(values[::-1][:5])
    assert same_up_to_signs(found.forward(Y), truth, 1e-11)


def test_scores_equal_distances_between_explicit_features():
    kernel = Polynomial(2, 0.5, 1.0)
    X, Y = rows(50), 2 * rows(20, seed=1)
    found, _ = fitted(kernel, X, 4)
    phi = kernel.feature_map(X)
    F, spherical, error = explicit(phi.transform(X), phi.transform(Y), 4)
    scores = found.scores(Y)
    scale = spherical.max()
    assert same_up_to_signs(scores.coordinates, F, 1e-10 * scale)
    assert np.max(np.abs(scores.potential - spherical)) < 1e-12 * scale
    assert np.max(np.abs(scores.reconstruction_error - error)) < 1e-12 * scale
    assert np.max(np.abs(scores.activation - np.abs(F).sum(axis=1))) < 1e-10 * scale
    assert np.array_equal(found.reconstruction_error(Y), scores.reconstruction_error)
    assert np.array_equal(found.potential(Y), scores.potential)
    assert np.array_equal(found.activation(Y), scores.activation)


def test_errors_of_rows_on_the_plane_are_zero_never_negative():
    X = rows(40, 2)
    found, _ = fitted(Linear(), X, 2)
    error = found.reconstruction_error(X)
    assert np.all(error >= 0)
    assert np.max(error) < 1e-12


def test_float32_rows_give_float32_near_float64():
    X, Y = rows(300), rows(50, seed=1)
    wide, _ = fitted(RBF(0.2), X, 4)
    narrow = KernelMap.exact(RBF(0.2), RBF(0.2).prepare(X.astype(np.float32)), wide.dual, wide.row_means, wide.grand,
                             wide.values)  # fmt: skip
    for got, want in zip(
        vars(narrow.scores(Y.astype(np.float32))).values(), vars(wide.scores(Y)).values(), strict=True
    ):
        assert got.dtype == np.float32
        assert want.dtype == np.float64
        assert np.max(np.abs(got - want)) < 2e-5 * max(np.max(np.abs(want)), 1)
    assert narrow.forward(Y).dtype == np.float64
    assert np.max(np.abs(narrow.forward(Y) - wide.forward(Y))) < 2e-6  # the rows are those of float32, no more
    assert wide.forward(Y.astype(np.float32)).dtype == np.float32


def test_a_kernel_that_hardly_varies_keeps_its_digits_in_float32():
    X = rows(200)
    kernel = RBF(1e-4)
    wide, Z = fitted(kernel, X, 2)
    narrow = KernelMap.exact(kernel, kernel.prepare(X.astype(np.float32)), wide.dual, wide.row_means, wide.grand,
                             wide.values)  # fmt: skip
    assert np.max(np.abs(narrow.forward(X.astype(np.float32)) - Z)) < 1e-3 * np.max(np.abs(Z))


def test_rounding_of_float32_shifts_no_coordinate():
    kernel, X, Y = RBF(1e-4), rows(200).astype(np.float32), rows(4000, seed=3).astype(np.float32)
    wide, _ = fitted(kernel, X.astype(np.float64), 2)
    narrow = KernelMap.exact(kernel, kernel.prepare(X), wide.dual, wide.row_means, wide.grand, wide.values)
    off = narrow.forward(Y, dtype=np.float64) - wide.forward(Y.astype(np.float64))
    assert np.all(np.abs(off.mean(axis=0)) < 5 / np.sqrt(4000) * off.std(axis=0))  # what is left is random


def test_a_dual_that_does_not_quite_sum_to_zero_is_mended():
    X = rows(50)
    found, Z = fitted(RBF(0.2), X, 3)
    tilted = KernelMap.exact(found.kernel, found.rows, found.dual + 1e-3, found.row_means, found.grand, found.values)
    assert np.max(np.abs(tilted.forward(X) - Z)) < 1e-10


def test_only_new_rows_meet_the_training_rows():
    seen = []

    @dataclass(frozen=True)
    class Counted(RBF):
        def tile(self, A, B, rows, cols, out=None):
            seen.append((rows.stop - rows.start) * (cols.stop - cols.start))
            return super().tile(A, B, rows, cols, out)

    kernel = Counted(0.2)
    found = KernelMap.exact(kernel, kernel.prepare(rows(5000)), np.ones((5000, 2)), np.zeros(5000), 0.0, np.ones(2))
    found.scores(rows(30, seed=1))
    assert sum(seen) == 30 * 5000
    assert max(seen) <= 512 * 4096


def test_sparse_rows_equal_dense_rows():
    X = np.maximum(rows(80, 6), 0)
    found, _ = fitted(RBF(0.2), scipy.sparse.csr_array(X), 3)
    dense, _ = fitted(RBF(0.2), X, 3)
    Y = np.maximum(rows(10, 6, seed=2), 0)
    assert same_up_to_signs(found.forward(scipy.sparse.csr_array(Y)), dense.forward(Y), 1e-11)


def test_batches_are_the_rows_in_order():
    found, _ = fitted(RBF(0.2), rows(100), 3)
    assert np.array_equal(np.concatenate(list(found.batches(MemoryBlocks(rows(100))))), found.forward(rows(100)))


def test_precomputed_rows_take_their_own_diagonal():
    X, Y = rows(40), rows(6, seed=1)
    found, _ = fitted(Precomputed(), RBF(0.2)(X), 3)
    vectors, _ = fitted(RBF(0.2), X, 3)
    N = RBF(0.2)(Y, X)
    assert same_up_to_signs(found.forward(N), vectors.forward(Y), 1e-12)
    assert np.allclose(found.potential(N, diagonal=np.ones(6)), vectors.potential(Y), atol=1e-13)
    with pytest.raises(InputError, match="k\\(x, x\\) of new rows"):
        found.reconstruction_error(N)


def test_rows_that_are_not_finite_are_named():
    found, _ = fitted(Polynomial(2), rows(20), 2)
    Y = rows(5)
    Y[3, 1] = np.nan
    with pytest.raises(NonFiniteError, match="row 13"):
        found.forward(Y, start=10)


def test_weighted_rows_equal_copies():
    X, w = rows(30), np.repeat([1, 2, 3], 10)
    copies, _ = fitted(RBF(0.3), np.repeat(X, w, axis=0), 3)
    dual = np.add.reduceat(copies.dual, np.concatenate([[0], np.cumsum(w)[:-1]]))
    share, kernel = w / w.sum(), RBF(0.3)
    K = kernel(X)
    found = KernelMap.exact(kernel, kernel.prepare(X), dual, K @ share, share @ K @ share, copies.values, share)
    Y = rows(8, seed=1)
    assert np.allclose(found.forward(Y), copies.forward(Y), atol=1e-11)
    assert np.allclose(found.reconstruction_error(Y), copies.reconstruction_error(Y), atol=1e-12)


def test_negative_eigenvalues_count_against_the_norm():
    X = rows(30)
    found, _ = fitted(RBF(0.3), X, 2)
    krein = KernelMap(found.kernel, found.rows, found.dual, found.row_means, found.grand, found.values * [1, -1])
    F, p = found.forward(X), found.potential(X)
    assert np.allclose(krein.reconstruction_error(X), p - F[:, 0] ** 2 + F[:, 1] ** 2)


# ------------------------------------------------------------------------------------------ explicit and Nyström


def nystrom(kernel, X, landmarks, k):
    made = nystrom_map(kernel, kernel.prepare(landmarks))
    phi = made.transform(X)
    mean = phi.mean(axis=0)
    s, Vt = np.linalg.svd(phi - mean, full_matrices=False)[1:]
    return made, mean, Vt[:k].T, s[:k] ** 2, (phi - mean) @ Vt[:k].T


@pytest.mark.parametrize("gamma", [0.3, 0.01])
def test_nystrom_as_dual_equals_nystrom_as_features_and_true_distances(gamma):
    kernel = RBF(gamma)
    X, Y = rows(300), rows(40, seed=1) * 1.5
    made, mean, V, values, Z = nystrom(kernel, X, X[:40], 3)
    dual = KernelMap.nystrom(kernel, made.landmarks, made.inverse, V, mean, values)
    features = FeatureMapped(kernel, made, mean, V, values, made.landmarks)
    assert np.max(np.abs(dual.forward(X) - Z)) < 1e-8
    assert np.max(np.abs(features.forward(X) - Z)) < 1e-12
    a, b = dual.scores(Y), features.scores(Y)
    for name in vars(a):
        assert np.max(np.abs(getattr(a, name) - getattr(b, name))) < 1e-8, name
    # ‖φ(x) − m‖² from the whole kernel matrix of new rows and landmarks
    W = made.inverse @ mean
    K = kernel(np.concatenate([Y, X[:40]]))
    c = np.hstack([np.eye(40), -np.tile(W, (40, 1))])
    assert np.allclose(a.potential, np.einsum("ij,jk,ik->i", c, K, c), atol=1e-9)
    c -= np.hstack([np.zeros((40, 40)), a.coordinates @ (made.inverse @ V).T])
    assert np.allclose(a.reconstruction_error, np.einsum("ij,jk,ik->i", c, K, c), atol=1e-9)


def test_nystrom_with_all_rows_is_exact():
    kernel, X, Y = RBF(0.5), rows(60), rows(20, seed=1)
    made, mean, V, values, _ = nystrom(kernel, X, X, 4)
    exact, _ = fitted(kernel, X, 4)
    found = KernelMap.nystrom(kernel, made.landmarks, made.inverse, V, mean, values)
    assert same_up_to_signs(found.forward(Y), exact.forward(Y), 1e-7)
    assert np.allclose(found.reconstruction_error(Y), exact.reconstruction_error(Y), atol=1e-8)


def test_explicit_features_with_a_large_mean():
    X, Y = rows(200, 5), rows(10, 5, seed=1)
    F, spherical, error = explicit(X, Y, 2)
    V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2].T
    far = FeatureMapped(Linear(), Linear().feature_map(X), (X + 1e4).mean(axis=0), V, np.ones(2))
    scores = far.scores(Y + 1e4)
    assert same_up_to_signs(scores.coordinates, F, 1e-9)
    assert np.allclose(scores.potential, spherical, atol=1e-9)
    assert np.allclose(scores.reconstruction_error, error, atol=1e-9)


def test_letters_never_seen_count_in_the_error_of_strings():
    kernel = Spectrum(2, normalize=False)
    train, new = ["abab", "abba", "baab", "aaab"], ["abab", "abzz"]
    phi = kernel.feature_map(train)
    counts = np.asarray(phi.transform(train).toarray(), float)
    m = counts.mean(axis=0)
    V = np.linalg.svd(counts - m, full_matrices=False)[2][:2].T
    found = FeatureMapped(kernel, phi, m, V, np.ones(2))
    inside = np.asarray(phi.transform(new).toarray(), float)
    outside = np.array([0.0, 2.0])  # "bz" and "zz", once each
    truth = ((inside - m) ** 2).sum(axis=1) + outside
    assert np.allclose(found.potential(new), truth, atol=1e-12)
    assert np.allclose(found.reconstruction_error(new), truth - (((inside - m) @ V) ** 2).sum(axis=1), atol=1e-12)
