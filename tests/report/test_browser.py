"""The report in a real browser: it draws, answers the pointer and the keyboard, asks nobody, and harms nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ritz
from tests.report.tab import FRAMES, Tab

pytestmark = pytest.mark.chromium

#: Charts that hold fewer than this many pixels which are not empty have not been drawn.
INK = """() => [...document.querySelectorAll("canvas")].map(c => {
  const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  let ink = 0; for (let i = 3; i < d.length; i += 4) ink += d[i] > 0;
  return [c.closest("[data-chart]")?.dataset.chart ?? "legend", ink];
})"""

SCORES = "const plane = document.querySelector('[data-chart=scores]').plane;"

#: Texts of charts that begin or end outside of their chart.
CUT = """() => [...document.querySelectorAll("[data-chart] svg")].flatMap((svg) => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((t) => { const r = t.getBoundingClientRect();
    return r.width && (r.left < box.left - 1 || r.right > box.right + 1); })
    .map((t) => svg.closest("[data-chart]").dataset.chart + ": " + t.textContent); })"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory, wine, counts, answers, ring, squares, hostile, spoken, sheet, others) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    held = {"wine": (wine, {}), "counts": (counts, {}), "answers": (answers, {}), "ring": (ring, {}),
            "squares": (squares, {"image_shape": (5, 5)}), "texts": (spoken, {}), "map": (sheet, {}),
            "hostile": (hostile, {"title": hostile[1].columns[0]}),
            **{name: (held, {}) for name, held in others.items()}}  # fmt: skip
    return {
        name: ritz.report(model, X, folder / f"{name}.html", **options) for name, ((model, X), options) in held.items()
    }


NAMES = ["wine", "counts", "answers", "ring", "squares", "texts", "map", "hostile"]
OTHERS = ["two tables", "tensor", "network", "parts"]


@pytest.mark.parametrize("name", [*NAMES, *OTHERS])
def test_every_chart_is_drawn_in_silence(tab, reports, name):
    tab.open(reports[name])
    assert tab.said == []
    assert tab.asked == [reports[name].as_uri()]
    drawn = tab.page.evaluate(INK)
    assert [chart for chart, ink in drawn if ink < 20] == []
    charts = "[...document.querySelectorAll('[data-chart]')]"
    empty = f"() => {charts}.filter(c => !c.querySelector('svg, canvas, ol')).length"
    assert tab.page.evaluate(empty) == 0
    assert tab.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", [*NAMES, *OTHERS])
def test_a_phone_needs_no_sideways_scrolling(tab, reports, name):
    tab.open(reports[name], viewport={"width": 390, "height": 844})
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") == 390
    for details in tab.page.query_selector_all("details"):
        details.evaluate("element => { element.open = true }")
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") == 390
    assert tab.page.evaluate(CUT) == []
    assert tab.said == []


def point(tab: Tab, chart: str, i: int) -> tuple[float, float]:
    """Where a point of a chart is on the screen."""
    tab.page.locator(f"#{chart}").scroll_into_view_if_needed()
    x, y = tab.page.evaluate(
        """([chart, i]) => { const p = document.querySelector(`[data-chart=${chart}]`).plane, t = p.to();
        const r = p.canvas.getBoundingClientRect();
        return [r.left + t.ax * p.options.x[i] + t.bx, r.top + t.ay * p.options.y[i] + t.by]; }""",
        [chart, i],
    )
    return x, y


def test_hovering_names_a_row(tab, reports, wine):
    tab.open(reports["wine"])
    tab.page.mouse.move(*point(tab, "scores", 121))
    tip = tab.page.locator(".tip").inner_text()
    score = wine[0].transform(wine[1])[121, 0]
    assert "row 122" in tip
    assert f"{score:.2f}".rstrip("0").replace("-", "−") in tip
    assert "cultivar Grignolino" in tip


def test_axes_can_be_chosen(tab, reports, wine):
    tab.open(reports["wine"])
    tab.page.locator("#scores").get_by_label("Across").select_option(label="PC3")
    x, name = tab.page.evaluate(f"() => {{ {SCORES} return [plane.options.x[7], plane.options.names[0]]; }}")
    assert x == pytest.approx(wine[0].transform(wine[1])[7, 2], rel=1e-5)
    assert name.startswith("PC3")


def test_colours_can_be_chosen_and_kinds_hidden(tab, reports):
    tab.open(reports["wine"])
    legend = tab.page.locator("#scores .legend")
    assert legend.locator("button").count() == 3
    legend.locator("button").first.click()
    assert legend.locator("button").first.get_attribute("aria-pressed") == "false"
    tab.page.locator("#scores").get_by_label("Colour").select_option(label="alcohol")
    assert "11" in legend.inner_text()
    assert "14.8" in legend.inner_text()
    tab.page.locator("#scores").get_by_label("Colour").select_option(label="none")
    assert legend.inner_text() == ""
    assert tab.said == []


def test_a_lasso_gives_a_list_that_can_be_copied(tab, reports, wine):
    F = wine[0].transform(wine[1])
    tab.open(reports["wine"])
    tab.page.get_by_role("button", name="Lasso").click()
    x, y = point(tab, "scores", 0)
    mouse = tab.page.mouse
    mouse.move(x - 60, y - 60)
    mouse.down()
    for dx, dy in ((60, -60), (60, 60), (-60, 60), (-60, -60)):
        mouse.move(x + dx, y + dy, steps=4)
    mouse.up()
    unit = tab.page.evaluate(
        "() => { const t = document.querySelector('[data-chart=scores]').plane.to(); return [t.ax, t.ay]; }"
    )
    inside = (np.abs((F[:, 0] - F[0, 0]) * unit[0]) < 60) & (np.abs((F[:, 1] - F[0, 1]) * unit[1]) < 60)
    text = tab.page.locator("#scores textarea").input_value()
    assert [int(line) for line in text.splitlines()] == (np.flatnonzero(inside) + 1).tolist()  # counted from 1
    tab.page.get_by_role("button", name="Copy the list").click()
    tab.page.get_by_text("Copied").wait_for(timeout=2000)
    tab.page.get_by_role("button", name="Forget the list").click()
    assert not tab.page.locator("#scores textarea").is_visible()


def test_zoom_and_keyboard(tab, reports):
    tab.open(reports["wine"])
    canvas = tab.page.locator("#scores canvas").first
    wide = f"() => {{ {SCORES} return plane.view.x1 - plane.view.x0; }}"
    before = tab.page.evaluate(wide)
    tab.page.locator("#scores").get_by_role("button", name="Zoom in").click()
    assert tab.page.evaluate(wide) == pytest.approx(0.7 * before)
    canvas.focus()
    tab.page.keyboard.press("0")
    tab.page.evaluate(FRAMES)
    assert tab.page.evaluate(wide) == pytest.approx(before)
    tab.page.keyboard.press("ArrowRight")
    assert "PC1" in tab.page.locator("#scores [aria-live=polite]").first.inner_text()
    tab.page.keyboard.press("Enter")
    assert tab.page.locator("#scores textarea").input_value().isdigit()


def test_dark_by_the_system_and_by_the_button(tab, reports):
    paper = "() => getComputedStyle(document.body).backgroundColor"
    tab.open(reports["wine"], color_scheme="dark")
    dark = tab.page.evaluate(paper)
    tab.page.get_by_role("button", name="Change between light and dark").click()
    assert tab.page.evaluate(paper) == "rgb(255, 255, 255)" != dark
    tab.page.evaluate(FRAMES)
    assert [chart for chart, ink in tab.page.evaluate(INK) if ink < 20] == []


def test_names_are_text_in_the_browser(tab, reports, hostile):
    tab.open(reports["hostile"])
    assert tab.page.evaluate("() => window.hacked") is None
    assert tab.page.locator("h1").inner_text() == hostile[1].columns[0]
    tab.page.mouse.move(*point(tab, "scores", 1))
    assert "<script>" in tab.page.locator(".tip").inner_text()
    assert tab.page.evaluate("() => document.scripts.length") == tab.page.evaluate(
        "() => document.querySelectorAll('script[type=\"application/json\"]').length + 1"
    )


def test_paper_is_white(tab, reports):
    tab.open(reports["wine"], color_scheme="dark")
    tab.page.emulate_media(media="print")
    tab.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert tab.page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not tab.page.locator("#scores .tools").is_visible()


@pytest.mark.parametrize(
    ("name", "scheme", "everything"),
    [
        ("wine", "light", False),
        ("wine", "dark", False),
        ("counts", "light", True),
        ("hostile", "light", True),
        ("map", "dark", True),
    ],
)
def test_axe_finds_no_serious_fault(tab, reports, name, scheme, everything):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    tab.open(reports[name], color_scheme=scheme)
    if everything:
        tab.page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    found = axe.Axe().run(tab.page).response["violations"]
    faults = [(one["impact"], f"{one['id']}: {one['nodes'][0]['html'][:200]}") for one in found]
    assert [words for impact, words in faults if impact in ("serious", "critical")] == []


def test_a_hundred_thousand_points_stay_smooth(tab, tmp_path):
    X = np.random.default_rng(0).normal(size=(100_000, 3)) @ np.diag([3, 2, 1])
    path = ritz.report(ritz.PCA(2).fit(X), X, tmp_path / "many.html")
    assert path.stat().st_size < 5_000_000
    tab.open(path)
    took = tab.page.evaluate("""() => { const p = document.querySelector("[data-chart=scores]").plane; p.paint();
        const start = performance.now();
        for (let i = 0; i < 5; i++) p.paint();
        p.canvas.getContext("2d").getImageData(0, 0, 1, 1);
        return (performance.now() - start) / 5; }""")
    assert took < 400  # milliseconds a picture, without a graphics card, on a busy machine
    assert tab.said == []


def test_neighbours_of_a_document_are_chosen_by_name_and_in_the_map(tab, reports, spoken):
    model, texts = spoken
    tab.open(reports["texts"])
    shown = "() => [...document.querySelectorAll('.near li')].map(one => one.querySelector('bdi, button').innerText)"
    box = tab.page.locator("[data-chart=neighbours] input")
    box.fill("row 8")
    assert tab.page.evaluate(shown) == [f"row {row + 1}" for row in model.similar(7, top=8).rows]
    tab.page.locator(".near button").first.click()
    first = int(model.similar(7, top=1).rows[0])
    assert box.input_value() == f"row {first + 1}"
    assert tab.page.evaluate(shown) == [f"row {row + 1}" for row in model.similar(first, top=8).rows]
    tab.page.evaluate(SCORES + "plane.focused = 3; plane.canvas.dispatchEvent(new MouseEvent('click'))")
    assert box.input_value() == "row 4"
    assert texts[3][:40] in tab.page.locator("[data-chart=neighbours]").inner_text()
    assert tab.said == []


def test_what_a_map_distorts_can_be_chosen(tab, reports):
    tab.open(reports["map"])
    said = tab.page.locator("[data-chart=distortion] .note")
    assert said.inner_text().startswith("false neighbours: rows near it")
    tab.page.locator("[data-chart=distortion] select").select_option(label="missing neighbours")
    assert said.inner_text().startswith("missing neighbours: rows near it")
    tab.page.locator("[data-chart=trust] select").select_option(label="continuity")
    assert "continuity: near ones stayed near" in tab.page.locator("[data-chart=trust] svg").first.text_content()
    assert tab.said == []
