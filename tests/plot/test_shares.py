"""Contributions, variables, groups, clusters and three dimensions as pictures."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import insight, plot

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6)), columns=list("abcdef"))
    X.index = [f"row {i}" for i in range(40)]
    return X, ritz.PCA(4, scale=True).fit(X)


def test_bars_are_the_largest_contributions(table):
    _, model = table
    share = insight.column_contributions(model)["PC2"].sort_values(ascending=False)
    ax = plot.contributions(model, components=1, most=4)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx((100 * share[:4]).tolist())
    assert [text.get_text() for text in ax.get_yticklabels()] == list(share.index[:4])
    assert ax.lines[0].get_xdata()[0] == pytest.approx(100 / 6)


def test_contributions_to_a_plane_are_weighed_by_its_axes(table):
    X, model = table
    ax = plot.contributions(model, X, of="rows", components=[0, 1], most=40)
    F = np.asarray(model.transform(X))[:, :2]
    known = np.sort(np.square(F).sum(axis=1) / np.square(F).sum())[::-1]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx((100 * known).tolist())
    seen = plot.contributions(model, X, of="rows", what="cos2", components=[0, 1], most=1)
    assert seen.patches[0].get_width() == pytest.approx(100 * insight.cos2(model, X).iloc[:, :2].sum(axis=1).max())


@pytest.mark.parametrize(("given", "words"), [({"of": "cells"}, "of must be"), ({"what": "weight"}, "what must be"),
                                              ({"of": "rows"}, "need the rows")])  # fmt: skip
def test_what_cannot_be_meant_is_refused(table, given, words):
    with pytest.raises(ritz.ParameterError, match=words):
        plot.contributions(table[1], **given)


def test_variables_stand_at_their_ratios(table):
    X, _ = table
    mixed = X.assign(kind=np.where(X["a"] > 0, "yes", "no"), other=np.where(X["b"] > 0, "up", "down"))
    model = ritz.FAMD(3).fit(mixed[["a", "b", "c", "kind"]])
    ax = plot.variables(model, components=(0, 2), supplementary=mixed[["other"]], rows=mixed[["a", "b", "c", "kind"]])
    drawn = np.concatenate([np.asarray(points.get_offsets()) for points in ax.collections])
    known = np.asarray(model.variable_coordinates_)[:, [0, 2]]
    assert drawn[:4] == pytest.approx(known)
    eta2 = model.supplementary_columns(mixed[["other"]], "eta2", rows=mixed[["a", "b", "c", "kind"]])
    assert drawn[4:] == pytest.approx(np.asarray(eta2)[:, [0, 2]])
    with pytest.raises(ritz.ParameterError, match="picture of variables"):
        plot.variables(table[1])


def test_the_circle_of_famd_is_of_its_numbers(table):
    X, _ = table
    mixed = X.assign(kind=np.where(X["a"] > 0, "yes", "no"))
    ax = plot.circle(ritz.FAMD(2).fit(mixed))
    assert {text.get_text() for text in ax.texts if text.get_text()} == set("abcdef")


def test_groups_of_an_mfa_stand_at_their_coordinates(table):
    X, _ = table
    model = ritz.MFA(2, groups={"first": list("abc"), "second": list("def")}).fit(X)
    ax = plot.group_map(model)
    assert np.asarray(ax.collections[0].get_offsets()) == pytest.approx(np.asarray(model.group_coordinates_))


def test_the_tree_is_cut_between_its_clusters(table):
    X, model = table
    found = insight.clusters(model, X, 4)
    ax = plot.tree(found, names=X.index)
    cut = ax.lines[-1].get_ydata()[0]
    assert np.sqrt(found.gains[3]) < cut < np.sqrt(found.gains[2])
    assert len(ax.get_xticklabels()) == 40
    rows = plot.clusters(found, model, X, names=list(X.index))
    assert len(rows.get_legend().get_texts()) == 4
    with pytest.raises(ritz.ParameterError, match="those of 40 rows"):
        plot.clusters(found, model, X[:10])


def test_three_components_are_a_space(table):
    X, model = table
    ax = plot.space(model, X, components=("PC1", "PC3", "PC4"), color=np.where(X["a"] > 0, "yes", "no"))
    assert ax.get_ylabel().startswith("component 3")
    with pytest.raises(ritz.ParameterError, match="three components"):
        plot.space(model, X, components=(0, 1))


def test_many_kinds_are_the_ten_largest_and_others(table):
    X, model = table
    kinds = [f"k{i % 17:02d}" for i in range(40)]
    ax = plot.scores(model, X, color=kinds, centers=True)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(names) == 11
    assert names[-1] == "7 others"
    levels = plot.scores(model, X, color=["high", "low", "medium", "low"] * 10)
    assert [text.get_text() for text in levels.get_legend().get_texts()] == ["low", "medium", "high"]
