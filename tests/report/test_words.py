"""The sentences are true: every figure in them is that of the model, found again by another way."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight
from ritz.data.words import spelled
from ritz.report.context import Context
from ritz.report.row_words import limits_words
from ritz.report.words import axis_words, enough, listed, meaning, much, sentences, trust


def plain(words: str) -> str:
    return re.sub(r"<[^>]+>", "", words).replace("\u00a0", " ")


def test_lists_read_as_people_write_them():
    assert [listed(items) for items in ([], ["a"], ["a", "b"], ["a", "<", "c"])] == [
        "",
        "a",
        "a and b",
        "a, &lt; and c",
    ]


def test_shares_are_those_of_the_model(wine):
    model, table = wine
    share = model.explained_variance_ratio_
    k = int(np.searchsorted(np.cumsum(share), 0.8)) + 1
    assert enough(share) == k
    assert plain(much(Context(model, table))) == (
        f"In 178 rows of 13 standardised columns, the first component holds {100 * share[0]:.1f} % of the variance, "
        f"the first two {100 * share[:2].sum():.1f} % and the first {spelled(k)} {100 * share[:k].sum():.1f} %."
    )


def test_named_columns_have_the_largest_loadings(wine):
    model, table = wine
    words = plain(axis_words(Context(model, table), 0))
    part = np.square(model.components_[0])
    order = np.argsort(-part)[:3]
    names = [str(model.feature_names_in_[j]) for j in order]
    assert all(name in words for name in names)
    assert f"{100 * part[order].sum():.1f} % of it" in words


def test_columns_of_opposite_signs_stand_against_each_other():
    rng = np.random.default_rng(0)
    t = rng.normal(size=200)
    X = pd.DataFrame({"up": t, "down": -t + 0.01 * rng.normal(size=200), "noise": 0.01 * rng.normal(size=200)})
    model = ritz.PCA(2).fit(X)
    words = plain(axis_words(Context(model, X), 0))
    up, down = ("up", "down") if model.components_[0, 0] > 0 else ("down", "up")
    assert words.startswith(f"PC1 sets {up} against {down} (together 100.0 % of it)")


def test_rank_and_odd_rows_agree_with_the_functions_that_find_them(wine):
    X = wine[1].select(list(wine[0].feature_names_in_))
    model = ritz.PCA(5, scale=True).fit(X)
    about = Context(model, X)
    words = plain(trust(about))
    assert f"their weighted median is {about.ranks.consensus}" in words  # which a third of the weight is behind
    assert "<b>3 components" not in trust(about)
    found = insight.outliers(model, X)
    assert len(found.rows) == 7
    assert not found.apart.any()  # their tail is long, and nothing sets them apart
    assert "no row stands apart from the others as an outlier" in words


def test_rows_that_stand_apart_are_named():
    X = np.random.default_rng(1).normal(size=(100, 5)) @ np.diag([4, 3, 1, 1, 1])
    X[[7, 30]] += [[0, 0, 40, 0, 0], [0, 0, 0, 30, 0]]
    model = ritz.PCA(2).fit(X)
    found = insight.outliers(model, X)
    assert found.rows.tolist() == np.flatnonzero(found.apart).tolist() == [7, 30]
    # reports count rows from 1
    assert f"2 of 100 rows are outliers at a false discovery rate of 5 %, row {found.rows[0] + 1} most of all" in plain(
        trust(Context(model, X))
    )


def test_no_row_is_called_odd_where_none_is():
    X = np.random.default_rng(1).normal(size=(100, 5)) @ np.diag([4, 3, 1, 1, 1])
    model = ritz.PCA(2).fit(X)
    assert not insight.outliers(model, X).mask.any()
    assert "no row is an outlier at a false discovery rate of 5 %" in plain(trust(Context(model, X)))


def test_axes_of_a_contingency_table_are_told_by_its_columns(counts):
    model, X = counts
    words = plain(axis_words(Context(model, X), 0))
    part = model.column_contributions_["Dim1"].sort_values(ascending=False)
    assert part.index[0] in words
    assert part.index[1] in words
    assert "against" in words


def test_a_kernel_component_is_told_by_the_column_it_follows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"long": np.sort(rng.uniform(0, 9, 60)), "noise": 0.1 * rng.normal(size=60)})
    X["also"] = X["long"] + X["noise"]
    model = ritz.KernelPCA(2, kernel="rbf", gamma=0.01).fit(X)
    r = np.corrcoef(X["long"], model.transform(X)[:, 0])[0, 1]
    assert f"PC1 follows long most closely (correlation {r:.2f}".replace("-", "−") in plain(meaning(Context(model, X)))


def test_words_are_few_where_only_the_model_is_there(wine):
    model, _ = wine
    about = Context(model)
    assert about.odd is None
    assert len(sentences(about)) == 3  # the rules need no rows
    assert "outlier" not in plain(trust(about))


@pytest.mark.parametrize("k", [1, 2])
def test_one_and_two_components(k):
    X = np.random.default_rng(0).normal(size=(30, 3))
    words = plain(much(Context(ritz.PCA(k).fit(X), X)))
    assert ("the first two" in words) == (k == 2)


def test_sentences_of_a_model_without_components():
    X = np.random.default_rng(0).normal(size=(30, 3))
    assert plain(much(Context(ritz.PCA(0).fit(X), X))) == "No component was kept of 30 rows."


def test_of_thousands_of_columns_none_is_said_to_lead():
    rng = np.random.default_rng(0)
    X = np.outer(rng.normal(size=30), rng.uniform(0.9, 1.1, 400)) + 0.05 * rng.normal(size=(30, 400))
    about = Context(ritz.PCA(2).fit(X), X)
    told = str(axis_words(about, 0))
    assert "led by" not in told
    assert "none of 400 holds more than 0." in told


def test_where_every_column_is_named_no_share_is():
    rng = np.random.default_rng(0)
    t = rng.normal(size=40)
    X = pd.DataFrame({"a": t + 0.1 * rng.normal(size=40), "b": t + 0.1 * rng.normal(size=40)})
    about = Context(ritz.PCA(scale=True).fit(X), X)
    assert [re.sub(r"<[^>]+>", "", str(axis_words(about, i))) for i in range(2)] == [
        "PC1 runs from low to high a and b", "PC2 sets a against b"
    ]  # fmt: skip


def test_a_rule_that_is_alone_agrees_with_nobody():
    X = np.random.default_rng(0).normal(size=(40, 3)) * [9, 3, 1]
    told = ritz.choose_rank(X, criteria=["kaiser"]).reasons[0]
    assert told.endswith("the answer of kaiser, the only rule with a vote.")


def test_the_glossary_tells_the_test_that_was_made(wine, counts):
    pages = [re.sub(r"(?s)<script.*?</script>", "", ritz.report.render(*one)) for one in (wine, counts)]
    said = [["Columns are shuffled" in page, "Tables of counts with the same totals" in page] for page in pages]
    assert said == [[True, False], [False, True]]


def test_what_is_left_of_everything_judges_no_row():
    """A model of two tables that keeps all components leaves rounding alone: nothing lies off its plane."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    about = Context(ritz.PLS(2, target=["c"]).fit(X), X)
    assert float(about.shares.sum()) == pytest.approx(1)
    assert not np.any(about.odd.off)
    assert about.odd.bounds.spe == 0


def test_rows_are_drawn_beyond_a_limit_where_the_words_count_them_so(wine):
    import base64

    from ritz.report.parts.outliers import PART

    about = Context(*wine)
    drawn = PART.build(about).data
    marked = np.frombuffer(base64.b64decode(next(iter(drawn["beyond"].values()))), np.uint8)
    assert np.count_nonzero(marked) == np.count_nonzero(about.odd.beyond) > 0
    assert f"{np.count_nonzero(marked):,} of 178 rows lie beyond a limit" in plain(limits_words(about))


def test_rules_that_find_none_are_set_against_a_component_beyond_chance(wine):
    about = Context(*wine)
    about.ranks.consensus = 0
    said = plain(trust(about))
    assert said.startswith("Read this with care: the rules for the number of components, weighed, find none, although")
