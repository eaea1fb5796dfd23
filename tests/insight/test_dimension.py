"""Intrinsic dimensions of rows whose dimension is known, how sure they are, and sizes of neighbourhoods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

import ritz
from ritz import insight


def torus(n, d, seed):
    """Rows that are uniform on a flat torus: d dimensions, no edges."""
    angle = 2 * np.pi * np.random.default_rng(seed).random((n, d))
    return np.hstack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_dimension_of_a_torus(d):
    found = insight.intrinsic_dimension(torus(3000, d, d))
    assert found.consensus == d
    for one in (found.twonn, found.mle, found.correlation):
        assert one.dimension == pytest.approx(d, rel=0.06)
        assert one.low < one.dimension < one.high


def test_intervals_hold_the_mean_of_the_estimate_as_often_as_they_say():
    """Rows share neighbours: taken as independent, the intervals of mle and correlation would hold much less often."""
    runs = [insight.intrinsic_dimension(torus(300, 2, seed)) for seed in range(60)]
    for name in ("twonn", "mle", "correlation"):
        each = [getattr(run, name) for run in runs]
        mean = np.mean([one.dimension for one in each])
        held = np.mean([one.low <= mean <= one.high for one in each])
        assert held > 0.8, name
        width = np.mean([one.high - one.low for one in each]) / (2 * 1.96)
        assert 0.6 < width / np.std([one.dimension for one in each]) < 1.6, name


def test_columns_units_and_means_do_not_matter():
    X = torus(500, 2, 0)
    base = insight.intrinsic_dimension(X)
    turned = insight.intrinsic_dimension(1e6 * np.hstack([X, X]) + 1e8)
    assert turned.mle.dimension == pytest.approx(base.mle.dimension, rel=1e-3)
    given = insight.intrinsic_dimension(cdist(X, X), metric="precomputed")
    assert given.twonn.dimension == pytest.approx(base.twonn.dimension, rel=1e-9)


def test_copies_are_counted_once():
    X = torus(400, 2, 1)
    twice = insight.intrinsic_dimension(np.vstack([X, X[:150]]))
    assert twice.copies == 150
    assert twice.mle.dimension == pytest.approx(insight.intrinsic_dimension(X).mle.dimension, rel=1e-12)
    assert "150 copies left out" in repr(twice)


def test_too_few_rows_are_refused():
    with pytest.raises(ritz.InputError, match="more than 11 different rows; received 5 different rows"):
        insight.intrinsic_dimension(np.repeat(np.arange(5.0)[:, None], 40, axis=0))


def test_the_smallest_sizes_that_connect():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.standard_normal((60, 2)), rng.standard_normal((15, 2)) + 6])
    found = insight.neighbourhood_sizes(X, [4, 8, 20])
    assert found.connects_k is not None
    D = cdist(X, X)
    assert found.connects_radius == pytest.approx(minimum_spanning_tree(csr_array(D)).data.max(), rel=1e-12)

    def pieces(k):
        order = np.argsort(np.where(np.eye(75, dtype=bool), np.inf, D), axis=1)[:, :k]
        A = np.zeros((75, 75))
        np.put_along_axis(A, order, 1.0, axis=1)
        return connected_components(A, directed=False)[0]

    assert pieces(found.connects_k) == 1
    assert pieces(found.connects_k - 1) > 1
    assert found.table["components"].tolist() == [pieces(k) for k in (4, 8, 20)]
    assert found.suggested == found.connects_k
    assert f"k = {found.connects_k}" in repr(found)


def test_pictures_of_several_sizes_side_by_side():
    X = np.random.default_rng(3).standard_normal((120, 3))
    found = insight.neighbourhood_sizes(X, [5, 10], embed=lambda k: X[:, :2] if k == 5 else X[:, :1], quality_k=8)
    assert found.suggested == 5
    assert len(found.qualities) == 2
    assert found.table["trustworthiness"][0] > found.table["trustworthiness"][1]


def test_radii_side_by_side():
    X = np.random.default_rng(5).standard_normal((90, 2))
    D = cdist(X, X)
    found = insight.neighbourhood_sizes(X, radii=[0.2, 0.5, 3.0])
    for place, radius in enumerate((0.2, 0.5, 3.0)):
        near = (radius >= D) & ~np.eye(90, dtype=bool)
        assert found.table["components"][place] == connected_components(near, directed=False)[0]
        assert found.table["neighbours"][place] == np.median(near.sum(axis=1))
        assert found.table["alone"][place] == np.count_nonzero(~near.any(axis=1))
    assert found.suggested is None
    assert found.suggested_radius == found.connects_radius
    assert found.connects_radius == pytest.approx(minimum_spanning_tree(csr_array(D)).data.max(), rel=1e-12)
    shown = insight.neighbourhood_sizes(
        X, radii=[1, 2], embed=lambda radius: X if radius == 2 else X[:, :1], quality_k=6
    )
    assert shown.suggested_radius == 2
    for bad in ({"radii": []}, {"radii": [-1.0]}, {"sizes": [3], "radii": [1.0]}):
        with pytest.raises(ritz.ParameterError, match="radii"):
            insight.neighbourhood_sizes(X, **bad)


def test_two_far_clusters_say_that_no_number_of_neighbours_connects_them():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.standard_normal((600, 1)), rng.standard_normal((600, 1)) + 1e4])
    found = insight.neighbourhood_sizes(X, [5])
    assert found.connects_k is None
    assert found.connects_radius == pytest.approx(X[600:].min() - X[:600].max())
    assert "more than 512 neighbours" in repr(found)
