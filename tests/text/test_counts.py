"""Counts of words: scikit-learn's on plain texts; the same from shards, streams and one call; odd texts."""

from __future__ import annotations

import gc
import pickle
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline

import ritz
from ritz.text import Counts, Weighting, Words, documents
from ritz.text import gather as gather_module
from ritz.text import vocabulary as vocabulary_module

TEXTS = ["red cat sat", "red red wings", "", "thin wings of the red cat", "İstanbul 東京 cat 😀", "the the the"]


def corpus(n: int, seed: int = 0, mean: int = 9) -> list[str]:
    """Texts of words with frequencies 1/rank."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(mean, n)
    return [" ".join(f"w{int(r)}" for r in rng.zipf(1.3, m) if r < 10**6) for m in lengths]


def equal(A, B):
    assert A.shape == B.shape
    assert A.dtype == np.float64
    assert (A != B).nnz == 0


def test_counts_are_those_of_scikit_learn():
    texts = corpus(500) + [text for text in TEXTS if text.isascii()]
    theirs = CountVectorizer()
    ours = Counts()
    equal(ours.fit_transform(texts), theirs.fit_transform(texts).astype(float))
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    equal(ours.transform(texts[:7]), theirs.transform(texts[:7]).astype(float))


@pytest.mark.parametrize(
    "given",
    [
        {"min_df": 3},
        {"max_df": 0.3},
        {"min_df": 0.01, "max_df": 40},
        {"max_features": 20},
        {"min_df": 2, "max_features": 5},
    ],
)
def test_rare_and_common_words_are_left_out_as_in_scikit_learn(given):
    texts = corpus(300, seed=1)
    theirs, ours = CountVectorizer(**given), Counts(**given)
    X, Y = ours.fit_transform(texts), theirs.fit_transform(texts)
    tied = "max_features" in given  # of equally frequent words scikit-learn keeps whichever comes
    if not tied:
        equal(X, Y.astype(float))
        assert ours.vocabulary_ == theirs.vocabulary_
    assert sorted(ours.global_frequency_) == sorted(np.asarray(Y.sum(axis=0)).ravel())
    equal(ours.transform(texts), X)
    equal(Counts(**given).fit(texts).transform(texts), X)


@given(st.integers(1, 40), st.integers(1, 5), st.booleans())
def test_shards_batches_and_streams_give_the_columns_of_the_whole(size, shards, hashed):
    texts = corpus(60, seed=size) + TEXTS
    parameters = {"hashing": 16} if hashed else {"min_df": 2}
    whole = Counts(**parameters)
    X = whole.fit_transform(texts)

    parts = [Counts(**parameters).fit(texts[i::shards]) for i in range(shards)]
    merged = parts[0].merge(*parts[1:]) if shards > 1 else parts[0]
    streamed = Counts(**parameters)
    for start in range(0, len(texts), size):
        streamed.partial_fit(iter(texts[start : start + size]))
    small = documents(texts)
    small._batch = size
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary_module, "WAITING", 3)
        patch.setattr(gather_module, "WAITING", 3)
        patch.setattr(gather_module, "TOGETHER", 5)
        in_batches = Counts(**parameters)
        equal(in_batches.fit_transform(small), X)
    for one in (merged, streamed, in_batches):
        assert one.vocabulary_ == whole.vocabulary_
        assert one.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
        np.testing.assert_array_equal(one.document_frequency_, whole.document_frequency_)
        np.testing.assert_array_equal(one.global_frequency_, whole.global_frequency_)
        assert (one.n_documents_, one.n_empty_) == (whole.n_documents_, whole.n_empty_) == (66, whole.n_empty_)
        equal(one.transform(texts), X)
    np.testing.assert_array_equal(whole.document_frequency_, (X > 0).sum(axis=0))


def test_merging_leaves_both_parts_as_they_were():
    a, b = Counts().fit(["red cat"]), Counts().fit(["wings"])
    both = a.merge(b)
    assert list(a.vocabulary_) == ["cat", "red"]
    assert list(b.vocabulary_) == ["wings"]
    assert list(both.vocabulary_) == ["cat", "red", "wings"]
    a.partial_fit(["wings"])
    np.testing.assert_array_equal(both.document_frequency_, [1, 1, 1])
    with pytest.raises(ritz.MergeError, match="min_df=1 and min_df=2"):
        a.merge(Counts(min_df=2).fit(["a b cat cat", "cat"]))
    with pytest.raises(ritz.MergeError, match="fitted Counts"):
        a.merge("b")


def test_words_that_are_new_are_ignored_and_counted():
    # gensim's LsiModel reads out of bounds for a term beyond those of the fit, and returns a made-up vector or dies.
    counts = Counts().fit(["red cat", "thin wings"])
    X = counts.transform(["red dragons and more dragons", "", "unknown", "cat"])
    np.testing.assert_array_equal(X.toarray(), [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(counts.unseen_, [4, 0, 1, 0])
    np.testing.assert_array_equal(counts.empty_, [1, 2])
    assert X.indices.max() < X.shape[1]


def test_words_that_were_left_out_count_as_unseen_in_the_fit_too():
    counts = Counts(min_df=2)
    counts.fit_transform(["red cat cat", "red wings", ""])
    np.testing.assert_array_equal(counts.unseen_, [2, 1, 0])
    np.testing.assert_array_equal(counts.empty_, [2])
    assert counts.n_empty_ == 1


def test_many_unknown_words_are_looked_up_all_at_once_and_few_one_by_one():
    counts = Counts().fit([" ".join(f"w{i}" for i in range(500))])
    many = counts.transform([" ".join(f"w{i}" for i in range(250, 750))])
    assert (many.sum(), counts.unseen_.tolist()) == (250, [250])
    few = counts.transform(["w3 w3 w501"])
    assert (few[0, counts.vocabulary_["w3"]], counts.unseen_.tolist()) == (2, [1])


def test_hashing_is_that_of_scikit_learn_without_signs():
    texts = [*corpus(200), "Ελλάδα ελλάδα naïve cat"]
    theirs = HashingVectorizer(n_features=64, alternate_sign=False, norm=None).transform(texts)
    ours = Counts(hashing=64)
    equal(ours.fit_transform(texts), theirs)
    equal(ours.transform(texts), theirs)
    names = ours.get_feature_names_out()
    assert names[ours.vocabulary_["w1"]].split("|")[0] == "w1"  # the most frequent word of its bucket
    assert Counts(hashing=4).fit(["x"]).get_feature_names_out().tolist() == [f"bucket {j}" for j in range(4)]


def test_hashing_remembers_words_up_to_a_limit_and_counts_all(monkeypatch):
    from ritz.text import buckets

    monkeypatch.setattr(buckets, "REMEMBERED", 10)
    counts = Counts(hashing=32).fit(corpus(100))
    assert len(counts.vocabulary_) == 10
    assert counts.global_frequency_.sum() == sum(len(Words().tokens(text)) for text in corpus(100))


@pytest.mark.parametrize("hashing", [None, 8])
@pytest.mark.parametrize("texts", [[], [""], ["", "x ! 😀"]])
def test_documents_without_words_give_a_matrix_without_entries(texts, hashing):
    counts = Counts(hashing=hashing)
    X = counts.fit_transform(texts)
    assert X.shape == (len(texts), hashing or 0)
    assert X.nnz == 0
    assert counts.transform(["anything at all"]).shape == (1, hashing or 0)
    assert counts.n_empty_ == len(texts)


def test_a_large_document_takes_a_few_times_its_size(monkeypatch):
    from ritz.text import tokens

    monkeypatch.setattr(tokens, "LONG", 1 << 16)  # the proportions of 100 MB in a second
    monkeypatch.setattr(tokens, "TOGETHER", 1 << 19)
    text = " ".join(corpus(40_000, mean=20)).replace("w", "word")
    assert len(text) > 4e6
    counts = Counts()
    counts.fit_transform(["warm up"])
    gc.collect()
    before = pa.default_memory_pool()
    arrow = pa.proxy_memory_pool(before)
    pa.set_memory_pool(arrow)
    tracemalloc.start()
    try:
        X = counts.fit_transform([text, "word1"])
        peak = tracemalloc.get_traced_memory()[1] + arrow.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)
    assert peak < 5 * len(text)
    assert X.sum() == len(text.split()) + 1
    assert X[0, counts.vocabulary_["word1"]] == text.split().count("word1")


def test_a_great_many_tiny_documents():
    texts = ["three word text", "another tiny one", ""] * 20_000
    counts = Counts()
    X = counts.fit_transform(iter(texts))
    assert X.shape == (60_000, 6)
    np.testing.assert_array_equal(counts.document_frequency_, [20_000] * 6)
    assert counts.n_empty_ == 20_000


def test_several_threads_give_what_one_gives(monkeypatch):
    from ritz.text import counts as module

    texts = corpus(400)
    small = documents(texts)
    small._batch = 500
    monkeypatch.setattr(module, "lane_count", lambda: 4)
    equal(Counts().fit_transform(small), Counts().fit_transform(texts))


@pytest.mark.parametrize("given", [{}, {"min_df": 2, "words": Words(stop_words=["the"])}, {"hashing": 16}])
def test_counts_are_made_again_from_their_record(given):
    fitted = Counts(**given).fit(TEXTS)
    record = fitted.record()
    again = Counts.from_record(record)
    assert again.vocabulary_ == fitted.vocabulary_
    assert again.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert (again.n_documents_, again.n_empty_) == (6, fitted.n_empty_)
    equal(again.transform(TEXTS), fitted.transform(TEXTS))
    more = again.merge(Counts(**given).fit(["the red dragon", "dragon"]))  # what was too rare is still known
    assert more.vocabulary_ == Counts(**given).fit([*TEXTS, "the red dragon", "dragon"]).vocabulary_
    assert Counts.from_record(Counts(**given).fit([]).record()).n_documents_ == 0


def test_a_fit_that_fails_leaves_what_was_known():
    counts = Counts().fit(["red cat"])
    for call in (counts.fit, counts.partial_fit, counts.fit_transform):
        with pytest.raises(ritz.InputError):
            call(iter([*corpus(50), 7]))
        assert list(counts.vocabulary_) == ["cat", "red"]
        assert counts.n_documents_ == 1
    fresh = Counts()
    with pytest.raises(ritz.InputError):
        fresh.fit([7])
    with pytest.raises(NotFittedError):
        fresh.vocabulary_  # noqa: B018


def test_counts_are_an_estimator():
    counts = Counts(words=Words(stop_words="english"), min_df=2)
    twin = clone(counts)
    assert twin.words == counts.words
    assert twin.get_params(deep=False) == counts.get_params(deep=False)
    pipeline = make_pipeline(Counts(), Weighting("histogram"))
    np.testing.assert_allclose(pipeline.fit_transform(["red red cat"]).toarray(), [[1 / 3, 2 / 3]])
    fitted = Counts().fit(TEXTS)
    again = pickle.loads(pickle.dumps(fitted))
    equal(again.transform(TEXTS), fitted.transform(TEXTS))
    with pytest.raises(NotFittedError):
        Counts().transform(TEXTS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"words": "english"}, "words must be"),
        ({"min_df": -1}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"max_features": 0}, "max_features"),
        ({"hashing": 0}, "hashing"),
        ({"hashing": 8, "min_df": 2}, "every bucket is a column"),
        ({"min_df": 5, "max_df": 2}, "max_df must allow"),
        ({"min_df": 0.5, "max_df": 0.2}, "max_df must allow"),
    ],
)
def test_parameters_out_of_range_are_refused(given, message):
    with pytest.raises(ritz.ParameterError, match=message):
        Counts(**given).fit(TEXTS)


def test_a_range_that_no_word_fits_gives_no_columns():
    counts = Counts(min_df=3)
    assert counts.fit_transform(["red cat", "red wings"]).shape == (2, 0)
    assert counts.partial_fit(["red"]).vocabulary_ == {"red": 0}


def test_the_most_frequent_words_are_those_that_occur_most_often_and_not_in_most_documents():
    texts = ["red red red red red", "cat", "cat", "cat", "wing wing"]
    counts = Counts(max_features=1).fit(texts)
    assert counts.get_feature_names_out().tolist() == ["red"]
    assert Counts(max_features=2).fit(texts).get_feature_names_out().tolist() == ["cat", "red"]
