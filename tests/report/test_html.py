"""Text stays text: elements, attributes, JSON in a page."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ritz.report.html import KEPT, as_json, bdi, clip, number, percent, table, tag
from ritz.report.pack import codes, exact, few, shade


def test_text_and_attributes_are_escaped():
    made = tag("td", '<b>"&', title="'\"<>", class_="n", hidden=True, lang=None)
    assert made == '<td title="&#x27;&quot;&lt;&gt;" class="n" hidden>&lt;b&gt;&quot;&amp;</td>'


def test_elements_inside_elements_are_not_escaped_again():
    assert tag("p", [tag("b", "a & b"), None, " <"]) == "<p><b>a &amp; b</b> &lt;</p>"


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028", "a&b", "\ud800"])
def test_json_cannot_leave_its_script_element(text):
    held = as_json({"name": text})
    assert not {"<", ">", "&", "\u2028"} & set(held)
    assert json.loads(held)["name"] == text.encode("utf-8", "replace").decode()


def test_json_has_no_numbers_that_browsers_refuse():
    with pytest.raises(ValueError, match="JSON"):
        as_json(float("nan"))
    assert as_json(np.float64(1.5)) == "1.5"


def test_long_names_are_cut_and_kept_in_the_tooltip():
    assert clip("x" * 10_000, KEPT) == "x" * (KEPT - 1) + "…"
    assert clip("a\n\tb") == "a b"
    assert bdi("ab", 5) == "<bdi>ab</bdi>"
    assert 'title="' in bdi("abcdefgh", 5)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (1234, "1,234"),
        (-0.01234, "−0.0123"),
        (3.14159, "3.14"),
        (1.5e-15, "1.50e−15"),
        (np.nan, "–"),
        (None, "–"),
    ],
)
def test_numbers_in_words(value, words):
    assert number(value) == words


def test_shares_in_words():
    assert [percent(x) for x in (0.3619, 0.0, 0.0001, np.nan)] == [
        "36.2\u00a0%",
        "0.0\u00a0%",
        "<\u00a00.1\u00a0%",
        "–",
    ]


def test_tables_name_rows_and_columns():
    made = table(("column", "mean"), [("a", "1.0")], "Means")
    assert '<th scope="col" class="n">mean</th>' in made
    assert '<th scope="row">a</th><td class="n">1.0</td>' in made
    assert "<caption>Means</caption>" in made


def test_packed_numbers_come_back():
    import base64

    values = np.linspace(-3, 7, 500)
    back = np.frombuffer(base64.b64decode(exact(values)["f32"]), "<f4")
    np.testing.assert_allclose(back, values, rtol=1e-6, atol=1e-6)
    held = shade([1.0, np.nan, 3.0])
    steps = np.frombuffer(base64.b64decode(held["u16"]), "<u2")
    assert steps.tolist() == [0, 65535, 65534]
    assert (held["lo"], held["hi"]) == (1.0, 3.0)
    assert np.frombuffer(base64.b64decode(codes([0, 1, -1])["u8"]), np.uint8).tolist() == [0, 1, 255]
    assert few([1 / 3, np.inf]) == [0.333333, None]
