"""Texts as nobody expects them: other scripts, points, pages of HTML, odd queries and odd places."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz.text import Words, documents
from ritz.text.markup import is_page, seen

BASE = [
    "red wine and white wine from the old vineyard", "a glass of red wine", "flutter of thin wings in supersonic flow",
    "the wings of a plane", "cats and dogs like to sleep", "the stock markets fell on monday",
]  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return ritz.LSI(3).fit(BASE)


@pytest.mark.parametrize(
    ("pointed", "bare"),
    [
        ("اللُّغَةُ العَرَبِيَّةُ", "اللغة العربية"),
        ("العـــربية", "العربية"),
        ("שָׁלוֹם", "שלום"),
        ("İSTANBUL", "istanbul"),
        (unicodedata.normalize("NFD", "Müller café"), "müller café"),
        ("ﬁne ＷＩＤＥ", "fine wide"),
    ],
)
def test_one_word_has_one_spelling(pointed, bare):
    assert Words().tokens(pointed) == Words().tokens(bare) == bare.split()
    found = ritz.LSI(2).fit([pointed, "something else", "and more of it"]).search(bare, top=3, hybrid=1)
    assert found.rows.tolist() == [0]


def test_marks_that_are_no_points_stay():
    assert Words().tokens("हिन्दी में") == ["हिन्दी", "में"]
    assert Words().tokens("أحمد آدم") == ["أحمد", "آدم"]
    assert Words().tokens("ıslak") == ["ıslak"]


@pytest.mark.parametrize(
    "texts",
    [
        ["ภาษาไทยเป็นภาษาที่สวยงาม", "ฉันชอบกินข้าว", "ภาษาอังกฤษ"],
        ["اللغة العربية جميلة", "اللغة", "القط ينام"],
        ["हिन्दी भाषा", "भाषा सुंदर है", "बिल्ली सोती है"],
        ["東京タワーとPython", "東京都", "大阪城"],
        ["한국어 문장 입니다", "한국어", "다른 글"],
    ],
)
def test_other_scripts_are_found(texts):
    found = ritz.LSI(2).fit(texts)
    assert found.search(texts[0], top=1).rows.tolist() == [0]
    assert found.search(texts[1], top=3, hybrid=0.5).rows[0] == 1


# pages


def test_a_page_is_what_a_reader_sees():
    page = "<!DOCTYPE html><html><head><style>p{color:red}</style><SCRIPT>var zebra = '<p>';</script></head><body>"
    page += "<!-- hidden --><p>thin <b>w</b>ings&nbsp;&amp; 3 < 4 > 2</p><br/>flow<script>open"
    assert seen(page).split() == ["thin", "wings", "&", "3", "<", "4", ">", "2", "flow"]
    assert is_page(Path("a.HTML"))
    assert is_page(Path("a.htm.gz"))
    assert not is_page(Path("a.txt"))
    assert not is_page(Path("html"))


def test_pages_of_a_folder(tmp_path):
    (tmp_path / "a.html").write_text("<p>cats &amp; dogs</p><script>var zebra;</script>")
    (tmp_path / "b.txt").write_text("<p>raw</p>")
    docs = documents(tmp_path)
    assert [text.split() for text in docs.texts_of([0, 1])] == [["cats", "&", "dogs"], ["<p>raw</p>"]]
    assert docs.notes == ("1 page of HTML read without tags, scripts and styles",)


# questions


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (b"wine", r"received bytes b'wine'\nhint: decode bytes first"),
        ({"q": "wine"}, "expected a query: a text, a list of texts, or counts of words; received dict"),
        (None, "expected a query.*received NoneType"),
        (5, "expected a query.*received int 5"),
        ([["wine"]], "a list of words in row 0"),
    ],
)
def test_what_is_no_query_is_refused(model, query, words):
    with pytest.raises(ritz.InputError, match=words):
        model.search(query)


def test_queries_without_a_word_say_so(model):
    for query in ("", "  ", "the of", "🍷", "👩‍👩‍👧‍👦 !"):
        hits = model.search(query)
        assert not len(hits)
        assert hits.note.startswith("the query has no words: ")
    none, some = model.search([None, "wine"])
    assert (none.query, len(none)) == ("", 0)
    assert none.note.startswith("the query has no words")
    assert len(some) == 2


def test_a_word_without_end_is_cut_in_the_note(model):
    assert len(model.search("w" * 100_000).note) < 100


@pytest.mark.parametrize("hybrid", [True, np.True_])
def test_truth_of_numpy_is_truth(model, hybrid):
    assert model.search("wine", hybrid=hybrid).rows.tolist() == model.search("wine", hybrid=0.3).rows.tolist()
    assert model.search("wine", hybrid=np.False_).scores.tolist() == model.search("wine").scores.tolist()


def test_too_many_topics_are_told_of_documents_and_words():
    with pytest.raises(ritz.ParameterError, match="received 50 for 6 documents and 20 words"):
        ritz.LSI(50).fit(BASE)
    with pytest.raises(ritz.ParameterError, match="received 2 for 3 documents and 1 word"):
        ritz.LSI(2).fit(["wine"] * 3)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"a": "red wine"}, r"received dict\nhint: give a list of str: list\(texts\.values\(\)\)"),
        (set(BASE), r"received set\nhint: give a list of str"),
        (np.array([BASE]), r"hint: X\.ravel\(\)"),
        (["😀", "😀 👍"], "signs and emoji are none"),
    ],
)
def test_what_is_no_list_of_texts_is_refused_with_a_hint(texts, words):
    with pytest.raises(ritz.InputError, match=words):
        ritz.LSI(1).fit(texts)


def test_a_correspondence_analysis_finds_what_shares_something():
    model = ritz.LSI(3, method="ca").fit(BASE)
    for hybrid in (None, 0, 0.3, 1):
        assert model.search("wine", top=6, hybrid=hybrid).rows.tolist() == [0, 1]


# how many topics


@pytest.mark.parametrize(
    ("documents", "topics"), [(1, 1), (6, 6), (40, 40), (60, 40), (100, 50), (399, 199), (400, 200), (5000, 200)]
)
def test_half_as_many_topics_as_documents(documents, topics):
    from ritz.methods.lsi.checks import usual_topics

    assert usual_topics(documents) == topics


def test_a_fit_takes_as_many_topics_as_are_usual():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 300, 20)) for _ in range(100)]
    assert ritz.LSI().fit(texts).n_components_ == 50
    assert ritz.LSI(method="ca").fit(texts).n_components_ == 49
    assert ritz.LSI().fit(texts[:30]).n_components_ == 30
