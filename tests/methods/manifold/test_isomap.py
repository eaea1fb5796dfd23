"""Isomap: truth from closed forms, new rows, components, landmarks, memory, refusals."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

import ritz
from ritz.methods.manifold.geodesic import Geodesics

RNG = np.random.default_rng(5)
X = RNG.standard_normal((60, 3))


def test_a_path_becomes_a_line():
    """Rows along a curve, joined with their two neighbours: geodesics are lengths of the polygon, in one dimension."""
    t = np.linspace(0.5, 9, 150) ** 1.3
    spiral = np.c_[t * np.cos(t), t * np.sin(t)]
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(spiral, axis=0), axis=1))])
    path = np.zeros((150, 150))
    path[np.arange(149), np.arange(1, 150)] = np.diff(length)
    from scipy.sparse import csr_array

    model = ritz.Isomap(1, metric="precomputed").fit(csr_array(path))
    truth = length - length.mean()
    found = model.embedding_[:, 0]
    np.testing.assert_allclose(found * np.sign(found @ truth), truth, atol=1e-9)
    assert model.eigenvalues_[0] == pytest.approx(truth @ truth, rel=1e-10)
    assert model.negative_share_ < 1e-9


def test_the_swiss_roll_is_unrolled(roll, apart):
    t = np.hypot(roll[:, 0], roll[:, 2])
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    model = ritz.Isomap(2, n_neighbors=10).fit(roll)
    assert abs(np.corrcoef(model.embedding_[:, 0], arc)[0, 1]) > 0.999
    assert apart(model.transform(roll), model.embedding_) < 1e-8
    assert model.verify(roll)
    height = roll[:, 1]
    errors = []
    for placed in (ritz.Isomap(2, n_neighbors=7).fit(roll[100:]), ritz.Isomap(2, n_neighbors=7).fit(roll)):
        design = np.c_[np.ones(100), placed.transform(roll[:100])]
        errors.append(np.linalg.lstsq(design, np.c_[arc, height][:100], rcond=None)[1].sum())
    assert errors[0] < 1.5**2 * errors[1]  # held-out rows beside a fit with them


def test_processes_give_what_one_process_gives(roll):
    graph = ritz.Neighbours(k=8).fit(roll).graph_
    one, two = (list(Geodesics(graph, workers=workers).tiles()) for workers in (1, 2))
    assert sorted(start for start, _ in two) == [start for start, _ in one]
    for (_, a), (_, b) in zip(one, sorted(two, key=lambda each: each[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    every = Geodesics(graph)
    truth = shortest_path(graph, directed=False)
    np.testing.assert_allclose(every.between(np.arange(600)), truth, rtol=1e-13)


def test_landmarks_estimate_what_they_cost(roll, apart):
    whole = ritz.Isomap(2, n_neighbors=10).fit(roll)
    few, many = (ritz.Isomap(2, n_neighbors=10, landmarks=m).fit(roll) for m in (20, 300))
    assert many.residual_ < 2 * few.residual_
    assert many.residual_ < 0.1
    assert "estimated residual" in str(many.certificate_)
    assert apart(many.transform(roll), many.embedding_) < 1e-8
    np.testing.assert_allclose(np.abs(np.corrcoef(many.embedding_[:, 0], whole.embedding_[:, 0])[0, 1]), 1, atol=1e-3)


def test_two_far_clusters_are_not_joined_in_silence(apart):
    """A peer joins components and distorts; here a link is told, or the rest is left out, or it is refused."""
    two = np.vstack([X, X + 100])
    with pytest.warns(ritz.DisconnectedGraph, match="2 components"):
        joined = ritz.Isomap(2, n_neighbors=5).fit(two)
    assert joined.n_connected_components_ == 2
    with pytest.warns(ritz.DisconnectedGraph, match="60 rows left out"):
        largest = ritz.Isomap(2, n_neighbors=5, disconnected="largest").fit(two)
    alone = ritz.Isomap(2, n_neighbors=5).fit(two[largest.rows_])
    assert apart(largest.embedding_[largest.rows_], alone.embedding_) < 1e-10
    assert np.isnan(np.delete(largest.embedding_, largest.rows_, axis=0)).all()
    with pytest.raises(ritz.InputError, match="in one piece"):
        ritz.Isomap(2, n_neighbors=5, disconnected="error").fit(two)
    with pytest.warns(ritz.DisconnectedGraph, match="each is embedded by itself"):
        ritz.Isomap(2, n_neighbors=5, disconnected="apart").fit(two)


def test_an_isolated_row():
    far = np.vstack([X, [[1e3, 0, 0]]])
    with pytest.warns(ritz.DisconnectedGraph, match="998 long"):
        ritz.Isomap(radius=2.5).fit(far)
    with pytest.raises(ritz.InputError, match="row 0 without one"):
        ritz.Isomap(radius=3.0, disconnected="error").fit(X[np.linalg.norm(X, axis=1) < 2]).transform([[1e3, 0, 0]])


def test_copies_and_few_rows(apart):
    model = ritz.Isomap(2, n_neighbors=40).fit(np.vstack([X, X[:5]]))
    np.testing.assert_allclose(model.embedding_[:5], model.embedding_[60:], atol=1e-8)
    three = ritz.Isomap(2).fit(X[:3])
    assert three.embedding_.shape == (3, 2)
    assert apart(three.transform(X[:3]), three.embedding_) < 1e-8


def test_geodesics_take_half_the_room_of_their_matrix(roll):
    """A peer keeps n² distances at 8 bytes, and takes 4.8 times that."""
    model = ritz.Isomap(2, n_neighbors=10, solver="krylov")  # small ones are decomposed densely
    model.fit(roll[:50])  # what is loaded once
    big = np.vstack([roll, roll + 1e-3, roll - 1e-3])
    tracemalloc.start()
    model.fit(big)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.3 * 8 * len(big) ** 2
    held = sum(np.asarray(value).nbytes for value in vars(model._record).values() if isinstance(value, np.ndarray))
    assert held < 1e6  # the graph and U, not n²


def test_geodesics_that_do_not_fit_are_measured_anew(apart, monkeypatch):
    rows = RNG.random((1100, 2)) * [3, 1]
    kept = ritz.Isomap(1, n_neighbors=8).fit(rows)
    monkeypatch.setattr("ritz.methods.manifold.geodesic.kept_bytes", lambda n: 1e18)
    streamed = ritz.Isomap(1, n_neighbors=8).fit(rows)
    assert "every pass measures them anew" in str(streamed.plan_)
    assert apart(streamed.embedding_, kept.embedding_) < 1e-4
    assert np.isnan(streamed.negative_share_)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ritz.Isomap(n_neighbors=60), "between 1 and 59"),
        (ritz.Isomap(n_neighbors=0), "whole number ≥ 1"),
        (ritz.Isomap(n_neighbors=5, radius=1.0), "not both"),
        (ritz.Isomap(radius=-1.0), "radius must be a number > 0"),
        (ritz.Isomap(landmarks=100), "at most n_samples=60"),
        (ritz.Isomap(ties="first"), "ties must be one of"),
        (ritz.Isomap(metric="precomputed"), "square"),
        (ritz.Isomap(61), "n_components=61"),
    ],
)
def test_refusals(model, words):
    with pytest.raises(ritz.RitzError, match=words):
        model.fit(X)
    with pytest.raises(ritz.RitzError, match="NaN"):
        ritz.Isomap().fit(np.where(X > 2, np.nan, X))


@pytest.mark.parametrize("options", [{}, {"landmarks": 20}, {"radius": 2.5}, {"metric": "manhattan"}])
def test_files_hold_what_places_new_rows(options, tmp_path):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.DisconnectedGraph)
        model = ritz.Isomap(2, **options).fit(X)
    ritz.save(model, tmp_path / "map.ritz")
    back = ritz.load(tmp_path / "map.ritz")
    np.testing.assert_array_equal(back.transform(X), model.transform(X))
    assert back.verify(X)


@pytest.mark.parametrize("landmarks", [None, 40])
def test_components_are_mapped_apart(landmarks, apart, tmp_path):
    """Each as it would be by itself; new rows go to the component of their nearest neighbour."""
    a, b = RNG.random((70, 2)) * [4, 1], RNG.random((50, 2)) * [3, 1] + 100
    both = np.vstack([a, b])[np.random.default_rng(0).permutation(120)]
    with pytest.warns(ritz.DisconnectedGraph, match="2 components"):
        model = ritz.Isomap(2, n_neighbors=8, disconnected="apart", landmarks=landmarks).fit(both)
    assert model.n_connected_components_ == len(model.certificates_) == len(model.spectra_) == 2
    for number, inside in enumerate((both[:, 0] < 50, both[:, 0] > 50)):
        np.testing.assert_array_equal(model.component_labels_[inside], number)
        given = None if landmarks is None else np.flatnonzero(np.isin(np.flatnonzero(inside), model.landmarks_))
        alone = ritz.Isomap(2, n_neighbors=8, landmarks=given).fit(both[inside])
        assert apart(model.embedding_[inside], alone.embedding_) < 1e-8
        np.testing.assert_allclose(model.spectra_[number], alone.eigenvalues_, rtol=1e-10)
        assert apart(model.transform(both[inside] + 0.01), alone.transform(both[inside] + 0.01)) < 1e-8
    assert apart(model.transform(both), model.embedding_) < 1e-8
    assert model.verify(both)
    assert not model.verify(both**2 / 100)
    ritz.save(model, tmp_path / "map.ritz")
    back = ritz.load(tmp_path / "map.ritz")
    np.testing.assert_array_equal(back.transform(both), model.transform(both))
    with pytest.raises(ritz.RitzError, match="more rows than there are axes"), pytest.warns(ritz.DisconnectedGraph):
        ritz.Isomap(2, n_neighbors=1, disconnected="apart").fit(both)


@pytest.mark.parametrize("rows", [3, 199, 200, 300])
@pytest.mark.parametrize("d", [2, 6])
def test_geodesics_of_the_fit_place_rows_as_searches_do(seed, rows, d, monkeypatch, tmp_path):
    rng = np.random.default_rng(seed)
    X, new = rng.uniform(size=(400, d)), rng.uniform(size=(rows, d))
    model = ritz.Isomap(2, n_neighbors=8).fit(X)
    ritz.save(model, tmp_path / "map.ritz")
    again, loaded = pickle.loads(pickle.dumps(model)), ritz.load(tmp_path / "map.ritz")
    assert again._record.lengths is loaded._record.lengths is None  # these hold the graph alone
    placed = model.transform(new)
    np.testing.assert_array_equal(placed, again.transform(new))
    np.testing.assert_array_equal(placed, loaded.transform(new))
    assert (again._record.lengths is not None) == (rows >= 200)
    monkeypatch.setattr("ritz.methods.manifold.isomap.HELD", 100)
    size = np.abs(model.embedding_).max()
    assert np.abs(placed - model.transform(new)).max() <= 1e-10 * size
    assert model.fit(X)._record.lengths is None
