"""Weights of words: closed forms, scikit-learn, bm25s and gensim where they are installed; parts that merge."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer

import ritz
from ritz.text import Counts, Weighting, Words, weighting
from ritz.text.named import NAMES

TF = np.array([[2.0, 1, 0, 0], [1, 0, 3, 0], [0, 0, 0, 0], [1, 0, 1, 1], [5, 0, 0, 1]])


@pytest.fixture
def counts():
    return sp.random_array((40, 25), density=0.15, rng=np.random.default_rng(3), data_sampler=draw).tocsr()


def draw(size):
    return np.random.default_rng(4).integers(1, 9, size).astype(float)


def by_hand(name: str, TF: np.ndarray) -> np.ndarray:
    """Each entry by itself, as the module states it."""
    N, d = TF.shape
    mean = TF.sum() / N
    out = np.zeros_like(TF)
    for j in range(d):
        df, gf = np.count_nonzero(TF[:, j]), TF[:, j].sum()
        p = TF[TF[:, j] > 0, j] / gf if gf else np.zeros(0)
        idf = math.log((1 + N) / (1 + df)) + 1
        for i in range(N):
            tf, length = TF[i, j], TF[i].sum()
            if tf == 0:
                continue
            long = length / mean
            forms = {
                "count": tf,
                "histogram": tf / length,
                "tf-idf": tf * idf,
                "sublinear": (1 + math.log(tf)) * idf,
                "log-entropy": math.log(1 + tf) * (1 + sum(q * math.log(q) for q in p) / math.log(N)),
                "bm25": tf / (tf + 1.5 * (0.25 + 0.75 * long)) * math.log(1 + (N - df + 0.5) / (df + 0.5)),
                "pivoted": (1 + math.log(1 + math.log(tf))) / (0.8 + 0.2 * long) * math.log((N + 1) / df),
            }
            out[i, j] = forms[name]
    if NAMES[name][2] == "l2":
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        out /= np.where(norms > 0, norms, 1)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_every_weighting_is_what_its_formula_says(name):
    W = weighting(name).fit_transform(sp.csr_array(TF))
    np.testing.assert_allclose(W.toarray(), by_hand(name, TF), rtol=1e-13, atol=1e-15)
    assert W[[2]].nnz == 0  # an empty document stays empty


def test_local_and_global_parts_combine():
    X = sp.csr_array(TF)
    np.testing.assert_array_equal(Weighting("binary").fit_transform(X).toarray(), TF > 0)
    gfidf = Weighting("log", "gfidf").fit(X).global_weights_
    np.testing.assert_allclose(gfidf, [9 / 4, 1, 2, 1])
    rows = Weighting("count", norm="l1").fit_transform(X).toarray()
    np.testing.assert_allclose(rows, weighting("histogram").fit_transform(X).toarray(), rtol=1e-15)


def test_tf_idf_is_that_of_scikit_learn(counts):
    for name, theirs in (("tf-idf", TfidfTransformer()), ("sublinear", TfidfTransformer(sublinear_tf=True))):
        difference = abs(weighting(name).fit_transform(counts) - theirs.fit_transform(counts)).max()
        assert difference < 1e-15


def test_bm25_is_that_of_bm25s():
    bm25s = pytest.importorskip("bm25s", reason="bm25s is not installed")
    texts = ["red cat sat on the mat the mat", "red red wings of wings", "thin wings and a cat and cat cat"]
    counts = Counts()
    W = weighting("bm25").fit_transform(counts.fit_transform(texts))
    index = bm25s.BM25(method="lucene", dtype="float64")
    index.index([Words().tokens(text) for text in texts], show_progress=False)
    for word, j in counts.vocabulary_.items():
        np.testing.assert_allclose(index.get_scores([word]), W[:, [j]].toarray().ravel(), atol=1e-12)


def test_log_entropy_is_that_of_gensim_but_for_its_base():
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    X = sp.csr_array(TF)
    corpus = [[(int(j), int(TF[i, j])) for j in np.flatnonzero(TF[i])] for i in range(len(TF))]
    theirs = models.LogEntropyModel(corpus, normalize=False)
    ours = Weighting("log", "entropy").fit(X)
    # gensim divides by log(N + 1), Dumais by log N.
    for j, weight in theirs.entr.items():
        expected = 1 + (weight - 1) * math.log(len(TF) + 1) / math.log(len(TF))
        assert ours.global_weights_[j] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_parts_merge_to_the_whole(name, counts):
    whole = weighting(name).fit(counts)
    parts = [weighting(name).fit(counts[i::3]) for i in range(3)]
    streamed = weighting(name)
    for i in range(0, counts.shape[0], 7):
        streamed.partial_fit(counts[i : i + 7])
    for one in (parts[0].merge(*parts[1:]), parts[2].merge(parts[0]).merge(parts[1]), streamed):
        np.testing.assert_allclose(one.global_weights_, whole.global_weights_, rtol=1e-13)
        np.testing.assert_array_equal(one.sums_.df, whole.sums_.df)
        np.testing.assert_array_equal(one.sums_.gf, whole.sums_.gf)
        assert (one.n_documents_, one.mean_length_) == (whole.n_documents_, whole.mean_length_)
        difference = abs(one.transform(counts) - whole.transform(counts))
        assert difference.max() < 1e-14
    assert parts[0].n_documents_ == 14  # merging left it alone


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_weighted_alike_alone_and_among_others(name, counts):
    rule = weighting(name).fit(counts[:20])
    together = rule.transform(counts)
    for i in (0, 25, 39):
        np.testing.assert_array_equal(rule.transform(counts[[i]]).toarray(), together[[i]].toarray())


@pytest.mark.parametrize("name", NAMES)
def test_words_without_a_document_and_documents_without_a_word_have_finite_weights(name):
    rule = weighting(name).fit(sp.csr_array(([1.0], ([0], [0])), shape=(1, 3)))
    W = rule.transform(np.array([[1, 2, 0], [0, 0, 0]]))
    assert np.isfinite(W.data).all()
    assert (W.data >= 0).all()
    nothing = weighting(name).fit(sp.csr_array((0, 3)))
    assert np.isfinite(nothing.transform(np.array([[1, 2, 0]])).data).all()
    assert weighting(name).fit_transform(sp.csr_array((2, 0))).shape == (2, 0)


def test_a_word_in_every_document_equally_often_has_entropy_weight_zero():
    rule = Weighting("log", "entropy").fit(np.full((7, 2), 3))
    np.testing.assert_allclose(rule.global_weights_, 0, atol=1e-15)
    assert (rule.global_weights_ >= 0).all()


def test_the_input_is_left_as_it_is(counts):
    before = counts.copy()
    for name in NAMES:
        W = weighting(name).fit_transform(counts)
        W.data[:] = -1
        W.indices[:] = 0
    np.testing.assert_array_equal(counts.toarray(), before.toarray())
    stored = sp.csr_array((np.array([0.0, 2.0, 1.0]), np.array([0, 1, 1]), np.array([0, 3])), shape=(1, 2))
    assert weighting("count").fit_transform(stored).toarray().tolist() == [[0, 3]]
    assert stored.nnz == 3


def test_a_weighting_moves_to_the_columns_of_a_larger_vocabulary(counts):
    first, second = counts[:20], counts[20:]
    columns = np.arange(25) * 2
    wide = sp.csr_array((second.data, columns[second.indices], second.indptr), shape=(20, 51))
    moved = weighting("log-entropy").fit(first).moved(columns, 51).merge(weighting("log-entropy").fit(wide))
    whole = weighting("log-entropy").fit(counts)
    np.testing.assert_allclose(moved.global_weights_[columns], whole.global_weights_, rtol=1e-13)
    assert moved.n_documents_ == 40
    left_out = weighting("count").fit(first).moved([-1, *range(24)], 24)
    np.testing.assert_array_equal(left_out.sums_.df, weighting("count").fit(first).sums_.df[1:])


def test_weightings_are_estimators():
    rule = weighting("bm25").set_params(k1=1.2)
    again = pickle.loads(pickle.dumps(rule.fit(TF)))
    np.testing.assert_array_equal(again.transform(TF).toarray(), rule.transform(TF).toarray())
    same = Weighting.from_record(rule.record())
    np.testing.assert_array_equal(same.transform(TF).toarray(), rule.transform(TF).toarray())
    assert same.get_params() == rule.get_params()
    assert weighting(rule) is rule
    assert weighting("tf-idf") is not weighting("tf-idf")
    with pytest.raises(NotFittedError):
        weighting("bm25").transform(TF)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: weighting("tfidf"), ritz.ParameterError, "weighting='tf-idf'"),
        (lambda: Weighting("logs").fit(TF), ritz.ParameterError, "local='log'"),
        (lambda: Weighting("log", "ifd").fit(TF), ritz.ParameterError, "global_='idf'"),
        (lambda: Weighting(norm="l3").fit(TF), ritz.ParameterError, "norm must be"),
        (lambda: Weighting("bm25", b=2).fit(TF), ritz.ParameterError, "b must be"),
        (lambda: Weighting().fit(-TF), ritz.InputError, "negative"),
        (lambda: Weighting().fit(TF * np.nan), ritz.NonFiniteError, "finite"),
        (lambda: Weighting().fit(["red cat"]), ritz.InputError, "matrix of counts"),
        (lambda: Weighting().fit(TF).transform(TF[:, :2]), ritz.InputError, "counts of 4 words"),
        (lambda: Weighting().fit(TF).merge(Weighting().fit(TF[:, :2])), ritz.MergeError, "the same words"),
        (lambda: Weighting().fit(TF).merge(Weighting("log").fit(TF)), ritz.MergeError, "the same parameters"),
    ],
)
def test_what_cannot_be_weighted_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_logarithm_of_dumais_has_the_base_two_and_fractions_of_a_word_no_negative_weight():
    """A length of 1 hides the base, and whole numbers hide what becomes of less than one occurrence."""
    counts = np.array([[0.25, 0.5, 1.0, 3.0, 7.0]])
    rule = ritz.text.Weighting("log").fit(counts)
    np.testing.assert_allclose(rule.transform(counts).toarray(), [[np.log2(1.25), np.log2(1.5), 1, 2, 3]], rtol=1e-15)
    for local, more in (("sublinear", np.log([3.0, 7.0])), ("pivoted", np.log1p(np.log([3.0, 7.0])))):
        found = ritz.text.Weighting(local).fit(counts).transform(counts).toarray()[0]
        np.testing.assert_allclose(found, [0.25, 0.5, 1.0, *(1 + more)], rtol=1e-14)
