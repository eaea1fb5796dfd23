"""The style stays in its figures, matplotlib comes last, and names find room."""

from __future__ import annotations

import json
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import ritz
from ritz.plot.labels import write_names
from ritz.plot.style import PALETTE, dark


def test_matplotlib_is_loaded_by_the_first_picture_only():
    code = (
        "import json, sys, ritz\n"
        "calls = [ritz.plot.component_maps, ritz.plot.scores, ritz.plot.house, dir(ritz.plot)]\n"
        "print(json.dumps('matplotlib' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    model = ritz.KernelPCA(2, kernel="rbf").fit(np.random.default_rng(0).standard_normal((9, 2)))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (ritz.plot.component_maps, ritz.plot.scores, lambda _: ritz.plot.house()):
        with pytest.raises(ritz.MissingDependency, match=r"matplotlib(.|\n)*pip install 'ritz\[plot\]'") as caught:
            call(model)
        assert isinstance(caught.value, ImportError)


def test_the_names_of_the_folder_are_listed():
    assert {"component_maps", "house", "scores"} <= set(dir(ritz.plot))
    assert all(callable(getattr(ritz.plot, name)) for name in dir(ritz.plot))
    with pytest.raises(AttributeError, match="no attribute 'pie'"):
        ritz.plot.pie  # noqa: B018


def test_the_style_ends_with_its_context():
    before = dict(mpl.rcParams)
    with ritz.plot.house():
        assert not mpl.rcParams["axes.spines.top"]
    assert dict(mpl.rcParams) == before


def luminance(color: str) -> float:
    parts = np.array(mpl.colors.to_rgb(color))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_names_can_be_read_on_white():
    for color in PALETTE:
        assert luminance(dark(color)) < luminance(color)
        assert 1.05 / (luminance(dark(color)) + 0.05) > 3.0  # the contrast that large text needs [WCAG 2.1]


# How the three kinds of cone blindness see a colour: linear RGB → LMS, one cone from the other two, and back.
SEEN = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


@pytest.mark.parametrize("kind", sorted(SEEN))
def test_the_first_colours_stay_apart_for_the_colour_blind(kind):
    seen = [np.clip(np.array(SEEN[kind]) @ mpl.colors.to_rgb(color), 0, 1) for color in PALETTE[:5]]
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(gaps) > 0.12


# ------------------------------------------------------------------------------------------------- names


def boxes(ax, notes):
    renderer = ax.figure.figure._get_renderer()
    for note in notes:
        getattr(note, "update_positions", lambda _: None)(renderer)
    # The words alone: the box of an annotation would hold its line as well.
    return [mpl.text.Text.get_window_extent(note, renderer) for note in notes]


def covered(found) -> int:
    return sum(a.overlaps(b) for i, a in enumerate(found) for b in found[:i])


def crowd(seed: int = 0, n: int = 25) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, 2)) * [1.0, 0.6]


def test_names_do_not_cover_each_other_or_leave_the_axes():
    xy = crowd()
    names = [f"name {i}" for i in range(len(xy))]
    _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    ax.scatter(*xy.T)
    notes = write_names(ax, xy, names)
    found = boxes(ax, notes)
    assert [note.get_text() for note in notes] == names
    assert covered(found) == 0
    frame = ax.get_window_extent()
    assert all(frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1 for box in found)
    plain = [ax.text(x, y, name, fontsize=8) for (x, y), name in zip(xy, names, strict=True)]
    assert covered(boxes(ax, plain)) > 0  # else nothing was tested


def test_names_far_from_their_points_are_tied_to_them():
    xy = np.zeros((12, 2)) + np.linspace(0, 0.02, 12)[:, None]
    _, ax = plt.subplots(figsize=(6, 4))
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    notes = write_names(ax, xy, [f"name {i}" for i in range(12)])
    assert covered(boxes(ax, notes)) == 0
    tied = [note.arrow_patch is not None for note in notes]
    assert 4 < sum(tied) < 12
    for note, point in zip(notes, xy, strict=True):
        assert np.allclose(note.xy, point)


def test_the_same_names_stand_at_the_same_places():
    places = []
    for _ in range(2):
        _, ax = plt.subplots(figsize=(6, 4))
        ax.scatter(*crowd().T)
        places.append([note.get_position() for note in write_names(ax, crowd(), [str(i) for i in range(25)])])
    assert places[0] == places[1]
    assert write_names(ax, np.empty((0, 2)), []) == []


def test_names_keep_off_points_without_names():
    xy = np.array([[0.0, 0.0]])
    _, ax = plt.subplots(figsize=(6, 4))
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    beside = np.stack([np.linspace(0.02, 0.3, 12), np.zeros(12)], axis=1)
    (free,), (kept,) = write_names(ax, xy, ["name"]), write_names(ax, xy, ["name"], avoid=beside)
    hidden = [sum(box.contains(*at) for at in ax.transData.transform(beside)) for box in boxes(ax, [free, kept])]
    assert hidden[0] > 3
    assert hidden[1] == 0


def test_names_find_room_on_every_canvas_and_in_parts_of_a_figure():
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    whole = Figure(figsize=(6, 4))
    FigureCanvasSVG(whole)
    ax = whole.subfigures(1, 2)[1].subplots()
    ax.scatter(*crowd().T)
    notes = write_names(ax, crowd(), [str(i) for i in range(25)])
    assert covered(boxes(ax, notes)) == 0
