"""Diffusion maps: the definition, the density divided out, new rows, graphs of neighbours, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import ritz


def cloud(n=120, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, 2)) * [3, 1]


def walk(X, epsilon, alpha):
    """λ and ψ of the transition matrix itself, which is not symmetric."""
    K = np.exp(-np.square(X[:, None] - X).sum(axis=2) / epsilon)
    q = K.sum(axis=1)
    K = K / np.outer(q, q) ** alpha
    P = K / K.sum(axis=1, keepdims=True)
    values, vectors = np.linalg.eig(P)
    order = np.argsort(-values.real)
    return values.real[order], vectors.real[:, order], K.sum(axis=1)


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
@pytest.mark.parametrize("t", [0, 1, 2.5])
def test_coordinates_are_those_of_the_walk(alpha, t):
    X = cloud()
    model = ritz.DiffusionMaps(3, alpha=alpha, t=t, epsilon=0.3).fit(X)
    values, vectors, degrees = walk(X, 0.3, alpha)
    np.testing.assert_allclose(model.eigenvalues_, values[1:4], rtol=1e-10)
    psi = vectors[:, 1:4] / np.sqrt(np.average(np.square(vectors[:, 1:4]), axis=0, weights=degrees))
    np.testing.assert_allclose(np.abs(model.eigenvectors_), np.abs(psi), atol=1e-8)
    np.testing.assert_allclose(model.embedding_, model.eigenvectors_ * model.eigenvalues_**t)
    assert model.verify(X)


@pytest.mark.parametrize("options", [{}, {"n_neighbors": 15}, {"stay": False}, {"n_neighbors": 15, "stay": False},
                                     {"metric": "manhattan"}])  # fmt: skip
def test_rows_of_the_fit_are_mapped_onto_themselves(options):
    X = cloud()
    model = ritz.DiffusionMaps(3, epsilon=0.3, **options).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    assert model.verify(X)


def test_density_is_divided_out():
    """Rows of a circle, denser on one side: with alpha=1 the first two axes turn at constant speed."""
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * np.sort(rng.beta(2, 2, 600))
    X = np.c_[np.cos(angle), np.sin(angle)]

    def unevenness(alpha):
        Y = ritz.DiffusionMaps(2, alpha=alpha, epsilon=0.1).fit(X).eigenvectors_
        turned = np.unwrap(np.arctan2(Y[:, 1], Y[:, 0]))
        turned *= np.sign(turned[-1] - turned[0])
        return np.std(turned - angle)

    assert unevenness(1) < 0.5 * unevenness(0)


def test_all_neighbours_are_all_pairs():
    X = cloud()
    whole = ritz.DiffusionMaps(3, epsilon=0.3).fit(X)
    near = ritz.DiffusionMaps(3, epsilon=0.3, n_neighbors=119).fit(X)
    np.testing.assert_allclose(near.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    new = cloud(10, 4)
    np.testing.assert_allclose(np.abs(near.transform(new)), np.abs(whole.transform(new)), atol=1e-8)


def test_held_out_rows_are_placed_where_fitted_ones_are():
    X = cloud(400, 1)
    whole = ritz.DiffusionMaps(2, epsilon=0.1).fit(X)
    model = ritz.DiffusionMaps(2, epsilon=0.1).fit(X[:300])
    for j in range(2):
        curve = np.polyfit(model.embedding_[:, j], whole.embedding_[:300, j], 1)
        inside = np.std(whole.embedding_[:300, j] - np.polyval(curve, model.embedding_[:, j]))
        outside = np.std(whole.embedding_[300:, j] - np.polyval(curve, model.transform(X[300:])[:, j]))
        assert outside <= 1.5 * inside + 1e-3


def test_components_of_a_graph_of_neighbours():
    X = cloud()
    far = np.vstack([X, X[:60] + 50])
    with pytest.warns(ritz.DisconnectedGraph):
        model = ritz.DiffusionMaps(2, n_neighbors=12, epsilon=0.3).fit(far)
    assert model.spectra_.shape == (2, 2)
    assert model.eigenvalues_[0] < 1 - 1e-6  # the pair that every component has is taken off
    assert np.ptp(model.embedding_[120:], axis=0).min() > 0.1
    np.testing.assert_allclose(model.transform(far), model.embedding_, atol=1e-8)
    assert model.verify(far)


def test_two_far_clusters_of_all_pairs_have_an_axis_between_them():
    X = np.vstack([cloud(40), cloud(40, 2) + 6])
    model = ritz.DiffusionMaps(1, epsilon=1.0).fit(X)
    assert model.eigenvalues_[0] > 1 - 1e-6
    assert abs(np.sign(model.embedding_[:40, 0]).sum()) == 40
    assert np.sign(model.embedding_[0, 0]) == -np.sign(model.embedding_[-1, 0])


def test_copies_count_as_rows():
    X = np.vstack([cloud(50), cloud(50)[:5]])
    model = ritz.DiffusionMaps(2, epsilon=0.3).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, walk(X, 0.3, 1)[0][1:3], rtol=1e-10)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_what_cannot_be_fitted_is_refused_in_words():
    X = cloud(30)
    for options, words in (
        ({"t": -1}, "t must be a number ≥ 0"), ({"alpha": "1"}, "alpha must be a number ≥ 0"),
        ({"epsilon": 0}, "epsilon must be a number > 0"), ({"n_neighbors": 40}, "n_neighbors must be at most 29"),
    ):  # fmt: skip
        with pytest.raises(ritz.ParameterError, match=words):
            ritz.DiffusionMaps(2, **options).fit(X)
    with pytest.raises(ritz.MemoryLimitError, match="n_neighbors=50 walks among neighbours only"):
        ritz.DiffusionMaps(2, memory="1MB").fit(cloud(500))
    with pytest.raises(ritz.InputError, match="copies of one row"):
        ritz.DiffusionMaps(1).fit(np.ones((6, 2)))
    with pytest.raises(ritz.NonFiniteError):
        ritz.DiffusionMaps(1).fit(np.where(X > 0.9, np.nan, X))
    with pytest.raises(ritz.InputError, match="near enough for the walk to reach it"):
        ritz.DiffusionMaps(1, epsilon=1e-3, stay=False).fit(np.vstack([X, [[1e3, 0]]]))


def test_three_rows_and_a_file(tmp_path):
    model = ritz.DiffusionMaps(2, epsilon=1.0).fit(np.array([[0.0, 0], [1, 0], [0, 2]]))
    assert model.embedding_.shape == (3, 2)
    model = ritz.DiffusionMaps(2).fit(cloud())
    ritz.save(model, tmp_path / "walk.ritz")
    again = ritz.load(tmp_path / "walk.ritz")
    np.testing.assert_array_equal(again.transform(cloud(5, 9)), model.transform(cloud(5, 9)))


@pytest.mark.parametrize("stay", [True, False])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 1e3, 1e9])
def test_eigenvalues_of_any_width_of_the_kernel(stay, epsilon):
    """With stay=False and a wide kernel all eigenvalues but the known one are negative; none is that of ψ = 1."""
    mpmath = pytest.importorskip("mpmath")
    rows = np.random.default_rng(1).random((12, 3))
    model = ritz.DiffusionMaps(2, epsilon=epsilon, stay=stay, alpha=0).fit(rows)
    with mpmath.workdps(40):
        exact = [[mpmath.mpf(float(x)) for x in row] for row in rows]
        K = mpmath.matrix(12, 12)
        for i, j in np.ndindex(12, 12):
            square = mpmath.fsum((a - b) ** 2 for a, b in zip(exact[i], exact[j], strict=True))
            K[i, j] = mpmath.exp(-square / epsilon) if stay or i != j else 0
        d = [mpmath.fsum(K[i, j] for j in range(12)) for i in range(12)]
        S = mpmath.matrix(12, 12)
        for i, j in np.ndindex(12, 12):
            S[i, j] = K[i, j] / mpmath.sqrt(d[i] * d[j])
        true = sorted(mpmath.eigsy(S, eigvals_only=True), reverse=True)[1:3]
        c = model.certificate_
        for i in range(2):
            assert mpmath.mpf(float(c.lower[i])) <= true[i] <= mpmath.mpf(float(c.upper[i]))
    spread = model.eigenvectors_.std(axis=0)
    assert np.all(spread > 0.1)  # ψ = 1 has none


def test_few_neighbours_without_staying():
    rows = np.random.default_rng(2).random((6, 2))
    near = ritz.DiffusionMaps(2, n_neighbors=5, epsilon=0.5, stay=False).fit(rows)
    pairs = ritz.DiffusionMaps(2, epsilon=0.5, stay=False).fit(rows)
    np.testing.assert_allclose(near.eigenvalues_, pairs.eigenvalues_, atol=1e-12)


def test_a_width_for_which_nothing_differs_or_nothing_is_near():
    rows = np.random.default_rng(1).random((30, 3))
    with pytest.raises(ritz.InputError, match="every pair of rows has the same weight"):
        ritz.DiffusionMaps(epsilon=1e30).fit(rows)
    with pytest.raises(ritz.InputError, match="near enough for the walk"):
        ritz.DiffusionMaps(epsilon=1e-30).fit(rows)
    rows[0] += 100
    with pytest.warns(ritz.DisconnectedGraph, match="1 row of 30 has no other"):
        ritz.DiffusionMaps(epsilon=0.5).fit(rows)
