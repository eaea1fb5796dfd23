"""Charts in a real browser: one choice of axes, ellipses, densities, equal units, files of charts, hover, a space."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ritz
from ritz import insight
from tests.report.tab import FRAMES

pytestmark = pytest.mark.chromium

PLANE = "const of = (name) => document.querySelector(`[data-chart=${name}]`).plane;"
#: Of each name that is written on a chart: its rectangle, inside the axes.
WRITTEN = """(chart) => { const plane = document.querySelector(`[data-chart=${chart}]`).plane, b = plane.box;
  return [plane.written.map(d => [d.cx - d.w / 2, d.cy - d.h / 2, d.cx + d.w / 2, d.cy + d.h / 2]),
          [b.left, b.top, b.left + b.width, b.top + b.height]]; }"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory, wine, counts) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("charts")
    rng = np.random.default_rng(0)
    kind = np.repeat(["first", "second"], 15_000)
    cloud = rng.normal(size=(30_000, 3)) * [3.0, 2.0, 0.5]
    far = rng.normal(size=(60, 8)) * 0.02 + 50 * np.eye(8)[rng.integers(0, 8, 60)]
    given: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "wine": (*wine, {"clusters": 3, "supplementary": ["cultivar"]}),
        "counts": (*counts, {}),
        "cloud": (ritz.PCA(3).fit(cloud), cloud, {"color": kind}),
        "far": (ritz.PCA(2).fit(far), far, {}),
    }
    return {
        name: ritz.report(model, X, folder / f"{name}.html", **options) for name, (model, X, options) in given.items()
    }


@pytest.fixture
def open_page(tab, reports):
    """Open a report; what it says in the console must be nothing."""
    said: list[str] = []

    def opened(name: str, **options: Any) -> Any:
        said.extend(tab.said if used else ())
        used.append(name)
        return tab.open(reports[name], **options)

    used: list[str] = []
    yield opened
    assert [*said, *tab.said] == []


def test_axes_are_chosen_for_all_charts_at_once(open_page):
    page = open_page("wine")
    page.locator("#scores").get_by_label("Across").select_option(label="PC3")
    names = page.evaluate(
        f"() => {{ {PLANE} return ['scores', 'biplot', 'circle', 'clusters'].map(n => of(n).options.names[0]); }}"
    )
    assert all(name.startswith("PC3") for name in names)
    assert page.locator("#loadings").get_by_label("Component", exact=True).input_value() == "2"
    page.locator("#circle").get_by_label("Up").select_option(label="PC1")
    assert page.evaluate(f"() => {{ {PLANE} return of('biplot').options.names[1]; }}").startswith("PC1")
    assert page.locator("#space").get_by_label("Depth", exact=True).input_value() == "1"


@pytest.mark.parametrize("of", ["rows", "means"])
def test_ellipses_are_those_of_insight(open_page, wine, of):
    page = open_page("wine")
    model, table = wine
    page.locator("#scores").get_by_label("Ellipses").select_option(label=f"of {of} (95 %)")
    page.evaluate(FRAMES)
    drawn = page.evaluate(
        f"""(kind) => {{ {PLANE} const o = of('scores').options;
        return Ritz.kindsOf(o.buckets().buckets, o.x, o.y).map(k =>
          [k.bucket.name, k.x, k.y, ...Ritz.ellipse(k, kind).axes]); }}""",
        of,
    )
    known = insight.ellipse(model, table, table.labels("cultivar"), of=of)
    assert len(drawn) == 3
    for name, x, y, long, short in drawn:
        assert (x, y) == pytest.approx(tuple(known[name].center), rel=1e-4)
        assert (long, short) == pytest.approx(tuple(known[name].axes), rel=1e-4)
    assert page.evaluate(f"() => {{ {PLANE} return of('scores').options.rings().length; }}") == 3


def test_one_unit_is_as_long_on_both_axes(open_page):
    page = open_page("wine")
    for chart in ("scores", "biplot", "circle", "clusters"):
        ax, ay = page.evaluate(f"(n) => {{ {PLANE} const t = of(n).to(); return [t.ax, t.ay]; }}", chart)
        assert ax == pytest.approx(-ay)
    page.locator("#scores").get_by_label("Across").select_option(label="row number")
    page.evaluate(FRAMES)
    ax, ay = page.evaluate(f"() => {{ {PLANE} const t = of('scores').to(); return [t.ax, t.ay]; }}")
    assert ax != pytest.approx(-ay)


def test_many_rows_are_a_density_in_which_no_kind_covers_another(open_page):
    page = open_page("cloud")
    colours = page.evaluate(
        f"""() => {{ {PLANE} const p = of('scores'), t = p.to(), c = p.canvas.getContext('2d'), r = p.ratio;
        const x = Math.round(r * (t.bx - 25)), y = Math.round(r * (t.by - 25)), out = [];
        const d = c.getImageData(x, y, 20 * r, 20 * r).data;
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 100) out.push([d[i], d[i + 1], d[i + 2]]);
        return out; }}"""
    )
    mean = np.mean(colours, axis=0)
    first, second = np.array([0, 0x72, 0xB2]), np.array([0xD5, 0x5E, 0])
    share = float((mean - first) @ (second - first) / np.square(second - first).sum())
    assert share == pytest.approx(0.5, abs=0.1)  # both kinds are there alike, in any order of drawing


def test_kinds_take_turns_where_points_are_drawn(open_page):
    page = open_page("wine")
    turns = page.evaluate(
        f"() => {{ {PLANE} const held = of('scores').options.buckets(); return Array.from(Ritz.mixed(held).of); }}"
    )
    assert sum(a != b for a, b in itertools.pairwise(turns)) > 0.4 * len(turns)


def test_odd_rows_are_drawn_on_the_range_of_the_data(open_page):
    page = open_page("far")
    x0, x1, least, most = page.evaluate(
        f"""() => {{ {PLANE} const p = of('outliers'), v = Array.from(p.options.y), e = p.options.extent;
        return [e.y0, e.y1, Math.min(...v), Math.max(...v)]; }}"""
    )
    assert least - x0 < 0.6 * (x1 - x0)
    assert most <= x1
    assert x0 >= 0


@pytest.mark.parametrize("name", ["wine", "counts", "cloud"])
def test_any_chart_can_be_saved(open_page, name):
    page = open_page(name)
    charts = page.evaluate("() => [...document.querySelectorAll('[data-chart]')].map(c => c.dataset.chart)")
    assert page.locator(".save").count() == len(charts)
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('[data-chart]')].map(c =>
        Ritz.chartSvg(c).querySelectorAll('path, rect, image, circle, line').length)"""
    )
    assert min(sizes) > 3


@pytest.mark.parametrize(("kind", "start"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_a_chart_becomes_a_file(open_page, kind, start):
    page = open_page("wine")
    with page.expect_download() as waiting:
        page.locator("#scores .save").get_by_role("button", name=kind).click()
    download = waiting.value
    assert download.suggested_filename == f"scores.{kind.lower()}"
    content = Path(download.path()).read_bytes()
    assert content.startswith(start)
    assert len(content) > 5_000
    if kind == "SVG":
        assert b"PC1 (36.2" in content
        assert b"Barbera" in content


def test_the_tip_of_an_arrow_tells_its_column(open_page):
    page = open_page("wine")
    page.locator("#biplot").scroll_into_view_if_needed()
    text, x, y = page.evaluate(
        f"""() => {{ {PLANE} const p = of('biplot'), a = p.options.arrows[0], t = p.to();
        const r = p.canvas.getBoundingClientRect();
        return [a.text, r.left + t.ax * a.x + t.bx, r.top + t.ay * a.y + t.by]; }}"""
    )
    page.mouse.move(x, y)
    tip = page.locator(".tip").inner_text()
    assert text in tip
    assert "contribution" in tip


def test_rows_can_be_coloured_by_cos2_and_contribution(open_page, wine):
    page = open_page("wine")
    colour = page.locator("#scores").get_by_label("Colour")
    read = f"() => {{ {PLANE} return Array.from(of('scores').options.buckets().colour.decoded); }}"
    colour.select_option(label="cos² in this plane")
    seen = np.asarray(insight.cos2(*wine))[:, :2].sum(axis=1)
    assert page.evaluate(read) == pytest.approx(seen.tolist(), rel=1e-4)
    colour.select_option(label="contribution to this plane")
    F = wine[0].transform(wine[1])[:, :2]
    assert page.evaluate(read) == pytest.approx((np.square(F).sum(axis=1) / np.square(F).sum()).tolist(), rel=1e-4)


def test_a_space_turns_and_names_rows(open_page):
    page = open_page("wine")
    canvas = page.locator("#space canvas")
    canvas.scroll_into_view_if_needed()
    before = page.evaluate(f"() => {{ {PLANE} return of('space').turn.yaw; }}")
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y, steps=4)
    page.mouse.up()
    page.evaluate(FRAMES)
    assert page.evaluate(f"() => {{ {PLANE} return of('space').turn.yaw; }}") == pytest.approx(before + 0.8)
    found = False
    for step in range(-60, 61, 6):
        page.mouse.move(x + step, y)
        tip = page.locator(".tip")
        found = found or (tip.is_visible() and "row " in tip.inner_text())
    assert found


def test_names_on_a_phone_stay_apart_and_inside(open_page):
    for name, charts in (("wine", ["biplot", "circle"]), ("counts", ["points"])):
        page = open_page(name, viewport={"width": 390, "height": 844})
        for chart in charts:
            boxes, room = page.evaluate(WRITTEN, chart)
            assert len(boxes) >= 5
            for i, a in enumerate(boxes):
                assert room[0] - 1 <= a[0] and a[2] <= room[2] + 1  # noqa: PT018
                for b in boxes[:i]:
                    assert a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1


@pytest.mark.parametrize(("side", "of"), [("rows", "row-points"), ("columns", "column-points")])
def test_points_of_a_table_of_counts_have_ellipses_of_confidence(open_page, counts, side, of):
    page = open_page("counts")
    model, table = counts
    page.locator("#points").get_by_label("Ellipses").select_option(label=f"confidence of {side} (95 %)")
    page.locator("#points").get_by_label("Up").select_option(label="Dim3")
    page.evaluate(FRAMES)
    drawn = page.evaluate(f"() => {{ {PLANE} return of('points').options.rings().map(r => r.axes); }}")
    known = insight.ellipse(model, table, of=of, components=(0, 2))
    assert drawn == [pytest.approx(list(one.axes), rel=1e-4) for one in known.values()]


def test_the_cloud_of_a_table_of_counts_has_an_ellipse_of_concentration(open_page, counts):
    page = open_page("counts")
    page.locator("#points").get_by_label("Ellipses").select_option(label="concentration (95 %)")
    [axes] = page.evaluate(f"() => {{ {PLANE} return of('points').options.rings().map(r => r.axes); }}")
    F, r = np.asarray(counts[0].row_coordinates_)[:, :2], np.asarray(counts[0].row_masses_)
    assert axes == pytest.approx(np.sqrt(-2 * np.log(0.05) * (r @ F**2)).tolist(), rel=1e-4)


def test_row_numbers_are_whole(tab, tmp_path):
    X = np.array([[0.0, 1, 2], [1, 3, 2], [5, 1, 0]])
    page = tab.open(ritz.report(ritz.PCA(1).fit(X), X, tmp_path / "few.html"))
    marks = page.evaluate(
        "() => { const p = document.querySelector('[data-chart=scores]').plane;"
        " return [p.options.whole, Ritz.ticks(p.view.x0, p.view.x1, p.box.width / 65, p.options.whole[0]),"
        " Ritz.ticks(0, 1, 5)]; }"
    )
    assert marks[0] == [True, False]
    assert {1, 2, 3} <= set(marks[1])
    assert all(one == round(one) for one in marks[1])
    assert len(marks[2]) == 6  # of other numbers as many as there is room for
