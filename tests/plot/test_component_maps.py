"""Component maps draw transform, on the grid that they show, and refuse what has no plane."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ritz
from ritz.kernels import Spectrum


def rows(n: int = 60, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, 2)) * [2.0, 1.0] + [5.0, -1.0]


@pytest.fixture
def model():
    return ritz.KernelPCA(7, kernel="rbf", gamma=0.3).fit(rows())


def grid_of(image) -> np.ndarray:
    """The points at the middles of the pixels, (rows × columns, 2)."""
    left, right, bottom, top = image.get_extent()
    high, wide = image.get_array().shape
    x = left + (np.arange(wide) + 0.5) * (right - left) / wide
    y = bottom + (np.arange(high) + 0.5) * (top - bottom) / high
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def test_what_is_drawn_is_transform_on_the_grid(model):
    axes = ritz.plot.component_maps(model, grid=23)
    assert axes.shape == (6,)
    for i, ax in enumerate(axes):
        (image,) = ax.images
        drawn = np.asarray(image.get_array())
        assert drawn.shape == (23, 23)
        assert image.origin == "lower"
        assert np.allclose(drawn.ravel(), model.transform(grid_of(image))[:, i], atol=1e-12)
        assert np.allclose(image.norm.vmin, -image.norm.vmax)  # 0 is white


def test_lines_run_where_the_component_has_their_value(model):
    (ax,) = ritz.plot.component_maps(model, components=[2], grid=300)
    thick = [c for c in ax.collections if isinstance(c, mpl.contour.QuadContourSet) and list(c.levels) == [0.0]]
    assert len(thick) == 1
    others = [c for c in ax.collections if isinstance(c, mpl.contour.QuadContourSet) and c is not thick[0]]
    assert max(c.get_linewidth().max() for c in others) < thick[0].get_linewidth().min()
    scale = np.abs(ax.images[0].get_array()).max()
    seen = 0
    for lines in [*thick, *others]:
        for level, path in zip(lines.levels, lines.get_paths(), strict=True):
            if len(path.vertices):
                seen += 1
                assert np.max(np.abs(model.transform(path.vertices)[:, 2] - level)) < 2e-3 * scale
    assert seen >= 5


def test_the_training_rows_are_drawn_unless_others_are_given(model):
    (ax,) = ritz.plot.component_maps(model, components=1)
    assert np.allclose(ax.collections[-1].get_offsets(), rows())
    other = rows(9, seed=1)
    (ax,) = ritz.plot.component_maps(model, other, components=1)
    assert np.allclose(ax.collections[-1].get_offsets(), other)
    left, right = ax.get_xlim()
    assert left < other[:, 0].min() < other[:, 0].max() < right


def test_kinds_of_rows_have_shapes_of_their_own(model):
    kind = np.repeat(["a", "b", "c"], 20)
    (ax,) = ritz.plot.component_maps(model, rows(), components=1, color=kind)
    drawn = ax.collections[-3:]
    assert [c.get_label() for c in drawn] == ["a", "b", "c"]
    assert all(np.allclose(c.get_offsets(), rows()[kind == c.get_label()]) for c in drawn)
    assert len({c.get_paths()[0].vertices.shape for c in drawn}) > 1
    assert len({tuple(c.get_facecolor()[0]) for c in drawn}) == 3


def test_a_part_of_the_plane_can_be_named(model):
    (ax,) = ritz.plot.component_maps(model, components=1, extent=(4, 6, -2, 0), grid=11)
    assert ax.get_xlim() == (4, 6)
    assert ax.get_ylim() == (-2, 0)
    assert np.allclose(grid_of(ax.images[0])[0], [4, -2])
    inside = (np.abs(rows() - [5, -1]) <= 1).all(axis=1)
    assert np.allclose(ax.collections[-1].get_offsets(), rows()[inside])
    assert ax.get_aspect() == 1.0


def test_words_on_the_axes(model):
    axes = ritz.plot.component_maps(model, components=[0, 3])
    assert [ax.get_title(loc="left") for ax in axes] == ["f₁(x)", "f₄(x)"]
    share = 100 * model.explained_variance_ratio_[3]
    assert axes[1].get_title(loc="right") == f"{share:.3g} %"
    assert axes[0].get_xlabel() == "x₁"
    assert axes[0].get_ylabel() == "x₂"
    framed = ritz.KernelPCA(2, kernel="rbf").fit(pd.DataFrame(rows(), columns=["width", "height"]))
    axes = ritz.plot.component_maps(framed)  # no warning of missing names: warnings are errors here
    assert axes[0].get_xlabel() == "width"
    assert axes[0].get_ylabel() == "height"


def test_linear_components_are_planes():
    X = rows()
    pca = ritz.PCA(2).fit(X)
    axes = ritz.plot.component_maps(pca, X, grid=9)
    for i, ax in enumerate(axes):
        points = grid_of(ax.images[0])
        assert np.allclose(ax.images[0].get_array().ravel(), (points - pca.mean_) @ pca.components_[i])
    axes = ritz.plot.component_maps(pca, extent=(-1, 1, -1, 1), components=1)
    assert not [c for c in axes[0].collections if isinstance(c, mpl.collections.PathCollection)]


def test_axes_of_ones_own_are_used_and_nothing_else_changes(model):
    before = dict(mpl.rcParams)
    fig, own = plt.subplots(1, 3)
    kept = fig.get_size_inches().copy()
    axes = ritz.plot.component_maps(model, components=2, ax=own[:2])
    assert list(axes) == list(own[:2])
    assert not own[2].images
    assert np.array_equal(fig.get_size_inches(), kept)
    assert plt.get_fignums() == [fig.number]
    (one,) = ritz.plot.component_maps(model, components=[4], ax=own[2])
    assert one is own[2]
    assert dict(mpl.rcParams) == before


def test_landmarks_serve_as_rows():
    X = rows(300)
    small = ritz.KernelPCA(2, kernel="rbf", gamma=0.3, solver="nystrom", landmarks=40).fit(X)
    axes = ritz.plot.component_maps(small, grid=9)
    assert len(axes[0].collections[-1].get_offsets()) == 40
    assert np.allclose(axes[1].images[0].get_array().ravel(), small.transform(grid_of(axes[1].images[0]))[:, 1])


def test_the_same_place_for_all_rows_still_has_a_map():
    X = np.concatenate([np.zeros((5, 2)), [[0.0, 1.0]]])
    axes = ritz.plot.component_maps(ritz.KernelPCA(1, kernel="rbf").fit(X))
    assert np.isfinite(axes[0].images[0].get_array()).all()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: ritz.KernelPCA(2, kernel="rbf").fit(np.eye(5)[:, :3]), "one of 3 columns"),
        (lambda: ritz.PCA(2).fit(np.eye(6)), "one of 6 columns"),
        (lambda: ritz.KernelPCA(2, kernel=Spectrum(2)).fit(["abab", "baba", "cdcd"]), "not vectors"),
        (lambda: ritz.KernelPCA(1, kernel="precomputed").fit(np.eye(4)), "precomputed"),
        (lambda: ritz.KernelPCA(1, kernel="precomputed").fit(np.eye(2)), "precomputed"),
    ],
)
def test_models_without_a_plane_are_refused(made, words):
    with pytest.raises(ritz.InputError, match=f"two columns(.|\n)*{words}(.|\n)*ritz.plot.scores"):
        ritz.plot.component_maps(made())


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"components": 8}, "which of 0 … 6; received"),
        ({"components": 0}, "how many"),
        ({"components": [-1]}, "which of 0 … 6"),
        ({"components": "all"}, "which of 0 … 6; received 'all'"),
        ({"components": True}, "which of"),
        ({"grid": 1}, "2 or more; received 1"),
        ({"grid": 5.0}, "2 or more"),
        ({"extent": (0, 1, 1, 0)}, "bottom < top"),
        ({"extent": (0, 1)}, "left < right"),
        ({"extent": "wide"}, "left < right"),
        ({"ax": "here"}, "matplotlib Axes; received str"),
        ({"color": [1, 2]}, "one value for each of 60 rows"),
        ({"color": "kind"}, "names a column of X"),
        ({"X": np.zeros((4, 3))}, r"two columns; received shape \(4, 3\)"),
        ({"X": [["a", "b"]]}, "two columns"),
    ],
)
def test_wrong_requests_are_refused_in_words(model, asked, words):
    with pytest.raises((ritz.ParameterError, ritz.InputError), match=words):
        ritz.plot.component_maps(model, **asked)
    assert not plt.get_fignums()  # refused before a figure was opened


def test_too_few_axes_are_refused(model):
    _, own = plt.subplots(1, 3)
    with pytest.raises(ritz.ParameterError, match="each of 6 pictures; received 3"):
        ritz.plot.component_maps(model, ax=own)


def test_a_model_that_keeps_no_rows_needs_some():
    pca = ritz.PCA(2).fit(rows())
    with pytest.raises(ritz.ParameterError, match="neither X nor extent"):
        ritz.plot.component_maps(pca)
    with pytest.raises(ritz.ParameterError, match="color belongs to rows"):
        ritz.plot.component_maps(pca, extent=(0, 1, 0, 1), color=[1])
    with pytest.raises(NotFittedError):
        ritz.plot.component_maps(ritz.PCA(2))
