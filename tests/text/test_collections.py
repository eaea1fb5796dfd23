"""Counts of whole collections: those that R and others computed with the same rule."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.text import Counts, Words, documents


@pytest.mark.shared
@pytest.mark.parametrize("collection", ["cranfield", "cisi"])
def test_counts_of_a_judged_collection(shared, collection):
    with np.load(shared / collection / "tdm.npz") as file:
        stored = dict(file)
    truth = sp.csc_array((stored["data"], stored["indices"], stored["indptr"]), shape=tuple(stored["shape"])).T.tocsr()
    # Runs of two letters or more, in two documents or more, columns sorted by word.
    counts = Counts(Words(pattern="[a-z]{2,}"), min_df=2)
    docs = documents(shared / collection / "docs.jsonl.gz", text="text")
    if collection == "cisi":  # whose texts do not begin with the title
        titles = documents(shared / collection / "docs.jsonl.gz", text="title")
        docs = documents(f"{title} {text}" for title, text in zip(titles, docs, strict=True))
    X = counts.fit_transform(docs)
    assert X.shape == truth.shape
    assert (truth != X).nnz == 0
    assert counts.get_feature_names_out().tolist() == stored["terms"].tolist()
    np.testing.assert_array_equal(np.flatnonzero(np.diff(truth.indptr) == 0), counts.empty_)
    queries = documents(shared / collection / "queries.jsonl", text="text")
    shape = tuple(stored["q_shape"])
    asked = sp.csc_array((stored["q_data"], stored["q_indices"], stored["q_indptr"]), shape=shape).T.tocsr()
    assert (counts.transform(queries) != asked).nnz == 0
    assert counts.unseen_.sum() > 0


@pytest.mark.shared
def test_the_rule_for_words_differs_from_a_to_z_by_digits_only_on_plain_text(shared):
    docs = documents(shared / "cranfield" / "docs.jsonl.gz", text="text")
    letters = Counts(Words(pattern="[a-z0-9]{2,}"))
    ours = Counts()
    assert (ours.fit_transform(docs) != letters.fit_transform(docs)).nnz == 0
    assert ours.vocabulary_ == letters.vocabulary_
