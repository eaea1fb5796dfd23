"""Documents that are added to an LSI: the truth stays inside the certificate, and drift is told."""

from __future__ import annotations

import copy
import json
import lzma
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.text import Words

PLAIN = Words()


def texts_of(n: int, seed: int = 0, words: int = 120) -> list[str]:
    """Texts whose words become more as they go on."""
    rng = np.random.default_rng(seed)
    names = [f"w{chr(97 + i // 12)}{chr(97 + i % 12)}" for i in range(words)]
    return [" ".join(rng.choice(names[: 40 + (words - 40) * i // n], 12)) for i in range(n)]


def updated(texts: list[str], parts: int, k: int | None, **options) -> ritz.LSI:
    size = len(texts) // parts
    first = texts[:size]
    lsi = ritz.LSI(None if k is None else min(k, size), words=PLAIN, **options).fit(first)
    lsi.n_components = k
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.LSIDrift)
        for start in range(size, len(texts), size):
            lsi.update(texts[start : start + size])
    return lsi


def truth(texts: list[str], lsi: ritz.LSI) -> np.ndarray:
    """Eigenvalues of all documents, from a dense decomposition of their counts."""
    counts = ritz.text.Counts(PLAIN)
    X = counts.fit_transform(texts).toarray()
    assert set(counts.vocabulary_) == set(lsi.vocabulary_)
    return np.square(np.linalg.svd(X)[1])


@pytest.mark.parametrize("k", [None, 120])
def test_twenty_updates_are_the_fit_of_all_documents_where_the_rank_allows(k):
    texts = texts_of(200)
    lsi = updated(texts, 20, k, weighting="count")
    whole = ritz.LSI(lsi.n_components_, words=PLAIN, weighting="count").fit(texts)
    kept = whole.singular_values_ > 1e-6
    np.testing.assert_allclose(lsi.singular_values_[kept], whole.singular_values_[kept], rtol=1e-9)
    columns = [whole.vocabulary_[word] for word in lsi.vocabulary_]
    for i in range(3):
        assert abs(lsi.components_[i] @ whole.components_[i, columns]) == pytest.approx(1, abs=1e-9)
    exact = truth(texts, lsi)[: len(lsi.singular_values_)]
    told = lsi.certificate_
    assert ((told.lower <= exact + 1e-12) & (exact <= told.upper + 1e-12)).all()
    assert (told.width < 1e-8).all()
    assert lsi.total_ == pytest.approx(np.sum(truth(texts, lsi)))
    assert lsi.verify(texts)
    query = "waa wbc"
    assert lsi.search(query, top=5).rows.tolist() == whole.search(query, top=5).rows.tolist()


@pytest.mark.parametrize("k", [3, 10, 30, 70])
@pytest.mark.parametrize("parts", [2, 20])
def test_what_is_cut_off_is_bounded_and_told(k, parts, seed):
    texts = texts_of(200, seed)
    lsi = updated(texts, parts, k, weighting="count")
    exact, told = truth(texts, lsi)[:k], lsi.certificate_
    assert lsi.n_components_ == k
    assert (told.lower <= exact).all()
    assert (exact <= told.upper).all()
    assert (np.square(lsi.singular_values_) <= exact + 1e-9).all()  # an update never adds energy
    assert "what updates cut off moves eigenvalues by" in str(told)
    assert lsi.verify(texts)
    assert not lsi.verify(texts[::-1])
    with pytest.raises(ritz.InputError, match="of the fit and of its updates, in their order"):
        lsi.verify(texts[:50])


def tables(rng):
    """Small tables of many kinds: counts, copies of unit rows, low rank with zeros, columns of any size."""
    n, d = rng.integers(12, 60), rng.integers(6, 50)
    yield rng.poisson(0.5, (n, d))
    yield np.eye(d)[rng.integers(0, d, n)] * rng.integers(1, 4, (n, 1))
    yield np.abs(rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))) * (rng.random((n, d)) < 0.7)
    yield rng.poisson(0.3, (n, d)) * 10.0 ** rng.integers(-3, 4, d)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["auto", "lanczos", "krylov", "svd"])
def test_enclosures_and_angles_of_updated_models_hold(solver, seed):
    rng = np.random.default_rng(seed)
    checked = 0
    for X in (table.astype(float) for _ in range(4) for table in tables(rng)):
        size = len(X) // int(rng.integers(2, 6))
        if not X[:size].any():
            continue
        k, tol = int(rng.integers(1, min(size, X.shape[1]) + 1)), float(10.0 ** rng.integers(-8, -1))
        method = str(rng.choice(["svd", "kernel"]))
        lsi = ritz.LSI(k, weighting="count", solver=solver, tol=tol, method=method).fit(sp.csr_array(X[:size]))
        for start in range(size, len(X), size):
            lsi.update(sp.csr_array(X[start : start + size]))
        _, sigma, V = np.linalg.svd(X)
        exact = np.append(np.square(sigma), np.zeros(k))
        told, m = lsi.certificate_, lsi.n_components_
        slack = 1e-12 * exact[0]
        inside = (told.lower <= exact[:m] + slack) & (exact[:m] <= told.upper + slack)
        assert inside[told.labelled].all()
        known = np.isfinite(told.angles[: len(V)])
        sines = np.sqrt(np.maximum(1 - np.square(np.sum(V[:m] * lsi.components_[: len(V)], axis=1)), 0))
        assert (sines[known] <= told.angles[: len(V)][known] + 1e-7).all()
        assert lsi.verify(sp.csr_array(X))
        checked += 1
    assert checked > 10


def test_a_copy_keeps_its_own_documents():
    texts = texts_of(40)
    lsi = ritz.LSI(5, words=PLAIN).fit(texts[:30])
    other = copy.copy(lsi)
    before = lsi.search("waa", hybrid=0.5).rows.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.LSIDrift)
        other.update(texts[30:])
    assert (lsi.n_samples_, other.n_samples_) == (30, 40)
    assert lsi.search("waa", hybrid=0.5).rows.tolist() == before
    assert lsi.verify(texts[:30])
    assert other.verify(texts)


def test_loss_is_small_where_the_spectrum_falls():
    """Three subjects: what is kept is right to a per mille, and the certificate says so to within a few per cent."""
    rng = np.random.default_rng(1)
    subjects = [[f"{s}{chr(97 + i)}x" for i in range(8)] for s in ("aa", "bb", "cc")]
    texts = [" ".join(rng.choice(subjects[i % 3], 30)) for i in range(300)]
    lsi = updated(texts, 5, 3, weighting="count")
    exact = truth(texts, lsi)[:3]
    np.testing.assert_allclose(np.square(lsi.singular_values_), exact, rtol=2e-3)
    assert (lsi.certificate_.upper / exact < 1.2).all()


def test_new_words_and_documents_are_found():
    texts = [" ".join(words) for words in (["red", "wine"], ["white", "wine"], ["thin", "wings"], ["red", "wings"])]
    lsi = ritz.LSI(4, words=PLAIN).fit(texts)
    more = ["zebra stripes", "zebra in wine", ""]
    with pytest.warns(ritz.EmptyDocuments, match="1 of 3 documents"):
        lsi.update(more)
    assert lsi.n_samples_ == 7
    assert lsi.n_features_in_ == len(lsi.vocabulary_) == lsi.components_.shape[1]
    assert set(lsi.search("zebra", top=2).rows) == {4, 5}
    assert set(lsi.search("zebra", top=2, hybrid=0.5).rows) == {4, 5}
    assert lsi.search("stripes", top=1).texts == ["zebra stripes"]
    assert lsi.search("thin", top=1).texts == ["thin wings"]
    assert lsi.empty_.tolist() == [6]
    np.testing.assert_allclose(lsi.transform(more[:2]), lsi.embedding_[4:6], atol=1e-12)
    assert lsi.verify(texts + more)


def test_updates_survive_a_file(tmp_path):
    texts = texts_of(120)
    lsi = updated(texts[:80], 4, 20)
    ritz.save(lsi, tmp_path / "model.ritz")
    again = ritz.load(tmp_path / "model.ritz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.LSIDrift)
        for model in (lsi, again):
            model.update(texts[80:])
    np.testing.assert_array_equal(again.embedding_, lsi.embedding_)
    np.testing.assert_array_equal(again.certificate_.upper, lsi.certificate_.upper)
    assert again.drift_ == lsi.drift_
    assert again.verify(texts)


def test_counts_and_frames_are_added_too():
    X = sp.random_array((40, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    lsi = ritz.LSI(30, weighting="count").fit(X[:30])
    lsi.update(X[30:])
    np.testing.assert_allclose(lsi.singular_values_, np.linalg.svd(X.toarray())[1], atol=1e-9)
    assert lsi.verify(X)
    with pytest.raises(ritz.InputError, match="expected counts of the 30 words of the model"):
        lsi.update(X[:, :4])
    assert lsi.n_samples_ == 40
    assert lsi.partial_fit(X[:2]).n_samples_ == 42


def test_words_that_were_left_out_may_come_back():
    """A word below min_df at the fit gets a column when it becomes frequent, and counts from then on."""
    texts = ["red wine", "red wings", "wine wings rare"]
    lsi = ritz.LSI(3, words=PLAIN, min_df=2).fit(texts)
    assert "rare" not in lsi.vocabulary_
    more = ["rare wine", "rare wings", "once"]
    with pytest.warns(ritz.EmptyDocuments):
        lsi.update(more)
    assert "rare" in lsi.vocabulary_
    assert "once" not in lsi.vocabulary_
    assert lsi.verify(texts + more)


def test_a_correspondence_analysis_is_fitted_again_instead():
    lsi = ritz.LSI(3, method="ca").fit(texts_of(30))
    with pytest.raises(ritz.ParameterError, match="fit all documents at once"):
        lsi.update(["more"])
    assert np.isnan(lsi.drift_.outside)


# drift


def subject(words: str, n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    names = [f"{words}{chr(97 + i)}{chr(97 + j)}" for i in range(10) for j in range(10)]
    weight = 1.0 / np.arange(1, 101)
    return [" ".join(rng.choice(names, 30, p=weight / weight.sum())) for _ in range(n)]


def test_drift_fires_for_another_subject_and_not_for_more_of_the_same():
    texts = subject("q", 200, 0)
    lsi = ritz.LSI(10).fit(texts)
    assert not lsi.drift_
    assert lsi.drift_.why == "no documents were added since the fit"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ritz.LSIDrift)
        lsi.update(subject("q", 100, 1))
    told = lsi.drift_
    assert not told.due
    assert told.outside == pytest.approx(told.expected, abs=0.1)
    with pytest.warns(ritz.LSIDrift, match="hint: fit all documents again"):
        lsi.update(subject("z", 100, 2))
    assert lsi.drift_.due
    assert "a refit is due" in str(lsi.drift_)


@pytest.mark.shared
def test_drift_in_newsgroups(shared):
    """A random half of four groups is nothing new; another group is."""
    groups: dict[str, list[str]] = {}
    with lzma.open(shared / "20newsgroups" / "20news-bydate.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            if one["split"] == "train" and len(groups.setdefault(one["group"], [])) < 120:
                groups[one["group"]].append(one["text"][:2000])
    science = [text for name in sorted(groups) if name.startswith("sci.") for text in groups[name]]
    order = np.random.default_rng(0).permutation(len(science))
    first, second = ([science[i] for i in half] for half in np.array_split(order, 2))
    for k in (20, 100):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same = ritz.LSI(k).fit(first).update(second).drift_
            hockey, guns = (
                ritz.LSI(k).fit(first).update(groups[name][:60]).drift_
                for name in ("rec.sport.hockey", "talk.politics.guns")
            )
        assert not same.due, same
        assert hockey.due, hockey
        assert guns.due, guns


@pytest.mark.parametrize(("equal", "added", "words"), [(4, 2, 9), (30, 5, 7), (3, 1, 2)])
def test_an_update_that_keeps_every_pair_leaves_out_zeros_at_most(equal, added, words):
    """[ΣVᵀ; D] may have no pair beyond those that are kept, where the table of all documents has some of size zero."""
    N = np.random.default_rng(1).integers(1, 9, (equal + added, words))
    N[:equal] = N[0]
    lsi = ritz.LSI(min(words, added + 1, equal), weighting="count").fit(N[:equal])
    assert len(lsi.singular_values_) == 1
    lsi.update(N[equal:])
    c = lsi.certificate_
    true = np.linalg.svd(N.astype(float), compute_uv=False) ** 2
    assert c.ceiling >= 0
    assert np.all(true[len(c.values) :] <= c.ceiling + c.rounding + 1e-12 * true[0])
    assert lsi.verify(N)
