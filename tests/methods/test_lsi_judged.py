"""The share of BM25 in a hybrid search, chosen on judged queries."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ritz
from ritz.methods.lsi.judged import Mix

TEXTS = ["red wine", "white wine", "thin wings", "wings in flutter", "wine of red grapes", "wings of thin paper"]
QUERIES = ["red", "white", "flutter", "thin", "grapes", "paper"]
RELEVANT = [[0], [1], [3], [2], [4], [5]]


@pytest.fixture(scope="module")
def model() -> ritz.LSI:
    return ritz.LSI(2, words=ritz.text.Words(), weighting="tf-idf").fit(TEXTS)


def precision(rows: list[int], relevant: list[int]) -> float:
    seen = total = 0.0
    for i, row in enumerate(rows):
        if row in relevant:
            seen += 1
            total += seen / (i + 1)
    return total / len(relevant)


def gain(rows: list[int], relevant: list[int]) -> float:
    found = sum(1 / math.log2(i + 2) for i, row in enumerate(rows[:10]) if row in relevant)
    return found / sum(1 / math.log2(i + 2) for i in range(min(10, len(relevant))))


@pytest.mark.parametrize(("measure", "formula"), [("map", precision), ("ndcg", gain)])
def test_means_are_those_of_searches(model, measure, formula):
    relevant = [[0, 4], [1], [3], [2, 5], [4], [5, 2, 0]]
    mix = ritz.choose_hybrid(model, QUERIES, relevant, measure=measure, shares=(0, 0.25, 0.7, 1), folds=2)
    for share, mean in zip(mix.shares, mix.means, strict=True):
        found = model.search(QUERIES, top=len(TEXTS), hybrid=share)
        expected = [formula(hits.rows.tolist(), some) for hits, some in zip(found, relevant, strict=True)]
        assert mean == pytest.approx(np.mean(expected), abs=1e-12)
    assert mix.means[mix.shares == mix.share] == mix.means.max()


def test_a_score_is_of_queries_that_had_no_part_in_the_choice(model):
    """Half of the queries want their words, half topics: whatever is chosen on some is wrong for others."""
    queries = ["red", "flutter", "grapes", "paper"] * 4
    relevant = [[0], [3], [4], [5]] * 4
    mix = ritz.choose_hybrid(model, queries, relevant, folds=16)
    assert len(mix.chosen) == 16
    assert mix.score <= mix.means.max() + 1e-12
    assert mix.n_queries == 16
    assert ritz.choose_hybrid(model, queries, relevant, folds=16).score == mix.score


def test_the_usual_share_is_taken_where_all_are_equal(model):
    wanted = [model.search(word, top=6, hybrid=1.0).rows.tolist() for word in ("red", "white")]
    mix = ritz.choose_hybrid(model, ["red", "white"], wanted, shares=(0.1, 0.4, 1.0), folds=2)
    assert mix.means.tolist() == [1.0, 1.0, 1.0]
    assert mix.share == 0.4


def test_queries_without_answers_are_left_out_and_unknown_ones_find_nothing(model):
    mix = ritz.choose_hybrid(model, [*QUERIES, "nothing", "zebra"], [*RELEVANT, [], [1]], folds=2)
    without = ritz.choose_hybrid(model, QUERIES, RELEVANT, folds=2)
    assert mix.n_queries == 7
    assert mix.means == pytest.approx(without.means * 6 / 7)


def test_documents_have_names_and_the_answer_is_printed(tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(text)
    lsi = ritz.LSI(2, words=ritz.text.Words()).fit(tmp_path)
    by_name = ritz.choose_hybrid(lsi, QUERIES, [[f"{i}.txt"] for [i] in RELEVANT], folds=3)
    by_row = ritz.choose_hybrid(lsi, QUERIES, RELEVANT, folds=3)
    assert isinstance(by_name, Mix)
    assert by_name.means.tolist() == by_row.means.tolist()
    lines = str(by_name).splitlines()
    assert lines[0].startswith(f"hybrid={by_name.share:g}: mean average precision {by_name.score:.3f}")
    assert lines[1].startswith("6 queries in 3 parts")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((QUERIES, RELEVANT[:3]), {}, "6 queries and 3 lists of documents"),
        (("red", [[0]]), {}, "one text"),
        ((QUERIES, [["a.txt"]] * 6), {}, r"names of its documents.*this model has no names"),
        ((QUERIES, [[6]] * 6), {}, "from 0 to 5"),
        ((QUERIES, [[True]] * 6), {}, "rows of the model"),
        ((QUERIES[:2], RELEVANT[:2]), {}, "at least 5 queries.*folds=2"),
        ((QUERIES, [[]] * 6), {}, "0 queries"),
        ((QUERIES, RELEVANT), {"measure": "recall"}, "'map' or 'ndcg'"),
        ((QUERIES, RELEVANT), {"folds": 1}, "from 2 on"),
        ((QUERIES, RELEVANT), {"shares": [1.5]}, "from 0 to 1"),
        ((QUERIES, RELEVANT), {"shares": []}, "from 0 to 1"),
        ((QUERIES, RELEVANT), {"shares": [float("nan")]}, "from 0 to 1"),
    ],
)
def test_what_cannot_be_judged_is_refused(model, given, options, message):
    with pytest.raises(ritz.RitzError, match=f"(?s){message}"):
        ritz.choose_hybrid(model, *given, **options)


def test_counts_are_needed():
    lsi = ritz.LSI(2, keep_counts=False).fit(TEXTS)
    with pytest.raises(ritz.InputError, match="keep_counts=True"):
        ritz.choose_hybrid(lsi, QUERIES, RELEVANT)
    with pytest.raises(ritz.InputError, match=r"expected a fitted ritz\.LSI"):
        ritz.choose_hybrid(ritz.PCA(1).fit(np.eye(3)), QUERIES, RELEVANT)
