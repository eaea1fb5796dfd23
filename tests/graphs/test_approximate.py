"""Approximate search: its recall is what is said, its interval holds, and a library that is missing is named."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.graphs.lists import of_pairs
from ritz.graphs.search import approximate
from ritz.graphs.spaces.vectors import EuclideanRows

pytestmark = pytest.mark.filterwarnings("ignore::ritz.DisconnectedGraph")


def sloppy(share):
    """A library that forgets some neighbours of each row, and gives a far row instead."""

    def search(Z, ask, seed):
        rng = np.random.default_rng(seed)
        n = len(Z)
        near = EuclideanRows(np.asarray(Z, float)).nearest(np.asarray(Z, float), ask).lists.indices.reshape(n, ask)
        lost = rng.random(near.shape) < share
        far = np.argsort(rng.random((n, n)), axis=1)[:, :ask]  # some are neighbours by chance
        return np.where(lost, far, near)

    return search


@pytest.fixture
def library(monkeypatch):
    def use(share):
        monkeypatch.setattr(approximate, "_descent", sloppy(share))
        monkeypatch.setattr(approximate, "library_of", lambda asked: "pynndescent")

    return use


def test_the_recall_is_measured_and_its_interval_holds(library):
    library(0.3)
    X = np.random.default_rng(0).standard_normal((1000, 12))
    true = ritz.Neighbours(10).fit(X).kneighbors()[1]
    held = 0
    for seed in range(20):
        with pytest.warns(ritz.AccuracyWarning, match="of the neighbours"):
            model = ritz.Neighbours(10, exact=False, random_state=seed).fit(X)
        lists = model.neighbours_
        whole = np.mean([
            len(set(lists.indices[lists.indptr[i] : lists.indptr[i + 1]]) & set(true[i])) / 10 for i in range(1000)
        ])  # fmt: skip
        certificate = model.certificate_
        assert certificate.recall == pytest.approx(whole, abs=0.06)
        held += certificate.interval[0] <= whole <= certificate.interval[1]
        assert not certificate.exact
        assert "measured on 200 rows" in repr(certificate)
    assert held >= 19


def test_a_library_that_finds_all_is_not_warned_of(library):
    library(0.0)
    X = np.random.default_rng(1).standard_normal((500, 12)) + 1e8
    certificate = ritz.Neighbours(5, exact=False).fit(X).certificate_
    assert certificate.recall == 1.0
    assert certificate.interval[1] == 1.0
    assert certificate.interval[0] == pytest.approx((0.05 / 2) ** (1 / 200), rel=1e-9)  # 200 of 200


def test_rows_of_which_a_library_finds_too_few_have_all(monkeypatch):
    monkeypatch.setattr(approximate, "_descent", lambda Z, ask, seed: np.full((len(Z), ask), -1))
    monkeypatch.setattr(approximate, "library_of", lambda asked: "pynndescent")
    X = np.random.default_rng(5).standard_normal((60, 4))
    model = ritz.Neighbours(5, exact=False).fit(X)
    assert np.array_equal(model.kneighbors()[1], ritz.Neighbours(5).fit(X).kneighbors()[1])


def test_the_interval_is_hoeffdings():
    low, high = approximate.interval_of(0.9, 200)
    for bound in (low, high):
        divergence = 0.9 * np.log(0.9 / bound) + 0.1 * np.log(0.1 / (1 - bound))
        assert 200 * divergence == pytest.approx(np.log(2 / 0.05), rel=1e-6)
    assert approximate.interval_of(0.0, 200)[0] == 0.0


def test_all_rows_searched_leave_no_doubt(library):
    library(0.5)
    X = np.random.default_rng(2).standard_normal((100, 4))
    with pytest.warns(ritz.AccuracyWarning):
        certificate = ritz.Neighbours(4, exact=False).fit(X).certificate_
    assert certificate.interval == (certificate.recall, certificate.recall)


def test_a_tied_neighbour_counts_as_found():
    X = np.array([[0.0], [1.0], [-1.0], [5.0]])
    space = EuclideanRows(X)
    lists = of_pairs(np.arange(4), np.array([2, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 4.0]), 4)
    assert approximate.measured_recall(space, lists, 1, 0)[0] == 1.0


def test_what_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(approximate, "LIBRARIES", ("no_such_library",))
    X = np.random.default_rng(3).standard_normal((50, 3))
    with pytest.raises(ritz.MissingDependency, match="need no_such_library\nhint: pip install 'ritz"):
        ritz.Neighbours(3, exact=False).fit(X)
    with pytest.raises(ritz.ParameterError, match="not all within a radius"):
        ritz.Neighbours(radius=1.0, exact=False).fit(X)
    with pytest.raises(ritz.ParameterError, match="dense rows of numbers"):
        ritz.Neighbours(1, metric="edit", exact=False).fit(["a", "b", "ab"])


@pytest.mark.parametrize("name", ["pynndescent", "hnswlib"])
def test_the_libraries_themselves(name):
    pytest.importorskip(name)
    X = np.random.default_rng(4).standard_normal((600, 5)) + 1e6
    model = ritz.Neighbours(6, exact=False, library=name).fit(X)
    assert model.certificate_.recall > 0.95
    assert not np.any(model.neighbours_.indices == model.neighbours_.rows)
