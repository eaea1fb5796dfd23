"""Stability of maps, the bootstrap of neighbourhoods, Shepard diagrams: against maps whose answer is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, TransformerMixin

import ritz
from ritz import insight
from ritz.insight.embedding.coranking import binned_coranking
from ritz.insight.embedding.procrustes import share_left
from ritz.insight.embedding.quality import by_chance

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4))


class Turned(TransformerMixin, BaseEstimator):
    """The first two columns, turned, mirrored, moved and stretched otherwise in every fit."""

    def __init__(self, noise=0.0):
        self.noise = noise

    def fit(self, X, y=None):
        return self

    def fit_transform(self, X, y=None):
        rng = np.random.default_rng(np.abs(X[0] * 1e6).astype(np.int64))
        Q = np.linalg.qr(rng.standard_normal((2, 2)))[0]
        return 3 * (X[:, :2] + self.noise * rng.standard_normal((len(X), 2))) @ Q + rng.standard_normal(2)


class Jumping(Turned):
    """The first two columns, but the row with the largest third column lies elsewhere in every fit of fewer rows."""

    def fit_transform(self, X, y=None):
        Y = np.array(X[:, :2])
        if len(X) < 120:
            Y[np.argmax(X[:, 2])] += [40.0, 0.0]
        return Y


class Failing(Turned):
    """Fits of fewer rows fail."""

    def fit_transform(self, X, y=None):
        if len(X) < 120:
            raise ritz.InputError("more rows", received="few")
        return X[:, :2]


def test_turning_mirroring_and_stretching_do_not_count():
    found = insight.embedding_stability(Turned(), X, 6)
    assert found.share < 1e-20
    assert found.high < 1e-20
    assert np.nanmax(found.rows_moved) < 1e-10
    assert 0.9 < found.chance <= 1
    assert found.drawn == 96
    assert found.rows_draws.sum() == 6 * 96


def test_noise_is_measured():
    noise = 0.3
    found = insight.embedding_stability(Turned(noise), X, 30, embedding=X[:, :2])
    # E‖noise‖² = 2·noise² a row, of E‖y‖² = 2 (1 + noise²) after the best stretch s = 1/(1 + noise²)
    assert found.share == pytest.approx(noise**2 / (1 + noise**2), rel=0.15)
    assert found.low <= found.share <= found.high


def test_the_row_that_jumps_is_named():
    found = insight.embedding_stability(Jumping(), X, 8)
    assert np.nanargmax(found.rows_moved) == np.argmax(X[:, 2])
    assert f"rows {np.argmax(X[:, 2])}" in repr(found)


def test_neighbours_found_again():
    assert insight.neighbourhood_bootstrap(Turned(), X, 5, 5).overlap == 1.0
    found = insight.neighbourhood_bootstrap(Turned(200.0), X, 5, 12, embedding=X[:, :2])
    assert found.overlap == pytest.approx(found.chance, abs=0.03)
    # (1 − 1/e) of the rows are in a draw: 5 of about 75 others
    assert found.chance == pytest.approx(5 / (120 * (1 - np.exp(-1)) - 1), rel=0.1)


def test_draws_that_fail_are_said():
    with pytest.raises(ritz.InputError, match="at least 3 draws") as refused:
        insight.embedding_stability(Failing(), X, 4)
    assert "more rows" in str(refused.value)


def test_what_procrustes_leaves_without_its_rotation():
    for Y in (X[:, :2], X[:, :1] ** 2, np.zeros((120, 2)), X[::-1], np.c_[X, X**2]):
        assert share_left(X, Y) == pytest.approx(insight.procrustes(X, Y).share, abs=1e-12)


def test_strings_and_given_distances():
    words = ["".join(RNG.choice(list("abcd"), 6)) for _ in range(40)]
    model = ritz.MDS(2, metric="edit")
    assert 0 <= insight.embedding_stability(model, words, 4).share <= 1
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    given = insight.embedding_stability(ritz.MDS(2, metric="precomputed"), D, 4)
    rows = insight.embedding_stability(ritz.MDS(2), X, 4)
    assert given.share == pytest.approx(rows.share, abs=1e-8)


def test_components_are_laid_one_by_one():
    two = np.concatenate([X[:60, :3], X[60:, :3] + 1000])
    with pytest.warns(ritz.RitzWarning):
        model = ritz.LaplacianEigenmaps(2, n_neighbors=8).fit(two)
    found = insight.embedding_stability(model, two, 4)
    assert 0 <= found.share <= 1
    assert found.broken + found.failed <= 4


@pytest.mark.parametrize("options", [{"share": 1.5}, {"draws": 2}])
def test_what_cannot_be_meant_is_refused(options):
    with pytest.raises(ritz.ParameterError):
        insight.embedding_stability(Turned(), X, **options)


def test_shepard_of_all_pairs():
    found = insight.shepard(X, X[:, :2], 120 * 119 // 2)
    a, b = pdist(X), pdist(X[:, :2])
    np.testing.assert_allclose(found.before, a)
    np.testing.assert_allclose(found.after, b)
    assert found.correlation == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert found.error == 0
    some = insight.shepard(X, X[:, :2], 400)
    assert abs(some.correlation - found.correlation) < 4 * some.error
    assert (some.pairs[:, 0] != some.pairs[:, 1]).all()


def test_cells_hold_the_whole_matrix():
    Q = insight.coranking(X, X[:, :2])
    cells, edges, rows = binned_coranking(X, X[:, :2], 7)
    where = np.searchsorted(edges, np.arange(1, 120))
    sums = np.zeros((7, 7), int)
    np.add.at(sums, (where[:, None], where[None]), Q)
    np.testing.assert_array_equal(cells, sums)
    some, _, rows = binned_coranking(X, X[:, :2], 7, entries=120 * 30)
    assert rows == 30
    assert some.sum() == 30 * 119


def test_what_chance_reaches():
    n, k = 11, 3
    # a neighbour on the map has every rank 1 … n − 1 equally often
    lost = sum(Fraction(max(r - k, 0), n - 1) for r in range(1, n)) * k
    worst = Fraction(k * (2 * n - 3 * k - 1), 2)
    assert by_chance(n, k)["trustworthiness"] == pytest.approx(float(1 - lost / worst))
    random = [insight.embedding_quality(X, np.random.default_rng(i).standard_normal((120, 2)), 10) for i in range(20)]
    for name in ("trustworthiness", "continuity", "overlap", "lcmc", "r_nx"):
        mean = np.mean([one.curve[name] for one in random], axis=0)
        np.testing.assert_allclose(mean, random[0].chance(name), atol=0.02)


def test_a_sample_has_the_numbers_of_its_rows():
    copies = np.concatenate([X, X[:5], X[:5], X[:5]])
    Y = copies[:, :2] + 1e-9 * np.arange(len(copies))[:, None]
    whole = insight.embedding_quality(copies, Y, 4)
    some = insight.embedding_quality(copies, Y, 4, sample=50)
    np.testing.assert_array_equal(some.rows_trustworthiness, whole.rows_trustworthiness[some.rows])
    np.testing.assert_array_equal(some.rows_overlap, whole.rows_overlap[some.rows])
    assert abs(some.trustworthiness - whole.trustworthiness) < 5 * some.standard_errors["trustworthiness"]
