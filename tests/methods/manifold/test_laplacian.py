"""Laplacian eigenmaps: known spectra, new rows, graphs that are given, components, repeated directions, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import ritz
from ritz.graphs.lists import of_pairs
from ritz.methods.manifold.directions import regression_residuals


def cloud(n=200, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, 3)) * [4, 2, 0.2]


def dense(W):
    """Eigenvalues of Ly = λDy, by the definition."""
    W = W.toarray()
    D = np.diag(W.sum(axis=1))
    return scipy.linalg.eigh(D - W, D)


@pytest.mark.parametrize("weights", ["connectivity", "heat", "self-tuning"])
@pytest.mark.parametrize("graph", ["any", "both"])
def test_eigenvalues_and_vectors_are_those_of_the_definition(weights, graph):
    X = cloud()
    model = ritz.LaplacianEigenmaps(3, n_neighbors=12, weights=weights, graph=graph).fit(X)
    W = ritz.Neighbours(12, weights=weights, graph=graph).fit(X).graph_
    values, vectors = dense(W)
    np.testing.assert_allclose(model.eigenvalues_, values[1:4], rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(vectors[:, 1:4]), atol=1e-9)
    D = W.sum(axis=1)
    np.testing.assert_allclose(model.embedding_.T @ (D[:, None] * model.embedding_), np.eye(3), atol=1e-10)
    assert model.certificate_.kind == "certified" or "certified" in str(model.certificate_)
    assert model.verify(X)


def test_a_path_has_its_known_eigenvalues_and_a_cycle_each_twice():
    n = 400
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]).tocsr()
    model = ritz.LaplacianEigenmaps(4, weights="precomputed", normalized=False).fit(path)
    np.testing.assert_allclose(model.eigenvalues_, 2 - 2 * np.cos(np.pi * np.arange(1, 5) / n), rtol=1e-9)
    cycle = sp.csr_array(path + sp.coo_array(([1.0, 1.0], ([0, n - 1], [n - 1, 0])), shape=(n, n)))
    model = ritz.LaplacianEigenmaps(4, weights="precomputed").fit(cycle)
    twice = 1 - np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / n)
    np.testing.assert_allclose(model.eigenvalues_, twice, rtol=1e-9)
    assert np.all(model.certificate_.lower <= twice)
    assert np.all(model.certificate_.upper >= twice)
    assert "gap" in str(model.certificate_)  # an axis of two is arbitrary


@pytest.mark.parametrize("options", [
    {}, {"weights": "heat"}, {"weights": "self-tuning"}, {"graph": "both"}, {"normalized": False},
    {"n_neighbors": None, "radius": 0.9}, {"metric": "manhattan"},
])  # fmt: skip
def test_rows_of_the_fit_are_mapped_onto_themselves(options):
    X = cloud()
    model = ritz.LaplacianEigenmaps(**({"n_components": 3, "n_neighbors": 12} | options)).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)


@pytest.mark.parametrize("weights", ["connectivity", "heat", "self-tuning"])
def test_the_formula_itself_gives_back_the_rows_of_the_fit(weights, monkeypatch):
    """Membership is symmetric: without the short cut for rows at distance 0, and a row left out of its own sum."""
    import ritz.methods.manifold.laplacian as home

    X = cloud()
    model = ritz.LaplacianEigenmaps(3, n_neighbors=12, weights=weights).fit(X)
    plain = home.joined

    def without_itself(space, Q, k, radius, graph, reach, room):
        members, own = plain(space, Q, k + 1, radius, graph, reach, room)
        far = [of_pairs(x.rows[x.distances > 0], x.indices[x.distances > 0], x.distances[x.distances > 0], len(x))
               for x in (members, own)]  # fmt: skip
        return far[0], far[1]

    monkeypatch.setattr(home, "joined", without_itself)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-10)


def test_weights_of_new_nodes_of_a_given_graph():
    W = ritz.Neighbours(10, weights="heat").fit(cloud()).graph_
    model = ritz.LaplacianEigenmaps(3, weights="precomputed").fit(W)
    np.testing.assert_allclose(model.transform(W), model.embedding_, atol=1e-10)
    np.testing.assert_allclose(model.transform(W.toarray()[:5]), model.embedding_[:5], atol=1e-10)
    with pytest.raises(ritz.InputError, match="weights of edges to the 200 nodes"):
        model.transform(np.ones((2, 3)))
    with pytest.raises(ritz.InputError, match="not negative"):
        model.transform(np.zeros((2, 200)))


def test_held_out_rows_are_placed_where_fitted_ones_are():
    X = cloud(600, seed=2)
    model = ritz.LaplacianEigenmaps(1, n_neighbors=15, weights="heat").fit(X[:500])
    placed, fitted = model.transform(X[500:])[:, 0], model.embedding_[:, 0]
    # the first axis runs along the longest side
    curve = np.polyfit(X[:500, 0], fitted, 5)
    inside = np.std(fitted - np.polyval(curve, X[:500, 0]))
    assert np.std(placed - np.polyval(curve, X[500:, 0])) <= 1.5 * inside


def test_distances_and_strings_are_taken():
    X = cloud(60)
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    by_rows = ritz.LaplacianEigenmaps(2, n_neighbors=12, weights="heat").fit(X)
    by_distance = ritz.LaplacianEigenmaps(2, n_neighbors=12, weights="heat", metric="precomputed").fit(D)
    np.testing.assert_allclose(by_distance.eigenvalues_, by_rows.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(by_distance.transform(D[:4]), by_distance.embedding_[:4], atol=1e-10)
    words = ["anna", "hanna", "johanna", "joanna", "peter", "petra", "pete", "anne", "hannah", "peters"]
    model = ritz.LaplacianEigenmaps(2, n_neighbors=4, metric="edit").fit(words)
    np.testing.assert_allclose(model.transform(words[:3]), model.embedding_[:3], atol=1e-10)


def test_components_are_embedded_each_by_itself():
    X = cloud()
    far = np.vstack([X, X[:80] + 50])
    with pytest.warns(ritz.DisconnectedGraph, match="2 components"):
        model = ritz.LaplacianEigenmaps(2, n_neighbors=12).fit(far)
    alone = ritz.LaplacianEigenmaps(2, n_neighbors=12).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.embedding_[:200]), np.abs(alone.embedding_), atol=1e-8)
    assert np.linalg.norm(model.embedding_[200:]) > 0.1 * np.linalg.norm(model.embedding_[:200])
    np.testing.assert_allclose(model.transform(far), model.embedding_, atol=1e-10)
    assert model.verify(far)
    with pytest.warns(ritz.DisconnectedGraph, match="1 link joins them"):
        joined = ritz.LaplacianEigenmaps(2, n_neighbors=12, disconnected="join").fit(far)
    assert joined.n_connected_components_ == 1
    assert np.ptp(np.sign(joined.embedding_[:200, 0])) == 0  # the first axis tells the two apart
    np.testing.assert_allclose(joined.transform(far), joined.embedding_, atol=1e-10)
    with pytest.warns(ritz.DisconnectedGraph, match="left out"):
        part = ritz.LaplacianEigenmaps(2, n_neighbors=12, disconnected="largest").fit(far)
    assert np.isnan(part.embedding_[200:]).all()


def test_a_repeated_direction_is_named():
    """A strip four times as long as wide: the second and third axes are harmonics of the first."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(1500, 2)) * [4.5, 1]
    model = ritz.LaplacianEigenmaps(5, n_neighbors=15).fit(X)
    across = np.argmax([abs(np.corrcoef(y, X[:, 1])[0, 1]) for y in model.embedding_.T])
    assert list(model.independent_) == [0, across]
    assert across >= 3
    r = model.direction_residuals_
    assert np.delete(r, [0, across]).max() < 0.25 < 0.5 < r[across]
    t = np.linspace(0, 1, 300)
    known = regression_residuals(np.c_[np.cos(np.pi * t), np.cos(2 * np.pi * t), rng.standard_normal(300)])
    assert known[1] < 0.2
    assert known[2] > 0.9


def test_copies_are_one_node():
    X = cloud(80)
    rows = np.vstack([X, np.repeat(X[3:4], 20, axis=0)])
    model = ritz.LaplacianEigenmaps(2, n_neighbors=10).fit(rows)
    np.testing.assert_allclose(model.eigenvalues_, ritz.LaplacianEigenmaps(2, n_neighbors=10).fit(X).eigenvalues_)
    np.testing.assert_array_equal(model.embedding_[80:], np.repeat(model.embedding_[3:4], 20, axis=0))


@pytest.mark.filterwarnings("ignore::ritz.DisconnectedGraph")
def test_what_cannot_be_fitted_is_refused_in_words():
    X = cloud(30)
    lonely = np.vstack([X, [[100.0, 0, 0]]])
    with pytest.raises(
        ritz.InputError, match="every component of the graph of neighbours has more rows than there are axes"
    ):
        ritz.LaplacianEigenmaps(2, radius=3.0).fit(lonely)
    with pytest.raises(ritz.ParameterError, match="n_neighbors or radius, not both"):
        ritz.LaplacianEigenmaps(2, n_neighbors=3, radius=3.0).fit(X)
    with pytest.raises(ritz.ParameterError, match="n_neighbors must be at most 2"):
        ritz.LaplacianEigenmaps(2, n_neighbors=5).fit(X[:3])
    with pytest.raises(ritz.NonFiniteError):
        ritz.LaplacianEigenmaps(2).fit(np.where(X > 3.9, np.nan, X) * np.nan)
    with pytest.raises(ritz.ParameterError, match="weights must be one of"):
        ritz.LaplacianEigenmaps(2, weights="gauss").fit(X)
    with pytest.raises(ritz.ParameterError, match="cannot be joined"):
        ritz.LaplacianEigenmaps(2, weights="precomputed", disconnected="join").fit(np.ones((4, 4)))
    with pytest.raises(ritz.InputError, match="square matrix of weights"):
        ritz.LaplacianEigenmaps(2, weights="precomputed").fit(X)
    with pytest.raises(ritz.InputError, match="weights of edges are not negative"):
        ritz.LaplacianEigenmaps(2, weights="precomputed").fit(-np.ones((5, 5)))
    with pytest.raises(ritz.InputError, match="equal their transpose"):
        ritz.LaplacianEigenmaps(2, weights="precomputed").fit(np.triu(np.ones((5, 5))))
    model = ritz.LaplacianEigenmaps(2, radius=2.5).fit(X)
    with pytest.raises(ritz.InputError, match="row 0, joined to none"):
        model.transform([[100.0, 0, 0]])


def test_three_rows_and_a_far_new_row():
    model = ritz.LaplacianEigenmaps(2, weights="heat").fit(np.array([[0.0, 0], [1, 0], [0, 2]]))
    assert model.embedding_.shape == (3, 2)
    X = cloud(100)
    model = ritz.LaplacianEigenmaps(2, n_neighbors=10, weights="heat").fit(X)
    assert np.isfinite(model.transform(X[:2] + 1e6)).all()  # all weights vanish, their shares do not


def test_a_file_brings_the_model_back(tmp_path):
    X = cloud()
    model = ritz.LaplacianEigenmaps(3, n_neighbors=10, weights="self-tuning").fit(X)
    ritz.save(model, tmp_path / "maps.ritz")
    again = ritz.load(tmp_path / "maps.ritz")
    np.testing.assert_array_equal(again.transform(cloud(9, 5)), model.transform(cloud(9, 5)))
    assert again.verify(X)


def test_axes_that_repeat_are_judged_as_by_one_row_after_the_other(seed):
    rng = np.random.default_rng(seed)
    Y = rng.integers(-9, 10, (40, 3)).astype(float)
    Y[:, 1] = Y[:, 0] ** 2
    found = regression_residuals(Y)
    assert found[0] == 1.0
    for j in (1, 2):
        Z, y = Y[:, :j], Y[:, j]
        squares = np.array([[sum((a - b) ** 2) for b in Z] for a in Z])
        h2 = np.median(squares[np.triu_indices(40, 1)]) / 9
        A = np.column_stack([np.ones(40), Z / np.sqrt((Z**2).mean(axis=0))])
        left = []
        for i in range(40):
            w = np.exp(-squares[i] / h2) * (np.arange(40) != i)
            G = A.T @ (w[:, None] * A)
            left.append(y[i] - A[i] @ np.linalg.solve(G + 1e-10 * np.trace(G) * np.eye(j + 1), A.T @ (w * y)))
        assert found[j] == pytest.approx(min(np.linalg.norm(left) / np.linalg.norm(y), 1.0), rel=1e-6)


def test_directions_are_those_of_the_last_fit_and_of_the_largest_component(seed):
    rng = np.random.default_rng(seed)
    small, large = rng.standard_normal((40, 3)), rng.standard_normal((120, 3)) + 100
    model = ritz.LaplacianEigenmaps(2, n_neighbors=6, disconnected="apart")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.DisconnectedGraph)
        both = model.fit(np.concatenate([small, large])).direction_residuals_
        alone = model.fit(large).direction_residuals_
    assert "direction_residuals_" not in vars(ritz.LaplacianEigenmaps(2, n_neighbors=6).fit(large))  # until it is read
    assert np.allclose(both, alone, atol=1e-6)
    assert not np.allclose(model.fit(small).direction_residuals_, alone, atol=1e-6)
    assert not hasattr(ritz.LaplacianEigenmaps(2), "independent_")
