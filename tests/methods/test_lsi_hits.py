"""A hit shares something with the query, a topic or a word; how many do is told."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.methods.lsi import search as blocked
from ritz.text import Words

TEXTS = ["red wine", "white wine", "thin wings", "wings flutter", "court law", "old law", "stray"]
PLAIN = Words()


def fitted(**options):
    return ritz.LSI(7, words=PLAIN, **options).fit(TEXTS)


@pytest.mark.parametrize("method", ["svd", "kernel"])
@pytest.mark.parametrize("hybrid", [None, 0, 0.3, 1, True])
@pytest.mark.parametrize("top", [1, 2, 3, 7, 100])
def test_only_what_shares_something_is_found(method, hybrid, top):
    model = fitted(method=method)
    for query, rows in (("wine", {0, 1}), ("wings", {2, 3}), ("stray", {6}), ("wine law", {0, 1, 4, 5})):
        hits = model.search(query, top=top, hybrid=hybrid)
        assert set(hits.rows.tolist()) <= rows
        assert len(hits) == min(top, len(rows))
        assert hits.found == len(rows)
        some = f"{top} of {len(rows)} hits" if top < len(rows) else f"{len(rows)} hit"
        assert repr(hits).startswith(some)


def test_bm25_alone_finds_words_alone():
    model = ritz.LSI(1, words=PLAIN).fit(["red wine", "white wine", "white grapes"])
    assert model.search("red", top=3, hybrid=1).rows.tolist() == [0]
    assert len(model.search("red", top=3, hybrid=0.5)) == 3  # by their one topic


def test_a_document_with_a_word_of_the_query_is_found_however_small_its_cosine():
    """The rare word is in no topic: both documents of the common one have it in common with the query."""
    texts = ["wine grapes", "wine grapes", "wine grapes rare", "law court", "law court"]
    model = ritz.LSI(2, words=PLAIN).fit(texts)
    assert set(model.search("rare wine", top=9).rows.tolist()) == {0, 1, 2}
    assert model.search("rare", top=9, hybrid=0.5).rows[0] == 2


def test_without_counts_topics_decide_alone():
    model = fitted(keep_counts=False)
    assert set(model.search("wine", top=7).rows.tolist()) == {0, 1}


def test_several_queries_and_blocks(monkeypatch):
    model = fitted()
    queries = ["wine", "law", "stray", "zebra", "wings"]
    whole = model.search(queries, top=7)
    assert [hits.found for hits in whole] == [2, 2, 1, 0, 2]
    monkeypatch.setattr(blocked, "BLOCK", 8 * 7 * 2)
    monkeypatch.setattr(blocked, "TOGETHER", 2)
    for hits, again in zip(whole, model.search(queries, top=7), strict=True):
        assert hits.rows.tolist() == again.rows.tolist()
        assert hits.found == again.found


def test_neighbours_share_a_topic():
    model = fitted()
    assert model.similar(0, top=7).rows.tolist() == [1]
    assert model.similar(0).found == 1
    alone = model.similar(6)
    assert not len(alone)
    assert alone.note == "no other document has a topic in common with it"


def test_an_index_does_not_count_what_it_has_not_seen():
    from sklearn.neighbors import NearestNeighbors

    model = fitted()
    index = NearestNeighbors(n_neighbors=7).fit(model.unit_embedding_)
    hits = model.search("wine", top=7, index=index)
    assert sorted(hits.rows.tolist()) == [0, 1]
    assert hits.found is None
    assert repr(hits).startswith("2 hits for 'wine'")


def test_what_points_away_is_no_find_but_keeps_its_place():
    """It has the topics of the query, the other way round: last in the ranking of all documents, and not counted."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(30)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(40)]
    model = ritz.LSI(20, words=PLAIN).fit(texts)
    hits = model.search("word1 word2", top=40)
    assert hits.scores.min() < 0 < hits.scores.max()
    assert (np.diff(hits.scores) <= 1e-12).all()
    assert hits.found == np.count_nonzero(hits.scores > 0) < len(hits)
    assert repr(model.search("word1 word2", top=3)).startswith(f"3 of {hits.found} hits")
