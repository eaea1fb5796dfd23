"""Indexes of directions: hashes against their theory, answers against sorting, recall against counting."""

from __future__ import annotations

import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import ritz
from ritz.methods.nearest.lsh import turns
from ritz.methods.nearest.recall import interval

KINDS = ("exact", "usearch", "hnswlib", "faiss")


def grouped(n=1500, d=24, kinds=40, seed=0):
    """Rows around centres, which are the same for every seed."""
    centres, rng = np.random.default_rng(99).standard_normal((kinds, d)), np.random.default_rng(seed)
    return centres[rng.integers(0, kinds, n)] + 0.4 * rng.standard_normal((n, d))


def truth(X, Q, top):
    """Rows by their cosines, by sorting all of them."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = (Q / np.linalg.norm(Q, axis=1, keepdims=True)) @ unit.T
    return np.argsort(-cosines, axis=1, kind="stable")[:, :top], -np.sort(-cosines, axis=1)[:, :top]


@pytest.mark.parametrize("bits", [1, 3, 8])
@pytest.mark.parametrize("theta", [0.1, 0.6, 1.2, np.pi / 2, 2.4])
def test_collisions_are_as_often_as_theory_says(bits, theta):
    tables = 1000
    x, z = np.linalg.qr(np.random.default_rng(3).standard_normal((20, 2)))[0].T
    pair = np.stack([x, np.cos(theta) * x + np.sin(theta) * z])
    lsh = ritz.LSH(bits, tables, n_probes=1, recall=None, random_state=bits).fit(pair)
    a, b = lsh.transform(pair).reshape(2, tables, bits)
    p = (1 - theta / np.pi) ** bits
    assert lsh.collision_probability(theta) == pytest.approx(p, rel=1e-12)
    assert abs(np.mean(np.all(a == b, axis=1)) - p) <= 3 * np.sqrt(p * (1 - p) / tables)
    assert lsh.collision_probability(theta, 5) == pytest.approx(1 - (1 - p) ** 5, rel=1e-12)


def test_own_buckets_are_found_as_often_as_theory_says():
    """Through ``kneighbors``: pairs of one angle, each in a space of its own, share one of five buckets."""
    theta, tables, bits, pairs = 0.9, 5, 4, 300
    p = 1 - (1 - (1 - theta / np.pi) ** bits) ** tables
    found = 0
    for seed in range(pairs):
        x, z = np.linalg.qr(np.random.default_rng(seed).standard_normal((6, 2)))[0].T
        lsh = ritz.LSH(bits, tables, n_probes=1, recall=None, random_state=seed).fit(x[None, :])
        found += lsh.kneighbors((np.cos(theta) * x + np.sin(theta) * z)[None, :], 1, return_distance=False)[0, 0] == 0
    assert abs(found / pairs - p) <= 3 * np.sqrt(p * (1 - p) / pairs)


def test_all_probes_are_exact_search():
    X, Q = grouped(300), grouped(20, seed=1)
    lsh = ritz.LSH(4, 2, n_probes=16, recall=None).fit(X)
    rows, cosines = truth(X, Q, 5)
    distances, found = lsh.kneighbors(Q, 5)
    assert found.tolist() == rows.tolist()
    np.testing.assert_allclose(1 - distances, cosines, atol=1e-12)


def test_probes_begin_with_the_own_bucket_and_grow_less_likely():
    table = turns(6, 40)
    assert not table[0].any()
    assert len({tuple(row) for row in table.tolist()}) == 40
    costs = (table * np.arange(1, 7) ** 2).sum(axis=1)
    assert all(a <= b for a, b in pairwise(costs))


@pytest.mark.parametrize("kind", [*KINDS, "lsh"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_index_reaches_the_recall_it_is_asked_for(kind, dtype):
    if kind not in ("exact", "lsh"):
        pytest.importorskip(kind)
    X, Q = grouped(3000).astype(dtype), grouped(200, seed=5).astype(dtype)
    index = (ritz.LSH() if kind == "lsh" else ritz.Index(kind)).fit(X)
    rows, _ = truth(X.astype(float), Q.astype(float), 10)
    found = index.kneighbors(Q, 10, return_distance=False)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(rows.tolist(), found.tolist(), strict=True)])
    assert recall >= 0.9
    assert index.recall_.low <= recall + 0.05
    assert index.recall_.value >= 0.9
    assert index.recall_.queries == 200
    distances, found = index.kneighbors(X[:3], 4)
    assert found[:, 0].tolist() == [0, 1, 2]
    assert np.all(np.diff(distances, axis=1) >= 0)


def test_an_index_finds_documents_for_a_search():
    texts = [f"word{i % 7}x word{i % 11}y word{i % 13}z" for i in range(200)]
    lsi = ritz.LSI(12).fit(texts)
    plain = lsi.search("word3x word4y", top=5)
    for index in (ritz.LSH(5, 8), ritz.Index("exact")):
        hits = lsi.search("word3x word4y", top=5, index=index.fit(lsi.unit_embedding_))
        np.testing.assert_allclose(hits.scores, plain.scores, atol=1e-9)


def test_rows_and_queries_of_zeros_find_nothing():
    X = np.vstack([np.zeros(4), np.eye(4)])
    for index in (ritz.LSH(2, 3).fit(X), ritz.Index("exact").fit(X)):
        distances, rows = index.kneighbors(np.zeros((1, 4)), 2)
        assert rows.tolist() == [[-1, -1]]
        assert np.isnan(distances).all()
        assert 0 not in index.kneighbors(np.ones((1, 4)), 5, return_distance=False)


def test_recall_of_a_poor_index_is_told():
    X = np.random.default_rng(0).standard_normal((4000, 60))  # directions without any order
    poor = ritz.LSH(12, 1, n_probes=1, recall=None).fit(X)
    assert poor.recall_.value < 0.3
    assert poor.recall_.low < poor.recall_.value < poor.recall_.high
    assert "of 200 queries" in str(poor.recall_)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.95, 1.0])
def test_the_interval_holds_the_truth_often_enough(p):
    n = 200
    holds = [interval(k / n, n)[0] <= p <= interval(k / n, n)[1] for k in range(n + 1)]
    assert np.dot(binom.pmf(np.arange(n + 1), n, p), holds) >= 0.93  # 95 % nominal, for Wilson's interval


@pytest.mark.parametrize("index", [ritz.LSH(2, 2, recall=None), ritz.Index("exact")], ids=["lsh", "exact"])
def test_the_checks_of_scikit_learn_pass(index):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = [one for one in check_estimator(index, on_fail=None) if one["status"] == "failed"]
    assert not failed, failed


def test_hashes_follow_the_conventions_of_scikit_learn():
    X = grouped(100)
    lsh = ritz.LSH(5, 3, random_state=2)
    assert clone(lsh).get_params() == lsh.get_params()
    bits = make_pipeline(lsh).fit_transform(X)
    assert bits.shape == (100, 15)
    assert set(np.unique(bits).tolist()) == {0, 1}
    np.testing.assert_array_equal(bits, clone(lsh).fit(X).transform(X))
    with pytest.raises(ValueError, match="features"):
        lsh.fit(X).kneighbors(X[:, :3])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ritz.LSH(0), "n_bits must be"),
        (lambda: ritz.LSH(30), "n_bits must be"),
        (lambda: ritz.LSH(n_tables=0), "n_tables must be"),
        (lambda: ritz.LSH(recall=2), "recall must be"),
        (lambda: ritz.Index("hsnw"), "kind must be"),
        (lambda: ritz.Index(effort=0), "effort must be"),
    ],
)
def test_wrong_parameters_are_refused(make, words):
    with pytest.raises(ritz.ParameterError, match=words):
        make().fit(grouped(20))


def test_a_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    with pytest.raises(ritz.MissingDependency, match=r"ritz\[index\]"):
        ritz.Index("hnswlib").fit(grouped(20))


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e170, 1e300])
def test_lengths_do_not_matter_however_short_or_long(scale):
    X = grouped(60, seed=5)
    X[7] = 0.0
    X[10:14] = X[3]
    index = ritz.Index("exact").fit(scale * X)
    Q = np.vstack([X[:5], np.random.default_rng(1).standard_normal((5, X.shape[1]))])
    distances, rows = index.kneighbors(scale * Q, 8)
    there = np.flatnonzero(np.any(X != 0, axis=1))
    unit = X[there] / np.linalg.norm(X[there], axis=1, keepdims=True)
    cosines = (Q / np.linalg.norm(Q, axis=1, keepdims=True)) @ unit.T
    for i in range(len(Q)):
        order = np.lexsort((there, -np.round(cosines[i], 12)))[:8]
        assert rows[i].tolist() == there[order].tolist()
        np.testing.assert_allclose(distances[i], 1 - cosines[i][order], atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("index", [ritz.LSH(2, 2, recall=None), ritz.Index("exact")], ids=["lsh", "exact"])
def test_numbers_that_are_none_are_refused_in_our_words(index, bad):
    X = grouped(20)
    Y = X.copy()
    Y[3, 1] = bad
    with pytest.raises(ritz.NonFiniteError, match="NaN" if np.isnan(bad) else "infinity") as told:
        clone(index).fit(Y)
    assert "sklearn" not in str(told.value)
    with pytest.raises(ritz.NonFiniteError):
        clone(index).fit(X).kneighbors(Y)


def test_an_angle_is_at_most_pi():
    lsh = ritz.LSH(6, recall=None).fit(grouped(20))
    assert lsh.collision_probability(np.pi) == 0
    for angle in (4.0, -0.1, np.nan, np.array([1.0, 3.5])):
        with pytest.raises(ritz.ParameterError, match="between 0 and π"):
            lsh.collision_probability(angle)


def test_collisions_over_many_angles_and_seeds_scatter_as_theory_says():
    """z of 27 counts: none beyond three and a half, and together neither too wide nor biased."""
    z = []
    for bits in (1, 4, 9):
        for theta in np.linspace(0.1, 2.6, 9):
            p, hits, trials = (1 - theta / np.pi) ** bits, 0, 0
            for seed in range(3):
                x, y = np.linalg.qr(np.random.default_rng(seed).standard_normal((8, 2)))[0].T
                pair = np.stack([x, np.cos(theta) * x + np.sin(theta) * y])
                lsh = ritz.LSH(bits, 500, n_probes=1, recall=None, random_state=100 * bits + seed).fit(pair)
                a, b = lsh.transform(pair).reshape(2, 500, bits)
                hits, trials = hits + int(np.all(a == b, axis=1).sum()), trials + 500
            z.append((hits - trials * p) / np.sqrt(trials * p * (1 - p)))
    assert np.max(np.abs(z)) < 3.5
    assert abs(np.mean(z)) < 1.0  # the same hyperplanes for all angles: not independent
    assert np.std(z) < 1.5


def test_copies_are_as_good_as_each_other_for_recall(monkeypatch):
    """Of 200 equal rows any ten are the nearest."""
    from ritz.methods.nearest.index import Index

    def last(self, unit, top):
        return np.tile(np.arange(200 - top, 200), (len(unit), 1)), np.full((len(unit), top), 1.0)

    monkeypatch.setattr(Index, "_search", last)
    index = ritz.Index("exact").fit(np.ones((200, 4)))
    assert float(index.recall_) == 1.0

    def far(self, unit, top):  # no copy, and none of the nearest
        rows = np.tile(np.arange(top), (len(unit), 1))
        return rows, np.einsum("id,ijd->ij", unit, self._unit[rows])

    monkeypatch.setattr(Index, "_search", far)
    assert float(ritz.Index("exact", recall=None).fit(grouped(200)).recall_) < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_of_an_index_finds_the_same(kind):
    import pickle

    if kind != "exact":
        pytest.importorskip(kind)
    X = grouped(300)
    index = ritz.Index(kind).fit(X)
    again = pickle.loads(pickle.dumps(index))
    assert again.effort_ == index.effort_
    for one, other in zip(index.kneighbors(X[:20], 5), again.kneighbors(X[:20], 5), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
