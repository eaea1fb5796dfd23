"""Scores draw what transform gives, coloured and named as asked."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import ritz
from ritz.kernels import Spectrum
from ritz.plot.style import MARKERS, PALETTE


def rows(n: int = 40, d: int = 4) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d)) * np.arange(d, 0, -1)


@pytest.fixture
def pca():
    return ritz.PCA(3).fit(rows())


def dots(ax):
    return [c for c in ax.collections if isinstance(c, mpl.collections.PathCollection)]


def test_points_are_the_scores(pca):
    ax = ritz.plot.scores(pca, rows(), components=(2, 0))
    (drawn,) = dots(ax)
    assert np.allclose(drawn.get_offsets(), pca.transform(rows())[:, [2, 0]])
    shares = 100 * pca.explained_variance_ratio_
    assert ax.get_xlabel() == f"component 3 ({shares[2]:.3g} %)"
    assert ax.get_ylabel() == f"component 1 ({shares[0]:.3g} %)"
    assert ax.get_legend() is None


def test_one_unit_is_as_long_on_both_axes(pca):
    ax = ritz.plot.scores(pca, rows())
    ax.figure.draw_without_rendering()
    unit = ax.transData.transform([(1, 0), (0, 1)]) - ax.transData.transform([(0, 0), (0, 0)])
    assert np.isclose(unit[0, 0], unit[1, 1])
    Z = pca.transform(rows())
    assert ax.get_xlim()[0] < Z[:, 0].min() < Z[:, 0].max() < ax.get_xlim()[1]


def test_training_rows_of_a_kernel_model_need_not_be_given():
    strings = ["abab", "abba", "cdcd", "dcdc", "abcd"]
    model = ritz.KernelPCA(2, kernel=Spectrum(2)).fit(strings)
    (drawn,) = dots(ritz.plot.scores(ritz.KernelPCA(2, kernel="rbf").fit(rows())))
    assert len(drawn.get_offsets()) == 40
    ax = ritz.plot.scores(model, [*strings, "abdd"], names=[*strings, "abdd"])
    assert np.allclose(dots(ax)[0].get_offsets(), model.transform([*strings, "abdd"]))
    assert sorted(note.get_text() for note in ax.texts) == sorted([*strings, "abdd"])


def test_kinds_have_a_colour_a_shape_and_a_name(pca):
    kind = np.repeat(["b", "a", "c", "a"], 10)
    ax = ritz.plot.scores(pca, rows(), color=kind)
    Z = pca.transform(rows())
    drawn = {c.get_label(): c for c in dots(ax)}
    assert list(drawn) == ["a", "b", "c"]
    for i, (name, one) in enumerate(drawn.items()):
        assert np.allclose(one.get_offsets(), Z[kind == name][:, :2])
        assert mpl.colors.to_hex(one.get_facecolor()[0]) == PALETTE[i].lower()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert ritz.plot.scores(pca, rows(), color=kind, legend=False).get_legend() is None


def test_many_kinds_never_share_both_colour_and_shape():
    X = rows(44)
    kind = np.repeat([f"k{i:02d}" for i in range(22)], 2)
    ax = ritz.plot.scores(ritz.PCA(2).fit(X), X, color=kind)
    looks = [(tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in dots(ax)]
    assert len(set(looks)) == 11


def test_whole_numbers_are_kinds_if_few_and_amounts_if_many(pca):
    few = ritz.plot.scores(pca, rows(), color=np.arange(40) % 3)
    assert [c.get_label() for c in dots(few)] == ["0", "1", "2"]
    many = ritz.plot.scores(pca, rows(), color=np.arange(40))
    (drawn,) = dots(many)
    assert np.array_equal(drawn.get_array(), np.arange(40))
    assert len(many.figure.axes) == 2  # the scale
    assert len(ritz.plot.scores(pca, rows(), color=np.arange(40.0), legend=False).figure.axes) == 1


def test_rows_without_a_value_are_grey_and_unnamed(pca):
    kind = [None if i % 4 == 0 else "a" if i % 2 else "b" for i in range(40)]
    ax = ritz.plot.scores(pca, rows(), color=kind)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert sorted(len(c.get_offsets()) for c in dots(ax)) == [10, 10, 20]
    amount = np.where(np.arange(40) < 5, np.nan, np.arange(40.0))
    ax = ritz.plot.scores(pca, rows(), color=amount)
    assert sorted(len(c.get_offsets()) for c in dots(ax)) == [5, 35]


def test_a_column_of_the_rows_gives_colours_and_names(tmp_path):
    frame = pd.DataFrame(rows(), columns=list("abcd"))
    model = ritz.PCA(2).fit(frame)
    (drawn,) = dots(ritz.plot.scores(model, frame, color="b"))
    assert np.array_equal(drawn.get_array(), frame["b"])
    path = tmp_path / "rows.csv"
    frame.assign(kind=np.repeat(["u", "v"], 20)).to_csv(path, index=False)
    table = ritz.read(path)
    with pytest.warns(ritz.ColumnsSetAside):
        model = ritz.PCA(2).fit(table)
    ax = ritz.plot.scores(model, table, color="kind", names="kind")
    assert [c.get_label() for c in dots(ax)] == ["u", "v"]
    assert {note.get_text() for note in ax.texts} == {"u", "v"}


def test_axes_of_ones_own_are_used(pca):
    before = dict(mpl.rcParams)
    fig, own = plt.subplots()
    assert ritz.plot.scores(pca, rows(), ax=own) is own
    assert plt.get_fignums() == [fig.number]
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"components": (0, 3)}, "which of 0 … 2"),
        ({"components": (0, 1, 2)}, "a plane has two components"),
        ({"components": 1}, "a plane has two components"),
        ({"color": ["a"]}, "color has one value for each of 40 rows"),
        ({"names": ["a"]}, "names has one value for each of 40 rows"),
        ({"color": "b"}, "color='b' names a column of X; received ndarray"),
        ({"X": None}, "keeps no rows"),
        ({"ax": 3}, "matplotlib Axes; received int"),
    ],
)
def test_wrong_requests_are_refused_in_words(pca, asked, words):
    with pytest.raises((ritz.ParameterError, ritz.InputError), match=words):
        ritz.plot.scores(pca, **{"X": rows(), **asked})
    assert not plt.get_fignums()


def test_there_is_a_shape_for_every_colour():
    assert len(MARKERS) == len(PALETTE) == len(set(PALETTE))


def test_ellipses_are_those_of_insight_in_the_colours_of_the_kinds():
    rng = np.random.default_rng(0)
    X, kind = rng.standard_normal((40, 4)), np.array(["x", "y"] * 20)
    model = ritz.PCA(3).fit(X)
    ax = ritz.plot.scores(model, X, color=kind, ellipses="means", components=("PC1", "PC3"))
    rings = ritz.insight.ellipse(model, X, kind, of="means", components=(0, 2))
    drawn = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert len(drawn) == 2
    for line, name, points in zip(drawn, "xy", ax.collections, strict=True):
        assert np.allclose(line.get_xydata(), rings[name].path())
        assert np.allclose(mpl.colors.to_rgba(line.get_color()), points.get_facecolor()[0])
    one = ritz.plot.scores(model, X, ellipses="rows")
    assert np.allclose(one.lines[-1].get_xydata(), ritz.insight.ellipse(model, X)[None].path())
    for wrong in ({"ellipses": "mean", "color": kind}, {"ellipses": "rows", "color": X[:, 0]}):
        with pytest.raises(ritz.ParameterError, match="around the kinds"):
            ritz.plot.scores(model, X, **wrong)
    with pytest.raises(ritz.ParameterError, match="components"):
        ritz.plot.scores(model, X, components=("PC1", "PC4"))
