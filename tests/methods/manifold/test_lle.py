"""LLE and its kin: the textbook's own answers, exact planes, new rows, components, copies, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ritz
from ritz.methods.manifold.weights import METHODS, alignment, barycentric


def sheet(n=300, seed=0, roll=True):
    """Rows on a sheet, rolled up or flat in 3 columns, and their true coordinates."""
    rng = np.random.default_rng(seed)
    t, height = rng.uniform(0, 3, n), rng.uniform(0, 2, n)
    X = np.c_[np.cos(t), np.sin(t), height] if roll else np.c_[t, height, t - 2 * height]
    return X, np.c_[t, height]


def affine_error(Y, truth):
    A = np.c_[np.ones(len(Y)), Y]
    left = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return np.linalg.norm(left, axis=0) / np.linalg.norm(truth - truth.mean(axis=0), axis=0)


def textbook_hessian(X, near, c):
    """Donoho and Grimes (2003), row by row, by Gram–Schmidt."""
    n = len(X)
    M = np.zeros((n, n))
    for i in range(n):
        P = X[near[i]] - X[near[i]].mean(axis=0)
        U = np.linalg.svd(P, full_matrices=False)[0][:, :c]
        columns = [np.ones(len(P)), *U.T, *(U[:, a] * U[:, b] for a in range(c) for b in range(a, c))]
        basis: list[np.ndarray] = []
        for column in columns:
            v = column.copy()
            for _ in range(2):
                for q in basis:
                    v = v - q * (q @ v)
            basis.append(v / np.linalg.norm(v))
        H = np.array(basis[1 + c :])
        M[np.ix_(near[i], near[i])] += H.T @ H
    return M


def textbook_ltsa(X, near, c):
    n = len(X)
    M = np.zeros((n, n))
    for i in range(n):
        P = X[near[i]] - X[near[i]].mean(axis=0)
        G = np.c_[np.ones(len(P)) / np.sqrt(len(P)), np.linalg.svd(P, full_matrices=False)[0][:, :c]]
        M[np.ix_(near[i], near[i])] += np.eye(len(P)) - G @ G.T
    return M


def test_hessian_lle_is_the_textbooks_and_not_local_tangent_space_alignment():
    X, _ = sheet(120)
    near = ritz.Neighbours(9).fit(X).kneighbors(return_distance=False)
    for method, book in (("hessian", textbook_hessian), ("ltsa", textbook_ltsa)):
        M = book(X, near, 2)
        B, flat = alignment(X, near, method, 2, 1e-3)
        assert flat == 0
        np.testing.assert_allclose((B.T @ B).toarray(), M, atol=1e-12)
        model = ritz.LLE(2, method=method, n_neighbors=9).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(M)[1:3], rtol=1e-8)
    assert np.abs(textbook_hessian(X, near, 2) - textbook_ltsa(X, near, 2)).max() > 0.1


def test_standard_weights_solve_their_equations():
    X, _ = sheet(60)
    near = ritz.Neighbours(6).fit(X).kneighbors(return_distance=False)
    B, _ = alignment(X, near, "standard", 2, 1e-3)
    for i in (0, 17, 59):
        P = X[near[i]] - X[i]
        G = P @ P.T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(6), np.ones(6))
        row = np.zeros(60)
        row[i], row[near[i]] = 1, -w / w.sum()
        np.testing.assert_allclose(B.toarray()[i], row, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_every_row_of_the_alignment_sums_to_zero(method):
    X, _ = sheet(80)
    near = ritz.Neighbours(8).fit(X).kneighbors(return_distance=False)
    B, _ = alignment(X, near, method, 2, 1e-3)
    np.testing.assert_allclose(B @ np.ones(80), 0, atol=1e-12)


@pytest.mark.parametrize("method", ["modified", "hessian", "ltsa"])
def test_a_rolled_sheet_is_unrolled(method):
    X, truth = sheet(600)
    model = ritz.LLE(2, method=method, n_neighbors=10).fit(X)
    assert affine_error(model.embedding_, truth).max() < 0.02
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / 600, np.eye(2), atol=1e-8)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_a_plane_has_a_null_space_and_the_certificate_says_so(method):
    X, truth = sheet(150, roll=False)
    model = ritz.LLE(2, method=method, n_neighbors=9).fit(X)
    assert affine_error(model.embedding_, truth).max() < 1e-6
    assert np.all(model.eigenvalues_ < 1e-20)
    assert np.all(model.certificate_.lower <= model.eigenvalues_)
    assert np.all(model.certificate_.upper >= 0)
    assert "gap" in str(model.certificate_)  # two axes of eigenvalue zero: each alone is arbitrary


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_the_fit_are_mapped_onto_themselves(method):
    X, _ = sheet(200)
    model = ritz.LLE(2, method=method, n_neighbors=9).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    np.testing.assert_allclose(model.transform(X[::-1]), model.embedding_[::-1], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_held_out_rows_are_placed_as_well_as_fitted_ones(method):
    X, truth = sheet(700, seed=1)
    whole = ritz.LLE(2, method=method, n_neighbors=12).fit(X).embedding_
    model = ritz.LLE(2, method=method, n_neighbors=12).fit(X[:500])
    A = np.c_[np.ones(500), model.embedding_]
    C = np.linalg.lstsq(A, truth[:500], rcond=None)[0]
    new = np.c_[np.ones(200), model.transform(X[500:])] @ C
    placed = np.linalg.norm(new - truth[500:])
    B = np.c_[np.ones(700), whole]
    fitted = (B @ np.linalg.lstsq(B, truth, rcond=None)[0])[500:]
    assert placed <= 1.5 * np.linalg.norm(fitted - truth[500:]) + 0.01 * np.linalg.norm(truth[500:])


@pytest.mark.parametrize("method", METHODS)
def test_components_are_embedded_each_by_itself(method):
    X, _ = sheet(300)
    far = np.vstack([X, X[:200] + 100])
    with pytest.warns(ritz.DisconnectedGraph, match="2 components, the largest of 300 rows, the smallest of 200"):
        model = ritz.LLE(2, method=method, n_neighbors=9).fit(far)
    for rows in (slice(0, 300), slice(300, 500)):
        Y = model.embedding_[rows]  # neither has shrunk
        np.testing.assert_allclose(Y.T @ Y / len(Y), np.eye(2), atol=1e-6)
    alone = ritz.LLE(2, method=method, n_neighbors=9).fit(X)
    np.testing.assert_allclose(model.spectra_[0], alone.eigenvalues_, rtol=1e-6)
    assert len(model.certificates_) == 2
    assert list(np.unique(model.component_labels_, return_counts=True)[1]) == [300, 200]
    assert model.verify(far)
    np.testing.assert_allclose(model.transform(far), model.embedding_, atol=1e-12)
    if method != "standard":  # a new row takes its coordinates from one component alone
        new = model.transform(X[:5] + 100.0 + 1e-7)
        np.testing.assert_allclose(new, model.embedding_[300:305], atol=1e-2)


def test_components_left_out_or_refused():
    X, _ = sheet(120)
    far = np.vstack([X, X[:40] + 100])
    with pytest.warns(ritz.DisconnectedGraph, match="left out"):
        model = ritz.LLE(2, n_neighbors=8, disconnected="largest").fit(far)
    assert np.isnan(model.embedding_[120:]).all()
    assert np.isfinite(model.embedding_[:120]).all()
    assert list(model.component_labels_[[0, 130]]) == [0, -1]
    with pytest.raises(ritz.InputError, match="a graph in one piece"):
        ritz.LLE(2, n_neighbors=8, disconnected="error").fit(far)


@pytest.mark.parametrize("method", METHODS)
def test_copies_are_one_node(method):
    X, _ = sheet(100)
    rows = np.vstack([X, np.repeat(X[:1], 30, axis=0), X[50:60]])  # more copies of a row than neighbours
    model = ritz.LLE(2, method=method, n_neighbors=9).fit(rows)
    alone = ritz.LLE(2, method=method, n_neighbors=9).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, rtol=1e-8)
    np.testing.assert_array_equal(model.embedding_[100:130], np.repeat(model.embedding_[:1], 30, axis=0))
    np.testing.assert_array_equal(model.embedding_[130:], model.embedding_[50:60])
    np.testing.assert_allclose(model.transform(rows), model.embedding_, atol=1e-12)
    assert model.verify(rows)


def test_many_axes_are_found_by_the_same_route():
    X = np.random.default_rng(0).standard_normal((400, 14))
    with pytest.warns(ritz.AccuracyWarning, match="8 rows are among the neighbours of no other"):
        model = ritz.LLE(10, method="ltsa", n_neighbors=14).fit(X)
    assert model.plan_.solver == "inverse"
    assert model.embedding_.shape == (400, 10)
    assert np.all(model.certificate_.labelled | (model.certificate_.angles <= np.pi))


def test_shifted_rows_give_the_same_answer():
    X, _ = sheet(150)
    near, far = (ritz.LLE(2, method="ltsa", n_neighbors=9).fit(rows) for rows in (X, X + 2.0**20))
    np.testing.assert_allclose(near.eigenvalues_, far.eigenvalues_, rtol=1e-4)


def test_neighbourhoods_without_directions_are_told():
    X = np.c_[np.arange(60.0), np.zeros(60), np.zeros(60)]
    with pytest.warns(ritz.AccuracyWarning, match="60 neighbourhoods of 60 have fewer than 2 directions"):
        ritz.LLE(2, method="ltsa", n_neighbors=6).fit(X)


def test_weights_of_neighbours_elsewhere_are_zero():
    P = np.random.default_rng(0).standard_normal((2, 5, 3))
    absent = np.array([[False, False, True, False, True], [False] * 5])
    w = barycentric(P, 1e-3, absent)
    assert np.all(w[0, [2, 4]] == 0)
    np.testing.assert_allclose(w.sum(axis=1), 1)
    np.testing.assert_allclose(w[0, [0, 1, 3]], barycentric(P[:1][:, [0, 1, 3]], 1e-3)[0])


@pytest.mark.parametrize(
    ("options", "rows", "words"),
    [
        ({"method": "hesian"}, 20, "method must be one of standard, modified, hessian, ltsa; received 'hesian'"),
        ({"n_neighbors": 25}, 20, "n_neighbors must be at most 19, the number of other rows"),
        ({"n_neighbors": 0}, 20, "n_neighbors must be a whole number"),
        (
            {"method": "hessian", "n_neighbors": 5},
            20,
            "needs at least 6 neighbours of each row; received n_n",
        ),
        ({"method": "hessian"}, 3, "needs at least 6 neighbours of each row; received 3 rows"),
        ({"n_components": 0.9}, 20, "n_components must be a whole number"),
        ({"n_components": 5, "n_neighbors": 2}, 3, "n_components must be at most 2"),
        ({"reg": 0}, 20, "reg must be a number > 0"),
        ({"disconnected": "join"}, 20, "disconnected must be one of apart, largest, error"),
        ({}, 1, "n_neighbors must be|at least 2 rows|needs at least"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_words(options, rows, words):
    X, _ = sheet(rows)
    with pytest.raises((ritz.ParameterError, ritz.InputError), match=words):
        ritz.LLE(**options).fit(X)


def test_rows_that_are_no_rows():
    X, _ = sheet(20)
    X[3, 1] = np.nan
    with pytest.raises(ritz.NonFiniteError):
        ritz.LLE(2).fit(X)
    with pytest.raises(ritz.InputError, match="copies of one row"):
        ritz.LLE(2, n_neighbors=3).fit(np.ones((9, 2)))
    with pytest.raises(ritz.ParameterError, match="which 4 are distinct"):
        ritz.LLE(2, n_neighbors=5).fit(np.repeat(np.eye(4), 5, axis=0))
    with pytest.raises(ritz.ParameterError, match="makes no use of weights"):
        ritz.LLE(2).fit(sheet(20)[0]).verify(sheet(20)[0], np.ones(20))
    model = ritz.LLE(2).fit(sheet(20)[0])
    with pytest.raises(ritz.NonFiniteError):
        model.transform(X)


def test_three_rows_have_two_axes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ritz.LLE(2, n_neighbors=2).fit(np.array([[0.0, 0], [1, 0], [0, 2]]))
    assert model.embedding_.shape == (3, 2)


def test_a_file_brings_the_model_back(tmp_path):
    X, _ = sheet(150)
    new = sheet(20, seed=3)[0]
    model = ritz.LLE(2, method="ltsa", n_neighbors=9).fit(X)
    ritz.save(model, tmp_path / "lle.ritz")
    again = ritz.load(tmp_path / "lle.ritz")
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.verify(X)


@pytest.mark.parametrize("model", [
    ritz.LLE(2, method="ltsa", n_neighbors=10), ritz.LaplacianEigenmaps(2, n_neighbors=10),
    ritz.DiffusionMaps(2, epsilon=0.05, t=2),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_rows_come_back_from_their_coordinates(model):
    X, _ = sheet(500)
    model.fit(X[:450])
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), X[:450])
    back = model.inverse_transform(model.transform(X[450:]))
    assert np.median(np.linalg.norm(back - X[450:], axis=1)) < 0.1 * np.linalg.norm(X.std(axis=0))
    with pytest.raises(ritz.InputError, match="coordinates of 2 components"):
        model.inverse_transform(np.ones((3, 4)))
    with pytest.warns(ritz.DisconnectedGraph):
        apart = ritz.LLE(2, n_neighbors=9).fit(np.vstack([X, X + 100]))
    with pytest.raises(ritz.ParameterError, match="LLE has no way back to rows"):
        apart.inverse_transform(np.zeros((1, 2)))


@pytest.mark.parametrize("method", ["ltsa", "hessian"])
def test_a_row_that_is_nobodys_neighbour_is_named(method):
    X = np.vstack([np.zeros((1, 3)), sheet(200)[0]])
    X[0] = X[1:].mean(axis=0)
    X[0, 0] += 30
    with pytest.warns(ritz.AccuracyWarning, match="row 0: method=.* an axis of its own"):
        model = ritz.LLE(2, method=method, n_neighbors=12).fit(X)
    assert model.eigenvalues_[0] < 1e-20
    assert np.abs(model.embedding_[0]).max() > 5 * np.abs(model.embedding_[1:]).max(axis=0).min()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ritz.LLE(2, method=method, n_neighbors=12).fit(X[1:])
        ritz.LLE(2, n_neighbors=12).fit(X)
