"""Latent semantic indexing: the worked example, what it takes, what it finds, what it refuses."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz.methods.lsi import search as blocked
from ritz.text import Words

#: Deerwester and others (1990): nine titles and the twelve words that occur in more than one of them.
TITLES = [
    "Human machine interface for Lab ABC computer applications",
    "A survey of user opinion of computer system response time",
    "The EPS user interface management system",
    "System and human system engineering testing of EPS",
    "Relation of user-perceived response time to error measurement",
    "The generation of random, binary, unordered trees",
    "The intersection graph of paths in trees",
    "Graph minors IV: Widths of trees and well-quasi-ordering",
    "Graph minors: A survey",
]
PLAIN = Words(stop_words="english")
SUBJECTS = (
    ["wing", "flutter", "lift", "drag", "boundary", "layer"], ["wine", "grape", "red", "cellar", "oak", "bottle"],
    ["court", "law", "judge", "appeal", "verdict", "jury"],
)  # fmt: skip


def documents(n: int, seed: int = 0, length: int = 8) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(SUBJECTS[i % 3], length)) for i in range(n)]


def deerwester(k: int, **options) -> ritz.LSI:
    return ritz.LSI(k, weighting="count", min_df=2, words=PLAIN, **options).fit(TITLES)


# the worked example


@pytest.mark.parametrize("method", ["svd", "kernel"])
def test_the_worked_example(method):
    """Singular values, rank-2 correlations and cosines of R's svd and of Landauer and others (1998)."""
    lsi = deerwester(9, method=method)
    assert sorted(lsi.vocabulary_) == sorted(
        [
            "human",
            "interface",
            "computer",
            "user",
            "system",
            "response",
            "time",
            "eps",
            "survey",
            "trees",
            "graph",
            "minors",
        ]
    )
    values = [3.3409, 2.5417, 2.3539, 1.6445, 1.5048, 1.3064, 0.8459, 0.5601, 0.3637]
    np.testing.assert_allclose(lsi.singular_values_, values, atol=5e-5)
    lsi = deerwester(2, method=method)
    cosines = [0.9981, 0.9375, 0.9984, 0.9866, 0.9076, -0.1242, -0.1064, -0.0988, 0.0500]
    hits = lsi.search("human computer", top=9)
    np.testing.assert_allclose(hits.scores[np.argsort(hits.rows)], cosines, atol=5e-5)
    assert hits.rows.tolist() == np.argsort(-np.array(cosines)).tolist()
    rank2 = lsi.inverse_transform(lsi.embedding_)
    human, user, minors = (rank2[:, lsi.vocabulary_[word]] for word in ("human", "user", "minors"))
    assert np.corrcoef(human, user)[0, 1] == pytest.approx(0.9385, abs=5e-5)
    assert np.corrcoef(human, minors)[0, 1] == pytest.approx(-0.8309, abs=5e-5)


def test_the_scaling_is_that_of_folding_in():
    """x V Σ⁻¹ compared in V Σ, as the first papers do, gives the same cosines as x V compared with U Σ."""
    lsi = deerwester(2)
    x = np.zeros((1, 12))
    x[0, [lsi.vocabulary_["human"], lsi.vocabulary_["computer"]]] = 1
    folded = x @ lsi.components_.T / lsi.singular_values_
    left = lsi.embedding_ / lsi.singular_values_
    a, b = folded * lsi.singular_values_, left * lsi.singular_values_
    cosines = (b @ a.T)[:, 0] / np.linalg.norm(a) / np.linalg.norm(b, axis=1)
    hits = lsi.search("human computer", top=9)
    np.testing.assert_allclose(hits.scores, cosines[hits.rows], atol=1e-12)


# routes


def test_the_kernel_between_documents_gives_the_same_topics(seed):
    texts = documents(80, seed)
    svd, kernel = (ritz.LSI(10, method=method, tol=1e-10).fit(texts) for method in ("svd", "kernel"))
    np.testing.assert_allclose(kernel.singular_values_, svd.singular_values_, rtol=1e-9)
    cosines = np.linalg.svd(svd.components_ @ kernel.components_.T)[1]
    assert cosines.min() > 1 - 1e-12
    np.testing.assert_allclose(np.abs(kernel.embedding_), np.abs(svd.embedding_), atol=1e-7)
    assert kernel.verify(texts)
    assert not kernel.verify(texts[::-1])


def test_the_kernel_leaves_out_what_cannot_be_told_from_zero():
    texts = ["red wine", "red wine", "thin wings"]
    lsi = ritz.LSI(3, method="kernel").fit(texts)
    assert lsi.n_components_ == 2
    assert len(lsi.certificate_.values) == 2
    assert "cannot be told from zero" in str(lsi.certificate_)
    assert lsi.verify(texts)


def test_correspondence_analysis_places_documents_as_ca_does():
    texts = documents(40)
    lsi = ritz.LSI(4, method="ca", words=PLAIN).fit(texts)
    counts = ritz.text.Counts(PLAIN)
    N = counts.fit_transform(texts)
    ca = ritz.CA(4).fit(N)
    np.testing.assert_allclose(lsi.singular_values_**2, ca.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(lsi.embedding_, ca.row_coordinates_, atol=1e-10)
    new = ["wing of oak", "court"]
    np.testing.assert_allclose(lsi.transform(new), ca.transform(counts.transform(new)), atol=1e-10)
    assert lsi.total_ == pytest.approx(ca.total_inertia_)
    assert lsi.verify(texts)
    lsi.components_ = lsi.components_[::-1].copy()
    assert not lsi.verify(texts)


def test_singular_values_are_those_of_the_weighted_matrix():
    texts = documents(50)
    lsi = ritz.LSI(5, words=PLAIN, tol=1e-10).fit(texts)
    N = ritz.text.Counts(PLAIN).fit_transform(texts)
    W = ritz.text.weighting("log-entropy").fit_transform(N).toarray()
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1)
    np.testing.assert_allclose(lsi.singular_values_, np.linalg.svd(W)[1][:5], rtol=1e-10)
    np.testing.assert_allclose(lsi.embedding_, lsi.transform(texts), atol=1e-12)
    assert lsi.total_ == pytest.approx(50)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["cranfield", "cisi"])
def test_singular_values_of_collections_are_those_of_r(shared, name):
    """svds of R's Matrix and RSpectra on the same counts: raw, and log₂(1 + tf) times entropy."""
    import json

    told = json.loads((shared / name / "r_lsi.json").read_text())
    with np.load(shared / name / "tdm.npz") as file:
        parts = dict(file)
    A = sp.csc_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"]).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.EmptyDocuments)
        for weighting, key in (("count", "singular_values_A_100"), ("log-entropy", "singular_values_W")):
            expected = np.array(told[key])
            lsi = ritz.LSI(len(expected), weighting=weighting, norm=None).fit(A)
            np.testing.assert_allclose(lsi.singular_values_, expected, rtol=1e-8)


def test_a_stream_in_chunks_keeps_the_values_of_all_documents():
    """200 documents in chunks of 20: gensim's one pass gives 32.6 14.8 13.8 12.4 11.5 for 32.9 17.4 16.5 16.1 15.3."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (200, 50)) * rng.uniform(0, 3, 50)
    truth = np.linalg.svd(X)[1]
    lsi = ritz.LSI(20, weighting="count").fit(sp.csr_array(X[:20]))
    lsi.n_components = 50
    for start in range(20, 200, 20):
        lsi.update(sp.csr_array(X[start : start + 20]))
    np.testing.assert_allclose(lsi.singular_values_[:5], truth[:5], rtol=1e-9)


# what it takes


def test_texts_come_from_anywhere(tmp_path):
    texts = documents(12)
    expected = ritz.LSI(3).fit(texts).embedding_
    for i, text in enumerate(texts):
        (tmp_path / f"{i:02d}.txt").write_text(text)
    frame = pd.DataFrame({"id": range(12), "body": texts})
    path = tmp_path / "table.csv"
    sources = {
        "series": (pd.Series(texts), None), "array": (np.array(texts), None), "frame": (frame, "body"),
        "tuple": (tuple(texts), None), "folder": (tmp_path, None), "iterator": (iter(texts), None),
        "generator": ((text for text in texts), None),
    }  # fmt: skip
    for name, (source, column) in sources.items():
        lsi = ritz.LSI(3).fit(source, text=column)
        np.testing.assert_allclose(lsi.embedding_, expected, atol=1e-12, err_msg=name)
    frame.to_csv(path, index=False)
    np.testing.assert_allclose(ritz.LSI(3).fit(ritz.read(path), text="body").embedding_, expected, atol=1e-12)
    folder = ritz.LSI(3).fit(tmp_path / "nothing").embedding_ if (tmp_path / "nothing").is_dir() else None
    assert folder is None


def test_hits_have_names_and_texts_of_a_folder(tmp_path):
    for i, text in enumerate(documents(6)):
        (tmp_path / f"{i}.txt").write_text(text)
    hits = ritz.LSI(2).fit(tmp_path).search("judge", top=2)
    assert sorted(hits.names) == ["2.txt", "5.txt"]
    assert hits.texts == [(tmp_path / name).read_text() for name in hits.names]
    assert "2.txt" in str(hits)


def test_counts_with_and_without_names():
    N = ritz.text.Counts(PLAIN)
    X = N.fit_transform(TITLES)
    words = N.get_feature_names_out()
    named = ritz.LSI(3, words=PLAIN).fit(X, vocabulary=words)
    frame = ritz.LSI(3, words=PLAIN).fit(pd.DataFrame(X.toarray(), columns=words))
    columns = ritz.LSI(3, words=PLAIN).fit(X, vocabulary={word: j for j, word in enumerate(words)})
    texts = ritz.LSI(3, words=PLAIN).fit(TITLES)
    bare = ritz.LSI(3).fit(X.toarray())
    for lsi in (named, frame, columns, bare):
        np.testing.assert_allclose(np.abs(lsi.embedding_), np.abs(texts.embedding_), atol=1e-12)
    for lsi in (named, frame, columns):
        assert lsi.search("graph trees", top=3).rows.tolist() == texts.search("graph trees", top=3).rows.tolist()
    assert bare.vocabulary_ is None
    assert bare.topics(1)[0].words[0].startswith("word ")
    assert bare.search(X[[6]], top=1)[0].rows.tolist() == [6]
    with pytest.raises(ritz.InputError, match="columns have no names"):
        bare.search("graph")
    turned = pd.DataFrame(X.toarray(), columns=words)[words[::-1]]  # found by their names
    np.testing.assert_allclose(frame.transform(turned), frame.embedding_, atol=1e-12)


def test_counts_of_another_width_are_refused():
    lsi = ritz.LSI(2).fit(sp.csr_array(np.eye(5)))
    for width in (4, 6, 100):
        with pytest.raises(
            ritz.InputError, match=r"expected counts of the 5 words of the fit; received a matrix of sh"
        ):
            lsi.transform(sp.csr_array(np.ones((1, width))))
    with pytest.raises(ritz.InputError, match="vocabulary names each of the 5 columns once"):
        ritz.LSI(2).fit(sp.csr_array(np.eye(5)), vocabulary=["a", "b"])
    with pytest.raises(ritz.InputError, match="none of them negative"):
        ritz.LSI(2).fit(-np.eye(5))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ritz.LSI(2).fit([]), "at least one document"),
        (lambda: ritz.LSI(2).fit(["", "  "]), "documents with words"),
        (lambda: ritz.LSI(2, words=PLAIN).fit(["the of", "and"]), "documents with words"),
        (lambda: ritz.LSI(2).fit("no such file"), "path of a file or folder"),
        (lambda: ritz.LSI(2).fit(["a text", 3]), "expected a text in row 1"),
        (lambda: ritz.LSI(2, method="pca").fit(TITLES), "hint: method='ca'"),
        (lambda: ritz.LSI(2, norm="l3").fit(TITLES), "norm must be"),
        (lambda: ritz.LSI(2, weighting="tfidf").fit(TITLES), "hint: weighting='tf-idf'"),
        (lambda: ritz.LSI(2, words="english").fit(TITLES), "ritz.text.Words"),
        (lambda: ritz.LSI(2, min_df=-1).fit(TITLES), "min_df"),
        (lambda: ritz.LSI(50).fit(TITLES), "n_components"),
        (lambda: ritz.LSI(2).fit(TITLES, sample_weight=np.ones(9)), "no weights"),
        (lambda: deerwester(2).search("human", top=0), "top must be"),
        (lambda: deerwester(2).search("human", hybrid=2), "hybrid must be"),
        (lambda: deerwester(2).similar(9), "one of the 9 documents"),
        (lambda: deerwester(2, keep_counts=False).search("human", hybrid=True), "keep_counts=True"),
        (lambda: deerwester(2).merge(deerwester(2)), r"model.update\(texts\)"),
        (lambda: deerwester(2).verify(TITLES[:3]), "verify takes the 9 documents of the fit"),
        (lambda: ritz.LSI(2, memory="1kB").fit(["some words of a text"] * 100), "must fit into memory"),
        (lambda: ritz.LSI(9, memory="1MB").fit(sp.eye_array(10, 5000)), "9 topics of 10 documents and 5,000 words"),
    ],
)  # fmt: skip
def test_refusals_say_what_to_do(make, words):
    with pytest.raises(ritz.RitzError, match=words):
        make()


def test_documents_without_a_known_word_are_told_and_never_found():
    texts = [*documents(9), "", "zz"]
    with pytest.warns(ritz.EmptyDocuments, match="1 of 11 documents has no known word"):
        lsi = ritz.LSI(3, words=Words(stop_words=["zz"]), min_df=1).fit([*texts[:10], "court zz"])
    assert lsi.empty_.tolist() == [9]
    assert not lsi.embedding_[9].any()
    for query in ("court", "wine oak"):
        assert 9 not in lsi.search(query, top=20).rows
        assert 9 not in lsi.search(query, top=20, hybrid=0.5).rows
    assert len(lsi.similar(9)) == 0
    with pytest.warns(ritz.EmptyDocuments, match="2 of 3 documents have no known word"):
        T = lsi.transform(["", "zebra crossing", "the judge"])
    assert not T[:2].any()
    assert T[2].any()
    assert lsi.unseen_.tolist() == [0, 2, 1]


def test_queries_without_known_words_find_nothing_and_say_why():
    lsi = deerwester(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hits = lsi.search("zebra crossing")
        assert (len(hits), hits.note) == (0, "no word of the query is known: crossing, zebra")
        for query in ("the of and", "", "!?"):
            hits = lsi.search(query)
            assert len(hits) == 0
            assert "has no words" in hits.note
        several = lsi.search(["zebra", "graph", "the"], hybrid=None)
    assert [len(hits) for hits in several] == [0, 9, 0]
    assert several[0].note == "no word of the query is known: zebra"


def test_all_scripts_and_lengths():
    texts = ["東京タワーは高い", "Москва столица", "😀 smile 😀", "мир и Москва", "東京の夜", "x" * 5000, "smile more"]
    lsi = ritz.LSI(3).fit(texts)
    assert set(lsi.search("Москва", top=2).rows.tolist()) == {1, 3}
    assert set(lsi.search("東京", top=2).rows.tolist()) == {0, 4}
    assert str(lsi.search("東京"))


def test_a_query_of_one_character_of_han_finds_the_texts_that_hold_it():
    lsi = ritz.LSI(3).fit(["東京タワーは高い", "静かな夜に歩く", "東京の夜", "黒い猫が眠る", "猫と夜"])
    assert set(lsi.search("夜", top=5).rows.tolist()) >= {1, 2, 4}
    assert set(lsi.search("猫", top=2).rows.tolist()) == {3, 4}
    hits = lsi.search("😀 👍🏽")
    assert (len(hits), "has no words" in hits.note) == (0, True)


def test_a_query_of_stop_words_alone_finds_nothing_where_the_language_was_recognised():
    texts = ["the wings of the plane were in flutter", "it is the flutter of the thin wings that they are afraid of"]
    lsi = ritz.LSI(2).fit(
        [*texts, "the judge of the court was not in favour of it", "an appeal to the judge of a court"]
    )
    assert lsi.language_.name == "english"
    for hybrid in (None, 0.5):
        hits = lsi.search("it is the of", hybrid=hybrid)
        assert (len(hits), "has no words" in hits.note) == (0, True)


def test_hashing_needs_no_vocabulary():
    texts = documents(60)
    lsi = ritz.LSI(3, hashing=1 << 12, words=PLAIN).fit(texts)
    assert lsi.vocabulary_ is None
    plain = ritz.LSI(3, words=PLAIN).fit(texts)
    np.testing.assert_allclose(lsi.singular_values_, plain.singular_values_, rtol=1e-6)
    hits = lsi.search("verdict of the jury", top=5)
    assert all(row % 3 == 2 for row in hits.rows)
    assert "judge" in " ".join(lsi.topics(3)[0].words + lsi.topics(3)[1].words + lsi.topics(3)[2].words)
    assert lsi.update(documents(6, seed=1)).n_samples_ == 66


# what it finds


def test_search_is_exact_in_blocks_of_any_size(monkeypatch, seed):
    texts = documents(200, seed)
    lsi = ritz.LSI(5).fit(texts)
    queries = ["wing lift", "oak bottle wine", "jury", "court of wine"]
    Q = lsi.transform(queries)
    cosines = Q @ lsi.embedding_.T / np.linalg.norm(Q, axis=1)[:, None] / np.linalg.norm(lsi.embedding_, axis=1)
    whole = lsi.search(queries, top=17)
    for query, hits in enumerate(whole):
        order = np.lexsort((np.arange(200), -np.round(cosines[query], 12)))[:17]
        assert hits.rows.tolist() == order.tolist()
        np.testing.assert_allclose(hits.scores, cosines[query, order], atol=1e-12)
    monkeypatch.setattr(blocked, "BLOCK", 8 * 7 * 9)
    monkeypatch.setattr(blocked, "TOGETHER", 2)
    for hits, again in zip(whole, lsi.search(queries, top=17), strict=True):
        assert hits.rows.tolist() == again.rows.tolist()


def test_copies_come_in_the_order_of_their_rows():
    texts = ["red wine", "thin wings", "old law"] * 40
    lsi = ritz.LSI(3).fit(texts)
    assert lsi.search("wine", top=5).rows.tolist() == [0, 3, 6, 9, 12]
    assert lsi.similar(3, top=4).rows.tolist() == [0, 6, 9, 12]
    assert lsi.search("wine", top=1000).rows.tolist() == list(range(0, 120, 3))


def test_hybrid_is_the_sum_of_standard_scores():
    from ritz.text import Counts, weighting

    texts = documents(30)
    lsi = ritz.LSI(4, words=PLAIN).fit(texts)
    query = "wing wing court"
    counts = Counts(PLAIN)
    B = weighting("bm25").fit_transform(counts.fit_transform(texts))
    words = np.asarray((B @ counts.transform([query]).T).todense()).ravel()
    hits = lsi.search(query, top=30)
    cosines = np.empty(30)
    cosines[hits.rows] = hits.scores
    z = [(x - x.mean()) / x.std() for x in (words, cosines)]
    for share in (0.0, 0.3, 1.0):
        expected = share * z[0] + (1 - share) * z[1]
        mixed = lsi.search(query, top=30, hybrid=share)
        np.testing.assert_allclose(mixed.scores, expected[mixed.rows], atol=1e-10)
        assert (np.diff(mixed.scores) <= 1e-12).all()
    assert lsi.search(query, hybrid=True).rows.tolist() == lsi.search(query, hybrid=0.3).rows.tolist()


def test_an_index_finds_candidates():
    from sklearn.neighbors import NearestNeighbors

    texts = documents(50)
    lsi = ritz.LSI(4).fit(texts)
    index = NearestNeighbors().fit(lsi.unit_embedding_)
    plain, near = lsi.search("court jury", top=6), lsi.search("court jury", top=6, index=index)
    np.testing.assert_allclose(near.scores, plain.scores, atol=1e-9)
    with pytest.raises(ritz.ParameterError, match="kneighbors"):
        lsi.search("court", index=object())


def test_topics_have_both_ends():
    lsi = ritz.LSI(3).fit(documents(90))
    topics = lsi.topics(words=6)
    assert len(topics) == 3
    assert topics[0].share == pytest.approx(lsi.singular_values_[0] ** 2 / lsi.total_)
    for i, topic in enumerate(topics):
        for word, weight in (*topic.positive, *topic.negative):
            assert weight == lsi.components_[i, lsi.vocabulary_[word]]
        assert all(weight > 0 for _, weight in topic.positive)
        assert all(weight < 0 for _, weight in topic.negative)
        assert set(topic.words[:6]) & {word for subject in SUBJECTS for word in subject}
    assert str(topics).startswith("topic 1: singular value ")
    assert len(lsi.topics(1)) == 1
    with pytest.raises(ritz.ParameterError):
        lsi.topics(-1)


def test_the_language_is_recognised_and_told():
    texts = [
        "The wings of the plane were in flutter and it was not safe for them",
        "A judge of the court is in the law",
    ] * 4
    lsi = ritz.LSI(2).fit(texts)
    assert lsi.language_.name == "english"
    assert "English: " in repr(lsi)
    assert {"wing", "flutter", "judg"} <= set(lsi.vocabulary_)
    assert "the" not in lsi.vocabulary_
    assert len(lsi.search("Flutters, or judging?", top=3)) == 3
    assert ritz.LSI(2, words=Words()).fit(texts).language_ is None


# files and copies


@pytest.mark.parametrize("method", ["svd", "kernel", "ca"])
def test_a_file_holds_the_model_and_no_text(tmp_path, method):
    texts = [f"{text} secretword{'abc'[i % 3]} Unmistakable-Sentence" for i, text in enumerate(documents(40))]
    lsi = ritz.LSI(4, method=method).fit(texts)
    path = tmp_path / "model.ritz"
    ritz.save(lsi, path)
    assert b"Unmistakable-Sentence" not in path.read_bytes()
    again = ritz.load(path)
    for name in ("components_", "singular_values_", "embedding_", "empty_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(lsi, name))
    assert again.vocabulary_ == lsi.vocabulary_
    assert again.language_ == lsi.language_
    np.testing.assert_array_equal(again.transform(texts[:3]), lsi.transform(texts[:3]))
    for options in ({}, {"hybrid": 0.5}):
        assert again.search("court", **options).rows.tolist() == lsi.search("court", **options).rows.tolist()
    assert again.search("court").texts is None
    assert lsi.search("court").texts is not None
    assert again.attach(texts).search("court").texts == lsi.search("court").texts
    assert again.verify(texts)
    assert repr(again.certificate_) == repr(lsi.certificate_)
    with pytest.raises(ritz.InputError, match="the 40 documents of the model"):
        again.attach(texts[:3])


def test_texts_are_kept_where_that_is_asked_for(tmp_path):
    texts = documents(12)
    for source in (texts, iter(texts)):
        lsi = ritz.LSI(3, keep_texts=True, weighting=ritz.text.Weighting("log", "idf", "l2")).fit(source)
        ritz.save(lsi, tmp_path / "model.ritz")
        again = ritz.load(tmp_path / "model.ritz")
        assert again.search("wine").texts == [texts[row] for row in lsi.search("wine").rows]
        assert again.weighting.get_params() == lsi.weighting.get_params()
    gone = ritz.LSI(3).fit(iter(texts))
    assert gone.search("wine").texts is None


def test_pickles_and_copies_hold_no_text():
    texts = [f"{text} unmistakable-sentence of row {i}" for i, text in enumerate(documents(12))]
    lsi = ritz.LSI(3).fit(texts)
    data = pickle.dumps(lsi)
    assert b"unmistakable-sentence of row 3" not in data
    again = pickle.loads(data)
    assert again.search("wine").rows.tolist() == lsi.search("wine").rows.tolist()
    assert copy.deepcopy(lsi).search("wine").rows.tolist() == lsi.search("wine").rows.tolist()


def test_conventions(tmp_path):
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    texts = documents(30)
    lsi = ritz.LSI(3, words=PLAIN)
    for name in ("components_", "embedding_", "vocabulary_", "drift_", "language_"):
        with pytest.raises(NotFittedError):
            getattr(lsi, name)
    with pytest.raises(NotFittedError):
        lsi.search("wine")
    np.testing.assert_array_equal(lsi.fit_transform(texts), lsi.embedding_)
    assert clone(lsi).get_params()["words"] == PLAIN
    assert lsi.get_feature_names_out().tolist() == ["lsi0", "lsi1", "lsi2"]
    assert make_pipeline(ritz.LSI(3), StandardScaler()).fit_transform(texts).shape == (30, 3)
    assert ritz.read(lsi.transform_to(texts, tmp_path / "scores.csv")).names == ["T1", "T2", "T3"]
    assert ritz.plan(texts, ritz.LSI(3)).solver == lsi.plan_.solver
    assert ritz.LSI().fit(texts).n_components_ == min(len(lsi.vocabulary_), 30)
    assert 0 < ritz.LSI(0.5).fit(texts).n_components_ < 18


def test_a_failed_fit_leaves_no_model_behind():
    lsi = deerwester(2)
    with pytest.raises(ritz.InputError):
        lsi.fit([""])
    assert not lsi.__sklearn_is_fitted__()


@pytest.mark.parametrize("method", ["svd", "kernel", "ca"])
def test_a_changed_model_is_not_verified(method):
    texts = documents(40)
    lsi = ritz.LSI(4, method=method).fit(texts)
    assert lsi.verify(texts)
    changed = [*texts[:-1], "wing wing wing"]
    assert not lsi.verify(changed)
    lsi.embedding_ = lsi.embedding_.copy()
    lsi.embedding_[7, 2] += 1e-3
    found = lsi.verify(texts)
    assert not found
    assert "embedding_" in found.words[0]


@pytest.mark.parametrize("name", ["components_", "singular_values_"])
@pytest.mark.parametrize("method", ["svd", "kernel", "ca", "updated"])
def test_what_a_model_holds_is_what_its_certificate_speaks_of(method, name):
    texts = documents(60)
    lsi = ritz.LSI(4, method="svd" if method == "updated" else method).fit(texts[:40])
    lsi = lsi.update(texts[40:]) if method == "updated" else lsi
    kept = texts if method == "updated" else texts[:40]
    assert lsi.verify(kept)
    held = getattr(lsi, name).copy()
    held[..., 1] *= 1.001
    setattr(lsi, name, held)
    assert not lsi.verify(kept)
