"""Maps of the correspondence family: what is drawn is what the model says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz

pytest.importorskip("matplotlib").use("Agg")

TABLE = pd.DataFrame(
    [[10, 2, 1], [3, 8, 2], [1, 4, 9], [6, 5, 5]], ["north", "east", "south", "west"], ["tea", "coffee", "milk"]
)


@pytest.fixture(autouse=True)
def closed():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def drawn(ax) -> list[np.ndarray]:
    return [np.asarray(points.get_offsets()) for points in ax.collections]


@pytest.mark.parametrize(
    ("scaling", "rows", "columns"),
    [
        ("symmetric", "row_coordinates_", "column_coordinates_"),
        ("row-principal", "row_coordinates_", "column_standard_coordinates_"),
        ("column-principal", "row_standard_coordinates_", "column_coordinates_"),
    ],
)
def test_points_are_the_coordinates(scaling: str, rows: str, columns: str) -> None:
    model = ritz.CA().fit(TABLE)
    ax = ritz.plot.map(model, scaling=scaling, components=(1, 0))
    first, second = drawn(ax)
    np.testing.assert_allclose(first, getattr(model, rows).to_numpy()[:, [1, 0]])
    np.testing.assert_allclose(second, getattr(model, columns).to_numpy()[:, [1, 0]])
    assert sorted(text.get_text() for text in ax.texts) == sorted([*TABLE.index, *TABLE.columns])
    assert ax.get_aspect() == 1.0
    assert ax.get_xlabel() == f"axis 2 ({100 * model.explained_inertia_ratio_[1]:.3g} % of inertia)"


def test_contribution_biplot() -> None:
    model = ritz.CA().fit(TABLE)
    ax = ritz.plot.map(model, scaling="contribution")
    _, columns = drawn(ax)
    np.testing.assert_allclose(np.square(columns), model.column_contributions_)
    arrows = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) == 2 and line.get_linewidth() > 0.8]
    np.testing.assert_allclose([line[1] for line in arrows], columns)
    assert all((line[0] == 0).all() for line in arrows)


def test_size_is_contribution_and_opacity_is_quality() -> None:
    model = ritz.CA().fit(TABLE)
    points = ritz.plot.map(model, components=(0, 1)).collections[0]
    share, quality = model.row_contributions_.mean(axis=1), model.row_cos2_.sum(axis=1)
    assert (np.argsort(points.get_sizes()) == np.argsort(share)).all()
    many = ritz.CA(3).fit(np.random.default_rng(0).poisson(3.0, (30, 6)) + 1)
    alpha = ritz.plot.map(many).collections[0].get_alpha()
    assert (np.argsort(alpha) == np.argsort(many.row_cos2_[:, :2].sum(axis=1))).all()
    assert (np.asarray(quality) <= 1 + 1e-12).all()


def test_names_do_not_overlap() -> None:
    """A hundred names spread over the plane find room."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.poisson(4.0, (40, 60)) + 1, [f"row {i}" for i in range(40)], [f"c{j}" for j in range(60)])
    ax = ritz.plot.map(ritz.CA(2).fit(table))
    assert len(ax.texts) == 100
    ax.figure.set_layout_engine("none")
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    covered = 0.0
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            wide = min(a.x1, b.x1) - max(a.x0, b.x0)
            high = min(a.y1, b.y1) - max(a.y0, b.y0)
            covered += max(wide, 0) * max(high, 0)
    assert covered < 0.06 * sum(box.width * box.height for box in boxes)


def test_many_rows_are_dots_and_categories_have_short_names() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"work": rng.choice(["work", "Not.work"], 200), "sex": rng.choice(["F", "M"], 200)})
    ax = ritz.plot.map(ritz.MCA(2).fit(people))
    assert sorted(text.get_text() for text in ax.texts) == ["F", "M", "Not.work", "work"]
    full = ritz.plot.map(ritz.MCA(2).fit(people), labels="full")
    assert sorted(text.get_text() for text in full.texts) == ["sex=F", "sex=M", "work=Not.work", "work=work"]
    again = ritz.plot.map(ritz.MCA(2).fit(people.assign(again=people.sex)))  # two levels M: with their variables
    assert "again=M" in [text.get_text() for text in again.texts]
    assert len(ritz.plot.map(ritz.MCA(2).fit(people), names=True, most=20).texts) == 20


def test_numbers_of_a_mixed_table_are_not_on_the_map() -> None:
    rng = np.random.default_rng(0)
    mixed = pd.DataFrame({"age": rng.normal(40, 9, 30), "tall": rng.normal(size=30), "sex": rng.choice(["F", "M"], 30)})
    model = ritz.FAMD().fit(mixed)
    rows, columns = drawn(ritz.plot.map(model))
    np.testing.assert_allclose(rows, model.row_coordinates_.to_numpy()[:, :2])
    np.testing.assert_allclose(columns, model.column_coordinates_.loc[["sex=F", "sex=M"]].to_numpy()[:, :2])


def test_some_points() -> None:
    model = ritz.CA().fit(TABLE)
    ax = ritz.plot.map(model, rows=False, columns=["milk", "tea"])
    assert len(drawn(ax)) == 1
    np.testing.assert_allclose(drawn(ax)[0], model.column_coordinates_.loc[["milk", "tea"]].to_numpy()[:, :2])


def test_supplementary_points_and_colours() -> None:
    model = ritz.CA().fit(TABLE)
    more = pd.DataFrame({"water": [1, 2, 3, 4]}, TABLE.index)
    ax = ritz.plot.map(model, supplementary=more, supplementary_rows=TABLE.iloc[:1] * 2, color=["a", "b", "a", "b"])
    points = drawn(ax)
    np.testing.assert_allclose(points[-2], model.supplementary_columns(more).to_numpy()[:, :2])
    np.testing.assert_allclose(points[-1], model.row_coordinates_.to_numpy()[:1, :2], atol=1e-12)
    np.testing.assert_allclose(points[0], model.row_coordinates_.to_numpy()[[0, 2], :2])  # kind a
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["a", "b", "columns", "supplementary", "supplementary rows"]
    assert "water" in [text.get_text() for text in ax.texts]


def test_rows_without_names_are_not_named() -> None:
    ax = ritz.plot.map(ritz.CA().fit(TABLE.reset_index(drop=True)))
    assert sorted(text.get_text() for text in ax.texts) == sorted(TABLE.columns)


def test_empty_rows_are_not_drawn() -> None:
    table = TABLE.copy()
    table.loc["nowhere"] = 0
    with pytest.warns(ritz.EmptyProfiles):
        model = ritz.CA().fit(table)
    assert len(drawn(ritz.plot.map(model))[0]) == 4


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: ritz.plot.map(ritz.PCA().fit(TABLE)), "PCA has no map"),
        (lambda: ritz.plot.map(ritz.CA().fit(TABLE), scaling="biplot"), "scaling must be one of symmetric"),
        (lambda: ritz.plot.map(ritz.CA().fit(TABLE), components=(0, 1, 0)), "two axes"),
        (lambda: ritz.plot.map(ritz.CA().fit(TABLE), components=(0, 5)), "which of 0 … 1"),
        (lambda: ritz.plot.map(ritz.CA().fit(TABLE), rows=["up"]), "labels of the map; received 'up'"),
        (lambda: ritz.plot.map(ritz.CA().fit(TABLE), names="some"), "names must be"),
        (lambda: ritz.plot.map(ritz.CA().partial_fit(TABLE)), "fitted in memory"),
        (lambda: ritz.plot.map(ritz.CA(1).fit(TABLE)), "two axes; received a model with 1"),
        (lambda: ritz.plot.map(ritz.CA().fit(TABLE), labels="x"), "labels must be"),
    ],
)
def test_refused(call, match: str) -> None:
    with pytest.raises(ritz.RitzError, match=match):
        call()
