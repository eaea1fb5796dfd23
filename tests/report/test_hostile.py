"""Tables that a report must not stumble over, and sentences that would be false of them."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight
from ritz.report import render
from ritz.report.colours import colour_of
from ritz.report.context import Context
from ritz.report.pack import exact, shade
from ritz.report.words import axis_words, meaning, much, sentences, trust

pytestmark = pytest.mark.filterwarnings("ignore::ritz._core.errors.RitzWarning")


def plain(words: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", words).replace("\u00a0", " "))


def section(page: str, name: str) -> str:
    found = re.search(rf'<section[^>]*id="{name}".*?</section>', page, re.DOTALL)
    return plain(found[0]) if found else ""


def checked(page: str) -> str:
    """The page, whose data is strict JSON."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    for block in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL):
        json.loads(block, parse_constant=refuse)
    return page


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 5)) * [5, 3, 2, 1, 0.5]


@pytest.mark.parametrize("size", [1e-140, 1e-100, 1e100, 1e140])
def test_the_size_of_numbers_changes_no_sentence(noise, size):
    one, other = (plain(" ".join(sentences(Context(ritz.PCA(2).fit(X), X)))) for X in (noise, noise * size))
    assert one == other
    page = checked(render(ritz.PCA(2).fit(noise * size), noise * size))
    assert section(page, "stability") == section(render(ritz.PCA(2).fit(noise), noise), "stability")


@pytest.mark.parametrize("model", [ritz.PCA(), ritz.SVD(2)])
def test_a_table_without_variance_has_components_of_nothing(model):
    X = np.zeros((10, 3))
    page = checked(render(model.fit(X), X))
    assert "holds nothing of the" in section(page, "answer")
    assert "is left over" not in page


def test_numbers_that_differ_in_their_last_bit_are_drawn(noise):
    noise[:, 0] = 1 + np.finfo(float).eps * (np.arange(60) % 2)
    checked(render(ritz.PCA(2).fit(noise), noise))


def test_a_colour_of_many_kinds_shows_the_most_frequent(noise):
    words = [f"k{i % 30:02}" for i in range(60)] + ["k29"] * 5
    one = colour_of("c", words, asked=True)
    assert len(one.kinds) == 11
    assert "k29" in one.kinds
    assert one.kinds[-1] == "20 others"
    checked(render(ritz.PCA(2).fit(noise), noise, color=words[:60]))


def test_a_colour_may_reach_as_far_as_numbers_do(noise):
    far = np.where(np.arange(60) % 2 == 0, -1.7e308, 1.7e308)
    far[:10] = np.arange(10)
    checked(render(ritz.PCA(2).fit(noise), noise, color=far))
    held = shade([1e308, 1.5e308, -1e308])
    assert np.isfinite([held["lo"], held["hi"], held["hi"] - held["lo"]]).all()


def test_scores_beyond_single_precision_keep_their_digits():
    values = np.linspace(1e100, 2e100, 100)
    assert set(exact(values)) == set(exact(values * 1e-200)) == {"f64"}
    assert set(exact(values * 1e-100)) == {"f32"}


def test_a_component_of_many_columns_is_not_mostly_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 200)) + 10 * rng.standard_normal((100, 1))
    model = ritz.PCA(2).fit(X)
    words = plain(axis_words(Context(model, X), 0))
    assert words.replace("\u00a0", " ") == "PC1 is spread over many columns: none of 200 holds more than 0.5 % of it"


def test_directions_among_equal_components_are_called_arbitrary():
    Q = np.linalg.qr(np.c_[np.ones(40), np.random.default_rng(0).standard_normal((40, 5))])[0][:, 1:]
    model = ritz.PCA().fit(Q)
    assert "Nothing was found that chance would not give" in plain(meaning(Context(model, Q)))
    assert "No component is more than chance" in section(render(model, Q), "stability")
    twice = np.c_[Q[:, :2], Q[:, :2]]  # two directions of equal size, each in two columns
    model = ritz.PCA().fit(twice)
    assert "But PC1 and PC2 are as large as their neighbours" in plain(meaning(Context(model, twice)))
    assert "No component keeps its direction by itself" in section(render(model, twice), "stability")


def test_a_component_of_a_constant_column_means_nothing(noise):
    noise[:, 2] = 7
    page = render(ritz.PCA(scale=True).fit(noise), noise)
    assert "PC5 keeps" not in page
    assert "PC5 holds nothing of the variance" in section(page, "loadings")
    width = re.search(r"The widest, those of zero aside, is ([\d.]+e−\d+) of its value", section(page, "certificate"))
    assert width is not None
    assert float(width[1].replace("−", "-")) < 1e-10


def test_two_rows_lie_beyond_no_limit_by_rounding(noise):
    model = ritz.PCA().fit(noise[:2])
    about = Context(model, noise[:2])
    assert about.odd.bounds.spe == 0
    assert not about.odd.beyond.any()


def test_limits_that_do_not_exist_are_not_spoken_of():
    words = ["abab", "baba", "abba", "cccc", "cacb", "bbbb", "abcc"]
    model = ritz.KernelPCA(3, kernel=ritz.kernels.Spectrum(2)).fit(words)
    page = render(model, words)
    assert "limit" not in section(page, "answer")
    assert "too few rows for limits" in section(page, "outliers")
    assert "beyond a limit" not in section(page, "outliers")


def test_rows_without_any_distance_are_not_odd(noise):
    model = ritz.KernelPCA(3, kernel="sigmoid").fit(noise)
    assert not np.any(insight.spe(model, noise))  # the kernel is indefinite: nothing is left off the plane
    assert "outlier" not in plain(trust(Context(model, noise)))


def test_shares_are_said_of_the_rows_of_the_fit(noise):
    model = ritz.PCA(2).fit(noise)
    share = f"{100 * model.explained_variance_ratio_[0]:.1f} %"
    for rows in (noise[:20], noise * 100):
        words = plain(much(Context(model, rows)))
        assert words.startswith(f"In the 60 rows of the fit, of 5 columns, the first component holds {share}")
        page = render(model, rows)
        assert "not those of the fit, which had 60 rows" in section(page, "data")
        assert ".fit(X_fit)" in section(page, "reproduce")
    assert plain(much(Context(model, noise))).startswith("In 60 rows of 5 columns, ")
    assert plain(much(Context(ritz.PCA(1).fit(noise[:, :1]), noise[:, :1]))).startswith("In 60 rows of 1 column, ")


def test_weights_are_spoken_of(noise):
    weight = np.random.default_rng(1).integers(0, 4, 60)
    page = render(ritz.PCA(2).fit(noise, sample_weight=weight), noise)
    assert "In 60 weighted rows of 5 columns" in section(page, "answer")
    assert f"with weights, which add up to {weight.sum()}" in section(page, "data")
    assert ".fit(X, sample_weight=weights)" in section(page, "reproduce")
    counts = np.random.default_rng(1).poisson(9, (8, 4))
    assert "weight" not in section(render(ritz.CA().fit(counts), counts), "data")


def test_columns_that_were_left_out_are_left_out_again(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    pd.DataFrame(rng.standard_normal((30, 4)), columns=list("abcd")).to_csv(path, index=False)
    table = ritz.read(path)
    model = ritz.PCA(2).fit(table.select(["a", "b", "d"]))
    model.feature_names_in_ = np.array(["a", "b", "d"], object)
    assert "ritz.read(&#x27;t.csv&#x27;, kinds={&#x27;c&#x27;: &#x27;drop&#x27;})" in render(model, table)
    again = ritz.PCA(2).fit(ritz.read(path, kinds={"c": "drop"}))
    np.testing.assert_array_equal(again.components_, model.components_)


def test_the_call_is_whole_however_long(noise):
    frame = pd.DataFrame(
        np.random.default_rng(0).standard_normal((80, 200)), columns=[f"column{j}" for j in range(200)]
    )
    groups = {"one": [f"column{j}" for j in range(120)], "two": [f"column{j}" for j in range(120, 200)]}
    page = section(render(ritz.MFA(2, groups=groups).fit(frame), frame), "reproduce")
    assert "column119" in page
    assert "..." not in page


def test_distances_are_called_true_where_they_are(noise):
    true = "Distances between rows are true"
    assert true in section(render(ritz.PCA(2).fit(noise), noise), "biplot")
    assert true not in section(render(ritz.PCA(2, whiten=True).fit(noise), noise), "biplot")
    assert true not in section(render(ritz.SparsePCA(2).fit(noise), noise), "biplot")


def test_gaps_leave_the_circle_in_place(noise):
    noise[np.random.default_rng(0).random(noise.shape) < 0.2] = np.nan
    page = render(ritz.PCA(2, missing="regularized").fit(noise), noise)
    assert section(page, "circle")
    assert "Circle of correlations:" not in section(page, "left-out")


def test_zero_bytes_and_other_controls_are_not_written(noise):
    frame = pd.DataFrame(noise, columns=["a\x00b", "\x1b[31m", "\x85", "d", "e"], index=[f"\x00{i}" for i in range(60)])
    page = checked(render(ritz.PCA(2).fit(frame), frame, title="\x00\x07"))
    assert not set(page) & {chr(i) for i in (*range(9), 11, 12, *range(14, 32), *range(127, 160))}
