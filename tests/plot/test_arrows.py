"""Biplots and circles draw what insight gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight
from ritz.plot.arrows import REACH


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 5)) + 0.4 * rng.standard_normal((30, 5))
    return pd.DataFrame(X, columns=list("abcde"), index=[f"row {i}" for i in range(30)])


def arrows(ax):
    return np.array([note.xy for note in ax.texts if note.get_text() == "" and note.arrow_patch is not None])


def written(ax):
    return [note.get_text() for note in ax.texts if note.get_text()]


@pytest.mark.parametrize("scaling", ["form", "covariance", "symmetric"])
def test_a_biplot_draws_rows_and_stretched_columns(table, scaling):
    model = ritz.PCA(3, scale=True).fit(table)
    ax = ritz.plot.biplot(model, table, scaling=scaling, components=(0, 2))
    found = insight.biplot(model, table, scaling=scaling)
    rows, columns = found.rows.to_numpy()[:, [0, 2]], found.columns.to_numpy()[:, [0, 2]]
    assert np.allclose(ax.collections[0].get_offsets(), rows)
    drawn = arrows(ax)
    stretch = drawn / columns
    assert np.allclose(stretch, stretch[0, 0])
    assert np.isclose(np.hypot(*drawn.T).max(), REACH * np.hypot(*rows.T).max())
    assert sorted(written(ax)) == list("abcde")
    for (low, high), side in zip((ax.get_xlim(), ax.get_ylim()), drawn.T, strict=True):
        assert low < side.min()
        assert side.max() < high


def test_rows_have_names_and_colours(table):
    model = ritz.PCA(2).fit(table)
    ax = ritz.plot.biplot(model, table[:4], names=True, color=["x", "x", "y", "y"], most=2)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["x", "y"]
    assert {f"row {i}" for i in range(4)} < set(written(ax))
    assert len(written(ax)) == 6


def test_factors_and_tables_have_biplots(table):
    factors = ritz.FactorAnalysis(2).fit(table)
    assert len(arrows(ritz.plot.biplot(factors, table, scaling="covariance"))) == 5
    counts = pd.DataFrame([[10, 3, 2], [4, 12, 1], [2, 2, 9], [5, 5, 6]], columns=list("xyz"))
    assert sorted(written(ritz.plot.biplot(ritz.CA().fit(counts), counts))) == list("xyz")


def test_the_circle_shows_correlations(table):
    model = ritz.PCA(2).fit(table)
    ax = ritz.plot.circle(model)
    assert np.allclose(arrows(ax), insight.structure(model).to_numpy())
    assert sorted(written(ax)) == list("abcde")
    assert (np.hypot(*arrows(ax).T) <= 1 + 1e-12).all()


def test_further_columns_are_dashed(table):
    model = ritz.PCA(2).fit(table)
    other = pd.DataFrame({"sum": table.sum(axis=1).to_numpy()})
    ax = ritz.plot.circle(model, table, supplementary=other)
    held = [note for note in ax.texts if note.arrow_patch is not None and note.arrow_patch.get_linestyle() == "--"]
    scores = model.transform(table)
    expected = [np.corrcoef(other["sum"], scores[:, i])[0, 1] for i in range(2)]
    assert np.allclose([note.xy for note in held], [expected])
    assert "sum" in written(ax)
    with pytest.raises(ritz.ParameterError, match="need the rows"):
        ritz.plot.circle(model, supplementary=other)


def test_refusals(table):
    model = ritz.PCA(3).fit(table)
    with pytest.raises(ritz.ParameterError, match="two components"):
        ritz.plot.circle(model, components=(0, 1, 2))
    with pytest.raises(ritz.ParameterError, match="scaling"):
        ritz.plot.biplot(model, table, scaling="other")
