"""Where a collection leaves nothing to tell: copies, words that all documents have, queries that no topic knows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ritz
from ritz.testing import true_spectrum

PLAIN = ritz.text.Words()
#: Two subjects without a common word, of which one topic sees the first only.
APART = ["cat dog mouse", "cat dog", "cat mouse dog bird", "dog bird cat", "wine glass", "wine red glass"]
COPIES = ["cat dog", "cat dog", "wine glass", "wine glass", "red wine"]


def steep(seed=0, n=20, d=40):
    """Counts whose singular values fall by ten orders of magnitude."""
    rng = np.random.default_rng(seed)
    base = rng.integers(1, 5, d)
    C = np.stack([base * 10.0 ** rng.integers(0, 6) for _ in range(n)])
    C[np.arange(n), rng.integers(d, size=n)] += 1
    return C


@pytest.mark.parametrize("weighting", ["count", "tf-idf", "log-entropy"])
@pytest.mark.parametrize("method", ["svd", "kernel"])
def test_topics_of_a_steep_spectrum_are_as_certified(method, weighting):
    C = steep()
    lsi = ritz.LSI(20, method=method, weighting=weighting).fit(C)
    W = lsi._weighed(lsi.fitted(lsi).tabled(C)).toarray()
    truth = true_spectrum(W)
    c, V, k = lsi.certificate_, lsi.components_.T, lsi.n_components_
    assert np.abs(V.T @ V - np.eye(k)).max() <= c.orthogonality + 1e-15 < 1e-13
    assert np.all(np.linalg.norm(W.T @ (W @ V) - V * c.values, axis=0) <= c.residuals + c.rounding)
    true = np.sqrt(np.maximum(truth.values, 0.0))
    assert np.abs(lsi.singular_values_ - true[:k]).max() <= 100 * 2.0**-53 * true[0]
    assert np.all(c.lower <= truth.values[:k] * (1 + 1e-12))
    assert np.all(truth.values[:k] <= c.upper * (1 + 1e-12))
    assert true[k:].max(initial=0.0) <= 1e-13 * true[0]  # nothing was left out that can be told from zero
    assert lsi.verify(C)


@pytest.mark.parametrize("shape", [(6, 30), (30, 6)])
def test_the_kernel_is_on_the_side_of_the_documents_however_many_there_are(shape):
    C = np.random.default_rng(2).poisson(0.7, shape) + np.eye(*shape)
    svd, kernel = (ritz.LSI(4, method=method).fit(C) for method in ("svd", "kernel"))
    assert kernel.plan_.side == "rows"
    np.testing.assert_allclose(kernel.singular_values_, svd.singular_values_, rtol=1e-13)
    np.testing.assert_allclose(kernel.embedding_, svd.embedding_, atol=1e-12)
    assert kernel.verify(C)


@pytest.mark.parametrize("solver", ["auto", "svd", "lanczos", "krylov", "chebyshev"])
@pytest.mark.parametrize("method", ["svd", "kernel", "ca"])
def test_directions_of_no_document_are_no_topics(method, solver):
    lsi = ritz.LSI(4, method=method, solver=solver, weighting="count", words=PLAIN).fit(COPIES)
    rank = 2 if method == "ca" else 3
    assert lsi.n_components_ == rank
    assert lsi.verify(COPIES)
    hits = lsi.search("cat", top=2)
    assert hits.rows.tolist() == [0, 1]
    np.testing.assert_allclose(hits.scores, 1.0, atol=1e-9)  # all that documents say of cats
    assert ritz.LSI(4, method=method, solver=solver, weighting="count", words=PLAIN).fit(COPIES[2:] + COPIES[:2])


def test_an_update_brings_no_topics_without_documents_either():
    lsi = ritz.LSI(5, weighting="count", words=PLAIN).fit(["cat dog", "cat dog", "wine glass", "thin wings", "law"])
    assert lsi.n_components_ == 4
    lsi.update(["cat dog", "wine glass"])
    assert lsi.n_components_ == 4
    assert lsi.verify(["cat dog", "cat dog", "wine glass", "thin wings", "law", "cat dog", "wine glass"])
    lsi.update(["red zebra"])
    assert lsi.n_components_ == 5
    np.testing.assert_allclose(lsi.search("glass", top=2).scores, 1.0, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "svd", "lanczos", "krylov", "chebyshev", "power"])
def test_a_query_that_no_topic_knows_finds_nothing(solver):
    lsi = ritz.LSI(1, solver=solver, words=PLAIN).fit(APART)
    for query in ("wine glass", "red", "wine red red"):
        hits = lsi.search(query)
        assert len(hits) == 0
        assert "no part in any topic" in hits.note
        assert len(lsi.search(query, hybrid=0.0)) == 0
    assert "no part in any topic" in lsi.similar(4).note
    assert len(lsi.search("cat")) == 4
    assert lsi.search("cat wine").rows[0] in range(4)


def test_updates_know_what_no_topic_knows():
    lsi = ritz.LSI(1, words=PLAIN, solver="krylov", weighting="tf-idf").fit(APART[:3]).update(APART[3:])
    assert len(lsi.search("wine glass")) == 0
    assert len(lsi.search("cat")) == 4


@pytest.mark.parametrize("n", [2, 3, 7, 1000])
@pytest.mark.parametrize("text", ["cat", "cat sat mat", "cat cat sat sat sat mat", "cat " * 7 + "sat " * 11])
def test_words_that_all_documents_have_alike_weigh_nothing(text, n):
    with pytest.warns(ritz.EmptyDocuments, match=f"{n:,} of {n:,} documents have only words of weight 0"):
        lsi = ritz.LSI(words=PLAIN).fit([text] * n)
    assert lsi.n_components_ == 0
    assert lsi.total_ == 0
    assert len(lsi.search("cat")) == 0
    assert len(lsi.empty_) == 0


def test_a_word_that_is_almost_even_still_weighs():
    texts = ["cat cat"] * 999 + ["cat cat cat"]
    weights = ritz.text.weighting("log-entropy").fit(ritz.text.Counts().fit_transform(texts)).global_weights_
    p = np.array([2.0] * 999 + [3.0]) / 2001
    assert weights[0] == pytest.approx(1 + np.sum(p * np.log(p)) / np.log(1000), rel=1e-6)
    assert weights[0] > 0


def test_documents_of_common_words_alone_are_told_and_found_by_their_words():
    texts = ["the the cat", "the the dog", "the the", "the the cat dog"]
    with pytest.warns(ritz.EmptyDocuments, match="1 of 4 documents has only words of weight 0"):
        lsi = ritz.LSI(words=PLAIN).fit(texts)
    assert "no part in any topic" in lsi.similar(2).note
    assert len(lsi.search("the")) == 0
    assert lsi.search("the", hybrid=0.5).rows[0] == 2  # the shortest
    counts = ritz.text.Counts(PLAIN)
    bm25 = (
        ritz.text.weighting("bm25").fit_transform(counts.fit_transform(texts)).toarray()[:, counts.vocabulary_["the"]]
    )
    assert lsi.search("the", hybrid=1.0).rows.tolist() == np.argsort(-bm25, kind="stable").tolist()
    with pytest.warns(ritz.EmptyDocuments, match="only words of weight 0"):
        lsi.transform(["the"])


def test_hybrid_of_0_is_the_cosine_and_of_1_is_bm25():
    rng = np.random.default_rng(4)
    texts = [" ".join(f"w{j:02d}" for j in rng.zipf(1.4, 12) % 40) for _ in range(60)]
    lsi = ritz.LSI(8, words=PLAIN).fit(texts)
    counts = ritz.text.Counts(PLAIN)
    B = ritz.text.weighting("bm25").fit_transform(counts.fit_transform(texts)).toarray()
    for query in ("w01 w07", "w03", "w12 w12 w30"):
        pure, none = lsi.search(query, top=60), lsi.search(query, top=60, hybrid=0.0)
        assert none.rows.tolist() == pure.rows.tolist()
        default, three = lsi.search(query, hybrid=True), lsi.search(query, hybrid=0.3)
        np.testing.assert_array_equal(default.scores, three.scores)  # as the page says
        words = B @ counts.transform([query]).toarray()[0]
        by_words = lsi.search(query, top=60, hybrid=1.0)
        np.testing.assert_allclose(by_words.scores, ((words - words.mean()) / words.std())[by_words.rows], atol=1e-12)
        assert np.all(np.diff(words[by_words.rows]) <= 1e-12)


def test_equal_cosines_are_no_reason_to_prefer_a_document():
    """Copies whose cosines differ by rounding alone: standard scores would make noise of it."""
    rng = np.random.default_rng(0)
    words = [f"w{j}" for j in range(30)]
    texts = [" ".join(rng.permutation(words)) for _ in range(20)]
    lsi = ritz.LSI(3, words=PLAIN, weighting="tf-idf").fit(texts)
    hits = lsi.search("w3 w5", hybrid=0.3, top=20)
    assert hits.rows.tolist() == list(range(20))
    assert np.all(hits.scores == 0)


def test_topics_name_no_word_that_is_only_rounding():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lsi = ritz.LSI(method="ca", words=PLAIN).fit(
            ["the the the cat", "the the the dog", "the the the", "the cat dog"]
        )
    for topic in lsi.topics():
        assert all(abs(weight) > 1e-10 for _, weight in (*topic.positive, *topic.negative))
    assert "the 0.00" not in repr(lsi.topics())


def test_a_correspondence_analysis_without_association_is_verified():
    table = np.tile([[2, 3, 1]], (7, 1))
    with pytest.warns(ritz.NoAssociation):
        ca = ritz.CA(2).fit(table)
    assert ca.verify(table)


def test_topics_begin_with_their_heaviest_words():
    C = np.random.default_rng(6).poisson(0.8, (30, 12))
    lsi = ritz.LSI(4, weighting="count").fit(C, vocabulary=[f"w{j:02d}" for j in range(12)])
    for i, topic in enumerate(lsi.topics(4, words=3)):
        v = lsi.components_[i]
        for end, order in ((topic.positive, np.argsort(-v)), (topic.negative, np.argsort(v))):
            there = [j for j in order[:3] if (v[j] > 0) == (end is topic.positive)]
            assert [word for word, _ in end] == [f"w{j:02d}" for j in there]
            assert [weight for _, weight in end] == [v[j] for j in there]
        assert topic.share == pytest.approx(lsi.singular_values_[i] ** 2 / np.sum(C.astype(float) ** 2))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_documents_of_length_1_are_the_same_whatever_the_unit_of_counts(scale):
    """Squares of such counts leave the range of float64: rows were not scaled, or all of their weights were zero."""
    N = np.random.default_rng(0).poisson(1.0, (8, 6))
    model, small = ritz.LSI(2, weighting="tf-idf").fit(N * scale), ritz.LSI(2, weighting="tf-idf").fit(N)
    np.testing.assert_allclose(model.singular_values_, small.singular_values_, rtol=1e-12)
    assert model.verify(N * scale)
    assert model.search(N[:1] * scale, top=3)[0].rows.tolist() == small.search(N[:1], top=3)[0].rows.tolist()


def test_fractions_of_a_word_have_their_logarithm():
    X = np.array([[1e-20, 3.0], [2e-20, 0.0], [0.5, 7.0]])
    W = ritz.text.Weighting("log").fit_transform(X).toarray()
    np.testing.assert_allclose(W, np.log1p(X) / np.log(2), rtol=1e-15)
    assert W[2, 1] == 3.0


@pytest.mark.parametrize(("scale", "said"), [(1e-80, "e-80"), (1e80, "e\\+80")])
def test_weights_out_of_range_are_refused(scale, said):
    N = np.random.default_rng(0).poisson(1.0, (8, 6))
    with pytest.raises(ritz.InputError, match=f"(?s){said} as the largest one.*power of ten"):
        ritz.LSI(2, weighting="count").fit(N * scale)
    model = ritz.LSI(2, weighting="count").fit(N)
    with pytest.raises(ritz.InputError, match=said):
        model.update(N * scale)
    assert model.n_samples_ == 8


@pytest.mark.parametrize("query", [None, 5, 1.5])
def test_what_is_no_query_is_refused(query):
    model = ritz.LSI(2).fit(["red wine", "white wine", "thin wings"])
    with pytest.raises(ritz.InputError, match=r"(?s)expected a query.*model\.search"):
        model.search(query)


def test_updates_without_words_are_told_as_such():
    model = ritz.LSI(2).fit(["red wine", "white wine", "thin wings"])
    assert model.drift_.why == "no documents were added since the fit"
    with pytest.warns(ritz.EmptyDocuments, match="2 of 2"):
        model.update(["", "!"])
    assert (model.n_samples_, model.drift_.due) == (5, False)
    assert model.drift_.why == "no documents with a known word were added since the fit"
    assert model.verify(["red wine", "white wine", "thin wings", "", "!"])


@pytest.mark.parametrize("shape", [(3, 15), (6, 6), (15, 4)])
@pytest.mark.parametrize("solver", ["auto", "krylov", "svd"])
def test_a_kernel_with_all_its_topics_is_verified(shape, solver):
    """With as many topics as documents nothing is left out but words of no document, whose eigenvalue is zero."""
    N = np.random.default_rng(3).poisson(2.0, shape)
    model = ritz.LSI(min(shape), method="kernel", weighting="tf-idf", solver=solver).fit(N)
    assert len(model.singular_values_) == min(shape)
    assert model.verify(N)
    model.singular_values_[0] *= 1 + 1e-6
    assert not model.verify(N)


@pytest.mark.parametrize("texts", [[["cat", "dog"], ["wine"]], [["cat", "dog"], ["red", "wine"]], [("cat",), 3]])
def test_lists_of_words_are_no_texts(texts):
    with pytest.raises(ritz.InputError, match=r"received a list of words in row 0\nhint: .*join"):
        ritz.LSI(2).fit(texts)


def test_rows_of_counts_are_equally_long():
    with pytest.raises(ritz.InputError, match="expected as many counts in each row; received 2 in row 0, 1 in row 1"):
        ritz.LSI(2).fit([[1, 2], [3]])
    with pytest.raises(ritz.InputError, match="int 3 as row 1"):
        ritz.LSI(2).fit([[1, 2], 3])
