"""The rule that turns texts into tokens: against a plain one, letter by letter, and in many scripts."""

from __future__ import annotations

import pickle
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import ritz
from ritz.text import Words, grams, tokens
from ritz.text.characters import BLOCKS, HAN, UNSEEN

# ---------------------------------------------------------------------------------------- a rule letter by letter


def kind(character: str) -> str:
    if unicodedata.category(character)[0] not in "LMN":
        return "separator"
    return "unspaced" if any(a <= ord(character) <= b for a, b in BLOCKS) else "letter"


def by_hand(text: str, lowercase: bool = True) -> list[str]:
    """The tokens of a text, one character after the other, as the module says in words."""
    text = unicodedata.normalize("NFKC", text)
    text = text.lower().replace("i\u0307", "i") if lowercase else text
    if UNSEEN.search(text):
        text = unicodedata.normalize("NFKC", UNSEEN.sub("", text))
    runs: list[tuple[str, str]] = []
    for character in text:
        if runs and runs[-1][0] == kind(character):
            runs[-1] = (runs[-1][0], runs[-1][1] + character)
        else:
            runs.append((kind(character), character))
    found: list[str] = []
    for what, run in runs:
        if what == "letter" and len(run) > 1:
            found.append(run)
        if what == "unspaced":
            found += [run] if len(run) == 1 else _overlapping(run)
    return found


def _overlapping(run: str) -> list[str]:
    """Each two neighbours, and each character of Han before the two that it begins."""
    found: list[str] = []
    for i, character in enumerate(run):
        found += [character] if any(a <= ord(character) <= b for a, b in HAN) else []
        found += [run[i : i + 2]] if i + 1 < len(run) else []
    return found


ALPHABETS = [
    "aZ09 _-'\n\t.",
    "éÅßİıſﬁﬀœ",
    "ΣσςάΑ ",
    "жЁй ",
    "שלום֑ ",
    "مَرحبا\u200cً ",
    "नमस्ते दुनिया",
    "สวัสดีชาวโลก\u200b",
    "东京タワーひら々ー。、 ",
    "한국어 ㄱ",
    "😀👍🏽👨\u200d👩\u200d👧❤\ufe0f",
    "e\u0301\u0308\u20e3\u00ad\u200d\u2060\ufeff",
    "²½ⅷ１Ａ𝔸𝟘",
    "\x00\x1e\x85\u2028",
    "\ud83d\udc00\ud800",
]
mixed = st.lists(st.sampled_from("".join(ALPHABETS)), max_size=60).map("".join)
anything = st.text(st.characters(), max_size=60)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(mixed, anything, st.text("ab C_1.", max_size=20)), max_size=6), st.booleans())
@example(["ΟΔΟΣ", "İstanbul", "straße ﬁnd", "a\u0301b", "\ud83d", "", "東"], True)
def test_many_texts_at_once_have_the_tokens_of_the_plain_rule(texts, lowercase):
    found = Words(lowercase=lowercase).batch(texts)
    words = found.words
    split = [[words[c] for c in found.codes[a:b]] for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)]
    assert split == [by_hand(text, lowercase) for text in texts]
    assert len(set(words)) == len(words)


@settings(max_examples=60, deadline=None)
@given(st.lists(mixed, min_size=1, max_size=4), st.integers(1, 30), st.integers(4, 40))
def test_pieces_and_parts_of_any_size_give_the_same_tokens(texts, piece, long):
    whole = Words().batch(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PIECE", piece)
        patch.setattr(tokens, "LONG", long)
        cut = Words().batch(texts)
    assert cut.listed() == whole.listed()
    np.testing.assert_array_equal(cut.starts, whole.starts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't x = y, state-of-the-art 3D!", ["don", "state", "of", "the", "art", "3d"]),
        ("snake_case", ["snake", "case"]),
        ("Καλημέρα ΚΌΣΜΕ, ΟΔΌΣ", ["καλημέρα", "κόσμε", "οδός"]),
        ("Приве́т мир", ["приве́т", "мир"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("안녕 세상", ["안녕", "세상"]),
        ("机器学习 is fun", ["机", "机器", "器", "器学", "学", "学习", "习", "is", "fun"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("東", ["東"]),
        ("I ❤️ 🦋 wings", ["wings"]),
        ("co\u00adoperate zero\u200dwidth", ["cooperate", "zerowidth"]),
        ("ﬁnd Ｆｕｌｌ", ["find", "full"]),
        ("STRASSE straße", ["strasse", "straße"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_words_of_many_scripts(text, expected):
    assert Words().tokens(text) == expected


def test_one_spelling_of_an_accent_and_none():
    assert Words().tokens("cafe\u0301") == Words().tokens("caf\u00e9") == ["caf\u00e9"]
    assert Words(accents=True).tokens("Café Ångström naïve") == ["cafe", "angstrom", "naive"]
    # Vowel signs and viramas are letters of their scripts, not accents; syllables of Hangul stay whole.
    assert Words(accents=True).tokens("नमस्ते 한국") == ["नमस्ते", "한국"]


# ---------------------------------------------------------------------------------------- stop words, stems, n-grams


def test_stop_words_are_left_out_as_they_are_spelled():
    assert Words(stop_words="english").tokens("the flutter of these wings") == ["flutter", "wings"]
    assert Words(stop_words=["Wings", "ﬁn"]).tokens("WINGS fin tail") == ["tail"]
    assert Words(stop_words="english").tokens("to be or not to be") == []


def test_stems_are_taken_after_stop_words_and_once_for_each_word(monkeypatch):
    pytest.importorskip("Stemmer", reason="PyStemmer is not installed")
    rule = Words(stem="english", stop_words=["running"])
    assert rule.tokens("Wings winged running runs") == ["wing", "wing", "run"]
    asked: list[str] = []
    ready = rule._made_ready()
    stem = ready.stem
    monkeypatch.setattr(ready, "stem", lambda word: asked.append(word) or stem(word))
    rule.batch(["flutter flutter flutters"] * 50)
    rule.batch(["flutters flutter"] * 50)
    assert sorted(asked) == ["flutter", "flutters"]


def test_stems_are_remembered_up_to_a_limit_and_by_several_threads(monkeypatch):
    pytest.importorskip("Stemmer", reason="PyStemmer is not installed")
    from ritz.text import words as module

    monkeypatch.setattr(module, "REMEMBERED", 3)
    rule = Words(stem="english")
    texts = [[f"flying{i} wings{j} fluttering" for j in range(20)] for i in range(30)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda batch: rule.batch(batch).listed(), texts))
    assert found == [Words(stem="english").batch(batch).listed() for batch in texts]
    assert len(rule._made_ready().memory) < 60


def test_every_language_has_a_stemmer():
    pytest.importorskip("Stemmer", reason="PyStemmer is not installed")
    from ritz.text.stems import LANGUAGES

    for language in LANGUAGES:
        assert Words(stem=language).tokens("internationalisation") != []


def test_without_a_stemmer_the_error_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "Stemmer", None)
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ritz.MissingDependency, match=r"ritz\[text\]"):
        Words(stem="english").tokens("wings")


TEXTS = ["the quick brown fox", "a fox", "", "quick quick  brown\nthe end of it", "x", "of of of of"]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3), (3, 3)])
def test_word_grams_are_those_of_scikit_learn(ngrams):
    analyse = CountVectorizer(ngram_range=ngrams).build_analyzer()
    for text in TEXTS:
        assert Words(ngrams=ngrams).tokens(text) == analyse(text)


@pytest.mark.parametrize("kind", ["char", "char_wb"])
@pytest.mark.parametrize("ngrams", [(1, 1), (2, 4), (5, 6), (3, 3)])
def test_character_grams_are_those_of_scikit_learn(kind, ngrams):
    analyse = CountVectorizer(ngram_range=ngrams, analyzer=kind).build_analyzer()
    together = Words(ngrams=ngrams, kind=kind).batch(TEXTS)
    for i, text in enumerate(TEXTS):
        codes = together.codes[together.starts[i] : together.starts[i + 1]]
        assert sorted(together.words[c] for c in codes) == sorted(analyse(text))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("ab cé\n", max_size=25), max_size=6),
    st.sampled_from(["word", "char", "char_wb"]),
    st.sampled_from([(1, 2), (2, 4), (3, 3)]),
    st.integers(1, 12),
)
def test_grams_numbered_in_stretches_of_any_length_are_the_same(texts, kind, ngrams, together):
    rule = Words(kind=kind, ngrams=ngrams)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grams, "TOGETHER", together)
        cut = rule.batch(texts)
    whole = rule.batch(texts)
    np.testing.assert_array_equal(cut.starts, whole.starts)
    for a, b in zip(whole.starts[:-1], whole.starts[1:], strict=True):
        assert sorted(cut.listed()[a:b]) == sorted(whole.listed()[a:b])
    assert len(set(cut.words)) == len(cut.words)


def test_a_pattern_finds_words_instead():
    assert Words(pattern=r"[^\s]+").tokens("C++ and F# x") == ["c++", "and", "f#", "x"]
    assert Words(pattern=r"#(\w+)").tokens("#one two #three") == ["one", "three"]
    assert Words(pattern=r".").tokens("a\ud800b") == ["a", "\ufffd", "b"]


# ---------------------------------------------------------------------------------------- the rule as a thing


def test_rules_are_compared_printed_pickled_and_made_again_from_their_parameters():
    rule = Words(stop_words=["b", "a"], ngrams=(1, 2))
    assert repr(rule) == "Words(stop_words=['a', 'b'], ngrams=[1, 2])"
    for same in (
        Words(**rule.parameters()),
        pickle.loads(pickle.dumps(rule)),
        Words(stop_words=["a", "b"], ngrams=[1, 2]),
    ):
        assert same == rule
        assert hash(same) == hash(rule)
    assert rule != Words()
    assert repr(Words()) == "Words()"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "words"}, "kind='word'"),
        ({"ngrams": (2, 1)}, "ngrams must be"),
        ({"ngrams": 3}, "ngrams must be"),
        ({"stem": "klingon"}, "language of Snowball"),
        ({"stop_words": "german"}, "stop_words must be"),
        ({"stop_words": [1]}, "stop_words must be"),
        ({"pattern": "("}, "regular expression"),
        ({"pattern": "(a)(b)"}, "one group"),
        ({"kind": "char", "stem": "english"}, "for kind='word'"),
    ],
)
def test_what_a_rule_cannot_be_is_refused(given, message):
    with pytest.raises(ritz.ParameterError, match=message):
        Words(**given)


def test_what_is_no_text_is_refused():
    with pytest.raises(ritz.InputError, match="expected a text"):
        Words().tokens(["a list"])
