"""Neighbours are the true ones, by rational arithmetic, whatever the mean, the copies, the ties or the distance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import ritz
from ritz.graphs.search.tree import TREE_COLUMNS
from ritz.graphs.spaces.euclidean import Euclidean

pytestmark = pytest.mark.filterwarnings("ignore::ritz.DisconnectedGraph")


def square(x, y):
    """The squared distance of two rows, exactly."""
    return sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, y, strict=True))


def true_order(X, i, own=True):
    """Rows by their exact distance to row i, equal ones by number; with squared distances as fractions."""
    return sorted((square(X[i], X[j]), j) for j in range(len(X)) if not (own and j == i))


@pytest.mark.parametrize("d", [2, TREE_COLUMNS, TREE_COLUMNS + 1, 30])
@pytest.mark.parametrize("mean", [0.0, 1e8])
def test_neighbours_are_the_true_ones_whatever_the_mean(d, mean):
    X = np.random.default_rng(d).standard_normal((120, d)) + mean
    model = ritz.Neighbours(6).fit(X)
    distances, indices = model.kneighbors()
    for i in range(0, 120, 7):
        expected = true_order(X, i)
        assert indices[i].tolist() == [j for _, j in expected[:6]]
        truth = np.sqrt([float(far) for far, _ in expected[:6]])
        assert np.abs(distances[i] / truth - 1).max() <= model.certificate_.rounding
    assert model.certificate_.exact
    assert model.certificate_.recall == 1.0


@pytest.mark.parametrize("d", [3, 20])
def test_float32_rows_far_from_zero(d):
    X = (np.random.default_rng(1).standard_normal((300, d)) + 3e4).astype(np.float32)
    _, indices = ritz.Neighbours(5).fit(X).kneighbors()
    for i in range(0, 300, 37):
        far, _ = zip(*true_order(X, i)[:5], strict=True)
        assert [square(X[i], X[j]) for j in indices[i]] == list(far)  # float32 rows this far out tie often


def test_keys_never_exceed_the_distance_that_they_stand_for():
    """The bound behind the proof, on rows with the worst cancellation: a tight cloud far from the mean of all."""
    rng = np.random.default_rng(5)
    for d in (11, 150):
        X = np.vstack([rng.standard_normal((9, d)) * 1e-3 + 50, rng.standard_normal((9, d)), np.full((2, d), 1e-30)])
        truth = np.sqrt([float(square(x, y)) for x in X for y in X])
        screen = Euclidean(X).screen()
        for one in (screen, screen.wide):
            keys = one.tile(slice(0, 20), slice(0, 20)).astype(np.float64)
            assert np.all(keys.reshape(-1) <= one.reach(np.repeat(np.arange(20), 20), truth))


def test_the_reach_of_keys_is_not_so_wide_that_it_says_nothing():
    X = np.random.default_rng(0).standard_normal((2000, 100))
    found = ritz.Neighbours(10).fit(X)
    assert found.certificate_.route == "blocks"
    assert found.certificate_.again == 0


def test_rows_that_float32_cannot_tell_apart_are_searched_again_and_right():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.standard_normal((200, 15)), rng.standard_normal((200, 15)) + 1e6])
    model = ritz.Neighbours(4).fit(X)
    assert model.certificate_.again > 0
    _, indices = model.kneighbors()
    for i in (0, 57, 200, 399):
        assert indices[i].tolist() == [j for _, j in true_order(X, i)[:4]]


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("d", [3, 14])
def test_sizes_whose_squares_overflow_or_underflow(d, size):
    X = np.random.default_rng(3).standard_normal((100, d))
    far, near = ritz.Neighbours(3).fit(X * size).kneighbors()
    expected, indices = ritz.Neighbours(3).fit(X).kneighbors()
    assert np.array_equal(near, indices)
    assert np.allclose(far, expected * size, rtol=1e-12)


@pytest.mark.parametrize("d", [2, 12])
def test_a_row_is_left_out_by_its_number_not_by_its_place(d):
    """Copies stand at distance 0 before or behind the row itself."""
    X = np.repeat(np.random.default_rng(4).standard_normal((4, d)), 3, axis=0)
    _, indices = ritz.Neighbours(2).fit(X).kneighbors()
    assert indices.tolist() == [
        [1, 2],
        [0, 2],
        [0, 1],
        [4, 5],
        [3, 5],
        [3, 4],
        [7, 8],
        [6, 8],
        [6, 7],
        [10, 11],
        [9, 11],
        [9, 10],
    ]


@pytest.mark.parametrize("d", [2, 12])
def test_many_copies_are_found_without_comparing_each_with_each(d):
    X = np.zeros((6000, d))
    X[3000:, 0] = 1.0
    far, near = ritz.Neighbours(3).fit(X).kneighbors()
    assert not far.any()
    assert near[0].tolist() == [1, 2, 3]
    assert near[2].tolist() == [0, 1, 3]
    assert near[5999].tolist() == [3000, 3001, 3002]


@pytest.mark.parametrize("d", [2, 11])
def test_ties_go_to_the_first_row_or_are_all_kept(d):
    grid = np.array([[x, y] + [0] * (d - 2) for x in range(6) for y in range(6)], float)
    row = ritz.Neighbours(3).fit(grid)
    keep = ritz.Neighbours(3, ties="keep").fit(grid)
    _, near = row.kneighbors()
    _, all_near = keep.kneighbors()
    for i in range(36):
        order = true_order(grid, i)
        last = order[2][0]
        assert near[i].tolist() == [j for _, j in order[:3]]
        assert all_near[i].tolist() == [j for far, j in order if far <= last]
    assert "all kept" in repr(keep.certificate_)


@pytest.mark.parametrize("d", [2, 13])
def test_new_rows_and_radii(d):
    rng = np.random.default_rng(6)
    X, Q = rng.standard_normal((400, d)) + 100, rng.standard_normal((50, d)) + 100
    model = ritz.Neighbours(5).fit(X)
    D = cdist(Q, X)
    far, near = model.kneighbors(Q)
    assert np.array_equal(near, np.argsort(D, axis=1, kind="stable")[:, :5])
    radius = float(np.quantile(D, 0.02))
    far, near = model.radius_neighbors(Q, radius)
    assert [set(one) for one in near] == [set(np.flatnonzero(row <= radius)) for row in D]
    assert all(np.all(np.diff(one) >= 0) for one in far)
    own = ritz.Neighbours(radius=radius).fit(X).neighbours_
    expected = cdist(X, X) <= radius
    np.fill_diagonal(expected, False)
    assert np.array_equal(own.counts, expected.sum(axis=1))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "braycurtis", "canberra", "cosine", "correlation"])
@pytest.mark.parametrize("d", [3, 12])
def test_other_distances(metric, d):
    X = np.random.default_rng(7).random((200, d))
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    np.fill_diagonal(D, np.inf)
    far, near = ritz.Neighbours(4, metric=metric).fit(X).kneighbors()
    assert np.array_equal(near, np.argsort(D, axis=1)[:, :4])
    assert np.allclose(far, np.sort(D, axis=1)[:, :4], rtol=1e-6, atol=1e-14)


def test_minkowski_takes_its_power():
    X = np.random.default_rng(8).random((150, 4))
    D = cdist(X, X, "minkowski", p=3)
    np.fill_diagonal(D, np.inf)
    _, near = ritz.Neighbours(4, metric="minkowski", metric_params={"p": 3}).fit(X).kneighbors()
    assert np.array_equal(near, np.argsort(D, axis=1)[:, :4])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows(metric):
    X = sparse.random_array((300, 80), density=0.1, rng=np.random.default_rng(9), format="csr")
    X = X[np.diff(X.indptr) > 0]
    far, near = ritz.Neighbours(5, metric=metric).fit(X).kneighbors()
    expected, indices = ritz.Neighbours(5, metric=metric).fit(X.toarray()).kneighbors()
    assert np.allclose(far, expected, rtol=1e-12, atol=1e-15)
    assert np.mean(near == indices) > 0.99  # equal but for ties that differ in their last bit


def test_kernels_and_strings():
    words = ["kitten", "sitting", "mitten", "bitten", "sittings", "knitting"]
    far, near = ritz.Neighbours(2, metric="edit").fit(words).kneighbors()
    assert near[0].tolist() == [2, 3]  # mitten and bitten: one letter each
    assert far[0].tolist() == [1.0, 1.0]
    assert near[1].tolist() == [4, 5]  # sittings: one letter more; knitting: two letters
    spectrum = ritz.kernels.Spectrum(2)
    K = spectrum(words)
    D = np.sqrt(np.maximum(np.diag(K)[:, None] + np.diag(K) - 2 * K, 0))
    np.fill_diagonal(D, np.inf)
    far, _ = ritz.Neighbours(2, metric=spectrum).fit(words).kneighbors()
    assert np.allclose(far, np.sort(D, axis=1)[:, :2])
    model = ritz.Neighbours(1, metric="edit").fit(words)
    assert words[model.kneighbors(["mittens"])[1][0, 0]] == "mitten"


def test_the_distance_of_an_rbf_kernel_keeps_its_digits():
    X = np.array([[0.0], [1e-9], [1.0], [1.0 + 2e-9]])
    far, near = ritz.Neighbours(1, metric=ritz.kernels.RBF(0.5)).fit(X).kneighbors()
    assert near.ravel().tolist() == [1, 0, 3, 2]
    assert np.allclose(far.ravel()[:2], 1e-9, rtol=1e-12)  # √(2 − 2k) would be 0


def test_a_function_of_two_rows():
    X = [{"a", "b"}, {"a", "c"}, {"x", "y"}, {"x", "y", "z"}]
    model = ritz.Neighbours(1, metric=lambda a, b: len(a ^ b)).fit(X)
    assert model.kneighbors()[1].ravel().tolist() == [1, 0, 3, 2]
    with pytest.raises(ritz.InputError, match=r"finite numbers ≥ 0; received -1"):
        ritz.Neighbours(1, metric=lambda a, b: -1).fit(X)


def test_precomputed_distances_and_graphs():
    X = np.random.default_rng(10).standard_normal((60, 3))
    D = cdist(X, X)
    expected = ritz.Neighbours(5).fit(X)
    dense = ritz.Neighbours(5, metric="precomputed").fit(D)
    assert np.array_equal(dense.kneighbors()[1], expected.kneighbors()[1])
    lists = expected.neighbours_.to_csr(60)
    graph = ritz.Neighbours(4, metric="precomputed").fit(lists)
    assert np.array_equal(graph.kneighbors()[1], expected.kneighbors(k=4)[1])
    with pytest.raises(ritz.InputError, match="at least k = 6 stored distances; received row 0 with 5"):
        ritz.Neighbours(6, metric="precomputed").fit(lists)


def changed(D, i, j, value):
    D = D.copy()
    D[i, j] = value
    return D


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_distances_that_are_none_are_refused_by_their_place(kind):
    X = np.random.default_rng(11).standard_normal((8, 2))
    D = cdist(X, X)
    for value, words in [(-1.0, r"D\[2, 5\] = -1"), (np.nan, r"D\[2, 5\] = nan"), (np.inf, r"D\[2, 5\] = inf")]:
        with pytest.raises(ritz.InputError, match=words):
            ritz.Neighbours(2, metric="precomputed").fit(kind(changed(D, 2, 5, value)))
    with pytest.raises(ritz.InputError, match=r"symmetric|one distance"):
        ritz.Neighbours(2, metric="precomputed").fit(kind(changed(D, 2, 5, D[2, 5] * 2)))
    with pytest.raises(ritz.InputError, match="square"):
        ritz.Neighbours(2, metric="precomputed").fit(kind(D[:5]))


def test_a_kernel_matrix_is_no_distance():
    with pytest.raises(ritz.InputError, match="to itself is 0"):
        ritz.Neighbours(1, metric="precomputed").fit(np.eye(4))


# --------------------------------------------------------------------------------------------------- clear words


def test_what_cannot_be_done_is_said():
    X = np.random.default_rng(12).standard_normal((5, 2))
    with pytest.raises(ritz.ParameterError, match="k must be at most 4, the number of other rows"):
        ritz.Neighbours(5).fit(X)
    with pytest.raises(ritz.ParameterError, match="k or radius, not both"):
        ritz.Neighbours(2, radius=1.0).fit(X)
    with pytest.raises(ritz.InputError, match="n_samples=1"):
        ritz.Neighbours().fit(X[:1])
    with pytest.raises(ritz.ParameterError, match="hint: metric='euclidean'"):
        ritz.Neighbours(2, metric="euclid").fit(X)
    with pytest.raises(ritz.NonFiniteError):
        ritz.Neighbours(2).fit(changed(X, 1, 1, np.nan))
    with pytest.raises(ritz.InputError, match="a row of zeros has no direction; received row 1"):
        ritz.Neighbours(2, metric="cosine").fit(changed(changed(X, 1, 0, 0.0), 1, 1, 0.0))
    with pytest.raises(ritz.MemoryLimitError, match="1,000 rows need about"):
        ritz.Neighbours(10, memory="100KB").fit(np.zeros((1000, 3)))
    assert ritz.Neighbours().fit(X).k_ == 4
    assert ritz.Neighbours(2).fit(X[:3]).kneighbors()[1].shape == (3, 2)


def test_constant_columns_and_what_becomes_of_x_afterwards_do_not_matter():
    X = np.random.default_rng(13).standard_normal((50, 12))
    X[:, 3] = 1e9
    model = ritz.Neighbours(3).fit(X)
    expected = model.kneighbors(X[:5])[1]
    X[:] = 0
    X2 = np.random.default_rng(13).standard_normal((50, 12))
    X2[:, 3] = 1e9
    assert np.array_equal(model.kneighbors(X2[:5])[1], expected)


def test_the_route_and_the_threads_change_nothing(monkeypatch):
    from ritz.graphs.spaces.vectors import EuclideanRows

    X = np.random.default_rng(14).integers(0, 5, (700, 4)).astype(float)
    tree = EuclideanRows(X).nearest(None, 6).lists
    blocks = EuclideanRows(X, tree=False).nearest(None, 6).lists
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = EuclideanRows(X, tree=False).nearest(None, 6).lists
    for one in (blocks, alone):
        assert np.array_equal(one.indices, tree.indices)
        assert np.array_equal(one.distances, tree.distances)


def test_transform_is_a_graph_that_scikit_learn_takes():
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    X, y = load_iris(return_X_y=True)
    ours = make_pipeline(ritz.Neighbours(8), KNeighborsClassifier(5, metric="precomputed")).fit(X[::2], y[::2])
    theirs = KNeighborsClassifier(5).fit(X[::2], y[::2])
    assert np.mean(ours.predict(X[1::2]) == theirs.predict(X[1::2])) > 0.97  # ties are broken by row, or anyhow


def test_models_are_pickled():
    import pickle

    X = np.random.default_rng(15).standard_normal((60, 3))
    for metric in ("euclidean", "manhattan", "cosine", ritz.kernels.RBF(1.0)):
        model = ritz.Neighbours(3, metric=metric).fit(X)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.kneighbors(X[:4])[1], model.kneighbors(X[:4])[1])
