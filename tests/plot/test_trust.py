"""Pictures of how far a map can be trusted show the numbers that insight measures."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import insight

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = X[:, :2]
QUALITY = insight.embedding_quality(X, Y, 12)


def test_curves_are_those_of_the_quality():
    other = insight.embedding_quality(X, X[:, 2:], 12)
    ax = ritz.plot.trust({"first": QUALITY, "last": other}, "trustworthiness")
    first, last, chance = ax.get_lines()
    np.testing.assert_allclose(first.get_ydata(), QUALITY.curve["trustworthiness"])
    np.testing.assert_allclose(last.get_ydata(), other.curve["trustworthiness"])
    np.testing.assert_allclose(chance.get_ydata(), QUALITY.chance("trustworthiness"))
    assert len(ritz.plot.trust(QUALITY, chance=False).get_lines()) == 1


def test_a_sample_has_its_band():
    some = insight.embedding_quality(X, Y, 12, sample=20)
    assert len(ritz.plot.trust(some, "continuity").collections) == 1
    assert not ritz.plot.trust(QUALITY, "continuity").collections


def test_a_perfect_map_has_its_ranks_on_the_diagonal():
    ax = ritz.plot.coranking(X[:, :2], 3 * X[:, :2] + 1, cells=59)
    cells = np.asarray(ax.collections[0].get_array()).reshape(59, 59)
    assert np.diag(cells) == pytest.approx(np.log2(59))
    assert (cells[~np.eye(59, dtype=bool)] < 0).all()
    same = ritz.plot.coranking(insight.coranking(X[:, :2], 3 * X[:, :2] + 1), cells=59)
    np.testing.assert_array_equal(np.asarray(same.collections[0].get_array()).ravel(), cells.ravel())


def test_shepard_draws_its_pairs():
    found = insight.shepard(X, Y, 300)
    ax = ritz.plot.shepard(found)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([found.before, found.after]))
    assert f"{found.correlation:.2f}" in ax.get_title(loc="left")


@pytest.mark.parametrize(("of", "values"), [
    ("false", 1 - QUALITY.rows_trustworthiness), ("missing", 1 - QUALITY.rows_continuity),
    ("kept", QUALITY.rows_overlap), ("stretch", np.log2(QUALITY.rows_stretch)),
])  # fmt: skip
def test_rows_have_the_colour_of_their_distortion(of, values):
    ax = ritz.plot.distortion(Y, QUALITY, of)
    np.testing.assert_allclose(ax.collections[0].get_array(), values)


def test_rows_that_were_not_measured_are_grey():
    ax = ritz.plot.distortion(Y, insight.embedding_quality(X, Y, 5, sample=20))
    grey, drawn = ax.collections[:2]
    assert len(grey.get_offsets()) == 40
    assert len(drawn.get_offsets()) == 20


def test_numbers_of_neighbours_side_by_side():
    model = ritz.Isomap(2, standardize=True)
    axes = ritz.plot.neighbourhoods(model, X * [1, 1, 1, 100], (8, 12))
    rows = X / X.std(axis=0, ddof=1)
    for ax, k in zip(axes, (8, 12), strict=True):
        lcmc = insight.embedding_quality(rows, ritz.Isomap(2, n_neighbors=k).fit_transform(rows)).lcmc
        assert ax.get_title() == f"k = {k}, LCMC {lcmc:.2f}"
        assert len(ax.collections[0].get_offsets()) == 60
    # turned onto the first
    first, second = (np.asarray(ax.collections[0].get_offsets()) for ax in axes)
    assert insight.procrustes(first, second).rotation == pytest.approx(np.eye(2), abs=1e-8)


def test_eigenvalues_are_drawn_where_there_are_no_shares():
    model = ritz.LaplacianEigenmaps(3).fit(X)
    ax = ritz.plot.scree(model)
    assert ax.get_ylabel() == "eigenvalue, no share of a variance"
    np.testing.assert_allclose(ax.collections[1].get_offsets()[:, 1], model.eigenvalues_)
    assert ax.collections[2].get_offsets()[0, 1] == model.certificate_.ceiling


@pytest.mark.parametrize("call", [
    lambda: ritz.plot.trust(QUALITY, "trust"), lambda: ritz.plot.trust([1]),
    lambda: ritz.plot.distortion(Y, QUALITY, "bent"), lambda: ritz.plot.distortion(Y[:10], QUALITY),
    lambda: ritz.plot.coranking(np.ones((3, 4))), lambda: ritz.plot.neighbourhoods(ritz.PCA(2), X),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(call):
    with pytest.raises(ritz.RitzError):
        call()
