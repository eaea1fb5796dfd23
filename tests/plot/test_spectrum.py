"""Scree plots, intervals of loadings and outlier maps draw what insight gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 6)) * 2 + rng.standard_normal((40, 6))
    return pd.DataFrame(X, columns=list("abcdef"), index=[f"row {i}" for i in range(40)])


def heights(ax):
    return np.array([bar.get_height() for bar in ax.patches])


def test_the_scree_plot_of_a_model_shows_its_shares(table):
    model = ritz.PCA(4).fit(table)
    ax = ritz.plot.scree(model)
    assert np.allclose(heights(ax), 100 * model.explained_variance_ratio_)
    assert len(heights(ritz.plot.scree(model, most=2))) == 2
    assert len(heights(ritz.plot.scree(ritz.KernelPCA(3).fit(table)))) == 3
    counts = pd.DataFrame([[10, 3, 2], [4, 12, 1], [2, 2, 9], [5, 5, 6]], columns=list("xyz"))
    ca = ritz.CA().fit(counts)
    assert np.allclose(heights(ritz.plot.scree(ca)), 100 * ca.explained_inertia_ratio_)


def test_the_scree_plot_of_all_rules_has_their_lines(table):
    found = ritz.choose_rank(table, scale=True)
    ax = ritz.plot.scree(found, rules=["parallel", "kaiser"])
    assert np.allclose(heights(ax), 100 * ritz.PCA(scale=True).fit(table).explained_variance_ratio_)
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert list(drawn) == [f"{name}: {found[name].k}" for name in ("parallel", "kaiser")]
    assert np.allclose(drawn[f"kaiser: {found['kaiser'].k}"], 100 / 6)
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert len(set(colours[: found.consensus])) == 1
    assert colours[found.consensus] != colours[0]
    assert f"{found.consensus} of 6" in ax.get_title(loc="left")
    only = ritz.choose_rank(table, criteria=["bic"])
    with pytest.raises(ritz.ParameterError, match="looks at shares"):
        ritz.plot.scree(only)
    with pytest.raises(ritz.ParameterError, match="rules with a line"):
        ritz.plot.scree(found, rules=["bic"])


def test_the_scree_plot_of_a_bootstrap_has_intervals(table):
    sure = insight.bootstrap(ritz.PCA(3).fit(table), table, n_boot=60)
    ax = ritz.plot.scree(sure)
    ends = np.array(ax.collections[0].get_segments())[:, :, 1]
    assert np.allclose(ends, 100 * np.column_stack([sure.shares.low, sure.shares.high]))


def test_intervals_of_loadings(table):
    sure = insight.bootstrap(ritz.PCA(3).fit(table), table, n_boot=60)
    first, third = ritz.plot.intervals(sure, ["PC1", 2])
    assert first.get_title(loc="left").startswith("PC1")
    assert third.get_title(loc="left").startswith("PC3")
    names = [tick.get_text() for tick in first.get_yticklabels()]
    estimate = sure.loadings.estimate["PC1"]
    assert names[::-1] == estimate.abs().sort_values(ascending=False).index.tolist()
    bars = np.concatenate([np.array(held.get_segments()).reshape(-1, 2, 2)[:, :, 0] for held in first.collections[::2]])
    expected = np.column_stack([sure.loadings.low["PC1"], sure.loadings.high["PC1"]])
    assert np.allclose(np.sort(bars, axis=0), np.sort(expected, axis=0))
    (few,) = ritz.plot.intervals(sure, 0, most=2)
    assert len(few.get_yticklabels()) == 2
    with pytest.raises(ritz.ParameterError, match="result of a bootstrap"):
        ritz.plot.intervals(ritz.PCA(2).fit(table))


def test_an_outlier_map_draws_distances_cutoffs_and_names(table):
    spoilt = table.copy()
    spoilt.loc["row 7", "c"] = 60.0
    model = ritz.RobustPCA(2, method="robpca").fit(spoilt)
    found = insight.outlier_map(model, spoilt)
    ax = ritz.plot.outlier_map(model, spoilt)
    drawn = np.concatenate([np.asarray(held.get_offsets()) for held in ax.collections])
    expected = np.column_stack([found.score_distance, found.orthogonal_distance])
    assert np.allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))
    lines = [line.get_xydata() for line in ax.lines]
    assert np.allclose(lines[0][:, 0], found.score_cutoff)
    assert np.allclose(lines[1][:, 1], found.orthogonal_cutoff)
    written = [note.get_text() for note in ax.texts]
    assert "row 7" in written
    assert len(written) == found.mask.sum()
    kinds = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(kinds) == set(found.kind)
    quiet = ritz.plot.outlier_map(model, spoilt, names=[f"n{i}" for i in range(40)], most=1, legend=False)
    assert [note.get_text() for note in quiet.texts] == ["n7"]
    assert quiet.get_legend() is None
