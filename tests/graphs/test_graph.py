"""Graphs of neighbours: who is joined, how heavily, and what becomes of components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

import ritz


def directed(X, k):
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    A = np.zeros(D.shape, bool)
    np.put_along_axis(A, np.argsort(D, axis=1, kind="stable")[:, :k], True, axis=1)
    return A


@pytest.mark.filterwarnings("ignore::ritz.DisconnectedGraph")
def test_rows_are_joined_by_either_or_by_both():
    X = np.random.default_rng(0).standard_normal((80, 3))
    A, D = directed(X, 4), cdist(X, X)
    either = ritz.Neighbours(4).fit(X).graph_
    both = ritz.Neighbours(4, graph="both").fit(X).graph_
    lists = ritz.Neighbours(4, graph="directed").fit(X).graph_
    assert np.allclose(either.toarray(), np.where(A | A.T, D, 0))
    assert np.allclose(both.toarray(), np.where(A & A.T, D, 0))
    assert np.allclose(lists.toarray(), np.where(A, D, 0))
    assert (either != either.T).nnz == 0


def test_edges_between_copies_are_kept():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    graph = ritz.Neighbours(2).fit(X).graph_
    assert graph[0, 1] == 0
    assert 1 in graph.indices[graph.indptr[0] : graph.indptr[1]]  # stored, at distance 0
    assert connected_components(graph)[0] == 1


@pytest.mark.filterwarnings("ignore::ritz.DisconnectedGraph")
def test_weights_by_their_formulae():
    X = np.random.default_rng(1).standard_normal((60, 2))
    A, D = directed(X, 9), cdist(X, X)
    there = A | A.T
    heat = ritz.Neighbours(9, weights="heat", scale=0.3).fit(X)
    assert np.allclose(heat.graph_.toarray(), np.where(there, np.exp(-(D**2) / 0.3), 0))
    assert heat.scale_ == 0.3
    found = ritz.Neighbours(9, weights="heat").fit(X)
    assert found.scale_ == pytest.approx(np.median(D[there]) ** 2)
    sigma = np.sort(D, axis=1)[:, 7]  # the row itself stands first
    tuned = ritz.Neighbours(9, weights="self-tuning").fit(X).graph_
    assert np.allclose(tuned.toarray(), np.where(there, np.exp(-(D**2) / np.outer(sigma, sigma)), 0))
    ones = ritz.Neighbours(9, weights="connectivity").fit(X).graph_
    assert np.array_equal(ones.toarray(), there)


def test_self_tuning_knows_copies():
    X = np.vstack([np.zeros((12, 2)), np.random.default_rng(2).standard_normal((20, 2))])
    W = ritz.Neighbours(15, weights="self-tuning").fit(X).graph_
    assert np.all(np.isfinite(W.data))
    assert W[0, 1] == 1


def clusters(seed=3, far=50.0, d=2):
    rng = np.random.default_rng(seed)
    shift = np.zeros(d)
    shift[0] = far
    return np.vstack(
        [rng.standard_normal((30, d)), rng.standard_normal((20, d)) + shift, rng.standard_normal((10, d)) - shift]
    )


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "precomputed", ritz.kernels.Linear()])
def test_components_are_joined_by_their_shortest_links(d, metric):
    X = clusters(d=d)
    D = cdist(X, X, metric="cityblock" if metric == "manhattan" else "euclidean")
    rows = D if metric == "precomputed" else X
    with pytest.warns(ritz.DisconnectedGraph, match="3 components, .* 30 rows, then 20, 10; 2 links join them"):
        model = ritz.Neighbours(5, metric=metric, disconnected="join").fit(rows)
    assert model.n_connected_components_ == 3
    assert np.bincount(model.component_labels_).tolist() == [30, 20, 10]
    assert connected_components(model.graph_)[0] == 1
    # the shortest links are those that a minimum spanning tree of all rows has between the clusters
    tree = minimum_spanning_tree(sparse.csr_array(D)).tocoo()
    across = model.component_labels_[tree.row] != model.component_labels_[tree.col]
    expected = sorted(tree.data[across] ** (2 if metric == "sqeuclidean" else 1))
    assert np.allclose(sorted(model.links_.distances), expected, rtol=1e-9)


def test_many_small_components_are_joined_as_by_a_spanning_tree():
    X = np.random.default_rng(4).standard_normal((300, 2))
    with pytest.warns(ritz.DisconnectedGraph):
        model = ritz.Neighbours(1, disconnected="join").fit(X)
    tree = minimum_spanning_tree(sparse.csr_array(cdist(X, X)))
    assert model.n_connected_components_ > 50
    # nearest neighbours and shortest links together are the minimum spanning tree
    assert model.graph_.nnz == 2 * 299
    assert model.graph_.sum() / 2 == pytest.approx(tree.sum(), rel=1e-12)


def test_components_are_left_apart_cut_down_or_refused():
    X = clusters()
    with pytest.warns(ritz.DisconnectedGraph, match="3 components"):
        apart = ritz.Neighbours(5).fit(X)
    assert connected_components(apart.graph_)[0] == 3
    with pytest.warns(ritz.DisconnectedGraph, match="the other 30 rows left out"):
        largest = ritz.Neighbours(5, disconnected="largest").fit(X)
    assert largest.graph_.shape == (30, 30)
    assert largest.rows_.tolist() == list(range(30))
    assert np.allclose(largest.graph_.toarray(), apart.graph_[:30, :30].toarray())
    with pytest.raises(ritz.InputError, match="in one piece; received the graph of neighbours has 3 components"):
        ritz.Neighbours(5, disconnected="error").fit(X)


def test_isolated_rows_of_a_radius_are_components_of_their_own():
    X = np.array([[0.0], [0.1], [0.2], [9.0]])
    with pytest.warns(ritz.DisconnectedGraph, match="2 components, the largest of 3 rows, then 1"):
        model = ritz.Neighbours(radius=0.15).fit(X)
    assert model.neighbours_.counts.tolist() == [1, 2, 1, 0]
    with pytest.warns(ritz.DisconnectedGraph, match="1 link joins them"):
        joined = ritz.Neighbours(radius=0.15, disconnected="join", weights="self-tuning").fit(X)
    assert np.isfinite(joined.graph_.data).all()


def test_edges_whose_weight_vanishes_join_nothing():
    X = clusters()
    with pytest.warns(ritz.DisconnectedGraph):
        model = ritz.Neighbours(40, weights="heat", scale=0.5).fit(X)
    assert model.n_connected_components_ == 3


def test_a_sparse_graph_can_only_be_joined_by_what_it_knows():
    X = clusters()
    D = cdist(X, X)
    known = sparse.csr_array(np.where(D < 10, D, 0))
    with pytest.raises(ritz.InputError, match="only by distances that are known"):
        ritz.Neighbours(5, metric="precomputed", disconnected="join").fit(known)
