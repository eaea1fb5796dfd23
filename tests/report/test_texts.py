"""The report of texts: its figures are those of the model, and nothing is said of words that met by chance."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

import ritz
from ritz.methods.lsi.chance import chance_of

ABOUT = {
    "wine": ["vineyard", "cherry", "oak", "barrel", "grape", "harvest", "bottle", "cellar", "taste", "glass"],
    "wing": ["flutter", "plane", "flow", "supersonic", "lift", "drag", "tunnel", "angle", "skin", "heat"],
    "court": ["judge", "appeal", "law", "verdict", "jury", "crime", "lawyer", "trial", "prison", "witness"],
}


def spoken(n=90, seed=0):
    """Documents about one of three subjects each, and words that all of them have."""
    rng = np.random.default_rng(seed)
    common = [f"common{i:02}" for i in range(30)]
    kinds = [list(ABOUT)[i % 3] for i in range(n)]
    return kinds, [" ".join([kind, *rng.choice(ABOUT[kind], 8), *rng.choice(common, 12)]) for kind in kinds]


def noise(n=120, seed=0):
    """Documents of one bag of words."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, 301)
    return [" ".join(f"word{j:03}" for j in rng.choice(300, rng.integers(10, 60), p=p / p.sum())) for _ in range(n)]


@pytest.fixture(scope="module")
def three():
    kinds, texts = spoken()
    model = ritz.LSI(10).fit(texts)
    return model, texts, kinds, ritz.report.render(model, texts, color=kinds)


def data_of(page, name):
    found = re.search(rf'<script type="application/json" id="data-{name}">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def answer_of(page):
    """What the page says first."""
    part = page.partition('id="answer-title"')[2].partition('<h2 id="')[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", part))


def plain(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.partition("<body")[2].partition("<script")[0]))


def test_the_page_has_its_parts(three):
    page = three[-1]
    heads = re.findall(r'<h2 id="([\w-]+)-title">', page)
    expected = [
        "answer",
        "data",
        "topics",
        "scores",
        "neighbours",
        "words",
        "scree",
        "certificate",
        "reproduce",
        "glossary",
        "cite",
    ]
    assert heads == expected
    assert "The documents" in page
    assert "How many topics" in page
    assert "90 documents" in page


def test_topics_are_those_of_the_model(three):
    model, page = three[0], three[-1]
    drawn = data_of(page, "topics")
    topic = model.topics(2, words=12)[1]
    assert [word["name"] for word in drawn["topics"][1]] == [
        word for word, _ in (*topic.positive, *reversed(topic.negative))
    ]


def test_neighbours_are_those_of_the_model(three):
    import base64

    model, page = three[0], three[-1]
    drawn = data_of(page, "neighbours")
    numbers = {
        name: np.frombuffer(base64.b64decode(drawn[name]["u32"]), "<u4") for name in ("documents", "near", "offered")
    }
    for place in (0, 17, 89):
        row = int(numbers["documents"][numbers["offered"][place]])
        near = numbers["documents"][numbers["near"][place * drawn["each"] : (place + 1) * drawn["each"]]]
        assert near.tolist() == model.similar(row, top=drawn["each"]).rows.tolist()
    assert drawn["texts"][0].startswith(three[1][0][:60])


def test_three_subjects_are_more_than_chance(three):
    model, page = three[0], three[-1]
    found = chance_of(model, model._record.inverted.T.tocsr())
    assert found.above == 3  # what is common, and two that tell three subjects apart
    words = plain(page)
    assert "3 of 10 topics are stronger than what random documents" in words
    assert "T2 sets" in words or "T2 is led by" in words
    assert "T4 sets" not in words
    assert "nothing should be read into them" not in words


@pytest.mark.parametrize("draw", range(4))
@pytest.mark.parametrize("weighting", ["log-entropy", "tf-idf", "count"])
def test_random_documents_have_no_topics(draw, weighting):
    model = ritz.LSI(8, weighting=weighting).fit(noise(seed=draw))
    assert chance_of(model, model._record.inverted.T.tocsr()).above == 1


def test_nothing_is_said_of_noise():
    texts = noise()
    model = ritz.LSI(8).fit(texts)
    page = ritz.report.render(model, texts)
    words, answer = plain(page), answer_of(page)
    assert "nothing should be read into them" in answer
    assert "sets" not in answer
    assert "led by" not in answer
    assert "of the same kind" not in words
    assert data_of(page, "topics")["above"] == 1


def test_chance_of_a_sample_is_told(monkeypatch):
    import ritz.methods.lsi.chance as module

    monkeypatch.setattr(module, "DOCUMENTS", 50)
    monkeypatch.setattr(module, "SAMPLE", 60)
    texts = spoken()[1]
    model = ritz.LSI(10).fit(texts)
    words = plain(ritz.report.render(model, texts))
    assert "in a sample of 60 documents" in words
    assert ", the line," not in words


def test_empty_documents_and_the_language_are_named():
    texts = ["It is the flutter of the thin wings that the pilots of these planes are afraid of.", "", "... !",
             "An appeal to a higher court is for those who do not agree with their judge.",
             "The judge of the court was not in favour of the appeal, and that was the end of it."]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.EmptyDocuments)
        model = ritz.LSI().fit(texts)
        page = ritz.report.render(model, texts, names=[f"text {i}" for i in range(5)])
    words = plain(page)
    assert "2 documents have no known word" in words
    assert "English:" in words
    assert "row 2, row 3" in words


def test_documents_of_other_kinds(three, tmp_path):
    model, texts, _, _ = three
    for i, text in enumerate(texts[:12]):
        (tmp_path / f"{i:02}.txt").write_text(text, encoding="utf-8")
    others = plain(ritz.report.render(model, tmp_path))
    assert "not those of the fit, which had 90 documents" in others
    alone = ritz.report.render(model, None)
    assert "Nearest documents" in alone
    counts = model._record.inverted.T.tocsr()
    fitted = ritz.LSI(5).fit(counts)
    assert "The topics" in ritz.report.render(fitted, counts)


def test_a_correspondence_analysis_and_a_single_topic_have_reports():
    texts = spoken(30)[1]
    for model in (ritz.LSI(4, method="ca"), ritz.LSI(3, method="kernel"), ritz.LSI(1), ritz.LSI(3, hashing=64)):
        page = ritz.report.render(model.fit(texts), texts)
        assert "The topics" in page
        assert "Left out" not in page, re.findall("left-out.*", page)[0][:500]


def test_a_loaded_model_has_the_same_report(three, tmp_path):
    model, texts, kinds, page = three
    ritz.save(model, tmp_path / "m.ritz")
    again = ritz.report.render(ritz.load(tmp_path / "m.ritz"), texts, color=kinds)
    assert data_of(again, "neighbours") == data_of(page, "neighbours")
    assert data_of(again, "topics") == data_of(page, "topics")


def test_names_of_documents_are_text_in_the_page():
    texts = spoken(12)[1]
    page = ritz.report.render(ritz.LSI(3).fit(texts), texts, names=["<script>alert(1)</script>"] * 12)
    assert "<script>alert" not in page


def apart(n=60, seed=0):
    """Documents of two subjects that share no word."""
    rng = np.random.default_rng(seed)
    kinds = [["wine", "wing"][i % 2] for i in range(n)]
    return kinds, [" ".join(rng.choice(ABOUT[kind], 8)) for kind in kinds]


def test_subjects_without_a_common_word_have_nothing_in_common():
    kinds, texts = apart()
    model = ritz.LSI(4).fit(texts)
    page = ritz.report.render(model, texts, color=kinds)
    answer = answer_of(page)
    assert "is what documents have in common" not in answer
    assert "T1 is led by" in answer
    # the map shows both subjects, and not one of them as a point
    assert data_of(page, "scores")["axes"] == [0, 1]
    assert data_of(page, "words")["begin"] == [0, 1]


@pytest.mark.parametrize(("method", "begin"), [("svd", [1, 2]), ("ca", [0, 1])])
def test_a_map_begins_with_the_topics_that_tell_documents_apart(method, begin):
    _, texts = spoken()
    model = ritz.LSI(6, method=method).fit(texts)
    page = ritz.report.render(model, texts)
    assert data_of(page, "scores")["axes"] == begin
    assert data_of(page, "words")["begin"] == begin
    assert ("is what documents have in common" in plain(page)) == (method == "svd")
